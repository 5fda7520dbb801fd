"""The page of a comparison of a run with the logs of its jobs."""

from __future__ import annotations

import shlex

from mawl.base.printable import printable
from mawl.base.units import counted_noun, format_change, format_ratio
from mawl.derive.replay.records import Closeness, Replay
from mawl.derive.replay.tables import (
    TITLES,
    chains,
    closeness,
    figures,
    lines,
    night_said,
    programs,
    steps,
)
from mawl.reports.comparison.html import PagePart, found_page
from mawl.reports.comparison.over_time import jobs_at_once_chart
from mawl.reports.comparison.sentences import Headline, capital
from mawl.reports.comparison.tables import ComparisonTable, signed_seconds
from mawl.reports.html.charts.frame import Chart
from mawl.reports.html.sections.verdict import Card
from mawl.reports.html.templating import fill

PAGE_STEPS = 500
NEXT = "run the workload on each system, and compare the runs to judge storage"


def render_html(replay: Replay) -> str:
    """The page; it has the names of the logs instead of the hashed ones."""
    (_, said), *others = lines(replay)
    facts = fill("facts.html", facts=[(name, printable(text)) for name, text in others])
    return found_page(
        Headline(
            sign="measured",
            sentence=printable(capital(said)),
            next_step=f"{NEXT}: mawl compare {shlex.quote(replay.called)} OTHER-RUN",
        ),
        [f"logs {printable(replay.logs_run)}", f"run {printable(replay.run)}"],
        _cards(replay),
        _chart(replay),
        [
            PagePart("basis", "What is compared, and what it does not say", "Basis", [facts]),
            PagePart("effects", "Step by step", "Steps", tables=_filled(steps(replay, PAGE_STEPS))),
            PagePart("programs", "Programs, summed", "Programs", tables=_filled(programs(replay))),
            PagePart("night", "The chain that ended last", "Night", tables=_filled(chains(replay))),
            PagePart(
                "figures",
                "All steps, and how near they come",
                "Figures",
                tables=_filled(figures(replay), closeness(replay)),
            ),
        ],
        tag=("no finding", ""),
    )


def _chart(replay: Replay) -> Chart | None:
    at_once = replay.jobs_at_once
    if at_once is None:
        return None
    return jobs_at_once_chart(at_once.logs, at_once.run, ("logs", "run"))


def _cards(replay: Replay) -> list[Card]:
    return [_night(replay), _longer(replay), _near(replay)]


def _night(replay: Replay) -> Card:
    said, before = night_said(replay.run_night), night_said(replay.logs_night)
    if said is None:
        why = [f"{capital(printable(text))}." for text in replay.remarks if "night" in text]
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
        printable(most.program),
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


def _filled(*tables: ComparisonTable) -> list[ComparisonTable]:
    return [table for table in tables if table.rows]
