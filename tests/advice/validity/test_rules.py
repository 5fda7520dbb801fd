"""Each rule finds what it is for, in a run that is publishable but for that, and says how to cure it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from mawl.advice.judge import RULES, status, validity_of
from mawl.advice.validity.workload import thirds
from mawl.figures.view import RunView
from mawl.records.model.node import LoadBefore, OtherProgram
from mawl.records.model.records import JobRecord, Usage
from mawl.records.model.run import (
    CacheFacts,
    FreeSpace,
    Phases,
    RunFacts,
    VolumeFacts,
    WorkloadFacts,
)
from mawl.records.model.summary.judgement import Finding
from tests.fakes.measured_run import WORKLOAD, Rate, four_jobs, reading_of
from tests.fakes.stored_run import NOTHING_LEFT, START, facts, job
from tests.fakes.views import plain

SECONDS = 1300


def good_facts(**changes: object) -> RunFacts:
    """A run at standard scale, one of five, from a cold start on an idle machine."""
    values: dict[str, object] = {
        "outcome": "completed",
        "outcome_reason": None,
        "workload": WORKLOAD,
        "started_at": START - 2.0,
        "ended_at": START + SECONDS,
        "phases": Phases(startup_seconds=2.0, run_seconds=float(SECONDS)),
        "cache": CacheFacts(mode="cold", input_bytes=10**9, resident_bytes=0),
        "load_before": LoadBefore(seconds=0.5, busy_ratio=0.01),
        "free_space": [FreeSpace(roles=["work"], size_bytes=10**12, free_bytes=9 * 10**11)],
        "repeats": 5,
    }
    return facts(**{**values, **changes})


def good_jobs() -> list[JobRecord]:
    """Four jobs whose bytes reached the device, long enough that mawl's own cost is nothing."""
    return [
        msgspec.structs.replace(
            record,
            usage=msgspec.structs.replace(
                record.usage,
                own_read_bytes=record.usage.application_read_bytes,
                charged_written_bytes=record.usage.application_written_bytes,
                cancelled_written_bytes=0,
            ),
        )
        for record in four_jobs(float(SECONDS))
    ]


def run_of(
    of: RunFacts | None = None,
    rates: dict[str, Rate] | None = None,
    jobs: list[JobRecord] | None = None,
    coverage: float | None = 1.0,
    **changes: Any,
) -> RunView:
    reading = reading_of(rates, seconds=SECONDS, of=of or good_facts(), jobs=jobs or good_jobs(), **changes)
    reading.summary.io.coverage_ratio = coverage
    return reading


def only(reading: RunView) -> Finding:
    """The one finding of a run."""
    found = validity_of(reading).findings
    assert len(found) == 1, found
    assert found[0].cure
    return found[0]


def test_a_run_without_fault_is_publishable() -> None:
    assert plain(validity_of(run_of())) == {"status": "publishable", "findings": [], "unmeasured": []}


@pytest.mark.parametrize(
    ("without", "rule", "status_then"),
    [
        ("host.swap", "swap", "preliminary"),
        ("host.cpu_steal", "steal", "preliminary"),
        ("host.frequency", "frequency", "publishable"),
        ("role.", "drift", "preliminary"),
        ("mawl_cpu", "competition", "preliminary"),
    ],
)
def test_what_was_not_measured_is_no_pass(without: str, rule: str, status_then: str) -> None:
    block = plain(validity_of(run_of(without=without)))
    told = {one["rule"]: one["reason"] for one in block["unmeasured"]}
    assert "not" in told[rule]
    assert (block["findings"], block["status"]) == ([], status_then)


