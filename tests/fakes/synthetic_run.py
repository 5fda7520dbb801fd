"""A large run that never happened: any number of jobs, nodes and seconds, as a finished run folder."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import msgspec
import numpy as np
import pyarrow as pa

from mawl.model.records import EventRecord, JobRecord, StepRecord
from mawl.model.run import NodeFacts, RunFacts, VolumeFacts, WorkloadFacts
from mawl.plan.catalogue import CATALOGUE
from mawl.spec.program_options import ROLES
from mawl.store.columns import SCHEMAS, to_table
from mawl.store.facts import write_facts
from mawl.store.parquet import write_parquet
from tests.fakes.stored_run import START, facts, job, usage

SESSIONS_A_NODE = 30
STEPS_A_JOB = 4
NUMPY_SEED = 20260101


def write_synthetic_run(folder: Path, *, jobs: int = 404, nodes: int = 4, seconds: int = 7200) -> Path:
    """The folder of a finished run: sessions full of jobs one after another, samples at 1 Hz, all series."""
    names = [f"node{number}" for number in range(1, nodes + 1)]
    folder.mkdir(parents=True)
    records = _jobs(names, jobs, seconds)
    write_facts(folder, _facts(names, jobs, seconds))
    tables = {
        "jobs": to_table("jobs", records),
        "steps": to_table("steps", [step for record in records for step in _steps(record)]),
        "events": to_table("events", [EventRecord(happened_at=START, event="gate_released")]),
    }
    for name, table in tables.items():
        write_parquet(folder / f"{name}.parquet", iter([table]), name)
    write_parquet(folder / "samples.parquet", _samples(names, seconds), "samples")
    return folder


def _facts(names: list[str], jobs: int, seconds: int) -> RunFacts:
    return facts(
        run_id="20260101-080000-synthetic",
        outcome="completed",
        outcome_reason=None,
        workload=WorkloadFacts(
            name="mixed30",
            title="a synthetic one",
            sessions=SESSIONS_A_NODE * len(names),
            jobs=jobs,
            scale=0.05,
            scale_name="standard",
        ),
        started_at=START - 2.0,
        ended_at=START + seconds,
        planned_jobs=[],
        nodes=[
            NodeFacts(
                name=name,
                cpu_model="Example CPU",
                cores=16,
                core_basis="physical core",
                physical_cores=16,
                logical_cpus=32,
                memory_bytes=2**38,
            )
            for name in names
        ],
        volumes=[
            VolumeFacts(role=role, node=name, directory=f"/mnt/{role}", devices=[disk], layers=[disk])
            for name in names
            for role, disk in zip(ROLES, ("sda", "sdb", "sdc"), strict=True)
        ],
    )


def _jobs(names: list[str], count: int, seconds: int) -> list[JobRecord]:
    """Every session is full from the start to about the end."""
    programs = list(CATALOGUE.values())
    sessions = [f"{name}:s{number:02d}" for name in names for number in range(1, SESSIONS_A_NODE + 1)]
    random = np.random.default_rng(NUMPY_SEED)
    found = []
    for number in range(count):
        turn, place = divmod(number, len(sessions))
        turns = math.ceil((count - place) / len(sessions))
        length = seconds / turns
        start = turn * length
        end = start + length * float(random.uniform(0.7, 1.0))
        program = programs[number % len(programs)]
        template = job("s1-1", start, end)
        found.append(
            msgspec.structs.replace(
                template,
                job=f"{sessions[place]}-{turn + 1}",
                program=program.name,
                program_class=program.program_class,
                session=sessions[place],
                stage=turn + 1,
                node=sessions[place].partition(":")[0],
                steps=STEPS_A_JOB,
            )
        )
    return found


def _steps(record: JobRecord) -> Iterator[StepRecord]:
    assert record.started_at is not None and record.ended_at is not None
    length = (record.ended_at - record.started_at) / STEPS_A_JOB
    for number in range(STEPS_A_JOB):
        yield StepRecord(
            job=record.job,
            number=number + 1,
            name=f"step {number + 1}",
            kind="data" if number % 2 == 0 else "procedure",
            started_at=record.started_at + number * length,
            ended_at=record.started_at + (number + 1) * length,
            usage=usage(length, length / 2, 50),
            io=record.io,
            waits=record.waits,
        )


def _samples(names: list[str], seconds: int) -> Iterator[pa.Table]:
    """A table per node: counters that grow at rates that vary, gauges that swing, in order of time."""
    random = np.random.default_rng(NUMPY_SEED)
    times = np.arange(seconds + 1)
    for name in names:
        columns = {}
        for series, rate in RATES.items():
            swing = 1.0 + 0.5 * np.sin(times / 400.0) + random.uniform(-0.3, 0.3, len(times))
            figures = rate * swing
            columns[series] = figures if series in GAUGES else np.cumsum(figures)
        rows = len(times) * len(columns)
        yield pa.table(
            {
                "node": pa.array([name] * rows),
                "sampled_at": pa.array(np.repeat((START + times) * 1e6, len(columns)).astype("int64")).cast(
                    SCHEMAS["samples"].field("sampled_at").type
                ),
                "series": pa.array(list(columns) * len(times)),
                "value": pa.array(np.stack(list(columns.values()), axis=1).ravel()),
            },
            schema=SCHEMAS["samples"],
        )


GAUGES = {
    "jobs_running": 30.0,
    "jobs_resident_bytes": 30e9,
    "host.runnable": 12.0,
    "host.blocked_processes": 3.0,
    **{
        f"host.memory_{name}_bytes": 50e9 / number
        for number, name in enumerate(("available", "cached", "dirty", "writeback"), 1)
    },
    "host.frequency_hertz": 2.5e9,
}

RATES = {
    **GAUGES,
    "jobs.on_cpu_seconds": 15.0,
    "jobs.run_queue_seconds": 5.0,
    "mawl_cpu_seconds": 0.02,
    "application_read_bytes": 3e9,
    "application_written_bytes": 1e9,
    "own_read_bytes": 2e9,
    "charged_written_bytes": 9e8,
    **{
        f"role.{role}.{figure}": rate / number
        for number, role in enumerate(("work", "util", "data", "other"), 1)
        for figure, rate in {
            "reads": 6000.0,
            "writes": 2000.0,
            "read_bytes": 1.5e9,
            "written_bytes": 5e8,
            "read_seconds": 6.0,
            "write_seconds": 2.0,
            "waited_seconds": 5.0,
        }.items()
    },
    **{
        f"host.cpu_{kind}_seconds": rate
        for kind, rate in {
            "user": 14.0,
            "system": 2.0,
            "iowait": 4.0,
            "idle": 11.0,
            "steal": 0.1,
            "interrupt": 0.5,
        }.items()
    },
    "host.core_busy_seconds": 12.0,
    **{
        f"host.pressure_{name}_seconds": 0.3
        for name in ("cpu_some", "io_some", "io_full", "memory_some", "memory_full")
    },
    **{
        f"device.{disk}.{figure}": rate
        for disk in ("sda", "sdb", "sdc")
        for figure, rate in {
            "reads": 3000.0,
            "writes": 1000.0,
            "read_bytes": 7e8,
            "written_bytes": 3e8,
            "read_seconds": 5.0,
            "write_seconds": 2.0,
            "busy_seconds": 0.7,
            "queue_seconds": 6.0,
        }.items()
    },
    "network.eth0.received_bytes": 1e6,
    "network.eth0.sent_bytes": 1e6,
}
