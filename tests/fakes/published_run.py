"""A run that every rule of validate accepts, synthetic but consistent, and a campaign of five of them."""

from __future__ import annotations

from pathlib import Path

import msgspec

from mawl.importers.formats.saslog_write import job_log
from mawl.plan.output import plan_toml
from mawl.plan.run_plan import plan_of, reference_of
from mawl.plan.workload import JobPlan, Plan
from mawl.records.model.campaign import Arm, Campaign, CampaignMachine, CampaignPart, Slot
from mawl.records.model.node import LoadBefore
from mawl.records.model.records import EventRecord, JobRecord, SampleRecord, StepRecord, Usage, total
from mawl.records.model.role_io import IoByRole, RoleIo, Waits, sum_by_role
from mawl.records.model.run import (
    PLANNED_FIELDS,
    CacheFacts,
    FreeSpace,
    NodeFacts,
    OutsideCpu,
    Overhead,
    Phases,
    PlannedJob,
    RunFacts,
    VolumeFacts,
    WorkloadFacts,
)
from mawl.records.spec.program_options import ROLES
from mawl.records.spec.run_spec import RunSpec
from mawl.records.store.campaign import write_campaign
from mawl.records.store.folder import RunWriter
from mawl.run.runner.facts import planned_jobs
from mawl.version import __version__, source_sha256
from tests.fakes.stored_run import NOTHING_LEFT, START, role_io

SECONDS = 1302.0
EVERY = 3.0
"""Seconds between samples, the longest that is no gap."""
VERIFY = 0.5
REQUEST = 250_000
READS, WRITES = 100, 50
"""Requests of a job in a second."""
NODE = "bench1"


def bed_plan() -> Plan:
    """The plan of the workload bed at scale standard."""
    return plan_of(RunSpec(workload="bed", scale=0.05))


def spans(plan: Plan, start: float, seconds: float) -> dict[str, tuple[float, float]]:
    """Job to start and end: each session shares the time of the run out among its stages."""
    found = {}
    for session in plan.sessions:
        each = seconds / len(session.stages)
        for number, stage in enumerate(session.stages):
            for job in stage:
                found[job.job] = (start + number * each, start + (number + 1) * each)
    return found


def _moved(seconds: float) -> tuple[int, int]:
    return round(READS * seconds) * REQUEST, round(WRITES * seconds) * REQUEST


def _io(seconds: float) -> IoByRole:
    """Reads of data, writes of work."""
    read, written = _moved(seconds)
    return {"data": role_io(read, 0), "work": role_io(0, written), "util": RoleIo(), "other": RoleIo()}


def _usage(seconds: float) -> Usage:
    """One processor for all of the time, nine tenths of the reads at the device and all writes dirtied."""
    read, written = _moved(seconds)
    return Usage(
        real_time_seconds=seconds,
        user_cpu_seconds=seconds * 0.75,
        system_cpu_seconds=seconds * 0.25,
        memory_bytes=100 * 2**20,
        os_memory_bytes=150 * 2**20,
        page_faults=0,
        page_reclaims=1000,
        voluntary_context_switches=200,
        involuntary_context_switches=10,
        block_input_operations=read // 512,
        block_output_operations=written // 512,
        application_read_bytes=read,
        application_written_bytes=written,
        read_calls=read // REQUEST,
        write_calls=written // REQUEST,
        own_read_bytes=read // 10 * 9,
        charged_written_bytes=written,
        cancelled_written_bytes=0,
    )


def _steps(job: JobPlan, start: float, end: float) -> list[StepRecord]:
    half = (end - start - VERIFY) / 2
    moments = (start, start + half, start + 2 * half, end)
    named = (("load", "data"), ("work", "procedure"), ("verify", "verify"))
    steps = []
    for number, (name, kind) in enumerate(named, 1):
        begun, over = moments[number - 1], moments[number]
        usage = _usage(half) if kind != "verify" else _checking()
        steps.append(
            StepRecord(
                job=job.job,
                number=number,
                name=name,
                kind=kind,  # type: ignore[arg-type]
                started_at=begun,
                ended_at=over,
                usage=usage,
                io=_io(half) if kind != "verify" else None,
                waits=_working(usage.real_time_seconds or 0.0),
            )
        )
    return steps


def _checking() -> Usage:
    return Usage(real_time_seconds=VERIFY, user_cpu_seconds=0.4, system_cpu_seconds=0.1)


def _working(seconds: float) -> Waits:
    return Waits(
        on_cpu_seconds=seconds,
        run_queue_seconds=0.0,
        blocked_data_seconds=0.0,
        blocked_work_seconds=0.0,
        blocked_util_seconds=0.0,
        blocked_other_seconds=0.0,
    )


