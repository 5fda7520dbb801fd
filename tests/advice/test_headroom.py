"""Headroom: what a run left of storage, memory and networks, and against which limit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import numpy
import pytest

from mawl.advice.bounds import AnswerBounds
from mawl.advice.headroom import headroom_of
from mawl.advice.judge import judged
from mawl.figures.view import RunView, StoredView
from mawl.records.model.node import Port
from mawl.records.model.summary.io import Foreign
from mawl.records.model.summary.judgement import Cause
from mawl.records.store import open_run
from tests.fakes.measured_run import WORKLOAD, Rate, reading_of
from tests.fakes.second_figures import evidence, headroom, of
from tests.fakes.second_formula import Folder, course_of
from tests.fakes.stored_run import facts
from tests.fakes.synthetic_run import write_synthetic_run
from tests.fakes.views import partly, plain

GIB = 2**30


def left(reading: RunView) -> tuple[dict[str, Any], dict[str, str]]:
    missing: dict[str, str] = {}
    return plain(headroom_of(reading, missing)), missing


def run_of(rates: dict[str, Rate], **changes: Any) -> RunView:
    return reading_of(rates, of=facts(outcome="completed", workload=WORKLOAD, **changes))


def test_processors_have_what_was_idle_and_not_what_a_hypervisor_took() -> None:
    rates: dict[str, Rate] = {
        f"host.cpu_{kind}_seconds": rate
        for kind, rate in {
            "user": 1.0, "system": 0.4, "interrupt": 0.1, "iowait": 0.5, "idle": 1.0, "steal": 1.0,
        }.items()
    }  # fmt: skip
    block, _ = left(run_of(rates))
    assert block["cpu_ratio"] == pytest.approx(1.5 / 4)


@pytest.mark.parametrize(
    ("held", "left_over"),
    [({"cpus_used": [0, 3]}, 0.4), ({"cpu_quota": 1.5}, 0.2), ({"cpus_used": [0], "cpu_quota": 1.5}, 0.0)],
)
def test_processors_of_jobs_that_are_held_have_what_these_left(
    held: dict[str, Any], left_over: float
) -> None:
    """The other processors of the machine idle, and the jobs may not use them."""
    node = msgspec.structs.replace(facts().nodes[0], logical_cpus=64, **held)
    rates: dict[str, Rate] = {"host.cpu_idle_seconds": 60.0, "jobs.on_cpu_seconds": 1.2}
    block, _ = left(run_of(rates, nodes=[node]))
    assert block["cpu_ratio"] == pytest.approx(left_over)
    full: dict[str, Rate] = {"host.cpu_user_seconds": 64.0, "host.cpu_idle_seconds": 0.0}
    block, _ = left(run_of({**full, "jobs.on_cpu_seconds": 0.1}, nodes=[node]))
    assert block["cpu_ratio"] == 0.0, "other programs fill what the jobs may use"


def test_without_a_probe_storage_has_what_its_busiest_device_was_idle() -> None:
    block, _ = left(run_of({"device.sda.busy_seconds": 0.11}))
    assert block["storage_ratio"] == pytest.approx(0.89)
    assert "sda had no request" in block["storage_source"] and "mawl probe" in block["storage_source"]


def test_with_a_probe_storage_has_what_demand_leaves_of_capability() -> None:
    reading = run_of({"device.sda.busy_seconds": 0.11})
    one = {"sustained_used_ratio": None, "test": None}
    by_role: dict[str, Any] = {role: {"read": one, "write": one} for role in ("data", "work", "util")}
    by_role["work"] = {
        "read": {"sustained_used_ratio": 0.3, "test": "sequential read, 256 KiB"},
        "write": one,
    }
    by_role["util"] = {
        "read": one,
        "write": {"sustained_used_ratio": 0.6, "test": "sequential write, 64 KiB"},
    }
    reading.summary.storage = partly({"storage": {"by_role": by_role}}).storage
    block, _ = left(reading)
    assert block["storage_ratio"] == pytest.approx(0.4)
    assert block["storage_source"] == "the probe: util, sequential write, 64 KiB"


def test_with_others_at_the_devices_storage_has_none_and_says_why() -> None:
    reading = run_of({"device.sda.busy_seconds": 0.11})
    reading.summary.io.foreign = Foreign(
        read_bytes=3e9, written_bytes=0.0, total_bytes_per_second=5e7, ratio=0.5
    )
    block, missing = left(reading)
    assert block["storage_ratio"] is None
    assert "other programs moved 3.00 GB" in missing["limit.headroom.storage_ratio"]


def test_without_figures_of_the_devices_storage_has_none() -> None:
    block, missing = left(run_of({}))
    assert block["storage_ratio"] is None
    assert missing["limit.headroom.storage_ratio"] == "no sample says how long the devices were busy"


MEMORY = [Cause(resource="memory", share_ratio=0.1)]


def test_memory_is_held_against_the_limit_in_force() -> None:
    node = facts().nodes[0]
    rates: dict[str, Rate] = {"host.memory_available_bytes": 23.0 * GIB, "jobs_resident_bytes": 0.75 * GIB}
    whole, _ = left(run_of(rates))
    assert whole["memory_ratio"] == pytest.approx(23 / 24)
    assert whole["memory_source"] == "24.0 GiB of the machine"
    limited = msgspec.structs.replace(node, memory_limit_bytes=GIB)
    block, _ = left(run_of(rates, nodes=[limited]))
    assert block["memory_ratio"] == pytest.approx(0.25)
    assert "memory limit 1.00 GiB" in block["memory_source"]
    filled = rates | {"group.memory_bytes": 0.9 * GIB, "host.memory_free_bytes": 6.0 * GIB}
    for node_, share in ((node, 0.25), (limited, 0.1)):
        counted = plain(headroom_of(run_of(filled, nodes=[node_]), {}, costs=MEMORY))
        assert counted["memory_ratio"] == pytest.approx(share)
    contained, _ = left(run_of(rates, settings={"container_memory_limit_bytes": 3 * GIB}))
    assert contained["memory_ratio"] == pytest.approx(0.75)


def test_a_network_has_what_its_highest_window_left_of_its_speed() -> None:
    ports = [Port(name="eth0", kind="ethernet", bytes_per_second=1.25e8), Port(name="veth1", kind="ethernet")]
    rates: dict[str, Rate] = {
        "network.eth0.received_bytes": lambda second: 1e8 if 20 <= second < 30 else 1e6,
        "network.eth0.sent_bytes": 1e6,
    }
    block, _ = left(run_of(rates, ports={"bench1": ports}))
    assert block["network_ratio"] == pytest.approx(0.2)
    assert "eth0" in block["network_source"]
    _, missing = left(run_of(rates))
    assert missing["limit.headroom.network_ratio"] == "no interface or port reports its speed"


@pytest.mark.parametrize("rate", [None, 0.5, 1.0, 4.0])
def test_an_auditor_finds_the_same_in_the_tables(tmp_path: Path, rate: float | None) -> None:
    """Caps at a part of what the devices wrote do not hold, at all of it nothing is left, at more a part."""
    folder = write_synthetic_run(tmp_path / "run", jobs=20, nodes=1, seconds=300)
    tables = Folder(folder)
    if rate is not None:
        for volume in tables.facts["volumes"]:
            (disk,) = volume["devices"]
            written = tables.rate([f"device.{disk}.written_bytes"], course_of(tables).active)
            cap = {"device": disk, "direction": "write", "file": "/a", "carries": [disk]}
            volume["caps"] = [cap | {"bytes_per_second": round(rate * float(numpy.nanmax(written)))}]
        (folder / "run.json").write_text(json.dumps(tables.facts))
    summary = plain(judged(StoredView(open_run(folder)), AnswerBounds(answer_bound=1.0)))
    found = headroom(tables, course_of(tables), summary["limit"])
    assert len(found) == 3
    assert {name: of(summary, name) for name in found} == pytest.approx(found)
    lines = [line["sentence"] for line in summary["limit"]["evidence"]]
    quoted = evidence(tables, course_of(tables), lines)
    assert quoted and all(
        said == pytest.approx(again, rel=0.006, abs=0.0051) for said, again in quoted.values()
    )
