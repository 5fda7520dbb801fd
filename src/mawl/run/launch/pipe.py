"""The pipe from jobs and their keepers to the runner: JSON lines, written and read whole."""

from __future__ import annotations

import os
import select

import msgspec

from mawl.records.model.messages import Failed, FromLauncher, decode_from_launcher, line

PIPE_BUF = select.PIPE_BUF
_SHORTENED = 2000


class Reporter:
    """Writes each message with one ``write``, so that lines of different jobs never mix.

    A line that would be too long for that is replaced by a ``Failed``
    that says so.  A runner that is gone is no error here: the launcher's own end follows.
    """

    def __init__(self, descriptor: int, job: str) -> None:
        self._descriptor, self.job = descriptor, job

    def __call__(self, message: FromLauncher) -> None:
        text = line(message)
        if len(text) > PIPE_BUF and isinstance(message, Failed):
            text = line(msgspec.structs.replace(message, sentence=_shorten(message.sentence)))
        if len(text) > PIPE_BUF:
            kind = type(message).__name__
            sentence = f"the job's message {kind} of {len(text)} bytes is longer than a pipe carries at once"
            text = line(Failed(job=self.job, sentence=f"{sentence} ({PIPE_BUF} bytes); shorten its answer"))
        try:
            os.write(self._descriptor, text)
        except BrokenPipeError:
            return


def _shorten(sentence: str) -> str:
    """Both ends of a long sentence; in ASCII, because JSON may need six bytes for a character."""
    plain = sentence.encode("ascii", "replace").decode().replace("\\", "/").replace('"', "'")
    plain = "".join(character if character.isprintable() else " " for character in plain)
    return plain[: _SHORTENED // 2] + " ... " + plain[-_SHORTENED // 2 :]


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
