"""A comparison of a run with the logs of its jobs as a document."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from mawl.base.units import counted_noun, format_change, format_ratio
from mawl.derive.replay.records import Closeness, Replay
from mawl.derive.replay.tables import (
    SHORT_NOTE,
    TITLES,
    chains,
    closeness,
    figures,
    lines,
    night_text,
    programs,
    short_tables,
    steps,
    tables,
)
from mawl.reports.comparison.tables import signed_seconds
from mawl.reports.document import (
    EVERYWHERE,
    NOT_TEXT,
    TEXT,
    Block,
    Card,
    Document,
    Headline,
    Lines,
    Part,
    Sentences,
    capital,
)

if TYPE_CHECKING:
    from mawl.reports.html.charts.frame import Chart

SCREEN_ROWS = 8
MARKDOWN_STEPS = 100
PAGE_STEPS = 500
NEXT = "run the workload on each system, and compare the runs to judge storage"


def document(replay: Replay, *, every: bool = False) -> Document:
    """The sentence, both nights, and tables; text has the steps and programs that changed most, or ``every``.

    The page has the names of the logs instead of the hashed ones.
    """
    head = Lines(lines(replay))
    short: list[Block] = [] if every else [*short_tables(replay, SCREEN_ROWS), Sentences([SHORT_NOTE])]
    whole = tables(replay, len(replay.steps) if every else MARKDOWN_STEPS)
    return Document(
        headline=Headline(
            sign="measured",
            sentence=capital(replay.sentence),
            next_step=f"{NEXT}: mawl compare {shlex.quote(replay.called)} OTHER-RUN",
        ),
        tag=("no finding", ""),
        facts=[f"logs {replay.logs_run}", f"run {replay.run}"],
        cards=[_night(replay), _longer(replay), _near(replay)],
        lead=lambda: _chart(replay),
        parts=[
            Part([head]),
            *(Part([block], formats=TEXT) for block in short),
            *(Part([table], formats=EVERYWHERE if every else NOT_TEXT) for table in whole),
        ],
        folds=[
            Part([head], "basis", "What is compared, and what it does not say", "Basis"),
            Part([steps(replay, PAGE_STEPS)], "effects", "Step by step", "Steps"),
            Part([programs(replay)], "programs", "Programs, summed", "Programs"),
            Part([chains(replay)], "night", "The chain that ended last", "Night"),
            Part(
                [figures(replay), closeness(replay)],
                "figures",
                "All steps, and how near they come",
                "Figures",
            ),
        ],
    )


def _chart(replay: Replay) -> Chart | None:
    at_once = replay.jobs_at_once
    if at_once is None:
        return None
    from mawl.reports.comparison.over_time import jobs_at_once_chart

    return jobs_at_once_chart(at_once.logs, at_once.run, ("logs", "run"))


def _night(replay: Replay) -> Card:
    said, before = night_text(replay.run_night), night_text(replay.logs_night)
    if said is None:
        why = [f"{capital(text)}." for text in replay.remarks if "night" in text]
        return Card("Was the night held?", "Not known", "warn", why[:1])
    held = said.startswith("held")
    listed = [f"{capital(said)}."] + ([] if before is None else [f"In the logs it was {before}."])
    return Card(
        "Was the night held?",
        "Yes" if held else "No",
        "good" if held else "bad",
        listed,
        more=("night", "The chain that ended last"),
    )


def _longer(replay: Replay) -> Card:
    """The program that changed the real time of the night most."""
    question = "What changed the night most?"
    most = replay.programs[0]
    real = most.figures.real_seconds
    if real.run is None or real.logs is None:
        return Card(question, "Not known", "warn", ["One side has no real time."])
    steps = counted_noun(most.steps, "step")
    change = "" if real.ratio is None else f" ({format_change(real.ratio - 1.0)})"
    return Card(
        question,
        most.program,
        "",
        [],
        signed_seconds(real.run - real.logs),
        f"real time against the logs{change}, in {steps}",
        more=("effects", "Step by step"),
    )


def _near(replay: Replay) -> Card:
    """Whether the run did what the logs did: bytes, CPU time, memory of single steps."""
    counted = [one for one in replay.closeness if one.figure != "real_seconds" and one.steps]
    listed = [f"{capital(TITLES[one.figure])}: {_spread(one)}." for one in counted]
    medians = [one.median for one in counted if one.median is not None]
    known = bool(medians) and len(medians) == len(counted)
    return Card(
        "How near are single steps to the logs?",
        "" if known else "Not known",
        "",
        listed or ["No step is large enough to tell."],
        format_ratio(max(medians)) if known else "",
        "times more or less than in the logs, in the median; this is the worst of:" if known else "",
        more=("figures", "All figures"),
    )


def _spread(one: Closeness) -> str:
    steps = counted_noun(one.steps, "step")
    if one.median is None:
        return f"the run has 0 in at least half of {steps}"
    high = "" if one.high is None else f", 95th percentile {format_ratio(one.high)}"
    return f"{format_ratio(one.median)} in the median{high} ({steps})"
