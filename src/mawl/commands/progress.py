"""Progress of a run on a terminal: one line that is rewritten, or plain lines where there is no terminal."""

from __future__ import annotations

import shutil
import sys
from typing import TextIO

from mawl.base.units import format_rate, format_seconds
from mawl.records.model.records import JobRecord
from mawl.records.spec.program_options import StartMode
from mawl.run.runner.request import Listener, Status

PLAIN_SECONDS = 5.0


def view(stream: TextIO | None = None) -> PlainView:
    """The view that fits where output goes (standard error, so that standard output stays clean)."""
    stream = stream or sys.stderr
    return TerminalView(stream) if stream.isatty() else PlainView(stream)


def status_line(status: Status) -> str:
    """Elapsed, open sessions, jobs ended, running, failed and throughput: 80 columns hold it."""
    return (
        f"{format_seconds(status.elapsed_seconds):>7} {status.open_sessions}/{status.sessions} sessions, "
        f"{status.ended}/{status.jobs} jobs, {status.running} running, {status.failed} failed, "
        f"r {format_rate(status.read_bytes_per_second)} w {format_rate(status.written_bytes_per_second)}"
    )


class PlainView(Listener):
    """Plain lines: at each failure and notice, and a status every five seconds."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self._next_seconds = PLAIN_SECONDS
        self._gone = False

    def launching(self, mode: StartMode, jobs: int) -> None:
        self._say(f"starting ({mode}), making {jobs} job{'' if jobs == 1 else 's'} ready for the gate")

    def status(self, status: Status) -> None:
        if status.elapsed_seconds >= self._next_seconds:
            self._next_seconds = status.elapsed_seconds + PLAIN_SECONDS
            self._say(status_line(status))

    def job_ended(self, record: JobRecord) -> None:
        if record.outcome not in ("finished", "not_started"):
            self._say(failure_line(record))

    def notice(self, text: str) -> None:
        self._say(text)

    def close(self) -> None:
        """The run is over: nothing of the view stays in the way of the report."""

    def _say(self, text: str) -> None:
        self._write(f"{text}\n")

    def _write(self, text: str) -> None:
        """Show it; a terminal that is gone or a full disk behind the stream ends the view, never the run."""
        if self._gone:
            return
        try:
            self.stream.write(text)
            self.stream.flush()
        except (OSError, ValueError):  # ValueError: somebody closed the stream
            self._gone = True


class TerminalView(PlainView):
    """A status line rewritten once a second below the lines that stay; it vanishes at the end."""

    def status(self, status: Status) -> None:
        width = shutil.get_terminal_size().columns
        self._write(f"\r\x1b[K{status_line(status)[: width - 1]}")

    def close(self) -> None:
        self._write("\r\x1b[K")

    def _say(self, text: str) -> None:
        self._write(f"\r\x1b[K{text}\n")


def failure_line(record: JobRecord) -> str:
    return f"{record.job}: {record.outcome.replace('_', ' ')}: {record.reason}"
