"""The slowdown of a stored run and its parts once more: NumPy over ``jobs.parquet``, without ``mawl``.

Written from docs/design/answer.md, not from the code that it checks.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

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
