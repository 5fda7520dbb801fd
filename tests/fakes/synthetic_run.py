"""A large run that never happened: any number of jobs, nodes and seconds, as a finished run folder.

Samples and records of jobs tell of the same bytes and the same time: what a job did is drawn second by
second, a job has the sum over its span, and a node's counters grow by what its running jobs did.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from mawl.plan.catalogue import CATALOGUE
from mawl.records.model.node import ClockFacts, LoadBefore, NodeRun
from mawl.records.model.records import EventRecord, JobRecord, StepRecord, Usage, total
from mawl.records.model.role_io import IoByRole, RoleIo, Waits
from mawl.records.model.run import (
    PLANNED_FIELDS,
    CacheFacts,
    NodeFacts,
    OutsideCpu,
    Overhead,
    Phases,
    PlannedJob,
    RunFacts,
    VolumeFacts,
    WorkloadFacts,
)
from mawl.records.spec.program_options import ROLES, Options, Role
from mawl.records.store.columns import SCHEMAS, to_table
from mawl.records.store.facts import write_facts
from mawl.records.store.parquet import write_parquet
from tests.fakes.stored_run import NOTHING_LEFT, START, facts, job, role_io, usage

SESSIONS_A_NODE = 30
STEPS_A_JOB = 4
NUMPY_SEED = 20260101
LOGICAL_CPUS = 32

EARLIER = 0.93
"""Of the run's time, when all nodes but the last are done."""
VERIFY_SECONDS = 0.5
REQUEST_BYTES = 250_000
READ, WRITTEN = 100e6, 30e6
"""Bytes that a job moves in a second."""
AT_DEVICE = {"read": 0.90, "written": 0.95}
"""How many of them reach a device."""
PART: dict[Role, float] = {"work": 6 / 11, "util": 3 / 11, "data": 2 / 11}
"""The part of each role in them."""
ON_CPU, RUN_QUEUE = 0.50, 0.15
WAITED = {"work": 0.16, "util": 0.08, "data": 0.05}
"""Shares of a job's time; what is left it is blocked elsewhere."""
DISK_COUNTERS = (
    *("reads", "writes", "read_bytes", "written_bytes"),
    *("read_seconds", "write_seconds", "busy_seconds", "queue_seconds"),
)
DISKS = dict(zip(ROLES, ("sda", "sdb", "sdc"), strict=True))

SLOWDOWN = 1.25
"""Real time of each job over its reference time."""

Column = NDArray[np.float64]


class Span(NamedTuple):
    """A job's place, and its start and end in seconds since the first start."""

    session: str
    stage: int
    node: str
    start: float
    end: float


def write_synthetic_run(
    folder: Path, *, jobs: int = 404, nodes: int = 4, seconds: int = 7200, more_disks: int = 0
) -> Path:
    """The folder of a finished run: sessions full of jobs one after another, samples at 1 Hz, all series.

    Memory limits it.  Of several nodes the last is the slowest.  ``more_disks`` are further block devices of
    each node, eight series each.
    """
    names = [f"node{number}" for number in range(1, nodes + 1)]
    folder.mkdir(parents=True)
    random = np.random.default_rng(NUMPY_SEED)
    spans = _spans(names, jobs, seconds, random)
    doing = {name: _doing(seconds, random) for name in names}
    grown = {name: {series: np.cumsum(column) for series, column in doing[name].items()} for name in names}
    records = [_job(number, span, grown[span.node]) for number, span in enumerate(spans)]
    write_facts(folder, _facts(names, records, seconds))
    tables = {
        "jobs": to_table("jobs", records),
        "steps": to_table(
            "steps", [step for record in records for step in _steps(record, grown[record.node])]
        ),
        "events": to_table("events", [EventRecord(happened_at=START, event="gate_released")]),
    }
    for name, table in tables.items():
        write_parquet(folder / f"{name}.parquet", iter([table]), name)
    samples = (
        _table(
            name,
            _samples(doing[name], [one for one in spans if one.node == name], seconds, random, more_disks),
        )
        for name in names
    )
    write_parquet(folder / "samples.parquet", samples, "samples")
    return folder


