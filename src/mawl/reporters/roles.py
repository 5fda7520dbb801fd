"""The lines of the long report about I/O by role and about waits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import wrap

import msgspec

from mawl.formats.lines import one_line
from mawl.model.summary.io import Io, RoleFigures
from mawl.model.summary.summary import Summary
from mawl.model.summary.waits import KnownWait, Wait
from mawl.reporters.columns import LINE_WIDTH, aligned
from mawl.reporters.figure import figure, figures
from mawl.spec.program_options import ROLES
from mawl.units import format_bytes, format_latency, format_percent, format_ratio, format_seconds

_HEAD = ("role", "read", "written", "share", "sequential", "reads: mean", "p50", "p99", "max",
         "writes: mean", "p99")  # fmt: skip
WHOLE = 0.995
TRIFLE_BYTES = 2**17
"""So little uncounted is not worth a line (as in the jobs' remarks)."""


def roles(summary: Summary) -> list[str]:
    """A row per role, and what could not be counted; nothing where I/O by role was not measured."""
    by_role = summary.io.by_role
    if by_role is None:
        return _instead(summary)
    rows: list[Sequence[str]] = [_HEAD]
    for name, role in by_role.items():
        if name == "other" and not role.reads and not role.writes:
            continue
        read, written = role.read_latency_seconds, role.write_latency_seconds
        rows.append(
            (
                name,
                *figures(
                    (role.read_bytes, format_bytes),
                    (role.written_bytes, format_bytes),
                    (role.share_ratio, format_percent),
                    (role.sequential_ratio, format_percent),
                    *((getattr(read, figure_), format_latency) for figure_ in ("mean", "p50", "p99", "max")),
                    *((getattr(written, figure_), format_latency) for figure_ in ("mean", "p99")),
                ),
            )
        )
    return [*aligned(rows), *_sizes(by_role), *_direct(summary.io), *_coverage(summary.io)]


def _sizes(by_role: Mapping[str, RoleFigures]) -> list[str]:
    """What a typical call moved, of the roles in which there were calls."""
    shown = []
    for name in ROLES:
        medians = [
            f"{verb} {figure(median, format_bytes)}"
            for key, verb in (("read", "read"), ("write", "written"))
            if (median := getattr(by_role[name], f"{key}_request_bytes").p50) is not None
        ]
        shown += [f"{name} {', '.join(medians)}"] if medians else []
    return wrap(f"median request: {'; '.join(shown)}", LINE_WIDTH, subsequent_indent="  ") if shown else []


def _direct(io: Io) -> list[str]:
    """What passed by the page cache; nothing where nothing did."""
    block = io.direct
    if not block.programs:
        return []
    read, written = figures((block.read_bytes, format_bytes), (block.written_bytes, format_bytes))
    programs = ", ".join(one_line(program) for program in block.programs)
    text = f"direct I/O (past the page cache): {read} read, {written} written by {programs}"
    return wrap(text, LINE_WIDTH, subsequent_indent="  ")


def _instead(summary: Summary) -> list[str]:
    """Why I/O by role is missing, and what the devices say, or why they cannot."""
    missing = summary.missing
    sentence = f"I/O by role: {one_line(missing['io.by_role'])}"
    devices = summary.io.devices_by_role
    if devices is None:
        why = one_line(missing["io.devices_by_role"])
        return wrap(f"{sentence}; nor can devices split it: {why}", LINE_WIDTH)
    rows: list[Sequence[str]] = [("role, at its devices", "read", "written")]
    for name, moved in msgspec.structs.asdict(devices).items():
        rows.append((name, *figures((moved.read_bytes, format_bytes), (moved.written_bytes, format_bytes))))
    return [*wrap(sentence, LINE_WIDTH), *aligned(rows)]


def _coverage(io: Io) -> list[str]:
    ratio = io.coverage_ratio
    moved = [getattr(io.application, f"{way}_bytes") for way in ("read", "written")]
    known = ratio is not None and None not in moved and not io.unseen
    # A program that is loaded reads some kilobytes before it can count.
    if known and ratio is not None and (ratio >= WHOLE or (1 - ratio) * sum(moved) <= TRIFLE_BYTES):
        return []
    sentences = [f"counted: {figure(ratio, format_percent)} of the bytes that the kernel saw"]
    sentences += [one_line(sentence) for sentence in io.unseen]
    return wrap("; ".join(sentences), LINE_WIDTH)


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


def waits(summary: Summary) -> list[str]:
    """Where the jobs' time went, in one line with shares; nothing where that was not measured."""
    block, of_jobs = known_waits(summary)
    if block is None:
        return []
    if block.run_queue_seconds is None:
        return wrap(f"waits     {bounded_waits(block)}", LINE_WIDTH, subsequent_indent=" " * 10)
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
    text = f"waits     {of_jobs}{', '.join(shown)}"
    queue = summary.cpu_real_ratio.without_run_queue
    if queue is not None:
        text += f"; CPU/real without the wait for a CPU {format_ratio(queue)}"
    return wrap(text, LINE_WIDTH, subsequent_indent=" " * 10)
