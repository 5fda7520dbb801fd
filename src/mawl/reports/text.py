"""A run in full: every table, for those who read on after the screen (``reports.screen``)."""

from __future__ import annotations

from collections.abc import Iterable

from mawl.base.units import counted_noun
from mawl.figures.job_sums import gaps
from mawl.figures.view import RunView
from mawl.importers.formats.text import one_line
from mawl.records.model.summary.summary import Summary
from mawl.reports.compressibility import in_a_run
from mawl.reports.judgement import grounds, headlines, thresholds
from mawl.reports.layout import LINE_WIDTH, wrapped
from mawl.reports.paragraphs import signature, waits
from mawl.reports.run_lines import (
    concurrency_text,
    jobs_text,
    labelled,
    node_text,
    outcome_text,
    recorded_text,
    workload_text,
)
from mawl.reports.run_tables import RUN_TABLES
from mawl.reports.tables import io, table_lines, times

MOST_FAILURES = 5


def render(view: RunView, summary: Summary, width: int = LINE_WIDTH) -> str:
    """A run and its summary of ``judged`` as text for a terminal.

    Lines have at most ``width`` characters.  A figure that is missing is ``-``; the last line names them and
    says where the reasons are.
    """
    parts = (
        _head(view, summary, width),
        [*times(summary, width), *waits(summary, width)],
        io(summary, width),
        *(table_lines(table, view, summary, width) for table in RUN_TABLES),
        in_a_run(summary, width),
        signature(summary, width),
        grounds(summary, width),
        thresholds(summary, width),
        _ends_and_remarks(summary, width),
    )
    return "\n\n".join("\n".join(part) for part in parts if part)


def _head(view: RunView, summary: Summary, width: int) -> list[str]:
    lines = [
        ("run", f"{summary.run_id} ({summary.kind}, mawl {summary.mawl_version})"),
        ("workload", workload_text(view, summary)),
        *(("system", node_text(node)) for node in summary.nodes),
        ("started", summary.started_at),
        ("outcome", outcome_text(summary)),
        ("jobs", jobs_text(summary)),
        *([] if summary.outcome == "completed" else [("recorded", recorded_text(summary))]),
        ("at once", concurrency_text(summary.jobs)),
        *headlines(summary),
    ]
    return [line for name, text in lines for line in labelled(name, text, width)]


def _ends_and_remarks(summary: Summary, width: int) -> list[str]:
    sentences = [
        one_line(f"{failure.outcome.replace('_', ' ')}: {failure.job}: {failure.reason or 'no reason'}")
        for failure in summary.failures[:MOST_FAILURES]
    ]
    more = len(summary.failures) - MOST_FAILURES
    if more > 0:
        jobs = counted_noun(more, "more job")
        sentences.append(f"and {jobs} that did not finish (--format json lists all)")
    sentences += [f"remark: {one_line(remark)}" for remark in summary.remarks]
    figures = [path for path in gaps(summary) if ".known." not in path]
    if figures:
        names = ", ".join(_grouped(figures))
        sentences.append(f"null, reasons with --format json: {names}")
    return [line for text in sentences for line in wrapped(text, width, "  ")]


def _grouped(paths: Iterable[str]) -> list[str]:
    """Paths by their block: ``host, io.* (16), time.adjusted_cpu_seconds``."""
    blocks: dict[str, list[str]] = {}
    for path in sorted(paths):
        blocks.setdefault(path.split(".")[0], []).append(path)
    return [own[0] if len(own) == 1 else f"{block}.* ({len(own)})" for block, own in blocks.items()]