@pytest.mark.parametrize(
    ("changes", "rule", "words"),
    [
        ({"repeats": 1}, "repeats", "a single run of its workload; 5 required"),
        (
            {"workload": msgspec.structs.replace(WORKLOAD, scale=0.005)},
            "scale",
            "0.005 is below standard (0.05)",
        ),
        (
            {"cache": CacheFacts(input_bytes=10**9, resident_bytes=8 * 10**8)},
            "residency",
            "80 % of the input files were already cached",
        ),
        (
            {"load_before": LoadBefore(seconds=0.5, busy_ratio=0.6, heavy=["make (pid 7)"])},
            "competition",
            "busy for 60 % of the time just before the start: make (pid 7)",
        ),
        (
            {
                "free_space": [
                    FreeSpace(roles=["util"], size_bytes=10**12, free_bytes=10**11, needed_bytes=5 * 10**10)
                ]
            },
            "space",
            "util had 50.0 GB to spare",
        ),
        ({"ended_at": START + SECONDS + 3600}, "clock", "set forward by about 1 h"),
        ({"ended_at": START + SECONDS - 60}, "clock", "set back by about"),
    ],
)
def test_what_the_facts_give_away(changes: dict[str, object], rule: str, words: str) -> None:
    found = only(run_of(good_facts(**changes)))
    assert (found.rule, found.severity) == (rule, "preliminary")
    assert words in found.sentence


def test_a_warm_start_that_was_asked_for_is_no_finding() -> None:
    of = good_facts(cache=CacheFacts(mode="warm", input_bytes=10**9, resident_bytes=10**9))
    assert validity_of(run_of(of)).findings == []


def late(value: float, before: float) -> Any:
    return lambda second: value if second > 2 * SECONDS / 3 else before


@pytest.mark.parametrize(
    ("rates", "rule", "words"),
    [
        (
            {"host.cpu_user_seconds": 6.0, "host.cpu_idle_seconds": 2.0},
            "competition",
            "others used 25 % of all",
        ),
        ({"host.swap_read_bytes": 1e6}, "swap", "swapped 1.30 GB"),
        ({"host.cpu_steal_seconds": 1.0}, "steal", "gave 11 % of this machine's CPU time"),
        ({"host.frequency_hertz": late(2.0e9, 2.5e9)}, "frequency", "2.00 GHz in the last third, after 2.50"),
        (
            {
                "jobs.on_cpu_seconds": 2.0,
                "host.cpu_user_seconds": 2.0,
                "role.work.waited_seconds": 2.0,
                "device.sda.read_bytes": late(40e6, 90e6),
                "device.sda.written_bytes": late(20e6, 45e6),
            },
            "drift",
            "moved 60.0 MB/s in the last third of the active phase, after 135 MB/s in the first",
        ),
    ],
)
def test_what_the_samples_give_away(rates: dict[str, Rate], rule: str, words: str) -> None:
    found = only(run_of(rates=rates))
    assert (found.rule, found.severity) == (rule, "preliminary")
    assert words in found.sentence


def test_throughput_that_falls_because_less_was_asked_for_is_no_drift() -> None:
    rates: dict[str, Rate] = {
        "jobs.on_cpu_seconds": late(4.0, 2.0),
        "host.cpu_user_seconds": late(4.0, 2.0),
        "role.work.waited_seconds": late(0.0, 2.0),
        "device.sda.read_bytes": late(40e6, 90e6),
        "device.sda.written_bytes": late(20e6, 45e6),
    }
    assert validity_of(run_of(rates=rates)).findings == []


def test_bytes_at_the_device_that_no_job_asked_for() -> None:
    volumes = [
        VolumeFacts(role=role, node="bench1", directory=role, devices=["sdb"], layers=["sdb"], disks=["sdb"])
        for role in ("data", "work", "util")
    ]
    device: dict[str, Rate] = {"device.sdb.read_bytes": 300e6, "device.sdb.written_bytes": 45e6}
    found = only(run_of(good_facts(volumes=volumes), device, alone=False))
    assert found.rule == "competition"
    moved, own = 345e6 * SECONDS, 4e9
    assert f"at the devices of the roles ({(moved - own) / SECONDS / 1e6:.0f} MB/s)" in found.sentence
    assert f"{(moved - own) / moved:.0%}".replace("%", " % of all") in found.sentence


