"""Watching a run: a line that is rewritten on a terminal, plain lines elsewhere."""

from __future__ import annotations

import errno
import io

import msgspec
import pytest

from mawl.commands.progress import PlainView, TerminalView, status_line, view
from mawl.records.model.records import Usage
from mawl.run.runner.request import Status
from tests.fakes.stored_run import jobs

STATUS = Status(
    elapsed_seconds=12.0,
    sessions=20,
    open_sessions=18,
    jobs=71,
    waiting=30,
    running=35,
    ended=6,
    failed=0,
    read_bytes_per_second=1.21e9,
    written_bytes_per_second=3.1e8,
)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_the_status_fits_a_terminal_of_80_columns_and_has_every_figure() -> None:
    line = status_line(STATUS)
    assert len(line) <= 80
    for part in ("18/20 sessions", "6/71 jobs", "35 running", "0 failed", "r 1.21 GB/s"):
        assert part in line


def test_without_a_terminal_there_are_plain_lines_every_five_seconds() -> None:
    stream = io.StringIO()
    watcher = view(stream)
    assert type(watcher) is PlainView
    for seconds in (1.0, 4.9, 5.0, 6.0, 10.1):
        watcher.status(msgspec.structs.replace(STATUS, elapsed_seconds=seconds))
    watcher.close()
    assert "\x1b" not in stream.getvalue()
    assert "\r" not in stream.getvalue()
    assert len(stream.getvalue().splitlines()) == 2


def test_a_terminals_line_is_rewritten_and_gone_at_the_end() -> None:
    stream = Terminal()
    watcher = view(stream)
    assert type(watcher) is TerminalView
    watcher.status(STATUS)
    watcher.notice("stopping")
    watcher.status(STATUS)
    watcher.close()
    assert stream.getvalue().count("\n") == 1
    assert stream.getvalue().endswith("\r\x1b[K")


def test_only_jobs_that_ended_badly_get_a_line() -> None:
    stream = io.StringIO()
    watcher = PlainView(stream)
    well = next(job for job in jobs() if job.outcome == "finished")
    watcher.job_ended(well)
    watcher.job_ended(msgspec.structs.replace(well, outcome="failed", reason="work is full", usage=Usage()))
    assert stream.getvalue() == f"{well.job}: failed: work is full\n"


class Gone(io.StringIO):
    """A terminal that was closed, or a file without room."""

    def __init__(self, error: Exception, *, terminal: bool) -> None:
        super().__init__()
        self.error, self.terminal, self.tried = error, terminal, 0

    def isatty(self) -> bool:
        return self.terminal

    def write(self, text: str) -> int:
        self.tried += 1
        raise self.error


@pytest.mark.parametrize("terminal", [True, False])
@pytest.mark.parametrize("error", [OSError(errno.EIO, "gone"), BrokenPipeError(), ValueError("closed")])
def test_a_terminal_that_is_gone_ends_the_view_and_not_the_run(error: Exception, terminal: bool) -> None:
    stream = Gone(error, terminal=terminal)
    seen = view(stream)
    seen.launching("zygote", 4)
    seen.status(STATUS)
    seen.notice("text")
    seen.job_ended(msgspec.structs.replace(jobs()[0], outcome="failed", reason="it failed"))
    seen.close()
    assert stream.tried == 1, "what is gone is not asked again"
