"""Recordings of hosts in an imported run: its time where it has no jobs, its devices without roles."""

from __future__ import annotations

import re

import numpy as np

from mawl.analysis.host_parts import part_names
from mawl.analysis.series import Samples
from mawl.analysis.timeline import Timeline
from mawl.model.run import RunFacts

NO_JOBS = "no job was imported, only recordings of hosts or storage"

_RECORDED = ("host.", "device.")
_PARTITION = re.compile(r"(.*[0-9])p[0-9]+|(.*?[a-z])[0-9]+")
_UPPER = re.compile(r"(dm-|md|loop|ram|zram|sr|cd|fd|bcache|drbd|hdiskpower|vpath|dlmfdrv|VxVM|vol)[0-9]*.*")
"""Names of devices whose bytes are those of others below them, or of no disk."""


def interval_seconds(facts: RunFacts, samples: Samples | None) -> float:
    """How far the samples of an imported run lie apart: the longest median step of the processors or of a
    kind of part, of any node; 0 for other runs."""
    if facts.kind != "imported" or samples is None:
        return 0.0
    longest = 0.0
    for node in samples.nodes:
        kinds = {name.partition(".")[0]: name for name in samples.names(node) if name.startswith(_RECORDED)}
        steps = [
            float(np.median(np.diff(series.times)))
            for name in kinds.values()
            if (series := samples.series(node, name)) is not None and len(series.times) > 2
        ]
        longest = max(longest, max(steps, default=0.0))
    return longest


def recorded(facts: RunFacts, samples: Samples | None) -> Timeline | None:
    """The time of an imported run without jobs: from the first sample of any host to the last."""
    if facts.kind != "imported" or samples is None:
        return None
    spans = [
        (float(series.times[0]), float(series.times[-1]))
        for node in samples.nodes
        for name in samples.names(node)
        if name.startswith(_RECORDED) and (series := samples.series(node, name)) is not None
    ]
    if not spans:
        return None
    start, end = min(first for first, _ in spans), max(last for _, last in spans)
    if end <= start:
        return None
    return Timeline(
        started_at=start,
        ended_at=end,
        active_seconds=end - start,
        peak_concurrent=None,
        mean_concurrent=None,
        seconds_near_peak=None,
        at_once_unknown=NO_JOBS,
    )


def disks(samples: Samples) -> list[str]:
    """Block devices whose bytes are nobody else's, of all nodes: no partitions, and nothing that lies on
    other devices where these are there, too."""
    found: set[str] = set()
    for node in samples.nodes:
        found |= set(whole_devices(samples, node))
    return sorted(found)


def whole_devices(samples: Samples, node: str) -> list[str]:
    """:func:`disks` of one node."""
    names = set(part_names(samples, node, "device"))
    whole = {name for name in names if not (_parents(name) & names)}
    return sorted({name for name in whole if not _UPPER.fullmatch(name)} or whole)


def _parents(name: str) -> set[str]:
    """``sda`` of sda1, ``nvme0n1`` of nvme0n1p1."""
    match = _PARTITION.fullmatch(name)
    return {part for part in match.groups() if part} if match else set()
