"""All tests of a probe, target after target; a test that fails does not end the others."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from mawl.base.errors import InvalidFileError, MawlError, cure_of
from mawl.base.printable import encodable
from mawl.base.units import format_percent
from mawl.importers.formats.fio import FioJob, parse_fio
from mawl.measure.probe.command import (
    FILL,
    GROWTH_RATIO,
    MIB,
    READ_SHARE,
    PlannedTest,
    ProbeChoice,
    curve_tests,
    deeper,
    fill_command,
    layout_command,
    probe_command,
    waits_for_steady,
)
from mawl.measure.probe.process import (
    FioExit,
    ProbePlace,
    alone_on,
    check_room,
    claimed_directory,
    facts_of,
    failure,
    refusal,
    run_fio,
    why_cached,
)
from mawl.measure.space import space_of
from mawl.records.model.probe import Probe, ProbeTarget, ProbeTest

LEAST_BYTES_PER_SECOND = 10e6
"""A target that takes bytes slower than this is given up: layout and syncs are bounded by it."""
GRACE_SECONDS = 60.0
TRIAL_FILE, TRIAL_BYTES = "tried", 16 * MIB
"""A first file, whose rate says how large the others may be."""

Says = Callable[[str], None]


class TargetProbe:
    """A target under way: ``record`` gives what is known of it at any moment."""

    def __init__(self, place: ProbePlace, choice: ProbeChoice, node: str) -> None:
        self._place, self._choice = place, choice
        self._facts = facts_of(place, node)
        self._tests: list[ProbeTest] = []
        self._curve: list[ProbeTest] = []
        self._problems: list[str] = []
        self._space: tuple[int | None, int | None] = (None, None)
        self._cached: str | None = None
        """Why requests do not go past the page cache, where that is so."""
        self._hung = False
        self._measured: set[PlannedTest] = set()

    def record(self) -> ProbeTarget:
        facts = self._facts
        failed = [test.remark for test in self._tests if test.read is None and test.write is None]
        problems = list(self._problems)
        if failed:
            problems.append(f"{len(failed)} of {len(self._tests)} tests gave no figures: {failed[0]}")
        return ProbeTarget(
            name=encodable(self._place.name),
            directory=encodable(str(self._place.directory)),
            node=facts.node,
            roles=self._place.roles,
            file_system=facts.file_system,
            source=None if facts.source is None else encodable(facts.source),
            devices=facts.devices,
            size_bytes=self._space[0],
            free_bytes=self._space[1],
            tests=list(self._tests),
            curve=list(self._curve),
            problem=encodable("; ".join(problems)) or None,
        )

    def stopped(self, why: str) -> None:
        self._problems.append(why)

    def probing(self, run_id: str, environment: Mapping[str, str], says: Says) -> Generator[None, None, None]:
        """Make all tests; yields after each.  What stops the target becomes its problem."""
        try:
            with (
                claimed_directory(self._place, run_id) as directory,
                alone_on(self._facts, lambda text: says(f"{self._place.name}: {text}")),
            ):
                space = space_of(directory)
                self._space = (space.size_bytes, space.free_bytes)
                self._cached = why_cached(self._facts.file_system, directory)
                levels: list[float | None] = [*self._choice.fill_ratios] or [None]
                for fill_ratio in levels:
                    yield from self._at_level(directory, fill_ratio, environment, says)
        except MawlError as error:
            self._problems.append(str(error))
        except OSError as error:
            why, place = (error.strerror or str(error)).lower(), self._place.directory
            cure = cure_of(error, place, "name another directory")
            self._problems.append(f"{place}: its probe was stopped: {why}; {cure}")

    def _at_level(
        self, directory: Path, fill_ratio: float | None, environment: Mapping[str, str], says: Says
    ) -> Iterator[None]:
        self._fit_files(directory, environment)
        sizes = self._choice.file_sizes()
        if fill_ratio is not None and not self._fill(directory, fill_ratio, sum(sizes), environment, says):
            return
        if fill_ratio is None:
            check_room(directory, sum(sizes))
        says(f"{self._place.name}: writing the files to be read")
        command = layout_command(sizes, self._choice, direct=self._cached is None)
        self._written(command, directory, sum(sizes) * (2 if self._choice.precondition else 1), environment)
        level = None if fill_ratio is None else space_of(directory).used_ratio
        self._measured.clear()
        for index, shape in enumerate(self._choice.shapes):
            says(f"{self._place.name}: {index + 1} of {len(self._choice.shapes)}, {shape.words}")
            yield from self._shape(directory, shape, level, environment, says)
        for file in directory.glob("stream.*"):
            file.unlink()

    def _shape(
        self,
        directory: Path,
        asked: PlannedTest,
        level: float | None,
        environment: Mapping[str, str],
        says: Says,
    ) -> Iterator[None]:
        """One test; where asked for, deeper ones while the rate grows, and the curve below the best rate."""
        real = msgspec.structs.replace(asked, direct=asked.direct and self._cached is None)
        best, most, planned = real, 0.0, real if real not in self._measured else None
        while planned is not None:
            self._measured.add(planned)
            self._tests.append(self._test(directory, planned, asked, level, environment))
            yield
            self._check_hung()
            rate = _requests_per_second(self._tests[-1])
            grows = rate > GROWTH_RATIO * most
            if rate > most:
                best, most = planned, rate
            planned = deeper(planned) if grows and (self._choice.seeks_best or self._choice.curve) else None
            if planned is not None:
                says(f"{self._place.name}: {planned.words}")
        if not self._choice.curve or not most:
            return
        for test in curve_tests(best, most) if best.direct else ():
            says(f"{self._place.name}: {test.words}")
            self._curve.append(self._test(directory, test, test, level, environment))
            yield
            self._check_hung()

    def _check_hung(self) -> None:
        if self._hung:
            raise refusal(self._place.directory, "fio did not come back", "see to the device behind it")

    def _fit_files(self, directory: Path, environment: Mapping[str, str]) -> None:
        seconds = self._choice.layout_seconds
        if seconds is None:
            return
        check_room(directory, TRIAL_BYTES)
        command = fill_command(TRIAL_FILE, TRIAL_BYTES, direct=self._cached is None)
        rate = self._written(command, directory, TRIAL_BYTES, environment)
        (directory / TRIAL_FILE).unlink()
        self._choice = self._choice.fitted(rate * seconds)

    def _fill(
        self, directory: Path, ratio: float, files_bytes: int, environment: Mapping[str, str], says: Says
    ) -> bool:
        """Fill up to a level, the streams' files included; False, with a problem, where that cannot be."""
        space = space_of(directory)
        used = space.used_bytes
        whole = used + space.free_bytes
        lacking = int(ratio * whole) - used - files_bytes
        if lacking < 0:
            self._problems.append(
                f"{self._place.directory}: not probed {format_percent(ratio)} full: with the "
                f"probe's own files it is {format_percent((used + files_bytes) / whole)} full already"
            )
            return False
        if lacking >= MIB:
            says(f"{self._place.name}: filling the file system to {format_percent(ratio)}")
            number = len(list(directory.glob(f"{FILL}*")))
            command = fill_command(f"{FILL}{number}", lacking, direct=self._cached is None)
            self._written(command, directory, lacking, environment)
        return True

    def _written(
        self, command: list[str], directory: Path, size: int, environment: Mapping[str, str]
    ) -> float:
        """Write files; the bytes per second, 0 if fio's results do not have them.

        Raises ``UnsuitableMachineError`` where that fails.
        """
        timeout = GRACE_SECONDS + size / LEAST_BYTES_PER_SECOND
        ended = run_fio(command, directory, timeout, environment)
        found = _jobs(ended)
        jobs = found if isinstance(found, list) else []
        error = next((job.error for job in jobs if job.error), None)
        if ended.status != 0 or error:
            why = f"its files could not be written: {failure(ended, timeout, error)}"
            cure = "see to the file system, or name another directory"
            if ended.status is None:
                cure = f"let mawl probe write smaller files (--file-size), or {cure}"
            raise refusal(self._place.directory, why, cure)
        return sum(job.write.bytes_per_second for job in jobs if job.write)

    def _test(
        self,
        directory: Path,
        shape: PlannedTest,
        asked: PlannedTest,
        level: float | None,
        environment: Mapping[str, str],
    ) -> ProbeTest:
        choice = self._choice
        command = probe_command(shape, choice)
        timeout = choice.most_test_seconds + GRACE_SECONDS + choice.file_bytes / LEAST_BYTES_PER_SECOND
        ended = run_fio(command, directory, timeout, environment)
        self._hung = ended.status is None
        test = ProbeTest(
            pattern=shape.pattern,
            direction=shape.direction,
            request_bytes=shape.request_bytes,
            streams=shape.streams * shape.depth,
            depth=shape.depth,
            engine=shape.engine,
            asked_requests_per_second=shape.requests_per_second,
            direct=shape.direct,
            content=choice.content,
            read_share_ratio=READ_SHARE[shape.direction],
            elapsed_seconds=None,
            read=None,
            write=None,
            cpu_seconds=None,
            command=command,
            fill_ratio=level,
            preconditioned=choice.precondition,
            remark=f"{self._cached}, so the test was buffered" if shape.direct != asked.direct else None,
        )
        jobs = _jobs(ended)
        if isinstance(jobs, str):
            return msgspec.structs.replace(
                test, remark=failure(ended, timeout) if ended.status != 0 else jobs
            )
        job = jobs[0]
        if ended.status != 0 or job.error:
            return msgspec.structs.replace(test, remark=failure(ended, timeout, job.error))
        if job.read is None and job.write is None:
            return msgspec.structs.replace(test, remark="fio moved no byte")
        return msgspec.structs.replace(
            test,
            elapsed_seconds=job.elapsed_seconds,
            read=job.read,
            write=job.write,
            cpu_seconds=job.cpu_seconds,
            steady=bool(job.steady) if waits_for_steady(shape, choice) else None,
        )


