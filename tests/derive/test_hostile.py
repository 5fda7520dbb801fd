"""Logs that mean harm: what is derived of them can be read back, or one sentence says why there is none."""

from __future__ import annotations

import math
import random
from pathlib import Path
from typing import get_args

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mawl.base.errors import MawlError
from mawl.derive.derive import DeriveRequest, derive
from mawl.derive.document import document
from mawl.derive.jobs import Growth, TableSizes, steps_of
from mawl.derive.step_bytes import Inference
from mawl.derive.steps import BlockUnit, Names, step_figures
from mawl.derive.tables import Libraries
from mawl.plan.derived_jobs import decoded, encoded
from mawl.records.model.derived import DerivedJob, DerivedWorkload
from mawl.records.model.records import StepNotes, StepRecord, TableNote, Usage
from mawl.reports.document import rendered
from tests.derive.shop import WORDS, logs
from tests.derive.test_derive import run_of
from tests.importers.layouts import LAYOUTS

COUNTS = st.none() | st.integers(0, 10**18 - 1)
SECONDS = st.none() | st.floats(0, 1e12)
TABLES = st.builds(
    TableNote,
    direction=st.sampled_from(["read", "written"]),
    name=st.none() | st.sampled_from(["WORK.A", "WORK.B", "BANK.A", "UTIL.U", "A", "x.'odd one'n"]),
    external=st.booleans(),
    rows=COUNTS,
    variables=COUNTS,
    shortest_record_bytes=COUNTS,
    longest_record_bytes=COUNTS,
    file_bytes=COUNTS,
    pages=COUNTS,
    uncompressed_pages=COUNTS,
)
STEPS = st.builds(
    StepRecord,
    job=st.just("j"),
    number=st.integers(1, 10**6),
    name=st.sampled_from(["SORT", "SQL", "MEANS", "REG", "OWN", "PRINT"]) | st.text(max_size=40),
    kind=st.sampled_from(["data", "procedure"]),
    started_at=st.none(),
    ended_at=st.none(),
    usage=st.builds(
        Usage,
        real_time_seconds=SECONDS,
        user_cpu_seconds=SECONDS,
        system_cpu_seconds=SECONDS,
        unsplit_cpu_seconds=SECONDS,
        memory_bytes=COUNTS,
        block_input_operations=COUNTS,
        block_output_operations=COUNTS,
    ),
    rows_read=COUNTS,
    rows_written=COUNTS,
    notes=st.none()
    | st.builds(
        StepNotes,
        tables=st.lists(TABLES, max_size=4).map(tuple),
        sort=st.none() | st.sampled_from(["threaded", "sorted"]),
        indexes_used=st.integers(0, 3),
    ),
)


ROUNDING = 1e-9
"""Of sums of bytes."""


@settings(max_examples=300, deadline=None)
@given(
    st.lists(STEPS, min_size=1, max_size=5, unique_by=lambda step: step.number),
    st.booleans(),
    st.sampled_from(get_args(BlockUnit)),
)
def test_any_steps_become_a_job_that_the_plan_reads(
    steps: list[StepRecord], told: bool, unit: BlockUnit
) -> None:
    names = Names(keep=False)
    libraries = Libraries()
    tables = TableSizes(names, libraries)
    inference = Inference(libraries, reads_told=told)
    found = steps_of(
        [step_figures(step, unit) for step in steps],
        "j",
        inference,
        tables,
        names,
        Growth(rows=2, load=3),
    )
    job = DerivedJob(name="j", session="s", steps=tuple(step for step, _ in found))
    workload = DerivedWorkload(tables=tables.records(), jobs=(job,))
    assert decoded(encoded(workload), where="here") == workload
    for _, evidence in found:
        parts = (evidence.cpu_seconds, evidence.memory_bytes, evidence.threads)
        for part in (*parts, *evidence.read_bytes.values(), *evidence.written_bytes.values()):
            assert 0 <= part.low <= part.value <= part.high
            assert math.isfinite(part.high)
        for parts_by_role, (low, high) in (
            (evidence.read_bytes, evidence.read_bytes_range),
            (evidence.written_bytes, evidence.written_bytes_range),
        ):
            whole = math.fsum(part.value for part in parts_by_role.values())
            assert low <= whole * (1 + ROUNDING) and whole <= high * (1 + ROUNDING)
            assert math.fsum(part.low for part in parts_by_role.values()) <= high * (1 + ROUNDING)


def hostile() -> dict[str, str]:
    shop = next(iter(logs(WORDS).values()))
    lines = shop.splitlines(keepends=True)
    mixed = list(lines)
    random.Random(5).shuffle(mixed)
    return {
        "shuffled": "".join(mixed),
        "cut": shop[: len(shop) * 2 // 3],
        "huge counts": shop.replace("1000000", "9" * 18).replace("51200.00k", "9" * 15 + "k"),
        "a name that is code": shop.replace(WORDS["procedure"], "<script>alert(1)</script>"),
        "many tables": "NOTE: There were 5 observations read from the data set WORK.A.\n" * 50_000 + shop,
        "look-alikes": LAYOUTS["look_alikes"].text + shop,
        "a second session": shop + shop,
        "no end": shop.replace("03/02/2026", "99/99/9999"),
    }


@pytest.mark.parametrize("name", hostile())
def test_a_log_that_means_harm_derives_or_is_refused_in_a_sentence(tmp_path: Path, name: str) -> None:
    try:
        derived = derive(run_of(tmp_path, {"one.log": hostile()[name]}), DeriveRequest(keep_names=True))
    except MawlError as error:
        assert "\n" not in str(error)
        return
    assert decoded(encoded(derived.workload), where="here") == derived.workload
    assert "<script>alert" not in rendered(document(derived.evidence, "derived"), "html")
    assert msgspec.json.encode(derived.evidence)
