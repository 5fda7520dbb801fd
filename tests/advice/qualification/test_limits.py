"""What limits, over several runs."""

from __future__ import annotations

import msgspec
import pytest

from mawl.advice.qualification.answer import answer_from
from mawl.advice.qualification.estimate import MedianEstimate
from mawl.advice.qualification.evidence import Evidence
from mawl.advice.qualification.limits import SHARES, direction_of, limit_of_runs
from mawl.advice.qualification.other_work import Others
from mawl.model.qualification import AnswerLimit
from mawl.model.run import VolumeFacts
from mawl.model.summary.summary import Judged
from tests.fakes.answered import ONE_NODE, YES
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
    shares = {**dict.fromkeys(SHARES, 0.0), **({} if verdict is None else {verdict: share})}
    limit = None if verdict is None else {"verdict": verdict, "role": role, "shares": shares}
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
    assert found.active_ratio == 0.6


def test_a_limit_that_is_not_storage_has_no_place() -> None:
    found = limit_of_runs([summary("cpu"), summary(None)], facts())
    assert found is not None and (found.resource, found.role, found.place) == ("cpu", None, None)
    assert limit_of_runs([summary(None)], facts()) is None


WORK = AnswerLimit(resource="storage", role="work", direction="read", place="/w", active_ratio=0.54)
MEASURED = msgspec.structs.replace(
    YES,
    whole=MedianEstimate(median=2.02, low=1.74, high=2.26),
    compute=MedianEstimate(median=1.66, low=1.43, high=1.93),
    storage=MedianEstimate(median=1.10, low=1.02, high=1.26),
    limit=WORK,
    shares={"storage": 0.54, "cpu": 0.45, "memory": 0.0, "network": 0.01, "none": 0.0},
    cautions=["another"],
)
"""Of a bed with two processors: jobs wait most for work, but nearly as long when they are alone."""


def swapped(evidence: Evidence, resource: str) -> Evidence:
    """With the parts of compute and storage exchanged."""
    return msgspec.structs.replace(
        evidence,
        compute=evidence.storage,
        storage=evidence.compute,
        limit=AnswerLimit(resource=resource, active_ratio=0.45),
    )


def test_the_limit_of_an_answer_does_not_contradict_its_parts() -> None:
    answer = answer_from(MEASURED)
    assert answer.limit == AnswerLimit(resource="cpu", active_ratio=0.45)
    assert "Limit: processors." in answer.sentence
    assert answer.cautions == [
        "The reports of the runs name work reads on /w as the limit: they count all that jobs wait for, also "
        "when alone. The slowdown comes from processors: compute makes jobs 1.66 times as long as alone, "
        "storage 1.10 times.",
        "another",
    ]


@pytest.mark.parametrize("resource", ["cpu", "mixed", "none"])
def test_a_slowdown_by_storage_is_not_called_by_another_name(resource: str) -> None:
    answer = answer_from(swapped(MEASURED, resource))
    assert answer.limit == AnswerLimit(resource="storage", active_ratio=0.54)
    assert "The slowdown comes from storage" in answer.cautions[0]


@pytest.mark.parametrize(
    "evidence",
    [
        # The intervals of both parts meet.
        msgspec.structs.replace(MEASURED, compute=MedianEstimate(median=1.66, low=1.26, high=1.93)),
        # Compute adds 0.40 to 2.02, less than a fifth.
        msgspec.structs.replace(MEASURED, compute=MedianEstimate(median=1.40, low=1.35, high=1.45)),
        # Memory makes jobs wait, and compute.
        msgspec.structs.replace(MEASURED, limit=AnswerLimit(resource="memory", active_ratio=0.6)),
        # Other work, or other nodes, changed the parts.
        msgspec.structs.replace(MEASURED, others_measured=Others(ratio=0.4, names=("backup",))),
        msgspec.structs.replace(MEASURED, lack=("other programs moved 3.00 GB", "others")),
        msgspec.structs.replace(MEASURED, nodes=ONE_NODE),
        # Nothing is known to contradict.
        msgspec.structs.replace(MEASURED, storage=None),
        msgspec.structs.replace(MEASURED, limit=None),
        swapped(MEASURED, "network"),
    ],
)
def test_a_limit_stays_where_the_parts_do_not_surely_contradict_it(evidence: Evidence) -> None:
    assert answer_from(evidence).limit == evidence.limit


def test_a_direction_is_named_only_where_it_cost_twice_the_other() -> None:
    assert direction_of([summary("storage", "work", writes=15)], "work") is None
    assert direction_of([summary("storage", "work", writes=5)], "work") == "read"
