"""The system as a drawing: boxes in layers, with a line from each to what it uses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import wrap
from typing import NamedTuple

from markupsafe import Markup

from mawl.analysis.system_layers import Drawn, layers
from mawl.analysis.view import RunView
from mawl.reporters.html.figures import ShownFigures
from mawl.reporters.html.templating import fill
from mawl.spec.program_options import ROLES
from mawl.units import format_bits

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
    """The drawing; empty if the run does not know what holds its roles."""
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
        layers=_named(found, arrays=arrays is not None),
        alternative=described(found),
        link=format_bits(8 * link) if link else "",
    )


def _named(found: Sequence[Sequence[Drawn]], *, arrays: bool) -> str:
    """What the layers are, from the top."""
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


def _few(layer: Sequence[Drawn]) -> list[Drawn]:
    """A layer of at most :data:`MOST_BOXES`: of more, the last box stands for the rest."""
    if len(layer) <= MOST_BOXES:
        return list(layer)
    rest = layer[MOST_BOXES - 1 :]
    roles = tuple(dict.fromkeys(role for box in rest for role in box.roles))
    uses = tuple(sorted({place for box in rest for place in box.uses}))
    return [*layer[: MOST_BOXES - 1], Drawn((f"and {len(rest)} more",), roles, uses)]


def placed(found: Sequence[Sequence[Drawn]]) -> tuple[list[list[PlacedBox]], list[str], float]:
    """Boxes row by row, the paths of the lines between them, and the height of the whole."""
    found = [_few(layer) for layer in found]
    rows: list[list[PlacedBox]] = []
    top = 1.0
    for row in found:
        width = min((WIDTH - 2 - GAP * (len(row) - 1)) / len(row), WIDEST_BOX)
        texts = [list(_fitted(box.lines, width)) for box in row]
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
    return rows, list(_lines(found, rows)), top - BETWEEN + 1


def _lines(found: Sequence[Sequence[Drawn]], rows: Sequence[Sequence[PlacedBox]]) -> Iterator[str]:
    for at, row in enumerate(found[:-1]):
        below = rows[at + 1]
        for box, place in zip(row, rows[at], strict=True):
            for use in dict.fromkeys(min(one, len(below) - 1) for one in box.uses):
                start, end = place.x + place.width / 2, below[use].x + below[use].width / 2
                high, low = place.y + place.height, below[use].y
                middle = (high + low) / 2
                bend = f"{start:.1f} {middle:.1f} {end:.1f} {middle:.1f}"
                yield f"M{start:.1f} {high:.1f}C{bend} {end:.1f} {low:.1f}"


def _fitted(lines: Sequence[str], width: float) -> Iterator[str]:
    """Texts in lines that fit a box; one that takes more than :data:`MOST_LINES` ends in an ellipsis."""
    most = max(int((width - STRIPE - 2 * EDGE) / LETTER), 4)
    for text in lines:
        parts = wrap(text, most, break_on_hyphens=False)
        if len(parts) > MOST_LINES:
            last = parts[MOST_LINES - 1]
            parts = [*parts[: MOST_LINES - 1], f"{last[: most - 1]}…"]
        yield from parts
