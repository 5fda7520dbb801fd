"""The input tables of a plan: made or checked before a run, and whether there is room for it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from mawl.datagen.generate import Generated, GenerationProgress, TableRequest, generate
from mawl.datagen.spread import spread_tables
from mawl.errors import UnsuitableMachineError
from mawl.measure.ephemeral import EPHEMERAL, EPHEMERAL_CURE, ephemeral_storage
from mawl.measure.space import file_systems
from mawl.plan.catalogue import CATALOGUE
from mawl.plan.needs import SPACE_MARGIN, Needs, TableNeed, inputs_of
from mawl.plan.workload import Plan
from mawl.spec.program_options import VolumeOrder
from mawl.tables.manifest import MANIFEST
from mawl.units import format_bytes
from mawl.volumes import INPUTS as INPUTS_DIRECTORY
from mawl.volumes import Volumes


class Inputs(NamedTuple):
    """Where each input table lies, by (table, scale, replica), and what that took.

    ``cpu_seconds`` are this process's own: making inputs is no part of a run's overhead.
    """

    directories: dict[tuple[str, float, int], Path]
    generated: list[Generated]
    seconds: float
    cpu_seconds: float


def make_inputs(
    plan: Plan,
    volumes: Volumes,
    needed: Needs,
    *,
    order: VolumeOrder,
    processes: int,
    verify: bool = False,
    progress: Callable[[GenerationProgress], None] = lambda _: None,
) -> Inputs:
    """Make what is missing, checking finished tables by their sizes, or in full with ``verify``.

    A table lies whole on one volume of data: :func:`mawl.datagen.spread.spread_tables` says on which.
    """
    began, cpu_before = time.monotonic(), time.process_time()
    tables = inputs_of(plan, CATALOGUE)
    # Scales that differ may need the same table, where both are below a table's least size.
    keys = {need: (need.table, tables[need.table].rows(need.scale), need.replica) for need in needed.tables}
    requests = {key: _request(plan, need) for need, key in keys.items()}
    sizes = {key: need.bytes for need, key in keys.items()}
    generated = generate(
        list(requests.values()),
        spread_tables(list(requests.values()), list(sizes.values()), volumes.inputs(), order, tables),
        processes=processes,
        bufsize_bytes=plan.options.bufsize_bytes,
        progress=progress,
        verify=verify,
        tables=tables,
    )
    made = dict(zip(requests, generated, strict=True))
    directories = {(need.table, need.scale, need.replica): made[key].directory for need, key in keys.items()}
    return Inputs(directories, generated, time.monotonic() - began, time.process_time() - cpu_before)


def check_space(plan: Plan, needed: Needs, volumes: Volumes, order: VolumeOrder) -> None:
    """Refuse a run that would not fit, file system by file system.

    Temporary tables count in full, and input tables as far as they are not there yet.  By rotation they
    spread evenly over the volumes of their role; by free space they go where there is room, so that
    the free space of the role's file systems counts together.
    """
    missing = SPACE_MARGIN * sum(_missing_inputs(plan, needed, volumes))
    results = needed.space_bytes["data"] - SPACE_MARGIN * sum(need.bytes for need in needed.tables)
    wanted = dict(needed.space_bytes) | {"data": int(missing + max(results, 0.0))}
    by_free_space = order == "free-space"
    systems = file_systems(volumes.directories, wanted, by_free_space=by_free_space)
    ephemeral = ephemeral_storage(volumes.directories, wanted, by_free_space=by_free_space)
    for system in (*systems, *ephemeral):
        size = system.needed_bytes or 0
        if size > system.free_bytes:
            roles = sorted(system.roles)
            others = order == "rotation" and len(systems) > 1
            raise UnsuitableMachineError(
                f"the run would not fit: {', '.join(roles)} need {format_bytes(size)} more "
                f"and {format_bytes(system.free_bytes)} are free"
                + (f" of the {EPHEMERAL}" if system.kind == EPHEMERAL else ""),
                where=", ".join(system.directories),
                cure=EPHEMERAL_CURE
                if system.kind == EPHEMERAL
                else "free space, choose a smaller --scale, or name larger directories with "
                + ", ".join(f"--{role}" for role in roles)
                + (", or let the space decide with --volume-order free-space" if others else ""),
            )


def _missing_inputs(plan: Plan, needed: Needs, volumes: Volumes) -> Iterator[int]:
    """Bytes of each table that no volume of data holds finished."""
    places = [volume / INPUTS_DIRECTORY for volume in volumes.directories["data"]]
    tables = inputs_of(plan, CATALOGUE)
    for need in needed.tables:
        request = _request(plan, need)
        if not any((request.directory(tables[need.table], place) / MANIFEST).is_file() for place in places):
            yield need.bytes


def _request(plan: Plan, need: TableNeed) -> TableRequest:
    return TableRequest(
        table=need.table, scale=need.scale, seed=plan.seed, replica=need.replica, saving=plan.saving
    )
