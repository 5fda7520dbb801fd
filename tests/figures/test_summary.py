"""Sums, ratios and counts, and that every null has its reason."""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pytest
from pyarrow import parquet

from mawl.figures.job_sums import NOT_RECORDED, generalised, nulls
from mawl.figures.view import StoredView
from mawl.records.model.node import StorageRun
from mawl.records.model.records import Usage
from mawl.records.store import open_run
from mawl.reports import screen, text
from tests.fakes.stored_run import MOVED, facts, job, jobs, write_run
from tests.fakes.views import BARE, as_summary, judged, plain, summary_of

SERVER = StorageRun(node="server", run_id="server", outcome="completed")

# The names that other tools rely on.
BINDING = {
    "": "run_id format_version kind workload outcome nodes jobs time cpu_real_ratio io host wait programs "
    "signature answer guideline times_alone limit validity overhead missing",
    "workload": "name sessions scale options",
    "jobs": "total failed unverified lost planned_peak_concurrent peak_concurrent seconds_near_peak "
    "mean_concurrent",
    "time": "elapsed_seconds active_seconds tail_seconds startup_seconds real_time_seconds user_cpu_seconds "
    "system_cpu_seconds adjusted_cpu_seconds memory_bytes os_memory_bytes",
    "cpu_real_ratio": "of_sums mean stddev range without_run_queue",
    "io": "application device by_role reach coverage_ratio",
    "io.application": "read_bytes written_bytes read_ratio peak initial sustained lowest active_mean "
    "run_mean sustained_bytes_per_second_per_core window_seconds",
    "io.by_role": "data work util",
    "io.by_role.data": "read_bytes written_bytes share_ratio sequential_ratio read_latency_seconds "
    "write_latency_seconds volumes",
    "io.by_role.data.read_latency_seconds": "mean p50 p99 max peak",
    "io.reach": "read_ratio write_ratio",
    "wait": "on_cpu_seconds run_queue_seconds blocked_seconds mapped_files",
    "wait.blocked_seconds": "data work util other",
    "programs.wide_sort": "jobs real_time_seconds user_cpu_seconds system_cpu_seconds",
    "programs.wide_sort.real_time_seconds": "median min max",
    "overhead": "cpu_seconds startup_cpu_seconds peak_memory_bytes",
}


def at(summary: dict[str, Any], path: str) -> Any:
    """The value at a dotted path."""
    value: Any = summary
    for part in path.split(".") if path else []:
        value = value[part]
    return value


@pytest.mark.parametrize("path", BINDING)
def test_the_names_of_the_design_are_there(path: str) -> None:
    assert set(BINDING[path].split()) <= set(at(summary_of(facts(), jobs()), path))


def test_application_and_device_have_the_same_figures() -> None:
    io = summary_of(facts(), jobs())["io"]
    assert set(io["application"]) == set(io["device"]) - {"bytes_source"}, "whose account, of one side only"


def test_sums_are_over_the_jobs_with_a_right_answer() -> None:
    summary = summary_of(facts(), jobs())
    good = [record for record in jobs() if record.outcome == "finished"]
    assert summary["jobs"]["total"] == 6
    assert summary["jobs"]["failed"] == 1
    assert summary["jobs"]["counted"] == 5
    assert summary["time"]["real_time_seconds"] == 119.5
    assert summary["time"]["user_cpu_seconds"] == sum(record.usage.user_cpu_seconds or 0 for record in good)
    assert summary["time"]["memory_bytes"] == 5 * 100 * 2**20
    assert summary["io"]["application"]["read_bytes"] == 5 * 800_000_000
    assert summary["failures"] == [
        {
            "job": "s3-1",
            "program": "wide_sort",
            "outcome": "failed",
            "reason": "wide_sort: rows 3 and 4 are out of order: the sort is wrong",
        }
    ]


def test_a_wrong_answer_never_counts_and_an_unchecked_one_is_told() -> None:
    wrong = job("s1-1", 0.0, 10.5, verified=False)
    unchecked = job("s2-1", 0.0, 20.5, verified=None)
    summary = summary_of(facts(), [wrong, unchecked])
    assert summary["jobs"]["unverified"] == 2
    assert summary["time"]["real_time_seconds"] == 20.0


