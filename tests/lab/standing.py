"""A bed of a test's own that stands while the test runs ``mawl`` over it."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from mawl.lab.bed import load_bed
from mawl.lab.calibration import NOT_AS_SAID
from mawl.lab.needs import check, needs_of
from mawl.records.spec.program_options import ROLES
from tests import needs

CALIBRATIONS = 3
"""So often a bed is built and calibrated that is refused, as it should be: a virtual machine's buffered
writes are 3 to 6 % slow from one minute to the next, where 5 % are the bound.  No run is made over one."""


class Bed:
    """``mawl`` in a directory that holds the bed's file, its state and the runs over it."""

    def __init__(self, directory: Path, images: Path) -> None:
        self.directory = directory
        self._environment = {
            **os.environ,
            "MAWL_LAB_STATE": str(directory / "state"),
            "MAWL_LAB_IMAGES": str(images),
            "MAWL_HTML": "no",
        }

    def __call__(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "mawl", *words],
            cwd=self.directory,
            env=self._environment,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=380,
            check=False,
        )

    def up(self, name: str) -> dict[str, list[str]]:
        """Build it; of each arm, the roles as words of ``mawl run``."""
        for _ in range(CALIBRATIONS):
            done = self("lab", "up", f"{name}.toml")
            if NOT_AS_SAID not in done.stderr:
                break
        assert done.returncode == 0, done.stderr
        lines = [line.partition(": mawl run ") for line in done.stdout.splitlines()]
        return {arm.removeprefix("arm "): _roles(shlex.split(words)) for arm, found, words in lines if found}


def _roles(words: list[str]) -> list[str]:
    """The words that name directories, without workload, scale and options."""
    places = [words.index(f"--{role}") for role in ROLES]
    return [word for at in places for word in words[at : at + 2]]


def bed_text(name: str, volumes: Mapping[str, str], arms: Mapping[str, str]) -> str:
    """A bed of volumes, each with its own lines of TOML, and arms with the volumes of data, work and util."""
    lines = [f'name = "{name}"', 'title = "A test"', 'question = "Does it hold?"', 'workload = "nano"']
    for volume, own in volumes.items():
        lines += ["[[volumes]]", f'name = "{volume}"', own.strip()]
    for arm, places in arms.items():
        words = [f'{role} = ["{place}"]' for role, place in zip(ROLES, places.split(), strict=True)]
        lines += ["[[arms]]", f'name = "{arm}"', *words]
    return "\n".join(lines) + "\n"


@contextmanager
def standing(directory: Path, name: str, text: str) -> Iterator[Bed]:
    """The bed of ``text``, not yet built; taken down at the end.  Skips where the machine lacks a need."""
    images = Path("/dev/shm") / f"mawl-test-{directory.name}-{directory.parent.name}"
    (directory / f"{name}.toml").write_text(text)
    spec = load_bed(str(directory / f"{name}.toml"))
    needs.bed(check(needs_of(spec, spec.volumes), directory / "state"))
    made = Bed(directory, images)
    images.mkdir()
    try:
        yield made
    finally:
        done = made("lab", "down", name)
        assert done.returncode == 0, done.stderr
        images.rmdir()
