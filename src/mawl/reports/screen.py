"""A run on one screen: what it means first, then the run over time, its figures, and what to do next.

At most ``MOST_LINES`` lines of the style's width, and more on a narrow terminal; what does not fit is in
the long report (``mawl report RUN --all``).  Text of a run is one printable line everywhere, so the only
escapes are those of the style.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import msgspec

from mawl.advice.next_step import next_of
from mawl.base.removal import STAYS
from mawl.base.units import (
    counted_noun,
    format_memory,
    format_percent,
    format_rate,
    format_ratio,
    format_seconds,
)
from mawl.figures.over_time import Outline
from mawl.figures.summary import DAMAGED
from mawl.figures.view import RunView
from mawl.importers.formats.text import one_line
from mawl.records.model.summary.io import Io
from mawl.records.model.summary.programs import ProgramFigures
from mawl.records.model.summary.summary import Judged, Summary
from mawl.records.model.summary.time import Time
from mawl.reports.judgement import headlines
from mawl.reports.layout import (
    ABSENT,
    BLOCKS,
    LINE_WIDTH,
    PLAIN,
    PLAIN_LEVELS,
    Paint,
    Style,
    aligned,
    cpu_parts,
    figure,
    figures,
    fitting,
    format_count,
    sparkline,
    wrapped,
)
from mawl.reports.paragraphs import (
    bounded_waits,
    mapped_in_waits,
    memory_in_waits,
    ratio_text,
    sum_text,
    wait_shares,
)
from mawl.reports.run_lines import (
    LABEL_WIDTH,
    jobs_text,
    labelled,
    node_text,
    outcome_text,
    periods_text,
    recorded_text,
    workload_text,
)
from mawl.reports.run_tables.jobs import PERIODS, queue_words
from mawl.reports.run_tables.nodes import node_sentences
from mawl.reports.run_tables.roles import ROLE_DEVICES, ROLES
from mawl.reports.run_tables.storage import cap_sentence
from mawl.reports.tables import table_lines

SPARK_WIDTH = 66
BESIDE_SPARK = 30
"""Characters before and behind a sparkline."""
FEWEST_PARTS = 4
"""A run of fewer parts has no sparklines."""


def sparklines(outline: Outline | None, style: Style) -> list[str]:
    """A line each of throughput and jobs over the run, with the highest value behind it."""
    if outline is None or len(outline.device) < FEWEST_PARTS:
        return []
    levels = BLOCKS if style.blocks else PLAIN_LEVELS
    width = min(SPARK_WIDTH, style.width - BESIDE_SPARK)
    lines = []
    for name, values, form in (
        ("application", outline.application, format_rate),
        ("device", outline.device, format_rate),
        ("jobs", outline.jobs, format_ratio),
    ):
        known = [value for value in values if value is not None]
        if known:
            drawn = sparkline(values, width, levels)
            lines.append(f"{name:<13}{drawn}  up to {form(max(known))}")
    if not lines:
        return []
    columns = min(len(outline.device), width)
    seconds = format_seconds(outline.part_seconds * len(outline.device) / columns)
    part = "" if columns == len(outline.device) else f", its highest {format_seconds(outline.part_seconds)}"
    over = "the run" if outline.whole else "the part of the run that recordings cover"
    return [f"over {over}, {seconds} a column{part}", *lines]


def throughput(io: Io, style: Style, *, imported: bool = False) -> list[str]:
    """Both sides: bytes, windows of the total, sustained per core, and the reach.

    Of an import only what its files tell.
    """
    window = figure(io.device.window_seconds, format_seconds)
    rows: list[Sequence[str]] = [
        (
            f"windows of {window}",
            "peak",
            "initial",
            "sustained",
            "per core",
            "run: read",
            "written",
            "read share",
        )
    ]
    for side in ("application", "device"):
        block = getattr(io, side)
        rows.append(
            (
                side,
                *figures(
                    *(
                        (getattr(block, name).total_bytes_per_second, format_rate)
                        for name in ("peak", "initial", "sustained")
                    ),
                    (block.sustained_bytes_per_second_per_core, format_rate),
                    (block.run_mean.read_bytes_per_second, format_rate),
                    (block.run_mean.write_bytes_per_second, format_rate),
                    (block.read_ratio, format_percent),
                ),
            )
        )
    reach = figures(*((getattr(io.reach, f"{name}_ratio"), format_percent) for name in ("read", "write")))
    rows.append(("reach", "", "", "", "", *reach, ""))
    if imported:
        rows = [rows[0], *(row for row in rows[1:] if set(row[1:]) - {ABSENT, ""})]
    if len(rows) == 1:
        return [f"throughput: {io.device.windows_source}"]
    return aligned(fitting(rows, style.width, ("initial", "per core")))


def programs(found: Mapping[str, ProgramFigures], most: int, style: Style) -> list[str]:
    """The programs that took most time, and how much of it they were on a CPU or waited."""
    order = sorted(found, key=lambda name: -(_time_of_jobs(found[name]) or 0.0))[: max(most, 0)]
    if all(program.wait.run_queue_seconds is None for program in found.values()):
        return _programs_without_waits(found, order, style)
    rows: list[Sequence[str]] = [
        (
            "most time",
            "jobs",
            "real median",
            "processors",
            "waiting",
            "data",
            "work",
            "util",
            "other",
        )
    ]
    for name in order:
        program = found[name]
        taken = _time_of_jobs(program)
        states = ("on_cpu", "run_queue", "blocked_data", "blocked_work", "blocked_util", "blocked_other")
        shares = [
            None
            if not taken or getattr(program.wait, f"{state}_seconds") is None
            else getattr(program.wait, f"{state}_seconds") / taken
            for state in states
        ]
        rows.append(
            (
                one_line(name),
                str(program.jobs),
                figure(program.real_time_seconds.median, format_seconds),
                *figures(*((share, format_percent) for share in shares)),
            )
        )
    return aligned(fitting(rows, style.width, ("jobs", "other", "real median"))) if len(rows) > 1 else []


def _programs_without_waits(
    found: Mapping[str, ProgramFigures], order: Sequence[str], style: Style
) -> list[str]:
    """The programs of a run without waits (imported logs): CPU over real time is all that is known."""
    rows: list[Sequence[str]] = [("most time", "jobs", "real median", "longest", "sum", "CPU", "CPU/real")]
    for name in order:
        program = found[name]
        real, used = program.real_time_seconds, program.cpu_seconds
        share = None if used is None or not real.sum else used / real.sum
        rows.append(
            (
                one_line(name),
                str(program.jobs),
                *figures(
                    *((getattr(real, part), format_seconds) for part in ("median", "max", "sum")),
                    (used, format_seconds),
                    (share, format_ratio),
                ),
            )
        )
    return aligned(fitting(rows, style.width, ("jobs", "longest"))) if len(rows) > 1 else []


def _time_of_jobs(program: ProgramFigures) -> float | None:
    """The jobs' time by their waits, which is thread time; by their real time where a part is not known."""
    seconds = list(msgspec.structs.astuple(program.wait))
    real: float | None = program.real_time_seconds.sum
    return real if None in seconds else sum(seconds)


