"""Pictures of the documents: every guide has one, every file is small and shown, texts fit their boxes."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import msgspec
import pytest

from tools.diagrams import Arrow, Box, Diagram, Frame, diagrams, drawn, sizes

ROOT = Path(__file__).resolve().parents[2]
IMAGES = ROOT / "docs" / "images"
MOST_BYTES = 150_000
PICTURE = re.compile(r"!\[([^\]]{20,})\]\(([^)]+)\)")
GUIDES = sorted((ROOT / "docs" / "guides").glob("*.md"))
TWO = Diagram(
    title="Two",
    about="One leads to the other.",
    columns=2,
    boxes={"one": Box(at=(0, 0), text="one"), "other": Box(at=(1, 0), text="other")},
    arrows=[Arrow(start="one", end="other")],
)


def shown_by(page: Path) -> list[Path]:
    """The files of the pictures of a page that say in words what they show."""
    return [(page.parent / target).resolve() for _, target in PICTURE.findall(page.read_text())]


@pytest.mark.parametrize("guide", GUIDES, ids=lambda guide: guide.stem)
def test_every_guide_has_a_picture(guide: Path) -> None:
    pictures = shown_by(guide)
    assert pictures
    assert [picture for picture in pictures if not picture.is_file()] == []


def test_every_picture_is_small_and_shown() -> None:
    shown = {one for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")] for one in shown_by(page)}
    there = set(IMAGES.iterdir())
    assert sorted(there - shown) == []
    assert {one.name: one.stat().st_size for one in there if one.stat().st_size > MOST_BYTES} == {}


def test_every_diagram_says_its_content_to_those_who_do_not_see_it() -> None:
    for name, one in diagrams().items():
        assert len(one.about) > 80, name
        title, about = list(ElementTree.fromstring(drawn(one)))[:2]
        assert (title.text, about.text) == (one.title, one.about)


def test_an_arrow_leads_from_the_side_of_a_box_to_that_of_the_other() -> None:
    svg = drawn(TWO)
    left = 24 + (960 - 48 - 44) / 2
    assert f'd="M{left:.0f} 45 H{left + 44:.0f}"' in svg


def test_a_text_that_does_not_fit_and_a_name_that_is_none_are_refused() -> None:
    long = msgspec.structs.replace(TWO, boxes={**TWO.boxes, "one": Box(at=(0, 0), text="x" * 60)})
    with pytest.raises(ValueError, match=r"only 88 % of this text fits into its box: 'xxx"):
        drawn(long)
    frames = [Frame(text="both", around=["one", "third"])]
    with pytest.raises(ValueError, match="Two: no box is called third"):
        drawn(msgspec.structs.replace(TWO, frames=frames))


def test_bars_are_as_long_as_the_sizes_of_the_table() -> None:
    svg = sizes("| install | for |\n| `mawl` | a | 100 |  |\n| `mawl[programs]` | b | 400 | 300 |\n")
    short, long = (float(wide) for wide in re.findall(r'class="bar".*? width="(\d+)"', svg))
    assert short == long / 4
    assert "400 MiB" in svg
