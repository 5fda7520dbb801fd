"""Notes as SAS breaks them at LINESIZE: the same figures, or a doubtful line, never an invented figure."""

from __future__ import annotations

from textwrap import wrap

from hypothesis import given, settings
from hypothesis import strategies as st

from mawl.importers.formats.saslog_records import PerformanceNote
from tests.importers.layouts import LAYOUTS
from tests.importers.test_hypothesis_logs import PAGE, figures
from tests.importers.test_layouts import read

WHOLE = sorted(set(LAYOUTS) - {"look_alikes", "cut"})
NAMES = st.integers(1, 32).map(lambda length: f"LIBRARY.{'A_LONG_TABLE_NAME_OF_32_LETTERS_'[:length]}")
COUNTS = st.integers(1, 10**12)
ROWS = ("rows_read", "rows_written", "variables_written")
LINESIZES = st.integers(64, 256)
"""What the option LINESIZE may be."""


def broken(log: str, size: int) -> str:
    """The log with its notes broken between words, as SAS does; the lines of a block are never as long."""
    lines = []
    for line in log.split("\n"):
        note = line.lstrip(" \f").startswith(("NOTE: ", "ERROR: "))
        lines += wrap(line, size, subsequent_indent=" " * 6, break_on_hyphens=False) if note else [line]
    return "\n".join(lines)


def chopped(log: str, size: int) -> str:
    """The log with its notes broken at the column, words and numbers with them."""
    lines = []
    for line in log.split("\n"):
        if line.startswith("NOTE: "):
            lines.append(line[:size])
            rest = line[size:]
            while rest:
                lines.append(" " * 6 + rest[: size - 6])
                rest = rest[size - 6 :]
        else:
            lines.append(line)
    return "\n".join(lines)


def all_of(notes: list[PerformanceNote]) -> list[tuple[object, ...]]:
    return [
        (note.kind, note.name, figures(note), *(getattr(note, field) for field in ROWS)) for note in notes
    ]


@st.composite
def step(draw: st.DrawFn) -> str:
    """A PROC step that reads and writes tables with long names."""
    notes = [
        f"NOTE: There were {draw(COUNTS)} observations read from the data set {draw(NAMES)}."
        for _ in range(draw(st.integers(0, 3)))
    ]
    notes += [
        f"NOTE: The data set {draw(NAMES)} has {draw(COUNTS)} observations and {draw(COUNTS)} variables."
        for _ in range(draw(st.integers(0, 3)))
    ]
    notes.append(f"NOTE: View {draw(NAMES)}.VIEW used (Total process time):")
    if draw(st.booleans()):
        notes[-1] = "NOTE: PROCEDURE A_PROCEDURE_OF_A_VERY_LONG_NAME used (Total process time):"
    block = "      real time           1.25 seconds\n      cpu time            0.50 seconds\n      \n"
    return "\n".join(notes) + "\n" + block


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(WHOLE), LINESIZES)
def test_every_layout_gives_the_same_at_any_linesize(name: str, size: int) -> None:
    log = LAYOUTS[name].text
    assert all_of(read(broken(log, size).encode())[0]) == all_of(read(log.encode())[0])


@settings(max_examples=100, deadline=None)
@given(st.lists(step(), min_size=1, max_size=4), LINESIZES)
def test_rows_and_headings_are_whole_again(steps: list[str], size: int) -> None:
    log = "\n".join(steps) + "\n"
    notes, skipped = read(broken(log, size).encode())
    assert len(notes) == len(steps)
    assert all_of(notes) == all_of(read(log.encode())[0])
    assert skipped == []


@settings(max_examples=100, deadline=None)
@given(st.lists(step(), min_size=1, max_size=3), LINESIZES, st.data())
def test_pages_may_begin_within_a_broken_note(steps: list[str], size: int, data: st.DataObject) -> None:
    log = "\n".join(steps) + "\n"
    lines = broken(log, size).split("\n")
    within = [at for at, line in enumerate(lines) if line.startswith("      ") and "time  " not in line]
    places = data.draw(st.sets(st.sampled_from(within), max_size=4)) if within else set()
    for place in sorted(places, reverse=True):
        lines[place:place] = PAGE.decode().split("\n")[:2]
    notes, skipped = read("\n".join(lines).encode())
    assert all_of(notes) == all_of(read(log.encode())[0])
    assert skipped == []


@settings(max_examples=150, deadline=None)
@given(st.lists(step(), min_size=1, max_size=4), LINESIZES)
def test_a_number_that_is_broken_is_said_to_be_unknown(steps: list[str], size: int) -> None:
    """No count is the sum of those notes only that could be read, and nothing is lost without a word."""
    log = "\n".join(steps) + "\n"
    true = read(log.encode())[0]
    notes, skipped = read(chopped(log, size).encode())
    assert len(notes) + len(skipped) >= len(true)
    if len(notes) < len(true):
        return
    for note, whole in zip(notes, true, strict=True):
        assert figures(note) == figures(whole)
        for field in ROWS:
            assert getattr(note, field) in (None, getattr(whole, field))
    lost = any(
        getattr(note, field) != getattr(whole, field)
        for note, whole in zip(notes, true, strict=True)
        for field in ROWS
    )
    assert bool(skipped) >= lost