def test_cpu_over_real_time() -> None:
    ratio = summary_of(facts(), jobs())["cpu_real_ratio"]
    each = [0.5, 0.5, 0.5, 1.0, 1.0]
    assert ratio["of_sums"] == pytest.approx((90 * 0.5 + 29.5) / 119.5)
    assert ratio["mean"] == pytest.approx(0.7)
    assert ratio["stddev"] == pytest.approx(statistics.stdev(each))
    assert ratio["range"] == pytest.approx(0.5)


def test_each_kind_of_bytes_has_its_own_figure() -> None:
    io = summary_of(facts(), jobs(), moved=MOVED)["io"]
    assert io["dirtied"]["written_bytes"] == 5 * 100_000_000
    assert io["own"]["read_bytes"] == 5 * 400_000_000
    assert io["own"]["written_bytes"] == 5 * 100_000_000
    assert (io["device"]["read_bytes"], io["device"]["written_bytes"]) == (2.4e9, 6e8)
    assert io["device"]["read_ratio"] == 0.8
    assert io["reach"] == {"read_ratio": 0.5, "write_ratio": 0.5}
    # The job with the wrong answer does not count, and yet it is no other program.
    assert io["foreign"]["ratio"] == 0.0


def test_throughput_is_bytes_of_the_jobs_that_count_over_the_elapsed_time() -> None:
    io = summary_of(facts(), jobs(), moved=MOVED)["io"]
    elapsed = 60.5  # the wrong answer's job counts for the time, not for the bytes
    assert io["application"]["run_mean"] == pytest.approx(
        {
            "read_bytes_per_second": 4e9 / elapsed,
            "write_bytes_per_second": 1e9 / elapsed,
            "total_bytes_per_second": 5e9 / elapsed,
        }
    )
    assert io["device"]["run_mean"]["write_bytes_per_second"] == pytest.approx(6e8 / elapsed)


def test_a_run_of_no_length_has_no_throughput() -> None:
    summary = summary_of(facts(), [job("s1-1", 1.0, 1.0)])
    assert summary["io"]["application"]["run_mean"]["read_bytes_per_second"] is None
    reason = summary["missing"]["io.application.run_mean.read_bytes_per_second"]
    assert reason == "nothing to divide by: the whole is zero"


def test_left_out_and_counted_are_all_jobs() -> None:
    outcomes = ["finished", "failed", "timed_out", "stopped", "lost", "not_started"]
    records = [
        job("s1-1", 0.0, 1.0, outcome=outcome, verified=verified)
        for outcome in outcomes
        for verified in (True, None, False)
    ]
    block = summary_of(facts(), records)["jobs"]
    assert block["counted"] + sum(block["left_out"].values()) == block["total"] == 18
    assert block["left_out"]["wrong_answer"] == 6


def test_recorded_counts_the_rows_and_says_which_table_is_damaged(tmp_path: Path) -> None:
    write_run(tmp_path / "run").finish(facts())
    assert plain(StoredView(open_run(tmp_path / "run")).summary)["recorded"] == {
        "jobs": 6,
        "steps": 12,
        "samples": 6,
        "events": 13,
    }
    (tmp_path / "run" / "samples.parquet").write_bytes(b"torn")
    summary = plain(StoredView(open_run(tmp_path / "run")).summary)
    assert summary["recorded"]["samples"] is None
    assert "samples.parquet" in summary["missing"]["recorded.samples"]
    assert [remark for remark in summary["remarks"] if "samples are damaged" in remark]
    judgement = judged(StoredView(open_run(tmp_path / "run")))
    sentences = [one["sentence"] for one in judgement["validity"]["findings"] if one["rule"] == "sampling"]
    assert "samples are damaged" in sentences[0] and "samples.parquet" in sentences[0]
    said = screen.render(BARE, as_summary(judgement)), text.render(BARE, as_summary(judgement))
    assert all("remark: samples are damaged, and no figure here is of them" in one for one in said)


