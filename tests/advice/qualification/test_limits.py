"""What limits, over several runs."""

from __future__ import annotations

import msgspec

from mawl.advice.qualification.limits import direction_of, limit_of_runs
from mawl.model.run import VolumeFacts
from mawl.model.summary.summary import Judged
from tests.fakes.stored_run import facts
from tests.fakes.views import partly


def summary(verdict: str | None, role: str | None = None, share: float = 0.8, writes: int = 10) -> Judged:
    latency = {"mean": 0.01}
    block = {
        "reads": 10,
        "writes": writes,
        "syncs": 0,
        "read_latency_seconds": latency,
        "write_latency_seconds": latency,
        "sync_latency_seconds": {"mean": None},
    }
    limit = None if verdict is None else {"verdict": verdict, "role": role, "shares": {verdict: share}}
    return partly({"limit": limit, "io": {"by_role": dict.fromkeys(("data", "work", "util"), block)}})


def test_most_runs_name_the_limit_with_its_role_direction_and_place() -> None:
    own = msgspec.structs.replace(
        facts(), volumes=[VolumeFacts(role="work", node="here", directory="/mnt/b", reason="none")]
    )
    runs = [summary("cpu"), *(summary("storage", "work", share, writes=90) for share in (0.6, 0.8))]
    found = limit_of_runs(runs, own)
    assert found is not None
    assert (found.resource, found.role, found.direction, found.place) == (
        "storage",
        "work",
        "write",
        "/mnt/b",
    )
    assert found.active_ratio == 0.7


def test_a_limit_that_is_not_storage_has_no_place() -> None:
    found = limit_of_runs([summary("cpu"), summary(None)], facts())
    assert found is not None and (found.resource, found.role, found.place) == ("cpu", None, None)
    assert limit_of_runs([summary(None)], facts()) is None


def test_a_direction_is_named_only_where_it_cost_twice_the_other() -> None:
    assert direction_of([summary("storage", "work", writes=15)], "work") is None
    assert direction_of([summary("storage", "work", writes=5)], "work") == "read"
