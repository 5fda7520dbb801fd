"""Where ``mawl probe`` keeps what it found: the last probe stays until the new one has figures."""

from __future__ import annotations

import errno
import stat
import tempfile
from pathlib import Path

from mawl.errors import UsageError
from mawl.model.probe import Probe, ProbeTest
from mawl.store.probe import probe_content, write_probe


class ProbeOutput:
    """The file of ``--output``: a regular one is replaced whole after each test, through links.

    What is no regular file (a pipe, a terminal) is written to, once, by :meth:`finish`, and
    never replaced.  Raises :class:`~mawl.errors.UsageError` for a place that cannot be written, before
    any work and without changing it.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._path = Path(name)
        self._last: Probe | None = None
        try:
            self._streams = self._path.exists() and not stat.S_ISREG(self._path.stat().st_mode)
            if self._streams:
                if self._path.is_block_device():
                    raise OSError(errno.EINVAL, "it is a block device")
                self._stream = self._path.open("wb")
                return
            self._path = self._path.resolve()
            with tempfile.TemporaryFile(dir=self._path.parent):
                pass
        except (OSError, RuntimeError) as error:
            told = error.strerror if isinstance(error, OSError) else None
            raise UsageError(
                "cannot be written",
                where=name,
                why=(told or str(error)).lower(),
                cure="name a file in a directory that you may write to: --output FILE",
            ) from None

    @property
    def tests(self) -> int:
        """The tests with figures that are kept, or will be by :meth:`finish`."""
        return 0 if self._last is None else len(measured(self._last))

    def keep(self, found: Probe) -> None:
        """Take the whole after a test; one without any figures is not worth what the file holds."""
        if not measured(found):
            return
        self._last = found
        if not self._streams:
            write_probe(self._path, found)

    def finish(self) -> None:
        """Write to what is no regular file; raises OSError."""
        if not self._streams:
            return
        with self._stream:
            if self._last is not None:
                self._stream.write(probe_content(self._last))


def measured(probe: Probe) -> list[ProbeTest]:
    """The tests of all targets that gave figures."""
    return [
        test
        for target in probe.targets
        for test in target.tests
        if test.read is not None or test.write is not None
    ]
