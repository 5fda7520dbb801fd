"""Forecasts runs and plans from a calibration: each program alone at scale smoke, then the mix.

Bytes and waits of a program are those of its run alone, and grow with the scale as its declaration does; its
CPU seconds grow as its reference time does, and are more in the mix, where jobs share hardware threads and
caches.  Devices are those of the probe (docs/design/qualify.md).  A plan's duration is simulated in the same
way.
"""

from __future__ import annotations

import contextlib
from dataclasses import replace
from pathlib import Path

import msgspec

from mawl.advice.judge import judged
from mawl.advice.qualification.gather import core_speed_of
from mawl.advice.validity.host import foreign_cpu_ratio
from mawl.base.errors import MawlError
from mawl.base.process import importing
from mawl.campaigns.qualify.choice import SMOKE, needs_at, plan_at
from mawl.campaigns.qualify.interface import Mix
from mawl.figures.missing import counted
from mawl.figures.view import StoredView
from mawl.measure.machine import Machine, read_machine
from mawl.plan.catalogue import CATALOGUE
from mawl.plan.workload import Plan
from mawl.records.model.probe import Probe
from mawl.records.model.run import NodeFacts, RunFacts
from mawl.records.model.summary.summary import Judged
from mawl.records.model.thresholds import value_of
from mawl.records.store import Run, open_run
from mawl.records.store.campaign import read_qualification
from mawl.records.store.files import PROBE, QUALIFICATION
from mawl.records.store.side_files import read_probe
from mawl.simulation.demand import FIXED_KINDS, JobDemand, scale_job
from mawl.simulation.engine import SimulatedJob, SimulationOutcome, active_seconds
from mawl.simulation.forecast import base_of
from mawl.simulation.measured_system import cores_of
from mawl.simulation.scenario import Scenario, run_scenario
from mawl.simulation.system import System

INPUT_BYTES_PER_SECOND_PER_CORE = 40e6
"""How fast tables are made where the calibration found its own already there, which is faster than this."""

IDLE_RATIO = 0.1
"""A program that waits this part of its time for a processor, alone, has company."""


class CalibratedModel:
    """See ``Model``.

    The calibration is a run of each program alone, or (a rougher one) a run of the mix.  Jobs are slowed as
    those of ``mix``, a run of the same scale.
    """

    def __init__(self, calibration: Run, probe: Probe | None, mix: Run | None = None) -> None:
        view = StoredView(calibration)
        summary = judged(view)
        self._base = base_of(view, summary, probe=probe)
        mixed = calibration.facts.workload.sessions > 1
        self._others = 0.0 if mixed else _others(summary, self._base.own.nodes[0].cores)
        self._demand = {job.program: job for job in self._base.demand.jobs.values()}
        facts = calibration.facts
        self.overhead_seconds = _overhead_seconds(facts, summary)
        self.others_cpu_ratio = foreign_cpu_ratio(view)
        self.core_speed = core_speed_of(calibration)
        self.mutual_slowing_ratio = None if mix is None else _mutual_slowing_ratio(calibration, mix)
        self.read_reach_ratio: float | None = _at_most_one(summary.io.reach.read_ratio)
        self.write_reach_ratio: float | None = _at_most_one(summary.io.reach.write_ratio)
        self.input_bytes_per_second = self._input_rate(facts)

    def cpu_seconds(self, program: str, scale: float) -> float:
        steps = self._job(program, scale).steps
        return sum(step.cpu_seconds for step in steps if step.kind not in FIXED_KINDS)

    def mix(self, sessions: int, scale: float) -> Mix:
        outcome = self._simulated(plan_at(sessions, scale))
        reference = sum(CATALOGUE[job.plan.program].cpu_seconds(scale) for job in outcome.jobs)
        return Mix(
            elapsed_seconds=outcome.elapsed_seconds,
            active_seconds=active_seconds(outcome, sessions),
            slowdown=sum(map(_real_seconds, outcome.jobs)) / reference,
        )

    def elapsed_seconds(self, plan: Plan) -> float:
        """What any plan of programs of the mix takes, from its first job to its last, its inputs made."""
        return self._simulated(plan).elapsed_seconds

    def _simulated(self, plan: Plan) -> SimulationOutcome:
        jobs = {job.job: self._job(job.program, job.scale) for job in self._known(plan).jobs()}
        scenario = Scenario(system=self._left_for(len(plan.sessions)), plans=(plan,), jobs=jobs)
        return run_scenario(scenario, self._base.calibration)

    def _job(self, program: str, scale: float) -> JobDemand:
        declared = CATALOGUE[program]
        bytes_factor = declared.waiting_seconds(scale) / declared.waiting_seconds(SMOKE)
        cpu_factor = declared.cpu_seconds(scale) / declared.cpu_seconds(SMOKE)
        return scale_job(self._demand[program], bytes_factor, cpu_factor * (self.mutual_slowing_ratio or 1.0))

    def _known(self, plan: Plan) -> Plan:
        """Refuse to forecast without a program: the mix would not be the mix."""
        lacking = sorted({job.program for job in plan.jobs()} - set(self._demand))
        if lacking:
            raise MawlError(
                f"the calibration has no time of {', '.join(lacking)}",
                where=self._base.facts.run_id,
                cure="see why its jobs failed: mawl report on that run",
            )
        return plan

    def _left_for(self, sessions: int) -> System:
        """The system with the part of its cores that other load leaves to so many jobs at once."""
        own = self._base.own
        share = sessions / (sessions + self._others)
        return replace(own, nodes=tuple(replace(kind, cores=kind.cores * share) for kind in own.nodes))

    def _input_rate(self, facts: RunFacts) -> float:
        usual = INPUT_BYTES_PER_SECOND_PER_CORE * cores_of(facts.nodes[0])
        seconds = facts.phases.generate_seconds
        made = sum(table.bytes for table in needs_at(facts.workload.sessions, SMOKE).tables)
        return min(made / seconds, usual) if seconds else usual


