"""Many cases in one long-lived process, and what their faults have in common."""

from __future__ import annotations

import re
import time
from pathlib import Path

from tests.fuzz.cases import Fault, bounded_memory, run_case

ADDRESS_SPACE_BYTES = 6 * 2**30


def worked(task: tuple[int, int, int, int, str, str]) -> tuple[int, float, list[Fault]]:
    """The cases of one worker; how many, their CPU seconds, and the faults."""
    worker, workers, cases, seed, bases, place = task
    bounded_memory(ADDRESS_SPACE_BYTES)
    own = Path(place) / f"worker{worker}"
    own.mkdir()
    faults = []
    began = time.process_time()
    numbers = range(worker, cases, workers)
    for done, case in enumerate(numbers, 1):
        fault = run_case(case, seed, Path(bases), own)
        if fault is not None:
            faults.append(fault)
            print(f"case {case}: {fault.what} {fault.words} {fault.changes}\n{fault.detail}\n", flush=True)
        if done % 500 == 0:
            print(
                f"worker {worker}: {done} of {len(numbers)}, {time.process_time() - began:.0f} CPU s",
                flush=True,
            )
    return len(numbers), time.process_time() - began, faults


def signature(fault: Fault) -> str:
    """Faults of one cause have one: the kind, and where it happened."""
    lines = re.findall(r'File "[^"]*/(src/mawl/[^"]+|tests/[^"]+)", line (\d+)', fault.detail)
    return f"{fault.what} at {lines[-1][0]}:{lines[-1][1]}" if lines else f"{fault.what}: {fault.detail[:80]}"
