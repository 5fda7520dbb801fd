"""Directories of logs and recordings as runs: jobs in time, sessions, outcomes, clocks, what is refused."""

from __future__ import annotations

import gzip
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from mawl.base.errors import UsageError
from mawl.figures.view import StoredView
from mawl.importers.clock import Clocks, parse_shifts, parse_zones
from mawl.importers.import_files import Imported, ImportRequest, import_files
from mawl.importers.sas_jobs import program_of
from mawl.records.model.records import StepNotes, TableNote
from mawl.records.model.summary.time import TimeShares
from mawl.records.store import Run, open_run
from tests.fakes.views import plain
from tests.importers.layout import BANNER
from tests.importers.layouts import LAYOUTS

EIGHT = datetime(2026, 11, 20, 8, 0, 0, tzinfo=UTC)
KINDS = ("saslog", "nmon", "sar")


def log(
    start: datetime,
    seconds: float,
    *,
    total: bool = True,
    error: str = "",
    host: str = "",
    cpu_ratio: float = 0.5,
) -> str:
    """A job of two equal steps; CPU time is ``cpu_ratio`` of its real time."""
    half = seconds / 2

    def block(heading: str, real: float, at: datetime) -> str:
        return (
            f"NOTE: {heading}:\n"
            f"      real time           {clock(real)}\n"
            f"      user cpu time       {clock(real * cpu_ratio / 2)}\n"
            f"      system cpu time     {clock(real * cpu_ratio / 2)}\n"
            f"      memory              1024.00k\n"
            f"      OS Memory           2048.00k\n"
            f"      Timestamp           {at:%m/%d/%Y %I:%M:%S %p}\n      \n\n"
        )

    middle, end = start + timedelta(seconds=half), start + timedelta(seconds=seconds)
    text = BANNER + (f"PASS HEADER BEGIN\nPASS HEADER host={host}\n" if host else "")
    text += block("DATA statement used (Total process time)", half, middle)
    text += f"ERROR: {error}\n" if error else ""
    text += block("PROCEDURE SORT used (Total process time)", half, end)
    return text + (block("The SAS System used", seconds, end) if total else "")


def clock(seconds: float) -> str:
    """A time as SAS prints it."""
    minutes, rest = divmod(seconds, 60)
    return f"{int(minutes)}:{rest:05.2f}" if minutes else f"{rest:.2f} seconds"


def imported(folder: Path, *paths: Path, **options: object) -> tuple[Imported, Run]:
    made = import_files(
        ImportRequest(paths=[str(path) for path in paths], folder=folder / "run", run_id="run", **options)  # type: ignore[arg-type]
    )
    return made, open_run(folder / "run")


def write(folder: Path, **logs: str) -> Path:
    folder.mkdir(exist_ok=True)
    for name, text in logs.items():
        (folder / f"{name}.log").write_text(text)
    return folder


@pytest.mark.parametrize("name", LAYOUTS)
def test_every_layout_becomes_a_run_with_as_many_blocks_as_notes(tmp_path: Path, name: str) -> None:
    layout = LAYOUTS[name]
    made, run = imported(tmp_path, write(tmp_path / "logs", one=layout.text))
    steps = [note for note in layout.notes if note.kind != "session"]
    assert (made.blocks, made.steps, made.jobs) == (len(layout.notes), len(steps), layout.jobs)
    assert [skipped.line for skipped in made.skipped] == layout.skipped
    kinds = {"initialization": "startup"}
    assert [step.kind for step in run.step_records()] == [kinds.get(note.kind, note.kind) for note in steps]
    summary = plain(StoredView(run).summary)
    assert summary["kind"] == "imported"
    assert summary["jobs"]["total"] == layout.jobs


def test_a_session_total_is_the_jobs_own_and_steps_are_summed_only_without_one(tmp_path: Path) -> None:
    logs = write(
        tmp_path / "logs", whole=log(EIGHT, 100), parts=log(EIGHT, 60, total=False), view=LAYOUTS["view"].text
    )
    made, run = imported(tmp_path, logs)
    own = {job.job: job.usage for job in run.job_records()}
    assert own["whole"].real_time_seconds == 100.0
    assert own["parts"].real_time_seconds == 60.0
    assert (own["parts"].user_cpu_seconds, own["parts"].memory_bytes) == (15.0, 2**20)
    # The view's 4 seconds are part of the step that read it.
    assert (own["view"].real_time_seconds, own["view"].cpu_seconds) == (5.0, 3.5)
    assert own["view"].user_cpu_seconds is None
    assert "2 of 3 jobs have no session total: their figures are sums of steps" in made.remarks


