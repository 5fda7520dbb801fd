"""Qualifies this machine: its directories, its probe (fio), and its runs in child processes."""

from __future__ import annotations

import contextlib
import os
import secrets
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec

from mawl.advice.judge import judged
from mawl.advice.qualification.gather import disturbance_of, forecast_of
from mawl.advice.validity.host import foreign_cpu_ratio
from mawl.base.errors import InterruptedRunError, UnreadableRunError, UnsuitableMachineError
from mawl.base.units import counted_noun, format_rate
from mawl.campaigns.process import run_task, without_settings
from mawl.campaigns.qualify.interface import Model, ObservedMachine, ObservedRun, RunWish, WritableSpace
from mawl.campaigns.qualify.model import CalibratedModel, probe_in
from mawl.figures.others import other_programs_of
from mawl.figures.view import StoredView
from mawl.measure.devices import Mount, mount_of, read_mounts
from mawl.measure.machine import Machine, read_machine
from mawl.measure.probe.command import LEAST_FITTED_BYTES, MIB, ProbeChoice, default_shapes
from mawl.measure.probe.process import ProbePlace, fio_version
from mawl.measure.probe.target import ProbeRequest, probe
from mawl.measure.space import EPHEMERAL, ephemeral_storage, file_systems, nearest, system_of
from mawl.measure.suitability import (
    NoiseWatch,
    SuitabilityCheck,
    container_check,
    limit_checks,
    noise_checks,
    why_cached,
)
from mawl.plan.mix import COPIES, workload_toml
from mawl.plan.spec import SessionSpec, WorkloadSpec
from mawl.records.model.node import notable
from mawl.records.model.probe import PAPERS_REQUEST_BYTES, Probe
from mawl.records.model.qualification import Asked, Fits
from mawl.records.model.records import RunOutcome
from mawl.records.spec.program_options import ROLES, Role, is_there
from mawl.records.spec.run_spec import RunSpec
from mawl.records.spec.task import Task
from mawl.records.store import open_run
from mawl.records.store.facts import read_facts, write_facts
from mawl.records.store.files import FACTS, replace_file
from mawl.records.store.side_files import read_probe, write_probe
from mawl.records.volumes import PROBE_PREFIX, Volumes
from mawl.run.launch.setup import RUN_ID_VARIABLE


def do_task(task: Task, log: Path, directory: str, lock: int | None, show: Callable[[str], None]) -> None:
    """Do a task to its end; a run whose jobs failed has come to its end, too.

    What it says goes into ``log``, and its last line is shown meanwhile.  Raises what it ended with.
    """
    log.write_bytes(b"")
    answer = run_task(
        task,
        log,
        directory=directory,
        environment=without_settings(os.environ),
        kept_open=() if lock is None else (lock,),
        look=lambda: show(_last_line(log)),
    )
    if answer.status == 130:
        raise InterruptedRunError("the run was stopped")
    if answer.failure is not None:
        raise answer.failure.error()


def _last_line(log: Path) -> str:
    lines = log.read_text(errors="replace").strip().splitlines()
    return lines[-1] if lines else ""


LOOK_SECONDS = 1.0
ALONE = "alone.toml"
"""In the qualification's folder: the workload that runs each program alone."""

IN_MEMORY = frozenset({"tmpfs", "ramfs"})
LEAST_TEST_SECONDS = 1.5
MOST_FILE_BYTES = 1024 * MIB
MOST_STREAMS = LEAST_FITTED_BYTES // PAPERS_REQUEST_BYTES
"""With more streams than this the smallest files would not have one request for each stream."""
FILE_RATIO = 0.1
"""The probe's files take at most this part of the free space."""
LAYOUT_RATIO = 0.25
"""mawl spends at most this part of the probe's time on writing its files, unless the smallest need more."""


