"""The long report."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from mawl.base.units import format_ratio, format_seconds
from mawl.figures.view import StoredView
from mawl.plan.catalogue import CATALOGUE
from mawl.records.model.role_io import Waits
from mawl.records.model.run import Alone, AloneRun, WorkloadFacts
from mawl.records.model.signature import SIGNATURE
from mawl.records.store import open_run
from mawl.reports import json
from mawl.reports.layout import LINE_WIDTH, aligned, figure
from mawl.reports.run_tables import RUN_TABLES
from mawl.reports.tables import table_lines
from mawl.reports.text import MOST_FAILURES, render
from tests.fakes.measured_run import IDLE, WORKLOAD, charged, four_jobs, samples
from tests.fakes.stored_run import MOVED, START, facts, job, jobs, write_run
from tests.fakes.views import BARE, as_summary, judge, plain, summary_of


def test_beside_its_tables_it_stays_short() -> None:
    slow = jobs()[0].usage
    slow = msgspec.structs.replace(slow, real_time_seconds=3599.0, user_cpu_seconds=3599.0)
    records = [job("s1-1", 0.0, 3599.0, program=name, usage=slow) for name in CATALOGUE]
    records += [job("s1-1", 0.0, 1.0, program=name, outcome="failed", reason="why") for name in CATALOGUE] * 5
    long = facts(outcome="interrupted", outcome_reason="because " * 20)
    summary = as_summary(summary_of(long, records, moved=MOVED))
    lines = render(BARE, summary).splitlines()
    lines_of_tables = sum(len(table_lines(table, BARE, summary)) for table in RUN_TABLES) + len(SIGNATURE)
    assert lines_of_tables > 2 * len(CATALOGUE)
    assert len(lines) - lines_of_tables < 46, "the tables, and a screen for the rest"
    assert max(map(len, lines)) <= LINE_WIDTH


def test_missing_is_a_dash_and_zero_is_zero() -> None:
    assert figure(None, format_seconds) == "-"
    assert figure(0, format_seconds) == "0.00 s"


def test_ratios_have_three_digits() -> None:
    assert [format_ratio(value) for value in (0.0, 0.834, 9.99, 14.23, 312.4)] == [
        "0.00",
        "0.83",
        "9.99",
        "14.2",
        "312",
    ]


def test_nothing_from_a_run_can_steer_the_terminal() -> None:
    bad = "x\x1b[2J\nrun  forged"
    record = job("s1-1", 0.0, 1.0, program=bad, job=bad, outcome="failed", reason=bad)
    text = render(
        BARE, as_summary(summary_of(facts(run_id=bad, outcome_reason=bad, remarks=[bad]), [record]))
    )
    assert "\x1b" not in text
    assert not any(line.startswith("run  forged") for line in text.splitlines())


def test_many_failures_are_counted() -> None:
    failed = [job("s1-1", 0.0, 1.0, outcome="failed", reason="why") for _ in range(MOST_FAILURES + 3)]
    text = render(BARE, as_summary(summary_of(facts(), failed)))
    assert text.count("failed: s1-1: why") == MOST_FAILURES
    assert "and 3 more jobs" in text


def test_a_run_without_jobs_has_a_report() -> None:
    assert "sum over 0 jobs" in render(BARE, as_summary(summary_of(facts(nodes=[], planned_jobs=[]), [])))


def test_columns_line_up() -> None:
    assert aligned([("a", "b"), ("long", "100")]) == ["a       b", "long  100"]


def test_json_is_the_summary_with_sorted_keys() -> None:
    summary = summary_of(facts(), jobs())
    text = json.render(summary)
    assert msgspec.json.decode(text) == summary
    keys = list(msgspec.json.decode(text))
    assert keys == sorted(keys)
    assert text.startswith('{\n  "answer": null,')


@pytest.mark.parametrize(
    ("scale", "name", "text"),
    [
        (0.00005, "5e-05", "tiny at scale 0.00005: 1 session, 1 job"),
        (0.00005, None, "tiny at scale 0.00005: "),
        (2.5, "2.5", "tiny at scale 2.5: "),
        (0.005, "quick", "tiny at scale quick (0.005 of full): "),
        (1.0, "full", "tiny at scale full (1 of full): "),
        (None, None, "tiny: "),
    ],
)
def test_scales_are_plain_decimals(scale: float | None, name: str | None, text: str) -> None:
    workload = WorkloadFacts(name="tiny", title="", sessions=1, jobs=1, scale=scale, scale_name=name)
    assert text in render(BARE, as_summary(summary_of(facts(workload=workload), jobs())))


def test_one_cpu_is_no_cpus() -> None:
    node = facts().nodes[0]
    one, two = (
        render(
            BARE, as_summary(summary_of(facts(nodes=[msgspec.structs.replace(node, cpus_used=cpus)]), jobs()))
        )
        for cpus in ([3], [0, 1])
    )
    assert "used: 1 CPU\n" in one
    assert "used: 2 CPUs\n" in two
    quota = facts(nodes=[msgspec.structs.replace(node, cpu_quota=1.5)])
    assert "CPU quota 1.5\n" in render(BARE, as_summary(summary_of(quota, jobs())))


def test_what_is_left_out_is_said_by_its_kind() -> None:
    ends = [
        job("s1-1", 0.0, 1.0, outcome=outcome, verified=verified, reason="why")
        for outcome, verified in (
            ("failed", False),
            ("failed", None),
            ("timed_out", None),
            ("stopped", None),
            ("lost", None),
            ("not_started", None),
            ("not_started", None),
        )
    ]
    text = render(BARE, as_summary(summary_of(facts(), [*jobs()[:1], *ends])))
    kinds = "1 wrong answer, 1 failed, 1 timed out, 1 stopped, 1 lost, 2 not started"
    assert f"left out of sums and tables (but not of the CPU account): {kinds} " in " ".join(text.split())
    assert "left out" not in render(BARE, as_summary(summary_of(facts(), jobs()[:1])))


def test_a_run_that_goes_on_says_so(tmp_path: Path) -> None:
    writer = write_run(tmp_path / "run")
    text = render(BARE, as_summary(plain(StoredView(open_run(tmp_path / "run")).summary)))
    writer.close()
    assert "jobs      6 of 6 ended so far: 5 finished, 1 failed\n" in text
    assert "recorded  6 jobs, 12 steps, 6 samples, 13 events so far; the run is in progress" in text


def test_a_killed_run_shows_what_it_has_and_a_completed_one_need_not(tmp_path: Path) -> None:
    write_run(tmp_path / "run").close()
    text = render(BARE, as_summary(plain(StoredView(open_run(tmp_path / "run")).summary)))
    assert "outcome   interrupted" in text
    assert "recorded  6 jobs, 12 steps, 6 samples, 13 events in the run folder\n" in text
    assert "recorded  " not in render(
        BARE, as_summary(summary_of(facts(outcome="completed"), jobs(), {"steps": 1}))
    )


def test_a_judged_run_shows_windows_waits_and_what_they_mean() -> None:
    rates = IDLE | {"jobs.on_cpu_seconds": 1.0, "role.work.waited_seconds": 3.0}
    of = facts(outcome="completed", workload=WORKLOAD)
    waits = Waits(
        on_cpu_seconds=15.0,
        run_queue_seconds=0.0,
        blocked_data_seconds=0.0,
        blocked_work_seconds=44.0,
        blocked_util_seconds=0.0,
        blocked_other_seconds=1.0,
    )
    records = [msgspec.structs.replace(record, waits=waits) for record in four_jobs(60.0)]
    some = samples(60, rates)
    records = [
        msgspec.structs.replace(
            record,
            usage=msgspec.structs.replace(
                record.usage, application_read_bytes=3 * 10**9, application_written_bytes=2 * 10**9
            ),
        )
        for record in charged(records, of, some)
    ]
    text = render(BARE, as_summary(judge(of, records, summary_of(of, records, samples=some), some)))
    assert "answer    NO, preliminary: 4 sessions took 3.97 times mawl's reference time (3.61 to 4.36" in text
    assert (
        "limit     work reads on /mnt/work, 73 % of the jobs' time; headroom: processors 50 %, storage 0 %"
        in text
    )
    assert "validity  preliminary: reach, duration, repeats" in text
    lines = [line.split() for line in text.splitlines()]
    assert ["25", "%", "0", "%", "0", "%", "73", "%", "0", "%", "1.7", "%"] in [
        line[5:] for line in lines if line[:1] == ["wide_sort"]
    ]
    assert any(line[:3] == ["windows", "of", "5.00"] for line in lines)
    assert ["device", *["135", "MB/s"] * 5, "67.5", "MB/s"] in lines
    assert "why: jobs were blocked in I/O" in text
    assert max(map(len, text.splitlines())) <= LINE_WIDTH


def test_times_alone_are_a_line_that_decides_nothing() -> None:
    runs = [
        AloneRun(run_id=f"r{number}", real_time_seconds=seconds, started_at=START - 2.0 - 600.0 * number)
        for number, seconds in enumerate((9.0, 10.0, 12.0), 1)
    ]
    alone = Alone(
        program="wide_sort",
        jobs=["s1-1", "s2-1", "s3-1", "s4-1"],  # s3-1 failed; the others took 20, 30 and 40 s
        real_time_seconds=10.0,
        run_id="r2",
        runs=runs,
        places=["work xfs /dev/sda1"],
    )
    of = facts(alone=[alone])
    text = " ".join(render(BARE, as_summary(judge(of, jobs(), summary_of(of, jobs())))).split())
    assert (
        " alone 3.00 times as long in the mix as alone (decides nothing); 3 runs of each of 1 program, which "
        "differ by 30 % (median); the oldest began 30 min 00 s before this run; on work xfs /dev/sda1 "
    ) in text
