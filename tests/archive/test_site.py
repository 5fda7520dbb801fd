"""A site of packs: complete links, no script from elsewhere, refusals, and escaping."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest

from mawl.archive.manifest import SubmitterStatement
from mawl.archive.packing import PackRequest, pack
from mawl.commands.main import main
from tests.fakes.altered_packs import members_of, packed, with_new_manifest
from tests.fakes.published_run import write_published, write_published_campaign

WORDS = SubmitterStatement(
    submitter="<b>Example</b>", contact="x@example.com", system="S & <i>", storage="ssd", tuning="none"
)


@pytest.fixture(scope="module")
def packs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """An accepted pack, and one of a short run."""
    place = tmp_path_factory.mktemp("site")
    write_published_campaign(place / "five")
    write_published(place / "short", seconds=600.0)
    made = [place / "five.mawl.zip", place / "short.mawl.zip"]
    pack(PackRequest(folder=place / "five", campaign=True, statement=WORDS), made[0])
    pack(PackRequest(folder=place / "short", campaign=False), made[1])
    return made


class Links(HTMLParser):
    """What a page names."""

    def __init__(self) -> None:
        super().__init__()
        self.named: list[str] = []
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.named += [value or "" for name, value in attrs if name in ("href", "src")]


def test_every_link_leads_to_a_file_of_the_site(
    packs: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    site = tmp_path / "site"
    assert main(["publish", *map(str, packs), "--output", str(site)]) == 0
    assert "(2 packs, 1 accepted)" in capsys.readouterr().out
    pages = list(site.rglob("*.html"))
    assert len(pages) == 3
    for page in pages:
        links = Links()
        links.feed(page.read_text())
        for name in links.named:
            assert (page.parent / name).resolve().is_relative_to(site.resolve()), name
            assert (page.parent / name).is_file(), name
        assert not {"i", "b"} & set(links.tags), "text of a pack is text"
    assert (site / "packs" / "five.zip").read_bytes() == packs[0].read_bytes()
    assert main(["validate", str(site / "packs" / "five.zip")]) == 0


def test_the_table_needs_no_script_and_names_what_must_not_be_compared(
    packs: list[Path], tmp_path: Path
) -> None:
    site = tmp_path / "site"
    assert main(["publish", *map(str, packs), "--output", str(site)]) == 0
    page = (site / "index.html").read_text()
    without = page.partition("<script>")[0]
    assert "S &amp; &lt;i&gt;" in without and "short" in without
    assert "Only results of one table may be compared" in without
    assert "20 sessions" in without, "the papers are beside"
    entries = ElementTree.parse(site / "feed.xml").getroot().findall("{http://www.w3.org/2005/Atom}entry")
    assert len(entries) == 2


def test_a_site_is_made_again_and_other_directories_are_left_alone(
    packs: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    site = tmp_path / "site"
    assert main(["publish", *map(str, packs), "--output", str(site)]) == 0
    assert main(["publish", str(packs[0]), "--output", str(site)]) == 0
    assert [path.name for path in (site / "results").iterdir()] == ["five"]
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "index.html").write_text("mine")
    assert main(["publish", str(packs[0]), "--output", str(tmp_path / "mine")]) == 2
    assert "is no site of mawl" in capsys.readouterr().err
    assert main(["publish", str(packs[0]), str(packs[0]), "--output", str(site)]) == 2


def test_a_pack_with_an_edited_figure_is_not_published(
    packs: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    members = members_of(packs[1])
    members["printed/short/summary.json"] = members["printed/short/summary.json"].replace(b"0.9", b"0.8", 1)
    (tmp_path / "short.mawl.zip").write_bytes(packed(with_new_manifest(members)))
    assert main(["publish", str(tmp_path / "short.mawl.zip"), "--output", str(tmp_path / "site")]) == 1
    assert "its figures cannot be relied on" in capsys.readouterr().err
    assert not (tmp_path / "site").exists()
