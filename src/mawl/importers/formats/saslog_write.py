"""A job's figures as a SAS 9.4 log of a Linux machine shows them under FULLSTIMER.

Its steps are ``data`` and ``procedure`` steps only.  The session total is the job's own, as in mawl's
reports: the steps and what the job did between them.  A NOTE has start-up and ``verify``.
Programs that read SAS logs depend on the layout (docs/design/sas-log.md): the heading is directly above
``real time``, all figures are indented alike, a line of blanks closes the block.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from mawl.base.units import format_instant
from mawl.importers.formats.saslog_notes import file_notes, row_notes
from mawl.importers.formats.text import one_line
from mawl.plan.catalogue import CATALOGUE
from mawl.plan.programs import Program, sas_name
from mawl.records.model.records import JobRecord, StepRecord, Usage
from mawl.version import __version__

INDENT = " " * 6
FIRST_WIDTH = 20
"""Width of the names from ``real time`` to ``Timestamp``; the counts below have COUNT_WIDTH."""
COUNT_WIDTH = 34

COUNTS: tuple[tuple[str, str], ...] = (
    ("Page Faults", "page_faults"),
    ("Page Reclaims", "page_reclaims"),
    ("Page Swaps", "page_swaps"),
    ("Voluntary Context Switches", "voluntary_context_switches"),
    ("Involuntary Context Switches", "involuntary_context_switches"),
    ("Block Input Operations", "block_input_operations"),
    ("Block Output Operations", "block_output_operations"),
)
"""Name in the log and field of ``Usage``, in the log's order."""


def job_log(
    job: JobRecord,
    steps: Sequence[StepRecord],
    *,
    platform: str | None = None,
    program: Program | None = None,
) -> str:
    """The log of one job; a figure that is missing has no line.

    ``program`` is the declaration of a job that is none of the catalogue (a derived one): it names the
    procedures.  ``platform`` is the node's kernel (``Linux 6.1.0``).  Timestamps are UTC, as the log says.
    """
    lines = list(_opening(job, platform))
    shown = [step for step in steps if step.kind in ("data", "procedure")]
    declared = CATALOGUE.get(job.program, program)
    for step in shown:
        if declared is None and step.rows_read is None and step.rows_written is None:
            lines += file_notes(step, job.program)
        lines += _step(step, declared)
    if job.reason:
        lines += [f"ERROR: {one_line(job.reason)}", ""]
    lines += ["NOTE: The SAS System used:", *block(job.usage, job.ended_at, len(shown)), INDENT, ""]
    return "\n".join(lines) + "\n"


def _opening(job: JobRecord, platform: str | None) -> Iterator[str]:
    yield f"NOTE: Written by mawl {__version__} in the layout of a SAS log with FULLSTIMER; no SAS ran."
    names = f"job {job.job}, program {job.program}, session {job.session}"
    yield f"NOTE: This is {one_line(names)}, outcome {job.outcome}; all times are UTC."
    if platform:
        yield f"NOTE: This session is executing on the {one_line(platform)} platform."
    yield f"NOTE: It is {place_of(job)}."
    left_out = [
        f"{name} {cpu:.2f}"
        for name, usage in (("start-up", job.startup), ("checking the answer", job.verify))
        if (cpu := usage.cpu_seconds) is not None
    ]
    if left_out:
        yield f"NOTE: Not in the figures below, CPU seconds: {', '.join(left_out)}."
    yield ""


def place_of(job: JobRecord) -> str:
    """What a reader needs to give the run's figures again: ``PLACE`` reads it back."""
    answer = "not checked" if job.verified is None else "right" if job.verified else "wrong"
    start, end = ["unknown" if at is None else format_instant(at) for at in (job.started_at, job.ended_at)]
    return (
        f"stage {job.stage}, class {job.program_class}, on node {one_line(job.node)}, "
        f"from {start} to {end}, answer {answer}, trail-out {'yes' if job.trail_out else 'no'}"
    )


PLACE = re.compile(
    r"NOTE: It is stage (?P<stage>[0-9]{1,9}), class (?P<class>[a-z]+), on node (?P<node>.+), "
    r"from (?P<start>\S+) to (?P<end>\S+), answer (?P<answer>right|wrong|not checked), "
    r"trail-out (?P<trail>yes|no)\."
)


def _step(step: StepRecord, program: Program | None) -> Iterator[str]:
    name = procedure_name(step.name)
    yield from row_notes(step, program, name)
    procedure = sas_name(program, step.name) or name
    subject = "DATA statement" if step.kind == "data" else f"PROCEDURE {procedure}"
    yield f"NOTE: {subject} used (Total process time):"
    yield from block(step.usage, step.ended_at, step.number)
    yield INDENT
    yield ""


def procedure_name(name: str) -> str:
    """A step's name as a procedure's: upper case, one word."""
    return "".join(letter if letter.isalnum() or letter == "_" else "_" for letter in name.upper())


def block(usage: Usage, ended_at: float | None, number: int) -> Iterator[str]:
    """The performance lines under a heading."""
    first: tuple[tuple[str, str | None], ...] = (
        ("real time", _time(usage.real_time_seconds)),
        ("user cpu time", _time(usage.user_cpu_seconds)),
        ("system cpu time", _time(usage.system_cpu_seconds)),
        ("cpu time", _time(usage.unsplit_cpu_seconds)),
        ("memory", _memory(usage.memory_bytes)),
        ("OS Memory", _memory(usage.os_memory_bytes)),
        ("Timestamp", _timestamp(ended_at)),
    )
    for name, text in first:
        if text is not None:
            yield f"{INDENT}{name:<{FIRST_WIDTH}}{text}"
    voluntary, involuntary = usage.voluntary_context_switches, usage.involuntary_context_switches
    if voluntary is not None and involuntary is not None:
        yield f"{INDENT}{'Step Count':<{COUNT_WIDTH}}{number}  Switch Count  {voluntary + involuntary}"
    for name, field in COUNTS:
        count = getattr(usage, field)
        if count is not None:
            yield f"{INDENT}{name:<{COUNT_WIDTH}}{count}"


def _time(seconds: float | None) -> str | None:
    """``0.01 seconds``; from one minute up ``1:02.24`` and ``9:28:12.90``, hours past 24."""
    if seconds is None:
        return None
    hundredths = round(seconds * 100)
    minutes, rest = divmod(hundredths, 6000)
    if not minutes:
        return f"{rest / 100:.2f} seconds"
    hours, minutes = divmod(minutes, 60)
    tail = f"{rest // 100:02d}.{rest % 100:02d}"
    return f"{hours}:{minutes:02d}:{tail}" if hours else f"{minutes}:{tail}"


def _memory(size_bytes: int | None) -> str | None:
    """Always in k (1024 bytes), two decimals, no separators: ``677.15k``."""
    if size_bytes is None:
        return None
    hundredths = round(size_bytes * 100 / 1024)
    return f"{hundredths // 100}.{hundredths % 100:02d}k"


def _timestamp(at: float | None) -> str | None:
    if at is None:
        return None
    moment = datetime.fromtimestamp(at, UTC)
    return f"{moment:%m/%d/%Y %I:%M:%S} {'PM' if moment.hour >= 12 else 'AM'}"
