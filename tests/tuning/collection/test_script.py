"""The collector scripts: plain sh, understood by four shells, and they run nothing but commands that read."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from mawl.formats.settings.collected import PLATFORMS, Section
from mawl.measure.machine import read_machine
from mawl.measure.settings.inventory import read_inventory
from mawl.tuning.collection.files import places
from mawl.tuning.collection.reading import collected
from mawl.tuning.collection.script import collector
from tests import needs

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
    (found,) = collected([tmp_path / "out"], {}).inventories.values()
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
