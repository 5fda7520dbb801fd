"""Print the diagrams of the guides as SVG from tools/diagrams.toml: boxes on a grid, arrows and frames.

``make reference`` writes them to docs/images.  A text that is wider than its box is refused.
"""

from __future__ import annotations

import html
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from mawl.base.units import format_percent

DATA = Path(__file__).parent / "diagrams.toml"
INSTALL_GUIDE = Path(__file__).parents[1] / "docs" / "guides" / "install.md"

WIDTH = 960
MARGIN = 24
ACROSS, DOWN = 44, 48
"""Free space between columns, and between rows: an arrow with its label, or the head of a frame."""
PADDING = 12
LINE = 18
CORNER = 24
"""An arrow that turns leaves its box so far from the corner."""
BAR_HEIGHT, BAR_STEP = 24, 36
BAR_TEXT = 330
WIDEST_LETTER = {14: 7.8, 12: 6.7}
"""Pixels of a letter by font size, on average in a wide font."""

STYLE = """\
    .page { fill: #ffffff; stroke: #c9ced6 }
    .box { fill: #eef2f8; stroke: #5b6b85 }
    .work { fill: #d7e5f5; stroke: #4c78a8 }
    .store { fill: #fbf3e6; stroke: #a07a2f }
    .limit { fill: #fdeee6; stroke: #b4521e }
    .frame { fill: none; stroke: #5b6b85; stroke-dasharray: 5 4 }
    .line { stroke: #5b6b85; fill: none; stroke-width: 1.5 }
    .arrow { fill: #5b6b85 }
    .bar { fill: #4c78a8 }
    text { font: 14px system-ui, sans-serif; fill: #1b2330 }
    .small { font-size: 12px; fill: #4a5568 }
    @media (prefers-color-scheme: dark) {
      .page { fill: #1b2029; stroke: #39424f }
      .box { fill: #2a3240; stroke: #8b9bb5 }
      .work { fill: #24405e; stroke: #6ea0d6 }
      .store { fill: #3d3420; stroke: #c9a45c }
      .limit { fill: #47291b; stroke: #e08a4f }
      .frame { stroke: #8b9bb5 }
      .line { stroke: #8b9bb5 }
      .arrow { fill: #8b9bb5 }
      .bar { fill: #6ea0d6 }
      text { fill: #e6eaf0 }
      .small { fill: #aeb8c6 }
    }"""


