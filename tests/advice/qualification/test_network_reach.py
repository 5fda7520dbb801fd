"""Shared storage was tested where the bytes of the programs went over the nodes' networks."""

from __future__ import annotations

import pytest

from mawl.advice.qualification.network_reach import is_all_behind_network, unasked_over_network
from mawl.model.run import VolumeFacts
from mawl.model.summary.summary import Judged
from tests.fakes.stored_run import facts
from tests.fakes.views import partly


def summary(**changes: float | None) -> Judged:
    """Two alike nodes of 100 s that read 10 GB and write 2 GB each."""
    node = {
        "application_read_bytes": 10e9,
        "application_written_bytes": 2e9,
        "network_received_bytes_per_second": 101e6,
        "network_sent_bytes_per_second": 21e6,
        "done_seconds": 100.0,
    }
    return partly({"cluster": {"nodes": {"n1": node, "n2": node | changes}}})


def test_what_went_over_the_network_was_asked_of_the_storage() -> None:
    assert unasked_over_network(summary()) is None


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        (
            {"network_received_bytes_per_second": 50e6},
            "only 76 % of the bytes read went over the network (80",
        ),
        ({"network_sent_bytes_per_second": 1e6}, "only 55 % of the bytes written went over the network"),
        (
            {"network_sent_bytes_per_second": None},
            "how many of the bytes written went over the network is not",
        ),
        ({"done_seconds": None}, "how many of the bytes read went over the network is not known"),
    ],
)
def test_what_a_client_s_cache_served_was_not(changes: dict[str, float | None], why: str) -> None:
    found = unasked_over_network(summary(**changes))
    assert found is not None and found[0].startswith(why) and found[1] == "reach"


def test_a_direction_of_few_bytes_is_not_asked_for() -> None:
    quiet = {"application_written_bytes": 0.1e9, "network_sent_bytes_per_second": 0.0}
    both = partly({"cluster": {"nodes": {"n1": _with(quiet)}}})
    assert unasked_over_network(both) is None
    assert unasked_over_network(partly({"cluster": {"nodes": {}}})) is not None


def _with(changes: dict[str, float]) -> dict[str, float]:
    return {
        "application_read_bytes": 10e9,
        "network_received_bytes_per_second": 101e6,
        "done_seconds": 100.0,
        **changes,
    }


def test_one_local_role_is_enough_to_see_devices() -> None:
    far = VolumeFacts(role="data", node="n1", directory="/d", file_system="nfs4", network=True)
    near = VolumeFacts(role="work", node="n1", directory="/w", file_system="ext4")
    assert is_all_behind_network(facts(volumes=[far]))
    assert not is_all_behind_network(facts(volumes=[far, near]))
    assert not is_all_behind_network(facts(volumes=[]))
