"""A log that ends with a line of a note: whole where notes end so, cut where those of its platform go on."""

from __future__ import annotations

import pytest

from tests.importers.layout import BANNER
from tests.importers.test_layouts import read

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
