"""The file of ``mawl probe --output``: an old probe stays until the new one has figures."""

from __future__ import annotations

from mawl.records.model.probe import Probe, ProbeTest
from mawl.records.store.beside import probe_content
from mawl.records.store.output import OutputFile


class ProbeOutput:
    """The file of ``--output``, which is replaced whole after each test; see ``OutputFile``.

    A pipe, a terminal or a standard stream gets the content once, from ``finish``.  Raises
    ``UsageError`` for a place that cannot be written, before any work.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._file = OutputFile(name)
        self._last: Probe | None = None

    @property
    def tests(self) -> int:
        return 0 if self._last is None else len(measured(self._last))

    def keep(self, found: Probe) -> None:
        """Take the whole after a test; one without any figures is not worth what the file holds."""
        if not measured(found):
            return
        self._last = found
        if not self._file.is_stream:
            self._file.write(probe_content(found))

    def finish(self) -> None:
        """Write to a pipe, a terminal or a standard stream.

        Raises ``UnsuitableMachineError`` if that fails.
        """
        with self._file as file:
            if file.is_stream and self._last is not None:
                file.write(probe_content(self._last))


def measured(probe: Probe) -> list[ProbeTest]:
    """The tests of all targets that gave figures."""
    return [
        test
        for target in probe.targets
        for test in target.tests
        if test.read is not None or test.write is not None
    ]
