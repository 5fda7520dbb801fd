"""``python -m tools.known_truth FILE...``: print the page of answers over beds whose truth is measured.

Each file holds lines of JSON that ``tests/cli/test_qualify_truth.py`` wrote, one for a bed.  They are added
to docs/reference/known-truth.jsonl, and docs/reference/known-truth.md is printed from that file.  A bed that
was judged again keeps its earlier rows, and the newest counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from statistics import median

import msgspec

from mawl.base.units import format_percent
from mawl.plan.mix import mix_range
from mawl.records.model.qualification import AnswerWord, Fits
from mawl.records.spec.program_options import Role
from tools.kept_lines import print_page

PAGE = Path("docs/reference/known-truth.md")
HELPS = 0.1
"""Relieving what is named shortens the real time of all jobs at least by this part."""
HELPS_LESS = 0.5
"""Relieving what is not named shortens it at most by this part of what the largest cost does."""
NOT_KNOWN = "answer not known"


class KnownBed(msgspec.Struct, frozen=True, kw_only=True):
    """What is slow, and what is asked: ``caps`` in bytes a second, ``delays`` in milliseconds a request.

    mawl chooses the scale where it is None.  Of a ``series`` every number of sessions is run, from 1 to one
    more than fit.
    """

    caps: dict[Role, int] = {}
    directions: tuple[str, ...] = ("read", "write")
    delays: dict[Role, int] = {}
    processors: int = 1
    sessions: int = 1
    minutes: int = 3
    scale: float | None = None
    series: bool = False


class Cost(msgspec.Struct, frozen=True, kw_only=True):
    """What the answer says that a resource cost, of the jobs' real time."""

    resource: str
    roles: list[Role] = []
    direction: str | None = None
    kind: str | None = None
    share_ratio: float


class TruthRun(msgspec.Struct, frozen=True, kw_only=True):
    """A run after the qualification; ``relieved`` is the resource that it had twice, None: no resource."""

    sessions: int
    relieved: str | None = None
    slowdown: float
    real_time_seconds: float
    jobs_per_hour: float


class JudgedBed(msgspec.Struct, frozen=True, kw_only=True):
    """A bed, what ``mawl qualify`` said, and the runs after it; ``place`` is that of ``mawl rank``."""

    measured_at: str
    commit: str
    machine: str
    name: str
    bed: KnownBed
    scale: float
    bound: float
    answer: AnswerWord
    slowdown: float | None
    fits: Fits
    limit: str
    second: str | None
    costs: list[Cost]
    runs: list[TruthRun]
    place: int | None = None

    def times(self, sessions: int, relieved: str | None = None) -> list[TruthRun]:
        return [run for run in self.runs if (run.sessions, run.relieved) == (sessions, relieved)]

    def slowdown_at(self, sessions: int) -> float:
        """The median W of the runs with so many sessions on the bed as it was."""
        return median(run.slowdown for run in self.times(sessions))

    def jobs_per_hour(self, sessions: int) -> float:
        return median(run.jobs_per_hour for run in self.times(sessions))

    def seconds(self, sessions: int, relieved: str | None = None) -> float:
        """The real time of all jobs together."""
        return median(run.real_time_seconds for run in self.times(sessions, relieved))

    def named(self) -> list[str]:
        """What reports name: one or two limits above the bound, else the largest cost."""
        second = [self.second] if self.second and self.answer == "not carried" else []
        return [self.limit, *second]

    def relief_seconds(self) -> dict[str, float]:
        """The same by relieved resource."""
        sessions = {run.relieved: run.sessions for run in self.runs if run.relieved is not None}
        return {name: self.seconds(number, name) for name, number in sessions.items()}

    def gains(self) -> dict[str, float]:
        """By relieved resource: the part by which the real time of all jobs got shorter."""
        before = self.seconds(self.bed.sessions)
        return {name: 1 - after / before for name, after in self.relief_seconds().items()}


def faults(row: JudgedBed) -> list[str]:
    """What is wrong with the answer, the sessions said to fit, or the costs that are named."""
    return [*_answer_faults(row), *_cost_faults(row)]


