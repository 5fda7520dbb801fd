"""Runs of one workload over time: when jobs became slower or faster, by how much, and what changed then.

Runs of one night (a campaign, a qualification, or runs less than four hours apart) count together. An import
of many nights is divided into its nights. mawl help history shows it, and how often it errs.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from mawl.base.errors import MawlError
from mawl.commands.arguments import (
    FAILING_EXIT_STATUS,
    JUNIT,
    OUTPUT,
    RUNS,
    Failing,
    bounds_of,
    fail_on,
    formats,
    settings,
)
from mawl.commands.terminal import width_for, write_text
from mawl.commands.verbs import Arguments, Verb, operand, switch
from mawl.records.store import open_run
from mawl.records.store.campaign import runs_and_campaigns

if TYPE_CHECKING:
    from mawl.advice.conditions import ConditionCheck
    from mawl.archive.history.changes import History

FORMATS = ("text", "json", "markdown", "html")


class HistoryArguments(Arguments):
    given: list[str] = operand(
        "RUN",
        "run folders, ids, campaigns, qualifications, or folders that hold them (default: all in --runs)",
        nargs="*",
    )
    format: str = formats(*FORMATS)
    output: str | None = OUTPUT
    runs: str | None = RUNS
    each: bool = switch("follow every run, instead of the mean of each night")
    fail_on: list[str] = fail_on("regression")
    junit: str | None = JUNIT


def run(arguments: HistoryArguments) -> int:
    """Write the history; the output file is tried first, so that a bad path fails before any work."""
    failing = Failing(arguments)
    checks: list[ConditionCheck] = []

    def followed() -> str:
        answer = _history(arguments)
        if failing.asked:
            checks.append(_check(answer))
        return _rendered(answer, arguments.format, width_for(arguments.output))

    write_text(arguments.output, followed)
    return failing.status(checks)


def _history(arguments: argparse.Namespace) -> History:
    from mawl.advice.judge import judged
    from mawl.archive.history.changes import (
        by_program,
        history_of,
        nights_of,
        nights_of_import,
        of_qualification,
        own_nights,
    )
    from mawl.figures.comparison.sides import compared_run
    from mawl.figures.view import StoredView

    chosen = settings()
    runs, bounds = chosen.runs(arguments.runs), bounds_of(chosen)
    words = arguments.given or [str(runs)]
    places = [runs_and_campaigns(word, runs) for word in words]
    unreadable = [str(error) for place in places for error in place.damaged]
    stored = {open_run(place, runs).path: False for found in places for place in found.named}
    for place in (place for found in places for place in found.searched):
        stored.setdefault(Path(place).resolve(), True)
    followed, left_out, imports = [], [], []
    for path in sorted(stored):
        try:  # only one run's tables are in memory
            view = StoredView(open_run(path))
            # An imported night with a failed job counts; a run of ours that was cut says nothing.
            nights = nights_of_import(view, bounds)
            if nights is not None:
                imports.append(nights)
                unreadable += _earlier(view.facts.run_id, nights.left_out)
            elif view.facts.kind == "imported" or view.facts.outcome == "completed":
                followed.append(of_qualification(compared_run(view, judged(view, bounds)), path))
            else:
                left_out.append(view.facts.run_id)
        except MawlError as error:
            if not stored[path]:
                raise
            unreadable.append(str(error))  # one damaged folder among many must not hide the others
    if imports:
        followed = [by_program(one) for one in followed]
        followed += [one for nights in imports for one in nights.runs]
    grouped = nights_of(followed, each=arguments.each, whole=own_nights(imports))
    return history_of(grouped, left_out, unreadable)


def _earlier(run: str, count: int) -> list[str]:
    from mawl.figures.nights import MOST_NIGHTS

    return (
        [f"{count} earlier nights of {run}: only the last {MOST_NIGHTS} of an import are followed"]
        if count
        else []
    )


def _check(answer: History) -> ConditionCheck:
    from mawl.advice.conditions import ConditionCheck
    from mawl.archive.history.document import head, title

    times = [change for change in answer.changes if change.slower is not None]
    sentence = title(times[-1]) if times else "; ".join(head(answer))
    state = {True: "met", False: "not met", None: "not known"}[answer.regression]
    return ConditionCheck(name="regression", subject=answer.workload, state=state, sentence=sentence)  # type: ignore[arg-type]


def _rendered(answer: History, form: str, width: int) -> str:
    from mawl.archive.history.document import document
    from mawl.reports import json
    from mawl.reports.document import rendered

    return (json.render(answer) if form == "json" else rendered(document(answer), form, width)) + "\n"


VERBS = {"history": Verb(HistoryArguments, run, FAILING_EXIT_STATUS)}