def _requests_per_second(test: ProbeTest) -> float:
    return sum(way.requests_per_second for way in (test.read, test.write) if way is not None)


def _jobs(ended: FioExit) -> list[FioJob] | str:
    try:
        jobs = parse_fio(ended.output)[-1].jobs
    except InvalidFileError as error:
        return str(error)
    return jobs or "fio's results hold no job"


class ProbeRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What to probe; ``environment`` marks fio's processes as this probe's."""

    run_id: str
    places: Sequence[ProbePlace]
    choice: ProbeChoice
    node: str
    tool: str
    created_at: float
    cores: float | None
    core_basis: str | None
    environment: Mapping[str, str]


def probe(request: ProbeRequest, says: Callable[[str], None], keep: Callable[[Probe], None]) -> Probe:
    """Probe every place; ``keep`` gets the whole after each test, ``says`` what comes next.

    An interrupt goes up, once fio is ended and its files are gone; what was kept stays.
    """
    targets = [TargetProbe(place, request.choice, request.node) for place in request.places]
    reached: list[TargetProbe] = []

    def so_far() -> Probe:
        return Probe(
            created_at=request.created_at,
            tool=request.tool,
            physical_cores=request.cores,
            core_basis=request.core_basis,
            targets=[target.record() for target in reached],
        )

    for target in targets:
        reached.append(target)
        tests = target.probing(request.run_id, request.environment, says)
        try:
            for _ in tests:
                keep(so_far())
        except KeyboardInterrupt:
            target.stopped("interrupted")
            tests.close()
            keep(so_far())
            raise
    whole = so_far()
    keep(whole)
    return whole
