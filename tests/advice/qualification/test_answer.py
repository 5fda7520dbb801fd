"""Answers from drawn evidence keep what they promise."""

from __future__ import annotations

from typing import Any

import msgspec
from hypothesis import given, settings

from mawl.advice.qualification.answer import answer_from, decision_of
from mawl.advice.qualification.evidence import Evidence
from tests.fakes.drawn_evidence import EVIDENCE

MOST_WORDS = 60


@given(EVIDENCE)
@settings(max_examples=100)
def test_neither_yes_nor_no_while_the_bound_lies_in_the_interval(evidence: Evidence) -> None:
    answer = answer_from(evidence)
    found = evidence.slowdown
    inside = found is None or found.low <= evidence.answer_bound < found.high
    if inside and evidence.failed is None:
        assert answer.carried.answer == "not known"
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
def test_a_cache_never_makes_a_yes_and_another_load_never_a_no(evidence: Evidence) -> None:
    answer = answer_from(evidence).carried.answer
    if evidence.lowered is not None:
        assert answer != "carried"
    if any(one.most is None for one in evidence.raised) and evidence.failed is None:
        assert answer != "not carried"


@given(EVIDENCE)
@settings(max_examples=200)
def test_disturbed_runs_give_no_number_that_fits_and_no_change(evidence: Evidence) -> None:
    answer = answer_from(evidence)
    if decision_of(evidence).lack in ("others", "reach"):
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
        helps = decision_of(evidence).lack in ("spread", "duration")
        assert answer.next_step.endswith(evidence.longer if helps else evidence.again)


@given(EVIDENCE)
@settings(max_examples=100)
def test_each_rule_is_met_by_what_it_found_itself(evidence: Evidence) -> None:
    rules = {rule.name: rule.met for rule in answer_from(evidence).rules}
    found, bound = evidence.slowdown, evidence.answer_bound
    inside = found is None or found.low <= bound <= found.high
    assert rules["slowdown"] is (None if found is None or inside else found.high < bound)
    assert rules["jobs"] is (evidence.failed is None)
    assert rules["storage tested"] is (evidence.lowered is None)
    others_known = evidence.foreign_bytes_known and evidence.others_measured.ratio is not None
    assert rules["no other load"] is (False if evidence.raised else True if others_known else None)


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
