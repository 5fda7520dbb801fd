"""``python -m tests.fuzz --cases 20000 --seed 1 --workers 2``: faults by kind, each once, and counts."""

from __future__ import annotations

import argparse
import multiprocessing
import shutil
import sys
import tempfile
from collections import Counter
from pathlib import Path

from tests.fuzz.bases import write_bases
from tests.fuzz.working import signature, worked


def main() -> int:
    """Run the cases; 1 where any fell short."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    arguments = parser.parse_args()
    place = Path(tempfile.mkdtemp(prefix="mawl-fuzz-"))
    try:
        bases = write_bases(place / "bases")
        tasks = [
            (worker, arguments.workers, arguments.cases, arguments.seed, str(bases), str(place))
            for worker in range(arguments.workers)
        ]
        with multiprocessing.get_context("spawn").Pool(arguments.workers) as pool:
            parts = pool.map(worked, tasks, chunksize=1)
    finally:
        shutil.rmtree(place, ignore_errors=True)
    faults = [fault for part in parts for fault in part[2]]
    print(
        f"{sum(part[0] for part in parts)} cases, {sum(part[1] for part in parts):.0f} CPU s, "
        f"{len(faults)} faults"
    )
    for name, count in Counter(signature(fault) for fault in faults).most_common():
        print(f"{count:6}  {name}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
