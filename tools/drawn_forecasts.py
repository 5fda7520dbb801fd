"""``python -m tools.drawn_forecasts ROWS...``: print the page of forecasts over drawn beds.

Each file holds lines of JSON that ``tests/simulation/test_drawn_campaigns.py`` wrote, one for a forecast.
They are copied to docs/reference/drawn-forecasts.jsonl, and docs/reference/drawn-forecasts.md is printed from
that file.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, get_args

import msgspec

from mawl.base.units import format_memory, format_rate, format_seconds
from mawl.records.spec.program_options import Role
from tools.kept_lines import print_page

PAGE = Path("docs/reference/drawn-forecasts.md")

Kind = Literal["rates", "one device", "hybrid", "cores", "latency", "memory"]
KINDS: tuple[Kind, ...] = get_args(Kind)
WITHIN_RATIO = 0.10
"""A forecast of elapsed time is near if it is no further from the measured time."""


class Arm(msgspec.Struct, frozen=True, kw_only=True):
    """A bed: the volume of each role, each volume's cap (bytes a second each way) or delay of a request.

    ``memory_bytes`` is what the run may have, None: all.
    """

    volumes: dict[Role, Role]
    caps: dict[Role, int]
    milliseconds: dict[Role, int] = {}
    processors: int = 2
    memory_bytes: int | None = None


class DrawnForecast(msgspec.Struct, frozen=True, kw_only=True):
    """An arm of a campaign, forecast from the campaign's first run, which ``base`` describes.

    Real times are summed over the jobs, other times are those elapsed.  ``own_error_ratio`` is how far the
    model is off for that run itself; limits are the verdict and its role.
    """

    seed: int
    campaign: int
    kind: Kind
    sessions: list[list[str]]
    scale: float
    cache: Literal["none", "cold"]
    base: Arm
    arm: Arm
    forecast_seconds: float
    measured_seconds: float
    forecast_real_time_seconds: float
    measured_real_time_seconds: float
    forecast_limit: str
    measured_limit: str
    own_error_ratio: float
    late_devices: list[dict[str, Any]] = []
    """Devices that answer late, as fio found them."""

    @property
    def error_ratio(self) -> float:
        """Forecast over measured elapsed time, less 1."""
        return self.forecast_seconds / self.measured_seconds - 1.0

    @property
    def real_time_error_ratio(self) -> float:
        """Forecast over measured real time of all jobs, less 1."""
        return self.forecast_real_time_seconds / self.measured_real_time_seconds - 1.0

    @property
    def is_near(self) -> bool:
        """Within ``WITHIN_RATIO``."""
        return abs(self.error_ratio) <= WITHIN_RATIO

    @property
    def is_wrong_limit(self) -> bool:
        """Both name a limit, and not the same."""
        return self.is_limit_known and self.forecast_limit != self.measured_limit

    @property
    def is_wrong_verdict(self) -> bool:
        """Both name a limit, and it is not the same whatever the role."""
        return self.is_limit_known and self.forecast_limit.split()[0] != self.measured_limit.split()[0]

    @property
    def is_limit_known(self) -> bool:
        """Both name a limit."""
        return "not known" not in (self.forecast_limit, self.measured_limit)


def page(rows: Sequence[DrawnForecast]) -> str:
    """The page, in Markdown."""
    campaigns = len({(one.seed, one.campaign) for one in rows})
    seeds = list(dict.fromkeys(one.seed for one in rows))
    lines = [
        "# Forecasts of drawn beds",
        "Printed by `python -m tools.drawn_forecasts` from the campaigns of "
        "`tests/simulation/test_drawn_campaigns.py`.",
        "For each campaign the test draws a workload and some beds: capped or late devices, processors, "
        "memory.",
        "It runs the workload once on each bed.",
        "The first run calibrates the [model](../design/simulation.md), which then forecasts all others.",
        f"Elapsed times within {WITHIN_RATIO:.0%}: {sum(one.is_near for one in rows)} of {len(rows)} "
        f"forecasts in {campaigns} campaigns.".replace("%", " %"),
        "*Error of real time* is that of the sum over all jobs, and so of a slowdown.",
        f"Forecast and run both name a limit in {sum(one.is_limit_known for one in rows)} of {len(rows)}: "
        f"{sum(one.is_wrong_limit for one in rows)} of these differ, "
        f"{sum(one.is_wrong_verdict for one in rows)} in more than the role.",
        *(
            _of_seed(number, [one for one in rows if one.seed == seed])
            for number, seed in enumerate(seeds, 1)
        ),
        "",
        "| kind of bed | forecasts | within 10 % | mean error | smallest and largest error | "
        "mean error of real time | smallest and largest |",
        "|---|---|---|---|---|---|---|",
        *(_kind_row(kind, of) for kind in KINDS if (of := [one for one in rows if one.kind == kind])),
        "",
        "*rates*: other caps. *one device*: all roles on one device. *hybrid*: `data` on a slow device, the "
        "others on a fast one. *cores*: one processor instead of two. *latency*: the device of one role "
        "answers each request late. *memory*: another memory limit, with the page cache; all others with "
        "`--cache none`.",
        "",
        "## All forecasts",
        "| campaign | sessions | kind | base | bed | forecast | measured | error | error of real time | "
        "model off for the base | limit forecast | limit measured |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|",
        *(_row(one, seeds.index(one.seed) + 1) for one in rows),
    ]
    return "\n".join(lines) + "\n"


def _kind_row(kind: Kind, rows: Sequence[DrawnForecast]) -> str:
    cells = [kind, str(len(rows)), str(sum(one.is_near for one in rows))]
    for errors in ([one.error_ratio for one in rows], [one.real_time_error_ratio for one in rows]):
        cells.append(_percent(statistics.fmean(abs(error) for error in errors)).lstrip("+"))
        cells.append(f"{_percent(min(errors))} to {_percent(max(errors))}")
    return f"| {' | '.join(cells)} |"


def _of_seed(number: int, rows: Sequence[DrawnForecast]) -> str:
    return f"Of seed {number} (campaigns {number}.x): {sum(one.is_near for one in rows)} of {len(rows)}."


def _row(one: DrawnForecast, seed: int) -> str:
    cells = [
        f"{seed}.{one.campaign}",
        "; ".join(", ".join(stages) for stages in one.sessions) + f" at {one.scale:g}",
        one.kind,
        _bed(one.base),
        _bed(one.arm),
        format_seconds(one.forecast_seconds),
        format_seconds(one.measured_seconds),
        _percent(one.error_ratio),
        _percent(one.real_time_error_ratio),
        _percent(one.own_error_ratio),
        one.forecast_limit,
        one.measured_limit,
    ]
    return f"| {' | '.join(cells)} |"


def _bed(arm: Arm) -> str:
    names: dict[Role, list[str]] = {}
    for role, volume in arm.volumes.items():
        names.setdefault(volume, []).append(role)
    parts = []
    for volume, roles in names.items():
        late, cap = arm.milliseconds.get(volume, 0), arm.caps.get(volume, 0)
        parts.append(f"{'+'.join(roles)} {f'{late} ms late' if late else format_rate(cap)}")
    parts += ["1 processor"] if arm.processors == 1 else []
    parts += [format_memory(arm.memory_bytes)] if arm.memory_bytes is not None else []
    return ", ".join(parts)


def _percent(ratio: float) -> str:
    return f"{100 * ratio:+.0f} %"


def stored(lines: Sequence[bytes]) -> list[DrawnForecast]:
    """Forecasts by campaign and kind; of one that was made again, the newest."""
    found: dict[tuple[int, int, str, str], DrawnForecast] = {}
    for line in lines:
        one = msgspec.json.decode(line, type=DrawnForecast)
        found[one.seed, one.campaign, one.kind, _bed(one.arm)] = one
    seeds = list(dict.fromkeys(seed for seed, *_ in found))
    return [found[key] for key in sorted(found, key=lambda key: (seeds.index(key[0]), *key[1:]))]


if __name__ == "__main__":
    print_page(__doc__, PAGE, stored, page)
