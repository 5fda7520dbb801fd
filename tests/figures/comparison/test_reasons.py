"""Why runs were judged as they were: counted by check and by sentence, the gravest and commonest first."""

from __future__ import annotations

from mawl.figures.comparison.sides import Reason, merge_reasons, reasons_of
from mawl.records.model.summary.judgement import Finding, Severity, Unmeasured
from tests.fakes.compared_runs import compared

NAMES = ["one", "two", "three"]


def check(rule: str, severity: Severity, sentence: str) -> Finding:
    return Finding(rule=rule, severity=severity, sentence=sentence, cure=f"fix {rule}")


def of(reasons: list[Reason], about: str) -> list[tuple[str | None, int, str, str, bool]]:
    return [(one.rule, one.runs, one.run, one.sentence, one.alike) for one in reasons if one.about == about]


def test_checks_are_counted_by_their_rule_whatever_figures_they_name() -> None:
    runs = [compared(number) for number in range(3)]
    for number, run in enumerate(runs):
        run.summary.validity.findings = [
            check("duration", "preliminary", f"only {number + 10} s long"),
            check("threads", "remark", "to be known"),
        ]
        run.summary.validity.unmeasured = []
    runs[1].summary.validity.findings.append(check("clock", "invalid", "set back"))
    runs[2].summary.validity.unmeasured = [
        Unmeasured(rule="steal", severity="preliminary", reason="no figure"),
        Unmeasured(rule="swap", severity="remark", reason="no figure"),
    ]
    assert of(reasons_of(runs, NAMES), "validity") == [
        ("clock", 1, "two", "set back", True),
        ("duration", 3, "one", "only 10 s long", False),
        ("steal", 1, "three", "not measured: no figure", True),
    ]


def test_an_answer_that_is_not_known_has_its_reason_once_for_all_runs() -> None:
    runs = [compared(number) for number in range(3)]
    for run in runs:
        run.summary.answer.answer, run.summary.answer.reason = "not known", "only 3 s long"
        run.summary.answer.reasons = ["20 sessions took 2.9 times"]
    runs[0].summary.answer.answer = "carried"
    assert of(reasons_of(runs, NAMES), "answer") == [(None, 2, "two", "only 3 s long", True)]
    runs[2].summary.answer.answer, runs[2].summary.answer.reason = "not carried", None
    assert of(reasons_of(runs, NAMES), "answer") == [
        (None, 1, "two", "only 3 s long", True),
        (None, 1, "three", "20 sessions took 2.9 times", True),
    ]


def test_a_limit_that_is_not_known_has_its_reason() -> None:
    runs = [compared(number) for number in range(3)]
    for run in runs:
        run.summary.limit = None
        run.summary.missing["limit"] = "waits were not recorded"
    assert of(reasons_of(runs, NAMES), "limit") == [(None, 3, "one", "waits were not recorded", True)]


def test_reasons_of_several_sides_add_up() -> None:
    runs = [compared(number) for number in range(2)]
    for number, run in enumerate(runs):
        run.summary.validity.findings = [check("scale", "preliminary", "too small")]
        run.summary.validity.unmeasured = []
        run.summary.limit = None
        run.summary.missing["limit"] = f"only {number} windows"
    sides = [reasons_of([run], [name]) for run, name in zip(runs, NAMES, strict=False)]
    both = merge_reasons(one for side in sides for one in side)
    assert of(both, "validity") == [("scale", 2, "one", "too small", True)]
    assert of(both, "limit") == [(None, 2, "one", "only 0 windows", False)]