def probe_in(path: Path) -> Probe | None:
    """The probe's results; None where there are none."""
    return read_probe(path) if path.exists() else None


def _real_seconds(job: SimulatedJob) -> float:
    """Seconds of a job's steps, less start-up and verifying, which are not in its real time."""
    return sum(step.ended - step.started for step in job.steps if step.activity.step.kind not in FIXED_KINDS)


def _others(summary: Judged, cores: float) -> float:
    """Tasks of others that compete for processors, by what they took from the programs alone.

    With N of them on C cores a task has C/(N + 1) of a processor.  Where it hardly waits, there are too few
    to tell: none are assumed.
    """
    wait = summary.wait
    on_cpu, queue = (wait.on_cpu_seconds, wait.run_queue_seconds) if wait else (None, None)
    if not on_cpu or queue is None:
        return 0.0
    share = float(on_cpu / (on_cpu + queue))
    certain = min((1.0 - share) / IDLE_RATIO, 1.0)
    return certain * max(cores / share - 1.0, 0.0)


def _mutual_slowing_ratio(calibration: Run, mix: Run) -> float | None:
    """CPU seconds of the jobs in the mix over those of the same programs alone; None without such jobs."""
    alone = {job.program: job.usage.cpu_seconds for job in counted(calibration.job_records())}
    pairs = [(job.usage.cpu_seconds, alone.get(job.program)) for job in counted(mix.job_records())]
    known = [(mixed, single) for mixed, single in pairs if mixed and single]
    return sum(mixed for mixed, _ in known) / sum(single for _, single in known) if known else None


def _overhead_seconds(facts: RunFacts, summary: Judged) -> float:
    """From the start of a run to its end beyond its jobs."""
    whole = (facts.ended_at or facts.started_at) - facts.started_at
    return max(whole - (summary.time.elapsed_seconds or whole), 0.0) + START_SECONDS


START_SECONDS = 3.0
"""An interpreter with mawl, a look at the input tables and at the load before, and the end of the process."""


def _at_most_one(value: float | None) -> float | None:
    return None if value is None else min(value, 1.0)


MOST_OTHERS_RATIO = value_of("validity.competition.most_cpu_ratio")
NO_CALIBRATION = "no undisturbed calibration of this machine is there: mawl qualify makes one"


class Duration(msgspec.Struct, frozen=True):
    """Seconds from the first job to the last, None where they are not known; where they are from, or why."""

    seconds: float | None
    basis: str


def duration_of(plan: Plan, runs: Path) -> Duration:
    """The duration of a plan, from the newest qualification below ``runs`` that calibrated this machine.

    A calibration beside which other work used too much of the processors is no basis.
    """
    machine = read_machine()
    for record in sorted(runs.glob(f"*/{QUALIFICATION}"), key=_made_at, reverse=True):
        calibration = _calibration(record.parent)
        if calibration is None or not _is_of(machine, calibration.facts.nodes[0]):
            continue
        with importing():
            from mawl.campaigns.qualify.model import CalibratedModel, probe_in
        try:
            model = CalibratedModel(calibration, probe_in(record.parent / PROBE))
            seconds = model.elapsed_seconds(plan)
        except MawlError as error:
            return Duration(None, str(error))
        cache = calibration.facts.cache
        mode = "" if cache is None else f", with --cache {cache.mode}"
        return Duration(seconds, f"simulated from the calibration of {record.parent.name}{mode}")
    return Duration(None, NO_CALIBRATION)


def _made_at(record: Path) -> float:
    with contextlib.suppress(OSError):
        return record.stat().st_mtime
    return 0.0


def _calibration(folder: Path) -> Run | None:
    """The finished run of each program alone; None where it is missing, disturbed, or cannot be read.

    That of a cluster is of a node and of shared storage, and no basis for this machine.
    """
    with contextlib.suppress(MawlError, OSError):
        record = read_qualification(folder)
        for run in [] if record.nodes else record.runs_for("calibration"):
            if (run.others_cpu_ratio or 0.0) <= MOST_OTHERS_RATIO:
                return open_run(folder / run.folder)
    return None


def _is_of(machine: Machine, node: NodeFacts) -> bool:
    now = machine.cpu_model, machine.cores, machine.confined_cpus, machine.binding_cpu_quota
    memory_now = machine.memory_bytes, machine.binding_memory_limit
    own = node.cpu_model, node.cores, node.cpus_used, node.cpu_quota
    return own == now and (node.memory_bytes, node.memory_limit_bytes) == memory_now
