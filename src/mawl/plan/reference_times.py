"""Reference times: CPU seconds of a job of the catalogue that runs alone, a constant of program and scale.

The table holds medians over several seeds of the inputs, of jobs in one thread with the default options and
``--cache none``, without the check of their answers and the start of the interpreter, on the machine that it
names, whose core has speed 1.  ``make reference-times`` prints it from runs (docs/design/answer.md).
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from pathlib import Path

import msgspec

TABLE = Path(__file__).with_name("reference_times.json")

LEAST_SCALE = 0.005
MOST_SCALE = 0.2
"""Reference times below and above these are preliminary: small jobs ask less of storage for each CPU second,
and above the last knot the times are extrapolated."""


class CpuSeconds(msgspec.Struct, frozen=True, kw_only=True):
    """User and system CPU seconds over the seeds of a knot."""

    median: float
    low: float
    high: float


class Knot(msgspec.Struct, frozen=True, kw_only=True):
    """What every program took at one scale, with ``seeds`` different seeds."""

    scale: float
    measured_at: str
    seeds: int
    programs: dict[str, CpuSeconds]


class ReferenceTimes(msgspec.Struct, frozen=True, kw_only=True):
    """All knots, the smallest scale first; two at least.

    ``provisional`` are programs that changed since they were measured.
    """

    version: int
    machine: str
    file_system: str
    cache: str
    constraints_sha256: str
    commit: str
    provisional: list[str]
    knots: list[Knot]

    def seconds(self, program: str, scale: float) -> float | None:
        """CPU seconds at a scale: along a straight line between two knots, and beyond the outer ones.

        Below the first knot they are at least in proportion to the scale.  None for a program that is not at
        every knot.
        """
        if not all(program in knot.programs for knot in self.knots):
            return None
        lines = list(pairwise(self.knots))
        below, above = next((line for line in lines if scale <= line[1].scale), lines[-1])
        part = (scale - below.scale) / (above.scale - below.scale)
        first, second = (knot.programs[program].median for knot in (below, above))
        least = self.knots[0].programs[program].median * min(scale / self.knots[0].scale, 1.0)
        return max(first + part * (second - first), least)


@cache
def reference_times() -> ReferenceTimes:
    """The table that mawl ships."""
    return msgspec.json.decode(TABLE.read_bytes(), type=ReferenceTimes)
