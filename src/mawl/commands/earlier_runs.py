"""What earlier runs measured of a plan's programs: their times alone (``--solo``) and peaks of memory."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from mawl.base.units import counted_noun, format_rate
from mawl.figures.missing import counted
from mawl.measure.control_groups import with_caps
from mawl.measure.devices import volume_facts
from mawl.measure.machine import Machine
from mawl.measure.suitability import libraries
from mawl.plan.mix import LOAD_VERSION, JobKind, is_of_catalogue, job_kinds, kind_of, solo_plan
from mawl.plan.needs import Needs, needs
from mawl.plan.workload import Plan
from mawl.records.model.node import IoCap
from mawl.records.model.records import JobRecord
from mawl.records.model.run import Alone, AloneRun, Reference, RunFacts, VolumeFacts
from mawl.records.spec.run_spec import RunSpec
from mawl.records.store import open_run
from mawl.records.store.side_files import Condition, Peak, Solo, read_peak, read_solo, write_peak, write_solo
from mawl.records.volumes import Volumes
from mawl.run.runner.request import RunRequest
from mawl.version import __version__

RUNS_ALONE = 3
"""The fewest with a spread that one outlier does not make."""


def conditions(kind: JobKind, surroundings: Mapping[str, Condition]) -> dict[str, Condition]:
    options = msgspec.structs.asdict(kind.options)
    return {
        "scale": kind.scale,
        **{f"option_{name}": value for name, value in options.items()},
        **({} if kind.command is None else {"command": msgspec.json.encode(kind.command).decode()}),
        **({} if kind.derived is None else {"derived": msgspec.json.encode(kind.derived).decode()}),
        **surroundings,
    }


def surroundings(request: RunRequest, volumes: Volumes, machine: Machine) -> dict[str, Condition]:
    plan = request.plan
    return {
        "seed": plan.seed,
        "saving_ratio": plan.saving,
        "start_mode": request.spec.start,
        "volume_order": request.spec.volume_order,
        "cache": request.spec.cache,
        "cpus": None if request.cpus is None else [str(cpu) for cpu in request.cpus],
        "memory_limit_bytes": request.spec.memory_limit_bytes,
        "container_memory_limit_bytes": machine.binding_memory_limit,
        "cpu_quota": machine.binding_cpu_quota,
        **{role: [str(place.absolute()) for place in places] for role, places in volumes.directories.items()},
        "node": machine.name,
        "cpu_model": machine.cpu_model,
        "cores": machine.cores,
        "memory_bytes": machine.memory_bytes,
        "kernel": machine.kernel,
        "mawl_version": __version__,
        "load_version": LOAD_VERSION,
        "libraries": libraries(),
    }


def places_of(volumes: Sequence[VolumeFacts]) -> list[str]:
    """The file system of each role, its source and its caps: the same path may be another disk now."""
    return [
        " ".join(
            [
                volume.role,
                volume.file_system or "unknown",
                volume.source or volume.directory,
                *(_cap_words(cap) for cap in volume.caps or ()),
                *([volume.caps_reason] if volume.caps is None and volume.caps_reason else []),
            ]
        )
        for volume in volumes
    ]


def _cap_words(cap: IoCap) -> str:
    if cap.bytes_per_second is not None:
        return f"{cap.direction} at most {format_rate(cap.bytes_per_second)}"
    return f"{cap.direction} at most {cap.requests_per_second} requests/s"


class SoloTimes:
    """The times alone of one request's jobs (``--solo``), kept in the directory of run folders."""

    def __init__(self, request: RunRequest, volumes: Volumes, runs: Path, machine: Machine) -> None:
        self._runs, self._request = runs, request
        self._jobs = job_kinds(request.plan)
        held = volume_facts(volumes.directories, machine.name or "localhost")
        self.places = places_of(with_caps(held))
        around = surroundings(request, volumes, machine) | {"places": self.places}
        self._conditions = {kind: conditions(kind, around) for kind in self._jobs}
        self._known: dict[JobKind, Solo] = {}
        if request.spec.solo == "stored":
            times = {kind: read_solo(runs, kind.program, self._conditions[kind]) for kind in self._jobs}
            self._known = {kind: solo for kind, solo in times.items() if solo is not None}

    def alone(self) -> tuple[Alone, ...]:
        return tuple(
            _alone(kind.program, self._jobs[kind], solo, self.places) for kind, solo in self._known.items()
        )

    def measure(self, carry: Callable[[RunRequest], RunFacts]) -> RunFacts | None:
        """Run each program alone until it has three times, and keep them; None where all have.

        Each round is a run of its own, so that all begin alike: ``--cache cold`` empties the cache each time.
        ``carry`` carries a request out.  A job that failed leaves no time.  Returns the facts of the last
        round, the first that did not complete included, after which there is no further one.
        """
        facts: RunFacts | None = None
        for number in range(1, RUNS_ALONE + 1):
            known = self._known
            wanted = {kind for kind in self._jobs if len(known[kind].runs if kind in known else ()) < number}
            if wanted:
                facts = self._round(wanted, number, carry)
                if facts.outcome == "interrupted":
                    return facts
        if facts is None:
            print("stored times alone are used for all jobs", file=sys.stderr)
        return facts

    def _round(
        self, wanted: Collection[JobKind], number: int, carry: Callable[[RunRequest], RunFacts]
    ) -> RunFacts:
        plan = solo_plan(self._request.plan, wanted)
        run_id = f"{self._request.run_id}-alone-{number}"
        folder = self._request.folder.with_name(f"{self._request.folder.name}-alone-{number}")
        kinds_alone = counted_noun(len(wanted), "kind")
        print(f"running {kinds_alone} of jobs alone first: run {number} of {RUNS_ALONE}", file=sys.stderr)
        spec = msgspec.structs.replace(self._request.spec, keep_outputs=False)
        facts = carry(
            msgspec.structs.replace(
                self._request,
                plan=plan,
                spec=spec,
                run_id=run_id,
                folder=folder,
                reference=Reference(version=None),
            )
        )
        self._keep({job.job: kind_of(job) for job in plan.jobs()}, folder, run_id)
        return facts

    def _keep(self, kinds: Mapping[str, JobKind], folder: Path, run_id: str) -> None:
        for job in counted(open_run(folder).job_records()):
            kind, seconds = kinds[job.job], job.usage.real_time_seconds
            if seconds:
                before = self._known[kind].runs if kind in self._known else []
                run = AloneRun(run_id=run_id, real_time_seconds=seconds, started_at=job.started_at)
                solo = Solo(program=kind.program, runs=[*before, run], conditions=self._conditions[kind])
                self._known[kind] = solo
                write_solo(self._runs, solo)


