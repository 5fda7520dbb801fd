"""``--cache none`` beside direct I/O: fio's requests of 256 KiB, buffered under the library and O_DIRECT.

Both sides are fio with the same engine (psync) over one file, one request at a time, in turns.  What was
written is on the device when fio's time ends (``end_fsync``).
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from bench.harness import Result, alternate, at_least, spread
from mawl.errors import UnsuitableMachineError
from mawl.measure.page_cache import residency
from mawl.measure.preload.build import library
from mawl.measure.preload.counters import COUNTERS_VARIABLE, CounterFile, create
from mawl.measure.uncached import why_cached
from mawl.runner.counting import SHARED_MEMORY
from mawl.spec.program_options import ROLES

NAME = "uncached"
RUNS = 9
FILE_BYTES = 512 * 2**20
REQUEST_BYTES = 256 * 1024
RATE_BOUND = 0.9


def run() -> list[Result]:
    """MB/s of sequential reads and writes; a sentence without fio or where files cannot be kept out."""
    memory = SHARED_MEMORY if SHARED_MEMORY.is_dir() else None
    with (
        tempfile.TemporaryDirectory(prefix="mawl-bench-", dir=os.environ.get("MAWL_BENCH_DIR")) as name,
        tempfile.TemporaryDirectory(prefix="mawl-bench-", dir=memory) as counters,
    ):
        place = Path(name)
        made = library(os.environ)
        why = "fio is not installed" if shutil.which("fio") is None else made.reason
        why = why or why_cached({"data": [place]}, os.environ)
        if why:
            raise UnsuitableMachineError("--cache none cannot be compared with direct I/O here", why=why)
        environment = made.environment(os.environ)
        return [_way(way, place, Path(counters, way), environment) for way in ("read", "write")]


def _way(way: str, place: Path, counters: Path, environment: Mapping[str, str]) -> Result:
    create(counters, {role: [place / role] for role in ROLES}, uncached=True)
    (place / "data").mkdir(exist_ok=True)
    file = place / "data" / "file"
    uncached = {**environment, COUNTERS_VARIABLE: str(counters)}
    left: list[float] = []

    def ours() -> float:
        rate = _rate(file, way, "--direct=0", uncached)
        cached = residency([file]).resident_bytes
        assert cached is not None  # why_cached asked the same
        left.append(cached / FILE_BYTES)
        return rate

    mine, others = alternate(ours, lambda: _rate(file, way, "--direct=1", os.environ), RUNS)
    pairs = [one / other for one, other in zip(mine, others, strict=True)]
    waited = CounterFile(counters).by_role()["data"].uncaching_seconds
    detail = (
        f"a file of {FILE_BYTES / 1e6:.0f} MB, fio psync on both sides: uncached {spread(mine, 'MB/s')}, "
        f"direct {spread(others, 'MB/s')}; pairs {min(pairs):.3g} to {max(pairs):.3g} of {len(pairs)}; "
        f"the mode's own calls {waited:.3g} s in {len(left)} passes, "
        f"at most {max(left):.2%} of the file cached after one"
    )
    title = f"256 KiB {way} with --cache none / O_DIRECT"
    return at_least(title, statistics.median(pairs), "x MB/s", RATE_BOUND, detail)


def _rate(file: Path, way: str, direct: str, environment: Mapping[str, str]) -> float:
    """fio's MB/s over the whole file."""
    done = subprocess.run(
        [
            *("fio", "--output-format=json", "--ioengine=psync", "--name=s", f"--filename={file}"),
            *(f"--rw={way}", f"--bs={REQUEST_BYTES}", f"--size={FILE_BYTES}", "--end_fsync=1", direct),
        ],
        capture_output=True,
        check=True,
        env=dict(environment),
    )
    (job,) = json.loads(done.stdout)["jobs"]
    return float(job[way]["io_bytes"] / job[way]["runtime"] / 1000)
