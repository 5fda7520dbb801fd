"""When something else than the storage may have served the load."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from mawl.advice.qualification.evidence import cautions_of, small_mix
from mawl.records.model.qualification import AnswerStorage
from mawl.records.model.run import VolumeFacts
from tests.fakes.probes import probe, probe_test, target
from tests.fakes.stored_run import facts
from tests.fakes.views import partly


def summary(active: float = 90.0, used: float | None = None, *, drifting: bool = False) -> dict[str, Any]:
    findings = [{"rule": "drift", "sentence": "devices moved less"}] if drifting else []
    by_role = {role: {"read": None, "write": None} for role in ("data", "work", "util")}
    by_role["work"]["write"] = None if used is None else {"sustained_used_ratio": used}  # type: ignore[assignment]
    return {
        "validity": {"findings": findings},
        "storage": {"by_role": by_role},
        "time": {"active_seconds": active},
    }


def of_network() -> Any:
    volume = VolumeFacts(role="work", node="here", directory="/w", network=True, reason="none")
    return msgspec.structs.replace(facts(), volumes=[volume])


@pytest.mark.parametrize(
    ("found", "said"),
    [(summary(drifting=True), "devices moved less"), (summary(used=1.3), "work writes: they reached 130 %")],
)
def test_what_a_run_shows_is_said_with_how_long_a_run_would_tell(found: dict[str, Any], said: str) -> None:
    (only,) = cautions_of([partly(found)], facts())
    assert said in only and "A run of 30 min 00 s shows whether that is so" in only


@pytest.mark.parametrize(
    ("queue_length", "streams", "doubted"),
    [(4.34, 2, False), (1.5, 2, True), (4.34, 8, True), (None, 2, True)],
)
def test_a_rate_that_more_requests_at_a_time_explain_is_no_cache(
    queue_length: float | None, streams: int, doubted: bool
) -> None:
    """Each request takes 22 ms; two at a time moved 4.8 MB/s, four moved 10.9."""
    during = [AnswerStorage(roles=["work"], devices=["loop1"], queue_length=queue_length)]
    probed = probe(target("work", [probe_test("write", 4.8, streams=streams)], roles=["work"]))
    found = cautions_of([partly(summary(used=2.28))], facts(), during, probed)
    assert len(found) == doubted


def test_storage_behind_a_network_is_doubted_until_a_run_was_long() -> None:
    (only,) = cautions_of([partly(summary())], of_network())
    assert "behind a network" in only
    assert cautions_of([partly(summary(active=1900.0))], of_network()) == []
    assert cautions_of([partly(summary(used=1.05))], facts()) == []


@pytest.mark.parametrize(("sessions", "words"), [(1, ["at a time", "once"]), (4, ["once"]), (5, [])])
def test_a_mix_of_few_sessions_is_said_to_be_another_one(sessions: int, words: list[str]) -> None:
    found = small_mix(sessions)
    assert len(found) == len(words)
    assert all(word in caution for word, caution in zip(words, found, strict=True))
