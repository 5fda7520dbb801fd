"""The tables of the report, and the note beside the I/O figures."""

from __future__ import annotations

import msgspec
import pytest

from mawl.figures.io import DeviceBytes
from mawl.figures.series import CounterChange
from mawl.records.model.records import Usage
from mawl.reports.run_tables.jobs import CPU_ACCOUNT, PROGRAMS
from mawl.reports.tables import _cached, io, table_lines
from tests.fakes.stored_run import MOVED, facts, job, jobs
from tests.fakes.views import BARE, as_summary, summary_of


def note(read: float, written: float, *, wrote: int = 1000) -> str:
    """What stands below the I/O table of a run with these reaches."""
    usage = Usage(
        application_read_bytes=1000,
        application_written_bytes=wrote,
        own_read_bytes=round(1000 * read),
        charged_written_bytes=round(wrote * written) + 500,
        cancelled_written_bytes=500,
    )
    moved = DeviceBytes(
        "block device sda", CounterChange(1000 * read, 1.0), CounterChange(wrote * written, 1.0)
    )
    found = summary_of(facts(), [job("s1-1", 0.0, 1.0, usage=usage)], moved=moved)
    return " ".join(_cached(as_summary(found).io))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (note(1.0, 0.8), ""),
        (
            note(0.0, 0.0, wrote=0),
            "Only 0 % of the bytes read reached a device: the page cache served most of it",
        ),
        (note(0.0, 0.1), "Only 0 % of the bytes read and 10 % of the bytes written reached a device"),
        (
            note(0.0, 0.1),
            "so this run says nothing about storage; run with --cache none",
        ),
        (
            note(0.79, 1.0),
            "the page cache served the rest, so this run says little about reading from storage",
        ),
        (note(1.0, 0.3), "Only 30 % of the bytes written reached a device"),
        (note(1.0, 0.3), "so this run says nothing about writing to storage"),
    ],
)
def test_a_run_that_the_page_cache_served_says_so(text: str, says: str) -> None:
    assert says in text if says else text == ""


def test_the_mean_over_the_run_stands_beside_the_bytes() -> None:
    head, application, device, _ = io(as_summary(summary_of(facts(), jobs(), moved=MOVED)))[:4]
    assert "mean read" in head
    assert application.split()[-6:] == ["66.1", "MB/s", "16.5", "MB/s", "82.6", "MB/s"]
    assert device.split()[-2:] == ["49.6", "MB/s"]


def test_a_run_without_figures_has_dashes_and_no_note() -> None:
    empty = [msgspec.structs.replace(record, usage=Usage()) for record in jobs()]
    lines = io(as_summary(summary_of(facts(), empty)))
    assert not _cached(as_summary(summary_of(facts(), empty)).io)
    assert lines[1].split() == ["application", *["-"] * 6]


def test_the_programs_table_says_which_figures_are_sums() -> None:
    assert table_lines(PROGRAMS, BARE, as_summary(summary_of(facts(), jobs())))[-1].endswith(
        "real time of one job, sum of CPU, largest memory"
    )


def test_the_launcher_is_said_to_be_part_of_mawl_itself() -> None:
    lines = table_lines(CPU_ACCOUNT, BARE, as_summary(summary_of(facts(), jobs())))
    said = " ".join(" ".join(lines[-2:]).split())
    assert said.startswith(
        "mawl itself, with the launcher above: 2.50 s of CPU, 3.0 % of its sum with the jobs'; "
    )