class Box(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A box at [column, row], counted from 0, over ``span`` columns; ``small`` are lines below its text."""

    at: tuple[int, int]
    text: str
    small: list[str] = []
    span: int = 1
    kind: Literal["box", "work", "store", "limit"] = "box"


class Arrow(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """From one box to another, by name."""

    start: str
    end: str
    label: str = ""


class Frame(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A dashed frame around boxes, with its text above them."""

    text: str
    around: list[str]


class Diagram(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What one picture shows; ``about`` says it to people who do not see it."""

    title: str
    about: str
    columns: int
    boxes: dict[str, Box]
    arrows: list[Arrow] = []
    frames: list[Frame] = []


class Place(msgspec.Struct, frozen=True):
    """Where a box is, in pixels."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def middle(self) -> tuple[float, float]:
        """Its centre."""
        return (self.left + self.right) / 2, (self.top + self.bottom) / 2


def files() -> dict[Path, str]:
    """Every diagram by its place below the root."""
    images = Path("docs") / "images"
    found = {images / f"{name}.svg": drawn(one) for name, one in diagrams().items()}
    return {**found, images / "install-sizes.svg": sizes(INSTALL_GUIDE.read_text())}


def diagrams() -> Mapping[str, Diagram]:
    """The diagrams by name."""
    return msgspec.convert(tomllib.loads(DATA.read_text()), dict[str, Diagram])


def drawn(diagram: Diagram) -> str:
    """A diagram as SVG; raises ValueError for a text that does not fit and for a name that is none."""
    named = [name for arrow in diagram.arrows for name in (arrow.start, arrow.end)]
    named += [name for frame in diagram.frames for name in frame.around]
    if unknown := sorted(set(named) - set(diagram.boxes)):
        raise ValueError(f"{diagram.title}: no box is called {', '.join(unknown)}")
    places = _places(diagram)
    parts = [line for frame in diagram.frames for line in _frame(frame, places)]
    parts += [line for arrow in diagram.arrows for line in _arrow(arrow, places)]
    parts += [line for name, box in diagram.boxes.items() for line in _box(box, places[name])]
    height = max(place.bottom for place in places.values()) + MARGIN
    return _page(diagram.title, diagram.about, height, parts)


def sizes(guide: str) -> str:
    """The measured table of the install guide as bars: MiB in all, by what is installed."""
    rows = [
        [cell.strip().strip("`") for cell in line.strip("|").split("|")]
        for line in guide.splitlines()
        if line.startswith("| `mawl")
    ]
    most = max(int(row[2]) for row in rows)
    room = WIDTH - BAR_TEXT - 2 * MARGIN - 70
    parts = []
    for number, (name, _, size, _) in enumerate(rows):
        top = MARGIN + number * BAR_STEP
        wide = room * int(size) / most
        label = name if len(name) < 30 else "all of them"
        base = top + BAR_HEIGHT / 2 + 5
        parts += [
            _text(label, MARGIN, base),
            f'<rect class="bar" x="{BAR_TEXT}" y="{top}" width="{wide:.0f}" height="{BAR_HEIGHT}"/>',
            _text(f"{size} MiB", BAR_TEXT + wide + 8, base),
        ]
    about = "; ".join(f"{row[0]}: {row[2]} MiB" for row in rows)
    return _page("What each part takes", about, MARGIN + len(rows) * BAR_STEP + 12, parts)


def _places(diagram: Diagram) -> dict[str, Place]:
    wide = (WIDTH - 2 * MARGIN - ACROSS * (diagram.columns - 1)) / diagram.columns
    rows = 1 + max(box.at[1] for box in diagram.boxes.values())
    heights = [
        max(2 * PADDING + LINE * (1 + len(box.small)) for box in diagram.boxes.values() if box.at[1] == row)
        for row in range(rows)
    ]
    framed = any(diagram.boxes[name].at[1] == 0 for frame in diagram.frames for name in frame.around)
    above = MARGIN + (LINE + PADDING if framed else 0)
    tops = [above + sum(heights[:row]) + DOWN * row for row in range(rows)]
    return {
        name: Place(
            left := MARGIN + box.at[0] * (wide + ACROSS),
            tops[box.at[1]],
            left + wide * box.span + ACROSS * (box.span - 1),
            tops[box.at[1]] + heights[box.at[1]],
        )
        for name, box in diagram.boxes.items()
    }


def _box(box: Box, place: Place) -> list[str]:
    room = place.right - place.left - 2 * PADDING
    for text, size in [(box.text, 14), *((line, 12) for line in box.small)]:
        if len(text) * WIDEST_LETTER[size] > room:
            share = format_percent(room / (len(text) * WIDEST_LETTER[size]))
            raise ValueError(f"only {share} of this text fits into its box: {text!r}")
    x, y = place.left + PADDING, place.top + PADDING + 13
    lines = [_text(line, x, y + LINE * number, small=True) for number, line in enumerate(box.small, 1)]
    return [_rectangle(box.kind, place), _text(box.text, x, y), *lines]


def _frame(frame: Frame, places: Mapping[str, Place]) -> list[str]:
    held = [places[name] for name in frame.around]
    around = Place(
        min(one.left for one in held) - PADDING,
        min(one.top for one in held) - LINE - PADDING,
        max(one.right for one in held) + PADDING,
        max(one.bottom for one in held) + PADDING,
    )
    text = _text(frame.text, around.left + PADDING, around.top + 17, small=True)
    return [_rectangle("frame", around), text]


def _arrow(arrow: Arrow, places: Mapping[str, Place]) -> list[str]:
    start, end = places[arrow.start], places[arrow.end]
    if start.top == end.top:
        y = start.middle[1]
        ends = (start.right, end.left) if start.left < end.left else (start.left, end.right)
        path, label = f"M{ends[0]:.0f} {y:.0f} H{ends[1]:.0f}", (min(ends) + 4, y - 7)
    else:
        down = start.top < end.top
        first, last = (start.bottom, end.top) if down else (start.top, end.bottom)
        low, high = max(start.left, end.left), min(start.right, end.right)
        if low < high:
            from_x = to_x = (low + high) / 2
        else:  # from the side that faces the end
            from_x = start.right - CORNER if start.right <= end.left else start.left + CORNER
            to_x = end.middle[0]
        turn = last - DOWN / 2 if down else last + DOWN / 2
        path = f"M{from_x:.0f} {first:.0f} V{turn:.0f} H{to_x:.0f} V{last:.0f}"
        label = (to_x + 7, turn + 5 if from_x == to_x else turn - 6)
    line = f'<path class="line" d="{path}" marker-end="url(#end)"/>'
    return [line, *([_text(arrow.label, *label, small=True)] if arrow.label else [])]


def _page(title: str, about: str, height: float, parts: Sequence[str]) -> str:
    head = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" role="img" '
        'aria-labelledby="title about">',
        f'  <title id="title">{html.escape(title)}</title>',
        f'  <desc id="about">{html.escape(about)}</desc>',
        "  <style>",
        STYLE,
        "  </style>",
        '  <defs><marker id="end" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
        'orient="auto"><path class="arrow" d="M0 0 L8 4 L0 8 z"/></marker></defs>',
        f'  <rect class="page" x="1" y="1" width="{WIDTH - 2}" height="{height - 2:.0f}" rx="8"/>',
    ]
    return "\n".join([*head, *(f"  {part}" for part in parts), "</svg>"]) + "\n"


def _rectangle(kind: str, place: Place) -> str:
    return (
        f'<rect class="{kind}" x="{place.left:.0f}" y="{place.top:.0f}" rx="6" '
        f'width="{place.right - place.left:.0f}" height="{place.bottom - place.top:.0f}"/>'
    )


def _text(text: str, x: float, y: float, *, small: bool = False) -> str:
    kind = ' class="small"' if small else ""
    return f'<text{kind} x="{x:.0f}" y="{y:.0f}">{html.escape(text)}</text>'
