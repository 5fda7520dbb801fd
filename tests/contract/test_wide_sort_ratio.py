"""wide_sort at input : sort memory of 50 : 1, in a process of its own."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from mawl.plan.catalogue import CATALOGUE
from mawl.programs.tables.manifest import read_manifest
from mawl.records.spec.program_options import MIB, Options
from tests.contract.jobs import assign, run_fresh
from tests.contract.test_programs import MEMORY_MARGIN

SORTSIZE_BYTES = 4 * MIB
SCALE = 50 * SORTSIZE_BYTES / CATALOGUE["wide_sort"].inputs[0].full_bytes


def test_sorts_fifty_times_its_sort_memory(make_table: Callable[[str, float], Path], tmp_path: Path) -> None:
    table = make_table("transactions", SCALE)
    try:
        assert read_manifest(table).bytes >= 50 * SORTSIZE_BYTES - 640
        options = Options(memsize_bytes=64 * MIB, sortsize_bytes=SORTSIZE_BYTES)
        job = run_fresh(assign("wide_sort", SCALE, options, {"transactions": table}, tmp_path))
    finally:
        # 200 MB that no other test needs.
        shutil.rmtree(table)
    assert job.failed is None
    assert job.answer is not None
    declared = CATALOGUE["wide_sort"].memory_bytes(options)
    for step in job.steps:
        assert (step.usage.memory_bytes or 0) <= declared + MEMORY_MARGIN, step.name
    # What is read and written in util is the table once and its narrower columns once: no second round.
    written = sum(step.usage.application_written_bytes or 0 for step in job.steps)
    expected = sum(role["written"] for role in CATALOGUE["wide_sort"].bytes_by_role(SCALE).values())
    assert written <= 1.03 * expected
