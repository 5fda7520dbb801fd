"""The slowdown of a stored run and its parts once more: NumPy over ``jobs.parquet``, without ``mawl``.

Written from docs/design/answer.md, not from the code that it checks.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from tests.fakes.second_formula import Column, Course, Figures, Folder, course_of, figures, held

PARTS = {
    "on_cpu": "on_cpu_seconds",
    "run_queue": "run_queue_seconds",
    **{role: f"blocked_{role}_seconds" for role in ("data", "work", "util")},
    "other": "blocked_other_seconds",
}


KNOTS = json.loads((Path(__file__).parents[2] / "src/mawl/plan/reference_times.json").read_text())["knots"]


def reference_time(program: str, scale: float) -> float:
    """Straight between the knots and beyond them; below the first at least in proportion to the scale."""
    at = numpy.array([knot["scale"] for knot in KNOTS])
    seconds = numpy.array([knot["programs"][program]["median"] for knot in KNOTS])
    if at[0] <= scale <= at[-1]:
        return float(numpy.interp(scale, at, seconds))
    pair = slice(0, 2) if scale < at[0] else slice(-2, None)
    line = numpy.polynomial.Polynomial.fit(at[pair], seconds[pair], 1)
    return float(max(line(scale), seconds[0] * min(scale / at[0], 1.0)))


def slowdown_by_table(path: Path, scale: float) -> float:
    """W of a run of mawl's programs that all finished, from its table of jobs and that of reference times."""
    jobs = pq.read_table(path / "jobs.parquet", columns=["program", "real_time_seconds"])
    whole = sum(reference_time(program, scale) for program in jobs["program"].to_pylist())
    return float(pc.sum(jobs["real_time_seconds"]).as_py() / whole)


