"""Make or check the input tables of a plan, and show how far that is.  Shared by generate and run."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from pathlib import Path
from typing import NamedTuple, TextIO

from mawl.datagen.generate import Generated, Progress, TableRequest, generate
from mawl.errors import UnsuitableMachineError
from mawl.model.options import ROLES
from mawl.plan.inputs import INPUTS
from mawl.plan.needs import SPACE_MARGIN, Needs, TableNeed
from mawl.plan.workload import Plan
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
    plan: Plan, volumes: Volumes, needed: Needs, *, processes: int, verify: bool = False
) -> Inputs:
    """Make what is missing, checking finished tables by their sizes, or in full with ``verify``."""
    began, cpu_before = time.monotonic(), time.process_time()
    # Scales that differ may need the same table, where both are below a table's least size.
    keys = {need: (need.table, INPUTS[need.table].rows(need.scale), need.replica) for need in needed.tables}
    requests = {key: _request(plan, need) for need, key in keys.items()}
    with contextlib.closing(_View(sys.stderr)) as view:
        generated = generate(
            list(requests.values()),
            volumes.inputs(),
            processes=processes,
            bufsize_bytes=plan.options.bufsize_bytes,
            progress=view.show,
            verify=verify,
        )
    made = dict(zip(requests, generated, strict=True))
    directories = {(need.table, need.scale, need.replica): made[key].directory for need, key in keys.items()}
    return Inputs(directories, generated, time.monotonic() - began, time.process_time() - cpu_before)


def check_space(plan: Plan, needed: Needs, volumes: Volumes) -> None:
    """Refuse a run that would not fit, file system by file system.

    Temporary tables count in full, spread over the volumes of their role; input tables as far as
    they have no manifest yet.
    """
    wanted: dict[int, float] = {}
    free: dict[int, tuple[int, Path, set[str]]] = {}
    bytes_of = dict(needed.space_bytes) | {"data": _missing_inputs(plan, needed, volumes)}
    for role in ROLES:
        places = volumes.directories[role]
        for place in places:
            device = place.stat().st_dev
            status = os.statvfs(place)
            # Input tables lie on the first volume of data.
            share = bytes_of[role] / len(places) if role != "data" else bytes_of[role] * (place == places[0])
            wanted[device] = wanted.get(device, 0.0) + share
            free.setdefault(device, (status.f_bavail * status.f_frsize, place, set()))[2].add(role)
    for device, size in wanted.items():
        available, place, roles = free[device]
        if size > available:
            raise UnsuitableMachineError(
                f"the run would not fit: {', '.join(sorted(roles))} need {format_bytes(size)} more "
                f"and {format_bytes(available)} are free",
                where=str(place),
                cure="free space, choose a smaller --scale, or name larger directories with "
                + ", ".join(f"--{role}" for role in sorted(roles)),
            )


def _missing_inputs(plan: Plan, needed: Needs, volumes: Volumes) -> float:
    inputs = volumes.directories["data"][0] / INPUTS_DIRECTORY
    return SPACE_MARGIN * sum(
        need.bytes
        for need in needed.tables
        if not (_request(plan, need).directory(INPUTS[need.table], inputs) / MANIFEST).is_file()
    )


def _request(plan: Plan, need: TableNeed) -> TableRequest:
    return TableRequest(
        table=need.table, scale=need.scale, seed=plan.seed, replica=need.replica, saving=plan.saving
    )


class _View:
    """Progress of a generation: a rewritten line on a terminal, a plain line every 5 s elsewhere."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._terminal = stream.isatty()
        self._next = time.monotonic() + (0.2 if self._terminal else 5.0)

    def show(self, progress: Progress) -> None:
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + (0.2 if self._terminal else 5.0)
        text = (
            f"{'checking' if progress.checking else 'generating'} {progress.table}: "
            f"{format_bytes(progress.done_bytes)} of {format_bytes(progress.total_bytes)}"
        )
        self._stream.write(f"\r\x1b[K{text}" if self._terminal else f"{text}\n")
        self._stream.flush()

    def close(self) -> None:
        if self._terminal:
            self._stream.write("\r\x1b[K")
            self._stream.flush()
