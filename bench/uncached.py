"""``--cache none`` compared with direct I/O: fio's requests of 256 KiB, through the library and O_DIRECT.

Both sides are fio with the same engine (psync) over one file, one request at a time, in turns.  What was
written is on the device when fio's time ends (``end_fsync``).
"""

from __future__ import annotations

import json
import os
import statistics
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from bench.harness import Result, alternate, at_least, resources, sized, spread
from mawl.base.errors import UnsuitableMachineError
from mawl.measure.page_cache import residency
from mawl.measure.preload.build import library
from mawl.measure.preload.counters import COUNTERS_VARIABLE, CounterFile, create
from mawl.measure.suitability import why_cached
from mawl.records.spec.program_options import ROLES
from mawl.run.runner.counting import SHARED_MEMORY

NAME = "uncached"
RUNS = sized(9, 1)
FILE_BYTES = sized(512, 64) * 2**20
REQUEST_BYTES = 256 * 1024
RATE_BOUND = 0.9


def run() -> list[Result]:
    """MB/s of sequential reads and writes; a sentence where files cannot be kept out."""
    memory = SHARED_MEMORY if SHARED_MEMORY.is_dir() else None
    with (
        tempfile.TemporaryDirectory(prefix="mawl-bench-", dir=os.environ.get("MAWL_BENCH_DIR")) as name,
        tempfile.TemporaryDirectory(prefix="mawl-bench-", dir=memory) as counters,
    ):
        place = Path(name)
        made = library(os.environ)
        if why := made.reason or why_cached({"data": [place]}, os.environ):
            raise UnsuitableMachineError("--cache none cannot be compared with direct I/O here", why=why)
        environment = made.environment(os.environ)
        return [_way(way, place, Path(counters, way), environment) for way in ("read", "write")]


def _way(way: str, place: Path, counters: Path, environment: Mapping[str, str]) -> Result:
    create(counters, {role: [place / role] for role in ROLES}, uncached=True)
    (place / "data").mkdir(exist_ok=True)
    uncached = {**environment, COUNTERS_VARIABLE: str(counters)}
    passes: list[_Pass] = []

    def ours() -> float:
        passes.append(_pass(place, way, "--direct=0", uncached))
        return passes[-1].rate

    mine, others = alternate(ours, lambda: _pass(place, way, "--direct=1", os.environ).rate, RUNS)
    pairs = [one / other for one, other in zip(mine, others, strict=True)]
    fetched = f", at least {min(one.fetched for one in passes):.3g} of it from the device" * (way == "read")
    detail = (
        f"a file of {FILE_BYTES / 1e6:.0f} MB, fio psync on both sides: uncached {spread(mine, 'MB/s')}, "
        f"direct {spread(others, 'MB/s')}; pairs {min(pairs):.3g} to {max(pairs):.3g} of {len(pairs)}; "
        f"at most {max(one.cached for one in passes):.2%} of the file cached after a pass{fetched}; "
        f"{CounterFile(counters).by_role()['data'].uncaching_seconds:.3g} s of {len(passes)} passes "
        "in the mode's own calls"
    )
    title = f"256 KiB {way} with --cache none / O_DIRECT"
    return at_least(title, statistics.median(pairs), "x MB/s", RATE_BOUND, detail)


class _Pass(NamedTuple):
    """MB/s by fio's own time; the shares of the file that devices were asked for, and that stayed cached."""

    rate: float
    fetched: float
    cached: float


def _pass(place: Path, way: str, direct: str, environment: Mapping[str, str]) -> _Pass:
    """fio over the whole file."""
    file, said = place / "data" / "file", place / "said"
    usage = resources(
        [
            *("fio", "--output-format=json", f"--output={said}", "--ioengine=psync", "--name=s"),
            *(f"--filename={file}", f"--rw={way}", f"--bs={REQUEST_BYTES}", f"--size={FILE_BYTES}"),
            *("--end_fsync=1", direct),
        ],
        environment,
    )
    (job,) = json.loads(said.read_text())["jobs"]
    cached = residency([file]).resident_bytes
    assert cached is not None  # why_cached asked the same way
    return _Pass(
        rate=job[way]["io_bytes"] / job[way]["runtime"] / 1000,
        fetched=usage.ru_inblock * 512 / FILE_BYTES,
        cached=cached / FILE_BYTES,
    )
