"""The steps that cost most, and the tables that are scanned most."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from mawl.base.units import parse_instant
from mawl.commands.main import main
from mawl.derive.costs import HEAD, ORDERS, StepOrder, csv_of, document, step_costs
from mawl.derive.derive import DeriveRequest, derive
from mawl.figures.nights import Night
from mawl.importers.import_files import ImportRequest, import_files
from mawl.records.store import Run, open_run
from mawl.reports.document import rendered
from mawl.reports.json import indented

BANNER = "NOTE: This session is executing on the Linux 4.18.0 (LIN X64) platform.\n"
STEP = """\
{above}NOTE: {what} used (Total process time):
      real time           {real:.2f} seconds
      user cpu time       {cpu:.2f} seconds
      system cpu time     0.00 seconds
      memory              {memory}.00k
      OS Memory           90000.00k
      Block Input Operations            {blocks}
      Block Output Operations           0

"""
READ = "NOTE: There were {rows} observations read from the data set {table}.\n"


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """A session with a step that computes, one that scans with a WHERE, and one that was killed in a note."""
    whole = STEP.format(
        above=READ.format(rows=5000, table="BIG.ALL"),
        what="PROCEDURE MEANS",
        real=100,
        cpu=98,
        memory=10,
        blocks=10,
    )
    scan = STEP.format(
        above=READ.format(rows=7, table="BIG.ALL") + "      WHERE x<8;\n",
        what="DATA statement",
        real=50,
        cpu=5,
        memory=30,
        blocks=2_000_000,
    )
    small = STEP.format(
        above=READ.format(rows=9, table="WORK.T"), what="PROCEDURE SORT", real=1, cpu=1, memory=20, blocks=0
    )
    unknown = "NOTE: PROCEDURE SQL used (Total process time):\n      cpu time            1000.00 seconds\n\n"
    (tmp_path / "night.log").write_text(BANNER + whole + scan + small + unknown)
    folder = tmp_path / "runs" / "night"
    import_files(ImportRequest(paths=[str(tmp_path / "night.log")], folder=folder, run_id="night"))
    return open_run(str(folder))


@pytest.mark.parametrize(
    ("by", "first"),
    [("real", "MEANS"), ("cpu", "SQL"), ("waiting", "DATA"), ("bytes", "DATA"), ("memory", "DATA")],
)
def test_steps_are_ordered_by_each_figure_and_those_without_it_come_last(
    run: Run, by: str, first: str
) -> None:
    costs = step_costs(run, by)  # type: ignore[arg-type]
    assert costs.costliest[0].procedure == first and costs.steps == 4
    if by != "cpu":
        assert costs.costliest[-1].procedure == "SQL"
        assert costs.costliest[-1].bytes_per_second is None


def test_every_order_is_tried() -> None:
    assert ORDERS == ("real", "cpu", "waiting", "bytes", "memory", "switches")


def test_bytes_are_blocks_and_rates_are_over_real_time(run: Run) -> None:
    scan = step_costs(run, "bytes").costliest[0]
    assert (scan.read_bytes, scan.written_bytes) == (2_000_000 * 512, 0)
    assert scan.bytes_per_second == pytest.approx(2_000_000 * 512 / 50)
    assert (scan.waiting_at_most_seconds, scan.rows_read) == (45.0, 7)


def test_a_scan_with_a_where_counts_the_rows_of_the_table(run: Run) -> None:
    tables = [
        (table.table, table.passes, table.filtered, table.scanned_rows)
        for table in step_costs(run, "real").tables
    ]
    assert tables == [("BIG.ALL", 2, 1, 10_000), ("WORK.T", 1, 0, 9)]


def test_the_finding_says_how_much_of_the_time_the_shown_steps_take(run: Run) -> None:
    text = rendered(document(step_costs(run, "real", most=1)), "text")
    assert "largest real time: step 1 (MEANS) of night, 100.0 s; 1 of 4 steps take 66 % of their" in text


@pytest.mark.parametrize("form", ["text", "markdown", "html", "csv", "json"])
def test_each_format_has_the_steps(
    run: Run, form: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(run.path.parent.parent)
    assert main(["steps", "night", "--format", form]) == 0
    shown = capsys.readouterr().out
    costs = step_costs(run, "real")
    made: dict[str, Callable[[], str]] = {"csv": lambda: csv_of(costs), "json": lambda: indented(costs)}
    expected = made[form]() if form in made else rendered(document(costs), form)
    assert form == "text" or shown == expected + "\n"
    assert all(name in shown for name in ("MEANS", "DATA", "SORT", "SQL"))
    if form == "json":
        assert json.loads(shown)["tables"][0]["scanned_rows"] == 10_000


def test_a_run_without_steps_says_so(tmp_path: Path) -> None:
    (tmp_path / "few.log").write_text(
        BANNER + "NOTE: The SAS System used:\n      real time           1.00 seconds\n\n"
    )
    folder = tmp_path / "runs" / "few"
    import_files(ImportRequest(paths=[str(tmp_path / "few.log")], folder=folder, run_id="few"))
    assert "no DATA or PROC step" in rendered(document(step_costs(open_run(str(folder)), "real")), "text")


EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture(scope="module")
def night(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """The night that ships; the guide for SAS administrators has its answers."""
    folder = tmp_path_factory.mktemp("night") / "one"
    import_files(ImportRequest(paths=[str(EXAMPLES / "night")], folder=folder, run_id="one"))
    return open_run(str(folder))


def test_the_first_lines_answer_what_administrators_ask(night: Run) -> None:
    shown = rendered(document(step_costs(night, "waiting")), "text", 1000).splitlines()
    first = {line[:11].strip(): line[11:] for line in shown[:8]}
    assert first["steps"].startswith("largest real time less CPU time: step 6 (SORT) of load_orders, 25 min")
    assert first["jobs"].startswith("load_orders cost most: 1 h 26 min of real time, 53 % of 5 jobs")
    assert first["storage"].startswith("faster WORK saves at most 1 h 11 min of the night")
    assert (
        "chain of 3 jobs that ended last (2026-03-02 21:46 UTC)" in first["storage"]
        and "nmon, sar -d" in first["storage"]
    )
    assert "score_customers has most, 2,141,101" in first["processors"] and "sar -q" in first["processors"]
    assert "GB at its peak" in first["WORK"] and "GB at its peak" in first["both"]


@pytest.mark.parametrize("by", [by for by in ORDERS if by in HEAD])
def test_a_narrow_screen_keeps_the_column_that_orders_the_steps(night: Run, by: StepOrder) -> None:
    shown = rendered(document(step_costs(night, by)), "text", 100).splitlines()
    head = next(line for line in shown if line.startswith("step "))
    assert head.split()[:2] == ["step", "procedure"] and by in head and len(head) <= 100


def test_a_table_has_no_column_that_no_row_tells(run: Run) -> None:
    shown = rendered(document(step_costs(run, "real")), "text", 200).splitlines()
    [steps] = [line for line in shown if line.startswith("step ")]
    [jobs] = [line for line in shown if line.startswith("job ")]
    assert "rows read" in steps and "rows written" not in steps and "switches" not in steps
    assert "CPU" in jobs and not any(name in jobs for name in ("real", "started", "switches", "ended"))


def test_switches_for_a_cpu_second_leave_out_jobs_that_count_none(night: Run, tmp_path: Path) -> None:
    """STIMER counts no switches: the CPU time of its job says nothing on those of others."""
    quiet = "NOTE: DATA statement used (Total process time):\n      real time           9:00:00.00\n"
    (tmp_path / "stimer.log").write_text(f"{quiet}      cpu time            8:00:00.00\n\n")
    folder = tmp_path / "runs" / "both"
    paths = [str(EXAMPLES / "night"), str(tmp_path / "stimer.log")]
    import_files(ImportRequest(paths=paths, folder=folder, run_id="both"))
    alone, both = step_costs(night, "real").jobs, step_costs(open_run(str(folder)), "real").jobs
    assert alone is not None and both is not None
    assert both.cpu_seconds == pytest.approx((alone.cpu_seconds or 0) + 8 * 3600)
    assert both.switches_per_cpu_second == alone.switches_per_cpu_second == pytest.approx(489, abs=1)


def test_what_faster_work_saves_is_the_waiting_of_the_chain(night: Run) -> None:
    costs = step_costs(night, "real")
    assert costs.jobs is not None
    [work] = [one for one in costs.jobs.bounds if one.role == "work"]
    waits = {
        (step.job, step.number): max((step.usage.real_time_seconds or 0) - (step.usage.cpu_seconds or 0), 0.0)
        for step in night.step_records()
    }
    chain = ("extract_orders", "load_orders", "report_orders")
    assert work.chain_seconds is not None and work.waiting_at_most_seconds is not None
    assert 0 < work.chain_seconds <= sum(wait for (job, _), wait in waits.items() if job in chain)
    assert work.chain_seconds < work.waiting_at_most_seconds <= sum(waits.values())
    assert costs.jobs.costliest[-1].with_errors is True


def test_logs_without_switches_or_times_say_which_would_tell(run: Run) -> None:
    text = rendered(document(step_costs(run, "real")), "text", 1000)
    assert "no log counts involuntary switches; FULLSTIMER on UNIX and Linux does" in text
    assert "times of day would tell (FULLSTIMER)" in text


@pytest.mark.parametrize(("growth", "fits"), [(1.0, None), (1.05, True), (1.3, False)])
def test_a_night_with_more_rows_takes_its_chain_longer(night: Run, growth: float, fits: bool | None) -> None:
    """The chain took 1 h 47 min of a window of 2 h, with pauses of 4 and 5 s between its jobs."""
    window = Night(parse_instant("2026-03-02T20:00:00Z"), parse_instant("2026-03-02T22:00:00Z"))
    found = derive(night, DeriveRequest(night=window, growth=growth, keep_names=True)).evidence.night
    assert found is not None and found.chain == ("extract_orders.1", "load_orders.1", "report_orders.1")
    if fits is None:
        assert found.grown_end_seconds is None
        return
    ends = {job.job: job.ended_at or 0.0 for job in night.job_records()}
    starts = {job.job: job.started_at or 0.0 for job in night.job_records()}
    names = ("extract_orders", "load_orders", "report_orders")
    worked = sum(ends[name] - starts[name] for name in names)
    grown = found.last_end_seconds + worked * (growth - 1)
    assert found.grown_end_seconds == pytest.approx(grown)
    assert (grown <= 7200) is fits
