"""The block ``host`` from samples whose counters grow at known rates."""

from __future__ import annotations

from typing import Any

import pytest

from mawl.figures.series import MILLISECONDS_WRAP_SECONDS, RunSamples
from mawl.records.model.run import RunFacts, VolumeFacts
from mawl.records.store.columns import to_table
from tests.fakes.host_run import PARTS, host_facts
from tests.fakes.measured_run import IDLE, Rate, four_jobs, sample_rows, samples
from tests.fakes.stored_run import facts, job
from tests.fakes.views import summary_of

SECONDS = 60


def host(rates: dict[str, Rate], some: RunFacts | None = None) -> dict[str, Any]:
    """The block of a run of one minute, all of it covered by samples."""
    known = samples(SECONDS, rates)
    block = summary_of(some or host_facts(), four_jobs(SECONDS), samples=known)["host"]
    assert isinstance(block, dict)
    return block


def test_shares_of_processor_time_add_up_and_steal_is_not_busy() -> None:
    block = host(IDLE | PARTS)
    whole = 4.0 + 0.5 + 0.1 + 1.0 + 4.0 + 0.4
    assert block["cpu_busy_ratio"] == pytest.approx(4.6 / whole)
    assert block["cpu_iowait_ratio"] == pytest.approx(1.0 / whole)
    assert block["cpu_steal_ratio"] == pytest.approx(0.4 / whole)
    kinds = ("busy", "iowait", "steal")
    assert sum(block[f"cpu_{kind}_ratio"] for kind in kinds) + 4.0 / whole == pytest.approx(1.0)
    assert block["cpu_busy_seconds"] == pytest.approx(4.6 * SECONDS)


def test_a_node_that_tells_of_devices_only_takes_no_figure_of_the_machine_away() -> None:
    devices = {name: rate for name, rate in PARTS.items() if name.startswith("device.")}
    rows = [*sample_rows(SECONDS, IDLE | PARTS), *sample_rows(SECONDS, devices, node="bench2")]
    known = RunSamples(to_table("samples", rows))
    block = summary_of(host_facts(), four_jobs(SECONDS), samples=known)["host"]
    assert devices and block is not None and block["cpu_busy_ratio"] is not None


def test_busy_cores_are_over_the_physical_cores() -> None:
    block = host(IDLE | {"host.core_busy_seconds": 1.5})
    assert block["core_busy_seconds"] == pytest.approx(1.5 * SECONDS)
    assert block["core_busy_ratio"] == pytest.approx(0.75), "two cores"
    assert (block["cores"], block["core_basis"]) == (2, "vCPU")


def test_awaits_are_time_over_requests_and_the_peak_is_of_a_window() -> None:
    def slow_at_the_end(second: float) -> float:
        return 0.1 if second < 50 else 1.0

    rates = PARTS | {"device.sda.read_seconds": slow_at_the_end}
    device = host(IDLE | rates)["device"]["sda"]
    assert device["read_await_seconds"]["mean"] == pytest.approx((50 * 0.1 + 10 * 1.0) / 6000)
    assert device["read_await_seconds"]["peak"] == pytest.approx(0.01)
    assert device["write_await_seconds"]["mean"] == pytest.approx(0.01)
    assert device["utilisation_ratio"] == pytest.approx(0.5)
    assert device["queue_length"] == pytest.approx(0.7)
    assert device["read_bytes"] == pytest.approx(80e6 * SECONDS)


def test_a_device_without_requests_has_no_await_and_one_without_counters_no_figures() -> None:
    device = host(IDLE | PARTS | {"device.sdb.read_seconds": 0.0, "device.sdb.reads": 0.0})["device"]["sdb"]
    assert device["read_await_seconds"] == {"mean": None, "peak": None}
    assert device["writes"] is None and device["flushes"] is None


def test_a_wrapped_time_is_no_fall() -> None:
    ceiling = MILLISECONDS_WRAP_SECONDS

    def wrapping(second: float) -> float:
        # A first step to just below the ceiling, then a quarter of a second each, once around.
        return ceiling - 1.0 if second == 0 else 0.25 - (ceiling if second == 10 else 0.0)

    block = host(IDLE | PARTS | {"device.sda.write_seconds": wrapping})
    gained = (ceiling - 1.0) + 59 * 0.25
    assert block["device"]["sda"]["write_await_seconds"]["mean"] == pytest.approx(gained / (50 * SECONDS))


def test_devices_say_which_roles_they_hold_and_count_once_for_all() -> None:
    block = host(IDLE | PARTS)
    assert block["device"]["sda"]["roles"] == ["data", "work", "util"]
    assert block["device"]["sdb"]["roles"] == []
    assert block["role_devices"]["read_bytes"] == pytest.approx(80e6 * SECONDS)


