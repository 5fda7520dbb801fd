"""Tables of a run's jobs: by program, their waits, the scheduler's queue, the CPU account, and periods."""

from __future__ import annotations

from collections.abc import Callable

from mawl.base.units import (
    counted_noun,
    format_bytes,
    format_joules,
    format_memory,
    format_percent,
    format_plain,
    format_rate,
    format_seconds,
)
from mawl.figures.view import RunView
from mawl.records.model.summary.programs import ProgramFigures, QueueChain, QueueTimes
from mawl.records.model.summary.summary import Summary
from mawl.reports.layout import figures, format_count, splits_cpu
from mawl.reports.tables import EVERY, HTML, MARKDOWN, TEXT, Format, Note, Row, RunColumn, RunTable

COUNTED_DEFINITION = (
    "counted: finished, no answer known to be wrong; "
    "of these: real time of one job, sum of CPU, largest memory"
)


def program_rows(_: RunView, summary: Summary) -> list[Row]:
    return [Row(name, ("programs", name)) for name in summary.programs]


def _shows_cpu_sum(summary: Summary, to: Format) -> bool:
    return to == "html" or not splits_cpu(summary.time)


def _shows_user_and_system(summary: Summary, to: Format) -> bool:
    return to == "html" or splits_cpu(summary.time)


def _has_energy(summary: Summary, _: Format) -> bool:
    return summary.energy is not None


PROGRAMS = RunTable(
    name="programs",
    alike=True,
    caption="Jobs by program; counted: finished, no answer known to be wrong",
    section="programs",
    first="program",
    code=True,
    block=("programs", "*"),
    rows=program_rows,
    columns=(
        RunColumn(label="jobs", path=("jobs",), form=format_count),
        RunColumn(label="counted", path=("counted",), form=format_count, formats=TEXT | HTML),
        RunColumn(label="real median", path=("real_time_seconds", "median"), form=format_seconds),
        RunColumn(label="min", path=("real_time_seconds", "min"), form=format_seconds),
        RunColumn(label="max", path=("real_time_seconds", "max"), form=format_seconds),
        RunColumn(label="CPU", path=("cpu_seconds",), form=format_seconds, when=_shows_cpu_sum),
        RunColumn(
            label="user CPU", path=("user_cpu_seconds",), form=format_seconds, when=_shows_user_and_system
        ),
        RunColumn(
            label="system CPU", path=("system_cpu_seconds",), form=format_seconds, when=_shows_user_and_system
        ),
        RunColumn(label="read", path=("application_read_bytes",), form=format_bytes, formats=HTML),
        RunColumn(label="written", path=("application_written_bytes",), form=format_bytes, formats=HTML),
        RunColumn(label="memory", path=("memory_bytes",), form=format_memory),
        RunColumn(
            label="energy",
            path=("joules_per_job",),
            form=format_joules,
            formats=MARKDOWN | HTML,
            when=_has_energy,
        ),
    ),
    formats=EVERY,
    fold="Programs",
    folded=MARKDOWN,
    notes=lambda _, __: [Note(COUNTED_DEFINITION, TEXT)],
)


STATES = (
    ("processors", "on processors", "on_cpu_seconds"),
    ("waiting", "waiting for processors", "run_queue_seconds"),
    ("data", "data", "blocked_data_seconds"),
    ("work", "work", "blocked_work_seconds"),
    ("util", "util", "blocked_util_seconds"),
    ("other", "other waits", "blocked_other_seconds"),
)
"""Label in text, label in HTML, and figure."""


def _time_of_jobs(program: ProgramFigures) -> float | None:
    """The time of a program's jobs; None where a part of it is not known, or there was none."""
    seconds = [getattr(program.wait, state) for _, _, state in STATES]
    return None if None in seconds else sum(seconds) or None


def _share_of_time(state: str) -> Callable[[ProgramFigures], float | None]:
    def share(program: ProgramFigures) -> float | None:
        whole = _time_of_jobs(program)
        return whole and getattr(program.wait, state) / whole

    return share


def _program_waits_rows(view: RunView, summary: Summary) -> list[Row]:
    return [
        row if _time_of_jobs(summary.programs[row.name]) is not None else Row(row.name, row.path, HTML)
        for row in program_rows(view, summary)
    ]


PROGRAM_WAITS = RunTable(
    name="program_waits",
    alike=True,
    caption="Where the time of each program's jobs went (sums)",
    section="programs",
    first="program",
    text_first="time of jobs by program",
    block=("programs", "*"),
    rows=_program_waits_rows,
    columns=(
        RunColumn(label="sum", value=_time_of_jobs, form=format_seconds, formats=TEXT),
        *(
            RunColumn(label=label, value=_share_of_time(state), form=format_percent, formats=TEXT)
            for label, _, state in STATES
        ),
        *(
            RunColumn(label=label, path=("wait", state), form=format_seconds, formats=HTML)
            for _, label, state in STATES
        ),
    ),
    formats=TEXT | HTML,
)


QUEUE_DEFINITION = "queue: from the time at which a job could run to its start by the scheduler"


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


