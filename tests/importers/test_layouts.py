"""Every layout of SAS logs read with its truth, in every encoding and with every line end.

A log that ends with a line of a note: whole where notes end so, cut where those of its platform go on.
"""

from __future__ import annotations

import io

import pytest

from mawl.importers.formats.saslog import read_log
from mawl.importers.formats.saslog_records import PerformanceNote
from mawl.records.model.records import FIELDS, Usage
from tests.importers.layout import BANNER, Layout, Note
from tests.importers.layouts import LAYOUTS

ENCODINGS = ("utf-8", "utf-8-sig", "cp1252", "utf-16", "utf-16-le", "utf-16-be")
MORE = ("rows_read", "rows_written", "variables_written", "ended_at", "step_count", "switch_count")


def read(content: bytes) -> tuple[list[PerformanceNote], list[tuple[int, str]]]:
    """The notes of a log, and line and reason of what was skipped."""
    skipped: list[tuple[int, str]] = []
    entries = read_log(io.BytesIO(content), lambda line, reason, text: skipped.append((line, reason)))
    return [entry for entry in entries if isinstance(entry, PerformanceNote)], skipped


def truth(note: Note) -> tuple[object, ...]:
    return (note.kind, note.name, Usage(**note.usage), *(note.more.get(name) for name in MORE))  # type: ignore[arg-type]


def found(note: PerformanceNote) -> tuple[object, ...]:
    return (note.kind, note.name, note.usage, *(getattr(note, name) for name in MORE))


@pytest.mark.parametrize("name", LAYOUTS)
def test_every_note_of_a_layout_has_its_figures_and_no_others(name: str) -> None:
    layout = LAYOUTS[name]
    notes, skipped = read(layout.text.encode())
    assert [found(note) for note in notes] == [truth(note) for note in layout.notes]
    assert sorted({line for line, _ in skipped}) == layout.skipped
    headings = [line for line, text in enumerate(layout.text.split("\n"), 1) if " used" in text]
    assert {note.line for note in notes} <= set(headings)


@pytest.mark.parametrize("name", LAYOUTS)
@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_line_ends_change_nothing(name: str, end: str) -> None:
    layout = LAYOUTS[name]
    notes, skipped = read(layout.text.replace("\n", end).encode())
    assert [found(note) for note in notes] == [truth(note) for note in layout.notes]
    assert sorted({line for line, _ in skipped}) == layout.skipped


@pytest.mark.parametrize("name", LAYOUTS)
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_encodings_change_nothing(name: str, encoding: str) -> None:
    layout = LAYOUTS[name]
    notes, _ = read(layout.text.encode(encoding, "replace"))
    assert [found(note) for note in notes] == [truth(note) for note in layout.notes]


class Trickle(io.RawIOBase):
    """A stream that gives a few bytes at a time, whatever is asked."""

    def __init__(self, content: bytes, most: int) -> None:
        self._content, self._most, self._at = content, most, 0

    def read(self, size: int = -1) -> bytes:
        part = self._content[self._at : self._at + min(self._most, size)]
        self._at += len(part)
        return part


@pytest.mark.parametrize("name", LAYOUTS)
@pytest.mark.parametrize("most", [1, 7, 64, 1000])
def test_where_the_stream_is_cut_into_parts_does_not_matter(name: str, most: int) -> None:
    layout: Layout = LAYOUTS[name]
    entries = read_log(Trickle(layout.text.encode(), most), lambda *_: None)  # type: ignore[arg-type]
    notes = [entry for entry in entries if isinstance(entry, PerformanceNote)]
    assert [found(note) for note in notes] == [truth(note) for note in layout.notes]


def test_the_truth_names_fields_of_a_usage() -> None:
    named = {name for layout in LAYOUTS.values() for note in layout.notes for name in note.usage}
    assert named <= set(FIELDS)


WITHOUT_A_DOUBTFUL_END = (
    "stimer",
    "linux",
    "linux_93",
    "unix_92",
    "windows",
    "windows_82",
    "unix_612",
    "zos",
    "studio",
    "view",
)
COUNTS_AT_THE_END = {
    "linux": "block_output_operations",
    "linux_93": "block_output_operations",
    "unix_92": "block_output_operations",
    "studio": "block_output_operations",
    "unix_612": "block_output_operations involuntary_context_switches",
    "windows": "step_count switch_count",
}


def ends_of(name: str) -> list[str]:
    """The layout up to each of its notes that stands below a heading, without what follows the note."""
    lines = LAYOUTS[name].text.split("\n")
    blocks = []
    for number, line in enumerate(lines):
        if line.rstrip().endswith((" used:", "process time):", "following resources:")):
            end = next(at for at in range(number, len(lines)) if not lines[at].strip())
            blocks.append("\n".join(lines[:end]))
    return blocks


