"""Logs that were cut, split by page headers, wrapped, re-encoded and mixed: no crash, nothing invented."""

from __future__ import annotations

import io

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from mawl.importers.formats.saslog import read_log
from mawl.importers.formats.saslog_records import PerformanceNote
from mawl.records.model.records import FIELDS
from tests.importers.layouts import LAYOUTS
from tests.importers.test_layouts import read

LOGS = {name: layout.text.encode() for name, layout in LAYOUTS.items()}
NAMES = st.sampled_from(sorted(LOGS))
WHOLE = NAMES.filter(lambda name: name not in ("look_alikes", "cut"))
"""Without those that have figures under no heading."""

PAGE = b"\f7                     The SAS System             10:00 Friday, November 20, 2026\n\n"


def figures(note: PerformanceNote) -> dict[str, float]:
    """All figures that a note has."""
    own = {name: value for name in FIELDS if (value := getattr(note.usage, name)) is not None}
    more = msgspec.structs.asdict(note)
    return own | {
        name: more[name] for name in ("ended_at", "step_count", "switch_count") if more[name] is not None
    }


def assert_of(notes: list[PerformanceNote], whole: list[PerformanceNote]) -> None:
    """Each note is one of the whole log, by its line, and all its figures are that one's."""
    by_line = {note.line: note for note in whole}
    for note in notes:
        true = by_line[note.line]
        assert (note.kind, note.name) == (true.kind, true.name)
        assert figures(note).items() <= figures(true).items()


@settings(max_examples=300, deadline=None)
@given(NAMES, st.data())
def test_a_log_cut_anywhere_has_no_figure_that_the_whole_log_lacks(name: str, data: st.DataObject) -> None:
    log = LOGS[name]
    end = data.draw(st.integers(0, len(log)))
    notes, skipped = read(log[:end])
    assert_of(notes, read(log)[0])
    complete = [note for note in notes if not note.cut]
    assert all(any(line == note.line for line, _ in skipped) for note in notes if note.cut)
    assert len(complete) >= len(notes) - 1


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(["stimer", "linux", "windows", "unix_612", "studio", "view", "sessions"]), st.data())
def test_page_headers_between_any_two_lines_change_nothing(name: str, data: st.DataObject) -> None:
    lines = LOGS[name].split(b"\n")
    places = data.draw(st.lists(st.integers(0, len(lines)), max_size=6))
    for place in sorted(places, reverse=True):
        # A header before a line of blanks stands where SAS itself would begin a page: after it.
        lines[place:place] = PAGE.split(b"\n")[:2]
    notes, _ = read(b"\n".join(lines))
    assert [(note.kind, note.name, figures(note)) for note in notes] == [
        (note.kind, note.name, figures(note)) for note in read(LOGS[name])[0]
    ]


@settings(max_examples=200, deadline=None)
@given(WHOLE, WHOLE, st.integers(0, 2**32 - 1))
def test_two_logs_in_one_give_each_others_notes_or_none(one: str, other: str, seed: int) -> None:
    """One after the other nothing is lost; line by line mixed, a note that has two values is left out."""
    first, second = read(LOGS[one])[0], read(LOGS[other])[0]
    together = read(LOGS[one] + b"\n" + LOGS[other])[0]
    assert [figures(note) for note in together] == [figures(note) for note in [*first, *second]]
    values = {value for note in [*first, *second] for value in figures(note).values()}
    pieces = [LOGS[one].split(b"\n"), LOGS[other].split(b"\n")]
    mixed, bits = [], seed
    while pieces[0] or pieces[1]:
        side = pieces[bits & 1] or pieces[1 - (bits & 1)]
        mixed.append(side.pop(0))
        bits = (bits >> 1) or seed | 1
    for note in read(b"\n".join(mixed))[0]:
        assert set(figures(note).values()) <= values


@settings(max_examples=300, deadline=None)
@given(NAMES, st.lists(st.tuples(st.integers(0, 10**6), st.binary(max_size=12)), max_size=8))
def test_damaged_bytes_crash_nothing(name: str, damage: list[tuple[int, bytes]]) -> None:
    content = bytearray(LOGS[name])
    for place, put in damage:
        at = place % len(content)
        content[at : at + len(put)] = put
    for note in read(bytes(content))[0]:
        assert figures(note)


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=3000), NAMES)
def test_noise_before_a_log_crashes_nothing(noise: bytes, name: str) -> None:
    entries = list(read_log(io.BytesIO(noise + b"\n" + LOGS[name]), lambda *_: None))
    assert all(entry.line >= 1 for entry in entries)
