"""What the runner needs of a launcher; the real one is :class:`mawl.launch.client.Launcher`."""

from __future__ import annotations

from typing import Protocol

from mawl.model.messages import FromLauncher, ToLauncher
from mawl.model.usage import Usage


class JobLauncher(Protocol):
    """Starts jobs and reports on them; a fake of it runs jobs by script on a fake clock."""

    @property
    def lost(self) -> str | None:
        """Why nothing more can come from the launcher, in one sentence; None while it lives."""

    @property
    def complaints(self) -> list[str]:
        """A sentence for each line from the launcher that could not be understood, so far."""

    def send(self, message: ToLauncher) -> None:
        """Ask for something; nothing happens when the launcher is lost."""

    def fileno(self) -> int:
        """A descriptor that is readable when :meth:`receive` has something, or the end, to tell."""

    def receive(self) -> list[FromLauncher]:
        """What has come since the last call, in order; never waits."""

    def usage(self) -> Usage:
        """What the launcher itself has used so far (no job's use)."""

    def close(self, timeout_seconds: float = 10.0) -> Usage:
        """End everything it started, and itself; its own use, keepers included."""
