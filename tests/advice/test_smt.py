"""The papers' rule of the next SMT mode: busy above 70 %, and more runnable threads than hardware threads."""

from __future__ import annotations

from typing import Any

import pytest

from mawl.records.model.run import NodeFacts
from mawl.reports import markdown, text
from tests.fakes.measured_run import WORKLOAD, reading_of
from tests.fakes.stored_run import facts
from tests.fakes.views import BARE, as_summary, judge, plain

BUSY = {"host.cpu_user_seconds": 7.0, "host.cpu_idle_seconds": 1.0, "host.runnable": 12.0}


def judged(rates: dict[str, float], **node: Any) -> dict[str, Any]:
    of = facts(
        outcome="completed",
        workload=WORKLOAD,
        nodes=[NodeFacts(**{"name": "bench1", "logical_cpus": 8, "physical_cores": 8, **node})],
    )
    reading = reading_of({**BUSY, **rates}, of=of)
    return judge(of, reading.jobs, plain(reading.summary), reading.samples)


def found(rates: dict[str, float], **node: Any) -> list[dict[str, Any]]:
    findings: list[dict[str, Any]] = judged(rates, **node)["smt"]["findings"]
    return findings


@pytest.mark.parametrize(
    ("node", "mode", "command"),
    [
        ({"smt": "off"}, "all hardware threads", "echo on > /sys/devices/system/cpu/smt/control"),
        ({"smt": "forceoff"}, "all hardware threads", "without nosmt"),
        ({"smt": "4", "physical_cores": 2}, "SMT-8", "echo 8 >"),
        ({"smt": "SMT-4", "kernel": "AIX 7.1", "cpu_model": "POWER8"}, "SMT-8", "smtctl -t 8"),
    ],
)
def test_the_next_mode_is_a_remark_with_its_command(node: dict[str, Any], mode: str, command: str) -> None:
    (one,) = found({}, **node)
    assert (one["rule"], one["severity"]) == ("smt", "remark")
    assert "busy for 88 % of the active phase" in one["sentence"]
    assert "12.0 threads were runnable for 8 hardware threads" in one["sentence"]
    assert f"try {mode}" in one["cure"] and command in one["cure"]


@pytest.mark.parametrize(
    ("rates", "node"),
    [
        ({"host.cpu_user_seconds": 5.0, "host.cpu_idle_seconds": 3.0}, {"smt": "off"}),  # 63 % busy
        ({"host.runnable": 8.0}, {"smt": "off"}),  # enough places
        ({}, {"smt": "on", "physical_cores": 4}),  # no next mode
        ({}, {"smt": "notsupported"}),
        ({}, {"smt": "SMT-8", "kernel": "AIX 7.1", "cpu_model": "POWER8"}),
        ({}, {"smt": "SMT-4", "kernel": "AIX 7.1", "cpu_model": "POWER7"}),
        ({}, {"smt": "off", "logical_cpus": None}),
    ],
)
def test_nothing_is_said_below_the_bounds_or_without_a_next_mode(
    rates: dict[str, float], node: dict[str, Any]
) -> None:
    assert found(rates, **node) == []


def test_reports_show_mode_busy_cores_and_finding() -> None:
    summary = judged({}, smt="off")
    assert summary["smt"]["nodes"]["bench1"] == {
        "threads_per_core": 1,
        "hardware_threads": 8,
        "mode": "off",
        "busy_ratio": pytest.approx(0.875),
        "runnable": 12.0,
    }
    for page in (text.render(BARE, as_summary(summary)), markdown.render(BARE, as_summary(summary))):
        flat = " ".join(page.split())
        assert "bench1: 1 a core (SMT off), 8 in all" in flat
        assert "exact: one thread a core" in flat
        assert "try all hardware threads" in flat
    assert summary["validity"]["findings"] == [
        one for one in summary["validity"]["findings"] if one["rule"] != "smt"
    ], "it says nothing against the run"