class QualifyMachine:
    """See ``Work``."""

    def __init__(
        self, folder: Path, asked: Asked, directory: str, lock: int | None, show: Callable[[str], None]
    ) -> None:
        """``lock`` is a descriptor that every run keeps open; ``show`` gets what a run says."""
        self._folder, self._asked, self._directory = folder, asked, directory
        self._lock, self._show = lock, show
        self._roles: dict[Role, list[Path]] = {
            role: [Path(place) for place in asked.roles[role]] for role in ROLES
        }
        self._read: dict[tuple[Path, int], ObservedRun] = {}

    def look(self) -> ObservedMachine:
        noise, began = NoiseWatch(), time.monotonic()
        machine = read_machine()
        systems = [
            WritableSpace(
                roles=system.roles,
                directories=system.directories,
                free_bytes=system.free_bytes,
                kind=system.kind,
                unwritable=system.unwritable,
            )
            for system in [*file_systems(self._roles, None), *ephemeral_storage(self._roles, None)]
        ]
        check_places(systems)
        mounts, places = read_mounts(), [(role, place) for role in ROLES for place in self._roles[role]]
        made = [lies_on(place, mounts) for role, place in places if _is_missing(role, place)]
        Volumes(self._roles).ensure()
        cores = machine.available_cores or 1
        reason = why_cached(self._roles, os.environ)
        time.sleep(max(began + LOOK_SECONDS - time.monotonic(), 0.0))
        checks = [*limit_checks(machine), container_check(machine), *noise_checks(machine, noise.look())]
        return ObservedMachine(
            cores=cores,
            memory_bytes=machine.binding_memory_limit or machine.memory_bytes or 0,
            systems=systems,
            uncached=reason is None,
            uncached_reason=reason,
            has_fio=_has_fio(),
            notices=notices(systems, checks),
            places=[f"{role} {lies_on(place, mounts)}" for role, place in places],
            made=made,
        )

    def probe(self, folder: Path, seconds: float, streams: int, finished: Callable[[], None]) -> str:
        machine = read_machine()
        probes: list[Probe] = []
        for place in targets(self._roles):
            file = folder / f"probe-{place.name}.json"
            if not file.exists():
                write_probe(file, self._probed(place, seconds, streams, machine))
                finished()
            probes.append(read_probe(file))
        whole = msgspec.structs.replace(
            probes[0], targets=[target for one in probes for target in one.targets]
        )
        write_probe(folder / "probe.json", whole)
        return "; ".join(target_words(one) for one in probes)

    def _probed(self, place: ProbePlace, seconds: float, streams: int, machine: Machine) -> Probe:
        cores = machine.available_cores or 1
        shapes = default_shapes(int(cores), "yes", min(streams, MOST_STREAMS))
        free = os.statvfs(place.directory)
        choice = ProbeChoice(
            shapes=shapes,
            seconds=max(seconds / len(shapes), LEAST_TEST_SECONDS),
            file_bytes=MOST_FILE_BYTES,
            layout_seconds=LAYOUT_RATIO * seconds,
        ).fitted(FILE_RATIO * free.f_bavail * free.f_frsize)
        choice.check()
        run_id = f"{PROBE_PREFIX}{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}-{secrets.token_hex(2)}"
        request = ProbeRequest(
            run_id=run_id,
            places=[place],
            choice=choice,
            node=read_machine().name or "localhost",
            tool=fio_version(),
            created_at=time.time(),
            cores=cores,
            core_basis=machine.core_basis,
            environment={RUN_ID_VARIABLE: run_id},
        )
        return probe(request, self._show, lambda _: None)

    def generate(self, wish: RunWish, log: Path) -> None:
        self._perform(Task(spec=self._spec(wish), verb="generate"), log)

    def run(self, wish: RunWish, folder: Path, log: Path) -> None:
        """Make a run; a run whose jobs failed is over, too."""
        probe = self._folder / "probe.json"
        spec = msgspec.structs.replace(
            self._spec(wish), output=str(folder), probe=str(probe) if probe.exists() else None
        )
        self._perform(Task(spec=spec), log)

    def _perform(self, task: Task, log: Path) -> None:
        do_task(task, log, self._directory, self._lock, self._show)

    def _spec(self, wish: RunWish) -> RunSpec:
        spec = RunSpec(
            workload=self._asked.workload,
            sessions=wish.sessions,
            scale=wish.scale,
            cache=wish.cache,
            volume_order=self._asked.volume_order,
            runs=str(self._folder / "runs"),
            html=False,
            data=tuple(self._asked.roles["data"]),
            work=tuple(self._asked.roles["work"]),
            util=tuple(self._asked.roles["util"]),
        )
        if wish.sessions is not None:
            return spec
        file = self._folder / ALONE
        if not file.exists():
            replace_file(file, workload_toml(alone_workload()).encode())
        return msgspec.structs.replace(spec, workload=str(file))

    def outcome(self, folder: Path) -> RunOutcome | None:
        if not (folder / FACTS).exists():
            return None
        with contextlib.suppress(UnreadableRunError):
            return open_run(folder).facts.outcome
        return None

    def read(self, folder: Path, repeats: int) -> ObservedRun:
        key = folder, repeats
        if key not in self._read:
            self._read[key] = _read_run(folder, repeats)
        return self._read[key]

    def model(self, calibration: Path, mix: Path, probe: Path) -> Model:
        return CalibratedModel(open_run(calibration), probe_in(probe), open_run(mix))

    def fitting(self, runs: Sequence[Path], probe: Path, sessions: int, answer_bound: float) -> Fits:
        return forecast_of(runs, probe_in(probe), sessions, answer_bound)


def alone_workload() -> WorkloadSpec:
    """Every program of the mix, one after another."""
    stages: list[list[str]] = [[program] for program in COPIES]
    return WorkloadSpec(
        name="alone",
        title="Each program alone",
        sessions=[SessionSpec(name="alone", stages=stages)],  # type: ignore[arg-type]
    )


