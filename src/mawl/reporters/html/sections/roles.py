"""I/O by role: bytes, calls, latency, and its distribution."""

from __future__ import annotations

from markupsafe import Markup

from mawl.reporters.figure import Form, format_count
from mawl.reporters.html.figures import ShownFigures, paragraph, section, table
from mawl.reporters.volumes import shown_volumes, spread_text
from mawl.units import format_bytes, format_latency, format_memory, format_percent

LATENCIES = ("mean", "p50", "p99", "max", "peak")


def roles(figures: ShownFigures, distribution: Markup) -> Markup:
    """A row per role, then the distribution; the reason where I/O by role was not measured."""
    by_role = figures.value("io", "by_role")
    if by_role is None:
        why = paragraph(f"Not measured: {figures.reason(('io', 'by_role'))}.", "why")
        return section("roles", "I/O by role", why, volumes(figures), distribution)
    names = [name for name, role in by_role.items() if name != "other" or role["reads"] or role["writes"]]
    return section(
        "roles",
        "I/O by role",
        _bytes(figures, names),
        _latency(figures, names),
        volumes(figures),
        distribution,
    )


VOLUME_COLUMNS: dict[str, tuple[str, Form]] = {
    "size": ("size_bytes", format_memory),
    "used before": ("used_before_bytes", format_memory),
    "used after": ("used_after_bytes", format_memory),
    "free after": ("free_after_bytes", format_memory),
    "read": ("read_bytes", format_bytes),
    "written": ("written_bytes", format_bytes),
    "share": ("share_ratio", format_percent),
    "device read": ("device_read_bytes", format_bytes),
    "device written": ("device_written_bytes", format_bytes),
    "peak of the run's files": ("peak_used_bytes", format_memory),
}


def volumes(figures: ShownFigures) -> Markup:
    """A row per volume of the roles that have several, and how evenly their bytes lay."""
    shown = {volume.directory for volume in shown_volumes(figures.summary)}
    if not shown:
        return Markup()
    columns, unknown = figures.told(
        VOLUME_COLUMNS, lambda named: [getattr(volume, named[0]) for volume in shown_volumes(figures.summary)]
    )
    head = (
        "role",
        "directory",
        *(figures.term(label, f"volumes.*.{field}") for label, (field, _) in columns.items()),
    )
    rows = [
        (
            volume.role,
            volume.directory,
            *(figures.show(form, "volumes", place, field) for field, form in columns.values()),
        )
        for place, volume in enumerate(figures.summary.volumes)
        if volume.directory in shown
    ]
    spread = spread_text(figures.summary)
    note = paragraph(spread, "quiet") if spread else Markup()
    return table("Volumes of the roles that have several", head, rows, texts=(1,)) + unknown + note


def _bytes(figures: ShownFigures, names: list[str]) -> Markup:
    columns = {
        "reads": ("reads", format_count),
        "writes": ("writes", format_count),
        "read": ("read_bytes", format_bytes),
        "written": ("written_bytes", format_bytes),
        "share": ("share_ratio", format_percent),
        "sequential": ("sequential_ratio", format_percent),
    }
    head = ("role", *(figures.term(label, f"io.by_role.*.{field}") for label, (field, _) in columns.items()))
    rows = [
        (name, *(figures.show(form, "io", "by_role", name, field) for field, form in columns.values()))
        for name in names
    ]
    coverage = figures.show(format_percent, "io", "coverage_ratio")
    note = Markup("{}: {}. ").format(
        figures.term("Bytes counted over bytes that the kernel saw", "io.coverage_ratio"), coverage
    ) + "; ".join(figures.summary.io.unseen)
    return table("Bytes and calls by role", head, rows) + paragraph(note, "quiet")


def _latency(figures: ShownFigures, names: list[str]) -> Markup:
    head = (
        "role, calls",
        *(figures.term(name, f"io.by_role.*.read_latency_seconds.{name}") for name in LATENCIES),
    )
    rows = [
        (
            f"{name}, {direction}s",
            *(
                figures.show(format_latency, "io", "by_role", name, f"{direction}_latency_seconds", figure)
                for figure in LATENCIES
            ),
        )
        for name in names
        for direction in ("read", "write")
    ]
    return table("Latency of calls by role; peak is the highest window mean", head, rows)
