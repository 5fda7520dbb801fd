"""How many pods a node of a cluster carries, if each holds one session."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

from mawl.base.units import format_memory, format_plain
from mawl.records.model.qualification import QualificationAnswer


class PodSize(NamedTuple):
    """What a pod requests: processors as Kubernetes counts them (hardware threads), and bytes of memory."""

    cpus: float
    memory_bytes: int


def pods_sentence(answer: QualificationAnswer, pod: PodSize) -> str:
    """The least of what the requests allow and of the sessions that fit, and which of them binds."""
    size = f"{format_plain(pod.cpus)} CPUs and {format_memory(pod.memory_bytes)}"
    room, fits = dict(_room(answer, pod)), answer.fits
    unknown = [name for name, number in room.items() if number is None]
    if unknown:
        return f"Pods of {size}: how many fit is not known, nor are the {' and '.join(unknown)} of the node."
    least = min(number for number in room.values() if number is not None)
    each = ", ".join(f"{number} by the {name}" for name, number in room.items())
    if fits.sessions is None:
        why = fits.reason or "mawl could not find it"
        return f"Pods of {size}, one session each: at most {least} ({each}); sessions: not known, {why}."
    span = "" if fits.low is None or fits.high is None else f" ({fits.low} to {fits.high})"
    return (
        f"Pods of {size}, one session each: the node carries {min(least, fits.sessions)} "
        f"({each}, {fits.sessions}{span} by the sessions that fit)."
    )


def _room(answer: QualificationAnswer, pod: PodSize) -> Iterator[tuple[str, int | None]]:
    """How many pods the processors and the memory hold, within the limits of the measured container."""
    system = answer.system
    cpus = None if system is None else system.logical_cpus or system.cores
    quota = None if system is None else system.cpu_quota
    held = [bound for bound in (cpus, quota) if bound is not None]
    yield "CPUs", math.floor(min(held) / pod.cpus) if held else None
    sizes = [] if system is None else [system.memory_bytes, system.memory_limit_bytes]
    known = [size for size in sizes if size is not None]
    yield "memory", math.floor(min(known) / pod.memory_bytes) if known else None
