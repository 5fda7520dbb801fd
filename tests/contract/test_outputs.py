"""The table that wide_sort puts under data: whole, in order, checked, and gone with its job unless kept."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import duckdb
import msgspec
import pyarrow as pa
import pytest
from pyarrow import ipc

from mawl.plan.catalogue import CATALOGUE
from mawl.programs.tables.arrow import parts
from mawl.records.model.records import StepRecord
from mawl.records.spec.program_options import MIB, Options
from tests.contract.conftest import MakeTable
from tests.contract.jobs import Job, assign, run_here
from tests.contract.test_programs import assert_failed

SCALE = 0.0001
OPTIONS = Options(sortsize_bytes=4 * MIB)


def test_the_table_under_data_is_the_input_in_order(make_table: MakeTable, tmp_path: Path) -> None:
    made = make_table("transactions", SCALE)
    job = run_here(assign("wide_sort", SCALE, OPTIONS, {"transactions": made}, tmp_path))
    (found,) = Path(job.assignment.results).iterdir()
    assert found.stat().st_size == pytest.approx(CATALOGUE["wide_sort"].space(SCALE)["data"], rel=0.02)
    tables = [ipc.open_file(path).read_all() for path in parts(made)]
    given, written = pa.concat_tables(tables), ipc.open_file(found).read_all()  # noqa: F841
    with duckdb.connect() as engine:
        assert engine.execute("SELECT account, posted, row FROM written").fetchall() == (
            engine.execute("SELECT account, posted, row FROM given ORDER BY ALL").fetchall()
        )
        assert engine.execute("SELECT * FROM written EXCEPT ALL SELECT * FROM given").fetchall() == []


def test_it_is_gone_with_the_job_that_does_not_keep_it(make_table: MakeTable, tmp_path: Path) -> None:
    asked = assign("wide_sort", SCALE, OPTIONS, {"transactions": make_table("transactions", SCALE)}, tmp_path)
    there = []

    def look(_: StepRecord, job: Job) -> None:
        there.append(any(Path(job.assignment.results).glob("*")))

    job = run_here(msgspec.structs.replace(asked, keeps_results=False), look)
    assert job.status == 0 and there[-1]
    assert not Path(job.assignment.results).exists()


def _turned_round(path: Path) -> None:
    with ipc.open_file(path.read_bytes()) as reader:
        batches = [reader.get_batch(number) for number in range(reader.num_record_batches)]
    with ipc.new_file(str(path), batches[0].schema) as writer:
        for batch in reversed(batches):
            writer.write_batch(batch)


DAMAGE: dict[str, Callable[[Path], None]] = {
    "its batches changed places": _turned_round,
    "its end is missing": lambda path: os.truncate(path, path.stat().st_size // 2),
    "it is empty": lambda path: os.truncate(path, 0),
    "it is gone": Path.unlink,
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damage_to_it_fails_the_job(damage: str, make_table: MakeTable, tmp_path: Path) -> None:
    def harm(record: StepRecord, job: Job) -> None:
        if record.name == "distribute_narrow":
            DAMAGE[damage](Path(job.assignment.results) / "sorted.arrow")

    inputs = {"transactions": make_table("transactions", SCALE)}
    sentence = assert_failed(run_here(assign("wide_sort", SCALE, OPTIONS, inputs, tmp_path), harm))
    assert "sorted" in sentence