def test_a_step_within_an_import_is_kept_and_counts_in_the_import_alone(tmp_path: Path) -> None:
    """In the layout of a public log of FULLSTIMER: both notes have the same step count."""
    times = "      real time           {0}.00 seconds\n      cpu time            {0}.00 seconds\n"
    count = "      Timestamp           11/20/2026 08:00:09 AM\n      Step Count                        3  "
    count += "Switch Count  0\n      \n"
    table = "NOTE: The data set WORK.WANT has 5 observations and 6 variables.\n"
    text = f"{table}NOTE: DATA statement used (Total process time):\n{times.format(2)}{count}"
    text += f"{table}NOTE: PROCEDURE IMPORT used (Total process time):\n{times.format(3)}{count}"
    _, run = imported(tmp_path, write(tmp_path / "logs", load=text))
    (job,) = run.job_records()
    assert (job.usage.real_time_seconds, job.usage.cpu_seconds, job.steps) == (3.0, 3.0, 2)
    assert job.started_at is not None and job.ended_at == job.started_at + 3.0
    steps = run.step_records()
    assert [(step.name, step.kind, step.rows_written) for step in steps] == [
        ("DATA", "nested", None),
        ("IMPORT", "procedure", 5),
    ]


def test_jobs_lie_in_time_and_sessions_are_the_fewest_that_could_have_run_them(tmp_path: Path) -> None:
    starts = {"a": 0, "b": 10, "c": 100, "d": 105, "e": 210}
    logs = {name: log(EIGHT + timedelta(seconds=start), 100) for name, start in starts.items()}
    made, run = imported(tmp_path, write(tmp_path / "logs", **logs))
    jobs = {job.job: job for job in run.job_records()}
    assert {name: job.started_at for name, job in jobs.items()} == {
        name: EIGHT.timestamp() + start for name, start in starts.items()
    }
    assert made.sessions == 3
    assert [(jobs[name].session, jobs[name].stage) for name in "abcde"] == [
        ("s1", 1), ("s2", 1), ("s1", 2), ("s3", 1), ("s3", 2),
    ]  # fmt: skip
    summary = plain(StoredView(run).summary)
    assert summary["time"]["elapsed_seconds"] == 310.0
    assert summary["time"]["real_time_seconds"] == 500.0
    assert summary["jobs"]["peak_concurrent"] == 3
    assert summary["cpu_real_ratio"]["of_sums"] == 0.5
    assert summary["wait"] == {
        "on_cpu_seconds": 250.0,
        "blocked_at_most_seconds": 250.0,
        "run_queue_seconds": None,
        "blocked_seconds": dict.fromkeys(("data", "work", "util", "other")),
        "mapped_files": None,
        "shares": dict.fromkeys(TimeShares.__struct_fields__) | {"on_cpu_ratio": 0.5, "unknown_ratio": 0.5},
    }
    assert summary["missing"]["wait.run_queue_seconds"].startswith("a SAS log does not say")


def test_logs_without_timestamps_have_figures_and_no_place_in_time(tmp_path: Path) -> None:
    text = LAYOUTS["stimer"].text
    undated = "\n".join(text.split("\n")[1:])
    made, run = imported(tmp_path, write(tmp_path / "logs", x=undated, y=undated))
    summary = plain(StoredView(run).summary)
    assert summary["time"]["elapsed_seconds"] is None
    assert summary["missing"]["time.elapsed_seconds"]
    assert summary["time"]["real_time_seconds"] == 2 * 218914.65
    assert summary["time"]["cpu_seconds"] == 2 * 39660.0
    assert summary["time"]["user_cpu_seconds"] is None
    assert summary["cpu_real_ratio"]["of_sums"] == pytest.approx(39660.0 / 218914.65)
    assert made.sessions == 2
    assert [step.started_at for step in run.step_records()] == [None] * 6


def test_without_timestamps_a_page_header_gives_the_start_to_the_minute(tmp_path: Path) -> None:
    made, run = imported(tmp_path, write(tmp_path / "logs", x=LAYOUTS["stimer"].text))
    (job,) = run.job_records()
    start = datetime(2026, 11, 20, 10, 0, tzinfo=UTC).timestamp()
    assert (job.started_at, job.ended_at) == (start, start + 218914.65)
    assert "1 of 1 jobs start at the minute of their page header" in made.remarks