def test_who_used_processors_and_devices_is_named() -> None:
    programs = [
        OtherProgram(node="n", pid=7, name="a", cpu_seconds=9.0, read_bytes=0, written_bytes=2 * 10**9),
        OtherProgram(node="n", pid=8, name="b", cpu_seconds=70.0),
    ]
    rates: dict[str, Rate] = {"host.cpu_user_seconds": 6.0, "device.sda.written_bytes": 90e6}
    reading = run_of(good_facts(other_programs=programs), rates, alone=False)
    processors, devices = (one.sentence for one in validity_of(reading).findings if one.rule == "competition")
    used = "a (pid 7) used 9.0 CPU seconds and wrote 2.00 GB"
    assert processors.endswith(f" during the run: b (pid 8) used 70.0 CPU seconds; {used}")
    assert devices.endswith(f"; at all devices: {used}")


def test_gaps_between_samples() -> None:
    found = only(run_of(skip=range(100, 200)))
    assert found.rule == "sampling"
    assert "7.8 % of the run lies in gaps" in found.sentence and "101.0 s" in found.sentence


def test_a_run_from_the_page_cache_is_not_publishable_and_says_so() -> None:
    few: dict[str, Rate] = {
        "device.sda.read_bytes": 1.6e9 / SECONDS,
        "device.sda.written_bytes": 4e8 / SECONDS,
    }
    reading = run_of(rates=few, jobs=four_jobs(float(SECONDS)))
    found = only(reading)
    assert found.rule == "reach"
    assert "only 50 % of the bytes read and 50 % of the bytes written reached a device" in found.sentence
    assert status([found]) == "preliminary"


def test_a_short_active_phase() -> None:
    short = facts(
        **{name: getattr(good_facts(), name) for name in ("workload", "cache", "repeats")},
        outcome="completed",
    )
    rules = {finding.rule for finding in validity_of(reading_of(of=short)).findings}
    assert "duration" in rules


@pytest.mark.parametrize("coverage", [0.9, None])
def test_bytes_by_role_that_are_of_a_part(coverage: float | None) -> None:
    found = only(run_of(coverage=coverage))
    assert found.rule == "coverage"
    assert found.severity == ("remark" if coverage is None else "preliminary")


def test_a_remark_leaves_a_run_publishable() -> None:
    assert validity_of(run_of(coverage=None)).status == "publishable"


def test_a_failed_job_makes_a_run_invalid() -> None:
    jobs = good_jobs()
    jobs[1] = msgspec.structs.replace(jobs[1], outcome="failed", verified=False)
    found = only(run_of(good_facts(outcome="failed"), jobs=jobs))
    assert (found.rule, found.severity) == ("jobs", "invalid")
    assert "1 of 4 jobs" in found.sentence
    assert found.cure == "fix s2-1 (see logs/s2-1.log in the run folder) and run again"
    assert status([found]) == "invalid"


@pytest.mark.parametrize(
    ("outcome", "reason", "words"),
    [
        ("running", None, "the run is in progress"),
        ("interrupted", "stopped by SIGINT", "did not complete: stopped by SIGINT"),
    ],
)
def test_a_run_that_was_cut_short_or_goes_on_is_invalid(outcome: str, reason: str | None, words: str) -> None:
    found = {
        one.rule: one
        for one in validity_of(run_of(good_facts(outcome=outcome, outcome_reason=reason))).findings
    }
    # How long it would have been active nobody knows while planned jobs had yet to start.
    assert found.keys() == {"jobs", "duration"}
    assert found["jobs"].severity == "invalid" and words in found["jobs"].sentence
    assert found["jobs"].cure


def test_a_job_that_the_plan_names_and_nobody_ran_is_missed() -> None:
    workload = WorkloadFacts(name="five", title="", sessions=4, jobs=5, scale=0.05)
    assert "1 of 5 jobs" in only(run_of(good_facts(workload=workload))).sentence


