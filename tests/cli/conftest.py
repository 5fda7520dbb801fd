"""The ``mawl`` command in a directory of its own; input tables are made once and shared."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fakes.warm import needs_own_interpreter, warm

LONGEST_SECONDS = 300


class Command:
    """Runs ``mawl`` in a directory, with the roles there and the inputs shared."""

    def __init__(self, directory: Path, data: Path) -> None:
        self.directory = directory
        self.environment = {
            **os.environ,
            "MAWL_DATA": str(data),
            "MAWL_WORK": str(directory / "work"),
            "MAWL_UTIL": str(directory / "util"),
            "MAWL_RUNS": str(directory / "runs"),
            "MAWL_HTML": "no",  # a second of each run; test_html.py says yes
        }
        self._found = set(self._run_directories())  # what earlier tests kept in the shared data directory

    def __call__(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """The command run to its end, as a process of its own."""
        variables = {**self.environment, **environment}
        if not needs_own_interpreter(variables):
            return warm().run(arguments, self.directory, variables, LONGEST_SECONDS)
        return subprocess.run(
            [sys.executable, "-m", "mawl", *arguments],
            cwd=self.directory,
            env=variables,
            capture_output=True,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
            timeout=LONGEST_SECONDS,
        )

    def ok(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """The command run to its end, which must be a good one."""
        done = self(*arguments, **environment)
        assert done.returncode == 0, done.stdout + done.stderr
        return done

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """The command in the background, its output captured."""
        return subprocess.Popen(
            [sys.executable, "-m", "mawl", *arguments],
            cwd=self.directory,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            text=True,
        )

    def leftovers(self) -> list[str]:
        """Run directories made under the roles since this command; empty when a run cleaned up."""
        return [place for place in self._run_directories() if place not in self._found]

    def _run_directories(self) -> list[str]:
        roles = (self.directory / "work", self.directory / "util", Path(self.environment["MAWL_DATA"]))
        return [str(path) for role in roles for path in role.glob("mawl-run-*")]


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("data")


@pytest.fixture
def mawl(tmp_path: Path, data: Path) -> Command:
    return Command(tmp_path, data)


@pytest.fixture(scope="session")
def nano_run(tmp_path_factory: pytest.TempPathFactory, data: Path) -> Path:
    """The folder of a run of nano, to be read or copied: made once."""
    mawl = Command(tmp_path_factory.mktemp("nano"), data)
    mawl.ok("run", "nano", "--output", "made")
    return mawl.directory / "made"
