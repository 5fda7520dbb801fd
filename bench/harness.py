"""What every bench row uses: a result, CPU seconds of a command, and alternating runs.

A machine's speed drifts while a bench runs, so a figure never stands alone: ours and the peer's
are taken in turns (ABBA), and medians are compared.
"""

from __future__ import annotations

import itertools
import math
import os
import resource
import statistics
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from mawl.base.errors import RunFailedError, UsageError

Figure = TypeVar("Figure")

SMALL = "MAWL_BENCH_SMALL"
"""The variable of the environment that makes a run small, in every process of a row."""


def sized(usual: Figure, small: Figure) -> Figure:
    """A constant of a row, or what it is in a small run, which shows that the row works."""
    return small if SMALL in os.environ else usual


@dataclass(frozen=True)
class Result:
    """One row: ``target`` is the bound in words (``at most 1.2``), empty for a plain figure.

    ``met`` is None where there is no bound, and in a small run, whose figures mean little.  A row
    without a figure has the value None and is not met.  ``detail`` says what was compared and how far
    single runs lay apart.
    """

    name: str
    value: float | None
    unit: str
    target: str
    met: bool | None
    detail: str

    def __post_init__(self) -> None:
        """Judge what is not known, and nothing else in a small run."""
        if self.value is None or not math.isfinite(self.value):
            object.__setattr__(self, "value", None)
            object.__setattr__(self, "met", False)
        elif SMALL in os.environ:
            object.__setattr__(self, "met", None)


def at_most(name: str, value: float, unit: str, bound: float, detail: str) -> Result:
    """A row that is met when ``value`` is no larger than ``bound``."""
    return Result(name, value, unit, f"at most {bound:g}", value <= bound, detail)


def at_least(name: str, value: float, unit: str, bound: float, detail: str) -> Result:
    """A row that is met when ``value`` is no smaller than ``bound``."""
    return Result(name, value, unit, f"at least {bound:g}", value >= bound, detail)


def resources(
    argv: Sequence[str],
    env: Mapping[str, str] | None = None,
    cwd: str | Path | None = None,
    statuses: Sequence[int] = (0,),
) -> resource.struct_rusage:
    """What a command and every descendant that was waited for used (wait4): CPU seconds, peak memory in KiB.

    Its output is thrown away.  Its peak begins at the size of this process, which forks it.
    Raises ``RunFailedError`` with the last line of its standard error when the command
    cannot be started or ends with a status that is not among ``statuses``.
    """
    with tempfile.TemporaryFile() as complaints:
        try:
            child = subprocess.Popen(
                list(argv),
                env=None if env is None else dict(env),
                cwd=cwd,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=complaints,
            )
        except OSError as error:
            raise _failure(argv, (error.strerror or str(error)).lower()) from None
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode not in statuses:
            complaints.seek(0)
            lines = complaints.read().decode(errors="replace").strip().splitlines() or ["it said nothing"]
            raise _failure(argv, f"exit status {child.returncode}, {lines[-1]}")
    return usage


def cpu_seconds(
    argv: Sequence[str], env: Mapping[str, str] | None = None, cwd: str | Path | None = None
) -> float:
    """User plus system CPU seconds of a command; raises what ``resources`` does."""
    usage = resources(argv, env, cwd)
    return usage.ru_utime + usage.ru_stime


def alternate(
    ours: Callable[[], Figure], peer: Callable[[], Figure], runs: int = 5
) -> tuple[list[Figure], list[Figure]]:
    """Figures of ``ours`` and ``peer``, ``runs`` of each, in ABBA order.

    One run of each goes before and does not count: it fills caches and compiles modules.
    Raises ``UsageError`` for fewer than one run.
    """
    if runs < 1:
        raise UsageError(f"a comparison takes at least one run of each side, found {runs}")
    ours()
    peer()
    figures: tuple[list[Figure], list[Figure]] = ([], [])
    order = itertools.cycle((0, 1, 1, 0))
    for side in itertools.islice(order, 2 * runs):
        figures[side].append((ours, peer)[side]())
    return figures


def spread(figures: Sequence[float], unit: str = "") -> str:
    """Median, smallest and largest of some figures, for a row's detail."""
    text = f"median {statistics.median(figures):.4g} ({min(figures):.4g} to {max(figures):.4g})"
    return f"{text} {unit}".rstrip()


def ratio(ours: Sequence[float], peer: Sequence[float]) -> tuple[float, str]:
    """Median of ours over median of the peer's, and the range that pairs taken in turn gave."""
    pairs = [mine / other for mine, other in zip(ours, peer, strict=True)]
    value = statistics.median(ours) / statistics.median(peer)
    return value, f"pairs {min(pairs):.3g} to {max(pairs):.3g} of {len(pairs)}"


def _failure(argv: Sequence[str], why: str) -> RunFailedError:
    return RunFailedError(
        "a command under the bench failed",
        where=" ".join(argv),
        why=why,
        cure="run it by hand to see all it says",
    )