def to_prove(fits: Fits, sessions: int) -> dict[int, bool]:
    """Numbers of sessions of one mix that an answer speaks of, and whether they fit by it."""
    said = {} if fits.sessions is None else {fits.sessions: True, fits.sessions + 1: False}
    if fits.sessions is None and fits.high is not None:
        said = {fits.high + 1: False}
    mix = mix_range(sessions)
    return {number: fit for number, fit in said.items() if mix.fewest <= number <= mix.most}


def _answer_faults(row: JudgedBed) -> list[str]:
    said = to_prove(row.fits, row.bed.sessions)
    if row.answer == "not known" or not said:
        return [NOT_KNOWN]
    pairs = {(row.bed.sessions, row.answer == "carried"), *said.items()}
    return [
        f"W is {row.slowdown_at(number):.2f} at {number} sessions"
        for number, fit in sorted(pairs)
        if (row.slowdown_at(number) <= row.bound) != fit
    ]


def _cost_faults(row: JudgedBed) -> list[str]:
    """The largest cost helps most where it is relieved, and what is not named helps clearly less."""
    gains = row.gains()
    if not gains:
        return []
    gained = gains.get(row.limit, 0.0)
    found = [f"{row.limit} costs most, but {name} gains more" for name in gains if gains[name] > gained]
    for name, gain in gains.items():
        if name in row.named() and gain < HELPS:
            found.append(f"{name} is named, and gains {format_percent(gain)}")
        if name not in row.named() and gain > max(HELPS_LESS * gained, 0.0):
            found.append(f"{name} is not named, and gains {format_percent(gain)}")
    named = [cost for cost in row.costs if cost.resource in row.named() and cost.roles]
    slow = {**dict.fromkeys(row.bed.caps, "bandwidth"), **dict.fromkeys(row.bed.delays, "latency")}
    for role, kind in slow.items() if named else ():
        kinds = [cost.kind for cost in named if role in cost.roles]
        if not kinds:
            found.append(f"{role} is not named")
        elif kinds[0] not in (kind, None):
            found.append(f"{role} is named for its {kinds[0]}")
    return found


def rank_faults(rows: Sequence[JudgedBed]) -> list[str]:
    """Systems of which the one with the better place runs fewer jobs an hour at equal sessions."""
    rate = {row.name: row.jobs_per_hour(row.bed.sessions) for row in rows}
    return [
        f"{first.name} is placed {first.place} and {second.name} {second.place}"
        for first, second in combinations(rows, 2)
        if ((first.place or 0) - (second.place or 0)) * (rate[first.name] - rate[second.name]) > 0
    ]


def newest(rows: Sequence[JudgedBed]) -> list[JudgedBed]:
    return list({row.name: row for row in rows}.values())


def page(rows: Sequence[JudgedBed]) -> str:
    """The page, in Markdown; of a bed the newest row is last."""
    beds = newest([row for row in rows if row.place is None])
    ranked = newest([row for row in rows if row.place is not None])
    earlier = [row for row in rows if row not in (*beds, *ranked)]
    right = sum(not faults(row) for row in beds)
    lines = [
        "# Answers over beds of known truth",
        "",
        "Printed by `python -m tools.known_truth` from the rows of `tests/cli/test_qualify_truth.py`.",
        "The test makes a bed: it caps or slows the device of one role, or limits the processors.",
        "Then it runs `mawl qualify` on the bed for so many *minutes*, and measures the truth with further "
        "runs of the same mix at the same scale.",
        "The *relief* is the part by which the real time of all jobs gets shorter with twice a resource.",
        "For storage the test doubles the cap or halves the delay of the slowed role, or doubles the rate of "
        "every device where no role is slowed.",
        "For processors it gives 2 in place of 1; the machine has 2, so a bed with 2 gets half the sessions, "
        "rounded up.",
        "*W* is the slowdown by a second formula that shares no code with the answer.",
        "",
        "A bed is right if all of these hold:",
        "",
        "- The answer is that of W, and W is within the bound with the sessions said to fit, and above it "
        "with one more.",
        f"- The relief of the largest cost is the largest, and at least {format_percent(HELPS)}.",
        "- Above the bound a second cost is named where its relief is more than half as large, and only "
        f"where it is at least {format_percent(HELPS)}.",
        "- Where storage is named the slowed role is, and not for latency where it has a cap, nor for "
        "bandwidth where it has a delay.",
        "",
        *(["No bed was judged since the limit is by cost."] if not beds else []),
        f"Right: {right} of {len(beds)}.",
        *sorted({f"Machine: {row.machine}, commit {row.commit[:12]}." for row in (*beds, *ranked)}),
        *(_table(beds) if beds else []),
        *_series(beds),
        *(_ranking(ranked) if ranked else []),
    ]
    if earlier:
        lines += ["", "## Earlier rows", "These beds were judged again.", *_table(earlier)]
    return "\n".join(lines) + "\n"