def _facts(names: list[str], records: list[JobRecord], seconds: int) -> RunFacts:
    sessions = {name: len({one.session for one in records if one.node == name}) for name in names}
    several = len(names) > 1
    cpu = sum(record.total.cpu_seconds or 0.0 for record in records)
    return facts(
        run_id="20260101-080000-synthetic",
        outcome="completed",
        outcome_reason=None,
        workload=WorkloadFacts(
            name="mixed30",
            title="a synthetic one",
            sessions=sum(sessions.values()),
            jobs=len(records),
            scale=0.05,
            scale_name="standard",
            seed=7,
            options=Options(),
            planned_peak_concurrent=sum(sessions.values()),
        ),
        command=[
            *("mawl", "run", "mixed30", "--scale", "standard"),
            *(["--cluster", "tcp://10.0.0.1:8786"] if several else []),
        ],
        started_at=START - 2.0,
        ended_at=START + seconds,
        planned_jobs=[
            PlannedJob(
                **{name: getattr(record, name) for name in PLANNED_FIELDS},
                reference_seconds=(record.usage.real_time_seconds or 0.0) / SLOWDOWN,
            )
            for record in records
        ],
        nodes=[
            NodeFacts(
                name=name,
                cpu_model="Example CPU",
                cores=16,
                core_basis="physical core",
                physical_cores=16,
                logical_cpus=LOGICAL_CPUS,
                memory_bytes=2**38,
            )
            for name in names
        ],
        node_runs=[
            NodeRun(
                node=name,
                run_id=f"20260101-080000-{name}",
                workload="mixed30",
                sessions=sessions[name],
                jobs=sum(record.node == name for record in records),
                outcome="completed",
                clock=ClockFacts(offset_seconds=0.001 * number, error_seconds=0.0002, exchanges=16),
                gate_after_seconds=2.0 + 0.002 * number,
            )
            for number, name in enumerate(names if several else [])
        ],
        volumes=[
            VolumeFacts(role=role, node=name, directory=f"/mnt/{role}", devices=[disk], layers=[disk])
            for name in names
            for role, disk in DISKS.items()
        ],
        dirty=dict.fromkeys(names, NOTHING_LEFT),
        cache=CacheFacts(mode="cold", input_bytes=10**9, resident_bytes=0),
        load_before=LoadBefore(seconds=0.5, busy_ratio=0.01),
        phases=Phases(generate_seconds=3.0, startup_seconds=2.0, run_seconds=float(seconds)),
        overhead=Overhead(
            cpu_seconds=0.02 * seconds + 2.0, startup_cpu_seconds=2.0, peak_memory_bytes=90 * 2**20
        ),
        outside_cpu=OutsideCpu(source="control group cpuacct", cpu_seconds=cpu + 1.5),
    )


def _spans(names: list[str], count: int, seconds: int, random: np.random.Generator) -> list[Span]:
    """Every session is full from the start to about its node's end."""
    sessions = [(name, f"{name}:s{number:02d}") for number in range(1, SESSIONS_A_NODE + 1) for name in names]
    found = []
    for place, (node, session) in enumerate(sessions[:count]):
        turns = math.ceil((count - place) / len(sessions))
        whole = seconds * (1.0 if node == names[-1] else EARLIER) * float(random.uniform(0.97, 1.0))
        lengths = random.uniform(0.7, 1.3, turns)
        edges = [0.0, *(np.cumsum(lengths) / np.sum(lengths) * whole).tolist()]
        found += [
            Span(session, turn + 1, node, start, end) for turn, (start, end) in enumerate(pairwise(edges))
        ]
    return sorted(found, key=lambda span: (span.stage, span.session))


