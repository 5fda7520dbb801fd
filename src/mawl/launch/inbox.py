"""Messages out of a pipe's bytes; what is no message becomes a sentence, never an error."""

from __future__ import annotations

import os

import msgspec

from mawl.launch.reports import PIPE_BUF
from mawl.model.messages import FromLauncher, decode_from_launcher

_READ_BYTES = 1 << 16
_MOST_COMPLAINTS = 100


class Inbox:
    """The reading end of the pipe that a launcher and its jobs share."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._pending = b""
        self._messages: list[FromLauncher] = []
        self.complaints: list[str] = []
        self.ended = False

    def take(self) -> list[FromLauncher]:
        """Everything that has come and was not taken yet, in order."""
        messages, self._messages = self._messages, []
        return messages

    def drain(self) -> list[FromLauncher]:
        """Read what the pipe holds now, without waiting; the new messages (they stay to be taken)."""
        before = len(self._messages)
        while not self.ended:
            try:
                data = os.read(self._descriptor, _READ_BYTES)
            except BlockingIOError:
                break
            self.ended = not data
            self._split(data)
        return self._messages[before:]

    def _split(self, data: bytes) -> None:
        *lines, self._pending = (self._pending + data).split(b"\n")
        for text in lines:
            try:
                self._messages.append(decode_from_launcher(text))
            except (msgspec.MsgspecError, UnicodeDecodeError):
                self._complain(text)
        # No message is longer than a pipe takes at once: more is garbage that may never end.
        if self._pending and (self.ended or len(self._pending) > PIPE_BUF):
            self._complain(self._pending)
            self._pending = b""

    def _complain(self, text: bytes) -> None:
        if len(self.complaints) < _MOST_COMPLAINTS:
            start = text[:80].decode("ascii", "replace")
            self.complaints.append(
                f"{len(text)} bytes on the launcher's pipe are no message and were left out: {start!r}"
            )