def test_a_first_page_below_a_total_is_of_the_session_that_follows(tmp_path: Path) -> None:
    """Another page of the session that ended, with the same time, tells nothing of the next."""
    first = LAYOUTS["stimer"].text
    notes = first.removeprefix(BANNER)
    page, rest = BANNER.split("\n", 1)
    dated, again = (
        first + page.replace("10:00", "21:30") + "\n" + rest + notes,
        first + page + "\n" + rest + notes,
    )
    (tmp_path / "dated.log").write_text(dated)
    (tmp_path / "again.log").write_text(again)
    _, run = imported(tmp_path, tmp_path / "dated.log", tmp_path / "again.log")
    ten = (EIGHT + timedelta(hours=2)).timestamp()
    starts = {job.job: job.started_at for job in run.job_records()}
    assert starts == {"dated": ten, "dated-2": ten + 11.5 * 3600, "again": ten, "again-2": None}


def test_an_error_fails_a_job_and_a_cut_log_loses_it(tmp_path: Path) -> None:
    logs = write(
        tmp_path / "logs", good=log(EIGHT, 10), bad=log(EIGHT, 10, error="File WORK.X.DATA does not exist."),
        cut=LAYOUTS["cut"].text,
    )  # fmt: skip
    _, run = imported(tmp_path, logs)
    outcomes = {job.job: job.outcome for job in run.job_records()}
    assert outcomes == {"good": "finished", "bad": "failed", "cut": "lost"}
    assert next(job.reason for job in run.job_records() if job.job == "bad") == (
        "the log has an ERROR in line 17: File WORK.X.DATA does not exist."
    )
    assert run.facts.outcome == "failed"
    assert plain(StoredView(run).summary)["jobs"]["counted"] == 2, (
        "what it cost counts, that of the cut log does not"
    )


def test_banner_and_header_give_release_platform_and_node(tmp_path: Path) -> None:
    _, run = imported(tmp_path, write(tmp_path / "logs", x=log(EIGHT, 10, host="sas01")))
    (node,) = run.facts.nodes
    assert (node.name, node.kernel) == ("sas01", "Linux 3.10.0-957.el7.x86_64 (LIN X64)")
    assert run.facts.software == {"sas": "9.4 (TS1M6)"}
    assert run.facts.missing["nodes.*.cores"]


def test_the_release_of_the_banner_of_9_1_is_read(tmp_path: Path) -> None:
    text = log(EIGHT, 10).replace("SAS (r) Proprietary Software 9.4 (TS1M6)", "SAS (r) 9.1 (TS1M3)")
    _, run = imported(tmp_path, write(tmp_path / "logs", x=text))
    assert run.facts.software == {"sas": "9.1 (TS1M3)"}


def test_zones_and_shifts_move_the_clock(tmp_path: Path) -> None:
    logs = write(tmp_path / "logs", x=log(EIGHT, 10))
    clocks = Clocks(parse_zones(["Europe/Berlin"], KINDS), parse_shifts(["saslog=-5"]))
    made, run = imported(tmp_path, logs, clocks=clocks)
    assert run.job_records()[0].started_at == EIGHT.timestamp() - 3600 - 5
    assert not any("UTC" in remark for remark in made.remarks)
    (source,) = run.facts.sources
    assert (source.zone_known, source.zone) == (False, "Europe/Berlin")


@pytest.mark.parametrize("zone", ["Mars/Base", "+25:00", "../etc/passwd", "saslog=", "x=UTC", ""])
def test_a_zone_that_is_none_is_refused(zone: str) -> None:
    with pytest.raises(UsageError, match="timezone"):
        parse_zones([zone], KINDS)


@pytest.mark.parametrize("shift", ["5", "=5", "db1=soon", "db1=1e9"])
def test_a_shift_that_is_none_is_refused(shift: str) -> None:
    with pytest.raises(UsageError, match="shift"):
        parse_shifts([shift])


def test_compressed_logs_and_directories_below_are_read(tmp_path: Path) -> None:
    below = tmp_path / "logs" / "2026"
    below.mkdir(parents=True)
    (below / "a.log.gz").write_bytes(gzip.compress(log(EIGHT, 10).encode()))
    made, run = imported(tmp_path, tmp_path / "logs")
    assert (made.jobs, made.blocks) == (1, 3)
    assert run.job_records()[0].program == "a"
    assert [source.file for source in run.facts.sources] == ["2026/a.log.gz"]


def test_nothing_to_import_is_one_sentence_and_leaves_no_folder(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "letter.txt").write_text("dear all,\n")
    with pytest.raises(UsageError, match=r"letter\.txt: no kind of file that mawl reads"):
        imported(tmp_path, tmp_path / "logs")
    with pytest.raises(UsageError, match="no such file"):
        imported(tmp_path, tmp_path / "absent")
    assert not (tmp_path / "run").exists()


def test_what_is_in_the_way_is_kept(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "mine").write_text("kept")
    with pytest.raises(UsageError, match="already holds files"):
        imported(tmp_path, write(tmp_path / "logs", x=log(EIGHT, 10)))
    assert os.listdir(tmp_path / "run") == ["mine"]