def _alone(program: str, jobs: list[str], solo: Solo, places: list[str]) -> Alone:
    runs = sorted(solo.runs, key=lambda run: run.real_time_seconds)
    middle = runs[(len(runs) - 1) // 2]
    return Alone(
        program=program,
        jobs=jobs,
        real_time_seconds=middle.real_time_seconds,
        run_id=middle.run_id,
        runs=solo.runs,
        places=places,
    )


SAME_RATIO = 1.05
"""A peak this much above the one that is kept is the same: the margin of a plan covers it."""


class Peaks:
    """The measured peaks of one plan's jobs.

    Commands and programs of users have none: their processes side by side are not measured, and their
    code may change under the same name.
    """

    def __init__(self, plan: Plan, spec: RunSpec) -> None:
        self._runs, self._spec = Path(spec.runs), spec
        around: dict[str, Condition] = {
            "start_mode": spec.start,
            "mawl_version": __version__,
            "load_version": LOAD_VERSION,
            "libraries": libraries(),
        }
        kept = {kind_of(job) for job in plan.jobs() if is_of_catalogue(job)}
        self._conditions: dict[JobKind, dict[str, Condition]] = {
            kind: {
                "scale": kind.scale,
                **{f"option_{name}": value for name, value in msgspec.structs.asdict(kind.options).items()},
                **around,
            }
            for kind in job_kinds(plan)
            if kind in kept
        }

    def needs(self, plan: Plan) -> Needs:
        """What a plan of such jobs needs, its memory measured before declared."""
        return needs(
            plan,
            spawn=self._spec.start == "spawn",
            keeps_outputs=self._spec.keep_outputs,
            measured=self.known(),
        )

    def known(self) -> dict[JobKind, Peak]:
        peaks = {
            kind: read_peak(self._runs, kind.program, conditions)
            for kind, conditions in self._conditions.items()
        }
        return {kind: peak for kind, peak in peaks.items() if peak is not None}

    def keep(self, plan: Plan, folder: Path) -> None:
        """Take the peaks of a run that has ended; a directory that cannot be written keeps none."""
        before = self.known()
        run = open_run(folder)
        for kind, peak in peaks_of(plan, run.job_records(), run.facts.run_id).items():
            if kind not in self._conditions:
                continue
            old = before.get(kind)
            most = peak if old is None or peak.private_bytes > SAME_RATIO * old.private_bytes else old
            jobs = peak.jobs + (0 if old is None else old.jobs)
            with contextlib.suppress(OSError):
                write_peak(
                    self._runs, msgspec.structs.replace(most, jobs=jobs, conditions=self._conditions[kind])
                )


def peaks_of(plan: Plan, jobs: Iterable[JobRecord], run_id: str) -> dict[JobKind, Peak]:
    """The largest peak of each kind of job of a run, ``verify`` included; without conditions."""
    planned = {job.job: kind_of(job) for job in plan.jobs() if is_of_catalogue(job)}
    peaks: dict[JobKind, Peak] = {}
    for job in counted(jobs):
        private, own, beyond = job.private_memory_bytes, job.usage.os_memory_bytes, job.usage.memory_bytes
        kind = planned.get(job.job)
        if kind is None or private is None or own is None or beyond is None:
            continue
        old = peaks.get(kind)
        peaks[kind] = Peak(
            program=kind.program,
            private_bytes=max(private, 0 if old is None else old.private_bytes),
            ready_bytes=max(own - beyond, 0 if old is None else old.ready_bytes),
            jobs=1 + (0 if old is None else old.jobs),
            run_id=run_id,
            conditions={},
        )
    return peaks