MOST_LINES = 45
MOST_HEADLINES = 3
"""Lines of a headline.  Both are of lines of full width."""
MOST_ROLES = 7
MOST_PROGRAMS = 5
MOST_PERIODS = 5
LEAST_NEXT_STEPS = 4
"""Lines that failures and findings get before programs do, the empty one included."""
MOST_FINDINGS = 5
LONGEST_WORD = 30
"""Of a line that is too long: a longer path would leave no room for what is said of it."""

PAINTS: dict[str, Paint] = {
    "YES": "good",
    "YES, preliminary": "warning",
    "publishable": "good",
    "completed": "good",
    "no shared resource": "good",
    "NO": "bad",
    "NO, preliminary": "bad",
    "invalid": "bad",
    "failed": "bad",
    "aborted": "bad",
    "interrupted": "bad",
    "NOT KNOWN": "warning",
    "not known": "warning",
    "preliminary": "warning",
    "running": "warning",
}
"""First words of a line to their colour; others are strong."""


def render(
    view: RunView,
    summary: Summary,
    outline: Outline | None = None,
    style: Style = PLAIN,
    name: str | None = None,
    place: str | None = None,
) -> str:
    """A run and its summary of ``judged`` on one screen.

    Without ``outline`` it has no sparklines.  ``name`` is what ``mawl report`` finds the run by, ``place``
    what a command finds it by from anywhere, as a shell takes them (default: its id).
    """
    step = next_of(summary, place or one_line(summary.run_id)) if isinstance(summary, Judged) else None
    parts = [
        [line for label, text in headlines(summary, step) for line in _headline(label, text, style)],
        _head(view, summary, style),
        _periods(view, summary, style),
        sparklines(outline, style),
        throughput(summary.io, style, imported=summary.kind == "imported"),
        _roles(view, summary, style),
    ]
    rest = ["", *_command_for_more(name or one_line(summary.run_id), style)]
    most = _lines_at_width(MOST_LINES, style)
    shown = _joined(parts)
    room = most - len(shown) - len(rest) - LEAST_NEXT_STEPS
    shown = _joined([*parts, programs(summary.programs, min(room - 2, MOST_PROGRAMS), style)])
    room = most - len(shown) - len(rest)
    next_steps = _next_steps(summary, min(room - 1, MOST_FINDINGS), style.width)
    lines = [*shown, *(["", *next_steps] if next_steps else [])]
    return "\n".join([*lines[: most - len(rest)], *rest])


