"""The cards of the first page: one figure and one sentence each, which say whose they are."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from mawl.advice.judge import RULES
from mawl.reports.html.figures import ShownFigures
from mawl.reports.html.sections.jobs import spent
from mawl.reports.html.sections.verdict import verdict
from tests.fakes.answered import QUEUE, WORK
from tests.fakes.views import partly
from tests.reports.html.page_reader import Reading


def words(
    answer: dict[str, Any] | None = None,
    validity: dict[str, Any] | None = None,
    limit: dict[str, Any] | None = None,
    kind: str = "measured",
    **more: Any,
) -> str:
    """The text of the cards and the next step."""
    made = partly(
        {
            "kind": kind,
            "run_id": "<run>",
            "workload": {"jobs": 71},
            "jobs": {"total": 71, "finished": 70},
            "answer": {"answer": "not known", "bound": 2.0, "reason": "why not"} | (answer or {}),
            "validity": {"status": "preliminary"} | (validity or {}),
            "limit": limit,
            "missing": {"limit": "the run was too short"},
        }
        | more
    )
    return " ".join(" ".join(Reading(str(verdict(ShownFigures(made)))).words).split())


def finding(rule: str, severity: str) -> dict[str, str]:
    return {"rule": rule, "severity": severity, "sentence": f"{rule} is wrong", "cure": "mend it"}


def test_an_answer_has_w_beside_its_bound_and_its_reason_or_its_largest_cost() -> None:
    known = {"slowdown": 2.24}
    text = words(known | {"reason": "the bound 2.00 lies in the range 1.83 to 2.30"})
    assert "Not known 2.24 times the reference time (at most 2.00 allowed) The bound 2.00 lies in" in text
    limit = {"named": True, "verdict": "storage", "second": "cpu", "costs": [WORK, QUEUE]}
    text = words(known | {"answer": "not carried", "reason": None}, limit=limit)
    assert "Is the load carried? No 2.24 times" in text
    said = "Limit: work writes on /mnt/b (bandwidth), 25 % of the jobs' time, and processors"
    assert f"allowed) {said}" in text
    assert "of 71 jobs finished The phase is short." in words({"reason": "the phase is short"})


def test_a_failed_job_is_the_reason_and_the_sentence_says_what_one_means() -> None:
    text = words(
        {"answer": "not carried", "slowdown": 1.2, "reason": "1 of 6 jobs failed: s3-1 (wrong answer)"}
    )
    assert "1 of 6 jobs failed: s3-1 (wrong answer). A load is carried only if every job finishes" in text


def test_an_answer_without_a_cost_has_the_first_of_its_reasons() -> None:
    answer = {"answer": "carried", "preliminary": True, "slowdown": 0.9, "reason": None}
    text = words(answer | {"reasons": ["4 sessions took 0.90 times mawl's reference time"]})
    assert "Yes, preliminary 0.90 times" in text
    assert "4 sessions took 0.90 times mawl's reference time. Why" in text


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


def test_what_nothing_limited_has_a_sentence_and_no_share() -> None:
    line = {"kind": "evidence", "sentence": "4.00 of 8 cores were busy"}
    text = words(limit={"verdict": "none", "named": False, "evidence": [line]})
    assert "What do jobs lose most time to? No shared resource 4.00 of 8 cores were busy. Why" in text


def test_that_others_moved_most_is_the_first_reason_of_doubt() -> None:
    cached, others = finding("reach", "preliminary"), finding("competition", "preliminary")
    assert "checks passed Competition is wrong." in words(validity={"findings": [cached, others]})


@pytest.mark.parametrize(
    ("unmeasured", "said"),
    [([], "Every rule is met."), (["drift"], "Every rule that could be measured is met.")],
)
def test_rules_that_were_all_measured_are_met_without_a_hedge(unmeasured: list[str], said: str) -> None:
    lacking = [{"rule": rule, "severity": "remark", "reason": "too short"} for rule in unmeasured]
    assert said in words(validity={"status": "publishable", "unmeasured": lacking})


def test_the_nodes_of_a_run_have_a_line_with_the_first_and_the_last() -> None:
    nodes = {name: {"done_seconds": done} for name, done in (("node1", 570.0), ("node2", 600.0))}
    block = {"nodes": nodes, "first_done_seconds": 570.0, "last_done_seconds": 600.0}
    block |= {"imbalance_ratio": 0.026}
    text = words(cluster=block)
    done = "first node done after 9 min 30 s (node1), last after 10 min 00 s (node2)"
    line = f"Nodes: {done}, 2.6 % later than the mean"
    assert line in text and "Nodes:" not in words()


def test_a_limit_has_its_share_and_one_that_is_not_known_its_reason() -> None:
    costs = [msgspec.structs.replace(QUEUE, share_ratio=0.45), msgspec.structs.replace(WORK, share_ratio=0.4)]
    limit = {"verdict": "cpu", "second": "storage", "named": True, "costs": costs}
    both = "Processors (too few) and work writes on /mnt/b (bandwidth)"
    assert f"What limits it? {both} 45 % of the jobs' time by the first" in words(limit=limit)
    below = "What do jobs lose most time to? Processors (too few) 45 % of the jobs' time"
    assert below in words(limit=limit | {"named": False})
    assert "What limits it? Not known The run was too short." in words()


@pytest.mark.parametrize(
    ("step", "shown"),
    [
        (
            "repeat the run: mawl run tiny --repeat 5",
            "Next: repeat the run: mawl run tiny --repeat 5",
        ),
        ("wait for the end of the run", "Next: wait for the end of the run."),
    ],
)
def test_the_next_step_is_a_sentence_and_its_command(step: str, shown: str) -> None:
    assert words({"next_step": step}).endswith(shown)
    assert "Next:" not in words({"next_step": None})


NOTHING = {"storage": 0.0, "cpu": 0.0, "memory": 0.0, "network": 0.0, "none": 1.0}

SMALL, DISTURBED, FAILED = (
    finding("scale", "preliminary") | {"cure": "use a larger scale"},
    finding("competition", "preliminary") | {"cure": "end other programs"},
    finding("jobs", "invalid") | {"cure": "fix the failed jobs"},
)


@pytest.mark.parametrize(
    ("answer", "findings", "step", "shown"),
    [
        ("not known", [SMALL, DISTURBED], "repeat the run", "repeat the run."),
        ("not known", [FAILED, SMALL], "repeat the run", "fix the failed jobs."),
        ("carried", [SMALL, DISTURBED], None, "end other programs."),
        ("not carried", [SMALL], None, "see what each job waited for: mawl report '<run>' --all"),
        ("not carried", [], None, "see what each job waited for: mawl report '<run>' --all"),
        ("carried", [], None, "pack the run, so that others can check it: mawl pack '<run>'"),
    ],
)
def test_a_run_has_a_next_step_until_it_counts_and_one_that_acts_on_its_answer(
    answer: str, findings: list[dict[str, str]], step: str | None, shown: str
) -> None:
    text = words({"answer": answer, "next_step": step}, {"findings": findings})
    assert text.endswith(f"Next: {shown}")


def test_the_bar_has_the_shares_of_the_jobs_real_time_and_what_is_not_known() -> None:
    parts = {
        "on_cpu": 0.4,
        "run_queue": 0.2,
        "data": None,
        "work": 0.3,
        "util": 0.0,
        "other": 0.0,
        "unknown": 0.1,
    }
    shares = {f"{part}_ratio": share for part, share in parts.items()}
    of = {"kind": "measured", "wait": {"shares": shares}, "time": {"known": {"real_time_seconds": 50.0}}}
    html = str(spent(ShownFigures(partly(of | {"limit": None}))))
    text = " ".join(" ".join(Reading(html).words).split())
    for part in ("on processors 40 %", "work 30 % 15.0 s", "not known 10 %"):
        assert part in text
    assert html.count("flex-grow") == 4 and "flex-grow: 0.3" in html
    assert "blocked in data" not in text
    assert not spent(ShownFigures(partly(of | {"wait": None})))
