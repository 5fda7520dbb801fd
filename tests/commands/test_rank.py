"""``mawl rank`` over folders of qualifications."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mawl.records.store.campaign import write_qualification
from tests.fakes.answered import NO, YES, answered
from tests.fakes.command_line import Verbs


@pytest.fixture
def folders(tmp_path: Path) -> list[str]:
    """Two systems, A and B."""
    for name, evidence in (("A", YES), ("B", NO)):
        (tmp_path / name).mkdir()
        write_qualification(tmp_path / name, answered(evidence))
    return [str(tmp_path / name) for name in ("A", "B")]


def test_the_table_has_prices_and_eighty_columns(folders: list[str], verbs: Verbs) -> None:
    lines = verbs.out("rank", *folders, "--price", "A=12.00/h", "--price", "B=13/h").splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0] == "Take A: the only system that surely carries 20 sessions, for 12.00 an hour."
    head = next(place for place, line in enumerate(lines) if line.startswith("system"))
    assert lines[head].split() == [
        "system",
        "carries",
        "20",
        "an",
        "hour",
        "a",
        "session",
        "and",
        "month",
        "fits",
    ]
    assert len({line.index("(") for line in lines[head + 1 : head + 3]}) == 1, "columns are aligned"
    assert lines[head + 1].split()[:3] == ["A", "yes", "12.00"]
    assert lines[head + 2].split()[:3] == ["B", "no", "13.00"]


def test_markdown_and_json(folders: list[str], verbs: Verbs) -> None:
    listed = verbs.out("rank", *folders, "--format", "markdown")
    assert listed.startswith("# First of 2 systems: A\n") and "| system | place |" in listed
    found = json.loads(verbs.out("rank", *folders, "--format", "json"))
    assert [(one["name"], one["place"], one["fits"]) for one in found["systems"]] == [
        ("A", 1, 26),
        ("B", 2, 11),
    ]


def test_one_system_is_no_ranking(folders: list[str], verbs: Verbs) -> None:
    assert "at least two systems" in verbs.err("rank", folders[0], status=2)
    for again in (folders[0], f"{folders[0]}/../A/"):
        assert "twice" in verbs.err("rank", folders[0], again, status=2)


def test_a_price_book_with_none_of_the_systems_is_refused(
    folders: list[str], tmp_path: Path, verbs: Verbs
) -> None:
    book = tmp_path / "prices.toml"
    book.write_text('currency = "EUR"\n[per_hour]\nolder = 3.0\n')
    assert "has no price for A or B" in verbs.err("rank", *folders, "--prices", str(book), status=2)
    assert "no price was given for B" in " ".join(
        verbs.out("rank", *folders, "--prices", str(book), "--price", "A=1").split()
    )