def _joined(parts: Sequence[list[str]]) -> list[str]:
    """The parts with an empty line between each two."""
    return "\n\n".join("\n".join(part) for part in parts if part).split("\n")


def _headline(name: str, text: str, style: Style) -> list[str]:
    """The first word in its colour, and no more lines than a headline may have."""
    lines = labelled(name, text, style.width)
    if name != "next":  # a command is whole, or no command
        lines = _cut_to_lines(lines, _lines_at_width(MOST_HEADLINES, style), style.width)
    word = min(text.partition(":")[0], text.partition(";")[0], key=len)
    label, rest = f"{style.paint(name, 'strong')}{lines[0][len(name) : LABEL_WIDTH]}", lines[0][LABEL_WIDTH:]
    if rest.startswith(word):
        rest = style.paint(word, PAINTS.get(word, "strong")) + rest[len(word) :]
    return [label + rest, *lines[1:]]


def _second(instant: str) -> str:
    return f"{instant[:10]} {instant[11:19]} UTC"


def _phases_text(time: Time) -> str:
    phases = time.elapsed_seconds, time.active_seconds, time.tail_seconds
    if phases == (None, None, None):
        return "not known"
    return "{} = {} active + {} tail".format(*figures(*((phase, format_seconds) for phase in phases)))


def _head(view: RunView, summary: Summary, style: Style) -> list[str]:
    jobs, time = summary.jobs, summary.time
    nodes = [node_text(node) for node in summary.nodes[:1]]
    if len(summary.nodes) > 1:
        nodes[0] += f"; and {counted_noun(len(summary.nodes) - 1, 'more node')}"
    peak, mean = figures((jobs.peak_concurrent, format_count), (jobs.mean_concurrent, format_ratio))
    real, memory = (
        sum_text(summary, field, form)
        for field, form in (("real_time_seconds", format_seconds), ("memory_bytes", format_memory))
    )
    cpu = ", ".join(f"{label} {sum_text(summary, field, format_seconds)}" for label, field in cpu_parts(time))
    caps, queue = cap_sentence(summary), queue_words(summary)
    lines = [
        ("run", f"{summary.run_id} ({summary.kind}, mawl {summary.mawl_version})"),
        ("outcome", f"{outcome_text(summary)}; started {_second(summary.started_at)}"),
        *([] if summary.outcome == "completed" else [("recorded", recorded_text(summary))]),
        ("workload", workload_text(view, summary)),
        *(("system", text) for text in nodes),
        *([("nodes", node_sentences(summary)[0])] if summary.cluster else []),
        *([("caps", caps)] if caps else []),
        ("jobs", f"{jobs_text(summary)}; at once: peak {peak}, mean {mean}"),
        ("elapsed", periods_text(summary) or _phases_text(time)),
        (
            counted_noun(jobs.counted, "job"),
            f"real time {real} in sum, {cpu}, CPU/real {ratio_text(summary)}, memory {memory}",
        ),
    ]
    lines += [("queue", queue)] if queue else []
    if summary.kind == "imported" and not jobs.total:  # recordings alone
        lines[-3:] = recorded_host(summary)
    elif summary.kind == "imported":
        lines += recorded_host(summary)[1:]
    head = [
        line
        for name, text in lines
        for line in (_headline(name, text, style) if name == "outcome" else _head_line(name, text, style))
    ]
    return [*head, *_waits(summary, style)]


def _roles(view: RunView, summary: Summary, style: Style) -> list[str]:
    """The table of roles, or of their devices."""
    tables = (table_lines(table, view, summary, style.width) for table in (ROLES, ROLE_DEVICES))
    return [line for lines in tables for line in lines][:MOST_ROLES]


def _periods(view: RunView, summary: Summary, style: Style) -> list[str]:
    """The first periods of an import that is not one run."""
    more = len(summary.time.periods) - MOST_PERIODS
    lines = table_lines(PERIODS, view, summary, style.width)[: MOST_PERIODS + 1]
    return lines + ([f"and {counted_noun(more, 'more period')}"] if more > 0 else [])


