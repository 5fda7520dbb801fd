"""Bytes of devices, own and foreign: what each is made of, and where it cannot be known."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from mawl.figures.series import RunSamples
from mawl.records.model.node import Inventory
from mawl.records.model.records import Usage
from mawl.records.model.run import RunFacts
from tests.fakes.host_run import host_facts
from tests.fakes.measured_run import IDLE, four_jobs, samples
from tests.fakes.stored_run import NOTHING_LEFT
from tests.fakes.views import summary_of

RATES = IDLE | {"device.sda.read_bytes": 2e6, "device.sda.written_bytes": 3e6}
SECONDS = 20


def on_btrfs(compression: str) -> RunFacts:
    facts = host_facts()
    volumes = [msgspec.structs.replace(volume, file_system="btrfs") for volume in facts.volumes]
    found = Inventory(families={"file_system": {"/mnt": {"compression": compression}}})
    return host_facts(volumes=volumes, inventories={"bench1": found})


def summary(facts: RunFacts, some: RunSamples | None) -> dict[str, Any]:
    return summary_of(facts, four_jobs(float(SECONDS)), samples=some)


def test_on_compressing_btrfs_device_bytes_are_those_of_the_block_devices() -> None:
    found = summary(on_btrfs("zstd:1"), samples(SECONDS, RATES))
    device = found["io"]["device"]
    assert (device["read_bytes"], device["written_bytes"]) == pytest.approx((2e6 * SECONDS, 3e6 * SECONDS))
    assert device["bytes_source"] == "block device sda"
    assert device["run_mean"]["write_bytes_per_second"] == pytest.approx(3e6)
    assert found["io"]["reach"] == {"read_ratio": None, "write_ratio": None}
    assert [text for text in found["remarks"] if "before it compresses" in text]
    assert found["io"]["own"]["read_bytes"] is found["io"]["own"]["written_bytes"] is None
    assert "before it compresses" in found["missing"]["io.foreign"]


def test_own_writes_are_the_smaller_of_device_and_dirtied() -> None:
    found = summary(on_btrfs("none"), samples(SECONDS, RATES))["io"]
    assert found["dirtied"]["written_bytes"] == 4e8
    assert found["device"]["written_bytes"] == found["own"]["written_bytes"] == pytest.approx(6e7)
    many = RATES | {"device.sda.written_bytes": 30e6, "device.sda.read_bytes": 100e6}
    found = summary(on_btrfs("none"), samples(SECONDS, many))["io"]
    assert found["own"]["written_bytes"] == 4e8
    assert found["own"]["read_bytes"] == 1.6e9
    foreign = found["foreign"]
    assert (foreign["read_bytes"], foreign["written_bytes"]) == pytest.approx((4e8, 2e8))
    assert foreign["ratio"] == pytest.approx(6e8 / 2.6e9)
    assert foreign["total_bytes_per_second"] == pytest.approx(3e7)


def test_what_is_still_dirty_or_was_removed_reached_no_device() -> None:
    left = msgspec.structs.replace(NOTHING_LEFT, own_at_end_bytes=100_000_000, removed_bytes=50_000_000)
    many = samples(SECONDS, RATES | {"device.sda.written_bytes": 30e6})
    found = summary(host_facts(dirty={"bench1": left}), many)["io"]
    assert found["own"]["written_bytes"] == 2.5e8
    assert found["dirtied"]["still_dirty_bytes"] == 100_000_000
    assert found["reach"]["write_ratio"] == pytest.approx(2.5e8 / 8e8)


def test_without_the_files_dirty_pages_the_machines_growth_stands_for_them() -> None:
    left = msgspec.structs.replace(
        NOTHING_LEFT,
        own_at_end_bytes=None,
        machine_at_gate_bytes=10_000_000,
        machine_at_end_bytes=110_000_000,
    )
    many = samples(SECONDS, RATES | {"device.sda.written_bytes": 30e6})
    found = summary(host_facts(dirty={"bench1": left}), many)["io"]
    assert found["own"]["written_bytes"] == 3e8


def test_a_control_group_that_accounts_for_writeback_is_asked_first() -> None:
    group = msgspec.structs.replace(NOTHING_LEFT, group_written_bytes=123_000_000)
    found = summary(host_facts(dirty={"bench1": group}), samples(SECONDS, RATES))["io"]["own"]
    assert (found["written_bytes"], found["write_source"]) == (123_000_000, "the control group's io.stat")


def test_nobody_who_looked_at_the_end_means_no_own_writes_and_the_reason() -> None:
    found = summary(host_facts(dirty={}), samples(SECONDS, RATES))
    assert found["io"]["own"]["written_bytes"] is None
    assert "was not measured" in found["missing"]["io.own.written_bytes"]
    assert found["missing"]["io.reach.write_ratio"] == found["missing"]["io.own.written_bytes"]


@pytest.mark.parametrize(
    ("file_system", "network", "why"),
    [("nfs4", True, "network file system"), ("fuse.sshfs", True, "network"), ("fuse.x", False, "FUSE")],
)
def test_where_the_kernel_charges_nothing_that_can_be_used_own_reads_are_null(
    file_system: str, network: bool, why: str
) -> None:
    volumes = [
        msgspec.structs.replace(
            one, file_system=file_system, network=network, devices=[], reason=f"{file_system}: no device"
        )
        for one in host_facts().volumes
    ]
    found = summary(host_facts(volumes=volumes), samples(SECONDS, RATES))
    assert found["io"]["own"]["read_bytes"] is None and why in found["missing"]["io.own.read_bytes"]
    assert found["io"]["device"]["read_bytes"] is None
    assert "no device" in found["missing"]["io.device.read_bytes"]
    assert "no device" in found["io"]["device"]["windows_source"]


def test_imported_jobs_without_an_account_have_the_bytes_of_the_devices() -> None:
    jobs = [msgspec.structs.replace(job, usage=Usage(real_time_seconds=20.0)) for job in four_jobs(20.0)]
    found = summary_of(host_facts(kind="imported", volumes=[]), jobs, samples=samples(SECONDS, RATES))
    assert found["io"]["device"]["written_bytes"] == pytest.approx(3e6 * SECONDS)
    assert found["io"]["device"]["bytes_source"] == "all 1 block device"
    assert found["io"]["device"]["run_mean"]["read_bytes_per_second"] == pytest.approx(2e6)
