"""Bytes of ``io.device`` where the jobs' own account of them is missing or from before compression."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from mawl.analysis.series import Samples
from mawl.analysis.summary import summary_of
from mawl.model.inventory import Inventory
from mawl.model.run import RunFacts
from mawl.model.usage import Usage
from tests.fakes.host_run import host_facts
from tests.fakes.measured_run import IDLE, four_jobs, samples

RATES = IDLE | {"device.sda.read_bytes": 2e6, "device.sda.written_bytes": 3e6}
SECONDS = 20


def on_btrfs(compression: str) -> RunFacts:
    facts = host_facts()
    volumes = [msgspec.structs.replace(volume, file_system="btrfs") for volume in facts.volumes]
    found = Inventory(families={"file_system": {"/mnt": {"compression": compression}}})
    return host_facts(volumes=volumes, inventories={"bench1": found})


def summary(facts: RunFacts, some: Samples | None) -> dict[str, Any]:
    return summary_of(facts, four_jobs(float(SECONDS)), samples=some)


def test_on_compressing_btrfs_device_bytes_are_those_of_the_block_devices() -> None:
    found = summary(on_btrfs("zstd:1"), samples(SECONDS, RATES))
    device = found["io"]["device"]
    assert (device["read_bytes"], device["written_bytes"]) == pytest.approx((2e6 * SECONDS, 3e6 * SECONDS))
    assert device["bytes_source"] == "block device sda"
    assert device["run_mean"]["write_bytes_per_second"] == pytest.approx(3e6)
    assert found["io"]["reach"] == {"read_ratio": None, "write_ratio": None}
    assert [text for text in found["remarks"] if "before it compresses" in text and "sda" in text]


def test_on_compressing_btrfs_without_samples_there_are_no_device_bytes_but_the_reason() -> None:
    found = summary(on_btrfs("zstd:1"), None)
    assert found["io"]["device"]["written_bytes"] is None
    assert "before it compresses" in found["missing"]["io.device.written_bytes"]


def test_without_compression_they_are_what_was_charged_to_the_jobs() -> None:
    found = summary(on_btrfs("none"), samples(SECONDS, RATES))
    charged = sum(
        (job.usage.device_written_bytes or 0) - (job.usage.cancelled_written_bytes or 0)
        for job in four_jobs(float(SECONDS))
    )
    assert found["io"]["device"]["written_bytes"] == charged
    assert found["io"]["device"]["bytes_source"] == "jobs' processes (charged)"


def test_imported_jobs_without_an_account_have_the_bytes_of_the_devices() -> None:
    jobs = [msgspec.structs.replace(job, usage=Usage(real_time_seconds=20.0)) for job in four_jobs(20.0)]
    found = summary_of(host_facts(kind="imported", volumes=[]), jobs, samples=samples(SECONDS, RATES))
    assert found["io"]["device"]["written_bytes"] == pytest.approx(3e6 * SECONDS)
    assert found["io"]["device"]["bytes_source"] == "all 1 block device"
    assert found["io"]["device"]["run_mean"]["read_bytes_per_second"] == pytest.approx(2e6)
