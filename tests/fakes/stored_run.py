"""A small synthetic run with round figures, and its folder in any state."""

from __future__ import annotations

from pathlib import Path

import msgspec

from mawl.figures.io import DeviceBytes
from mawl.figures.series import CounterChange
from mawl.records.model.node import DirtyPages
from mawl.records.model.records import (
    EventRecord,
    JobRecord,
    SampleRecord,
    StepRecord,
    Usage,
    spent,
    waits_of,
)
from mawl.records.model.role_io import IoByRole, RoleIo
from mawl.records.model.run import (
    PLANNED_FIELDS,
    NodeFacts,
    OutsideCpu,
    Overhead,
    Phases,
    PlannedJob,
    Reference,
    RunFacts,
    VolumeFacts,
    WorkloadFacts,
)
from mawl.records.spec.program_options import ROLES, Options
from mawl.records.store.folder import RunWriter

START = 1_767_254_400.0  # 2026-01-01T08:00:00Z
PLAN = 'workload = "tiny"\n'
NAMES = ("s1-1", "s1-2", "s2-1", "s3-1", "s4-1", "s4-2")


def usage(real: float, cpu: float, megabytes: int) -> Usage:
    """A full usage with round figures."""
    return Usage(
        real_time_seconds=real,
        user_cpu_seconds=cpu * 0.75,
        system_cpu_seconds=cpu * 0.25,
        memory_bytes=megabytes * 2**20,
        os_memory_bytes=(megabytes + 50) * 2**20,
        page_faults=3,
        page_reclaims=1000,
        page_swaps=None,
        voluntary_context_switches=200,
        involuntary_context_switches=10,
        block_input_operations=4096,
        block_output_operations=2048,
        application_read_bytes=8_000_000 * megabytes,
        application_written_bytes=2_000_000 * megabytes,
        read_calls=100,
        write_calls=50,
        own_read_bytes=4_000_000 * megabytes,
        charged_written_bytes=1_500_000 * megabytes,
        cancelled_written_bytes=500_000 * megabytes,
    )


def role_io(read: int, written: int) -> RoleIo:
    """Requests of 250 kB, nine of ten sequential, of 1 ms (and one read of 20 ms)."""
    reads, writes = read // 250_000, written // 250_000
    bucket, long, size = 983_040, 19_922_944, 245_760
    return RoleIo(
        reads=reads,
        writes=writes,
        opens=2,
        read_bytes=read,
        written_bytes=written,
        sequential_read_bytes=read * 9 // 10,
        sequential_written_bytes=written * 9 // 10,
        read_seconds=reads * 0.001,
        write_seconds=writes * 0.001,
        read_waited_seconds=reads * 0.0005,
        longest_read_seconds=0.02 if reads else 0.0,
        longest_write_seconds=0.001 if writes else 0.0,
        read_nanoseconds_histogram={bucket: reads - 1, long: 1} if reads else {},
        write_nanoseconds_histogram={bucket: writes} if writes else {},
        read_size_bytes_histogram={size: reads} if reads else {},
        write_size_bytes_histogram={size: writes} if writes else {},
    )


def by_role() -> IoByRole:
    """What a job of 800 MB read and 200 MB written did in each role."""
    return {
        "data": role_io(400_000_000, 0),
        "work": role_io(300_000_000, 120_000_000),
        "util": role_io(100_000_000, 80_000_000),
        "other": RoleIo(),
    }


def planned(name: str) -> PlannedJob:
    """A job of the plan: odd jobs sort, even ones load."""
    sorts = name.endswith("-1")
    return PlannedJob(
        job=name,
        program="wide_sort" if sorts else "census_load",
        program_class="io",
        session=name.split("-")[0],
        stage=int(name[-1]),
        node="bench1",
        replica=0,
        gate="start" if sorts else None,
        trail_out=name == "s4-2",
        reference_seconds=15.0 if sorts else 12.0,
    )


def referred(seconds: dict[str, float], scale: float) -> RunFacts:
    """A run at a scale of jobs with these reference times, on one node of two cores."""
    usual = facts(nodes=[NodeFacts(name="node1", cores=2, core_basis="vCPU")])
    own = [
        msgspec.structs.replace(planned("s1-1"), job=name, reference_seconds=one)
        for name, one in seconds.items()
    ]
    return msgspec.structs.replace(
        usual, planned_jobs=own, workload=msgspec.structs.replace(usual.workload, scale=scale)
    )


ON_SDA = [
    VolumeFacts(role=role, node="bench1", directory=f"/mnt/{role}", devices=["sda"], layers=["sda"])
    for role in ROLES
]
"""Where the roles lie unless a test says so."""

NOTHING_LEFT = DirtyPages(
    sync_seconds=0.1,
    machine_at_gate_bytes=0,
    machine_at_end_bytes=0,
    own_at_end_bytes=0,
    own_source="cachestat of the files",
    removed_bytes=0,
)
"""A clean start, and an end at which all was written."""


MOVED = DeviceBytes("block device sda", CounterChange(2.4e9, 60.5), CounterChange(6e8, 60.5))
"""What the device under the roles moved in the run: the six jobs' own bytes, and nobody else's."""


