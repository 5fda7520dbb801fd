"""Folders of collections that somebody damaged: each value is the right one, or absent with the reason."""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import pytest

from mawl.errors import MawlError, UsageError
from mawl.tuning.check import check
from mawl.tuning.collection.files import MANIFEST, places
from mawl.tuning.collection.reading import collected
from mawl.tuning.profile_files import profiles
from tests.fakes import collected_hosts as hosts

CASES = 150


def facts(folders: list[Path]) -> dict[tuple[str, str, str, str], Any]:
    """Every value that is known: node, family, subject, figure."""
    return {
        (node, family, subject, figure): value
        for node, inventory in collected(folders, {}).inventories.items()
        for family, subjects in inventory.families.items()
        for subject, figures in subjects.items()
        for figure, value in figures.items()
        if value is not None
    }


def damage(folder: Path, chance: random.Random) -> Path:
    """One change to one file, of any kind, digits of values too."""
    path = chance.choice(sorted(folder.iterdir()))
    content = bytearray(path.read_bytes())
    kind = chance.randrange(6)
    if kind == 0:
        path.write_bytes(content[: chance.randrange(len(content))])
    elif kind == 1:
        content[chance.randrange(len(content))] = chance.choice(b"0123456789xK \n\x00\xff")
        path.write_bytes(content)
    elif kind == 2:
        other = chance.choice(sorted(folder.iterdir()))
        path.write_bytes(other.read_bytes())
    elif kind == 3:
        lines = content.split(b"\n")
        chance.shuffle(lines)
        path.write_bytes(b"\n".join(lines))
    elif kind == 4:
        path.unlink()
    else:
        path.write_bytes(content.replace(b"\n", b"\r\n"))
    return path


@pytest.mark.parametrize("seed", range(3))
def test_no_damage_makes_a_wrong_value(tmp_path: Path, seed: int) -> None:
    truth = facts([hosts.client(tmp_path / "whole", hybrid=True)])
    chance, lost = random.Random(seed), 0
    for number in range(CASES // 3):
        folder = hosts.client(tmp_path / f"case {number}", hybrid=True)
        damaged = damage(folder, chance)
        if damaged.name == MANIFEST and not damaged.exists():
            continue
        try:
            found = facts([folder])
        except MawlError:
            found = {}
        wrong = {fact: value for fact, value in found.items() if fact[1:] not in {one[1:] for one in truth}}
        assert not wrong, damaged
        for fact, value in found.items():
            assert value == truth[("lpar1", *fact[1:])], (damaged, fact)
        lost += len(found) < len(truth)
    assert lost > CASES // 6, "damage loses values, it does not change them"


def test_a_file_that_is_not_as_collected_tells_nothing_and_says_why(tmp_path: Path) -> None:
    folder = hosts.client(tmp_path / "c")
    path = folder / "no_-a.txt"
    path.write_text(path.read_text().replace(" = 1", " = 0"))
    (folder / "more.txt").write_text("vm.swappiness = 60\n")
    (folder / "smtctl.txt").unlink()
    found = check(collected([folder], {}), None, profiles())
    reasons = {one.file: one.reason for one in found.unread}
    assert reasons["no_-a.txt"] == f"changed since it was collected: its checksum differs from {MANIFEST}"
    assert reasons["more.txt"].startswith(f"not in {MANIFEST}")
    assert reasons["smtctl.txt"] == f"{MANIFEST} lists it, but it is not there"
    (row,) = [one for one in found.settings if one.name == "tcp_nodelayack"]
    assert (row.state, row.current) == ("not collected", None)


def test_a_transfer_as_text_changes_nothing(tmp_path: Path) -> None:
    folder = hosts.client(tmp_path / "c")
    truth = facts([folder])
    for path in folder.iterdir():
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert facts([folder]) == truth


def test_links_pipes_and_folders_in_a_collection_are_not_followed(tmp_path: Path) -> None:
    folder = hosts.client(tmp_path / "c")
    (folder / MANIFEST).unlink()
    (tmp_path / "secret").write_text("vm.swappiness = 1\n")
    (folder / "sysctl_-a.txt").symlink_to(tmp_path / "secret")
    os.mkfifo(folder / "ioo_-L.txt")
    (folder / "escape\x1b[2J.txt").write_text("\x1b]0;owned\x07\n")
    reading = collected([folder], {})
    assert "memory" not in reading.inventories["lpar1"].families
    files = [one.file for one in reading.unread]
    assert len(files) == 3 and not any("\x1b" in f"{one.file}{one.reason}" for one in reading.unread)


def test_a_folder_of_folders_is_several_nodes(tmp_path: Path) -> None:
    hosts.client(tmp_path / "all/one")
    hosts.server(tmp_path / "all/two")
    assert list(collected([tmp_path / "all"], {}).inventories) == ["lpar1", "vios1"]


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda base: [base / "absent"], "is not there"),
        (lambda base: [base / "empty"], "no file in it"),
        (lambda base: [hosts.client(base / "a"), hosts.client(base / "b")], "two collections of lpar1"),
    ],
)
def test_wrong_use_is_one_sentence(tmp_path: Path, make: Any, reason: str) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match=reason):
        collected(make(tmp_path), {})


def test_outputs_of_two_nodes_in_one_folder_are_not_mixed(tmp_path: Path) -> None:
    folder = hosts.client(tmp_path / "a")
    (folder / MANIFEST).unlink()
    other = hosts.server(tmp_path / "b")
    (folder / "x.txt").write_bytes((other / "lsattr_-El_fcs0.txt").read_bytes())
    with pytest.raises(UsageError, match=r"outputs of several nodes \(lpar1, vios1\)"):
        collected([folder], {})


def test_files_named_one_by_one_are_one_node(tmp_path: Path) -> None:
    path = tmp_path / "anything.txt"
    path.write_text("  maxfree = 1088\n  minfree = 960\n")
    (place,) = places([path])
    assert len(place.parts) == 1
    assert collected([path], {}).inventories["collection"].families["vmo"]["machine"]["maxfree"] == "1088"
