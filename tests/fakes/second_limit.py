"""Headroom and the figures of evidence of a stored run once more, by NumPy without ``mawl``.

Written from docs/design/verdict.md, caps.md and figures.md, not from the code that they check.
"""

from __future__ import annotations

import re
from typing import Any

import numpy

from tests.fakes.second_formula import Column, Course, Figures, Folder

UNITS = {"%": 0.01, "us": 1e-6, "ms": 1e-3, "s": 1.0, "B/s": 1.0, "kB/s": 1e3, "MB/s": 1e6, "GB/s": 1e9}
BUSY = ("user", "system", "interrupt")
LEFT = ("idle", "iowait")
NEAR, ABOVE = 0.95, 1.1
"""From this share of a cap on nothing is left of it; a device that moves so many times a cap is not held."""


def headroom(folder: Folder, course: Course, limit: Any) -> Figures:
    """Over the active phase: processors, storage by caps and busy time, memory; 0 of what limited the run.

    Slow processors and storage that takes long need not be full."""
    phase = numpy.array([course.start, course.turn])
    spent = {name: folder.rate([f"host.cpu_{name}_seconds"], phase)[0] for name in (*BUSY, *LEFT, "steal")}
    found = {"cpu": sum(spent[name] for name in LEFT) / sum(spent.values())}
    volumes = folder.facts["volumes"]
    if volumes and all(volume["devices"] for volume in volumes):
        found["storage"] = 1 - max(
            share for volume in volumes for share in _used(folder, course, volume, phase)
        )
    kinds = {cost["resource"]: cost["kind"] for cost in reversed(limit["costs"])}
    full = {
        name for name in (limit["verdict"], limit["second"]) if kinds.get(name) not in ("speed", "latency")
    }
    full = set() if limit["named"] is False else full
    found["memory"] = 0.0 if "memory" in full else _memory(folder, course, cached="memory" in kinds)
    return {
        f"limit.headroom.{name}_ratio": 0.0 if name in full else value
        for name, value in found.items()
        if value == value
    }


def shares(folder: Folder) -> Figures:
    """What the jobs that count did, as shares of their real time; what no job has is left out."""
    names = ("on_cpu", "run_queue", "blocked_data", "blocked_work", "blocked_util", "blocked_other")
    real = float(folder.column("real_time_seconds").sum())
    columns = {name: folder.column(f"{name}_seconds") for name in names}
    found = {
        f"wait.shares.{name.removeprefix('blocked_')}_ratio": float(numpy.nansum(column)) / real
        for name, column in columns.items()
        if not numpy.isnan(column).all()
    }
    return found | {"wait.shares.unknown_ratio": max(1.0 - sum(found.values()), 0.0)}


def _used(folder: Folder, course: Course, volume: Any, phase: Column) -> list[float]:
    """Shares of the one device of a volume that are used: of its caps, and of its time where it lacks one."""
    (device,) = volume["devices"]
    found = []
    for way, series in (("read", "read"), ("write", "written")):
        caps = [
            cap["bytes_per_second"]
            for cap in volume["caps"] or ()
            if (cap["device"], cap["direction"]) == (device, way) and cap.get("bytes_per_second")
        ]
        rates = folder.rate([f"device.{device}.{series}_bytes"], course.active)
        if caps and numpy.nanmax(rates) <= ABOVE * min(caps):
            share = float(numpy.nanmedian(rates)) / min(caps)
            found.append(1.0 if share >= NEAR else share)
    if len(found) < 2:
        found.append(float(folder.rate([f"device.{device}.busy_seconds"], phase)[0]))
    return found


def _memory(folder: Folder, course: Course, *, cached: bool) -> float:
    (node,) = (one for one in folder.facts["nodes"] if not one.get("same_machine_as"))
    limit = node.get("memory_limit_bytes")
    held, free = (
        ("group.memory", "host.memory_free") if cached else ("jobs_resident", "host.memory_available")
    )
    values = _means(folder, f"{held if limit else free}_bytes", course.active)
    if limit:
        return 1 - float(numpy.nanmax(values) / limit)
    return float(numpy.nanmin(values) / node["memory_bytes"])


def _means(folder: Folder, name: str, edges: Column) -> Column:
    """The mean of a gauge in each window, straight between samples; nan where they cover less than half."""
    ((times, values),) = folder.sampled(name)
    points = numpy.unique(numpy.concatenate([times, edges.clip(times[0], times[-1])]))
    heights = numpy.interp(points, times, values)
    areas = numpy.concatenate([[0.0], numpy.cumsum(numpy.diff(points) * (heights[1:] + heights[:-1]) / 2)])
    inside = edges.clip(times[0], times[-1])
    covered = numpy.diff(inside)
    known = covered >= 0.5 * numpy.diff(edges)
    gained = numpy.diff(numpy.interp(inside, points, areas))
    return numpy.where(known, gained / numpy.where(covered > 0, covered, 1.0), numpy.nan)


def evidence(folder: Folder, course: Course, sentences: list[str]) -> dict[str, tuple[float, float]]:
    """The figures that lines of evidence quote: as they say, and once more."""
    phase, long = numpy.array([course.start, course.turn]), numpy.diff(course.active)

    def mean(values: Column) -> float:
        known = ~numpy.isnan(values)
        return float((values * long)[known].sum() / long[known].sum())

    def pressure(name: str) -> float:
        return mean(numpy.minimum(folder.rate([f"host.pressure_{name}_some_seconds"], course.active), 1.0))

    def moved(device: str) -> Column:
        return folder.rate([f"device.{device}.{way}_bytes" for way in ("read", "written")], course.active)

    def gained(device: str, *names: str) -> float:
        return float(folder.rate([f"device.{device}.{name}" for name in names], phase)[0])

    def busy() -> float:
        names = [f"host.cpu_{name}_seconds" for name in (*BUSY, *LEFT, "steal")]
        return mean(folder.rate(names[:3], course.active) / folder.rate(names, course.active))

    kinds: dict[str, Any] = {
        r"(\S+) moved (.+) in its highest window": lambda one: numpy.nanmax(moved(one)),
        r"(\S+) moved .+, (.+) in the median one": lambda one: numpy.nanmedian(moved(one)),
        r"a request to (\S+) took (.+) on average": lambda one: (
            gained(one, "read_seconds", "write_seconds") / gained(one, "reads", "writes")
        ),
        r"a request to (\S+) took .+ in use (.+) of the time": lambda one: min(
            gained(one, "busy_seconds"), 1.0
        ),
        r"pressure: tasks waited for (CPU|I/O|memory) (.+) of the time": lambda one: pressure(
            one.lower().replace("/", "")
        ),
        r"(processors) were busy (.+) of the time": lambda _: busy(),
    }
    found = {}
    for sentence in sentences:
        for kind, again in kinds.items():
            if match := re.match(kind, sentence):
                number, unit = match[2].split()
                found[f"{kind}: {sentence}"] = (float(number) * UNITS[unit], float(again(match[1])))
    return found
