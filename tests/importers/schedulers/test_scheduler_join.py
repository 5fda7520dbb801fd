"""Logs joined to the jobs of a scheduler: by name and time, against drawn nights, and never by a guess."""

from __future__ import annotations

import heapq
import random
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest

from mawl.figures.view import StoredView
from mawl.importers.clock import Clocks, parse_zones
from mawl.importers.import_files import IMPORTERS, Imported
from mawl.importers.interface import ScheduledJob
from mawl.importers.scheduler_jobs import MOST_LOOKED_AT, LogJob, join, names_of, names_of_log
from mawl.records.model.records import JobRecord
from mawl.records.store import Run
from tests.fakes.schedulers import Ran, grid_status, lsb_record, orchestrator, sacct, sacct_json
from tests.importers.test_import import imported, log

AT = datetime(2026, 3, 2, 20, 0, tzinfo=UTC).timestamp()
UTC_LOGS = Clocks(parse_zones(["saslog=UTC"], tuple(IMPORTERS)), {})


def shop(
    folder: Path, logs: Mapping[str, tuple[float, float]], *histories: str, clocks: Clocks = UTC_LOGS
) -> tuple[Imported, Run]:
    """Logs by their names (start and seconds), imported with histories."""
    place = folder / "shop"
    place.mkdir()
    for name, (start, seconds) in logs.items():
        text = log(datetime.fromtimestamp(start, UTC), seconds)
        (place / f"{name}.log").write_text(f"1          * {name};\n{text}")
    for number, text in enumerate(histories):
        (place / f"history{number}").write_text(text)
    return imported(folder, place, clocks=clocks)


def queues(run: Run) -> dict[str, float | None]:
    return {job.job: job.queue_seconds for job in run.job_records()}


def lsf_of(*jobs: Ran) -> str:
    return "".join(map(lsb_record, jobs))


def drawn_night(draw: random.Random) -> list[tuple[Ran, float]]:
    """Jobs through a queue of a few slots, first come, first served; each with the start of its session."""
    slots = [0.0] * draw.randint(1, 4)
    submitted = AT
    night = []
    for number in range(draw.randint(5, 25)):
        submitted += draw.choice([0, 1, 30, 300])
        free = heapq.heappop(slots)
        started = float(max(submitted, free))
        real = draw.choice([4, 60, 900])
        begins = started + draw.randint(0, 2)
        ended = begins + real + draw.randint(0, 2)
        heapq.heappush(slots, ended)
        name = draw.choice(["load", f"job_{number}", "report"])
        night.append((Ran(1000 + number, name, submitted, started, ended), begins))
    return night


def overlaps_a_namesake(job: Ran, night: list[tuple[Ran, float]]) -> bool:
    """Whether another job of the name ran, or nearly, at the same time: then a log may fit both."""
    return any(
        other.number != job.number
        and other.name == job.name
        and other.started <= job.ended + 5
        and job.started <= other.ended + 5
        for other, _ in night
    )


