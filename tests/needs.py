"""What tests need of a machine: the one place where a test skips, each time with its reason.

``pytestmark = needs.marks(needs.ROOT, needs.program("fio"))`` names needs before a test begins;
``needs.ROOT.require()`` does so inside a fixture.  Every other skip is a failure (``tests.honest``).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NoReturn

import pytest
from _pytest.outcomes import Skipped

from mawl.lab.needs import Need as BedNeed
from mawl.records.compiled import find_compiler

MARK = "needs"
_ADMINISTRATOR_PLACES = "/usr/sbin:/sbin"


class LackingNeedError(Skipped):
    """The machine lacks what a test needs: the only skip that passes."""


@dataclass(frozen=True)
class Need:
    """One thing that a machine may lack; ``lacking`` is the sentence when it does, None when it has it."""

    name: str
    lacking: Callable[[], str | None]

    def require(self) -> None:
        """Skip the test where the machine lacks it."""
        if reason := self.lacking():
            skip(reason)


def skip(reason: str) -> NoReturn:
    """Skip: the machine lacks something truly.

    For what a test tried and the kernel or a file system refused.  Never for want of time, or of an idle
    machine, and never where no machine could run the test.
    """
    raise LackingNeedError(reason)


def marks(*needs: Need) -> pytest.MarkDecorator:
    """A mark for tests that begin only where the machine has all of these."""
    mark: pytest.MarkDecorator = getattr(pytest.mark, MARK)
    # With an argument alone, a mark would take a function for what it decorates.
    return mark.with_args(*needs)


def program(*names: str) -> Need:
    """Programs by name, also where only an administrator's PATH has them."""

    @cache
    def lacking() -> str | None:
        places = f"{os.environ.get('PATH', '')}:{_ADMINISTRATOR_PLACES}"
        absent = [name for name in names if shutil.which(name, path=places) is None]
        return f"not installed: {', '.join(absent)}" if absent else None

    return Need(" ".join(names), lacking)


def tried(name: str, attempt: Callable[[], str | None]) -> Need:
    """A feature that is tried once; ``attempt`` gives the reason where it does not work."""
    return Need(name, cache(attempt))


PRIVATE_MOUNTS = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "-U", "-r", "--mount"]
"""What a command line begins with whose mounts nobody else sees."""


def _why_no_mounts() -> str | None:
    try:
        done = subprocess.run([*PRIVATE_MOUNTS, "true"], capture_output=True, text=True)
    except OSError:
        return "not installed: unshare"
    return f"no private mounts: {done.stderr.strip()}" if done.returncode else None


MOUNTS = tried("mounts", _why_no_mounts)


def directory(path: str) -> Need:
    """A directory of the machine."""
    return Need(path, lambda: None if Path(path).is_dir() else f"there is no {path}")


def bed(checked: Iterable[BedNeed]) -> None:
    """Require what ``mawl.lab.needs.check`` tried for a bed."""
    for need in checked:
        if need.reason is not None:
            skip(f"{need.name}: {need.reason}")


ROOT = Need("root", lambda: None if os.geteuid() == 0 else "needs root")
NOT_ROOT = Need("not root", lambda: None if os.geteuid() != 0 else "needs a user who is not root")
COMPILER = Need("compiler", lambda: None if find_compiler(os.environ) else "no C compiler")
TWO_PROCESSORS = Need(
    "two processors", lambda: None if len(os.sched_getaffinity(0)) >= 2 else "needs two processors"
)
PYTHON_OF_CONSTRAINTS = Need(
    "Python 3.11",
    lambda: None if sys.version_info[:2] == (3, 11) else "the constraints are made with Python 3.11",
)
