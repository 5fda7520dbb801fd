"""Make or check the input tables of a plan, and show how far that is.  Shared by generate and run."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import NamedTuple, TextIO

from mawl.datagen.generate import Generated, Progress, TableRequest, generate
from mawl.errors import UnsuitableMachineError
from mawl.model.options import ROLES
from mawl.plan.inputs import INPUTS
from mawl.plan.needs import Needs
from mawl.plan.workload import Plan
from mawl.units import format_bytes
from mawl.volumes import Volumes


class Inputs(NamedTuple):
    """Where each input table lies, by (table, scale, replica), and how long that took."""

    directories: dict[tuple[str, float, int], Path]
    generated: list[Generated]
    seconds: float


def make_inputs(
    plan: Plan, volumes: Volumes, needed: Needs, *, processes: int, verify: bool = False
) -> Inputs:
    """Make what is missing, checking finished tables by their sizes, or in full with ``verify``."""
    began = time.monotonic()
    view = _View(sys.stderr)
    # Scales that differ may need the same table, where both are below a table's least size.
    keys = {need: (need.table, INPUTS[need.table].rows(need.scale), need.replica) for need in needed.tables}
    requests = {
        key: TableRequest(
            table=need.table, scale=need.scale, seed=plan.seed, replica=need.replica, saving=plan.saving
        )
        for need, key in keys.items()
    }
    generated = generate(
        list(requests.values()),
        volumes.inputs(),
        processes=processes,
        bufsize_bytes=plan.options.bufsize_bytes,
        progress=view.show,
        verify=verify,
    )
    view.close()
    made = dict(zip(requests, generated, strict=True))
    directories = {(need.table, need.scale, need.replica): made[key].directory for need, key in keys.items()}
    return Inputs(directories, generated, time.monotonic() - began)


def check_space(needed: Needs, volumes: Volumes) -> None:
    """Refuse a run whose temporary tables would not fit, file system by file system.

    Inputs are checked by :func:`make_inputs`, which knows what is there already.
    """
    wanted: dict[int, int] = {}
    free: dict[int, tuple[int, Path, set[str]]] = {}
    for role in ROLES:
        if role == "data":
            continue
        places = volumes.directories[role]
        for place in places:
            device = place.stat().st_dev
            status = os.statvfs(place)
            wanted[device] = wanted.get(device, 0) + needed.space_bytes[role] // len(places)
            free.setdefault(device, (status.f_bavail * status.f_frsize, place, set()))[2].add(role)
    for device, size in wanted.items():
        available, place, roles = free[device]
        if size > available:
            raise UnsuitableMachineError(
                f"the run would not fit: its temporary tables under {' and '.join(sorted(roles))} need "
                f"{format_bytes(size)} of space and {format_bytes(available)} are free",
                where=str(place),
                cure="free space, choose a smaller --scale, or name larger directories with "
                + " and ".join(f"--{role}" for role in sorted(roles)),
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
