"""What several nodes' facts are as one run.

A node's folder that grows beside the merged one, and names of files that would leave it.

Offsets out of exchanges, and records by the controller's clock.
"""

from __future__ import annotations

import random
from pathlib import Path

import msgspec
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mawl.base.errors import MawlError
from mawl.plan.workload import Plan, SessionPlan
from mawl.records.model.node import OtherProgram
from mawl.records.model.records import EventRecord, SampleRecord
from mawl.records.model.run import Overhead, RunFacts, VolumeFacts
from mawl.records.spec.program_options import AUTO, Options
from mawl.records.store import open_run
from mawl.records.store.columns import SCHEMAS
from mawl.records.store.files import JOURNAL
from mawl.records.store.folder import RunWriter
from mawl.records.store.reading import runner_lives
from mawl.run.cluster.link import append_piece, path_in_copy
from mawl.run.cluster.merge import (
    Mirror,
    NodePart,
    merged,
    own_series,
    workload_of,
)
from mawl.run.cluster.messages import Correction, clock_of
from tests.fakes.altered_runs import node_run
from tests.fakes.stored_run import START, facts, job


def test_a_journal_that_comes_in_pieces_is_a_readable_run_at_any_moment(tmp_path: Path) -> None:
    own = RunWriter(tmp_path / "own", facts(outcome="running", ended_at=None))
    own.job(job("s1-1", 1.0, 5.0))
    own.event(EventRecord(happened_at=START, event="gate_released"))
    journal = tmp_path / "own" / JOURNAL
    mirror = Mirror(tmp_path / "nodes" / "n1", (tmp_path / "own" / "run.json").read_bytes(), b"")
    content = (journal / "jobs.jsonl").read_bytes()
    assert mirror.append({"jobs.jsonl": content[:50]}).jobs == []
    fresh = mirror.append(
        {"jobs.jsonl": content[50:], "events.jsonl": (journal / "events.jsonl").read_bytes()}
    )
    assert [one.job for one in fresh.jobs] == ["s1-1"] and len(fresh.events) == 1
    assert mirror.offsets["jobs.jsonl"] == len(content)
    assert runner_lives(mirror.path)
    own.job(job("s1-2", 1.0, 5.0))
    rest = (journal / "jobs.jsonl").read_bytes()[mirror.offsets["jobs.jsonl"] :]
    assert [one.job for one in mirror.append({"jobs.jsonl": rest}).jobs] == ["s1-2"], "each record once"
    mirror.close()
    own.close()
    assert open_run(mirror.path).facts.outcome == "interrupted"
    assert {one.job for one in open_run(mirror.path).job_records()} >= {"s1-1", "s1-2"}


def test_the_whole_folder_takes_its_place(tmp_path: Path) -> None:
    own = RunWriter(tmp_path / "own", facts(outcome="running", ended_at=None))
    mirror = Mirror(tmp_path / "nodes" / "n1", (tmp_path / "own" / "run.json").read_bytes(), b"")
    copy = mirror.begin_copy()
    place = path_in_copy(copy, "logs/a.log")
    append_piece(place, b"one ")
    append_piece(place, b"two")
    mirror.replace(copy)
    own.close()
    assert (tmp_path / "nodes" / "n1" / "logs" / "a.log").read_text() == "one two"
    assert [entry.name for entry in (tmp_path / "nodes").iterdir()] == ["n1"]


@pytest.mark.parametrize("name", ["../x", "/etc/x", "logs/../../x", ""])
def test_a_name_that_leads_out_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(MawlError, match="names a file outside its run folder"):
        path_in_copy(tmp_path, name)


def test_copies_of_a_workload_are_counted_in_its_name_and_sums() -> None:
    session = SessionPlan(name="s1", stages=((),))
    short = Plan(
        workload="short", title="", scale=0.5, seed=1, saving=0.9, options=Options(), sessions=(session,)
    )
    long = msgspec.structs.replace(short, workload="long")
    found = workload_of({"n1": short, "n2": short, "n3": long})
    assert (found.name, found.sessions) == ("2xshort+1xlong", 3)


def with_threads(cpucount: int) -> RunFacts:
    plain = facts()
    workload = msgspec.structs.replace(plain.workload, options=Options(cpucount=cpucount))
    return msgspec.structs.replace(plain, workload=workload)


@pytest.mark.parametrize(("nodes", "together"), [((2, 2), 2), ((2, 4), AUTO)])
def test_threads_that_nodes_chose_are_those_of_the_run_where_they_are_the_same(
    nodes: tuple[int, int], together: int
) -> None:
    parts = [
        NodePart(run=node_run(f"n{number}", 0.0), facts=with_threads(cpucount))
        for number, cpucount in enumerate(nodes)
    ]
    options = merged(with_threads(AUTO), parts, Overhead()).workload.options
    assert options is not None
    assert options.cpucount == together


def on_device(node: str, device: str, boot: str | None = "one") -> NodePart:
    volume = VolumeFacts(role="work", node=node, directory="/w", devices=[device], layers=[device, "sda"])
    return NodePart(run=node_run(node, 0.0, machine=boot), facts=facts(volumes=[volume]))


def test_each_device_of_a_machine_is_told_by_one_node() -> None:
    """Every node samples all devices of its machine, also those of other work, such as loop0."""
    parts = [on_device("n1", "dm-1"), on_device("n2", "dm-2"), on_device("n3", "dm-1"),
             on_device("n4", "dm-1", boot="other")]  # fmt: skip
    names = [f"{what}.x" for what in ("host", "device.dm-1", "device.dm-2", "device.sda", "device.loop0")]
    table = pa.table({"series": names, "sampled_at": pa.array([0] * len(names), pa.timestamp("us", "UTC"))})
    told = {}
    for part in parts:
        own = own_series(parts, part.run.node)
        found = Correction(part.run.node, 0.0, own.left_out, own.kept).samples(table)
        told[part.run.node] = [name.removesuffix(".x") for name in found.column("series").to_pylist()]
    assert told == {
        "n1": ["host", "device.dm-1", "device.sda", "device.loop0"],
        "n2": ["device.dm-2"],
        "n3": [],
        "n4": ["host", "device.dm-1", "device.dm-2", "device.sda", "device.loop0"],
    }


@pytest.mark.parametrize(("boot", "second"), [("one", ([], ["sda"])), (None, (["sda"], ["sda"]))])
def test_a_device_counts_once_for_nodes_that_are_known_to_be_one_machine(
    boot: str | None, second: tuple[list[str], list[str]]
) -> None:
    parts = [on_device("n1", "sda", boot), on_device("n2", "sda", boot), on_device("n3", "sda", "other")]
    volumes = merged(facts(), parts, Overhead()).volumes
    assert [volume.devices for volume in volumes] == [["sda"], *second]


def test_other_programs_are_those_of_each_machine_as_its_first_node_saw_them() -> None:
    def part(node: str, boot: str, pid: int | None) -> NodePart:
        program = OtherProgram(node=node, pid=pid or 0, name="a", cpu_seconds=1.0)
        of = facts(other_programs=None if pid is None else [program])
        return NodePart(run=node_run(node, 0.0, machine=boot), facts=of)

    parts = [part("n1", "one", 7), part("n2", "one", 7), part("n3", "two", 8), part("n4", "three", None)]
    found = merged(facts(), parts, Overhead()).other_programs
    assert found is not None and [(one.node, one.pid) for one in found] == [("n1", 7), ("n3", 8)]
    assert merged(facts(), parts[3:], Overhead()).other_programs is None


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