def _job(job: PlannedJob, start: float, end: float, steps: list[StepRecord]) -> JobRecord:
    own = total(step.usage for step in steps if step.kind != "verify")
    startup = Usage(real_time_seconds=0.1, user_cpu_seconds=0.06, system_cpu_seconds=0.02)
    both = [step.io for step in steps if step.io is not None]
    io = sum_by_role(both)
    return JobRecord(
        **{name: getattr(job, name) for name in PLANNED_FIELDS},
        outcome="finished",
        verified=True,
        exit_code=0,
        ready_at=start - 1.0,
        started_at=start,
        ended_at=end,
        usage=own,
        startup=startup,
        verify=_checking(),
        total=total([own, startup, _checking()]),
        steps=len(steps),
        answer={"rows": 1000, "checksum": "ab12"},
        io=io,
        waits=_working(own.real_time_seconds or 0.0),
        counted_read_bytes=own.application_read_bytes,
        counted_written_bytes=own.application_written_bytes,
        volume_bytes={1: (own.application_read_bytes or 0, 0), 2: (0, own.application_written_bytes or 0)},
    )


def _facts(
    plan: Plan, run_id: str, start: float, seconds: float, jobs: list[JobRecord], node: str
) -> RunFacts:
    cpu = sum(job.total.cpu_seconds or 0.0 for job in jobs)
    volumes = [
        VolumeFacts(
            role=role,
            node=node,
            directory=f"/mnt/{role}",
            mount_point=f"/mnt/{role}",
            file_system="xfs",
            source="/dev/sda1",
            devices=["sda"],
            layers=["sda"],
            disks=["sda"],
            size_bytes=10**12,
        )
        for role in ROLES
    ]
    return RunFacts(
        run_id=run_id,
        kind="measured",
        mawl_version=__version__,
        source_sha256=source_sha256(),
        workload=WorkloadFacts(
            name=plan.workload,
            title=plan.title,
            sessions=len(plan.sessions),
            jobs=len(jobs),
            scale=plan.scale,
            scale_name="standard",
            seed=plan.seed,
            options=plan.options,
            planned_peak_concurrent=plan.peak_concurrent,
            gate_jobs=plan.gate_jobs,
        ),
        outcome="completed",
        started_at=start - 2.0,
        ended_at=start + seconds,
        command=["mawl", "run", "bed", "--scale", "standard"],
        start_mode="zygote",
        on_failure="continue",
        nodes=[
            NodeFacts(
                name=node,
                kernel="Linux 6.1.0",
                python="3.11.7",
                cpu_model="Example CPU 2.5 GHz",
                cores=8,
                core_basis="physical core",
                memory_bytes=24 * 2**30,
            )
        ],
        planned_jobs=planned_jobs(plan, node, reference_of(plan)[1]),
        reference=reference_of(plan)[0],
        software={"pyarrow": "26.0.1"},
        settings={"transparent_hugepage": "madvise"},
        roles={role: [f"/mnt/{role}"] for role in ROLES},
        volumes=volumes,
        cache=CacheFacts(mode="cold", input_bytes=10**9, resident_bytes=0),
        dirty={node: NOTHING_LEFT},
        phases=Phases(generate_seconds=3.0, startup_seconds=2.0, run_seconds=seconds),
        launcher=Usage(user_cpu_seconds=1.25, system_cpu_seconds=0.25),
        overhead=Overhead(cpu_seconds=15.0, startup_cpu_seconds=2.0, peak_memory_bytes=90 * 2**20),
        outside_cpu=OutsideCpu(source="control group cpuacct", cpu_seconds=cpu + 1.5),
        load_before=LoadBefore(seconds=0.5, busy_ratio=0.01),
        free_space=[FreeSpace(roles=["work"], size_bytes=10**12, free_bytes=9 * 10**11)],
        repeats=5,
    )


RATES: dict[str, float] = {
    "jobs.on_cpu_seconds": 4.0,
    "jobs.run_queue_seconds": 0.0,
    **{f"role.{role}.waited_seconds": 0.0 for role in ROLES},
    "host.cpu_user_seconds": 4.0,
    "host.cpu_system_seconds": 0.0,
    "host.cpu_interrupt_seconds": 0.0,
    "host.cpu_idle_seconds": 4.0,
    "host.core_busy_seconds": 4.0,
    "mawl_cpu_seconds": 0.01,
    "host.cpu_iowait_seconds": 0.0,
    "host.cpu_steal_seconds": 0.0,
    "host.swap_read_bytes": 0.0,
    "host.swap_written_bytes": 0.0,
    "application_read_bytes": 4.0 * READS * REQUEST,
    "application_written_bytes": 4.0 * WRITES * REQUEST,
    "own_read_bytes": 3.6 * READS * REQUEST,
    "charged_written_bytes": 4.0 * WRITES * REQUEST,
    "device.sda.read_bytes": 3.6 * READS * REQUEST,
    "device.sda.written_bytes": 4.0 * WRITES * REQUEST,
}
"""Growth of counters in a second, with four jobs at work."""
GAUGES = {"jobs_running": 4.0, "host.frequency_hertz": 2.5e9}