def _queue_lead(_: RunView, summary: Summary) -> list[Note]:
    words = queue_words(summary)
    if words is None:
        return []
    return [
        Note(words, TEXT, "queue"),
        Note(f"time in the queue of the scheduler: {words}", MARKDOWN | HTML),
    ]


def _queue_rows(_: RunView, summary: Summary) -> list[Row]:
    programs = {} if summary.queue is None else summary.queue.programs
    return [Row(name, ("queue", "programs", name)) for name in programs]


def _queued_job_rows(_: RunView, summary: Summary) -> list[Row]:
    longest = [] if summary.queue is None else summary.queue.longest
    return [Row(one.job, ("queue", "longest", place)) for place, one in enumerate(longest)]


def _moment(text: str) -> str:
    return text[:19].replace("T", " ")


QUEUE = RunTable(
    name="queue",
    caption=f"Time in the queue of the scheduler, by program; {QUEUE_DEFINITION}",
    section="programs",
    first="program",
    code=True,
    block=("queue", "programs", "*"),
    rows=_queue_rows,
    columns=(
        RunColumn(label="jobs", path=("jobs",), form=format_count),
        RunColumn(label="queue median", path=("median_seconds",), form=format_seconds),
        RunColumn(label="95th percentile", path=("p95_seconds",), form=format_seconds),
        RunColumn(label="longest", path=("most_seconds",), form=format_seconds),
        RunColumn(label="sum", path=("sum_seconds",), form=format_seconds),
    ),
    formats=EVERY,
    lead=_queue_lead,
    notes=lambda _, __: [Note(QUEUE_DEFINITION, TEXT | MARKDOWN)],
    spare=("sum", "jobs"),
)

QUEUED_JOBS = RunTable(
    name="queued_jobs",
    caption="Jobs that waited longest in the queue of the scheduler",
    section="programs",
    first="job that waited",
    code=True,
    block=("queue", "longest", "*"),
    rows=_queued_job_rows,
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


ACCOUNTS = {
    "jobs": "jobs",
    "start-up": "startup",
    "verify": "verify",
    "launcher": "launcher",
    "total": "total",
}


def _cpu_account_rows(_: RunView, summary: Summary) -> list[Row]:
    rows = [Row(name, ("cpu_account", field)) for name, field in ACCOUNTS.items()]
    if summary.outside_cpu is not None:
        rows.append(Row(f"outside ({summary.outside_cpu.source})", ("outside_cpu",)))
    return rows


def _cpu_account_notes(_: RunView, summary: Summary) -> list[Note]:
    overhead = summary.overhead
    own = figures(
        (overhead.cpu_seconds, format_seconds),
        (overhead.cpu_ratio, format_percent),
        (overhead.startup_cpu_seconds, format_seconds),
        (overhead.running_cpu_ratio, format_plain),
        (overhead.peak_memory_bytes, format_memory),
        (overhead.written_bytes, format_bytes),
    )
    sentence = (
        "mawl itself, with the launcher above: {} of CPU, {} of its sum with the jobs'; {} of it before the "
        "start, then {} cores; {} of memory, {} written while jobs ran"
    )
    return [Note(sentence.format(*own), TEXT)]


CPU_ACCOUNT = RunTable(
    name="cpu_account",
    caption="CPU account",
    section="system",
    first="CPU account, all jobs",
    text_first="CPU account (all jobs)",
    block=("cpu_account", "total"),
    rows=_cpu_account_rows,
    columns=tuple(
        RunColumn(label=label, path=(field,), form=format_seconds)
        for label, field in (
            ("user", "user_cpu_seconds"),
            ("system", "system_cpu_seconds"),
            ("together", "cpu_seconds"),
        )
    ),
    narrow=True,
    formats=TEXT | HTML,
    notes=_cpu_account_notes,
)


def _period_rows(_: RunView, summary: Summary) -> list[Row]:
    return [
        Row(period.started_at[:16].replace("T", " "), ("time", "periods", place))
        for place, period in enumerate(summary.time.periods)
    ]


PERIODS = RunTable(
    name="periods",
    caption="Periods of the imported files, which are not one run",
    section="summary",
    first="period from",
    block=("time", "periods", "*"),
    rows=_period_rows,
    columns=(
        RunColumn(label="lasted", path=("length_seconds",), form=format_seconds),
        RunColumn(label="jobs", path=("jobs",), form=format_count),
        RunColumn(label="at once", path=("peak_concurrent",), form=format_count),
        RunColumn(label="real time", path=("real_time_seconds",), form=format_seconds),
        RunColumn(label="recorded", path=("recorded_seconds",), form=format_seconds),
        RunColumn(label="CPU busy", path=("cpu_busy_ratio",), form=format_percent),
        RunColumn(label="iowait", path=("cpu_iowait_ratio",), form=format_percent),
        RunColumn(label="read", path=("device_read_bytes_per_second",), form=format_rate),
        RunColumn(label="written", path=("device_write_bytes_per_second",), form=format_rate),
    ),
    spare=("iowait", "at once"),
)
