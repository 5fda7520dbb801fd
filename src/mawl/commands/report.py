"""Report a stored run or campaign: a screen of text, a page of HTML, or a format that others read.

mawl help exports says what each format holds and who reads it, mawl help html-report the page.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from functools import cache, cached_property
from pathlib import Path

from mawl.advice.bounds import AnswerBounds
from mawl.advice.guideline import probe_guidelines
from mawl.advice.judge import judged
from mawl.base.errors import UsageError
from mawl.base.printable import printable
from mawl.commands.arguments import (
    FAILING_EXIT_STATUS,
    JUNIT,
    OUTPUT,
    RUNS,
    WITHIN,
    Failing,
    bounds_of,
    check_campaign,
    check_run,
    fail_on,
    formats,
    settings,
)
from mawl.commands.reporting import (
    CAMPAIGN_FORMATS,
    StoredCampaign,
    campaign_name,
    render_campaign,
    render_html,
    run_name,
    short_path,
    stored_campaign,
    write_campaign_page,
    write_html,
)
from mawl.commands.terminal import COLOUR_CHOICES, encoded, style_of, width_for, write_text
from mawl.commands.verbs import Arguments, Verb, operand, option, repeated, switch
from mawl.derive.costs import MOST_STEPS, ORDERS, StepOrder, csv_of, step_costs
from mawl.derive.costs import document as costs_document
from mawl.figures.nights import logged_nights
from mawl.figures.over_time import outline
from mawl.figures.trends import change_sentence, trends_of
from mawl.figures.view import StoredView
from mawl.records.model.summary.summary import Judged
from mawl.records.spec.forms import Whole
from mawl.records.store import Run, open_run
from mawl.records.store.campaign import campaign_folder
from mawl.records.store.output import write_output
from mawl.reports import csv, document, json, markdown, night, openmetrics, probe, screen, text
from mawl.reports.exports import render_iotest, render_logparse, render_saslog
from mawl.reports.layout import PLAIN, Style
from mawl.reports.run_lines import labelled

Renderer = Callable[[StoredView, Judged], str]

FORMATS: dict[str, Renderer] = {
    "json": lambda _, summary: json.render(summary),
    "html": render_html,
    "markdown": markdown.render,
    "disclosure": lambda view, summary: document.rendered(markdown.disclosure(view, summary), "markdown"),
    "logparse": lambda view, _: render_logparse(view.run),
    "throughput": render_iotest,
    "night": lambda view, _: night.render(view.run),
    "openmetrics": lambda _, summary: openmetrics.render(summary),
}
"""Name of a format to what makes it of a stored run and its judged summary.

