"""The figures of a stored run once more, by other means: NumPy over its Parquet files, without ``mawl``.

Written from the definitions (docs/design/figures.md, io-by-role.md), not from the code that they
check.  Figures that a run does not have are left out.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy
import pyarrow.compute as pc
import pyarrow.parquet as pq

Figures = dict[str, float]
Column = numpy.ndarray[Any, numpy.dtype[Any]]
ROLES = ("data", "work", "util")
DIRECTIONS = {"read": ("reads", "read_bytes"), "write": ("writes", "written_bytes")}


class Folder:
    """Columns of jobs that count, and series of samples by node."""

    def __init__(self, path: Path) -> None:
        self.facts = json.loads((path / "run.json").read_text())
        every = pq.read_table(path / "jobs.parquet")
        self.every = every
        good = pc.and_(
            pc.equal(every["outcome"], "finished"),
            pc.fill_null(pc.invert(pc.equal(every["verified"], False)), True),
        )
        self.jobs = every.filter(good)
        self.samples = pq.read_table(path / "samples.parquet")

    def column(self, name: str) -> Column:
        """A column of the jobs that count, as floating point."""
        column: Column = self.jobs[name].to_numpy().astype(float)
        return column

    def times(self, name: str) -> Column:
        """Points in time of all jobs, in seconds since the epoch."""
        column: Column = self.every[name].cast("int64").to_numpy() / 1e6
        return column

    def nodes(self, name: str) -> list[str]:
        """The nodes that a series is of."""
        rows = self.samples.filter(pc.equal(self.samples["series"], name))
        return sorted(set(rows["node"].to_pylist()))

    def sampled(self, name: str) -> list[tuple[Column, Column]]:
        """Times (seconds since the epoch, ascending) and values of a series, of each node that has it."""
        rows = self.samples.filter(pc.equal(self.samples["series"], name)).sort_by("sampled_at")
        own = [rows.filter(pc.equal(rows["node"], node)) for node in pc.unique(rows["node"])]
        return [(one["sampled_at"].cast("int64").to_numpy() / 1e6, one["value"].to_numpy()) for one in own]

    def counter(self, name: str, at: Column) -> Column | None:
        """A cumulative series of all nodes at points in time, held where samples do not reach."""
        sampled = self.sampled(name)
        if not sampled:
            return None
        assert all((numpy.diff(values) >= 0).all() for _, values in sampled), name
        found: Column = numpy.sum([numpy.interp(at, times, values) for times, values in sampled], axis=0)
        return found

    def covered(self, name: str, edges: Column) -> Column:
        """Seconds of each window that the samples of every node cover."""
        every = [numpy.diff(numpy.clip(edges, times.min(), times.max())) for times, _ in self.sampled(name)]
        least: Column = numpy.min(every, axis=0)
        return least

    def rate(self, names: list[str], edges: Column) -> Column:
        """What counters gained together per second in each window; nan where samples cover less than half.

        From the first sample on: the difference of two counts since boot is exact to 1e-4 bytes only.
        """
        total = numpy.zeros(len(edges) - 1)
        for name in names:
            sampled = self.sampled(name)
            if not sampled:
                return numpy.full(len(edges) - 1, numpy.nan)
            for times, values in sampled:
                covered = numpy.diff(numpy.clip(edges, times.min(), times.max()))
                known = covered >= 0.5 * numpy.diff(edges)
                gained = numpy.diff(numpy.interp(edges, times, values - values[0]))
                total += numpy.where(known, gained, numpy.nan) / numpy.where(known, covered, 1.0)
        return total


def figures(path: Path) -> Figures:
    """Dotted names of the summary and their values."""
    folder = Folder(path)
    course = course_of(folder)
    found = {**_times(folder, course), **_sums(folder, course), **_roles(folder, course), **_waits(folder)}
    for side, names in _sides(folder).items():
        found |= _windows(folder, f"io.{side}", names, course)
    return found


class Course:
    """The active phase and its windows; ``running`` jobs in the ``gaps`` (seconds) between events."""

    def __init__(self, start: float, turn: float, end: float, running: Column, gaps: Column) -> None:
        self.start, self.turn, self.end = start, turn, end
        self.running, self.gaps = running, gaps
        self.window = max(5.0, 0.01 * (turn - start))
        self.active = self._edges(start, turn)
        tail = self._edges(turn, end)[1:] if end - turn > 1e-6 else numpy.array([])
        self.whole = numpy.concatenate([self.active, tail])

    def _edges(self, start: float, end: float) -> Column:
        count = max(int(numpy.floor((end - start) / self.window + 0.5)), 1)
        return numpy.append(start + self.window * numpy.arange(count), end)


def course_of(folder: Folder) -> Course:
    """Running jobs counted between any two neighbouring events, of all jobs of the folder."""
    starts, ends = folder.times("started_at"), folder.times("ended_at")
    sessions = folder.facts["workload"]["sessions"]
    events = numpy.unique(numpy.concatenate([starts, ends]))
    middle = (events[1:] + events[:-1]) / 2
    running = ((starts[:, None] <= middle) & (middle < ends[:, None])).sum(axis=0)
    turn = ends.max()
    busy = numpy.flatnonzero(running >= max(3.0, 0.1 * sessions))
    if sessions >= 4:
        own = ends[~folder.every["trail_out"].to_numpy(zero_copy_only=False)]
        turn = min(events[busy[-1] + 1] if busy.size else turn, own.max() if own.size else turn)
    return Course(starts.min(), turn, ends.max(), running, numpy.diff(events))


def _times(folder: Folder, course: Course) -> Figures:
    real, user, system = (
        folder.column(f"{name}_seconds") for name in ("real_time", "user_cpu", "system_cpu")
    )
    ratios = (user + system) / real
    running, gaps = course.running, course.gaps
    return {
        "time.elapsed_seconds": course.end - course.start,
        "time.active_seconds": course.turn - course.start,
        "time.tail_seconds": course.end - course.turn,
        "time.real_time_seconds": real.sum(),
        "time.user_cpu_seconds": user.sum(),
        "time.memory_bytes": folder.column("memory_bytes").sum(),
        "cpu_real_ratio.of_sums": (user.sum() + system.sum()) / real.sum(),
        "cpu_real_ratio.mean": ratios.mean(),
        "cpu_real_ratio.stddev": ratios.std(ddof=1),
        "cpu_real_ratio.range": numpy.ptp(ratios),
        "cpu_real_ratio.without_run_queue": (user + system).sum()
        / (real - folder.column("run_queue_seconds")).sum(),
        "jobs.peak_concurrent": running.max(),
        "jobs.mean_concurrent": (running * gaps).sum() / gaps.sum(),
        "jobs.seconds_near_peak": gaps[running >= 0.9 * running.max()].sum(),
    }


def _sums(folder: Folder, course: Course) -> Figures:
    asked = {way: folder.column(f"application_{way}_bytes").sum() for way in ("read", "written")}
    dirtied = (folder.column("charged_written_bytes") - folder.column("cancelled_written_bytes")).sum()
    counted = folder.column("counted_read_bytes") + folder.column("counted_written_bytes")
    read = folder.column("own_read_bytes").sum()
    found = {
        **{f"io.application.{way}_bytes": value for way, value in asked.items()},
        "io.application.read_ratio": asked["read"] / (asked["read"] + asked["written"]),
        "io.dirtied.written_bytes": dirtied,
        "io.own.read_bytes": read,
        "io.reach.read_ratio": read / asked["read"],
        "io.coverage_ratio": counted.sum() / (asked["read"] + asked["written"]),
    }
    return found | _reached(folder, course, dirtied, asked["written"])


def _reached(folder: Folder, course: Course, dirtied: float, asked: float) -> Figures:
    """Device, own writes and foreign; nothing where the run does not know its devices."""
    names = _sides(folder).get("device")
    dirty = list(folder.facts["dirty"].values())
    if names is None or any(one["own_at_end_bytes"] is None for one in dirty):
        return {}
    device = {}
    for way, series in names.items():
        device[way] = sum(held(folder, one, course) for one in series)
    left = sum(one["own_at_end_bytes"] for one in dirty)
    removed = sum(one["removed_bytes"] for one in dirty)
    own = min(device["write"], max(dirtied - removed - left, 0.0))
    every = dict.fromkeys(("own_read_bytes", "charged_written_bytes", "cancelled_written_bytes"), 0.0)
    for name in every:
        for prefix in ("", "verify_"):
            every[name] += numpy.nan_to_num(folder.every[prefix + name].to_numpy().astype(float)).sum()
    dirtied_by_all = every["charged_written_bytes"] - every["cancelled_written_bytes"]
    own_of_all = min(device["write"], max(dirtied_by_all - removed - left, 0.0))
    foreign = {
        "read": max(device["read"] - every["own_read_bytes"], 0.0),
        "written": max(device["write"] - own_of_all, 0.0),
    }
    return {
        "io.device.read_bytes": device["read"],
        "io.device.written_bytes": device["write"],
        "io.own.written_bytes": own,
        "io.reach.write_ratio": own / asked,
        "io.dirtied.still_dirty_bytes": left,
        "io.dirtied.removed_bytes": removed,
        "io.foreign.read_bytes": foreign["read"],
        "io.foreign.written_bytes": foreign["written"],
        "io.foreign.ratio": sum(foreign.values()) / sum(device.values()),
    }


def held(folder: Folder, name: str, course: Course) -> float:
    """What a counter gained over the run, its rate held for one look beyond the first and the last."""
    edges = numpy.array([course.start, course.end])
    total = 0.0
    for times, values in folder.sampled(name):
        step = numpy.median(numpy.diff(times))
        beyond = sum(min(max(gap, 0.0), step) for gap in (times[0] - edges[0], edges[1] - times[-1]))
        gained = float(numpy.diff(numpy.interp(edges, times, values))[0])
        covered = float(numpy.diff(numpy.clip(edges, times.min(), times.max()))[0])
        total += gained + gained / covered * beyond
    return total


def _roles(folder: Folder, course: Course) -> Figures:
    moved = {
        role: sum(folder.column(f"{role}_{way}_bytes").sum() for way in ("read", "written"))
        for role in (*ROLES, "other")
    }
    found: Figures = {}
    for role in ROLES:
        if not moved[role] > 0:
            continue
        path = f"io.by_role.{role}"
        found[f"{path}.share_ratio"] = moved[role] / sum(moved.values())
        sequential = sum(folder.column(f"{role}_sequential_{way}_bytes").sum() for way in ("read", "written"))
        found[f"{path}.sequential_ratio"] = sequential / moved[role]
        for direction, (calls, moved_bytes) in DIRECTIONS.items():
            found[f"{path}.{moved_bytes}"] = folder.column(f"{role}_{moved_bytes}").sum()
            found |= _latency(folder, course, role, direction, calls)
    return found


def _latency(folder: Folder, course: Course, role: str, direction: str, calls: str) -> Figures:
    number = folder.column(f"{role}_{calls}").sum()
    if not number > 0:  # also where it is not known
        return {}
    path = f"io.by_role.{role}.{direction}_latency_seconds"
    seconds = folder.column(f"{role}_{direction}_seconds").sum()
    found = {f"{path}.mean": seconds / number}
    sizes = folder.jobs[f"{role}_{direction}_size_bytes_histogram"].to_pylist()
    every = sorted(bound for row in sizes for bound, count in row or [] for _ in range(count))
    moved = folder.column(f"{role}_{DIRECTIONS[direction][1]}").sum()
    requests = f"io.by_role.{role}.{direction}_request_bytes"
    found[f"{requests}.mean"] = moved / number
    if every:
        found[f"{requests}.p50"] = float(every[max(-(-len(every) // 2) - 1, 0)])
    found[f"{path}.max"] = folder.column(f"{role}_longest_{direction}_seconds").max()
    histogram = folder.jobs[f"{role}_{direction}_nanoseconds_histogram"]
    pairs = [pair for row in histogram.to_pylist() for pair in row or []]
    values = numpy.repeat([float(bound) for bound, _ in pairs], [count for _, count in pairs])
    assert values.size == number
    values.sort()
    for name, share in (("p50", 0.5), ("p99", 0.99)):
        # The lower bound of the call's bucket: the figure lies at most 1/16 above.
        found[f"{path}.{name}"] = values[max(int(numpy.ceil(share * values.size)) - 1, 0)] / 1e9
    names = (f"role.{role}.{direction}_seconds", f"role.{role}.{calls}")
    if any(not folder.sampled(name) for name in names):  # the role's first call came after the last look
        return found
    # Per second of what each node's samples cover: nodes need not cover the same part of a window.
    time, number_of_calls = (folder.rate([name], course.whole) for name in names)
    with numpy.errstate(divide="ignore", invalid="ignore"):
        means = time / number_of_calls
    known = means[numpy.isfinite(means)]
    return found | ({f"{path}.peak": known.max()} if known.size else {})


def _waits(folder: Folder) -> Figures:
    blocked = {role: folder.column(f"blocked_{role}_seconds").sum() for role in (*ROLES, "other")}
    return {
        "wait.on_cpu_seconds": folder.column("on_cpu_seconds").sum(),
        "wait.run_queue_seconds": folder.column("run_queue_seconds").sum(),
        **{f"wait.blocked_seconds.{role}": value for role, value in blocked.items()},
    }


def _sides(folder: Folder) -> dict[str, dict[str, list[str]]]:
    devices = sorted({device for volume in folder.facts["volumes"] for device in volume["devices"]})
    known = devices and all(volume["devices"] for volume in folder.facts["volumes"])
    application = {"read": ["application_read_bytes"], "write": ["application_written_bytes"]}
    if not known:
        return {"application": application}
    return {
        "application": application,
        "device": {
            "read": [f"device.{device}.read_bytes" for device in devices],
            "write": [f"device.{device}.written_bytes" for device in devices],
        },
    }


def _windows(folder: Folder, path: str, names: dict[str, list[str]], course: Course) -> Figures:
    found: Figures = {f"{path}.window_seconds": course.window}
    first = pc.equal(folder.every["stage"], 1)
    began = folder.every.filter(first)["started_at"].cast("int64").to_numpy().max() / 1e6
    for direction, series in ({**names, "total": names["read"] + names["write"]}).items():
        whole, active = folder.rate(series, course.whole), folder.rate(series, course.active)
        long = numpy.diff(course.whole) >= 0.5 * course.window - 1e-6
        rates = {
            "peak": whole[long],
            "sustained": active,
            "active_mean": _between(folder, series, course.start, course.turn),
        }
        if began + course.window <= course.turn + course.window / 2:
            rates["initial"] = _between(folder, series, began, began + course.window)
            rates["peak"] = numpy.concatenate([rates["peak"], rates["initial"]])
        if numpy.isnan(rates["peak"]).all():
            rates["peak"] = whole
        for name, rate in rates.items():
            known = rate[~numpy.isnan(rate)]
            if known.size:
                value = numpy.median(known) if name == "sustained" else known.max()
                found[f"{path}.{name}.{direction}_bytes_per_second"] = float(value)
    return found


def _between(folder: Folder, series: list[str], start: float, end: float) -> Column:
    return folder.rate(series, numpy.array([start, end]))
