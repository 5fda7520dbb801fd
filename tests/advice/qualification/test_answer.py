"""Answers from drawn evidence keep what they promise."""

from __future__ import annotations

from typing import Any

import msgspec
from hypothesis import given, settings

from mawl.advice.qualification.answer import answer_from
from mawl.advice.qualification.evidence import Evidence
from tests.fakes.drawn_evidence import EVIDENCE

MOST_WORDS = 60


@given(EVIDENCE)
@settings(max_examples=100)
def test_neither_yes_nor_no_while_the_bound_lies_in_the_interval(evidence: Evidence) -> None:
    answer = answer_from(evidence)
    for part, estimate in (
        (answer.carried, evidence.whole),
        (answer.compute, evidence.compute),
        (answer.storage, evidence.storage),
    ):
        inside = estimate is None or estimate.low <= evidence.most_slowdown <= estimate.high
        failed = part is answer.carried and evidence.failed is not None
        if inside and not failed:
            assert part.answer == "not known"
    said = answer.sentence.partition(":")[0].partition(",")[0]
    assert said == {"carried": "YES", "not carried": "NO", "not known": "NOT KNOWN"}[answer.carried.answer]


@given(EVIDENCE)
@settings(max_examples=100)
def test_the_sentence_is_one_line_of_at_most_sixty_words_and_there_is_something_to_do(
    evidence: Evidence,
) -> None:
    answer = answer_from(evidence)
    assert len(answer.sentence.split()) <= MOST_WORDS
    assert answer.sentence.isprintable()
    assert answer.next_step and "\n" not in answer.next_step


@given(EVIDENCE)
@settings(max_examples=100)
def test_every_null_has_its_reason(evidence: Evidence) -> None:
    answer = answer_from(evidence)
    plain = msgspec.to_builtins(answer)
    unexplained = [path for path in _nulls(plain) if not answer.missing.get(path)]
    assert unexplained == []


@given(EVIDENCE)
@settings(max_examples=100)
def test_a_cache_or_another_load_never_makes_a_yes(evidence: Evidence) -> None:
    if evidence.lack is not None:
        answer = answer_from(evidence)
        assert answer.carried.answer != "carried" and answer.storage.answer != "carried"


@given(EVIDENCE)
@settings(max_examples=200)
def test_disturbed_runs_give_no_number_that_fits_and_no_change(evidence: Evidence) -> None:
    answer = answer_from(evidence)
    disturbed = evidence.busy is not None or (evidence.lack or ("", ""))[1] in ("others", "reach")
    if answer.carried.answer == "not known" and disturbed:
        assert answer.fits.sessions is None and answer.fits.reason
        assert not answer.changes and answer.missing["changes"]
        assert " fit" not in answer.sentence
    else:
        assert answer.fits == evidence.fits and answer.changes == evidence.changes


@given(EVIDENCE)
@settings(max_examples=100)
def test_what_is_not_known_names_one_command_with_more_time_only_where_time_helps(evidence: Evidence) -> None:
    answer = answer_from(evidence)
    if answer.carried.answer == "not known":
        helps = evidence.whole is not None and (evidence.lack is None or evidence.lack[1] == "duration")
        assert answer.next_step.endswith(evidence.longer if helps else evidence.again)


@given(EVIDENCE)
@settings(max_examples=100)
def test_each_rule_is_met_by_what_it_found_itself(evidence: Evidence) -> None:
    rules = {rule.name: rule.met for rule in answer_from(evidence).rules}
    whole = evidence.whole
    assert rules["slowdown"] is (
        None
        if whole is None or whole.low <= evidence.most_slowdown <= whole.high
        else whole.high < evidence.most_slowdown
    )
    assert rules["jobs"] is (evidence.failed is None) and rules["storage tested"] is (evidence.lack is None)


def _nulls(value: Any, path: str = "") -> list[str]:
    """Paths of what is null; a change explains its own, a rule is met, not met, or not known."""
    if path in ("missing", "rules"):
        return []
    if value is None:
        own = path == "fits.reason" or (path.startswith("changes.") and path.endswith(".reason"))
        return [] if own else [path]
    members = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    return [found for name, member in members for found in _nulls(member, f"{path}.{name}".lstrip("."))]
