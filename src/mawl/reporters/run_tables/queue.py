"""How long jobs waited in the queue of their scheduler: by program, and those that waited longest."""

from __future__ import annotations

from mawl.analysis.view import RunView
from mawl.model.summary.queue import QueueChain, QueueTimes
from mawl.model.summary.summary import Summary
from mawl.reporters.figure import format_count
from mawl.reporters.table import EVERY, HTML, MARKDOWN, TEXT, Note, Row, RunColumn, RunTable
from mawl.units import counted_noun, format_percent, format_seconds

DEFINED = "queue: from the time at which a job could run to its start by the scheduler"


def queue_words(summary: Summary) -> str | None:
    """``median 3 s, 95th percentile 12 min, longest 40 min (118 of 120 jobs); ...``.

    None without the history of a scheduler.
    """
    queue = summary.queue
    if queue is None:
        return None
    if queue.times is None:
        return f"not known ({summary.missing.get('queue.times')})"
    jobs = f"{queue.times.jobs} of {counted_noun(summary.jobs.total, 'job')}"
    if queue.chain is None:
        chain = f"queue of the chain that ended last: not known ({summary.missing.get('queue.chain')})"
    else:
        chain = chain_words(queue.chain)
    return f"{times_words(queue.times)} ({jobs}); {chain}"


def times_words(times: QueueTimes) -> str:
    """``median 3 s, 95th percentile 12 min, longest 40 min``."""
    median, p95, longest = (
        format_seconds(value) for value in (times.median_seconds, times.p95_seconds, times.most_seconds)
    )
    return f"median {median}, 95th percentile {p95}, longest {longest}"


def chain_words(chain: QueueChain) -> str:
    """``queue of the chain that ended last (2 jobs): 62.0 s of 11 min 00 s (9.4 %)``."""
    share = "" if chain.queue_ratio is None else f" ({format_percent(chain.queue_ratio)})"
    return (
        f"queue of the chain that ended last ({counted_noun(chain.jobs, 'job')}): "
        f"{format_seconds(chain.queue_seconds)} of {format_seconds(chain.length_seconds)}{share}"
    )


def _lead(_: RunView, summary: Summary) -> list[Note]:
    words = queue_words(summary)
    if words is None:
        return []
    return [
        Note(words, TEXT, "queue"),
        Note(f"time in the queue of the scheduler: {words}", MARKDOWN | HTML),
    ]


def _programs(_: RunView, summary: Summary) -> list[Row]:
    programs = {} if summary.queue is None else summary.queue.programs
    return [Row(name, ("queue", "programs", name)) for name in programs]


def _jobs(_: RunView, summary: Summary) -> list[Row]:
    longest = [] if summary.queue is None else summary.queue.longest
    return [Row(one.job, ("queue", "longest", place)) for place, one in enumerate(longest)]


def _moment(text: str) -> str:
    return text[:19].replace("T", " ")


QUEUE = RunTable(
    name="queue",
    caption=f"Time in the queue of the scheduler, by program; {DEFINED}",
    section="programs",
    first="program",
    code=True,
    block=("queue", "programs", "*"),
    rows=_programs,
    columns=(
        RunColumn(label="jobs", path=("jobs",), form=format_count),
        RunColumn(label="queue median", path=("median_seconds",), form=format_seconds),
        RunColumn(label="95th percentile", path=("p95_seconds",), form=format_seconds),
        RunColumn(label="longest", path=("most_seconds",), form=format_seconds),
        RunColumn(label="sum", path=("sum_seconds",), form=format_seconds),
    ),
    formats=EVERY,
    lead=_lead,
    notes=lambda _, __: [Note(DEFINED, TEXT | MARKDOWN)],
    spare=("sum", "jobs"),
)

QUEUED_JOBS = RunTable(
    name="queued_jobs",
    caption="Jobs that waited longest in the queue of the scheduler",
    section="programs",
    first="job that waited",
    code=True,
    block=("queue", "longest", "*"),
    rows=_jobs,
    columns=(
        RunColumn(label="program", path=("program",), form=str, holds="code"),
        RunColumn(label="submitted (UTC)", path=("submitted_at",), form=_moment, holds="words"),
        RunColumn(label="queue", path=("queue_seconds",), form=format_seconds),
        RunColumn(label="real time", path=("real_time_seconds",), form=format_seconds),
    ),
    fold="Jobs that waited longest in the queue of the scheduler",
    folded=MARKDOWN,
    spare=("program",),
)
