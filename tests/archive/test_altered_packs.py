"""No altered pack is accepted: a bit, a row, a figure, a timestamp, a swapped file, a new manifest.

Packs of a run, of a campaign and of a run on several nodes.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from mawl.archive.packing import PackRequest, pack, read_statement
from mawl.archive.publication import EVERY
from mawl.archive.subject import ValidationSubject, pack_subject, ruling
from mawl.base.errors import UnreadableRunError
from mawl.base.removal import temporary_directory
from tests.fakes.altered_packs import altered, members_of
from tests.fakes.published_cluster import write_published_cluster
from tests.fakes.published_run import STATEMENT, write_published_campaign

QUICK, LONG = 50, 9_000
QUICK_OF_FIVE, LONG_OF_FIVE = 12, 1_000
QUICK_OF_NODES, LONG_OF_NODES = 8, 1_000
PARTS = 10
"""The long test has so many parts, each with a block of cases, so that one can be run alone."""
REPEATS = 25
"""The rule that a pack of one run does not pass; such packs make a case five times as cheap."""


@pytest.fixture(scope="module")
def packs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Path]:
    """A pack that is accepted; one of a single run of it and one of a run on two nodes, that are accepted but
    for ``repeats``."""
    place = tmp_path_factory.mktemp("good")
    write_published_campaign(place / "five")
    (place / "statement.toml").write_text(STATEMENT)
    statement = read_statement(place / "statement.toml")
    five, one, nodes = (place / f"{name}.mawl.zip" for name in ("five", "one", "nodes"))
    write_published_cluster(place / "two")
    pack(PackRequest(folder=place / "five", kind="campaign", statement=statement), five)
    pack(PackRequest(folder=place / "five" / "run-1", statement=statement), one)
    pack(PackRequest(folder=place / "two", division="open", statement=statement), nodes)
    return five, one, nodes


def passes(subject: ValidationSubject, *, without: int | None = None) -> bool:
    """Whether every rule is passed, ``without`` one of them; stops at the first that is not."""
    # The sums of the manifest cost least, and most alterations go no further.
    rules = sorted(EVERY, key=lambda rule: rule.name != "unaltered")
    return all(
        ruling(rule, subject).state in ("passed", "not asked") for rule in rules if rule.number != without
    )


def accepted(path: Path, *, without: int | None = None) -> bool:
    """Whether the file is accepted; what cannot be opened is refused before any rule."""
    try:
        with temporary_directory("mawl-validate-") as place:
            return passes(pack_subject(path, place), without=without)
    except UnreadableRunError:
        return False


def accepted_of(good: Path, place: Path, numbers: range, *, without: int | None = None) -> list[str]:
    """The alterations that were accepted."""
    content, members = good.read_bytes(), members_of(good)
    found = []
    for number in numbers:
        what, changed = altered(content, members, number)
        assert changed != content, what
        place.write_bytes(changed)
        if accepted(place, without=without):
            found.append(f"{number}: {what}")
    return found


def test_the_packs_that_are_altered_are_accepted_as_they_were(packs: tuple[Path, Path, Path]) -> None:
    five, one, nodes = packs
    assert accepted(five)
    for pack_of_one in (one, nodes):
        assert not accepted(pack_of_one)
        assert accepted(pack_of_one, without=REPEATS)


def test_no_altered_pack_is_accepted(packs: tuple[Path, Path, Path], tmp_path: Path) -> None:
    five, one, nodes = packs
    place = tmp_path / "altered.mawl.zip"
    assert accepted_of(five, place, range(QUICK_OF_FIVE)) == []
    assert accepted_of(one, place, range(QUICK), without=REPEATS) == []
    assert accepted_of(nodes, place, range(QUICK_OF_NODES), without=REPEATS) == []


@pytest.mark.long(minutes=2)
@pytest.mark.parametrize("part", range(PARTS))
def test_none_of_eleven_thousand_altered_packs_is_accepted(
    packs: tuple[Path, Path, Path], tmp_path: Path, part: int
) -> None:
    five, one, nodes = packs
    place = tmp_path / "altered.mawl.zip"
    assert accepted_of(five, place, block(QUICK_OF_FIVE, LONG_OF_FIVE, part)) == []
    assert accepted_of(one, place, block(QUICK, LONG, part), without=REPEATS) == []
    assert accepted_of(nodes, place, block(QUICK_OF_NODES, LONG_OF_NODES, part), without=REPEATS) == []


def block(first: int, count: int, part: int) -> range:
    """The cases of a part: neighbours, since the kinds of alterations take turns."""
    each = count // PARTS
    return range(first + part * each, first + (part + 1) * each)
