"""JSON output of fio as a probe of the storage (docs/design/imported-host.md)."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath
from typing import BinaryIO

from mawl.base.errors import InvalidFileError
from mawl.importers.formats.fio import FioJob, FioReport, document_starts, parse_fio, probe_test
from mawl.importers.formats.text import byte_chunks, text_of, whole_of
from mawl.importers.interface import Context, Item
from mawl.importers.nmon_snapshot import name_of
from mawl.records.model.probe import Probe, ProbeTarget, ProbeTest
from mawl.records.store.facts import in_calendar

LARGEST_FILE_BYTES = 16 * 2**20
"""Of fio's output with all its histograms a document is some megabytes."""

UNKNOWN = "unknown"
_RECOGNISED = re.compile(rb'\{\s{0,99}"fio version"')


class FioResults:
    """Files that ``fio --output-format=json`` writes, with or without text around them."""

    kind = "fio"
    title = "JSON of fio 2 and 3"

    def recognises(self, first: bytes, name: str) -> float:
        return 1.0 if _RECOGNISED.search(first) else 0.1 if name.endswith(".fio") else 0.0

    def read(self, stream: BinaryIO, context: Context) -> Iterator[Item]:
        """One probe: a target for each directory, a test for each job."""
        content = whole_of(byte_chunks(stream), LARGEST_FILE_BYTES)
        if content is None:
            context.skip(None, f"longer than {LARGEST_FILE_BYTES} bytes: no output of fio")
            return

        def counted() -> None:
            context.blocks += 1

        probe = fio_probe(text_of(bytes(content)), context.file, context.skip, counted)
        if probe is not None:
            context.absolute(probe.created_at)
            yield probe


Skip = Callable[[int | None, str], None]


def fio_probe(text: str, file: str, skip: Skip, counted: Callable[[], None] = lambda: None) -> Probe | None:
    """The probe in a text that holds documents of fio; None, with the reasons, where no test can be used."""
    reports = list(_reports(text, skip, counted))
    tests = _tests(reports, skip)
    return _probe(reports, tests, file, skip) if tests else None


def _reports(text: str, skip: Skip, counted: Callable[[], None]) -> Iterator[FioReport]:
    """The documents that are whole; a report that goes on in the next one (--status-interval) is left out."""
    starts = document_starts(text)
    if not starts:
        skip(None, "no document of fio begins a line")
        return
    last: FioReport | None = None
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        try:
            (report,) = parse_fio(text[start:end])
        except InvalidFileError as error:
            skip(text.count("\n", 0, start) + 1, f"a document of fio is left out: {error.why}")
            continue
        counted()
        if last is not None and not _goes_on(last, report):
            yield last
        last = report
    if last is not None:
        yield last


def _goes_on(before: FioReport, after: FioReport) -> bool:
    """Whether both are of one run of fio: the same jobs, begun before the first of them was written."""
    if [(job.name, job.options) for job in before.jobs] != [(job.name, job.options) for job in after.jobs]:
        return False
    took = max((job.elapsed_seconds or 0.0 for job in after.jobs), default=0.0)
    if before.created_at is None or after.created_at is None:
        return False
    return 0.0 <= after.created_at - before.created_at < took


def _tests(reports: list[FioReport], skip: Skip) -> dict[str, list[ProbeTest]]:
    """The tests of each directory."""
    tests: dict[str, list[ProbeTest]] = {}
    for report in reports:
        entries: dict[tuple[str, int], list[FioJob]] = {}
        for job in report.jobs:
            entries.setdefault((job.name, job.group), []).append(job)
        for jobs in entries.values():
            test = probe_test(jobs)
            if isinstance(test, str):
                skip(None, test)
            else:
                tests.setdefault(_directory(jobs[0]), []).append(test)
    return tests


def _probe(reports: list[FioReport], tests: dict[str, list[ProbeTest]], file: str, skip: Skip) -> Probe:
    known = [at for report in reports if (at := report.created_at) is not None and in_calendar(at)]
    if not known:
        skip(None, "fio's output does not say when it was written: the time of the import is taken")
    began = min(known) if known else time.time()
    return foreign_probe(file, name_of(reports[0].version), began, tests)


def foreign_probe(file: str, tool: str, created_at: float, tests: dict[str, list[ProbeTest]]) -> Probe:
    """A probe of another program: a target for each directory; what its results do not say is unknown."""
    targets = [
        ProbeTarget(
            name=f"{file}: {directory}",
            directory=directory,
            node=UNKNOWN,
            roles=[],
            file_system=None,
            source=None,
            devices=[],
            size_bytes=None,
            free_bytes=None,
            tests=own,
        )
        for directory, own in tests.items()
    ]
    return Probe(created_at=created_at, tool=tool, physical_cores=None, core_basis=None, targets=targets)


def _directory(job: FioJob) -> str:
    """Where a job read and wrote, as its options have it."""
    options = job.options or {}
    directory, file = options.get("directory"), options.get("filename")
    return name_of(directory or (str(PurePosixPath(file).parent) if file else "") or UNKNOWN)


IMPORTER = FioResults()
