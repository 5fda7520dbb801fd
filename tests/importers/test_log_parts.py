"""Parts of one session in several files: redirected, rolled over, written twice.  Each step counts once."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from mawl.importers.import_files import Imported, ImportRequest, import_files
from mawl.importers.log_parts import family
from mawl.records.store import Run, open_run

NIGHT = datetime(2026, 3, 2, 1, 0, tzinfo=UTC)
BANNER = "NOTE: SAS (r) Proprietary Software 9.4 (TS1M7)\n"


def note(what: str, number: int, minute: float, seconds: int = 30) -> str:
    ended = NIGHT + timedelta(minutes=minute)
    return (
        f"NOTE: {what} used (Total process time):\n"
        f"      real time           {seconds // 60}:{seconds % 60:02d}.00\n"
        f"      user cpu time       {seconds // 60}:{seconds % 60:02d}.00\n"
        "      system cpu time     0.00 seconds\n"
        "      memory              9000.00k\n"
        "      OS Memory           9000.00k\n"
        f"      Timestamp           {ended:%m/%d/%Y %I:%M:%S %p}\n"
        f"      Step Count                        {number}  Switch Count  0\n      \n"
    )


def steps(*numbers: int) -> str:
    """Step N ends at minute N."""
    return "".join(note("DATA statement", number, number) for number in numbers)


def ends(minutes: int, number: int = 0) -> str:
    return note("The SAS System", number or minutes, minutes, minutes * 60)


def night(folder: Path, **logs: str) -> tuple[Imported, Run]:
    for name, text in logs.items():
        (folder / name.replace("__", ".")).write_text(text)
    run = folder / "runs" / "night"
    return import_files(ImportRequest(paths=[str(folder)], folder=run, run_id="night")), open_run(str(run))


def told(run: Run) -> dict[str, tuple[float | None, list[int], list[float | None]]]:
    """Real time, numbers and ends (in minutes) of the steps of each job."""
    records = list(run.step_records())
    return {
        job.job: (
            job.usage.real_time_seconds,
            [step.number for step in records if step.job == job.job],
            [
                None if step.ended_at is None else (step.ended_at - NIGHT.timestamp()) / 60
                for step in records
                if step.job == job.job
            ],
        )
        for job in run.job_records()
    }


def test_a_log_that_printto_redirected_is_a_part_of_its_job(tmp_path: Path) -> None:
    whole = BANNER + steps(1, 2) + steps(6, 7) + ends(8)
    found, run = night(tmp_path, load__log=whole, detail__log=steps(3, 4, 5))
    assert told(run) == {"load": (480.0, [1, 2, 3, 4, 5, 6, 7], [1, 2, 3, 4, 5, 6, 7])}
    assert (found.jobs, found.steps) == (1, 7)
    assert any("detail.log is a part of load.log" in one for one in found.remarks)


def test_a_log_of_steps_that_no_session_leaves_out_is_a_job(tmp_path: Path) -> None:
    whole = BANNER + steps(1, 2, 3, 4) + ends(8)
    _, run = night(tmp_path, load__log=whole, studio__log=steps(30, 31))
    assert {job: real for job, (real, _, _) in told(run).items()} == {"load": 480.0, "studio": 60.0}


def test_a_gap_of_two_sessions_decides_nothing(tmp_path: Path) -> None:
    whole = BANNER + steps(1, 5) + ends(8)
    other = BANNER + steps(1, 5) + note("The SAS System", 8, 8, 481)
    _, run = night(tmp_path, a__log=whole, b__log=other, detail__log=steps(2, 3, 4))
    assert sorted(told(run)) == ["a", "b", "detail"]


@pytest.mark.parametrize(
    "names",
    [
        ("load_2026.03.02.log", "load_2026.03.03.log"),
        ("load.log.1", "load.log.2"),
        ("loadold.log", "load.log"),
    ],
)
def test_a_log_that_rolled_over_is_one_job(names: tuple[str, str], tmp_path: Path) -> None:
    first, second = BANNER + steps(1, 2, 3), steps(4, 5) + ends(8)
    for name, text in zip(names, (first, second), strict=True):
        (tmp_path / name).write_text(text)
    found, run = night(tmp_path)
    [(real, numbers, minutes)] = told(run).values()
    assert (real, numbers, minutes) == (480.0, [1, 2, 3, 4, 5], [1, 2, 3, 4, 5])
    assert any("it rolled over" in one for one in found.remarks)


def test_three_parts_of_a_log_are_one_job(tmp_path: Path) -> None:
    logs = {"a__log": BANNER + steps(1, 2), "b__log": steps(3, 4), "c__log": steps(5) + ends(6)}
    _, run = night(tmp_path, **logs)
    assert told(run) == {"a": (360.0, [1, 2, 3, 4, 5], [1, 2, 3, 4, 5])}


def test_parts_without_times_are_joined_by_their_names(tmp_path: Path) -> None:
    def plain(text: str) -> str:
        return "".join(
            one for one in text.splitlines(True) if "Timestamp" not in one and "Step Count" not in one
        )

    first, second = plain(BANNER + steps(1, 2)), plain(steps(3) + ends(4))
    _, run = night(
        tmp_path, load_1__log=first, load_2__log=second, other__log=plain(BANNER + steps(1) + ends(2))
    )
    assert {job: (real, len(numbers)) for job, (real, numbers, _) in told(run).items()} == {
        "load_1": (240.0, 3),
        "other": (120.0, 1),
    }


def test_a_job_that_goes_on_with_an_error_failed(tmp_path: Path) -> None:
    _, run = night(
        tmp_path, a__log=BANNER + steps(1, 2), b__log="ERROR: no such table\n" + steps(3) + ends(6)
    )
    assert [job.outcome for job in run.job_records()] == ["failed"]


def test_a_session_whose_log_altlog_copied_counts_once(tmp_path: Path) -> None:
    """ALTLOG has the steps that PRINTTO took from the log."""
    log = BANNER + steps(1, 2) + steps(6) + ends(8)
    copy = BANNER + steps(1, 2, 3, 4, 5, 6) + ends(8)
    found, run = night(tmp_path, load__log=log, load_alt__log=copy, detail__log=steps(3, 4, 5))
    assert told(run) == {"load_alt": (480.0, [1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 5, 6])}
    assert any("load.log is of the session in load_alt.log" in one for one in found.remarks)
    assert any("detail.log is of the session in load_alt.log" in one for one in found.remarks)


def test_two_sessions_with_equal_steps_and_other_totals_both_count(tmp_path: Path) -> None:
    one = BANNER + steps(1, 2) + ends(3)
    other = BANNER + steps(1, 2) + note("The SAS System", 3, 3, 181)
    assert len(told(night(tmp_path, a__log=one, b__log=other)[1])) == 2


def test_logs_that_cannot_be_placed_are_said(tmp_path: Path) -> None:
    plain = "".join(steps(1).splitlines(True)[:4]) + "\n"
    found, run = night(tmp_path, load__log=BANNER + steps(1) + ends(2), studio__log=plain)
    assert any("1 of 2 logs begin and end within a session" in one for one in found.remarks)
    assert len(told(run)) == 2


def test_names_of_one_family() -> None:
    assert {family(one) for one in ("load.log", "load_2026.03.02.log", "loadold.log", "a/load.log.1.gz")} == {
        "load"
    }