def _samples(start: float, seconds: float, whole: Usage, node: str, jobs: int) -> list[SampleRecord]:
    """Of so many jobs at a time."""
    rows = []
    rates = {name: rate * jobs / 4.0 for name, rate in RATES.items()}
    rates |= {"host.cpu_idle_seconds": 8.0 - jobs, "mawl_cpu_seconds": RATES["mawl_cpu_seconds"]}
    most = {name: getattr(whole, name) for name in RATES if hasattr(whole, name)}
    for number in range(int(seconds / EVERY) + 1):
        after = number * EVERY
        values = {name: rate * after for name, rate in rates.items()}
        values = {name: min(value, most.get(name, value)) for name, value in values.items()}
        values |= {**GAUGES, "jobs_running": float(jobs)}
        rows += [
            SampleRecord(node=node, sampled_at=start + after, series=name, value=value)
            for name, value in values.items()
        ]
    return rows


def write_published(
    folder: Path,
    *,
    start: float = START,
    seconds: float = SECONDS,
    campaign: CampaignPart | None = None,
    node: str = NODE,
    plan: Plan | None = None,
    **changes: object,
) -> RunFacts:
    """Write the folder of such a run, of the bed or of another plan; its facts, with ``changes``."""
    plan = plan or bed_plan()
    jobs, steps, events = [], [], []
    planned = {job.job: job for job in planned_jobs(plan, node, {})}
    for job in plan.jobs():
        begun, over = spans(plan, start, seconds)[job.job]
        own = _steps(job, begun, over)
        record = _job(planned[job.job], begun, over, own)
        steps += own
        jobs.append(record)
        events.append(EventRecord(happened_at=begun, event="job_started", job=job.job))
        events.append(EventRecord(happened_at=over, event="job_ended", job=job.job, detail="finished"))
    gate = EventRecord(happened_at=start, event="gate_released", detail=f"{plan.gate_jobs} jobs")
    facts = _facts(plan, folder.name, start, seconds, jobs, node)
    facts = msgspec.structs.replace(facts, campaign=campaign, **changes)
    writer = RunWriter(folder, msgspec.structs.replace(facts, outcome="running"), plan=plan_toml(plan))
    for event in sorted([gate, *events], key=lambda event: event.happened_at):
        writer.event(event)
    for step in steps:
        writer.step(step)
    for record in jobs:
        writer.job(record)
    whole = total(job.total for job in jobs)
    writer.samples(_samples(start, seconds, whole, node, len(plan.sessions)))
    for record in jobs:
        own = [step for step in steps if step.job == record.job]
        log = folder / "logs" / f"{record.job}.saslog"
        log.write_text(job_log(record, own, platform="Linux 6.1.0"))
        (folder / "logs" / f"{record.job}.log").write_text("")
    writer.finish(facts)
    return facts


def write_published_campaign(folder: Path, runs: int = 5, seconds: float = SECONDS) -> Campaign:
    """A finished campaign of such runs, a second apart in length."""
    folder.mkdir()
    slots = []
    for number in range(1, runs + 1):
        part = CampaignPart(name=folder.name, kind="repeat", arm="bed", position=number)
        start, lasted = START + 2000.0 * number, seconds + 3.0 * (number % 3)
        facts = write_published(folder / f"run-{number}", start=start, seconds=lasted, campaign=part)
        slots.append(
            Slot(
                position=number,
                arm="bed",
                state="finished",
                folder=f"run-{number}",
                run_id=facts.run_id,
                outcome="completed",
            )
        )
    record = Campaign(
        name=folder.name,
        kind="repeat",
        created_at=START,
        outcome="completed",
        mawl_version=__version__,
        machine=CampaignMachine(name=NODE),
        directory="/home/jane",
        arms=[Arm(name="bed", workload="bed")],
        slots=slots,
        ended_at=START + 20_000.0,
    )
    write_campaign(folder, record)
    return record


STATEMENT = """submitter = "Example Ltd"
contact = "bench@example.com"
system = "Example 1000, 8 cores, 24 GB"
storage = "one SSD of 1 TB, xfs"
tuning = "as delivered"
"""
