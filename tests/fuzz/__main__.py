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
from tests.fuzz.hostile import write_honest
from tests.fuzz.working import Part, signature, worked


def fuzzed(cases: int, seed: int, workers: int, first: int = 0, *, is_hostile: bool = False) -> list[Part]:
    """Run the cases from number ``first`` on, with so many workers at once."""
    place = Path(tempfile.mkdtemp(prefix="mawl-fuzz-"))
    try:
        bases = (write_honest if is_hostile else write_bases)(place / "bases")
        tasks = [
            (first + worker, workers, cases, seed, str(bases), str(place), is_hostile)
            for worker in range(workers)
        ]
        with multiprocessing.get_context("spawn").Pool(workers) as pool:
            return pool.map(worked, tasks, chunksize=1)
    finally:
        shutil.rmtree(place, ignore_errors=True)


def main() -> int:
    """Run the cases; 1 where any fell short."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0, help="go on from this case of the same seed")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--hostile", action="store_true", help="files that mean harm, not damaged ones")
    arguments = parser.parse_args()
    parts = fuzzed(
        arguments.cases,
        arguments.seed,
        arguments.workers,
        arguments.first,
        is_hostile=arguments.hostile,
    )
    faults = [fault for part in parts for fault in part.faults]
    kinds: Counter[str] = sum((Counter(part.kinds) for part in parts), Counter())
    print(
        f"{kinds.total()} cases, {sum(part.cpu_seconds for part in parts):.0f} CPU s, {len(faults)} faults, "
        f"{max(part.peak_bytes for part in parts) / 1e6:.0f} MB at most"
    )
    print("; ".join(f"{kind} {count}" for kind, count in sorted(kinds.items())))
    for name, count in Counter(signature(fault) for fault in faults).most_common():
        print(f"{count:6}  {name}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