def slowdowns(path: Path) -> dict[str, float]:
    """Dotted names of the summary and their values; the parts only if the waits of every job are known.

    Empty for a run without reference times.
    """
    planned = json.loads((path / "run.json").read_text())["planned_jobs"]
    reference = {job["job"]: job["reference_seconds"] for job in planned if job["reference_seconds"]}
    if not reference:
        return {}
    table = pq.read_table(path / "jobs.parquet")
    table = table.filter(pc.equal(table["outcome"], "finished"))
    table = table.filter(pc.is_in(table["job"], pa.array(reference)))
    real = table["real_time_seconds"].to_numpy()
    whole = sum(reference[name] for name in table["job"].to_pylist())
    found = {"answer.slowdown": real.sum() / whole}
    waits = numpy.array([table[name].to_numpy(zero_copy_only=False) for name in PARTS.values()], float)
    if numpy.isnan(waits[:-1]).any():
        return found
    waits = numpy.nan_to_num(waits)
    waits *= numpy.minimum(1.0, real / waits.sum(axis=0))  # several threads may pass the real time
    waits[-1] = real - waits[:-1].sum(axis=0)
    return found | {
        f"answer.parts.{name}": part / whole for name, part in zip(PARTS, waits.sum(axis=1), strict=True)
    }


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
        r"pressure: tasks waited for (CPU|I/O|memory) (.+) of the active phase": lambda one: pressure(
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


CPU = ("user", "system", "interrupt", "iowait", "idle", "steal")
COUNTED = ("reads", "writes", "read_bytes", "written_bytes", "flushes")
LEFT_OUT = {"failed": "failed", "lost": "lost", "stopped": "stopped", "timed_out": "timed_out"}
PHASES = {"jobs": "total", "verify": "verify", "startup": "startup"}


def host_figures(path: Path) -> Figures:
    """Dotted names of the summary and their values."""
    folder = Folder(path)
    course = course_of(folder)
    return {
        **_jobs(folder),
        **_programs(folder),
        **_host_means(folder, course),
        **_processors(folder, course),
        **_devices(folder, course),
    }


def _jobs(folder: Folder) -> Figures:
    outcomes = folder.every["outcome"].to_pylist()
    verified = folder.every["verified"].to_pylist()
    pairs = list(zip(outcomes, verified, strict=True))
    return {
        "jobs.total": len(pairs),
        "jobs.counted": folder.jobs.num_rows,
        "jobs.finished": outcomes.count("finished"),
        "jobs.unverified": sum(pair == ("finished", None) for pair in pairs),
        "jobs.left_out.wrong_answer": sum(pair == ("finished", False) for pair in pairs),
        **{f"jobs.left_out.{name}": outcomes.count(word) for name, word in LEFT_OUT.items()},
        "time.system_cpu_seconds": folder.column("system_cpu_seconds").sum(),
        "time.os_memory_bytes": folder.column("os_memory_bytes").sum(),
    }


def _programs(folder: Folder) -> Figures:
    names = numpy.array(folder.jobs["program"].to_pylist())
    real = folder.column("real_time_seconds")
    found: Figures = {}
    for name in set(names.tolist()):
        own = names == name
        found[f"programs.{name}.jobs"] = int(own.sum())
        for word, figure in (("median", numpy.median), ("min", numpy.min), ("max", numpy.max)):
            found[f"programs.{name}.real_time_seconds.{word}"] = float(figure(real[own]))
        for kind in ("user", "system"):
            found[f"programs.{name}.{kind}_cpu_seconds"] = folder.column(f"{kind}_cpu_seconds")[own].sum()
    return found


def _host_means(folder: Folder, course: Course) -> Figures:
    elapsed = course.end - course.start
    read, written = (folder.column(f"application_{way}_bytes").sum() for way in ("read", "written"))
    path = "io.application.run_mean"
    return {
        f"{path}.read_bytes_per_second": read / elapsed,
        f"{path}.write_bytes_per_second": written / elapsed,
        f"{path}.total_bytes_per_second": (read + written) / elapsed,
    }


def _gained(folder: Folder, name: str, course: Course) -> float | None:
    """What a counter gained between the first start and the last end; samples must cover half of that."""
    edges = numpy.array([course.start, course.end])
    at = folder.counter(name, edges)
    if at is None or folder.covered(name, edges)[0] < 0.5 * (course.end - course.start):
        return None
    return float(at[1] - at[0])


def _processors(folder: Folder, course: Course) -> Figures:
    spent = {name: _gained(folder, f"host.cpu_{name}_seconds", course) for name in CPU}
    known = {name: value for name, value in spent.items() if value is not None}
    if len(known) < len(CPU):
        return {}
    whole = sum(known.values())
    return {
        "host.cpu_busy_ratio": sum(known[name] for name in BUSY) / whole,
        **{f"host.cpu_{name}_ratio": known[name] / whole for name in CPU if name != "idle"},
    }


def _devices(folder: Folder, course: Course) -> Figures:
    series = {name for name in folder.samples["series"].to_pylist() if name.startswith("device.")}
    nodes = folder.nodes("host.cpu_user_seconds")
    if not nodes:
        return {}
    assert len(nodes) == 1, "figures of devices are of one machine"
    prefix = f"{nodes[0]}:" if len(folder.facts["nodes"]) > 1 else ""
    found: Figures = {}
    for device in {name.split(".")[1] for name in series}:
        gained = {
            name: _gained(folder, f"device.{device}.{name}", course)
            for name in (*COUNTED, "read_seconds", "write_seconds", "busy_seconds")
        }
        path = f"host.device.{prefix}{device}"
        found |= {
            f"{path}.{name}": held(folder, f"device.{device}.{name}", course)
            for name in COUNTED
            if gained[name] is not None
        }
        for way in ("read", "write"):
            number, seconds = gained[f"{way}s"], gained[f"{way}_seconds"]
            if number and seconds is not None:
                found[f"{path}.{way}_await_seconds.mean"] = seconds / number
        if gained["busy_seconds"] is not None:
            found[f"{path}.utilisation_ratio"] = gained["busy_seconds"] / _covered(folder, device, course)
    return found


def _covered(folder: Folder, device: str, course: Course) -> float:
    edges: Column = numpy.array([course.start, course.end])
    return float(folder.covered(f"device.{device}.busy_seconds", edges)[0])


BUCKET_RATIO = 1 / 16
WITHHELD_ABOVE_RATIO = 0.1
"""Others' part of the devices' bytes: above it the headroom of storage is null (figures.md, Bytes)."""
WITHHELD_FROM_BYTES_PER_SECOND = 5e6
"""A slower rate of others' bytes withholds nothing."""
STORAGE_HEADROOM = "limit.headroom.storage_ratio"


def of(summary: Any, path: str) -> float | None:
    """A figure of the summary by its dotted name."""
    for name in path.split("."):
        summary = summary[name]
    value: float | None = summary
    return value


def _reason(summary: Any, path: str) -> bool:
    """Whether the summary says why a figure, or what it is in, is missing."""
    parts = path.split(".")
    return any(".".join(parts[:length]) in summary["missing"] for length in range(1, len(parts) + 1))


def _withheld(summary: Any, second: dict[str, float]) -> bool:
    """Whether others moved so much that the headroom of storage is null.

    The second computation has no bytes of others where the kernel does not count dirty pages by file: then
    the summary's own ratio decides.
    """
    block = summary["io"]["foreign"]
    if block is None or block["ratio"] is None:
        return False
    ratio: float = second.get("io.foreign.ratio", block["ratio"])
    rate: float = block["total_bytes_per_second"]
    return ratio > WITHHELD_ABOVE_RATIO and rate >= WITHHELD_FROM_BYTES_PER_SECOND


def compare(summary: Any, folder: Path, fewest: int = 120) -> None:
    """Every figure of the second computation is the summary's; quantiles within their bucket.

    ``fewest`` of them are wanted at least.
    """
    second, wrong = {**figures(folder), **host_figures(folder), **slowdowns(folder)}, {}
    tables = Folder(folder)
    if summary["kind"] == "measured":
        second |= shares(tables)
    if (limit := summary["limit"]) is not None and summary["kind"] == "measured":
        second |= headroom(tables, course_of(tables), limit)
        lines = [line["sentence"] for line in limit["evidence"]]
        for sentence, (quoted, again) in evidence(tables, course_of(tables), lines).items():
            assert quoted == pytest.approx(again, rel=0.006, abs=0.0051), sentence
    if limit is not None and _withheld(summary, second) and of(summary, STORAGE_HEADROOM) is None:
        assert "other programs moved" in summary["missing"][STORAGE_HEADROOM]
        second.pop(STORAGE_HEADROOM, None)
    for path, value in second.items():
        ours = of(summary, path)
        above = BUCKET_RATIO if path.endswith(("_seconds.p50", "_seconds.p99")) else 0.0
        slack = 1e-6 * abs(value) + 2e-6
        if ours is None or not value - slack <= ours <= value * (1 + above) + slack:
            # A quantile is at most the longest call.  A sum with an unknown part is null on both sides.
            if ours is None and value != value and _reason(summary, path):
                continue
            wrong[path] = (ours, value)
    assert not wrong, str(wrong)
    assert len(second) >= fewest, len(second)
