"""Which temporary files a derived job reads: one rule for the plan, which counts bytes, and for the job.

A step writes one file in each role that it writes to.  A step that reads ``work`` or ``util`` takes the
files that earlier steps wrote there, the newest first, and where they hold fewer bytes than it reads goes
over them again; where nothing is older, it reads back what it writes itself.  A file goes when no later step
reads it.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from mawl.records.model.derived import DerivedJob, DerivedStep, RoleLoad
from mawl.records.spec.program_options import Role

WORD_BYTES = 8
"""Bytes are moved in whole words of this size."""


def scaled(job: DerivedJob, scale: float) -> DerivedJob:
    """The job at a scale: bytes, requests, rows, CPU seconds and memory in proportion.

    What is there stays there: a step that moves bytes in a role moves at least a word.
    """
    steps = tuple(
        msgspec.structs.replace(
            step,
            rows=None if step.rows is None else round(step.rows * scale),
            cpu_seconds=step.cpu_seconds * scale,
            memory_bytes=round(step.memory_bytes * scale),
            data=_scaled_load(step.data, scale),
            work=_scaled_load(step.work, scale),
            util=_scaled_load(step.util, scale),
        )
        for step in job.steps
    )
    return msgspec.structs.replace(job, steps=steps)


def at_core_speed(job: DerivedJob, core_speed: float | None) -> DerivedJob:
    """The job with the CPU seconds that it takes on a core of this speed.

    As it is where one of the two speeds is not known.
    """
    if core_speed is None or job.core_speed is None:
        return job
    factor = job.core_speed / core_speed
    steps = tuple(msgspec.structs.replace(step, cpu_seconds=step.cpu_seconds * factor) for step in job.steps)
    return msgspec.structs.replace(job, steps=steps)


def _scaled_load(load: RoleLoad, scale: float) -> RoleLoad:
    return RoleLoad(
        read_bytes=_words(load.read_bytes * scale),
        written_bytes=_words(load.written_bytes * scale),
        random_reads=_at_least_one(load.random_reads * scale),
        random_writes=_at_least_one(load.random_writes * scale),
    )


def _words(size: float) -> int:
    return 0 if size <= 0 else max(round(size / WORD_BYTES), 1) * WORD_BYTES


def _at_least_one(number: float) -> int:
    return 0 if number <= 0 else max(round(number), 1)


class Files(msgspec.Struct, frozen=True):
    """The files of one role of a job, by the number of the step that writes each.

    ``sources[step]`` are the files that the step reads, in order; ``gone[step]`` those that go after it.
    ``peak_bytes`` is the most that lies there at once.
    """

    sources: dict[int, tuple[int, ...]]
    gone: dict[int, tuple[int, ...]]
    peak_bytes: int


def files_of(steps: Sequence[DerivedStep], role: Role) -> Files:
    """The files that a job's steps write and read in a role."""
    sizes: dict[int, int] = {}
    last_use: dict[int, int] = {}
    sources: dict[int, tuple[int, ...]] = {}
    for number, step in enumerate(steps):
        load = step.load(role)
        own = [number] if load.written_bytes else []
        if load.read_bytes:
            chosen, held = [], 0
            for file in reversed(list(sizes) or own):
                chosen.append(file)
                held += sizes.get(file, load.written_bytes)
                if held >= load.read_bytes:
                    break
            sources[number] = tuple(chosen)
            last_use |= dict.fromkeys(chosen, number)
        if own:
            sizes[number] = load.written_bytes
            last_use.setdefault(number, number)
    gone: dict[int, tuple[int, ...]] = {}
    held = peak = 0
    for number in range(len(steps)):
        held += sizes.get(number, 0)
        peak = max(peak, held)
        ended = tuple(file for file, last in last_use.items() if last == number and file <= number)
        gone[number] = ended
        held -= sum(sizes[file] for file in ended)
    return Files(sources=sources, gone=gone, peak_bytes=peak)


def peak_memory_bytes(job: DerivedJob) -> int:
    """Memory of the step that holds most."""
    return max(step.memory_bytes for step in job.steps)


def moved_bytes(job: DerivedJob) -> int:
    """Bytes that the job moves in all roles."""
    return sum(step.moved_bytes for step in job.steps)


def cpu_seconds(job: DerivedJob) -> float:
    """CPU seconds of all steps."""
    return sum(step.cpu_seconds for step in job.steps)


def results_bytes(job: DerivedJob) -> int:
    """Bytes that the job leaves under data."""
    return sum(step.data.written_bytes for step in job.steps)