def _table(rows: Sequence[JudgedBed]) -> list[str]:
    return [
        "",
        "| bed | measured | processors | sessions | minutes | scale | answer | W said | fits | "
        "W by sessions | largest cost | named | jobs' seconds | relieved | relief | right |",
        "|" + "---|" * 16,
        *(_row(row) for row in rows),
    ]


def _row(row: JudgedBed) -> str:
    cells = [
        row.name,
        row.measured_at[:10],
        str(row.bed.processors),
        str(row.bed.sessions),
        str(row.bed.minutes),
        f"{row.scale:g}",
        row.answer,
        "not known" if row.slowdown is None else f"{row.slowdown:.2f}",
        _fits(row.fits),
        ", ".join(f"{number}: {row.slowdown_at(number):.2f}" for number in _numbers(row)),
        _cost(row.costs[0]) if row.costs else "not known",
        " and ".join(row.named()),
        f"{row.seconds(row.bed.sessions):.1f}",
        ", ".join(f"{name} {seconds:.1f}" for name, seconds in row.relief_seconds().items()),
        ", ".join(f"{name} {format_percent(gain)}" for name, gain in row.gains().items()),
        "; ".join(faults(row)) or "yes",
    ]
    return f"| {' | '.join(cells)} |"


def _numbers(row: JudgedBed) -> list[int]:
    return sorted({run.sessions for run in row.runs if run.relieved is None})


def _fits(fits: Fits) -> str:
    if fits.sessions is None:
        return "not known" if fits.high is None else f"fewer than {fits.high + 1}"
    return f"{fits.sessions} ({fits.low} to {fits.high}, {fits.basis})"


def _cost(cost: Cost) -> str:
    words = [cost.resource, "/".join(cost.roles), cost.direction, cost.kind, format_percent(cost.share_ratio)]
    return " ".join(word for word in words if word)


def _series(rows: Sequence[JudgedBed]) -> list[str]:
    lines = [
        f"| {row.name} | {number} | {row.slowdown_at(number):.2f} | {row.jobs_per_hour(number):,.0f} |"
        for row in rows
        if row.bed.series
        for number in _numbers(row)
    ]
    head = [
        "",
        "## Every number of sessions",
        "",
        "| bed | sessions | W | jobs an hour |",
        "|---|---|---|---|",
    ]
    return [*head, *lines] if lines else []


def _ranking(rows: Sequence[JudgedBed]) -> list[str]:
    found = rank_faults(rows)
    return [
        "",
        "## Systems ranked",
        "`mawl rank` orders these systems; then they run the mix with equal sessions.",
        f"In the order of their measured jobs an hour: {'; '.join(found) or 'yes'}.",
        "",
        "| system | place | fits | sessions run | jobs an hour |",
        "|---|---|---|---|---|",
        *(
            f"| {row.name} | {row.place} | {_fits(row.fits)} | {row.bed.sessions} | "
            f"{row.jobs_per_hour(row.bed.sessions):,.0f} |"
            for row in sorted(rows, key=lambda row: row.place or 0)
        ),
    ]


def stored(lines: Sequence[bytes]) -> list[JudgedBed]:
    """The rows of lines of JSON, each once."""
    found: list[JudgedBed] = []
    for line in lines:
        row = msgspec.json.decode(line, type=JudgedBed)
        if row not in found:
            found.append(row)
    return found


if __name__ == "__main__":
    print_page(__doc__, PAGE, stored, page)