def facts(**changes: object) -> RunFacts:
    """The facts of the run, finished well unless changed."""
    values: dict[str, object] = {
        "run_id": "20260101-080000-tiny",
        "kind": "measured",
        "mawl_version": "0.1.0",
        "workload": WorkloadFacts(
            name="tiny",
            title="a tiny one",
            sessions=4,
            jobs=6,
            scale=0.0005,
            scale_name="smoke",
            seed=7,
            options=Options(),
            planned_peak_concurrent=4,
            gate_jobs=4,
        ),
        "outcome": "failed",
        "outcome_reason": "1 job failed",
        "started_at": START - 2.0,
        "ended_at": START + 60.5,
        "command": ["mawl", "run", "tiny"],
        "start_mode": "zygote",
        "on_failure": "continue",
        "nodes": [
            NodeFacts(
                name="bench1",
                kernel="Linux 6.1.0",
                python="3.11.7",
                cpu_model="Example CPU 2.5 GHz",
                cores=2,
                core_basis="vCPU",
                memory_bytes=24 * 2**30,
            )
        ],
        "planned_jobs": [planned(name) for name in NAMES],
        "reference": Reference(version=1),
        "software": {"pyarrow": "26.0.1"},
        "settings": {"transparent_hugepage": "madvise", "governor": None},
        "roles": {"data": ["data"], "work": ["work"], "util": ["util"]},
        "volumes": ON_SDA,
        "dirty": {"bench1": NOTHING_LEFT},
        "phases": Phases(generate_seconds=3.0, startup_seconds=1.5, run_seconds=60.5),
        "launcher": Usage(user_cpu_seconds=1.25, system_cpu_seconds=0.25),
        "overhead": Overhead(
            cpu_seconds=2.5, startup_cpu_seconds=2.0, peak_memory_bytes=90 * 2**20, written_bytes=3 * 2**20
        ),
        "outside_cpu": OutsideCpu(source="control group cpuacct", cpu_seconds=84.25),
        "missing": {"settings.governor": "no cpufreq on this machine"},
    }
    return RunFacts(**{**values, **changes})  # type: ignore[arg-type]


def job(name: str, start: float, end: float, **changes: object) -> JobRecord:
    """A finished job; its verify took half a second."""
    plan = planned(name)
    real = end - start - 0.5
    own = usage(real, real * (0.5 if plan.program == "wide_sort" else 1.0), 100)
    cpu = own.cpu_seconds or 0.0
    waited = {role: io.waited_seconds for role, io in by_role().items()}
    waits = waits_of(real, spent(0.8 * cpu, real / 16, {}), spent(cpu, real / 16, waited))
    values: dict[str, object] = {
        **{field: getattr(plan, field) for field in PLANNED_FIELDS},
        "outcome": "finished",
        "verified": True,
        "exit_code": 0,
        "ready_at": START - 1.0,
        "started_at": START + start,
        "ended_at": START + end,
        "usage": own,
        "startup": Usage(real_time_seconds=0.1, user_cpu_seconds=0.06, system_cpu_seconds=0.02),
        "verify": Usage(real_time_seconds=0.5, user_cpu_seconds=0.4, system_cpu_seconds=0.1),
        "total": usage(real + 0.6, (own.cpu_seconds or 0.0) + 0.58, 100),
        "steps": 2,
        "answer": {"rows": 1000, "checksum": "ab12"},
        "io": by_role(),
        "waits": waits,
        "counted_read_bytes": 800_000_000,
        "counted_written_bytes": 200_000_000,
    }
    return JobRecord(**{**values, **changes})  # type: ignore[arg-type]


def jobs() -> list[JobRecord]:
    """Six jobs: five good, s3-1 with a wrong answer; s4-2 runs out the trail alone."""
    return [
        job("s1-1", 0.0, 20.5),
        job("s2-1", 0.0, 30.5),
        job(
            "s3-1",
            0.0,
            10.5,
            outcome="failed",
            verified=False,
            exit_code=1,
            reason="wide_sort: rows 3 and 4 are out of order: the sort is wrong",
        ),
        job("s4-1", 0.0, 40.5),
        job("s1-2", 20.5, 31.0),
        job("s4-2", 40.5, 60.5),
    ]


def steps() -> list[StepRecord]:
    """Two steps a job: a data step and a sort."""
    return [
        StepRecord(
            job=name,
            number=number,
            name=step,
            kind="data" if number == 1 else "procedure",
            started_at=START + number,
            ended_at=START + number + 1.5,
            usage=usage(1.5, 1.0, 40 * number),
            rows_read=1000,
            rows_written=1000 if number == 1 else None,
        )
        for name in NAMES
        for number, step in ((1, "load"), (2, "sort"))
    ]


def events() -> list[EventRecord]:
    """Start and end of each job, and of the run."""
    happened = [EventRecord(happened_at=START, event="gate_released", detail="4 jobs")]
    for record in jobs():
        assert record.started_at is not None and record.ended_at is not None
        happened.append(EventRecord(happened_at=record.started_at, event="job_started", job=record.job))
        happened.append(
            EventRecord(happened_at=record.ended_at, event="job_ended", job=record.job, detail=record.outcome)
        )
    return sorted(happened, key=lambda event: event.happened_at)


def samples(second: int) -> list[SampleRecord]:
    """The figures of one second."""
    return [
        SampleRecord(node="bench1", sampled_at=START + second, series=series, value=float(second))
        for series in ("jobs_running", "application_read_bytes")
    ]


def write_run(folder: Path, *, seconds: int = 3, runs: Path | None = None) -> RunWriter:
    """The folder of the run as it is just before it is finished."""
    writer = RunWriter(folder, facts(outcome="running", ended_at=None), plan=PLAN, runs=runs)
    for event in events():
        writer.event(event)
    for step in steps():
        writer.step(step)
    for record in jobs():
        writer.job(record)
    for second in range(seconds):
        writer.samples(samples(second))
    return writer