@pytest.mark.parametrize("column", ["value", "node"])
def test_samples_without_a_figure_of_any_node_are_none(tmp_path: Path, column: str) -> None:
    write_run(tmp_path / "run").finish(facts(storage_runs=[SERVER]))
    path = tmp_path / "run" / "samples.parquet"
    table = parquet.read_table(path)
    values = [float("nan") if column == "value" else SERVER.node] * table.num_rows
    changed = pa.array(values, table.schema.field(column).type)
    parquet.write_table(table.set_column(table.schema.get_field_index(column), column, changed), path)
    sentences = [
        finding["sentence"]
        for finding in judged(StoredView(open_run(tmp_path / "run")))["validity"]["findings"]
    ]
    assert "the run holds no samples: nothing is known of its course in time" in sentences


def test_programs_by_name() -> None:
    sort = summary_of(facts(), jobs())["programs"]["wide_sort"]
    assert (sort["jobs"], sort["counted"]) == (4, 3)
    assert sort["real_time_seconds"] == {"median": 30.0, "min": 20.0, "max": 40.0, "sum": 90.0}


def test_the_account_adds_up_over_all_jobs() -> None:
    account = summary_of(facts(), jobs())["cpu_account"]
    assert account["verify"] == pytest.approx(
        {"user_cpu_seconds": 2.4, "system_cpu_seconds": 0.6, "cpu_seconds": 3.0}
    )
    for field in ("user_cpu_seconds", "system_cpu_seconds", "cpu_seconds"):
        parts = sum(account[name][field] for name in ("jobs", "startup", "verify", "launcher"))
        assert account["total"][field] == pytest.approx(parts, abs=0.2)
        assert account["total"][field] > account["jobs"][field]


def test_the_account_has_no_total_where_somebody_left_none() -> None:
    lost = job(
        "s2-1", 0.0, 1.0, outcome="lost", usage=Usage(), total=Usage(), startup=Usage(), verify=Usage()
    )
    killed = summary_of(facts(launcher=Usage()), [*jobs(), lost])
    assert killed["cpu_account"]["jobs"]["cpu_seconds"] == pytest.approx(79.5)
    assert killed["cpu_account"]["total"]["cpu_seconds"] is None
    reason = killed["missing"]["cpu_account.total.cpu_seconds"]
    assert reason == "a lost job and the launcher left no account"


def test_a_partly_missing_figure_is_no_sum() -> None:
    some = jobs()
    usage = msgspec.structs.replace(some[0].usage, memory_bytes=None)
    some[0] = msgspec.structs.replace(some[0], usage=usage)
    summary = summary_of(facts(), some)
    assert summary["time"]["memory_bytes"] is None
    assert summary["missing"]["time.memory_bytes"] == "1 of the 5 jobs that count has no such figure (s1-1)"
    assert summary["time"]["os_memory_bytes"] is not None


CASES = {
    "good": (facts(), jobs()),
    "empty": (facts(planned_jobs=[], nodes=[], outside_cpu=None), []),
    "bare": (facts(), [job("s1-1", 0.0, 1.0, usage=Usage(), total=Usage(), ended_at=None)]),
    "lost": (facts(), [job("s1-1", 0.0, 1.0, outcome="lost", ended_at=None, reason=None)]),
    "dots": (facts(), [job("s1-1", 0.0, 1.0, program="./a.b/c d")]),
}


@pytest.mark.parametrize("case", CASES)
def test_every_null_has_a_reason(case: str) -> None:
    summary = summary_of(*CASES[case])
    missing = summary["missing"]
    found = {".".join(generalised(path)) for path in nulls(summary)}
    assert found == set(missing)
    assert all(missing.values())
    if case == "good":
        assert NOT_RECORDED not in missing.values()


def test_the_run_s_own_reason_comes_first() -> None:
    summary = summary_of(facts(outside_cpu=None, missing={"outside_cpu": "no permission"}), jobs())
    assert summary["missing"]["outside_cpu"] == "no permission"


def test_the_options_of_the_run_are_in_its_summary() -> None:
    assert set(summary_of(facts(), jobs())["workload"]["options"]) >= {"memsize_bytes", "sortsize_bytes"}
