"""Reference times: CPU seconds of a job that runs alone, in one thread, with the default options.

The table holds medians of runs on the machine that it names; ``python -m tools.measured --reference`` writes
it from run folders.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from pathlib import Path

import msgspec

from mawl.base.units import format_plain
from mawl.plan.mix import is_of_catalogue
from mawl.plan.needs import JobSeconds

TABLE = Path(__file__).with_name("reference_times.json")


class Knot(msgspec.Struct, frozen=True, kw_only=True):
    """User and system CPU seconds by program at one scale: of so many ``runs`` the median."""

    scale: float
    measured_at: str
    runs: int
    memory_limit_bytes: int | None
    cpu_seconds: dict[str, float]
    again: dict[str, str] = {}
    """Programs that were measured again later, and when."""


class ReferenceTimes(msgspec.Struct, frozen=True, kw_only=True):
    """All scales that were measured, the smallest first; two at least."""

    machine: str
    knots: list[Knot]

    def seconds(self, program: str, scale: float) -> float | None:
        """CPU seconds at a scale: along a straight line between two knots, and beyond the outer ones.

        Below the first knot they are at least in proportion to the scale.  None for a program that is not at
        every knot.
        """
        if not all(program in knot.cpu_seconds for knot in self.knots):
            return None
        lines = list(pairwise(self.knots))
        below, above = next((line for line in lines if scale <= line[1].scale), lines[-1])
        part = (scale - below.scale) / (above.scale - below.scale)
        first, second = (knot.cpu_seconds[program] for knot in (below, above))
        least = self.knots[0].cpu_seconds[program] * min(scale / self.knots[0].scale, 1.0)
        return max(first + part * (second - first), least)


@cache
def reference_times() -> ReferenceTimes:
    """The table that mawl ships."""
    return msgspec.json.decode(TABLE.read_bytes(), type=ReferenceTimes)


def reference_seconds() -> JobSeconds:
    """The reference times of the jobs of a plan."""
    table = reference_times()
    least, most = (format_plain(table.knots[end].scale) for end in (0, -1))
    return JobSeconds(
        lambda program, job: table.seconds(program.name, job.scale) if is_of_catalogue(job) else None,
        "by reference times: the CPU seconds that each job took alone with the default options on "
        f"{table.machine}; "
        f"measured at scales {least} to {most}, extrapolated outside them",
    )