@pytest.mark.parametrize(
    ("file", "program"),
    [
        ("load.log", "load"),
        ("load_20261120.log", "load"),
        ("load_2026-11-20-08.05.00.log.gz", "load"),
        ("etl/load2_2026.11.20_08.05.00_123.log", "load2"),
        ("step_1.log", "step_1"),
        ("20261120.log", "20261120"),
        ("load_02MAR2026.log", "load"),
        ("load_02mar26.log", "load"),
        ("load_20260302T201533.log", "load"),
        ("load_2026-03-02T20.15.33.log", "load"),
        ("PROD.LOAD.D260302", "PROD.LOAD"),
        ("PROD.LOAD.D260302.T201533", "PROD.LOAD"),
        ("load_march2026.log", "load_march2026"),
        ("02MAR2026.log", "02MAR2026"),
        ("nights/sort_T1.log", "sort_T1"),
    ],
)
def test_a_program_is_its_logs_name_without_the_date(file: str, program: str) -> None:
    assert program_of(file) == program


def test_a_shift_of_an_unknown_node_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    logs = write(tmp_path / "logs", one=log(EIGHT, 10))
    with pytest.raises(UsageError, match=r"--shift nonode=.*nodes: none; kinds of files: saslog, nmon"):
        imported(tmp_path, logs, clocks=Clocks(shifts=parse_shifts(["nonode=3"])))
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("real", ["9999999:00:00.00", "500000:00:00.00"])
def test_no_start_is_told_from_a_real_time_beyond_sense(tmp_path: Path, real: str) -> None:
    text = log(EIGHT, 10).replace("real time           5.00 seconds", f"real time           {real}", 1)
    made, run = imported(tmp_path, write(tmp_path / "logs", one=text))
    assert [step.started_at for step in run.step_records()] == [None, EIGHT.timestamp() + 5.0]
    assert run.job_records()[0].started_at == EIGHT.timestamp()
    assert plain(StoredView(run).summary)["time"]["elapsed_seconds"] == 10.0
    assert [skipped.reason.split(":")[0] for skipped in made.skipped] == [
        "a real time of more than a year is doubtful"
    ]


def test_metrics_of_cas_actions_are_told_and_are_no_steps(tmp_path: Path) -> None:
    action = (
        "NOTE: Executing action 'simple.summary'.\n"
        "NOTE: Action 'simple.summary' used (Total process time):\n"
        "NOTE:       real time               0.893936 seconds\n"
        "NOTE:       cpu time                3.626003 seconds (405.62%)\n"
        "NOTE:       total nodes             1 (16 cores)\n"
        "NOTE:       total memory            62.67G\n"
    )
    made, run = imported(tmp_path, write(tmp_path / "logs", one=BANNER + action + log(EIGHT, 10)))
    assert len(run.step_records()) == 2
    assert [skipped.reason for skipped in made.skipped] == ["metrics of a CAS action, no step of SAS"]
    assert made.skipped[0].line == BANNER.count("\n") + 2


def test_the_run_folder_keeps_what_notes_tell_of_tables(tmp_path: Path) -> None:
    text = (
        "NOTE: There were 7 observations read from the data set BANK.LEDGER.\n"
        "NOTE: PROCEDURE MEANS used (Total process time):\n      real time           1.00 seconds\n"
        "      cpu time            0.50 seconds\n      \n"
        "NOTE: PROCEDURE PRINT used (Total process time):\n      real time           1.00 seconds\n"
        "      cpu time            0.50 seconds\n      \n"
    )
    _, run = imported(tmp_path, write(tmp_path / "logs", one=text))
    told = [step.notes for step in run.step_records()]
    assert told == [StepNotes(tables=(TableNote(direction="read", name="BANK.LEDGER", rows=7),)), None]


def test_tables_of_a_database_are_marked_until_their_libref_has_another_engine(tmp_path: Path) -> None:
    def libref(engine: str) -> str:
        return (
            "NOTE: Libref DWH was successfully assigned as follows: \n"
            f"      Engine:        {engine} \n      Physical Name: secret\n"
        )

    step = (
        "NOTE: There were 7 observations read from the data set DWH.SALES.\n"
        "NOTE: PROCEDURE MEANS used (Total process time):\n      real time           1.00 seconds\n"
        "      cpu time            0.50 seconds\n      \n"
    )
    text = libref("ORACLE") + "\n" + step + libref("V9") + "\n" + step
    made, run = imported(tmp_path, write(tmp_path / "logs", one=text))
    assert [step.notes and step.notes.tables[0].remote for step in run.step_records()] == [True, False]
    assert made.skipped == []