@pytest.mark.parametrize("seed", range(8))
def test_queue_times_are_those_of_drawn_nights(tmp_path: Path, seed: int) -> None:
    draw = random.Random(seed)
    night = drawn_night(draw)
    alone = {job.number: not overlaps_a_namesake(job, night) for job, _ in night}
    others = [Ran(1, "other", AT, AT + 5, AT + 9), Ran(2, "load", AT - 9000, AT - 8000, AT - 7000)]
    mixed = [*(job for job, _ in night), *others]
    draw.shuffle(mixed)
    history = draw.choice([lsf_of(*mixed), sacct_json(mixed), orchestrator(mixed)])
    logs = {
        f"{job.name}_20260302{job.number:06d}": (begins, job.ended - begins - 0.5) for job, begins in night
    }
    made, run = shop(tmp_path, logs, history, clocks=UTC_LOGS)
    found = queues(run)
    for job, _ in night:
        told = found[f"{job.name}_20260302{job.number:06d}"]
        waited = job.started - job.submitted
        assert told in ((waited,) if alone[job.number] else (waited, None))
    assert made.schedulers is not None
    known = sorted(value for value in found.values() if value is not None)
    assert made.schedulers.joined == len(known) >= sum(alone.values())
    assert made.schedulers.scheduled == len(mixed)
    queue = StoredView(run).summary.queue
    assert queue is not None and queue.times is not None
    place = 0.95 * (len(known) - 1)
    low = int(place)
    high = known[min(low + 1, len(known) - 1)]
    assert queue.times.p95_seconds == pytest.approx(known[low] + (place - low) * (high - known[low]))
    assert queue.times.median_seconds == (known[len(known) // 2] + known[(len(known) - 1) // 2]) / 2
    assert (queue.times.most_seconds, queue.times.sum_seconds) == (known[-1], sum(known))
    assert [one.queue_seconds for one in queue.longest] == [one for one in known[::-1][:10] if one]
    by_program = {
        program: sorted(
            queue_seconds
            for job in run.job_records()
            if job.program == program and (queue_seconds := job.queue_seconds) is not None
        )
        for program in queue.programs
    }
    assert {name: (one.jobs, one.most_seconds) for name, one in queue.programs.items()} == {
        name: (len(values), values[-1]) for name, values in by_program.items()
    }


def test_every_history_gives_submission_and_queue_time(tmp_path: Path) -> None:
    job = Ran(4711, "load", AT, AT + 300, AT + 900)
    for number, history in enumerate(
        (lsf_of(job), sacct([job]), sacct_json([job]), orchestrator([job]), grid_status([job]))
    ):
        folder = tmp_path / str(number)
        folder.mkdir()
        # A clock without a zone is compared with logs without one.
        clocks = Clocks() if history.startswith(("JobID", "Current")) else UTC_LOGS
        made, run = shop(folder, {"load_20260302": (AT + 301, 590)}, history, clocks=clocks)
        [record] = run.job_records()
        assert (record.submitted_at, record.queue_seconds) == (AT, 300.0)
        assert made.schedulers is not None
        assert (made.schedulers.joined, made.schedulers.none, made.warnings) == (1, 0, [])


def test_several_that_fit_are_counted_and_not_chosen_from(tmp_path: Path) -> None:
    twins = (Ran(1, "load", AT, AT + 9, AT + 600), Ran(2, "load", AT, AT + 30, AT + 620))
    made, run = shop(tmp_path, {"load": (AT + 40, 550), "other": (AT, 60)}, lsf_of(*twins))
    assert queues(run) == {"load": None, "other": None}
    assert made.schedulers is not None
    assert (made.schedulers.joined, made.schedulers.several, made.schedulers.none) == (0, 1, 1)
    assert made.remarks[-1] == (
        "the history of the scheduler (2 jobs) has the submission of 0 of 2 jobs in the logs; 1 fit several "
        "of its jobs; 1 fit none of them"
    )
    assert StoredView(run).summary.queue is None


@pytest.mark.parametrize(("later", "joined"), [(20, 0), (90, 0), (300, 2)])
def test_namesakes_that_run_at_once_are_told_apart_if_they_started_minutes_apart(
    tmp_path: Path, later: int, joined: int
) -> None:
    jobs = (Ran(1, "load", AT, AT + 9, AT + 900), Ran(2, "load", AT, AT + 9 + later, AT + 900))
    logs = {"load_20260302": (AT + 11, 885.0), "load_20260303": (AT + 11 + later, 885.0 - later)}
    made, run = shop(tmp_path, logs, lsf_of(*jobs))
    assert made.schedulers is not None
    assert made.schedulers.joined == joined
    expected = {"load_20260302": 9.0, "load_20260303": 9.0 + later}
    assert queues(run) == (expected if joined else dict.fromkeys(expected))


def test_two_logs_that_fit_one_job_are_not_joined(tmp_path: Path) -> None:
    one = Ran(1, "load", AT, AT + 9, AT + 600)
    logs = {"load_20260302": (AT + 10, 300.0), "load_20260303": (AT + 20, 300.0)}
    made, run = shop(tmp_path, logs, lsf_of(one))
    assert set(queues(run).values()) == {None}
    assert made.schedulers is not None
    assert (made.schedulers.several, made.schedulers.none) == (2, 0)


def test_logs_of_one_name_in_two_folders_are_two_logs(tmp_path: Path) -> None:
    """Each folder is named, so both files are called load.log; one record may be of either."""
    folders = [tmp_path / node for node in ("node1", "node2")]
    for folder, start in zip(folders, (60, 75), strict=True):
        folder.mkdir()
        (folder / "load.log").write_text(log(datetime.fromtimestamp(AT + start, UTC), 300))
    history = tmp_path / "lsb.acct"
    history.write_text(lsf_of(Ran(1, "load", AT, AT + 50, AT + 400)))
    made, run = imported(tmp_path, *folders, history, clocks=UTC_LOGS)
    assert set(queues(run).values()) == {None}
    assert made.schedulers is not None
    assert (made.schedulers.joined, made.schedulers.several, made.schedulers.none) == (0, 2, 0)


@pytest.mark.parametrize(("start", "end"), [(240, 2400), (-1800, 360)])
def test_a_namesake_that_ran_for_half_of_a_log_is_not_its_job(start: float, end: float) -> None:
    """The history lacks the record of the log, such as that of a file that was not given."""
    mine = LogJob("load", "load.log", 1, "load", AT, AT + 600, True)
    other = ScheduledJob(("load",), "2", None, AT - 9000, AT + start, AT + end, True, 60.0)
    assert join([mine], [other], [True]).counts.none == 1
    near = msgspec.structs.replace(other, started_at=AT + 100, ended_at=AT + 500)  # clocks differ
    assert join([mine], [near], [True]).counts.joined == 1


def test_elements_of_an_array_are_told_apart_by_the_number_in_the_name_of_the_log(tmp_path: Path) -> None:
    jobs = [Ran(77, "load[1-3]", AT, AT + 60 * task, AT + 900, task=task) for task in (1, 2, 3)]
    logs = {"load_1": (AT + 400, 300), "load.2": (AT + 400, 300), "load_77_3": (AT + 400, 300)}
    _, run = shop(tmp_path, logs, lsf_of(*jobs))
    assert queues(run) == {"load_1": 60.0, "load.2": 120.0, "load_77_3": 180.0}


def test_the_number_of_the_job_in_the_name_of_the_log_tells_namesakes_apart(tmp_path: Path) -> None:
    jobs = [Ran(number, "load", AT, AT + number, AT + 900) for number in (12, 34)]
    _, run = shop(tmp_path, {"load_12": (AT + 100, 300), "load_34": (AT + 100, 300)}, lsf_of(*jobs))
    assert queues(run) == {"load_12": 12.0, "load_34": 34.0}


def test_sessions_in_one_log_are_of_the_job_of_the_first(tmp_path: Path) -> None:
    place = tmp_path / "shop"
    place.mkdir()
    texts = [log(datetime.fromtimestamp(AT + start, UTC), 100) for start in (60, 950)]
    (place / "load.log").write_text("".join(texts))
    (place / "lsb.acct").write_text(lsf_of(Ran(1, "load", AT, AT + 50, AT + 1400)))
    made, run = imported(tmp_path, place, clocks=UTC_LOGS)
    assert sorted(queues(run).values(), key=str) == [50.0, None]
    assert made.schedulers is not None
    assert (made.schedulers.joined, made.schedulers.later_sessions, made.schedulers.none) == (1, 1, 0)
    # The second began a quarter of an hour after the job, which is no difference of zones.
    assert made.warnings == []


def test_a_record_that_is_there_twice_counts_once(tmp_path: Path) -> None:
    job = Ran(1, "load", AT, AT + 50, AT + 400)
    made, run = shop(tmp_path, {"load": (AT + 60, 300)}, lsf_of(job), lsf_of(job))
    assert queues(run) == {"load": 50.0}
    assert made.schedulers is not None
    assert made.schedulers.scheduled == 1


def test_a_queue_time_that_cannot_be_told_from_other_waits_is_missing_with_its_reason(tmp_path: Path) -> None:
    job = Ran(1, "load", AT, AT + 50, AT + 400)
    made, run = shop(tmp_path, {"load": (AT + 60, 300)}, lsb_record(job, depends='done("extract")'))
    [record] = run.job_records()
    assert (record.submitted_at, record.queue_seconds) == (AT, None)
    summary = StoredView(run).summary
    assert summary.queue is not None
    assert (summary.queue.submitted, summary.queue.times, summary.queue.chain) == (1, None, None)
    assert "other waits" in summary.missing["queue.times"]
    assert any("bsub -w made it depend on other jobs" in remark for remark in made.remarks)


def test_clocks_of_which_one_zone_is_unknown_are_not_compared(tmp_path: Path) -> None:
    """A job of every hour would fit a job of another hour where the zone of the logs is not theirs."""
    jobs = [
        Ran(hour, "load", AT + 3600 * hour, AT + 3600 * hour + 60, AT + 3600 * hour + 900)
        for hour in range(6)
    ]
    made, run = shop(tmp_path, {"load": (AT + 7300, 300)}, lsf_of(*jobs), clocks=Clocks())
    assert queues(run) == {"load": None}
    assert made.schedulers is not None
    assert made.schedulers.other_clocks == 1
    [warning] = made.warnings
    assert "name the other with --timezone KIND=Area/City" in warning
    assert warning in run.facts.remarks


def test_zones_that_were_named_bring_histories_and_logs_together(tmp_path: Path) -> None:
    job = Ran(1, "load", AT, AT + 50, AT + 400)
    zones = Clocks(parse_zones(["slurm=+05:30", "saslog=+02:00"], tuple(IMPORTERS)), {})
    _, run = shop(tmp_path, {"load": (AT + 60 + 7200, 300)}, sacct([job], hours=5.5), clocks=zones)
    [record] = run.job_records()
    assert (record.submitted_at, record.queue_seconds, record.started_at) == (AT, 50.0, AT + 60)


def test_logs_of_another_zone_are_asked_about(tmp_path: Path) -> None:
    jobs = [Ran(number, name, AT, AT + 60 * number, AT + 900) for number, name in enumerate("abc", 1)]
    logs = {job.name: (job.started + 7200 + 5, 300.0) for job in jobs}
    made, _ = shop(tmp_path, logs, lsf_of(*jobs))
    [warning] = made.warnings
    assert warning.startswith(
        "3 logs would start with a job of the scheduler of the same name if moved by -2 h"
    )


def test_logs_without_times_have_no_queue_time(tmp_path: Path) -> None:
    untimed = LogJob("load", "load.log", 1, "load", None, None, True)
    whole = ScheduledJob(("load",), "1", None, AT, AT, AT + 9, True, 0.0)
    assert join([untimed], [whole], [True]).counts.none == 1


def test_very_many_jobs_of_one_name_at_one_time_fit_none_of_them() -> None:
    jobs = [
        ScheduledJob(("load",), str(number), None, AT, AT, AT + 9 + number, True, 0.0)
        for number in range(MOST_LOOKED_AT + 1)
    ]
    found = join([LogJob("load", "load.log", 1, "load", AT, AT + 9, True)], jobs, [True] * len(jobs))
    assert (found.jobs, found.counts.several) == ({}, 1)


@pytest.mark.parametrize(
    ("name", "command", "names"),
    [
        ("load", "", ("load",)),
        ("17:sas:nightly:Load-Customers", "", ("load_customers",)),
        ("load[1-100%5]", "", ("load",)),
        ("load_20260302", "", ("load_20260302", "load")),
        ("", "sas -sysin /shop/load.sas -log '/logs/load_2026.03.02.log'", ("load", "load_2026_03_02")),
        ("C:\\shop\\load.sas", "", ("load",)),
        ("sasbatch.sh", "", ("sasbatch",)),
        ("...", "", ()),
    ],
)
def test_names_of_a_job_are_its_own_and_those_of_its_programs_and_logs(
    name: str, command: str, names: tuple[str, ...]
) -> None:
    assert names_of(name, command) == names


def test_the_names_of_a_log_are_those_of_its_file_and_program() -> None:
    assert names_of_log("night/Load_7_20260302.log.gz", "Load") == [
        [("load_7_20260302", ""), ("load_7", "20260302"), ("load", "7_20260302")],
        [("load_7", "")],
        [("load", "")],
        [("load", "")],
    ]
    assert names_of_log("load.log", "load") == [[("load", "")], [("load", "")]]


def test_the_surest_name_by_which_a_log_fits_any_job_counts(tmp_path: Path) -> None:
    jobs = [Ran(1, "load", AT, AT + 10, AT + 900), Ran(2, "load_7", AT, AT + 20, AT + 900)]
    logs = {"load_7_20260302": (AT + 100, 300), "load_20260302": (AT + 100, 300)}
    _, run = shop(tmp_path, logs, lsf_of(*jobs))
    assert queues(run) == {"load_7_20260302": 20.0, "load_20260302": 10.0}


def test_records_know_their_place(tmp_path: Path) -> None:
    """What joined stays with its job when the run folder is read back."""
    _, run = shop(
        tmp_path, {"b": (AT + 60, 60), "a": (AT + 600, 60)}, lsf_of(Ran(1, "a", AT, AT + 590, AT + 700))
    )
    found: dict[str, JobRecord] = {job.job: job for job in run.job_records()}
    assert (found["a"].submitted_at, found["a"].queue_seconds) == (AT, 590.0)
    assert (found["b"].submitted_at, found["b"].queue_seconds) == (None, None)


@pytest.mark.parametrize("total", [True, False])
@pytest.mark.parametrize("killed", [True, False])
def test_a_log_that_just_stops_is_of_a_lost_job_if_the_scheduler_says_what_ended_it(
    tmp_path: Path, total: bool, killed: bool
) -> None:
    place = tmp_path / "shop"
    place.mkdir()
    (place / "load.log").write_text(log(datetime.fromtimestamp(AT + 60, UTC), 300, total=total))
    state, exit_status = (32, 137 << 8) if killed else (64, 0)
    record = lsb_record(Ran(1, "load", AT, AT + 60, AT + 700), state=state, exit_status=exit_status)
    (place / "lsb.acct").write_text(record)
    made, run = imported(tmp_path, place, clocks=UTC_LOGS)
    assert made.schedulers is not None and made.schedulers.joined == 1
    [job] = run.job_records()
    if killed and not total:
        assert (job.outcome, job.reason) == (
            "lost",
            "the log has no session total, and the scheduler says what ended the job: signal 9",
        )
        assert run.facts.outcome == "failed"
    else:
        assert (job.outcome, job.reason) == ("finished", None)