def _doing(seconds: int, random: np.random.Generator) -> dict[str, Column]:
    """What each job of a node does in each second: rates that vary, nothing before the first."""
    times = np.arange(seconds + 1)

    def varying(rate: float, spread: float) -> Column:
        return rate * random.uniform(1.0 - spread, 1.0 + spread, len(times))

    swing = 1.0 + 0.3 * np.sin(times / 400.0)
    moved = {"read": varying(READ, 0.3) * swing, "written": varying(WRITTEN, 0.3) * swing}
    found = {
        "jobs.on_cpu_seconds": varying(ON_CPU, 0.1),
        "jobs.run_queue_seconds": varying(RUN_QUEUE, 0.1),
        **{f"application_{way}_bytes": amount for way, amount in moved.items()},
        "own_read_bytes": AT_DEVICE["read"] * moved["read"],
        "charged_written_bytes": AT_DEVICE["written"] * moved["written"],
    }
    for role, part in PART.items():
        found[f"role.{role}.waited_seconds"] = varying(WAITED[role], 0.1)
        disk = DISKS[role]
        for way, verb in (("read", "read"), ("written", "write")):
            asked = part * moved[way]
            reached = AT_DEVICE[way] * asked
            found |= {
                f"role.{role}.{way}_bytes": asked,
                f"role.{role}.{verb}s": asked / REQUEST_BYTES,
                f"role.{role}.{verb}_seconds": asked / REQUEST_BYTES * varying(0.001, 0.3),
                f"device.{disk}.{way}_bytes": reached,
                f"device.{disk}.{verb}s": reached / REQUEST_BYTES,
                f"device.{disk}.{verb}_seconds": reached / REQUEST_BYTES * varying(0.002, 0.3),
            }
        found[f"device.{disk}.busy_seconds"] = varying(0.7 / SESSIONS_A_NODE, 0.3)
        found[f"device.{disk}.queue_seconds"] = varying(6.0 / SESSIONS_A_NODE, 0.3)
    for column in found.values():
        column[0] = 0.0
    return found


def _amount(grown: Mapping[str, Column], series: str, start: float, end: float) -> float:
    """What a job did from ``start`` to ``end``."""
    column = grown[series]
    first, last = np.interp([start, end], np.arange(len(column)), column)
    return float(last - first)


def _job(number: int, span: Span, grown: Mapping[str, Column]) -> JobRecord:
    programs = list(CATALOGUE.values())
    program = programs[number % len(programs)]
    template = job("s1-1", span.start, span.end)
    own = _usage(span.start, span.end, span.end - span.start - VERIFY_SECONDS, grown)
    return msgspec.structs.replace(
        template,
        job=f"{span.session}-{span.stage}",
        program=program.name,
        program_class=program.program_class,
        session=span.session,
        stage=span.stage,
        node=span.node,
        steps=STEPS_A_JOB,
        usage=own,
        total=total([own, template.startup, template.verify]),
        io=_io(span.start, span.end, grown),
        waits=_waits(own, span.start, span.end, grown),
        counted_read_bytes=own.application_read_bytes,
        counted_written_bytes=own.application_written_bytes,
    )


def _usage(start: float, end: float, real: float, grown: Mapping[str, Column]) -> Usage:
    """What a job or step of ``real`` seconds used between two moments."""
    moved = {
        field: round(_amount(grown, field, start, end))
        for field in (
            "application_read_bytes",
            "application_written_bytes",
            "own_read_bytes",
            "charged_written_bytes",
        )
    }
    cpu = _amount(grown, "jobs.on_cpu_seconds", start, end) * real / (end - start)
    return msgspec.structs.replace(
        usage(real, cpu, 100),
        **moved,
        cancelled_written_bytes=0,
        read_calls=moved["application_read_bytes"] // REQUEST_BYTES,
        write_calls=moved["application_written_bytes"] // REQUEST_BYTES,
        block_input_operations=moved["own_read_bytes"] // 512,
        block_output_operations=moved["charged_written_bytes"] // 512,
    )


def _io(start: float, end: float, grown: Mapping[str, Column]) -> IoByRole:
    found: IoByRole = {"other": RoleIo()}
    found |= {
        role: role_io(
            *(round(_amount(grown, f"role.{role}.{way}_bytes", start, end)) for way in ("read", "written"))
        )
        for role in PART
    }
    return found


def _waits(own: Usage, start: float, end: float, grown: Mapping[str, Column]) -> Waits:
    """The states of a job or step, which add up to its real time."""
    real = own.real_time_seconds or 0.0
    fits = real / (end - start)
    states = {
        "on_cpu_seconds": own.cpu_seconds or 0.0,
        "run_queue_seconds": _amount(grown, "jobs.run_queue_seconds", start, end) * fits,
        **{
            f"blocked_{role}_seconds": _amount(grown, f"role.{role}.waited_seconds", start, end) * fits
            for role in PART
        },
    }
    return Waits(**states, blocked_other_seconds=max(real - sum(states.values()), 0.0))