Beside them ``text`` takes how it may look, ``saslog`` jobs and ``csv`` a table."""
ALL_TABLES = "all"


class ReportArguments(Arguments):
    run: str = operand(
        "RUN",
        "a run folder, a run id, or latest (default); or a campaign's folder or name (text, html, json, "
        "markdown)",
        default="latest",
    )
    format: str = formats("text", *FORMATS, "csv", "saslog")
    all: bool = switch("with text: every table instead of one screen")
    color: str = option(
        None,
        "with text: colours on a terminal (default, unless NO_COLOR is set), always or never",
        choices=COLOUR_CHOICES,
        default="auto",
    )
    job: list[str] = repeated("JOB", "with saslog: only this job; may be repeated")
    table: str | None = option(
        None,
        "with csv: which table (default: summary); all of them into the directory --output",
        choices=(*csv.TABLES, ALL_TABLES),
    )
    output: str | None = option(
        "FILE", "write there instead of to the terminal (html without it: to report.html in the run folder)"
    )
    runs: str | None = RUNS
    fail_on: list[str] = fail_on("not-carried", "below-guideline", "slower")
    within: list[str] = WITHIN
    junit: str | None = JUNIT


def run(arguments: ReportArguments) -> int:
    """Write the report; the output file is tried first, so that a bad path fails before any work."""
    if arguments.all and arguments.format != "text":
        raise UsageError("--all goes with --format text", cure="leave it out: other formats hold everything")
    if arguments.job and arguments.format != "saslog":
        raise UsageError("--job goes with --format saslog", cure="leave it out, or ask for that format")
    if arguments.table and arguments.format != "csv":
        raise UsageError("--table goes with --format csv", cure="leave it out, or ask for that format")
    failing = Failing(arguments)
    chosen = settings()
    runs, bounds = chosen.runs(arguments.runs), bounds_of(chosen)
    folder = campaign_folder(arguments.run, runs)
    if folder is not None:
        campaign = cache(lambda: stored_campaign(folder, bounds, called=campaign_name(folder)))
        _write_campaign(folder, campaign, arguments)
        return check_campaign(failing, folder, campaign(), bounds, 0) if failing.asked else 0
    reported = JudgedRun(arguments, runs, bounds)
    reported.write()
    return check_run(failing, reported.summary, 0) if failing.asked else 0


def _write_campaign(folder: Path, campaign: Callable[[], StoredCampaign], arguments: ReportArguments) -> None:
    if arguments.format not in CAMPAIGN_FORMATS:
        raise UsageError(
            f"--format {arguments.format} works on runs; this is a campaign",
            where=str(folder),
            cure=f"choose {', '.join(CAMPAIGN_FORMATS)}, or name one of the runs in it",
        )
    if _into_folder(arguments):
        page = write_campaign_page(folder, campaign().figures)
        print(f"report: {shlex.quote(short_path(page))}")
        return
    width = width_for(arguments.output)
    write_text(arguments.output, lambda: render_campaign(campaign().figures, arguments.format, width) + "\n")


def _into_folder(arguments: ReportArguments) -> bool:
    """Whether the page goes into the folder: a terminal has no use for it."""
    return arguments.output is None and arguments.format == "html" and sys.stdout.isatty()


class JudgedRun:
    """A run with its judged summary, each made once, and not before the output is tried."""

    def __init__(self, arguments: ReportArguments, runs: Path, bounds: AnswerBounds) -> None:
        self._arguments, self._runs, self._bounds = arguments, runs, bounds

    @cached_property
    def view(self) -> StoredView:
        """A page and the tables are read on other machines and name the run by its id; other forms name its
        folder, so that their next step works in each directory."""
        stored = open_run(self._arguments.run, self._runs)
        by_id = self._arguments.format == "html" or self._arguments.table == ALL_TABLES
        return StoredView(stored, called=None if by_id else str(stored.path.absolute()))

    @cached_property
    def summary(self) -> Judged:
        return judged(self.view, self._bounds)

    def write(self) -> None:
        arguments = self._arguments
        if arguments.table == ALL_TABLES:
            self._write_tables(arguments.output)
        elif _into_folder(arguments):
            print(f"report: {shlex.quote(short_path(write_html(self.view, self.summary)))}")
        else:
            style = (
                style_of(sys.stdout, arguments.color)
                if arguments.output is None
                else Style(colour=arguments.color == "always")
            )
            write_text(arguments.output, lambda: self._text(style))

    def _write_tables(self, output: str | None) -> None:
        """Every table as TABLE.csv in a directory, which is made where it is missing."""
        if output is None:
            raise UsageError("--table all writes several files", cure="name their directory with --output")
        directory = Path(output)
        directory.mkdir(parents=True, exist_ok=True)
        for name in csv.TABLES:
            content = csv.render(self.view, self.summary, name) + "\n"
            write_output(directory / f"{name}.csv", encoded(content))

    def _text(self, style: Style) -> str:
        form, stored = self._arguments.format, self.view.run
        if form == "saslog":
            return render_saslog(stored, self._arguments.job)
        if form == "csv":
            return csv.render(self.view, self.summary, self._arguments.table or "summary") + "\n"
        if form != "text":
            return FORMATS[form](self.view, self.summary) + "\n"
        if self._arguments.all:
            shown = text.render(self.view, self.summary, style.width) + "\n"
        else:
            shown = screen_of(self.view, self.summary, style) + "\n"
        with_probe = self._arguments.all or stored.facts.kind == "imported"
        return shown + (_probe_tests(stored, self._bounds) if with_probe else "")


def _probe_tests(stored: Run, bounds: AnswerBounds) -> str:
    kept = probe.stored_probe(stored)
    if kept is None:
        return ""
    return f"\n{document.terminal(probe.parts(kept, probe_guidelines(kept, bounds)))}\n"


def screen_of(view: StoredView, summary: Judged, style: Style = PLAIN) -> str:
    """The one screen of a stored run and its judged summary."""
    name, place = (printable(shlex.quote(one)) for one in (run_name(view.run), str(view.run.path.absolute())))
    shown = screen.render(view, summary, outline(view), style, name, place)
    nights = logged_nights(view.jobs, view.facts.sources) if summary.kind == "imported" else None
    if nights is None:
        return shown
    sentence = change_sentence([one.label for one in nights.nights], trends_of(nights.nights))
    return "\n".join([*labelled("changed", sentence, style.width), shown])


MOST_STEPS_ASKED = 10_000


class StepsArguments(Arguments):
    """Print the steps of a run that cost most, and the tables that were read most.

    The run is one of imported SAS logs, or one that mawl measured. Logs tell of block operations and rows, so
    bytes are what devices moved, and rows are those that passed a WHERE.
    """

    run: str = operand("RUN", "a run folder, a run id, or latest (default)", default="latest")
    by: StepOrder = option(None, "what the steps are ordered by", choices=ORDERS, default="real")
    most: int = option(
        "N",
        f"how many steps (default: {MOST_STEPS})",
        form=Whole(1, MOST_STEPS_ASKED, of="steps"),
        default=MOST_STEPS,
    )
    format: str = formats("text", "json", "markdown", "html", "csv")
    output: str | None = OUTPUT
    runs: str | None = RUNS


def run_steps(arguments: StepsArguments) -> int:
    """Write the steps; the output file is tried first."""

    def written() -> str:
        stored = open_run(arguments.run, settings().runs(arguments.runs))
        costs = step_costs(stored, arguments.by, arguments.most)
        if arguments.format == "json":
            return json.indented(costs) + "\n"
        if arguments.format == "csv":
            return csv_of(costs) + "\n"
        return document.rendered(costs_document(costs), arguments.format, width_for(arguments.output)) + "\n"

    write_text(arguments.output, written)
    return 0


VERBS = {
    "report": Verb(ReportArguments, run, FAILING_EXIT_STATUS),
    "steps": Verb(StepsArguments, run_steps),
}
