"""The slowdown of a stored run and its parts once more: NumPy over ``jobs.parquet``, without ``mawl``.

Written from docs/design/capacity.md, not from the code that it checks.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy
import pyarrow.compute as pc
import pyarrow.parquet as pq

STORAGE = ("blocked_data_seconds", "blocked_work_seconds", "blocked_util_seconds")


def parts(real: float, waits: dict[str, float]) -> tuple[float, float]:
    """Compute and storage seconds of a real time; all waits shrink alike where threads pass it."""
    compute = waits["on_cpu_seconds"] + waits["run_queue_seconds"]
    storage = sum(waits[name] for name in STORAGE)
    whole = compute + storage + waits["blocked_other_seconds"]
    return compute * min(1.0, real / whole), storage * min(1.0, real / whole)


def slowdowns(path: Path) -> dict[str, float]:
    """Dotted names of the summary and their values: the medians over the jobs that count."""
    return {
        f"capacity.{name}.median": float(numpy.median(values)) for name, values in stretches(path).items()
    }


def stretches(path: Path) -> dict[str, list[float]]:
    """By part, for each job that counts: how many times as long as alone it took."""
    alone = {}
    for one in json.loads((path / "run.json").read_text())["alone"]:
        runs = sorted(one["runs"], key=lambda run: run["real_time_seconds"])
        middle = runs[(len(runs) - 1) // 2]
        waits = dict.fromkeys((*STORAGE, "blocked_other_seconds"), 0.0) | middle["waits"]
        alone.update(dict.fromkeys(one["jobs"], (middle["real_time_seconds"], waits)))
    table = pq.read_table(path / "jobs.parquet")
    rows = table.filter(pc.equal(table["outcome"], "finished")).to_pylist()
    found: dict[str, list[float]] = {"slowdown": [], "compute": [], "storage": []}
    for row in rows:
        if row["job"] not in alone:
            continue
        base, waits = alone[row["job"]]
        (compute0, storage0), (compute, storage) = parts(base, waits), parts(row["real_time_seconds"], row)
        found["slowdown"].append(row["real_time_seconds"] / base)
        found["compute"].append((base + compute - compute0) / base)
        found["storage"].append((base + storage - storage0) / base)
    return found
