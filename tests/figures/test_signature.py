"""The signature of constructed runs: values, ranges, and when they mean nothing."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from mawl.figures.signature import SignatureParts, is_the_mix, signature_block
from mawl.plan.catalogue import CATALOGUE
from mawl.plan.mix import COPIES
from mawl.records.model.run import Alone, RunFacts, WorkloadFacts
from mawl.records.model.signature import SIGNATURE
from mawl.reports.text import render
from tests.fakes.stored_run import MOVED, facts, job, jobs
from tests.fakes.views import BARE, as_summary, plain, summary_of

INPUTS_BYTES = sum(table.bytes(1.0) for name in COPIES for table in CATALOGUE[name].inputs)


def mix_facts(scale: float = 1.0, sessions: int = 20) -> RunFacts:
    """A mix of the whole catalogue, each program with a time alone: 300 s, and 6600 s for the last."""
    alone = [Alone(program=name, jobs=[name], real_time_seconds=300.0, run_id="solo") for name in COPIES]
    alone[-1] = msgspec.structs.replace(alone[-1], real_time_seconds=6600.0)
    workload = WorkloadFacts(name="mix", title="", sessions=sessions, jobs=71, scale=scale)
    return facts(workload=workload, alone=alone)


def mix_summary(of: RunFacts, *, reach: float = 1.0) -> dict[str, Any]:
    """The summary of a mix that moved 20 times its inputs, 70 % of it reading, at ``reach``."""
    summary = summary_of(of, [job("s1-1", 0.0, 100.5, program=name) for name in COPIES])
    read, written = 14 * INPUTS_BYTES, 6 * INPUTS_BYTES
    summary["io"]["device"] |= {"read_bytes": read, "written_bytes": written}
    summary["io"]["device"]["active_mean"]["total_bytes_per_second"] = 3.0e9
    summary["io"]["reach"] = {"read_ratio": reach, "write_ratio": reach}
    for role, figures in {
        "data": {"read_bytes": 820, "written_bytes": 180, "sequential_ratio": 1.0},
        "work": {"read_bytes": 5000, "written_bytes": 2000, "sequential_ratio": 0.9},
        "util": {"read_bytes": 1000, "written_bytes": 1000, "sequential_ratio": 0.8},
    }.items():
        summary["io"]["by_role"][role] |= figures
    summary["io"]["by_role"]["other"] |= {"read_bytes": 0, "written_bytes": 0}
    summary["time"] |= {
        "user_cpu_seconds": 75.0 * INPUTS_BYTES / 1e9,
        "system_cpu_seconds": 25.0 * INPUTS_BYTES / 1e9,
    }
    summary["jobs"]["mean_concurrent"] = 18.0
    return summary


def signature_of(of: RunFacts, summary: dict[str, Any], busy_cores: float | None = None) -> dict[str, Any]:
    """The signature that these figures make."""
    whole = as_summary(summary)
    parts = SignatureParts(
        jobs=whole.jobs, time=whole.time, io=whole.io, programs=whole.programs, busy_cores=busy_cores
    )
    return plain(signature_block(of, parts, {}))


def test_a_mix_with_each_program_once_compares_no_bytes() -> None:
    of = mix_facts(sessions=4)
    of = msgspec.structs.replace(of, workload=msgspec.structs.replace(of.workload, jobs=20))
    block = signature_of(of, mix_summary(of), busy_cores=9.0)
    meant = [name for name, row in block.items() if row["meaningful"]]
    assert meant == ["concurrent_jobs_per_session", "longest_per_shortest"]
    assert block["work_util_ratio"]["reason"] == "not meaningful: each program runs once, as below 5 sessions"


def test_every_row_of_a_published_shape_is_inside() -> None:
    of = mix_facts()
    block = signature_of(of, mix_summary(of), busy_cores=9.0)
    assert list(block) == [row.name for row in SIGNATURE]
    expected = {
        "device_read_ratio": 0.7,
        "work_util_ratio": 0.9,
        "data_write_ratio": 0.18,
        "concurrent_jobs_per_session": 0.9,
        "longest_per_shortest": 22.0,
        "device_bytes_per_input_byte": 20.0,
        "plateau_bytes_per_core_second": 3.0e9 / 9.0,
        "bytes_per_cpu_second": 200e6,
        "sequential_ratio": 0.89,
    }
    assert {name: block[name]["value"] for name in expected} == pytest.approx(expected)
    assert all(block[name]["inside"] and block[name]["meaningful"] for name in expected)
    memory = block["memory_per_job_bytes"]
    assert (memory["value"], memory["inside"], memory["low"]) == (100 * 2**20, None, None)


def test_below_standard_times_are_shown_but_mean_nothing() -> None:
    of = mix_facts(scale=0.02)
    block = signature_of(of, mix_summary(of), busy_cores=9.0)
    silent = {name for name, row in block.items() if not row["meaningful"]}
    assert silent == {row.name for row in SIGNATURE if "standard" in row.needs}
    assert all("not meaningful at this scale" in block[name]["reason"] for name in silent)
    assert block["concurrent_jobs_per_session"]["value"] == pytest.approx(0.9)


@pytest.mark.parametrize(
    ("scale", "start"), [(1.0, "not meaningful:"), (0.005, "not meaningful at this scale:")]
)
def test_what_the_page_cache_made_means_nothing_at_the_device(scale: float, start: str) -> None:
    of = mix_facts(scale=scale)
    row = signature_of(of, mix_summary(of, reach=0.5))["device_read_ratio"]
    assert row["value"] == pytest.approx(0.7) and not row["meaningful"]
    assert row["reason"].startswith(start)


def test_the_bytes_moved_are_a_range_of_twenty_sessions() -> None:
    of = mix_facts(sessions=30)
    row = signature_of(of, mix_summary(of))["device_bytes_per_input_byte"]
    assert not row["meaningful"] and "20 sessions" in row["reason"]


def test_a_program_without_a_time_alone_leaves_the_ratio_open() -> None:
    of = mix_facts()
    of = msgspec.structs.replace(of, alone=of.alone[1:])
    row = signature_of(of, mix_summary(of))["longest_per_shortest"]
    assert (row["value"], row["inside"], row["meaningful"]) == (None, None, False)
    assert row["reason"] == "1 program was not run alone (mawl run --solo)"


def test_another_workload_has_values_without_a_meaning_and_one_line_in_the_report() -> None:
    summary = summary_of(facts(), jobs(), moved=MOVED)
    assert not any(row["meaningful"] for row in summary["signature"].values())
    assert summary["signature"]["device_read_ratio"]["value"] == pytest.approx(0.8)
    assert "device_read_ratio" not in render(BARE, as_summary(summary))
    assert "signature: not shown" in render(BARE, as_summary(summary))


@pytest.mark.parametrize(("programs", "is_one"), [(19, True), (18, False)])
def test_a_mix_has_nineteen_programs_of_the_catalogue(programs: int, is_one: bool) -> None:
    of = mix_facts(sessions=30)
    summary = mix_summary(of)
    summary["programs"] = dict(list(summary["programs"].items())[-programs:])
    summary["signature"] = signature_of(of, summary, busy_cores=9.0)
    assert is_the_mix(summary["programs"]) == is_one
    row = summary["signature"]["work_util_ratio"]
    assert row["value"] == pytest.approx(0.9) and row["meaningful"] == is_one
    assert (row["reason"] is None) == is_one
    assert ("signature: not shown" in render(BARE, as_summary(summary))) != is_one


def test_programs_that_are_not_of_the_catalogue_make_no_mix() -> None:
    assert is_the_mix([*COPIES][:19])
    assert not is_the_mix([*[*COPIES][:18], "a command", "another"])


def test_the_report_shows_value_range_standing_and_the_reasons_once() -> None:
    of = mix_facts(scale=0.02)
    summary = mix_summary(of)
    summary["signature"] = signature_of(of, summary, busy_cores=9.0)
    lines = render(BARE, as_summary(summary)).splitlines()
    assert any(
        line.startswith("read share of device bytes")
        and line.split()[-5:] == ["0.70", "0.65", "to", "0.80", "inside"]
        for line in lines
    )
    assert sum("not meaningful (1)" in line for line in lines) == 5
    assert "\n".join(lines).count("below standard times are not in proportion") == 1
