"""A batch that is filled in anew holds what one made anew holds."""

from __future__ import annotations

import random
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import ipc

from mawl.model.records import SampleRecord
from mawl.runner.sample_budget import MOST_SELDOM_A_SECOND
from mawl.runner.sample_budget import MOST_SERIES as SERIES_A_SECOND
from mawl.store.batch_form import MOST_SERIES, BatchForm
from mawl.store.columns import SCHEMAS
from mawl.store.journal import SampleAppender


def stream(*batches: bytes) -> pa.Table:
    return ipc.open_stream(SCHEMAS["samples"].serialize().to_pybytes() + b"".join(batches)).read_all()


@pytest.mark.parametrize(
    "series",
    [
        (),
        ("one",),
        ("host.ä", "", "x" * 300),
        tuple(map(str, range(100))),
        tuple(map(str, range(MOST_SERIES))),
    ],
)
def test_it_can_be_filled_in_again_and_again(series: tuple[str, ...]) -> None:
    form = BatchForm("knöten", series)
    first = form.filled(1_000_000, [float(place) for place in range(len(series))])
    second = form.filled(2_500_000, [-1e300] * len(series))
    found = stream(first, second)
    found.validate(full=True)
    assert found["series"].to_pylist() == [*series, *series]
    assert found["value"].to_pylist() == [*map(float, range(len(series))), *[-1e300] * len(series)]
    moments = found["sampled_at"].cast(pa.int64()).to_pylist()
    assert moments == [1_000_000] * len(series) + [2_500_000] * len(series)
    assert set(found["node"].to_pylist()) <= {"knöten"}


def test_figures_and_rows_are_written_alike(tmp_path: Path) -> None:
    figures = {"host.runnable": 3, "host.page_ins_bytes": 2.0**63, "device.vda.reads": 1.5}
    rows = [
        SampleRecord(node="n", sampled_at=100.25, series=name, value=float(value))
        for name, value in figures.items()
    ]
    for name in ("figures", "rows"):
        appender = SampleAppender(tmp_path / name)
        if name == "rows":
            appender.samples(rows)
        else:
            appender.figures("n", 100.25, figures)
        appender.close()
    assert ipc.open_stream(tmp_path / "figures").read_all() == ipc.open_stream(tmp_path / "rows").read_all()


def test_more_series_than_a_batch_holds_are_written_at_once(tmp_path: Path) -> None:
    figures = {f"device.disk{number}.reads": float(number) for number in range(2 * MOST_SERIES + 3)}
    appender = SampleAppender(tmp_path / "many")
    appender.figures("n", 1.0, figures)
    appender.close()
    batches = list(ipc.open_stream(tmp_path / "many"))
    assert [len(batch) for batch in batches] == [MOST_SERIES, MOST_SERIES, 3]
    table = pa.Table.from_batches(batches)
    assert dict(zip(table["series"].to_pylist(), table["value"].to_pylist(), strict=True)) == figures


def test_ten_hours_of_four_nodes_with_all_series_of_the_budget_take_at_most_two_gigabytes(
    tmp_path: Path,
) -> None:
    """Counters of busy devices, all different, with what the series beyond the budget add in the mean."""
    nodes, seconds, looks, draw = 4, 36_000, 20, random.Random(1)
    kinds = {"reads": 2000.0, "writes": 2000.0, "read_bytes": 1e9, "written_bytes": 1e9, "busy_seconds": 1.0}
    figures = {
        f"device.nvme{disk}n1.{kind}": draw.uniform(0, 1e6) * most
        for disk in range(100)
        for kind, most in kinds.items()
    }
    assert len(figures) == SERIES_A_SECOND + MOST_SELDOM_A_SECOND
    appender = SampleAppender(tmp_path / "samples")
    before = (tmp_path / "samples").stat().st_size
    for look in range(looks):
        for name in figures:
            grown = figures[name] + draw.uniform(0, 1) * kinds[name.rpartition(".")[2]]
            figures[name] = round(grown, 3) if name.endswith("_seconds") else float(round(grown))
        appender.figures("storage-node-01", 1.0 + look, figures)
    appender.close()
    assert nodes * seconds * ((tmp_path / "samples").stat().st_size - before) / looks <= 2e9
