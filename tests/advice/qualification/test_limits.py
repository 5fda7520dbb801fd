"""What limits, over several runs."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from mawl.advice.qualification.answer import answer_from
from mawl.advice.qualification.estimate import MedianEstimate
from mawl.advice.qualification.limits import direction_of, limit_of_runs, processors_active_ratio
from mawl.advice.qualification.other_work import Others
from mawl.advice.qualification.sentence import limit_words
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


WORK = AnswerLimit(resource="storage", role="work", direction="read", place="/w", active_ratio=0.54)
MEASURED = msgspec.structs.replace(
    YES,
    whole=MedianEstimate(median=2.02, low=1.74, high=2.26),
    compute=MedianEstimate(median=1.66, low=1.43, high=1.93),
    storage=MedianEstimate(median=1.10, low=1.02, high=1.26),
    limit=WORK,
    processors_active_ratio=0.45,
    cautions=["another"],
)
"""Of a bed with two processors: jobs wait most for work, but for much of it also when they are alone."""


def of(resource: str) -> AnswerLimit:
    return AnswerLimit(resource=resource, active_ratio=0.54)


@pytest.mark.parametrize("verdict", [WORK, of("network"), of("mixed")])
def test_the_limit_of_an_answer_does_not_contradict_its_parts(verdict: AnswerLimit) -> None:
    answer = answer_from(msgspec.structs.replace(MEASURED, limit=verdict))
    assert answer.limit == AnswerLimit(resource="cpu", active_ratio=0.45)
    assert "Limit: processors." in answer.sentence
    assert answer.cautions == [
        f"The reports of the runs name {limit_words(verdict)} as the limit: they count all that jobs wait "
        "for, also when alone. The slowdown comes from the processors: compute makes jobs 1.66 times as long "
        "as alone, storage 1.10 times.",
        "another",
    ]


def test_the_rate_of_a_storage_that_does_not_limit_is_not_judged() -> None:
    judged = msgspec.structs.replace(MEASURED, device_basis="run", guideline_met=False)
    answer = answer_from(judged)
    assert (answer.figures.device_basis, answer.figures.guideline_met) == ("demand", None)
    assert "does not limit" in answer.missing["figures.guideline_met"]
    probed = answer_from(msgspec.structs.replace(judged, device_basis="probe"))
    assert probed.figures.guideline_met is False


@pytest.mark.parametrize(
    "changes",
    [
        # The intervals of both parts meet.
        {"compute": MedianEstimate(median=1.66, low=1.26, high=1.93)},
        # Compute adds 0.40 to 2.02, less than a fifth.
        {"compute": MedianEstimate(median=1.40, low=1.35, high=1.45)},
        {"limit": of("memory")},
        {"limit": of("cpu")},
        {"limit": of("none")},
        {"limit": None},
        {"storage": None},
        {"others_measured": Others(ratio=0.4, names=("backup",))},
        {"lack": ("other programs moved 3.00 GB", "others")},
        {"lack": ("only 30 % of the bytes read reached a device", "reach")},
        {"nodes": ONE_NODE},
    ],
)
def test_a_limit_stays_where_the_parts_do_not_surely_contradict_it(changes: dict[str, Any]) -> None:
    evidence = msgspec.structs.replace(MEASURED, **changes)
    answer = answer_from(evidence)
    assert (answer.limit, answer.cautions) == (evidence.limit, evidence.cautions)


def test_the_share_of_the_processors_is_the_median_of_the_runs() -> None:
    runs = [summary("cpu", share=0.9), summary("cpu", share=0.5), summary("cpu", share=0.6), summary(None)]
    assert processors_active_ratio(runs) == 0.6
    assert processors_active_ratio([summary(None)]) is None


def test_a_direction_is_named_only_where_it_cost_twice_the_other() -> None:
    assert direction_of([summary("storage", "work", writes=15)], "work") is None
    assert direction_of([summary("storage", "work", writes=5)], "work") == "read"
