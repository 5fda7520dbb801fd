"""Derived jobs made up for tests: one with every kernel, and random ones."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path

import msgspec

from mawl.plan.derived_program import input_of, options_of_record, planned
from mawl.programs.datagen.generate import TableRequest, generate
from mawl.records.model.derived import (
    KERNELS,
    DerivedJob,
    DerivedStep,
    DerivedTable,
    DerivedWorkload,
    RoleLoad,
)
from mawl.records.model.messages import Assignment
from mawl.records.spec.program_options import Options
from tests.contract.jobs import assign

MB = 10**6
TABLE = DerivedTable(name="t1", size_bytes=3 * MB)

_MIXED = (
    DerivedStep(
        name="read",
        procedure="DATA",
        kernel="scan",
        rows=1000,
        cpu_seconds=0.05,
        memory_bytes=20 * MB,
        tables=("t1",),
        data=RoleLoad(read_bytes=4 * MB),
        work=RoleLoad(written_bytes=3 * MB + 8),
    ),
    DerivedStep(
        name="sort",
        procedure="SORT",
        kernel="sort",
        rows=1000,
        cpu_seconds=0.08,
        memory_bytes=24 * MB,
        threads=2,
        work=RoleLoad(read_bytes=3 * MB, written_bytes=3 * MB),
        util=RoleLoad(read_bytes=2 * MB, written_bytes=3 * MB),
    ),
    DerivedStep(
        name="look",
        procedure="SQL",
        kernel="look_up",
        cpu_seconds=0.02,
        tables=("t1",),
        data=RoleLoad(read_bytes=100 * 2048, random_reads=100, written_bytes=50 * 1024, random_writes=50),
        work=RoleLoad(read_bytes=7 * MB),
    ),
)
MIXED = DerivedJob(name="mixed", session="one", steps=_MIXED)

EVERY_KERNEL = DerivedJob(
    name="every",
    session="one",
    steps=tuple(
        DerivedStep(
            name=kernel,
            procedure="IML",
            kernel=kernel,
            cpu_seconds=0.02,
            work=RoleLoad(written_bytes=256, read_bytes=256, random_reads=2 if kernel == "look_up" else 0),
        )
        for kernel in KERNELS
    ),
)
SHOP = DerivedWorkload(tables=(TABLE,), jobs=(MIXED, EVERY_KERNEL))


def assigned(job: DerivedJob, place: Path, *, scale: float = 1.0) -> Assignment:
    """An assignment of a derived job, its input table made."""
    place.mkdir(exist_ok=True)
    inputs: Mapping[str, Path] = {}
    table = input_of(TABLE)
    if planned(job, {TABLE.name: TABLE}).tables:
        (made,) = generate(
            [TableRequest(table=table.name, scale=scale, seed=3)],
            place,
            processes=1,
            bufsize_bytes=65536,
            tables={table.name: table},
        )
        inputs = {table.name: made.directory}
    options = options_of_record(Options(), job, scale)
    assignment = assign(job.name, scale, options, dict(inputs), place / "job", volumes=2)
    return msgspec.structs.replace(assignment, derived=job)


def drawn(seed: int, steps: int) -> DerivedJob:
    """A job of steps drawn at random: small ones, over two orders of magnitude of bytes and CPU seconds."""
    draw = random.Random(seed)

    def size(least: float, most: float) -> int:
        return int(least * (most / least) ** draw.random())

    made: list[DerivedStep] = []
    for number in range(steps):
        kernel = draw.choice(list(KERNELS))
        is_first = not made
        work = RoleLoad(
            read_bytes=0 if is_first or draw.random() < 0.3 else size(0.2 * MB, 20 * MB),
            written_bytes=size(0.2 * MB, 20 * MB) if is_first or draw.random() < 0.5 else 0,
        )
        spills = kernel in ("sort", "join") and draw.random() < 0.7
        spilled = size(0.2 * MB, 10 * MB) if spills else 0
        data_bytes = size(0.2 * MB, 20 * MB) if kernel == "look_up" or draw.random() < 0.5 else 0
        at_random = kernel == "look_up" or (data_bytes and draw.random() < 0.2)
        made.append(
            DerivedStep(
                name=f"s{number}",
                procedure="DATA",
                kernel=kernel,
                rows=size(10, 1e6),
                cpu_seconds=size(30, 600) / 1000,
                threads=draw.choice((1, 1, 2)),
                memory_bytes=size(12 * MB, 120 * MB),
                tables=("t1",) if data_bytes else (),
                data=RoleLoad(
                    read_bytes=data_bytes,
                    written_bytes=size(0.1 * MB, 2 * MB) if draw.random() < 0.1 else 0,
                    random_reads=max(data_bytes // size(1024, 32768), 1) if at_random else 0,
                ),
                work=work,
                util=RoleLoad(read_bytes=spilled, written_bytes=spilled),
            )
        )
    return DerivedJob(name=f"drawn-{seed}", session="one", steps=tuple(made))
