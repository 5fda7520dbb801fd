"""Where the time of all jobs went, in words."""

from __future__ import annotations

import msgspec

from mawl.advice.limit.verdict import SECOND_RATIO
from mawl.model.summary.summary import Summary
from mawl.model.summary.waits import KnownWait, Wait
from mawl.reporters.columns import LINE_WIDTH
from mawl.reporters.figure import figure, figures
from mawl.reporters.head import labelled
from mawl.units import format_percent, format_ratio, format_seconds


def bounded_waits(wait: Wait | KnownWait) -> str:
    """What is known where the run queue is not (imported logs): CPU time, and the most that was blocked."""
    used, most = figures(
        (wait.on_cpu_seconds, format_seconds),
        (getattr(wait, "blocked_at_most_seconds", None), format_seconds),
    )
    return f"on CPU {used}, blocked at most {most} (real less CPU time); run queue and roles are not known"


def known_waits(summary: Summary) -> tuple[Wait | KnownWait | None, str]:
    """The waits of all jobs that count, else of those of which they are known; and words for how many."""
    block = summary.wait
    if block is None or None not in (
        block.run_queue_seconds,
        *msgspec.structs.astuple(block.blocked_seconds),
    ):
        return block, ""
    if block.known is None:
        return block, ""
    return block.known, f"of {block.known.jobs} of {summary.jobs.counted} jobs: "


def memory_in_waits(summary: Summary) -> str:
    """That the blocked states include waiting for memory; empty if that is not known, or too little to limit.

    The record of a job has its blocked time by role.  How much of it was for memory is known only by window.
    """
    limit = summary.limit
    loss = None if limit is None else limit.losses.memory
    if loss is None or loss < SECOND_RATIO:
        return ""
    share = format_percent(loss)
    return f"the blocked parts include waiting for memory ({share} of the jobs' time in the active phase)"


def waits(summary: Summary, width: int = LINE_WIDTH) -> list[str]:
    """Where the jobs' time went, in one line with shares; nothing where that was not measured."""
    block, of_jobs = known_waits(summary)
    if block is None:
        return []
    if block.run_queue_seconds is None:
        return labelled("waits", bounded_waits(block), width)
    parts = [
        ("on CPU", block.on_cpu_seconds),
        ("waiting for a CPU", block.run_queue_seconds),
        *(
            ("blocked elsewhere" if role == "other" else f"blocked in {role}", seconds)
            for role, seconds in msgspec.structs.asdict(block.blocked_seconds).items()
        ),
    ]
    whole = sum(seconds for _, seconds in parts if seconds is not None)
    shown = [
        f"{name} {figure(seconds, format_seconds)}"
        + (f" ({seconds / whole:.0%})" if seconds is not None and whole > 0 else "")
        for name, seconds in parts
    ]
    text = f"{of_jobs}{', '.join(shown)}"
    queue = summary.cpu_real_ratio.without_run_queue
    if queue is not None:
        text += f"; CPU/real without the wait for a CPU {format_ratio(queue)}"
    if contained := memory_in_waits(summary):
        text += f"; {contained}"
    return labelled("waits", text, width)
