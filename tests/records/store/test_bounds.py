"""What a reader of a run folder takes: numbers that can be added up, and rows that memory holds."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import msgspec
import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from mawl.base.errors import UnreadableRunError
from mawl.records.model.run import PlannedJob
from mawl.records.store import open_run
from mawl.records.store.columns import SCHEMAS, conform
from mawl.records.store.facts import decoded
from tests.fakes.stored_run import facts, write_run


@pytest.fixture
def finished(tmp_path: Path) -> Path:
    """The folder of a finished run."""
    folder = tmp_path / "runs" / "one"
    folder.parent.mkdir()
    write_run(folder, runs=folder.parent).finish(facts())
    return folder


@pytest.mark.parametrize("value", [float("inf"), -float("inf"), 1e300])
@pytest.mark.parametrize(("name", "column"), [("jobs", "real_time_seconds"), ("samples", "value")])
def test_a_number_that_cannot_be_added_up_is_refused_by_column(
    finished: Path, name: str, column: str, value: float
) -> None:
    path = finished / f"{name}.parquet"
    table = parquet.read_table(path)
    values = [value, *table.column(column).to_pylist()[1:]]
    place = table.schema.get_field_index(column)
    parquet.write_table(
        table.set_column(place, table.schema.field(column), pa.array(values, pa.float64())), path
    )
    with pytest.raises(UnreadableRunError, match=rf"column {column}: holds a number that is not finite"):
        getattr(open_run(finished), name)


@pytest.mark.parametrize("value", [-1.0, 0.0])
def test_a_reference_time_is_above_zero(finished: Path, value: float) -> None:
    stored = json.loads((finished / "run.json").read_text())
    stored["planned_jobs"][1]["reference_seconds"] = value
    (finished / "run.json").write_text(json.dumps(stored))
    with pytest.raises(UnreadableRunError, match=r"planned_jobs\[1\].reference_seconds: .*> 0.0"):
        open_run(finished)


@pytest.mark.parametrize("value", [-1.0, 0.0])
def test_a_time_alone_is_above_zero(finished: Path, value: float) -> None:
    stored = json.loads((finished / "run.json").read_text())
    stored["alone"] = [{"program": "a", "jobs": ["s1-1"], "real_time_seconds": value, "run_id": "r"}]
    (finished / "run.json").write_text(json.dumps(stored))
    with pytest.raises(UnreadableRunError, match=r"alone\[0\].real_time_seconds: .*> 0.0"):
        open_run(finished)


def test_millions_of_equal_rows_are_refused_by_the_memory_that_they_need(finished: Path) -> None:
    row = parquet.read_table(finished / "steps.parquet").slice(0, 1)
    many = row.take(pa.array(np.zeros(300_000, np.int64)))
    path = finished / "steps.parquet"
    parquet.write_table(many, path, compression="zstd")
    assert path.stat().st_size < 2**20
    with pytest.raises(
        UnreadableRunError,
        match=r"its 300000 rows need \d.* of memory; mawl reads at most 10000000 rows, 128 MiB of memory "
        r"and 30 s of CPU time from a file of this size",
    ):
        open_run(finished).steps.num_rows  # noqa: B018


def test_a_long_text_in_every_row_is_refused(finished: Path) -> None:
    path = finished / "events.parquet"
    count = 300
    columns = [
        pa.array(np.zeros(count, np.int64)).cast(SCHEMAS["events"].field("happened_at").type),
        pa.array(["x"] * count),
        pa.array([None] * count, pa.string()),
        pa.array(["y" * 2**20] * count),
    ]
    parquet.write_table(pa.table(columns, schema=SCHEMAS["events"]), path, compression="zstd")
    assert path.stat().st_size < 2**20
    with pytest.raises(UnreadableRunError, match=r"its texts need 300 MiB of memory; mawl reads at most"):
        open_run(finished).events.num_rows  # noqa: B018


@pytest.mark.parametrize(
    "content",
    [
        b"[" * 5000 + b"]" * 5000,
        b'{"a": [1e308]}',
        b'{"a": 9999999999999999999999999e9}',
        b'{"a": {"b": 1' + b"0" * 400 + b"}}",
    ],
)
def test_json_that_no_report_can_use_is_no_json_of_a_run(content: bytes) -> None:
    with pytest.raises(ValueError, match=r"64 deep|beyond|range|400 digits"):
        decoded(content)


def test_json_of_very_many_parts_is_refused_and_that_of_a_hundred_thousand_jobs_is_not() -> None:
    job = PlannedJob(job="analyst-01.1.wide_sort", program="wide_sort", program_class="io",
                     session="analyst-01", stage=1, node="storage-node-01", replica=0)  # fmt: skip
    facts = msgspec.json.format(msgspec.json.encode({"planned_jobs": [job] * 100_000}), indent=1)
    assert len(facts) > 16 * 2**20
    assert len(decoded(facts)["planned_jobs"]) == 100_000
    with pytest.raises(
        ValueError, match=r"^it has 1,500,001 lists, objects and members; mawl reads 1,500,000$"
    ):
        decoded(b"[" + b"{}," * 750_000 + b"0]")


@pytest.mark.parametrize(
    ("values", "refused"),
    [
        ([float("nan")] * 3, False),
        ([float("nan"), 1.0, 2.0], False),
        ([float("nan"), float("inf"), 1.0], True),
        ([1.0, 2.0, -1e300], True),
    ],
)
def test_samples_may_be_no_number_and_never_infinite(values: list[float], refused: bool) -> None:
    columns = {"node": ["a"] * 3, "sampled_at": [1, 2, 3], "series": ["s"] * 3, "value": values}
    made = pa.table(columns, schema=SCHEMAS["samples"])
    with pytest.raises(UnreadableRunError, match="not finite") if refused else contextlib.nullcontext():
        assert conform("samples", made, Path("run")).num_rows == 3
