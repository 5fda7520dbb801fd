"""Sections of a run's report on the system, on what is missing, and on what the figures mean."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from textwrap import wrap
from typing import NamedTuple

import msgspec
from markupsafe import Markup

from mawl.base.units import (
    counted_noun,
    format_bits,
    format_bytes,
    format_memory,
    format_percent,
    format_plain,
    format_seconds,
)
from mawl.figures.job_sums import gaps
from mawl.figures.layers import Drawn, layers
from mawl.figures.view import RunView
from mawl.records.model.run import NodeFacts, RunFacts
from mawl.records.model.summary.storage import VolumeFigures
from mawl.records.spec.program_options import AUTO, ROLES, Options
from mawl.reports.html.figures import (
    Cell,
    ShownFigures,
    Terms,
    absent,
    breakable,
    folded,
    paragraph,
    part,
    table,
    tables_in,
)
from mawl.reports.html.page import fill
from mawl.reports.layout import ABSENT, Form, by_reason, figure
from mawl.reports.run_lines import scale_text

WIDTH, WIDEST_BOX = 360, 230
"""Units of the drawing, about pixels on a phone: its text is then as large as the rest of the page."""
GAP, BETWEEN, LINE, EDGE, STRIPE = 8, 30, 15, 8, 5
LETTER = 6.6
"""Width of a letter, on the safe side of the mean of usual fonts at this size."""
MOST_BOXES, MOST_LINES = 4, 2
"""Boxes of a layer; lines of one text in a box."""


class PlacedBox(NamedTuple):
    """A box of the drawing with its lines, the colours of its roles, and its place."""

    x: float
    y: float
    width: float
    height: float
    lines: Sequence[str]
    stripes: Sequence[tuple[str, float, float]]
    whole: str


def drawing(figures: ShownFigures, view: RunView) -> Markup:
    arrays = figures.summary.arrays
    found = layers(view.facts, arrays.volumes if arrays else ())
    if not found:
        return Markup()
    rows, lines, height = placed(found)
    link = view.facts.link_bytes_per_second
    return fill(
        "system_drawing.html",
        width=WIDTH,
        height=f"{height:.0f}",
        boxes=[box for row in rows for box in row],
        lines=lines,
        roles=[role for role in ROLES if any(role in box.roles for row in found for box in row)],
        layers=_named_parts(found, arrays=arrays is not None),
        alternative=described(found),
        link=format_bits(8 * link) if link else "",
    )


def _named_parts(found: Sequence[Sequence[Drawn]], *, arrays: bool) -> str:
    devices = len(found) > 2 + arrays
    return ", ".join(["nodes", "file systems", *["devices"] * devices, *["arrays"] * arrays])


def described(found: Sequence[Sequence[Drawn]]) -> str:
    """The drawing as a sentence for each box, for readers who cannot see it."""
    sentences = []
    for at, row in enumerate(found):
        for box in row:
            used = [found[at + 1][place].lines[0] for place in box.uses]
            sentences.append(f"{', '.join(box.lines)}{': on ' + ' and '.join(used) if used else ''}.")
    return " ".join(sentences)


def _at_most_boxes(layer: Sequence[Drawn]) -> list[Drawn]:
    if len(layer) <= MOST_BOXES:
        return list(layer)
    rest = layer[MOST_BOXES - 1 :]
    roles = tuple(dict.fromkeys(role for box in rest for role in box.roles))
    uses = tuple(sorted({place for box in rest for place in box.uses}))
    return [*layer[: MOST_BOXES - 1], Drawn((f"and {len(rest)} more",), roles, uses)]


def placed(found: Sequence[Sequence[Drawn]]) -> tuple[list[list[PlacedBox]], list[str], float]:
    """Boxes row by row, the paths of the lines between them, and the height of the whole."""
    found = [_at_most_boxes(layer) for layer in found]
    rows: list[list[PlacedBox]] = []
    top = 1.0
    for row in found:
        width = min((WIDTH - 2 - GAP * (len(row) - 1)) / len(row), WIDEST_BOX)
        texts = [list(_lines_in_box(box.lines, width)) for box in row]
        height = max(map(len, texts)) * LINE + 2 * EDGE
        left = (WIDTH - len(row) * width - GAP * (len(row) - 1)) / 2
        rows.append(
            [
                PlacedBox(
                    x=left + at * (width + GAP),
                    y=top,
                    width=width,
                    height=height,
                    lines=text,
                    stripes=[
                        (role, top + nth * height / len(box.roles), height / len(box.roles))
                        for nth, role in enumerate(box.roles)
                    ],
                    whole=", ".join(box.lines),
                )
                for at, (box, text) in enumerate(zip(row, texts, strict=True))
            ]
        )
        top += height + BETWEEN
    return rows, list(_connectors(found, rows)), top - BETWEEN + 1


def _connectors(found: Sequence[Sequence[Drawn]], rows: Sequence[Sequence[PlacedBox]]) -> Iterator[str]:
    for at, row in enumerate(found[:-1]):
        below = rows[at + 1]
        for box, place in zip(row, rows[at], strict=True):
            for use in dict.fromkeys(min(one, len(below) - 1) for one in box.uses):
                start, end = place.x + place.width / 2, below[use].x + below[use].width / 2
                high, low = place.y + place.height, below[use].y
                middle = (high + low) / 2
                bend = f"{start:.1f} {middle:.1f} {end:.1f} {middle:.1f}"
                yield f"M{start:.1f} {high:.1f}C{bend} {end:.1f} {low:.1f}"


def _lines_in_box(lines: Sequence[str], width: float) -> Iterator[str]:
    """Texts in lines that fit a box; one that takes more than ``MOST_LINES`` ends in an ellipsis."""
    most = max(int((width - STRIPE - 2 * EDGE) / LETTER), 4)
    for text in lines:
        parts = wrap(text, most, break_on_hyphens=False)
        if len(parts) > MOST_LINES:
            last = parts[MOST_LINES - 1]
            parts = [*parts[: MOST_LINES - 1], f"{last[: most - 1]}…"]
        yield from parts


COST_FIGURES: dict[str, tuple[str, Form]] = {
    "CPU of mawl itself, launcher included": ("cpu_seconds", format_seconds),
    "share of the CPU of mawl and jobs": ("cpu_ratio", format_percent),
    "of it before the start, however long the run": ("startup_cpu_seconds", format_seconds),
    "cores after the start": ("running_cpu_ratio", format_plain),
    "memory of mawl itself": ("peak_memory_bytes", format_memory),
    "written while jobs ran": ("written_bytes", format_bytes),
}


def system(figures: ShownFigures, view: RunView) -> Markup:
    """Facts a reader needs to judge or repeat the run."""
    return part(
        "system",
        "System, settings and options",
        drawing(figures, view),
        _run(figures, view.facts),
        _nodes(figures),
        _volumes(figures.summary.volumes),
        _name_value_table("Options of the run", _options(figures.summary.workload.options)),
        folded("Settings of the machine and software", _settings(view.facts)),
        *tables_in("system", figures, view),
        _cost_table(figures),
    )


def _run(figures: ShownFigures, facts: RunFacts) -> Markup:
    summary = figures.summary
    workload = summary.workload
    mode = summary.start_mode
    cells: list[tuple[str, Cell]] = [
        ("run", summary.run_id),
        ("kind", f"{summary.kind}, by mawl {summary.mawl_version}, format {summary.format_version}"),
        ("workload", f"{workload.name}: {workload.title}" if workload.title else workload.name),
        (
            "scale",
            _absent(figures, "workload.scale")
            if workload.scale is None
            else scale_text(workload.scale_name, workload.scale),
        ),
        ("start of jobs", mode or _absent(figures, "start_mode")),
        ("began, ended", f"{summary.started_at}, {summary.ended_at or _not_ended(figures)}"),
        (
            "outcome",
            summary.outcome + (f": {summary.outcome_reason}" if summary.outcome_reason else ""),
        ),
        ("command", fill("code.html", text=" ".join(facts.command)) if facts.command else ABSENT),
    ]
    return fill("facts.html", facts=cells)


def _not_ended(figures: ShownFigures) -> str:
    return f"not known ({figures.reason(('ended_at',))})" if figures.imported else "not yet"


def _absent(figures: ShownFigures, path: str) -> Cell:
    """In words where that is the rule of such runs, else a dash; with the reason."""
    reason = figures.reason(path.split("."))
    return f"not known ({reason})" if figures.imported else absent(reason)


def _nodes(figures: ShownFigures) -> Markup:
    head = ("node", "processor", "cores", "counted as", "memory", "kernel", "held to")
    rows = [
        (
            node.name,
            node.cpu_model or ABSENT,
            figure(node.cores, format_plain),
            node.core_basis or ABSENT,
            figures.show(format_memory, "nodes", number, "memory_bytes"),
            node.kernel or ABSENT,
            _limits_of_node(node),
        )
        for number, node in enumerate(figures.summary.nodes)
    ]
    return table("Nodes", head, rows, words=(1,), texts=(3, 5, 6)) if rows else Markup()


def _limits_of_node(node: NodeFacts) -> str:
    held = []
    if node.cpus_used is not None:
        held.append(f"{len(node.cpus_used)} CPUs")
    if node.cpu_quota is not None:
        held.append(f"CPU quota {node.cpu_quota:g}")
    if node.memory_limit_bytes is not None:
        held.append(format_memory(node.memory_limit_bytes))
    return ", ".join(held) or "nothing"


def _volumes(volumes: Iterable[VolumeFigures]) -> Markup:
    rows = [
        (
            volume.role,
            volume.node,
            volume.directory,
            volume.file_system or ABSENT,
            volume.mount_point or ABSENT,
            ", ".join(volume.devices) or volume.reason or ABSENT,
            ", ".join(volume.shared_with) or "no role",
        )
        for volume in volumes
    ]
    head = ("role", "node", "directory", "file system", "mounted at", "devices", "shared with")
    return table("What holds the roles", head, rows, words=(2, 5), texts=(1, 3, 4, 6)) if rows else Markup()


def _options(options: Options | None) -> dict[str, object]:
    if options is None:
        return {}
    shown = {
        name.removesuffix("_bytes"): format_memory(value) if name.endswith("_bytes") else value
        for name, value in msgspec.structs.asdict(options).items()
    }
    return {**shown, "cpucount": "auto"} if options.cpucount == AUTO else shown


def _settings(facts: RunFacts) -> Markup:
    roles = {f"directories of {role}": ", ".join(facts.roles.get(role, [])) for role in ROLES}
    settings = {
        name: facts.missing.get(f"settings.{name}", ABSENT) if value is None else value
        for name, value in facts.settings.items()
    }
    pool = {} if facts.arrow_pool is None else {"memory pool of Arrow": facts.arrow_pool}
    return _name_value_table("Settings", {**roles, **settings}) + _name_value_table(
        "Software", {**facts.software, **pool}
    )


def _name_value_table(caption: str, values: Mapping[str, object]) -> Markup:
    rows = [(name, ABSENT if value is None else str(value)) for name, value in values.items()]
    return table(caption, ("name", "value"), rows, words=(1,), narrow=True) if rows else Markup()


def _cost_table(figures: ShownFigures) -> Markup:
    own, _ = figures.told(COST_FIGURES, lambda named: [figures.value("overhead", named[0])])
    costs = [
        (figures.term(label, f"overhead.{field}"), figures.show(form, "overhead", field))
        for label, (field, form) in own.items()
    ]
    return table("What mawl itself cost", ("figure", "value"), costs, narrow=True) if costs else Markup()


PART_WORDS = {
    "storage": "storage",
    "compressibility": "compression",
    "host": "host",
    "io.by_role": "I/O by role",
}
"""Block of a summary to the part of the page that is not there where the block is null."""


def missing(figures: ShownFigures) -> Markup:
    """Every part and figure that is not there, with its reason; nothing where all are."""
    found = gaps(figures.summary)
    rows = [
        (why, Markup(", ").join(map(breakable, paths))) for why, paths in by_reason(found.items()).items()
    ]
    absent = [
        (words, figures.reason(path.split(".")))
        for path, words in PART_WORDS.items()
        if figures.value(*path.split(".")) is None
    ]
    if not rows and not absent:
        return Markup()
    words = paragraph("A dash marks a figure that was not measured; it is never zero. Each has its reason.")
    parts = table("Parts that this report does not have, and why", ("part", "why"), absent, words=(0, 1))
    every = table("Why figures are missing, and which", ("why", "figures"), rows, words=(0, 1))
    return part(
        "missing",
        f"What is missing: {counted_noun(len(found), 'figure')}, and why",
        words,
        *([parts] if absent else []),
        *([every] if rows else []),
    )


def definitions(figures: Terms) -> Markup:
    """The glossary of the figures that the page has named; made last."""
    metrics = figures.glossary()
    return part("definitions", "What the figures mean", fill("glossary.html", metrics=metrics))
