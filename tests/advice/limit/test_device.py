"""Block storage over fibre channel or Ethernet: the ports limit where they are full, else the storage.

A cap of a control group as evidence: only of the named role, near the cap, and while jobs waited.
"""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from mawl.advice.guideline import NOT_FULL
from mawl.advice.limit import verdict
from mawl.figures.window_states import Moment
from mawl.records.model.node import Port, Transport
from mawl.records.model.summary.summary import Judged
from mawl.reports.run_tables.storage import cap_sentence
from tests.fakes.altered_runs import CAP, capped_run
from tests.fakes.measured_run import WORKLOAD, Rate, reading_of
from tests.fakes.stored_run import ON_SDA, facts
from tests.fakes.views import plain


def lines(summary: Judged) -> list[str]:
    assert summary.limit is not None
    return [one.sentence for one in summary.limit.evidence if one.sentence.startswith("cap:")]


@pytest.mark.parametrize("moved", [0.96 * CAP, 1.0 * CAP, 1.08 * CAP])
def test_a_role_that_waits_at_its_cap_names_it(moved: float) -> None:
    summary = capped_run(moved)
    assert summary.limit is not None
    assert (summary.limit.verdict, summary.limit.role) == ("storage", "work")
    (reached,) = summary.limit.caps_reached
    assert (reached.direction, reached.bytes_per_second, reached.devices) == ("write", CAP, ["sdb"])
    assert reached.near_windows == reached.waited_windows > 1
    (line,) = lines(summary)
    assert (
        f"in {reached.near_windows} of them work wrote at least 95 % of what its control group allows" in line
    )
    assert line.endswith("at sdb, 40.0 MB/s")
    assert {one.name for one in summary.thresholds} >= {"limit.cap.near_ratio", "limit.cap.above_ratio"}


@pytest.mark.parametrize("moved", [0.94 * CAP, 0.0, 1.2 * CAP])
def test_a_cap_that_is_not_near_or_does_not_hold_is_not_named(moved: float) -> None:
    summary = capped_run(moved)
    assert lines(summary) == []
    assert summary.limit is not None and summary.limit.caps_reached == []
    assert not any(one.name.startswith("limit.cap") for one in summary.thresholds)


def test_the_windows_near_the_cap_are_counted() -> None:
    summary = capped_run(lambda second: CAP if second < 20 else 0.5 * CAP)
    assert summary.limit is not None
    (reached,) = summary.limit.caps_reached
    assert 0 < reached.near_windows < reached.waited_windows


@pytest.mark.parametrize(("device", "named"), [("sda", True), ("sdb", False)])
def test_others_silence_a_cap_only_where_they_moved_bytes_at_its_device(device: str, named: bool) -> None:
    summary = capped_run(CAP, others={f"device.{device}.written_bytes": 80e6 if device == "sda" else CAP})
    limit = summary.limit
    assert limit is not None and bool(lines(summary)) == named == bool(limit.caps_reached)
    assert limit.headroom.storage_ratio == (0.0 if named else None)
    assert summary.guideline is not None and summary.guideline.role == ("work" if named else None)


@pytest.mark.parametrize(("rate", "left"), [(0.5 * CAP, 0.5), (0.96 * CAP, 0.0), (1.2 * CAP, 0.9)])
def test_without_a_limit_storage_has_what_demand_leaves_of_a_cap_that_holds(rate: float, left: float) -> None:
    waits = {f"device.{disk}.busy_seconds": 0.1 for disk in ("sda", "sdb")}
    limit = capped_run(rate, waits=waits).limit
    assert limit is not None and limit.verdict == "none"
    assert limit.headroom.storage_ratio == pytest.approx(left)
    source = limit.headroom.storage_source or ""
    assert source.startswith("the cap: work, write, 40.0 MB/s at sdb") == (left < 0.9)


def test_the_guideline_judges_the_file_system_of_the_limiting_role_and_not_the_sum() -> None:
    found = capped_run(CAP, "read", "read", elsewhere={"device.sda.read_bytes": 900e6}).guideline
    assert found is not None and (found.basis, found.met, found.role) == ("run", False, "work")
    assert found.bytes_per_second_per_core == pytest.approx(CAP / 2)
    assert found.place == "work (ext4 on sdb)"


def test_the_guideline_judges_a_run_only_by_the_role_whose_bandwidth_limited_it() -> None:
    """Also where other waits cost most and storage comes second; requests that took long judge nothing."""
    waits = {"jobs.on_cpu_seconds": 0.1, "jobs.run_queue_seconds": 1.2, "role.work.waited_seconds": 1.15}
    behind = capped_run(CAP, "read", "read", waits)
    assert behind.limit is not None and (behind.limit.verdict, behind.limit.second) == ("cpu", "storage")
    assert (behind.guideline.basis, behind.guideline.role) == ("run", "work")
    slow = capped_run(0.3 * CAP, "read", "read")
    assert slow.limit is not None and slow.limit.costs[0].kind == "latency"
    assert slow.guideline.basis is None and slow.missing["guideline.basis"] == NOT_FULL
    assert slow.limit.headroom.storage_ratio == pytest.approx(0.7)


def test_the_other_direction_and_the_other_role_are_not_named() -> None:
    assert lines(capped_run(CAP, figure="read")) == []
    assert lines(capped_run(CAP, "read", "read")) != []
    elsewhere = capped_run(CAP, waits={"jobs.on_cpu_seconds": 1.0, "role.data.waited_seconds": 2.5})
    assert elsewhere.limit is not None and elsewhere.limit.role == "data"
    assert lines(elsewhere) == []


def test_a_role_without_waits_is_not_held_by_its_cap() -> None:
    assert lines(capped_run(CAP, waits={})) == []


