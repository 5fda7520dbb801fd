"""The verdict on runs whose limit is known by construction."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mawl.advice.limit.costs import named, pooled
from mawl.advice.limit.evidence import device_lines, device_peaks
from mawl.advice.limit.verdict import NO_WAITS, TOO_SHORT, classify, limit_of
from mawl.figures.series import RunSamples
from mawl.figures.view import RunView
from mawl.records.model.records import JobRecord
from mawl.records.model.role_io import WAIT_FIELDS, Waits
from mawl.records.model.run import NodeFacts, VolumeFacts
from mawl.records.model.summary.judgement import Cause
from mawl.records.store.columns import to_table
from tests.fakes.measured_run import WORKLOAD, Rate, four_jobs, reading_of, sample_rows
from tests.fakes.stored_run import facts
from tests.fakes.views import plain

CPU: dict[str, Rate] = {"jobs.on_cpu_seconds": 2.0, "jobs.run_queue_seconds": 2.0}
STORAGE: dict[str, Rate] = {
    "jobs.on_cpu_seconds": 1.0,
    "role.work.waited_seconds": 2.5,
    "role.util.waited_seconds": 0.5,
    "host.pressure_io_some_seconds": 0.9,
}


def jobs_that(**seconds: float) -> list[JobRecord]:
    """Four jobs of a minute with these waits."""
    own = Waits(
        **dict.fromkeys(WAIT_FIELDS, 0.0) | {f"{name}_seconds": value for name, value in seconds.items()}
    )
    return [msgspec.structs.replace(one, waits=own) for one in four_jobs(60.0)]


def limit(reading: RunView) -> dict[str, Any]:
    return plain(limit_of(reading, {}, 2.0))


def sentences(block: dict[str, Any], kind: str) -> str:
    return "\n".join(line["sentence"] for line in block["evidence"] if line["kind"] == kind)


def test_jobs_that_wait_for_nothing_have_no_limit() -> None:
    block = limit(reading_of(jobs=jobs_that(on_cpu=59.5)))
    assert (block["verdict"], block["second"]) == ("none", None)
    assert block["shares"]["none"] == pytest.approx(1.0)
    assert block["headroom"]["cpu_ratio"] == pytest.approx(0.5)
    assert block["evidence"][0]["sentence"].endswith(
        "of their time on a processor: the speed of a core bounds each job"
    )


def test_a_full_run_queue_is_a_limit_and_busy_processors_alone_are_none() -> None:
    block = limit(reading_of(CPU, jobs=jobs_that(on_cpu=29.75, run_queue=29.75)))
    assert block["verdict"] == "cpu"
    assert block["losses"]["cpu"] == pytest.approx(0.5)
    assert "jobs waited for CPU 50 % of the time" in sentences(block, "evidence")
    busy = limit(reading_of({"host.cpu_user_seconds": 8.0, "host.cpu_idle_seconds": 0.0}))
    assert busy["verdict"] == "none"


def test_a_cpu_quota_that_stops_more_than_one_processor_is_no_share_above_100_percent() -> None:
    """The kernel adds up the time of all processors (checked: two busy ones, 3.8 s in 2.2 s)."""
    block = limit(reading_of({**CPU, "group.cpu_throttled_seconds": 1.8}))
    sentence = "the CPU quota of mawl's control group stopped {} processors on average"
    assert sentence.format(1.8) in sentences(block, "support")
    little = limit(reading_of({**CPU, "group.cpu_throttled_seconds": 0.01}))
    assert "CPU quota" not in sentences(little, "support")


def test_blocked_time_is_storage_with_its_role_and_pressure_as_evidence() -> None:
    jobs = jobs_that(on_cpu=15.0, blocked_work=37.0, blocked_util=7.5)
    block = limit(reading_of(STORAGE, jobs=jobs))
    assert (block["verdict"], block["role"], block["device"]) == ("storage", "work", "sda")
    assert block["losses"]["storage"] == pytest.approx(44.5 / 59.5)
    evidence = sentences(block, "evidence")
    assert "work 62 %" in evidence and "util 13 %" in evidence
    assert "tasks waited for I/O 90 % of the active phase" in evidence


def volume(role: str, **changes: object) -> VolumeFacts:
    return VolumeFacts(role=role, node="bench1", directory=role, **changes)  # type: ignore[arg-type]


def test_the_device_under_the_role_is_named_and_its_await_only_supports() -> None:
    of = facts(
        workload=WORKLOAD,
        outcome="completed",
        volumes=[
            volume(role, devices=["sdb"], layers=["sdb"], disks=["sdb"]) for role in ("data", "work", "util")
        ],
    )
    device: dict[str, Rate] = {
        "device.sdb.reads": 90.0,
        "device.sdb.writes": 10.0,
        "device.sdb.read_seconds": 0.9,
        "device.sdb.write_seconds": 0.1,
        "device.sdb.busy_seconds": 0.3,
        "device.sdb.read_bytes": lambda second: 50e6 if second < 5 else 30e6,
        "device.sdb.written_bytes": 10e6,
    }
    block = limit(reading_of(STORAGE | device, of=of))
    assert (block["verdict"], block["device"]) == ("storage", "sdb")
    assert "a request to sdb took 10.0 ms" in sentences(block, "support")
    assert "sdb moved 60.0 MB/s in its highest window, 40.0 MB/s in the median one" in sentences(
        block, "support"
    )
    assert [block[f"device_{name}peak_bytes_per_second"] for name in ("", "read_", "write_")] == [
        pytest.approx(peak) for peak in (60e6, 50e6, 10e6)
    ]
    assert "sdb" not in sentences(block, "evidence")


def test_of_devices_with_one_name_on_several_nodes_the_busiest_is_looked_at() -> None:
    of = facts(
        volumes=[
            VolumeFacts(role="work", node=node, directory="/w", devices=["sdb"])
            for node in ("n1", "n2", "n3")
        ]
    )
    rows = [
        row
        for node, busy in (("n1", 0.2), ("n2", 0.4))
        for row in sample_rows(
            60,
            {
                "device.sdb.busy_seconds": busy,
                "device.sdb.read_bytes": 100e6 * busy,
                "device.sdb.written_bytes": 0.0,
            },
            node=node,
        )
    ]
    reading = RunView(of, four_jobs(60), RunSamples(to_table("samples", rows)))
    assert device_lines(reading, "sdb")[0].sentence.startswith("sdb of n2 moved 40.0 MB/s in its highest")
    assert device_peaks(reading, "sdb")["read"] == pytest.approx(40e6)


def test_a_device_of_nodes_on_one_machine_is_the_sum_of_their_parts() -> None:
    """As in a simulated run, whose samples have no busy time."""
    nodes = [NodeFacts(name="n1"), NodeFacts(name="n2", same_machine_as="n1"), NodeFacts(name="n3")]
    of = facts(
        nodes=nodes,
        volumes=[VolumeFacts(role="work", node=node.name, directory="/w", devices=["sdb"]) for node in nodes],
    )
    rows = [
        row
        for node, rate in (("n1", 10e6), ("n2", 30e6), ("n3", 20e6))
        for row in sample_rows(
            60, {"device.sdb.read_bytes": rate, "device.sdb.written_bytes": 0.0}, node=node
        )
    ]
    reading = RunView(of, four_jobs(60), RunSamples(to_table("samples", rows)))
    assert device_peaks(reading, "sdb")["read"] == pytest.approx(40e6)


def test_blocked_time_on_a_network_file_system_is_network() -> None:
    of = facts(
        workload=WORKLOAD,
        outcome="completed",
        volumes=[
            volume("work", network=True, file_system="nfs4"),
            volume("util", network=True, file_system="nfs4"),
        ],
    )
    block = limit(reading_of(STORAGE, of=of))
    assert (block["verdict"], block["losses"]["storage"]) == ("network", 0.0)
    assert "work on nfs4" in sentences(block, "evidence")
    assert "cannot separate the fabric from the server" in sentences(block, "support")


def test_memory_pressure_takes_its_part_of_what_was_blocked() -> None:
    block = limit(reading_of(STORAGE | {"host.pressure_memory_some_seconds": 0.9}))
    assert block["verdict"] == "memory"
    assert block["losses"]["memory"] == pytest.approx(0.75)
    assert block["losses"]["storage"] == pytest.approx(0.0)
    little = limit(reading_of(STORAGE | {"host.pressure_memory_some_seconds": 0.04}))
    assert little["verdict"] == "storage"


def test_iowait_and_utilisation_decide_nothing() -> None:
    block = limit(reading_of({"host.cpu_iowait_seconds": 4.0, "device.sdb.busy_seconds": 1.0}))
    assert block["verdict"] == "none"


def half(second_half: float) -> Any:
    return lambda second: second_half if second >= 30 else 0.0


@pytest.mark.parametrize(
    ("queued", "waited", "first", "second"),
    [
        (3.0, 3.0, {"cpu", "storage"}, {"cpu", "storage"}),
        (3.0, 1.0, {"cpu"}, {None}),
        (0.3, 0.2, {"none"}, {None}),
    ],
)
def test_two_causes_limit_where_the_second_costs_half_as_much(
    queued: float, waited: float, first: set[str], second: set[str | None]
) -> None:
    """Halves of the time with waits of two kinds: what counts is what they cost, not in how many windows."""
    rates: dict[str, Rate] = {
        "jobs.on_cpu_seconds": 1.0,
        "jobs.run_queue_seconds": half(queued),
        "role.work.waited_seconds": lambda second: waited if second < 30 else 0.0,
    }
    block = limit(reading_of(rates))
    assert block["verdict"] in first and block["second"] in second
    cost = {one["resource"]: one["share_ratio"] for one in block["costs"]}
    assert cost["cpu"] == pytest.approx(queued / 8, abs=0.01) == block["losses"]["cpu"]


def test_a_plateau_needs_waits_that_grow() -> None:
    waits: dict[str, Rate] = {
        "jobs_running": 8.0,
        "jobs.on_cpu_seconds": lambda second: 6.0 if second < 30 else 1.0,
        "role.work.waited_seconds": lambda second: 2.0 if second < 30 else 7.0,
    }
    assert "plateau" in sentences(limit(reading_of(waits)), "evidence")
    assert "plateau" not in sentences(limit(reading_of(STORAGE)), "evidence")


def test_a_run_that_did_not_measure_waits_has_no_verdict() -> None:
    missing: dict[str, str] = {}
    assert limit_of(reading_of(without="jobs."), missing, 2.0) is None
    assert missing["limit"] == NO_WAITS


def test_a_run_that_no_window_of_the_samples_covers_was_too_short() -> None:
    missing: dict[str, str] = {}
    assert limit_of(reading_of(seconds=60, skip=range(1, 62)), missing, 2.0) is None
    assert missing["limit"] == TOO_SHORT


def test_the_tail_has_no_say() -> None:
    reading = reading_of(CPU)
    assert all(classify(moment, reading) == "cpu" for moment in reading.moments)
    reading.moments[-1] = msgspec.structs.replace(reading.moments[-1], active=False)
    assert limit(reading)["told_ratio"] == 1.0


def test_a_window_has_a_name_only_where_its_bounds_leave_one() -> None:
    reading = reading_of(CPU)
    for least, name in ((2.0, "cpu"), (0.0, None)):
        bounds = {"run_queue": (least, 2.0), "io": (0.0, 0.0)}
        assert classify(msgspec.structs.replace(reading.moments[0], bounds=bounds), reading) == name


def test_a_window_has_no_name_if_what_mawl_did_not_see_could_change_it() -> None:
    reading = reading_of(CPU)
    blocked = {**(reading.moments[0].jobs_blocked or {}), "unknown": 3.0}
    assert classify(msgspec.structs.replace(reading.moments[0], jobs_blocked=blocked), reading) is None


waited = st.floats(0.0, 0.75)


@settings(max_examples=20, deadline=None)
@given(waited, waited, waited, waited, st.floats(0.0, 1.0), st.floats(0.0, 1.0))
def test_losses_are_shares_of_one_whole(
    queued: float, data: float, work: float, util: float, memory: float, io: float
) -> None:
    reading = reading_of(
        {
            "jobs.on_cpu_seconds": 1.0,
            "jobs.run_queue_seconds": queued,
            "role.data.waited_seconds": data,
            "role.work.waited_seconds": work,
            "role.util.waited_seconds": util,
            "host.pressure_memory_some_seconds": memory,
            "host.pressure_io_some_seconds": io,
        },
        seconds=20,
    )
    block = limit(reading)
    assert all(0.0 <= loss <= 1.0 for loss in block["losses"].values())
    assert block["losses"]["storage"] + block["losses"]["memory"] <= 1.0 + 1e-9
    assert sum(block["shares"].values()) == pytest.approx(1.0)


COSTS = st.lists(
    st.builds(
        Cause,
        resource=st.sampled_from(["storage", "cpu", "memory", "network", "others", "other"]),
        share_ratio=st.floats(0.0, 0.5),
    ),
    max_size=5,
).map(lambda costs: sorted(costs, key=lambda cost: -cost.share_ratio))


@given(COSTS)
def test_what_is_named_costs_a_fifth_and_no_more_is_left_out(costs: list[Cause]) -> None:
    found = named(costs)
    able = [cost for cost in costs if cost.resource != "other"]
    assert found == able[: len(found)] and len(found) <= 2
    assert not found or sum(cost.share_ratio for cost in found) >= 0.2
    if len(found) == 1 and len(able) > 1:
        assert able[1].share_ratio < 0.5 * able[0].share_ratio
    if not found and able:
        assert able[0].share_ratio < 0.2


def test_runs_are_pooled_by_their_time_and_a_direction_that_they_do_not_share_goes() -> None:
    one = Cause(resource="storage", devices=["sdb"], direction="read", share_ratio=0.6, slowdown=1.2)
    other = msgspec.structs.replace(one, direction="write", share_ratio=0.2, slowdown=0.2)
    (found,) = pooled([([one], 300.0), ([other], 100.0)], 1.6)
    assert (found.share_ratio, found.slowdown) == pytest.approx((0.5, 0.8))
    assert found.direction is None and found.devices == ["sdb"]
