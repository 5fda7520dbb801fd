"""Real programs do the same under ``mawl measure`` as without, and their counts are those of strace.

Each program of ``tests/fakes/real_programs.toml`` that the machine has runs four times in equal folders:
twice plain, measured, and counted under strace.  ``MAWL_TEST_PROGRAMS`` names a file for the results, from
which ``tools/real_programs.py`` prints the page.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shutil
import stat
import subprocess
import sys
import tomllib
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import msgspec
import pytest

from mawl.measure.preload.build import Library
from mawl.records.spec.program_options import ROLES
from tests import needs
from tests.fakes.counted import Counted
from tests.measure.preload.test_strace import traced
from tools.real_programs import ProgramResult, page

LISTED = tomllib.loads((Path(__file__).parents[2] / "fakes" / "real_programs.toml").read_text())
LEAST = 40
"""Programs without which the test says nothing."""

pytestmark = needs.marks(needs.COMPILER, needs.program("strace"))


PREPARED_AT = 1_700_000_000


class Ending(NamedTuple):
    """What a run leaves for its caller."""

    status: int
    output: bytes
    errors: bytes
    tree: dict[str, tuple[int, str]]


def tree_of(folder: Path) -> dict[str, tuple[int, str]]:
    """Mode and content of everything below a folder."""
    found = {}
    for path in sorted(folder.rglob("*")):
        mode = path.lstat().st_mode
        if stat.S_ISREG(mode):
            content = hashlib.sha256(path.read_bytes()).hexdigest()
        else:
            content = str(path.readlink()) if path.is_symlink() else ""
        found[str(path.relative_to(folder))] = (mode, content)
    return found


class Trial:
    """One program, in a folder that is made anew for each run."""

    def __init__(self, made: Library, place: Path, script: str) -> None:
        assert made.path is not None
        self._made, self._folder, self._script = made, place / "run", script
        self._report = place / "report.json"
        (place / "home").mkdir()
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("MAWL_")},
            "HOME": str(place / "home"),
            "XDG_CACHE_HOME": str(made.path.parents[1]),
            "LC_ALL": "C",
            "TZ": "UTC",
        }

    def fresh(self) -> Counted:
        shutil.rmtree(self._folder, ignore_errors=True)
        self._folder.mkdir()
        counted = Counted(self._made, self._folder)
        subprocess.run(
            ["sh", "-ec", LISTED["prepare"]], cwd=self._folder, env=self.environment, check=True, timeout=60
        )
        for path in self._folder.rglob("*"):  # archives hold the times of their files
            os.utime(path, (PREPARED_AT, PREPARED_AT), follow_symlinks=False)
        return counted

    def run(self, *prefix: str) -> Ending:
        self.fresh()
        done = subprocess.run(
            [*prefix, "sh", "-c", self._script],
            cwd=self._folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=300,
        )
        return Ending(done.returncode, done.stdout, done.stderr, tree_of(self._folder))

    def measured(self) -> tuple[Ending, list[str]]:
        """The ending under ``mawl measure``, and what it says that it could not see."""
        roles = [word for role in ROLES for word in (f"--{role}", role)]
        mawl = [sys.executable, "-m", "mawl", "measure", "--json", "--output", str(self._report), *roles]
        ending = self.run(*mawl, "--")
        report = json.loads(self._report.read_text())
        unseen = list(report["io"]["unseen"] or [])
        if report["io"]["by_role"] is None:
            unseen.append(report["missing"]["io.by_role"])
        return ending, unseen

    def differences(self) -> tuple[int, list[str]]:
        """Calls on the roles that strace saw, and counts of the same run that are not strace's."""
        counters, found = traced(self.fresh(), "sh", "-c", self._script, environment=self.environment)
        calls = sum(count for (_, name), count in found.items() if not name.endswith("bytes"))
        return calls, [
            f"{role} {name}: {getattr(io, name)}, strace {found.get((role, name), 0)}"
            for role, io in counters.by_role().items()
            if role != "other"
            for name in ("reads", "writes", "syncs", "read_bytes", "written_bytes")
            if getattr(io, name) != found.get((role, name), 0)
        ]


def judged(name: str, trial: Trial, status: int) -> ProgramResult:
    """What the runs of a program show."""
    plain, again = trial.run(), trial.run()
    measured, unseen = trial.measured()
    faults = (
        []
        if plain.status == status
        else [f"exit status {plain.status} without mawl: {plain.errors[-200:]!r}"]
    )
    varying = [path for path in plain.tree if plain.tree[path] != again.tree.get(path)]
    for ending in (plain, again, measured):
        for path in varying:
            ending.tree.pop(path, None)
    assert plain == again, f"{name} does not repeat itself"
    faults += [
        f"{field} differs"
        for field, one, other in zip(Ending._fields, plain, measured, strict=True)
        if one != other
    ]
    calls, differences = trial.differences()
    if not calls:
        faults.append("counts nothing: it has no call on a role")
    if differences and not unseen:
        faults.append("counts differ, and no remark says so")
    return ProgramResult(
        program=name,
        machine=f"Linux {'.'.join(platform.release().split('.')[:2])}, {' '.join(platform.libc_ver())}",
        made_at=f"{datetime.now(UTC):%Y-%m-%d}",
        calls=calls,
        varying=varying,
        differences=differences,
        unseen=unseen,
        faults=faults,
    )


@pytest.mark.long(minutes=6)
def test_real_programs_are_the_same_and_counted(made: Library, tmp_path: Path) -> None:
    there = {
        name: listed
        for name, listed in LISTED["programs"].items()
        if all(shutil.which(word) for word in [listed.get("needs", name)])
    }
    if len(there) < LEAST:
        needs.skip(f"only {len(there)} of the programs are on this machine")
    results = []
    for name, listed in there.items():
        place = tmp_path / name
        place.mkdir()
        results.append(judged(name, Trial(made, place, listed["script"]), listed.get("status", 0)))
        shutil.rmtree(place)
        if named := os.environ.get("MAWL_TEST_PROGRAMS"):
            with Path(named).open("ab") as file:
                file.write(msgspec.json.encode(results[-1]) + b"\n")
    assert [f"{one.program}: {fault}" for one in results for fault in one.faults] == []


def test_the_page_has_a_row_for_each_program() -> None:
    same = ProgramResult(program="dd", machine="m", made_at="2026-01-01", calls=1234)
    odd = ProgramResult(
        program="go",
        machine="m",
        made_at="2026-01-01",
        calls=3,
        varying=["work/p"],
        differences=["work writes: 0, strace 3"],
        unseen=["static"],
        faults=["tree differs"],
    )
    text = page([same, odd])
    assert "| dd | same | 1,234 | equal |" in text
    assert "| go | tree differs (work/p varies without mawl) | 3 | not seen, and said: static |" in text
    assert "1 of 2" in text
