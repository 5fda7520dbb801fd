"""Offsets out of exchanges, and records by the controller's clock."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mawl.records.model.records import EventRecord, SampleRecord
from mawl.records.store.columns import SCHEMAS
from mawl.run.cluster.messages import Correction, clock_of
from tests.fakes.stored_run import START, job


@given(
    offset=st.floats(-1e5, 1e5),
    trips=st.lists(st.tuples(st.floats(1e-4, 2.0), st.floats(0.0, 1.0)), min_size=1, max_size=20),
)
def test_the_offset_errs_by_no_more_than_it_says(offset: float, trips: list[tuple[float, float]]) -> None:
    exchanges = []
    for number, (trip, part) in enumerate(trips):
        sent = 1.8e9 + number
        exchanges.append((sent, sent + part * trip + offset, sent + trip))
    found = clock_of(exchanges)
    assert abs(found.offset_seconds - offset) <= found.error_seconds + 1e-6
    assert found.error_seconds == pytest.approx(min(trip for trip, _ in trips) / 2, abs=1e-6)
    assert found.exchanges == len(trips)


def test_one_slow_answer_among_quick_ones_does_not_count() -> None:
    quick = [(float(at), at + 5.001, at + 0.002) for at in range(10)]
    random.Random(1).shuffle(quick)
    assert clock_of([(100.0, 104.0, 109.0), *quick]).offset_seconds == pytest.approx(5.0)


def test_a_record_has_the_controllers_time_and_the_nodes_name() -> None:
    corrected = Correction("node2", 100.0).job(job("s1-1", 1.0, 5.0))
    original = job("s1-1", 1.0, 5.0)
    assert (corrected.job, corrected.node) == ("node2.s1-1", "node2")
    assert original.started_at is not None and original.ended_at is not None
    assert corrected.started_at == original.started_at - 100.0
    assert corrected.ended_at == original.ended_at - 100.0
    event = Correction("node2", -1.0).event(EventRecord(happened_at=START, event="gate_released", detail="3"))
    assert (event.happened_at, event.detail) == (START + 1.0, "node2: 3")


def test_samples_are_shifted_and_what_another_node_tells_is_left_out() -> None:
    rows = [
        SampleRecord(node="node2", sampled_at=START, series=name, value=1.0)
        for name in ("host.runnable", "device.sda.reads", "device.sdb.reads", "network.eth0.sent_bytes")
    ]
    table = pa.table(
        {
            "node": [row.node for row in rows],
            "sampled_at": pa.array([round(row.sampled_at * 1e6) for row in rows], pa.timestamp("us", "UTC")),
            "series": [row.series for row in rows],
            "value": [row.value for row in rows],
        },
        schema=SCHEMAS["samples"],
    )
    found = Correction("node2", 2.5, ["host.", "device."], ["device.sdb."]).samples(table)
    assert found.column("series").to_pylist() == ["device.sdb.reads", "network.eth0.sent_bytes"]
    assert found.schema == SCHEMAS["samples"]
    shift = table.column("sampled_at")[0].as_py() - found.column("sampled_at")[0].as_py()
    assert shift.total_seconds() == 2.5