def test_answers_that_nobody_checked_are_indicative() -> None:
    jobs = [msgspec.structs.replace(record, verified=None) for record in good_jobs()]
    found = only(run_of(jobs=jobs))
    assert (found.severity, "4 jobs finished with an unchecked answer" in found.sentence) == (
        "preliminary",
        True,
    )


def test_a_job_whose_clock_was_set() -> None:
    jobs = good_jobs()
    own = job("s1-1", 0.0, 100.0)
    assert own.ended_at is not None
    jobs[0] = msgspec.structs.replace(jobs[0], started_at=START + 900.0)
    assert "clock" in {finding.rule for finding in validity_of(run_of(jobs=jobs)).findings}


def test_mawls_own_cost() -> None:
    jobs = [
        msgspec.structs.replace(
            record, usage=msgspec.structs.replace(record.usage, user_cpu_seconds=4.0, system_cpu_seconds=0.5)
        )
        for record in good_jobs()
    ]
    found = only(run_of(jobs=jobs))
    assert (found.rule, "of the jobs' CPU time" in found.sentence) == ("overhead", True)


def test_without_samples_and_facts_nothing_passes_by_being_unknown() -> None:
    full = run_of(good_facts(cache=None, load_before=None, free_space=[]))
    bare = RunView(full.facts, full.jobs)
    bare.summary = full.summary
    assert {(finding.rule, finding.severity) for finding in validity_of(bare).findings} == {
        ("residency", "remark"),
        ("sampling", "preliminary"),
    }
    assert {one.rule for one in validity_of(bare).unmeasured} == {
        *("residency", "competition", "swap", "steal", "frequency", "drift", "space")
    }


def test_bytes_that_nobody_counted_do_not_pass() -> None:
    jobs = [
        msgspec.structs.replace(
            record, usage=Usage(real_time_seconds=1299.5, user_cpu_seconds=900.0, system_cpu_seconds=9.0)
        )
        for record in good_jobs()
    ]
    assert only(run_of(jobs=jobs)).sentence.startswith("how much of the load reached a device is not known: ")


def test_thirds_need_windows_and_a_value_in_both() -> None:
    assert thirds([1.0, 1.0, 5.0, 5.0, 3.0, 3.0]) == (1.0, 3.0)
    assert thirds([1.0] * 5) is None
    assert thirds([None, None, 1.0, 1.0, 2.0, 2.0]) is None


def test_every_rule_is_in_the_document() -> None:
    page = (Path(__file__).parents[3] / "docs" / "design" / "validity.md").read_text()
    assert [name for name in RULES if f"| `{name}` |" not in page] == []


def test_earlier_writes_in_memory_at_the_gate_are_found_with_their_size() -> None:
    left = msgspec.structs.replace(NOTHING_LEFT, machine_at_gate_bytes=10**10)
    found = only(run_of(good_facts(dirty={"bench1": left})))
    assert (found.rule, found.severity) == ("writeback", "preliminary")
    assert "10.0 GB of earlier writes were still in memory when the gate opened" in found.sentence
    few = msgspec.structs.replace(NOTHING_LEFT, machine_at_gate_bytes=10**7)
    assert validity_of(run_of(good_facts(dirty={"bench1": few}))).findings == []


def test_own_writes_that_no_device_had_at_the_end_are_a_remark() -> None:
    left = msgspec.structs.replace(NOTHING_LEFT, own_at_end_bytes=10**10)
    rules = {found.rule: found for found in validity_of(run_of(good_facts(dirty={"bench1": left}))).findings}
    assert rules["writeback"].severity == "remark"
    assert "10.0 GB of what the jobs wrote" in rules["writeback"].sentence


def test_without_a_look_at_dirty_pages_the_rule_is_unmeasured() -> None:
    reading = run_of(good_facts(dirty={}))
    assert "writeback" in {one.rule for one in validity_of(reading).unmeasured}
