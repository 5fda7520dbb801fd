"""The cards of the first page: one figure and one sentence each, which say whose they are."""

from __future__ import annotations

from typing import Any

import pytest

from mawl.advice.validity.status import RULES
from mawl.reporters.html.figures import ShownFigures
from mawl.reporters.html.sections.spent import spent
from mawl.reporters.html.sections.verdict import verdict
from tests.fakes.views import partly
from tests.reporters.html.page_reader import Reading


def words(
    capacity: dict[str, Any] | None = None,
    validity: dict[str, Any] | None = None,
    limit: dict[str, Any] | None = None,
    kind: str = "measured",
) -> str:
    """The text of the cards and the next step."""
    made = partly(
        {
            "kind": kind,
            "run_id": "<run>",
            "workload": {"jobs": 71},
            "jobs": {"total": 71, "finished": 70},
            "capacity": {"answer": "not known"} | (capacity or {}),
            "validity": {"status": "preliminary"} | (validity or {}),
            "limit": limit,
            "missing": {"limit": "the run was too short"},
        }
    )
    return " ".join(" ".join(Reading(str(verdict(ShownFigures(made)))).words).split())


def finding(rule: str, severity: str) -> dict[str, str]:
    return {"rule": rule, "severity": severity, "sentence": f"{rule} is wrong", "cure": "mend it"}


def test_a_reason_of_one_part_says_of_which_and_one_of_both_stands_alone() -> None:
    compute = {"answer": "not known", "reason": "the interval 1.83 to 2.30 lies on both sides"}
    short = {"answer": "not known", "reason": "the phase is short"}
    median = {"slowdown": {"median": 2.24, "most": 2.0}}
    text = words({"compute": compute, "storage": short} | median)
    assert "2.24 times as long as alone (at most 2.00 allowed) Compute: the interval 1.83 to 2.30" in text
    assert "of 71 jobs finished The phase is short." in words({"compute": short, "storage": short})


def test_an_answer_says_what_each_part_is() -> None:
    parts = {"compute": {"answer": "not carried"}, "storage": {"answer": "carried"}}
    text = words({"answer": "not carried", **parts})
    assert "Is the load carried? No" in text
    assert "Compute is not carried, storage is carried." in text


def test_a_load_that_neither_part_fails_to_carry_has_its_reason() -> None:
    part = {"answer": "not known", "reason": "no program was run alone"}
    reasons = ["1 of 6 jobs did not finish with a right answer", "compute and storage: not known"]
    text = words({"answer": "not carried", "compute": part, "storage": part, "reasons": reasons})
    assert "1 of 6 jobs did not finish with a right answer. Why" in text and "Compute is" not in text


def test_checks_that_found_something_or_had_no_figure_are_not_passed() -> None:
    validity = {
        "findings": [
            finding("scale", "preliminary"),
            finding("scale", "preliminary"),
            finding("swap", "remark"),
        ],
        "unmeasured": [{"rule": "drift", "severity": "remark", "reason": "too short"}],
    }
    text = words(validity=validity)
    assert f"{len(RULES) - 2} of {len(RULES)} checks passed Scale is wrong." in text
    of_all = f"1 of {len(RULES)} checks not passed Scale is wrong."
    assert of_all in words(validity=validity, kind="imported")
    assert "1 check not passed Scale is wrong." in words(validity=validity, kind="simulated")


def test_a_check_that_says_the_figures_are_disturbed_comes_before_one_that_asks_for_a_larger_run() -> None:
    small, disturbed = finding("scale", "preliminary"), finding("competition", "preliminary")
    text = words(validity={"findings": [small, disturbed]})
    assert "checks passed Competition is wrong." in text
    text = words(validity={"findings": [small, finding("jobs", "invalid"), disturbed]})
    assert "checks passed Jobs is wrong." in text


def test_a_limit_has_its_share_and_one_that_is_not_known_its_reason() -> None:
    limit = {
        "verdict": "mixed",
        "shares": {"storage": 0.45, "cpu": 0.4, "memory": 0.1, "network": 0.0, "none": 0.05},
    }
    assert "Several things, by turns 45 % of the active time (by storage)" in words(limit=limit)
    assert "What limits it? Not known The run was too short." in words()


@pytest.mark.parametrize(
    ("step", "shown"),
    [
        (
            "time the programs alone: mawl run --solo",
            "Next: time the programs alone: mawl run --solo",
        ),
        ("wait for the end of the run", "Next: wait for the end of the run."),
    ],
)
def test_the_next_step_is_a_sentence_and_its_command(step: str, shown: str) -> None:
    assert words({"next_step": step}).endswith(shown)
    assert "Next:" not in words({"next_step": None})


SMALL, DISTURBED, FAILED = (
    finding("scale", "preliminary") | {"cure": "use a larger scale"},
    finding("competition", "preliminary") | {"cure": "end other programs"},
    finding("jobs", "invalid") | {"cure": "fix the failed jobs"},
)


@pytest.mark.parametrize(
    ("answer", "findings", "step", "shown"),
    [
        ("not known", [SMALL, DISTURBED], "time the programs alone", "time the programs alone."),
        ("not known", [FAILED, SMALL], "time the programs alone", "fix the failed jobs."),
        ("carried", [SMALL, DISTURBED], None, "end other programs."),
        ("not carried", [SMALL], None, "use a larger scale."),
        ("not carried", [], None, "find what would change it: mawl simulate '<run>'"),
        ("carried", [], None, "pack the run, so that others can check it: mawl pack '<run>'"),
    ],
)
def test_a_run_has_a_next_step_until_it_counts_and_one_that_acts_on_its_answer(
    answer: str, findings: list[dict[str, str]], step: str | None, shown: str
) -> None:
    text = words({"answer": answer, "compute": {"answer": answer}, "next_step": step}, {"findings": findings})
    assert text.endswith(f"Next: {shown}")


def test_the_bar_has_the_shares_of_the_jobs_time_and_is_left_out_where_one_is_not_known() -> None:
    blocked = {"data": 0.0, "work": 30.0, "util": 0.0, "other": 10.0}
    known = {"on_cpu_seconds": 40.0, "run_queue_seconds": 20.0, "blocked_seconds": blocked}
    html = str(spent(ShownFigures(partly({"wait": known}))))
    text = " ".join(" ".join(Reading(html).words).split())
    for part in ("on a processor 40 %", "waiting for a processor 20 %", "blocked in work 30 %"):
        assert part in text
    assert html.count("flex-grow") == 4 and "flex-grow: 0.3" in html
    assert not spent(ShownFigures(partly({"wait": known | {"run_queue_seconds": None}})))
    assert not spent(ShownFigures(partly({"wait": None})))
