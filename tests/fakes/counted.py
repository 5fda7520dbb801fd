"""Commands counted by the preloaded library, with roles in a folder."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from mawl.measure.preload.build import Library
from mawl.measure.preload.counters import COUNTERS_VARIABLE, CounterFile, create
from mawl.records.spec.program_options import ROLES, Role


class Counted:
    """Runs commands in ``folder``, whose directories data, work and util are the roles."""

    def __init__(self, made: Library, folder: Path) -> None:
        self.library, self.folder = made, folder
        self.roles: dict[Role, list[Path]] = {role: [folder / role] for role in ROLES}
        for role in ROLES:
            (folder / role).mkdir()
        (folder / "counters").mkdir()
        self._files = 0

    def new(self, *, uncached: bool = False) -> Path:
        """A fresh counter file; with ``uncached`` the roles go without the page cache."""
        self._files += 1
        path = self.folder / "counters" / str(self._files)
        create(path, self.roles, uncached=uncached)
        return path

    def environment(self, counters: Path) -> dict[str, str]:
        """What a command needs to count."""
        return {**self.library.environment(os.environ), COUNTERS_VARIABLE: str(counters)}

    def __call__(
        self,
        *command: str,
        prefix: Sequence[str] = (),
        status: int = 0,
        uncached: bool = False,
        inside: Mapping[str, str] | None = None,
    ) -> CounterFile:
        """Run a command to its end; its counters.  ``prefix`` goes before it, uncounted (strace).

        With the environment ``inside`` it may end with any status.
        """
        counters = self.new(uncached=uncached)
        environment = self.environment(counters)
        if prefix:
            inner = [f"{name}={environment[name]}" for name in ("LD_PRELOAD", COUNTERS_VARIABLE)]
            command = (*prefix, "env", *inner, *command)
            environment = dict(os.environ if inside is None else inside)
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=300,
        )
        assert done.returncode == status or inside is not None, done.stderr
        return CounterFile(counters)

    def python(self, code: str, *arguments: str, status: int = 0, uncached: bool = False) -> CounterFile:
        """Run Python code."""
        return self(sys.executable, "-I", "-S", "-c", code, *arguments, status=status, uncached=uncached)