def check_places(systems: Sequence[WritableSpace]) -> None:
    """Raise ``UnsuitableMachineError`` for a place that no answer can be of."""
    for system in systems:
        named = ", ".join(f"--{role}" for role in system.roles)
        if system.unwritable:
            raise UnsuitableMachineError(
                "cannot be made or written by this user",
                where=", ".join(system.unwritable),
                cure=f"mount it writable, let this user write there, or name another directory with {named}",
            )
        if system.kind in IN_MEMORY:
            raise UnsuitableMachineError(
                f"{' and '.join(system.roles)} would lie in memory ({system.kind}), which is no storage",
                where=", ".join(system.directories),
                cure=f"name a directory on a disk with {named}",
            )


def lies_on(place: Path, mounts: Sequence[Mount]) -> str:
    """``/mnt/a on ext4 of /dev/sdb1, mounted at /mnt/a``: the file system that holds a directory."""
    mount = mount_of(nearest(place), mounts)
    if mount is None:
        return str(place)
    return f"{place} on {mount.file_system} of {mount.source}, mounted at {mount.mount_point}"


def _is_missing(role: Role, place: Path) -> bool:
    """Whether a directory that the user named is not there; mawl makes its own ones in any case."""
    own = place.name == f"mawl-{role}" and is_there(place.parent)
    return not own and not is_there(place)


def notices(systems: Sequence[WritableSpace], checks: Sequence[SuitabilityCheck]) -> list[str]:
    found = [
        f"{check.name}: {'; '.join(filter(None, (check.text, check.cure)))}"
        for check in checks
        if check.status != "ok"
    ]
    if sum(system.kind != EPHEMERAL for system in systems) == 1:
        found.append("data, work and util share one file system: they cannot be told apart by its device")
    return found


def targets(roles: Mapping[Role, Sequence[Path]]) -> list[ProbePlace]:
    """One target a file system: the first directory on it, with all roles that lie there."""
    found: dict[str, ProbePlace] = {}
    mounts = read_mounts()
    for role, places in roles.items():
        for number, place in enumerate(places):
            device = system_of(nearest(place), mounts)
            name = f"{role}-{number + 1}" if number else role
            held = found.get(device) or ProbePlace(name=name, directory=place)
            own = held.roles if role in held.roles else [*held.roles, role]
            found[device] = msgspec.structs.replace(held, roles=own)
    return list(found.values())


def _has_fio() -> bool:
    try:
        fio_version()
    except UnsuitableMachineError:
        return False
    return True


def target_words(found: Probe) -> str:
    target = found.targets[0]
    words = []
    for way in ("read", "write"):
        rates = [
            (figures.bytes_per_second, test.streams)
            for test in target.tests
            if (figures := getattr(test, way)) is not None and figures.bytes_per_second
        ]
        if rates:
            rate, streams = max(rates)
            words.append(f"{way} {format_rate(rate)} by {counted_noun(streams, 'stream')}")
    if target.problem or len(words) < 2:
        return f"{', '.join(target.roles)}: {target.problem or 'no figures'}"
    return f"{', '.join(target.roles)}: {', '.join(words)}"


def _read_run(folder: Path, repeats: int) -> ObservedRun:
    facts = read_facts(folder)
    if facts.repeats != repeats:
        write_facts(folder, msgspec.structs.replace(facts, repeats=repeats))
    stored = open_run(folder)
    view = StoredView(stored)
    summary = judged(view)
    time_, jobs = summary.time, summary.jobs
    planned = stored.facts.workload.jobs
    bad = max(jobs.total, planned) - jobs.counted
    return ObservedRun(
        run_id=stored.facts.run_id,
        outcome=stored.facts.outcome,
        reason=f"{counted_noun(bad, 'job')} of {planned} did not finish well" if bad else None,
        seconds=(stored.facts.ended_at or stored.facts.started_at) - stored.facts.started_at,
        elapsed_seconds=time_.elapsed_seconds,
        active_seconds=time_.active_seconds,
        slowdown=summary.answer.slowdown,
        bad_jobs=bad,
        others_cpu_ratio=foreign_cpu_ratio(view),
        disturbance=disturbance_of(view),
        heavy=[str(one) for one in notable(other_programs_of(view.facts)[0])],
    )


def own_directories(given: Mapping[Role, Sequence[str] | None]) -> dict[Role, list[str] | None]:
    """``--work /mnt/b --util /mnt/b`` as /mnt/b/mawl-work and /mnt/b/mawl-util; all else as it was given."""
    named = Counter(
        real for places in given.values() for real in {os.path.realpath(place) for place in places or ()}
    )
    return {
        role: None
        if places is None
        else [
            os.path.join(place, f"mawl-{role}") if place and named[os.path.realpath(place)] > 1 else place
            for place in places
        ]
        for role, places in given.items()
    }