def test_a_cap_is_evidence_also_where_another_resource_limited() -> None:
    waits = {"jobs.on_cpu_seconds": 1.0, "jobs.run_queue_seconds": 2.0, "role.work.waited_seconds": 1.0}
    summary = capped_run(CAP, waits=waits)
    assert summary.limit is not None and summary.limit.verdict == "cpu"
    assert len(lines(summary)) == 1
    assert (summary.limit.headroom.cpu_ratio, summary.limit.headroom.storage_ratio) == (0.0, 0.0)


def test_reports_list_the_cap_of_the_role() -> None:
    assert cap_sentence(capped_run(CAP)) == "work writes at most 40.0 MB/s at sdb"


BLOCKED: dict[str, Rate] = {"jobs.on_cpu_seconds": 1.0, "role.work.waited_seconds": 3.0}
SPEED = 1e9


def limit_of(transport: Transport | None, ports: list[Port], rates: dict[str, Rate]) -> dict[str, Any]:
    volumes = [msgspec.structs.replace(one, transport=transport) for one in ON_SDA]
    of = facts(outcome="completed", workload=WORKLOAD, volumes=volumes, ports={"bench1": ports})
    return plain(verdict.limit_of(reading_of({**BLOCKED, **rates}, of=of), {}, 2.0))


FC = [Port(name="host1", kind="fc", bytes_per_second=SPEED)]
ETHERNET = [Port(name="eth0", kind="ethernet", bytes_per_second=SPEED)]


@pytest.mark.parametrize(
    ("transport", "ports", "series", "share", "verdict"),
    [
        ("fc", FC, "fabric.host1.received_bytes", 0.95, "network"),
        ("fc", FC, "fabric.host1.received_bytes", 0.5, "storage"),
        ("iscsi", ETHERNET, "network.eth0.sent_bytes", 0.95, "network"),
        ("nvme-tcp", ETHERNET, "network.eth0.received_bytes", 0.9, "network"),
        ("nvme-tcp", FC, "fabric.host1.received_bytes", 0.95, "storage"),
        (None, ETHERNET, "network.eth0.received_bytes", 0.95, "storage"),
    ],
)
def test_full_ports_are_the_network_and_ports_with_room_are_storage(
    transport: Transport | None, ports: list[Port], series: str, share: float, verdict: str
) -> None:
    block = limit_of(transport, ports, {series: share * SPEED})
    assert block["verdict"] == verdict
    assert block["headroom"]["network_ratio"] == pytest.approx(0.0 if verdict == "network" else 1.0 - share)
    named = [line["sentence"] for line in block["evidence"] if "of its speed" in line["sentence"]]
    assert bool(named) == (verdict == "network")


def test_a_bond_and_its_members_count_once() -> None:
    ports = [
        Port(name="bond0", kind="ethernet", bytes_per_second=2 * SPEED, members=["eth0", "eth1"]),
        *(Port(name=name, kind="ethernet", bytes_per_second=SPEED) for name in ("eth0", "eth1")),
    ]
    rates: dict[str, Rate] = {
        "network.bond0.received_bytes": 3e8,
        "network.eth0.received_bytes": 2e8,
        "network.eth1.received_bytes": 1e8,
    }
    of = facts(outcome="completed", workload=WORKLOAD, ports={"bench1": ports})
    reading = reading_of({**BLOCKED, **rates}, of=of)
    windows: list[Moment] = reading.active
    assert {round(one.network_bytes_per_second or 0.0) for one in windows} == {300_000_000}
    assert plain(verdict.limit_of(reading, {}, 2.0))["headroom"]["network_ratio"] == pytest.approx(0.8)


SLEPT: dict[str, Rate] = {"jobs.on_cpu_seconds": 0.1, "jobs.run_queue_seconds": 0.0}


def test_jobs_whose_io_mawl_did_not_see_wait_for_storage_only_at_a_cap() -> None:
    """Four static readers at a cap of 40 MB/s once had the limit "no shared resource", and no loss."""
    at_cap = capped_run(CAP, waits=SLEPT, unseen=4).limit
    assert at_cap is not None and (at_cap.verdict, at_cap.role, at_cap.device) == ("storage", "work", "sdb")
    assert at_cap.losses.storage == pytest.approx(57.5 / 59.5)
    assert "they moved what a control group allows" in at_cap.evidence[0].sentence
    below = capped_run(0.5 * CAP, waits=SLEPT, unseen=4)
    assert below.limit is None
    assert below.missing["limit"] == "mawl did not see what 4 jobs waited for: static (and in 3 more jobs)"
    assert below.windows[0].jobs_blocked.unknown == pytest.approx(3.9)


def test_unseen_jobs_that_cannot_change_the_name_leave_it() -> None:
    waits: dict[str, Rate] = {"jobs.on_cpu_seconds": 1.0, "jobs.run_queue_seconds": 2.7}
    found = capped_run(0.5 * CAP, waits=waits, unseen=1)
    assert found.limit is not None and found.limit.verdict == "cpu"
    assert found.limit.losses.storage is None, "the time of the unseen job may be storage's"
    assert "mawl did not see" in found.missing["limit.losses.storage"]


def test_unseen_jobs_that_others_pass_at_a_cap_may_just_sleep() -> None:
    """Six static jobs that slept and read 2 MB each once made "storage 100 %" of the cap of another job."""
    asleep = capped_run(CAP, waits=SLEPT, unseen=3, moves=1e-3)
    outdone = capped_run(0.01 * CAP, waits=SLEPT, unseen=4, others={"device.sdb.written_bytes": CAP})
    for found in (asleep, outdone):
        assert found.limit is None and "mawl did not see" in found.missing["limit"]
