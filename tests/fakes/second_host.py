"""Figures of the host and the programs of a stored run once more, by NumPy without ``mawl``.

Written from docs/design/host.md and figures.md, not from the code that they check.  Figures that
a run does not have are left out.
"""

from __future__ import annotations

from pathlib import Path

import numpy

from tests.fakes.second_formula import Column, Course, Figures, Folder, course_of, held

CPU = ("user", "system", "interrupt", "iowait", "idle", "steal")
BUSY = ("user", "system", "interrupt")
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
        **_means(folder, course),
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


def _means(folder: Folder, course: Course) -> Figures:
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
