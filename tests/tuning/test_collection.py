"""Folders of collections that somebody damaged: each value is the right one, or absent with the reason.

The collector scripts: plain sh, understood by four shells, and they run nothing but commands that read.
"""

from __future__ import annotations

import os
import random
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from mawl.base.errors import MawlError, UsageError
from mawl.importers.formats.settings.collection import PLATFORMS, Section
from mawl.measure.machine import read_machine
from mawl.measure.settings.inventory import read_inventory
from mawl.tuning.check import check
from mawl.tuning.collection import MANIFEST, collector, places, read_collections
from mawl.tuning.profile_files import profiles
from tests import needs
from tests.fakes import collected_hosts as hosts

SHELLS = ("dash", "bash", "mksh", "ksh93")
LONGEST_SCRIPT = 90
TOOLS = ("cksum", "cat", "mkdir", "printf", "sed", "tr", "uname")
DEVICES = "hdisk0\\nhdisk4\\nfcs0\\nfscsi0\\nen0\\nent0\\nsys0\\nproc0"
READS = {
    "aix": {
        *(f"{command} -a" for command in ("vmo", "ioo", "no", "schedo", "raso")),
        *("lparstat -i", "smtctl", "mount", "lspath", "lsdev -C -F name parent", "lsdev -C -F name"),
        *(f"lsattr -El {device}" for device in ("sys0", "hdisk0", "hdisk4", "fcs0", "fscsi0", "en0", "ent0")),
    },
    "vios": {
        *("ioscli lsmap -all", "ioscli lsmap -all -npiv", "lsdev -C -F name parent", "lsdev -C -F name"),
        *(f"lsattr -El {device}" for device in ("hdisk0", "hdisk4", "fcs0", "fscsi0", "ent0")),
    },
    "scale": {
        *("mmlsconfig", "mmdiag --config", "mmlsfs all", "mmlsfs all -T", "mmlsnsd -m", "mmlsdisk sasdata"),
    },
}
"""All that a script may run on a platform, as its command line."""


def stubs(folder: Path, platform: str) -> Path:
    """A folder with a program for each command, which notes how it was called; nothing else is found."""
    folder.mkdir()
    for name in {line.split()[0] for line in READS[platform]}:
        answer = DEVICES if name == "lsdev" else "File system attributes for /dev/sasdata:\\n"
        path = folder / name
        path.write_text(
            f'#!/bin/sh\necho "{name}${{*:+ $*}}" >>"{folder}.calls"\n'
            f'[ "$3" = "name parent" ] || printf "{answer}"\n'
        )
        path.chmod(0o755)
    for name in TOOLS:
        (folder / name).symlink_to(f"/usr/bin/{name}")
    return folder


@pytest.mark.parametrize("platform", PLATFORMS)
def test_the_script_is_short_and_shellcheck_finds_nothing(platform: str) -> None:
    text = collector(platform)
    assert len(text.splitlines()) < LONGEST_SCRIPT and "PLATFORM" not in text
    needs.program("shellcheck").require()
    done = subprocess.run(["shellcheck", "-s", "sh", "-"], input=text, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("platform", list(READS))
def test_it_runs_commands_that_read_and_no_other(tmp_path: Path, platform: str, shell: str) -> None:
    needs.program(shell).require()
    programs = stubs(tmp_path / "programs", platform)
    text = re.sub(r"^PATH=.*$", f"PATH={programs}", collector(platform), flags=re.MULTILINE)
    (tmp_path / "collect.sh").write_text(text)
    path = f"{os.environ['PATH']}:/usr/bin:/bin"
    done = subprocess.run(
        [shell, "collect.sh", "out"], cwd=tmp_path, capture_output=True, text=True, env={"PATH": path}
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert set((tmp_path / "programs.calls").read_text().splitlines()) == READS[platform]
    (place,) = places([tmp_path / "out"])
    sections = [part for part in place.parts if isinstance(part, Section)]
    own = {" ".join(part.command) for part in sections if part.whole}
    asked = {line.removeprefix("ioscli ") for line in READS[platform]} - {"mmlsfs all -T", "lsdev -C -F name"}
    assert own == asked | ({"ulimit -a"} if platform == "aix" else set())
    assert {part.platform for part in sections} == {platform}


@pytest.mark.parametrize("shell", SHELLS)
def test_this_machine_is_collected_as_it_is_read(tmp_path: Path, shell: str) -> None:
    needs.program(shell).require()
    done = subprocess.run(
        [shell, "-s", "out"], input=collector("linux"), cwd=tmp_path, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out"]
    (found,) = read_collections([tmp_path / "out"], {}).inventories.values()
    disks = list(found.families.get("block", {}))
    read = read_inventory(read_machine(), devices=disks, places=[])
    compared = 0
    for family in ("memory", "kernel", "tcp", "block"):
        for subject, figures in found.families.get(family, {}).items():
            own = read.families.get(family, {}).get(subject, {})
            for figure, value in figures.items():
                if own.get(figure) is not None and value is not None:
                    assert value == own[figure], (family, subject, figure)
                    compared += 1
    assert compared >= 10


def test_an_existing_folder_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out/mine.txt").write_text("mine")
    done = subprocess.run(
        ["sh", "-s", "out"], input=collector("scale"), cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["mine.txt"]


CASES = 150


def facts(folders: list[Path]) -> dict[tuple[str, str, str, str], Any]:
    """Every value that is known: node, family, subject, figure."""
    return {
        (node, family, subject, figure): value
        for node, inventory in read_collections(folders, {}).inventories.items()
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
    found = check(read_collections([folder], {}), None, profiles())
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
    reading = read_collections([folder], {})
    assert "memory" not in reading.inventories["lpar1"].families
    files = [one.file for one in reading.unread]
    assert len(files) == 3 and not any("\x1b" in f"{one.file}{one.reason}" for one in reading.unread)


def test_a_folder_of_folders_is_several_nodes(tmp_path: Path) -> None:
    hosts.client(tmp_path / "all/one")
    hosts.server(tmp_path / "all/two")
    assert list(read_collections([tmp_path / "all"], {}).inventories) == ["lpar1", "vios1"]


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
        read_collections(make(tmp_path), {})


def test_outputs_of_two_nodes_in_one_folder_are_not_mixed(tmp_path: Path) -> None:
    folder = hosts.client(tmp_path / "a")
    (folder / MANIFEST).unlink()
    other = hosts.server(tmp_path / "b")
    (folder / "x.txt").write_bytes((other / "lsattr_-El_fcs0.txt").read_bytes())
    with pytest.raises(UsageError, match=r"outputs of several nodes \(lpar1, vios1\)"):
        read_collections([folder], {})


def test_files_named_one_by_one_are_one_node(tmp_path: Path) -> None:
    path = tmp_path / "anything.txt"
    path.write_text("  maxfree = 1088\n  minfree = 960\n")
    (place,) = places([path])
    assert len(place.parts) == 1
    assert (
        read_collections([path], {}).inventories["collection"].families["vmo"]["machine"]["maxfree"] == "1088"
    )
