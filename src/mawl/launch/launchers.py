"""Two launchers as one: the programs' own, and a bare one for the commands among a run's jobs."""

from __future__ import annotations

import contextlib
import select
from collections.abc import Sequence

import msgspec

from mawl.launch.interface import JobLauncher
from mawl.model.messages import FromLauncher, Hello, Start, Stop, ToLauncher
from mawl.model.usage import Usage, total


class Launchers:
    """A :class:`~mawl.launch.interface.JobLauncher` that sends each job where it is started.

    A command cannot start from the zygote, since it would inherit the zygote's peak of memory.  The
    two greet as one, when both are ready; one that is lost is the loss of both.
    """

    def __init__(self, programs: JobLauncher, commands: JobLauncher) -> None:
        self._every: Sequence[JobLauncher] = (programs, commands)
        self._programs, self._commands = programs, commands
        self._of_job: dict[str, JobLauncher] = {}
        self._hellos: list[Hello] = []
        self._either = select.epoll()
        for launcher in self._every:
            self._either.register(launcher.fileno(), select.EPOLLIN)

    @property
    def lost(self) -> str | None:
        """Why one of them is lost; None while both live."""
        return next((launcher.lost for launcher in self._every if launcher.lost is not None), None)

    @property
    def complaints(self) -> list[str]:
        """Those of both."""
        return [text for launcher in self._every for text in launcher.complaints]

    def send(self, message: ToLauncher) -> None:
        """To the launcher of the message's job; the release of a gate to both."""
        if isinstance(message, Start):
            chosen = self._programs if message.command is None else self._commands
            self._of_job[message.assignment.job] = chosen
            chosen.send(message)
        elif isinstance(message, Stop):
            self._of_job[message.job].send(message)
        else:
            for launcher in self._every:
                launcher.send(message)

    def fileno(self) -> int:
        """Readable when either has something to tell (epoll(7))."""
        return self._either.fileno()

    def receive(self) -> list[FromLauncher]:
        """What both have told since the last call; one greeting of two."""
        told: list[FromLauncher] = []
        for launcher in self._every:
            for message in launcher.receive():
                if isinstance(message, Hello):
                    self._hellos.append(message)
                else:
                    told.append(message)
            if launcher.lost is not None:
                # Its end stays readable for ever, and the loop would never sleep again.
                with contextlib.suppress(OSError, ValueError):
                    self._either.unregister(launcher.fileno())
        if len(self._hellos) == len(self._every):
            first = min(self._hellos, key=lambda hello: hello.mode == "bare")
            told.insert(0, msgspec.structs.replace(first, usage=total(hello.usage for hello in self._hellos)))
            self._hellos.clear()
        return told

    def usage(self) -> Usage:
        """What both have used so far."""
        return total(launcher.usage() for launcher in self._every)

    def close(self, timeout_seconds: float = 10.0) -> Usage:
        """End both; what they used together."""
        usages = [launcher.close(timeout_seconds) for launcher in self._every]
        self._either.close()
        return total(usages)