def stacked(role: str, device: str, *below: str) -> VolumeFacts:
    layers = [device, *below]
    return VolumeFacts(
        role=role,  # type: ignore[arg-type]
        node="bench1",
        directory=role,
        devices=[device],
        layers=layers,
        disks=layers[-1:],
    )


def test_stacked_devices_count_once_and_are_those_of_the_windows() -> None:
    # work lies in an image file on the array that holds data, util on a disk of its own.
    some = host_facts(
        volumes=[
            stacked("data", "md0", "sda"),
            stacked("work", "loop0", "md0", "sda"),
            stacked("util", "sdb"),
        ]
    )
    rates: dict[str, Rate] = {
        f"device.{name}.{figure}_bytes": bytes_per_second
        for name, bytes_per_second in (("md0", 50e6), ("loop0", 20e6), ("sda", 100e6), ("sdb", 5e6))
        for figure in ("read", "written")
    }
    summary = summary_of(some, four_jobs(SECONDS), samples=samples(SECONDS, IDLE | rates))
    assert summary["host"]["role_devices"]["written_bytes"] == pytest.approx(55e6 * SECONDS)
    assert summary["io"]["device"]["active_mean"]["write_bytes_per_second"] == pytest.approx(55e6)
    assert summary["io"]["device"]["windows_source"] == "block devices md0, sdb"


def test_windows_and_the_whole_run_mean_the_same_by_busy() -> None:
    summary = summary_of(host_facts(), four_jobs(SECONDS), samples=samples(SECONDS, IDLE | PARTS))
    busy = [window["cpu_busy_ratio"] for window in summary["windows"]]
    assert busy == pytest.approx([summary["host"]["cpu_busy_ratio"]] * 12)
    assert summary["host"]["cpu_steal_ratio"] > 0


def test_roles_without_devices_have_no_device_bytes() -> None:
    assert host(IDLE | PARTS, host_facts(volumes=[]))["role_devices"]["written_bytes"] is None


def test_networks_have_means_and_peaks() -> None:
    def burst(second: float) -> float:
        return 9e6 if 30 <= second < 40 else 0.0

    block = host(IDLE | PARTS | {"network.eth0.sent_bytes": burst})
    sent = block["network"]["eth0"]["sent_bytes_per_second"]
    assert sent["mean"] == pytest.approx(1.5e6)
    assert sent["peak"] == pytest.approx(9e6)
    assert block["fabric"]["host1"]["received_bytes"] == pytest.approx(3e6 * SECONDS)
    assert block["mount"]["/sas.data"]["read_await_seconds"]["mean"] == pytest.approx(0.005)


def test_the_extremes_of_memory_are_those_of_a_second() -> None:
    def dip(second: float) -> float:
        return 1e9 if second == 30 else 8e9

    assert host(IDLE | {"host.memory_available_bytes": dip})["least_memory_available_bytes"] == 1e9


def test_a_run_between_two_looks_has_the_extremes_of_both() -> None:
    known = samples(2, {"host.memory_available_bytes": lambda second: 3e9 if second else 5e9})
    block = summary_of(facts(), [job("s1-1", 0.25, 0.75)], samples=known)["host"]
    assert block["least_memory_available_bytes"] == 3e9


def test_pressure_is_a_share_of_the_time() -> None:
    pressure = host(IDLE | {"host.pressure_io_full_seconds": 0.25})["pressure"]
    assert pressure["io_full_ratio"] == pytest.approx(0.25)
    assert pressure["memory_some_ratio"] == 0


def test_what_the_collector_could_not_read_is_null_with_its_reason() -> None:
    reasons = {
        "host.pressure.io_full_ratio": "/proc/pressure/io: operation not supported",
        "host.device": "/proc/diskstats: permission denied",
    }
    rates = {name: rate for name, rate in IDLE.items() if "pressure_io" not in name and "device." not in name}
    known = samples(SECONDS, rates)
    summary = summary_of(facts(missing=reasons), four_jobs(SECONDS), samples=known)
    assert summary["host"]["pressure"]["io_full_ratio"] is None
    assert summary["host"]["device"] is None
    assert summary["host"]["network"] == {}, "there was none, which is nothing missing"
    for path, reason in reasons.items():
        assert summary["missing"][path] == reason


def test_a_run_without_host_samples_has_no_block_and_says_so() -> None:
    for known in (None, samples(SECONDS, {"jobs_running": 4.0})):
        summary = summary_of(facts(), four_jobs(SECONDS), samples=known)
        assert summary["host"] is None
        assert "no samples of the host" in summary["missing"]["host"]


def test_the_share_of_inputs_in_memory() -> None:
    assert summary_of(host_facts(), four_jobs(5))["inputs"]["resident_ratio"] == 0.5
    assert summary_of(facts(), four_jobs(5))["inputs"] is None
