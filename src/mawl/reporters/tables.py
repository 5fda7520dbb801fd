"""The tables of the long report: times, programs, I/O and the CPU account."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from mawl.analysis.io import cached_directions
from mawl.model.summary.io import Io, OwnBytes
from mawl.model.summary.summary import Summary
from mawl.reporters.columns import LINE_WIDTH, stacked, wrapped
from mawl.reporters.figure import Form, cpu_parts, figures
from mawl.reporters.head import labelled, periods_text
from mawl.reporters.sums import ratio_text, sum_text
from mawl.units import (
    counted_noun,
    format_bytes,
    format_memory,
    format_percent,
    format_rate,
    format_ratio,
    format_seconds,
)

SHARES = {"read": "of the bytes read", "write": "of the bytes written"}
MOSTLY = 0.5
ALONE = {"read": "reading from ", "write": "writing to "}


def times(summary: Summary, width: int = LINE_WIDTH) -> list[str]:
    """Sums over the jobs that count, who does not and why, CPU over real time, and the phases."""
    time, ratio, jobs = summary.time, summary.cpu_real_ratio, summary.jobs
    cpu = cpu_parts(time)
    lines = stacked(
        [
            ("", "real time", *(label for label, _ in cpu), "memory"),
            (
                f"sum over {counted_noun(jobs.counted, 'job')}",
                sum_text(summary, "real_time_seconds", format_seconds),
                *(sum_text(summary, field, format_seconds) for _, field in cpu),
                sum_text(summary, "memory_bytes", format_memory),
            ),
        ],
        width,
    )
    lines += lacking(summary, width)
    left_out = [
        f"{number} {name.replace('_', ' ')}"
        for name, number in msgspec.structs.asdict(jobs.left_out).items()
        if number
    ]
    if left_out:
        text = f"left out of sums and tables (but not of the CPU account): {', '.join(left_out)}"
        lines += wrapped(text, width, "  ")
    ratios = figures(*((getattr(ratio, name), format_ratio) for name in ("mean", "stddev", "range")))
    phases = figures(
        *(
            (getattr(time, f"{name}_seconds"), format_seconds)
            for name in ("elapsed", "active", "tail", "startup")
        )
    )
    per_job = "per job: mean {}, standard deviation {}, range {}".format(*ratios)
    apart = periods_text(summary)
    elapsed = "{} = {} active + {} tail; start-up before it {}".format(*phases) if apart is None else apart
    return [
        *lines,
        *labelled("CPU/real", f"{ratio_text(summary)} of the sums; {per_job}", width),
        *labelled("elapsed", elapsed, width),
    ]


def lacking(summary: Summary, width: int = LINE_WIDTH) -> list[str]:
    """Which sums are not over all jobs that count because some of these lack the figure, and how many do."""
    reasons = {
        name: summary.missing.get(path, "")
        for name, path in (
            ("real time", "time.real_time_seconds"),
            ("CPU", "time.cpu_seconds"),
            ("CPU/real of the sums", "cpu_real_ratio.of_sums"),
            ("user and system CPU in the CPU account", "cpu_account.jobs.user_cpu_seconds"),
        )
    }
    told = [f"not of all jobs, {name}: {why}" for name, why in reasons.items() if " of the " in why]
    return [line for text in told for line in wrapped(text, width, "  ")]


def io(summary: Summary, width: int = LINE_WIDTH) -> list[str]:
    """What programs asked for, what reached the devices, and a note where the page cache stood between."""
    return [*io_totals(summary, width), *dirty_lines(summary, width), *_cached(summary.io, width)]


def io_totals(summary: Summary, width: int = LINE_WIDTH) -> list[str]:
    """The kinds of bytes by direction, each in its own row, and reach."""
    io = summary.io
    rows: list[Sequence[str]] = [
        ("I/O", "read", "written", "read share", "mean read", "mean written", "mean total")
    ]
    for side in ("application", "device"):
        mean = getattr(io, side).run_mean
        rates = [
            (getattr(mean, f"{direction}_bytes_per_second"), format_rate)
            for direction in ("read", "write", "total")
        ]
        rows.append((side, *figures(*_sizes(getattr(io, side)), *rates)))
    rows.append(("own", *figures(*_sizes(io.own)), *[""] * 3))
    rows.append(("dirtied", "", *figures((io.dirtied.written_bytes, format_bytes)), *[""] * 4))
    reached = figures(
        *((getattr(io.reach, f"{direction}_ratio"), format_percent) for direction in ("read", "write"))
    )
    rows.append(("reach (own/application)", *reached, *[""] * 4))
    return stacked(rows, width)


LEAST_FOREIGN_RATIO = 0.01
"""Less of what devices moved than this is not worth a line."""


def _sizes(block: OwnBytes) -> list[tuple[float | None, Form]]:
    return [
        (block.read_bytes, format_bytes),
        (block.written_bytes, format_bytes),
        (block.read_ratio, format_percent),
    ]


def dirty_lines(summary: Summary, width: int = LINE_WIDTH) -> list[str]:
    """What memory still held when the last job had ended, and what others moved at the devices."""
    dirtied, foreign = summary.io.dirtied, summary.io.foreign
    lines = []
    left = dirtied.still_dirty_bytes
    if left:
        lines.append(f"dirtied: {format_bytes(left)} had not reached a device when the last job ended")
    if foreign is not None and foreign.ratio and foreign.ratio >= LEAST_FOREIGN_RATIO:
        moved = format_bytes((foreign.read_bytes or 0) + (foreign.written_bytes or 0))
        lines.append(
            f"device less own: {moved}, {100 * foreign.ratio:.0f} % of device: journals, metadata "
            "and other programs"
        )
    return [line for text in lines for line in wrapped(text, width, "")]


def _cached(block: Io, width: int = LINE_WIDTH) -> list[str]:
    """A sentence where too little reached the devices for the figures to speak of storage."""
    directions = cached_directions(block)
    if not directions:
        return []
    ratios = {direction: getattr(block.reach, f"{direction}_ratio") for direction in directions}
    shares = " and ".join(f"{format_percent(ratio)} {SHARES[name]}" for name, ratio in ratios.items())
    what = ALONE[directions[0]] if len(directions) == 1 else ""
    most, much = ("most of it", "nothing") if max(ratios.values()) < MOSTLY else ("the rest", "little")
    return wrapped(
        f"Only {shares} reached a device: the page cache served {most}, so this run says {much} about "
        f"{what}storage; run with --cache none.",
        width,
        "",
    )