@pytest.mark.parametrize("name", WITHOUT_A_DOUBTFUL_END)
@pytest.mark.parametrize("end", ["", "\n", "\n\n", "\r\n"])
def test_a_log_that_ends_with_its_note_is_whole(name: str, end: str) -> None:
    """A last count without a line end may lack digits: it alone is left out, and that is told."""
    for log in ends_of(name):
        notes, skipped = read((log + end).encode())
        expected = truth(LAYOUTS[name].notes[len(notes) - 1])
        if "initialization" in log.split("NOTE:")[-1] and name == "linux_93":
            continue
        assert not any(note.cut for note in notes)
        lost = "" if end else COUNTS_AT_THE_END.get(name, "")
        assert bool(skipped) == bool(lost)
        if not lost:
            assert found(notes[-1]) == expected
        else:
            assert found(notes[-1])[:2] == expected[:2]
            whole = LAYOUTS[name].notes[len(notes) - 1].usage
            kept = {field: value for field, value in whole.items() if field not in lost.split()}
            assert notes[-1].usage == Usage(**kept)  # type: ignore[arg-type]


@pytest.mark.parametrize("last", ["user cpu time       0.01 seconds", "memory              13.00k"])
def test_a_log_that_ends_before_the_last_line_of_its_note_is_cut(last: str) -> None:
    log = LAYOUTS["windows"].text
    assert "      memory" in log
    content = log[: log.index("      memory")] + f"      {last}\n"
    notes, skipped = read(content.replace("user cpu time       10.00", "user cpu time       0.01").encode())
    assert [note.cut for note in notes] == [True]
    assert "ends within this note" in skipped[0][1]


LINES = (
    "      real time           12.50 seconds\n",
    "      user cpu time       10.00 seconds\n",
    "      system cpu time     1.25 seconds\n",
    "      memory              677.15k\n",
    "      OS Memory           25560.00k\n",
    "      Timestamp           11/20/2026 12:00:05 AM\n",
    "      Step Count                        3  Switch Count  41\n",
)
HEADING = "NOTE: PROCEDURE SORT used (Total process time):\n"
WINDOWS = BANNER.replace("Linux 3.10.0-957.el7.x86_64 (LIN X64)", "X64_SRV12")
NO_BANNER = ""


def block(lines: int) -> str:
    return HEADING + "".join(LINES[:lines])


@pytest.mark.parametrize("lines", [5, 6], ids=["OS Memory", "Timestamp"])
@pytest.mark.parametrize("end", ["\n", ""], ids=["a line end", "no line end"])
@pytest.mark.parametrize("banner", [WINDOWS, NO_BANNER], ids=["Windows", "no banner"])
def test_windows_before_94_ends_there_and_so_may_a_log_of_an_unknown_platform(
    banner: str, end: str, lines: int
) -> None:
    (note,), skipped = read((banner + block(lines)).rstrip("\n").encode() + end.encode())
    assert not note.cut
    assert note.usage.os_memory_bytes == 26173440
    (doubt,) = skipped
    assert "more lines of the note may be missing" in doubt[1]


@pytest.mark.parametrize("lines", [5, 6], ids=["OS Memory", "Timestamp"])
def test_unix_goes_on_with_counts_so_that_its_log_is_cut(lines: int) -> None:
    (note,), skipped = read((BANNER + block(lines)).encode())
    assert note.cut
    assert any("ends within this note" in reason for _, reason in skipped)


@pytest.mark.parametrize("lines", [5, 6], ids=["OS Memory", "Timestamp"])
def test_a_log_whose_other_notes_go_on_is_cut(lines: int) -> None:
    first, second = read((block(7) + "      \n\n" + block(lines)).encode())[0]
    assert (first.cut, second.cut) == (False, True)


def test_a_log_whose_other_notes_end_so_is_whole() -> None:
    first, second = read((block(6) + "      \n\n" + block(6)).encode())[0]
    assert (first.cut, second.cut) == (False, False)
    assert [note.cut for note in read((block(6) + "      \n\n" + block(5)).encode())[0]] == [False, True]


@pytest.mark.parametrize("lines", [1, 2, 3, 4])
@pytest.mark.parametrize("banner", [WINDOWS, BANNER, NO_BANNER])
def test_no_note_ends_before_its_memory(banner: str, lines: int) -> None:
    (note,), _ = read((banner + block(lines)).encode())
    assert note.cut


def test_a_blank_line_ends_any_note() -> None:
    (note,), skipped = read((BANNER + block(6) + "      \n").encode())
    assert not note.cut and not skipped
