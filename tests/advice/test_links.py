"""Network or storage: told by the links of the nodes and a watched server, and only by both."""

from __future__ import annotations

from typing import Any

import pytest

from tests.fakes.altered_runs import client, fabric_summary, server
from tests.fakes.measured_run import Rate


def run(link: Rate, device: Rate, **changes: Any) -> dict[str, Any]:
    rates = {"n1": client(link), "n2": client(link), "sto": server(device)}
    return fabric_summary(rates, **changes)


def sentences(summary: dict[str, Any]) -> str:
    return "\n".join(line["sentence"] for line in summary["limit"]["evidence"])


def test_full_links_are_the_network_whatever_the_device_does() -> None:
    summary = run(9.3e6, 18.6e6)
    assert summary["limit"]["verdict"] == "network"
    assert summary["limit"]["losses"]["storage"] == 0.0
    assert "the nodes used 93 % of their links (10.0 MB/s each way" in sentences(summary)
    assert "the devices of sto moved 18.7 MB/s in their highest window" in sentences(summary)
    assert "cannot separate the fabric from the server" not in sentences(summary)


def test_links_with_room_before_a_device_at_its_top_are_the_storage() -> None:
    summary = run(7e6, 14e6)
    assert (summary["limit"]["verdict"], summary["limit"]["role"]) == ("storage", "data")
    assert summary["limit"]["device"] is None
    assert summary["limit"]["losses"]["network"] == pytest.approx(0.0, abs=1e-9)


def test_a_device_that_is_in_use_all_the_time_is_the_storage_however_little_it_moves() -> None:
    rates = {"n1": client(1e6), "n2": client(1e6), "sto": server(2e6, busy=0.99)}
    assert fabric_summary(rates)["limit"]["verdict"] == "storage"


@pytest.mark.parametrize("device", [0.2e6, lambda second: 14e6 if 20 <= second < 30 else 1e6])
def test_a_device_that_is_not_at_its_top_is_not_blamed(device: Rate) -> None:
    """Little that is written back all the time, or one burst: neither is what jobs wait for."""
    assert run(3e6, device)["limit"]["verdict"] == "network"


def test_without_a_declared_link_fabric_and_server_are_one() -> None:
    assert_one(run(7e6, 14e6, link_bytes_per_second=None))


def test_without_a_watched_server_fabric_and_server_are_one() -> None:
    summary = fabric_summary({"n1": client(7e6), "n2": client(7e6)}, storage_runs=[])
    assert summary["cluster"]["storage"] == {}
    assert_one(summary)


def assert_one(summary: dict[str, Any]) -> None:
    assert summary["limit"]["verdict"] == "network"
    assert "one run cannot separate the fabric from the server behind it" in sentences(summary)
    assert "of their links" not in sentences(summary)


def test_a_window_counts_by_the_node_that_waits() -> None:
    """One node with a full link waits long, the other hardly: the mean of the links would mislead."""
    rates = {
        "n1": client(9.3e6, waited=1.9),
        "n2": client(3e6, waited=0.1),
        "sto": server(14e6),
    }
    assert fabric_summary(rates)["limit"]["verdict"] == "network"


def test_slow_write_back_behind_jobs_that_do_not_wait_is_no_limit() -> None:
    rates = {"n1": client(1e6, waited=0.05), "n2": client(1e6, waited=0.05), "sto": server(0.0, busy=1.0)}
    assert fabric_summary(rates)["limit"]["verdict"] == "none"


def test_what_the_servers_devices_moved_is_no_figure_of_the_nodes_and_no_zero() -> None:
    summary = run(7e6, 14e6)
    device = summary["io"]["device"]
    assert device["read_bytes"] is device["written_bytes"] is None
    assert "network file system" in summary["missing"]["io.own.read_bytes"]
    assert summary["io"]["reach"]["read_ratio"] is None
    assert device["peak"]["read_bytes_per_second"] is None
    assert not any("page cache" in reason for reason in summary["answer"]["reasons"])


def test_the_figures_of_the_server_are_its_devices_and_its_network() -> None:
    summary = run(7e6, 14e6)
    block = summary["cluster"]["storage"]["sto"]
    device = block["device"]
    assert device["read_bytes"] == pytest.approx(14e6 * 60)
    assert device["sustained"]["total_bytes_per_second"] == pytest.approx(14.1e6)
    assert device["peak"]["read_bytes_per_second"] == pytest.approx(14e6)
    assert device["await_seconds"]["mean"] == pytest.approx(0.2 / 101)
    assert block["received_bytes_per_second"]["mean"] == pytest.approx(1e6)
    assert block["sent_bytes_per_second"]["peak"] == pytest.approx(14e6)
    cluster = summary["cluster"]
    assert cluster["network_received_bytes_per_second"] == pytest.approx(14e6), "and not the server's"
    assert cluster["mean"]["network_sent_bytes_per_second"] == pytest.approx(0.5e6)
    assert cluster["nodes"]["n1"]["network_bytes_per_second"] == pytest.approx(7.5e6)


def test_a_server_that_left_no_samples_is_null_with_a_reason() -> None:
    summary = fabric_summary({"n1": client(7e6), "n2": client(7e6)})
    assert summary["cluster"]["storage"]["sto"]["device"]["read_bytes"] is None
    assert "do not cover" in summary["missing"]["cluster.storage.*.device.read_bytes"]
    assert summary["limit"]["verdict"] == "network"