def recorded_host(summary: Summary) -> list[tuple[str, str]]:
    """How long the host was recorded, how busy its processors were, and what its devices moved."""
    elapsed, block = summary.time.elapsed_seconds, summary.host
    long = periods_text(summary) or (None if elapsed is None else f"{format_seconds(elapsed)} of the host")
    lines = [("recorded", long or "the files do not say how long")]
    if block is None:
        return lines
    busy, iowait, steal = figures(
        *((getattr(block, f"cpu_{kind}_ratio"), format_percent) for kind in ("busy", "iowait", "steal"))
    )
    read, written = figures(
        *(
            (getattr(summary.io.device.run_mean, f"{way}_bytes_per_second"), format_rate)
            for way in ("read", "write")
        )
    )
    text = f"processors {busy} busy, {iowait} iowait, {steal} steal; devices read {read}, wrote {written}"
    observed = summary.time.observed
    when = "on average"
    if observed is not None:
        first, last = (
            getattr(observed, f"{name}_at")[:16].replace("T", " ") for name in ("started", "ended")
        )
        when = f"from {first} to {last} UTC"
    return [*lines, ("host", f"{text}, {when}")]


def _head_line(name: str, text: str, style: Style) -> list[str]:
    """A line of the head: the label is strong, and nothing else."""
    lines = _cut_to_lines(
        labelled(name, text, style.width), _lines_at_width(MOST_HEADLINES, style), style.width
    )
    return [style.paint(name, "strong") + lines[0][len(name) :], *lines[1:]]


def _waits(summary: Summary, style: Style) -> list[str]:
    """Shares of the jobs' time, in one line; nothing where waits were not measured."""
    wait = summary.wait
    if wait is None:
        return []
    if summary.kind == "imported":
        return _head_line("waits", bounded_waits(wait), style)
    shares = ", ".join(f"{name} {figure(share, format_percent)}" for name, share in wait_shares(wait.shares))
    without = figure(summary.cpu_real_ratio.without_run_queue, format_ratio)
    text = f"{shares} of the jobs' time; CPU/real without waiting for processors {without}"
    for contained in filter(None, (memory_in_waits(summary), mapped_in_waits(summary))):
        text += f"; {contained}"
    return _head_line("waits", text, style)


def _next_steps(summary: Summary, room: int, width: int) -> list[str]:
    """Damaged tables, what stays, failures, then findings with their cures, as many lines as have room."""
    first = [remark for remark in summary.remarks if DAMAGED in remark or STAYS in remark]
    lines = [f"remark: {remark}" for remark in first]
    lines += [
        f"{failure.outcome.replace('_', ' ')}: {failure.job}: {failure.reason or 'no reason'}"
        for failure in summary.failures
    ]
    findings = summary.validity.findings if summary.validity else []
    # Several findings of a rule may have one cure.
    lines += dict.fromkeys(f"{one.rule}: {one.cure}" for one in findings if one.severity != "remark")
    lines += [f"remark: {remark}" for remark in summary.remarks if remark not in first]
    if room < 1 or not lines:
        return []
    kept = lines if len(lines) <= room else lines[: room - 1]
    shown = [_shortened(one_line(line), width) for line in kept]
    if len(kept) < len(lines):
        shown.append(f"and {len(lines) - len(kept)} more")
    return shown


def _command_for_more(name: str, style: Style) -> list[str]:
    text = f"mawl report {name} --all: every table, finding and what is missing"
    return [style.paint(line, "quiet") for line in wrapped(text, style.width, "  ")]


def _lines_at_width(most: int, style: Style) -> int:
    """How many lines of the style's width hold what ``most`` lines of full width do."""
    return math.ceil(most * LINE_WIDTH / style.width)


def _cut_to_lines(lines: list[str], most: int, width: int) -> list[str]:
    """No more lines than ``most``; an ellipsis says that there was more."""
    if len(lines) <= most:
        return lines
    return [*lines[: most - 1], _shortened(lines[most - 1] + " " + lines[most].strip(), width)]


def _shortened(line: str, width: int) -> str:
    """The line within the width: long paths by their ends, then cut between words."""
    if len(line) > width:
        words = line.split(" ")
        line = " ".join(word if len(word) <= LONGEST_WORD else "..." + word[-LONGEST_WORD:] for word in words)
    if len(line) <= width:
        return line
    return line[: width - 2].rsplit(" ", 1)[0] + "..."
