"""``python -m tools.known_truth DRAWS...``: print the page of answers over beds whose truth is known.

Each file holds lines of JSON that ``tests/cli/test_qualify_truth.py`` wrote, one for a draw.  They are
added to docs/reference/known-truth.jsonl, and docs/reference/known-truth.md is printed from that file.
A draw that was made again stays, and the newest of a number counts.
"""

from __future__ import annotations

import re
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import msgspec

from mawl.base.units import format_bytes, format_rate
from mawl.records.model.qualification import QualificationAnswer
from mawl.records.spec.program_options import Role
from tools.kept_lines import print_page

PAGE = Path("docs/reference/known-truth.md")

_BED_DIRECTORY = re.compile(rb'[^ "]*/test_answers_over_drawn_beds\w*')
"""The test's own directory, in which each role has a volume."""

WHOLE = 12
"""Draws of a seed, which together have each limit as often as the test says."""

Kind = Literal["ample", "cap", "delay"]


class DrawnBed(msgspec.Struct, frozen=True, kw_only=True):
    """What limits, and where: a cap in bytes a second each way, or milliseconds of each request."""

    kind: Kind
    role: Role | None
    cap: int = 0
    milliseconds: int = 0
    processors: int = 2
    memory_bytes: int | None = None
    bound: float = 2.0


class JudgedDraw(msgspec.Struct, frozen=True, kw_only=True):
    """A draw: its answer, the slowdowns of the three further runs (``truth``), and what was wrong."""

    number: int
    drawn: DrawnBed
    answer: QualificationAnswer
    truth: list[float]
    faults: list[str]
    fitting: dict[int, list[float]] | None = None
    """Of an exhaustive series: slowdowns by sessions, from the smallest mix to the first that is too slow."""
    fitting_faults: list[str] = []
    minutes: int | None = None
    """The time that ``mawl qualify`` had; None of draws made before this was kept."""


def page(draws: Sequence[JudgedDraw]) -> str:
    """The page, in Markdown: ``draws`` by number, the newest of a number last."""
    newest = list({one.number: one for one in draws}.values())
    earlier = [one for one in draws if one not in newest]
    missing = sorted({*range(WHOLE)} - {one.number for one in draws})
    lines = [
        "# Answers over beds of known truth",
        "Printed by `python -m tools.known_truth` from the draws of `tests/cli/test_qualify_truth.py`.",
        "For each draw the test makes a bed: it caps or slows the device of one role, or none, and gives "
        "mawl one or two processors and a share of the memory.",
        "Then it runs `mawl qualify` on the bed for so many *minutes*, and the same mix three more times.",
        "The truth is the median of W in these three runs, by a second formula that shares no code with the "
        "answer.",
        "A draw is right when the answer and the limit are right.",
        "*NOT KNOWN* is right only where the truth is within 10 % of the bound.",
        *([] if draws else ["No draw was made since the answer is by reference times."]),
        f"Right: {sum(not one.faults for one in newest)} of {len(newest)}.",
        *([f"Not made yet, of {WHOLE}: draws {', '.join(map(str, missing))}."] if missing else []),
        *_table(newest),
        "",
        "## How many sessions fit",
        "On every third bed the test also runs the mix with one session more, until it is too slow.",
        "A row is right when the measured number lies in the range of the answer and the answer's own "
        "number is at most one session away.",
        *_fitting_table(newest),
    ]
    if earlier:
        lines += [
            "",
            "## Draws that were made again",
            "These are the earlier answers over beds of the tables above, with what was wrong.",
            "A bed was qualified again after mawl or the minutes were changed because of its answer, "
            "or because other work had used the machine.",
            *_table(earlier),
            *_fitting_table(earlier),
        ]
    return "\n".join(lines) + "\n"


def _table(draws: Sequence[JudgedDraw]) -> list[str]:
    return [
        "",
        "| draw | bed | processors | memory | minutes | bound | answer | slowdown said | "
        "truth of three runs | limit said | right |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
        *(_row(one) for one in draws),
    ]


def _fitting_table(draws: Sequence[JudgedDraw]) -> list[str]:
    series = [one for one in draws if one.fitting is not None]
    if not series:
        return []
    return [
        "",
        "| draw | bed | processors | bound | fit by measurement | fit by the answer | right |",
        "|---|---|---|---|---|---|---|",
        *(_fitting_row(one) for one in series),
    ]


def _row(one: JudgedDraw) -> str:
    carried, limit = one.answer.carried, one.answer.limit
    said = "not known" if carried.slowdown is None else f"{carried.slowdown:.2f}"
    if carried.slowdown_low is not None and carried.slowdown_high is not None:
        said += f" ({carried.slowdown_low:.2f} to {carried.slowdown_high:.2f})"
    cells = [
        str(one.number),
        _bed(one.drawn),
        str(one.drawn.processors),
        "all" if one.drawn.memory_bytes is None else format_bytes(one.drawn.memory_bytes),
        "not kept" if one.minutes is None else str(one.minutes),
        f"{one.drawn.bound:g}",
        one.answer.sentence.partition(":")[0],
        said,
        f"{statistics.median(one.truth):.2f} ({min(one.truth):.2f} to {max(one.truth):.2f})",
        " ".join(word for word in (limit.resource, limit.role) if word) if limit else "none",
        "; ".join(one.faults) or "yes",
    ]
    return f"| {' | '.join(cells)} |"


def _fitting_row(one: JudgedDraw) -> str:
    measured = {n: statistics.median(found) for n, found in (one.fitting or {}).items()}
    fitting = [sessions for sessions, slowdown in measured.items() if slowdown <= one.drawn.bound]
    fits = one.answer.fits
    said = "not known" if fits.sessions is None else f"{fits.sessions} ({fits.low} to {fits.high})"
    cells = [
        str(one.number),
        _bed(one.drawn),
        str(one.drawn.processors),
        f"{one.drawn.bound:g}",
        str(max(fitting)) if fitting else f"fewer than {min(measured)}",
        said,
        "; ".join(one.fitting_faults) or "yes",
    ]
    return f"| {' | '.join(cells)} |"


def _bed(drawn: DrawnBed) -> str:
    if drawn.role is None:
        return "storage faster than the load needs"
    if drawn.kind == "cap":
        return f"{drawn.role} capped at {format_rate(drawn.cap)}"
    return f"{drawn.role} slowed by {drawn.milliseconds} ms a request"


def stored(lines: Sequence[bytes]) -> list[JudgedDraw]:
    """All draws by number, each once, and the newest of a number last; roles lie in /mnt."""
    found: list[JudgedDraw] = []
    for line in lines:
        one = msgspec.json.decode(_BED_DIRECTORY.sub(b"/mnt", line), type=JudgedDraw)
        if one not in found:
            found.append(one)
    return sorted(found, key=lambda one: one.number)


if __name__ == "__main__":
    print_page(__doc__, PAGE, stored, page)
