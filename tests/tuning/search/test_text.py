"""What a search found, as text: one sentence for each outcome, and what is beside it."""

from __future__ import annotations

from typing import Any

import pytest

from mawl.reports.document import terminal
from mawl.reports.layout import LINE_WIDTH
from mawl.tuning.records import CheckedSetting, SettingSource
from mawl.tuning.search.records import ProgramCounts, SearchAnswer, SearchTrial
from mawl.tuning.search.results import parts, with_statement

PROPOSED = CheckedSetting(
    node="n",
    subject="sda",
    state="differs",
    current=4096,
    is_default=False,
    weight_ratio=None,
    reason=None,
    name="read_ahead",
    profile="linux-sequential",
    group="block devices",
    kind="changed",
    unit="bytes",
    default=None,
    default_printed=None,
    recommended=4194304,
    printed="4096",
    rule="at least",
    condition=None,
    why=None,
    relieves=[],
    source=SettingSource(key="k", section="s"),
    tier="",
    figure="read_ahead_bytes",
    read=None,
    change="blockdev --setra 8192 /dev/sda",
    persist=None,
)


def found(**changes: Any) -> SearchAnswer:
    """A gain of a fifth by two threads."""
    values: dict[str, Any] = {
        "campaign": "c",
        "workload": "nano",
        "objective": "response-time",
        "figure": "time.real_time_seconds",
        "outcome": "gain",
        "statement": "",
        "setting": {"cpucount": 2},
        "confidence_ratio": 0.95,
        "smallest_gain_ratio": 0.05,
        "change_ratio": -0.2,
        "low_ratio": -0.25,
        "high_ratio": -0.15,
        "blocks": 3,
        "looks": [],
        "trials": [
            SearchTrial(setting={"cpucount": 4}, change_ratio=None, repeats=1, pruned=False),
            SearchTrial(setting={"cpucount": 3}, change_ratio=0.3, repeats=1, pruned=True),
            SearchTrial(setting={"cpucount": 2}, change_ratio=-0.22, repeats=2, pruned=False),
        ],
        "points": 4,
        "explored_all": True,
        "runs": 23,
        "spent_seconds": 230.0,
        "budget_seconds": 600.0,
        "programs": ProgramCounts(faster=5, slower=1, not_told_apart=2),
        "programs_reason": None,
        "profile": "/p/profile.toml",
        "proposed": [PROPOSED],
        "proposed_reason": None,
    }
    return with_statement(SearchAnswer(**{**values, **changes}))


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (
            {},
            "gain established with 95 % confidence: cpucount=2: response time -20 % (-25 % to -15 %), "
            "6 fresh pairs of runs",
        ),
        (
            {"objective": "sustained", "confidence_ratio": 0.995, "change_ratio": 0.2, "low_ratio": 0.1,
             "high_ratio": 0.3},
            "gain established with 99.5 % confidence: cpucount=2: sustained throughput +20 % (+10 % to "
            "+30 %), 6 fresh pairs of runs",
        ),
        (
            {"outcome": "excluded", "change_ratio": 0.0, "low_ratio": -0.02, "high_ratio": 0.02},
            "no gain: cpucount=2 looked best of 3 settings, and a gain of 5 % or more by it is excluded with "
            "95 % confidence: response time 0.0 % (-2.0 % to +2.0 %), 6 fresh pairs of runs",
        ),
        (
            {"outcome": "open", "high_ratio": 0.1},
            "no gain was established, and none excluded: cpucount=2 looked best of 3 settings: response time "
            "-20 % (-25 % to +10 %), 6 fresh pairs of runs; a larger budget would show more",
        ),
        (
            {"outcome": "open", "change_ratio": None, "low_ratio": None, "high_ratio": None, "blocks": 0},
            "no gain was established: the budget ended before cpucount=2, which looked best of 3 settings, "
            "could be tested",
        ),
        (
            {"outcome": "nothing better", "setting": None},
            "no gain: none of the 3 settings tried looked better than the baseline",
        ),
        (
            {"outcome": "failed"},
            "no gain: runs of the setting that looked best of 3 settings, cpucount=2, failed",
        ),
    ],
)  # fmt: skip
def test_each_outcome_has_its_sentence(changes: dict[str, Any], sentence: str) -> None:
    assert found(**changes).statement == sentence


def test_the_page_has_programs_trials_proposals_and_how_to_apply_it() -> None:
    lines = terminal(parts(found())).splitlines()
    assert max(map(len, lines)) <= LINE_WIDTH
    assert "5 programs faster, 1 slower, 2 without a difference" in lines
    order = [line.split()[0] for line in lines if line.startswith("  cpucount=")]
    assert order == ["cpucount=2", "cpucount=3", "cpucount=4"]
    assert any(line.startswith("proposed, not applied") and line.endswith("(1)") for line in lines)
    assert "  read_ahead of sda: 4 KiB, recommended at least 4 MiB (4096)" in lines
    assert lines[-1] == "to apply it: mawl run nano --profile /p/profile.toml"


def test_without_a_gain_there_is_neither_profile_nor_count_of_programs() -> None:
    nothing = found(
        outcome="nothing better",
        setting=None,
        programs=None,
        profile=None,
        proposed=[],
        programs_reason="no gain was established",
        proposed_reason="no inventory",
    )
    text = terminal(parts(nothing))
    assert "profile" not in text and "faster" not in text
    assert "settings of kernel and devices are not known: no inventory" in text
