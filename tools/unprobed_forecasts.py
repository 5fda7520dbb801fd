"""``python -m tools.unprobed_forecasts FILE...``: print the page of forecasts from runs without a probe.

Each file holds lines of JSON that ``tests/simulation/test_unprobed_forecasts.py`` wrote, one for a drawn
change.  They are added to docs/reference/unprobed-forecasts.jsonl, from which
docs/reference/unprobed-forecasts.md is printed.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from mawl.base.units import format_rate, format_seconds
from mawl.records.spec.program_options import Role
from tools.kept_lines import print_page

PAGE = Path("docs/reference/unprobed-forecasts.md")
MOST_OUTSIDE_RATIO = 0.1
"""Of the ranges so many may miss the measured time."""


class UnprobedForecast(msgspec.Struct, frozen=True, kw_only=True):
    """A change of a bed: what ``mawl simulate`` said from a run before it, and the run after it.

    ``caps`` are bytes a second by role and direction (``work read``); those of ``hidden`` roles are in force
    below the devices that a run looks at.  ``options`` are those of ``mawl simulate``.  Times are elapsed.
    Without a number ``reason`` is the error, and without a range it is why there is no range.
    """

    seed: int
    number: int
    sessions: list[list[str]]
    scale: float
    caps: dict[str, int]
    hidden: list[Role]
    change: str
    options: list[str]
    before_seconds: float
    measured_seconds: float
    forecast_seconds: float | None = None
    low_seconds: float | None = None
    high_seconds: float | None = None
    reason: str | None = None

    @property
    def is_outside(self) -> bool | None:
        """Whether the measured time is outside of the range; None without a range."""
        if self.low_seconds is None or self.high_seconds is None:
            return None
        return not self.low_seconds <= self.measured_seconds <= self.high_seconds


def are_within(rows: Sequence[UnprobedForecast]) -> bool:
    """Whether few enough of the ranges miss the measured time."""
    known = [row.is_outside for row in rows if row.is_outside is not None]
    return sum(known) <= MOST_OUTSIDE_RATIO * len(known)


def page(rows: Sequence[UnprobedForecast]) -> str:
    """The page, in Markdown."""
    ranged = [row for row in rows if row.is_outside is not None]
    numbers = sum(row.forecast_seconds is not None for row in rows)
    lines = [
        "# Forecasts from runs without a probe",
        "",
        "Printed by `python -m tools.unprobed_forecasts` from runs of "
        "`tests/simulation/test_unprobed_forecasts.py`.",
        "The test draws test beds and changes of them: caps of a role, cores, sessions.",
        "A workload runs before and after each change with `--cache none`, and `mawl simulate` forecasts the "
        "second run from the first.",
        "Some caps are hidden: they are in force where a run does not look for caps.",
        f"Changes: {len(rows)}. With a number: {numbers}. With a range: {len(ranged)}; "
        f"{sum(bool(row.is_outside) for row in ranged)} of these runs took a time outside of it.",
        "",
        "| bed | sessions | caps before | change | before | measured after | forecast | range | outside |",
        "|---|---|---|---|---|---|---|---|---|",
        *map(_row, rows),
        "",
        "Why there is no number or no range:",
        "",
        *(f"- {reason}" for reason in dict.fromkeys(row.reason for row in rows if row.reason)),
    ]
    return "\n".join(lines) + "\n"


def _row(one: UnprobedForecast) -> str:
    low, high = one.low_seconds, one.high_seconds
    caps = [
        f"{place} {format_rate(cap)}{' (hidden)' if place.split()[0] in one.hidden else ''}"
        for place, cap in one.caps.items()
    ]
    cells = [
        f"{one.number}",
        "; ".join(", ".join(stages) for stages in one.sessions) + f" at {one.scale:g}",
        ", ".join(caps),
        one.change,
        format_seconds(one.before_seconds),
        format_seconds(one.measured_seconds),
        "no number" if one.forecast_seconds is None else format_seconds(one.forecast_seconds),
        "-" if low is None or high is None else f"{format_seconds(low)} to {format_seconds(high)}",
        {None: "-", True: "yes", False: "no"}[one.is_outside],
    ]
    return f"| {' | '.join(cells)} |"


def stored(lines: Sequence[bytes]) -> list[UnprobedForecast]:
    """Forecasts by bed; of one that was made again, the newest."""
    found: dict[tuple[int, int, str], UnprobedForecast] = {}
    for line in lines:
        one = msgspec.json.decode(line, type=UnprobedForecast)
        found[one.seed, one.number, one.change] = one
    return sorted(found.values(), key=lambda one: (one.seed, one.number))


if __name__ == "__main__":
    print_page(__doc__, PAGE, stored, page)