def _steps(record: JobRecord, grown: Mapping[str, Column]) -> Iterator[StepRecord]:
    assert record.started_at is not None and record.ended_at is not None
    length = (record.ended_at - VERIFY_SECONDS - record.started_at) / STEPS_A_JOB
    for number in range(STEPS_A_JOB):
        started_at = record.started_at + number * length
        start, end = started_at - START, started_at + length - START
        own = _usage(start, end, length, grown)
        yield StepRecord(
            job=record.job,
            number=number + 1,
            name=f"step {number + 1}",
            kind="data" if number % 2 == 0 else "procedure",
            started_at=started_at,
            ended_at=started_at + length,
            usage=own,
            io=_io(start, end, grown),
            waits=_waits(own, start, end, grown),
        )


def _samples(
    doing: Mapping[str, Column],
    spans: list[Span],
    seconds: int,
    random: np.random.Generator,
    more_disks: int,
) -> dict[str, Column]:
    """The series of a node: counters of what its running jobs did, and gauges, in order of time."""
    times = np.arange(seconds + 1, dtype=np.float64)
    running, ran = np.zeros(len(times)), np.zeros(len(times))
    for span in spans:
        running += (span.start <= times) & (times < span.end)
        ran += np.clip(np.minimum(span.end, times) - np.maximum(span.start, times - 1.0), 0.0, 1.0)

    def about(rate: Any) -> Column:
        found: Column = rate * random.uniform(0.9, 1.1, len(times))
        return found

    jobs = {series: column * ran for series, column in doing.items()}
    on_cpu = jobs["jobs.on_cpu_seconds"]
    cpus = {
        "user": 0.85 * on_cpu + about(0.2),
        "system": 0.15 * on_cpu + about(0.1),
        "interrupt": about(0.1),
        "iowait": about(0.1 * ran),
        "steal": about(0.01),
    }
    counters = {
        **jobs,
        "mawl_cpu_seconds": about(0.02),
        **{f"host.cpu_{kind}_seconds": column for kind, column in cpus.items()},
        "host.cpu_idle_seconds": np.maximum(LOGICAL_CPUS - sum(cpus.values()), 0.0),
        "host.core_busy_seconds": 0.9 * on_cpu,
        **{f"host.pressure_{name}_seconds": about(rate) for name, rate in PRESSURES.items()},
        "network.eth0.received_bytes": about(1e6),
        "network.eth0.sent_bytes": about(1e6),
    }
    gauges = {
        "jobs_running": running,
        "jobs_resident_bytes": about(7.5e9 * running),
        "host.runnable": about((ON_CPU + RUN_QUEUE) * running),
        "host.blocked_processes": about(0.3 * running),
        **{f"host.memory_{name}_bytes": about(size) for name, size in MEMORY.items()},
        "host.frequency_hertz": about(2.5e9),
    }
    disks = {
        f"device.nvme{number}n1.{kind}": _in_units(about(jobs[f"device.sdb.{kind}"] / more_disks), kind)
        for number in range(more_disks)
        for kind in DISK_COUNTERS
    }
    return {**{name: np.cumsum(column) for name, column in counters.items()}, **disks, **gauges}


def _in_units(amounts: Column, kind: str) -> Column:
    """A counter as the kernel keeps it: sectors, requests, milliseconds."""
    if kind.endswith("_seconds"):
        return np.asarray(np.round(np.cumsum(amounts) * 1000) / 1000)
    unit = 512 if kind.endswith("_bytes") else 1
    return np.asarray(np.round(np.cumsum(amounts) / unit) * unit)


def _table(node: str, columns: Mapping[str, Column]) -> pa.Table:
    rows = len(next(iter(columns.values())))
    times = np.arange(rows)
    return pa.table(
        {
            "node": pa.array([node] * (rows * len(columns))),
            "sampled_at": pa.array(np.repeat((START + times) * 1e6, len(columns)).astype("int64")).cast(
                SCHEMAS["samples"].field("sampled_at").type
            ),
            "series": pa.array(list(columns) * rows),
            "value": pa.array(np.stack(list(columns.values()), axis=1).ravel()),
        },
        schema=SCHEMAS["samples"],
    )


PRESSURES = {"cpu_some": 0.4, "io_some": 0.33, "io_full": 0.2, "memory_some": 0.31, "memory_full": 0.15}
"""Of a second."""
MEMORY = {"available": 6e9, "cached": 20e9, "dirty": 4e9, "writeback": 1e9}
