"""Samples of a long run in bounded memory: what is kept, and that figures of counters stay what they were."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from mawl.records.store import thinning
from mawl.records.store.columns import SCHEMAS
from mawl.records.store.thinning import Thinned

START = 1_767_254_400_000_000


def seconds(first: int, count: int, series: list[str], node: str = "n") -> pa.Table:
    """A row of each series in every second; the value is the second."""
    times = np.repeat(np.arange(first, first + count), len(series))
    instant = SCHEMAS["samples"].field("sampled_at").type
    return pa.table(
        {
            "node": pa.array([node] * len(times)),
            "sampled_at": pa.array(START + times * 1_000_000).cast(instant),
            "series": pa.array(series * count),
            "value": pa.array(times.astype(float)),
        },
        schema=SCHEMAS["samples"],
    )


def values(table: pa.Table, series: str) -> list[float]:
    mask = [name == series for name in table["series"].to_pylist()]
    found: list[float] = table.filter(pa.array(mask))["value"].to_pylist()
    return found


def test_few_samples_are_all_there_in_their_order() -> None:
    kept = Thinned(100)
    kept.add(seconds(0, 3, ["a", "b"]))
    kept.add(seconds(3, 40, ["b", "a"]))
    assert kept.table().equals(pa.concat_tables([seconds(0, 3, ["a", "b"]), seconds(3, 40, ["b", "a"])]))
    assert (kept.rows, kept.stride) == (86, 1)


@pytest.mark.parametrize("at_once", [7, 1000])
def test_a_long_run_keeps_every_nth_and_the_newest_of_each_series(at_once: int) -> None:
    kept = Thinned(100)
    for first in range(0, 1000, at_once):
        kept.add(seconds(first, min(at_once, 1000 - first), ["a", "b"]))
        assert kept.table().num_rows <= 102
    assert (kept.rows, kept.stride) == (2000, 32)
    for series in ("a", "b"):
        assert values(kept.table(), series) == [*range(0, 1000, 32), 999.0]


def test_a_series_that_comes_late_or_is_looked_at_seldom_is_kept_alike() -> None:
    kept = Thinned(100)
    for second in range(400):
        series = ["a"] + ["seldom"] * (second % 10 == 3) + ["late"] * (second >= 300)
        kept.add(seconds(second, 1, series))
    found, stride = kept.table(), kept.stride
    assert values(found, "seldom") == [float(second) for second in range(3, 400, 10 * stride)]
    assert values(found, "late")[:-1] == [float(second) for second in range(300, 400, stride)]


def test_series_without_end_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thinning, "MOST_SERIES", 20)
    kept = Thinned(100)
    for second in range(500):
        kept.add(seconds(second, 1, ["a", f"device.{second}"]))
    assert kept.table().num_rows <= 102
    assert values(kept.table(), "a")[:2] == [0.0, float(kept.stride)]
    assert kept.rows == 1000


def test_nodes_do_not_share_places() -> None:
    kept = Thinned(10)
    for second in range(20):
        kept.add(seconds(second, 1, ["a"], "one"))
        kept.add(seconds(second, 1, ["a"], "other"))
    nodes = kept.table()["node"].to_pylist()
    assert abs(nodes.count("one") - nodes.count("other")) <= 1
    assert kept.table().num_rows <= 12


def test_no_rows_change_nothing() -> None:
    kept = Thinned(10)
    kept.add(SCHEMAS["samples"].empty_table())
    assert kept.table().equals(SCHEMAS["samples"].empty_table())
