"""Watches a runner from another process: one that is stopped by a signal cannot say so itself.

The launcher watches the runner of this machine.  ``python -m mawl.run.launch.runner_watch PID SENTENCE``
watches a process without a launcher: the controller of a run on several nodes, or a campaign.
"""

from __future__ import annotations

import contextlib
import os
import select
import subprocess
import sys
from collections.abc import Iterator

from mawl.base.process import die_with_parent
from mawl.measure.processes import is_stopped

LOOK_SECONDS, _LOOKS = 2.0, 3
"""A runner that is found stopped in so many looks in turn is said to be: after 4 to 6 s."""


class RunnerWatch:
    """Says ``sentence`` on the descriptor ``notices`` once each time that a process is found stopped."""

    def __init__(self, pid: int, notices: int, sentence: str) -> None:
        self._pid, self._notices, self._sentence = pid, notices, sentence
        self._looks_stopped = 0

    def look(self) -> None:
        """Look once; call it each ``LOOK_SECONDS``."""
        self._looks_stopped = self._looks_stopped + 1 if is_stopped(self._pid) else 0
        if self._looks_stopped != _LOOKS:
            return
        begin = "\r\x1b[K" if os.isatty(self._notices) else ""
        with contextlib.suppress(OSError):
            if select.select([], [self._notices], [], 0)[1]:  # never wait for who does not read
                os.write(
                    self._notices, f"{begin}{self._sentence}; kill -CONT {self._pid} lets it go on\n".encode()
                )


@contextlib.contextmanager
def watched(sentence: str) -> Iterator[None]:
    """A process that looks at this one, and says the sentence on standard error while this one is stopped.

    Without it a run goes on: where it cannot be made, nobody looks.
    """
    command = [sys.executable, "-P", "-m", __name__, str(os.getpid()), sentence]
    try:
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, start_new_session=True
        )
    except OSError:
        yield
        return
    try:
        yield
    finally:
        process.kill()
        process.communicate()


def main(arguments: list[str]) -> None:
    """Look until standard input ends, as it does when the process that is looked at ends."""
    pid, sentence = int(arguments[0]), arguments[1]
    die_with_parent(pid)  # one that is stopped does not see the end of its input
    watch = RunnerWatch(pid, sys.stderr.fileno(), sentence)
    while not select.select([sys.stdin], [], [], LOOK_SECONDS)[0]:
        watch.look()


if __name__ == "__main__":
    main(sys.argv[1:])
