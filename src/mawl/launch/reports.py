"""The writing end of the pipe that a launcher and all its jobs share."""

from __future__ import annotations

import os
import select

import msgspec

from mawl.model.messages import Failed, FromLauncher, line

PIPE_BUF = select.PIPE_BUF
_SHORTENED = 2000


class Reporter:
    """Writes each message with one ``write``, so that lines of different jobs never mix.

    A line that would be too long for that is replaced by a :class:`~mawl.model.messages.Failed`
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
