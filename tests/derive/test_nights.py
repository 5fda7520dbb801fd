"""Many nights thinned to a few: which stand for which, and how far their sums are off."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import msgspec
import pytest

from mawl.base.errors import UsageError
from mawl.base.units import parse_instant
from mawl.commands.main import main
from mawl.derive.derive import Derivation, DeriveRequest, derive
from mawl.derive.document import document, nights_parts, write_nights
from mawl.derive.nights import derive_nights, parse_daily, thinned
from mawl.figures.nights import DailyWindow, Night
from mawl.plan.derived_jobs import load_derived
from mawl.records.model.records import JobRecord, Usage
from mawl.reports.document import rendered, terminal
from tests.derive.shop import OTHER_WORDS, START, WORDS, log, logs
from tests.derive.test_derive import KEEP, run_of
from tests.fakes.schedulers import Ran, lsb_record, sacct
from tests.fakes.stored_run import job

WINDOW = parse_daily("20:00/06:00")
DAY = 86400.0
FIRST = parse_instant("2026-03-02T21:00:00Z")


def ran(night: int, cpu: float, *, number: int = 1) -> JobRecord:
    """A job of a night, that begins at 21:00 or some minutes later."""
    started = FIRST + night * DAY + number * 60.0
    usage = Usage(real_time_seconds=2 * cpu, user_cpu_seconds=cpu, system_cpu_seconds=0.0)
    return msgspec.structs.replace(
        job(f"n{night}.{number}", 0.0, 1.0), started_at=started, ended_at=started + 2 * cpu, usage=usage
    )


def test_alike_nights_are_one_and_a_heavy_one_stands_for_itself() -> None:
    jobs = [ran(night, 100.0 + night % 3) for night in range(9)] + [
        ran(9, 4000.0, number=number) for number in range(5)
    ]
    found, nights = thinned(jobs, WINDOW, 2)
    assert [(one.number, one.nights) for one in found.chosen] == [(1, 1), (2, 9)]
    assert found.chosen[0].load.cpu_seconds == 20000.0
    assert found.chosen[0].load.peak_jobs == 5
    assert nights[0] == WINDOW.of(FIRST + 9 * DAY)
    assert found.errors["cpu_seconds"] == pytest.approx(0.0, abs=0.001)
    assert found.errors["peak_jobs"] == 0.0
    assert found.errors["block_bytes"] is None


def test_what_no_log_has_is_not_known() -> None:
    jobs = [ran(night, 10.0 * (night + 1)) for night in range(3)]
    found, _ = thinned(jobs, WINDOW, 2)
    assert [one.load.block_bytes for one in found.chosen] == [None, None]
    row = terminal(nights_parts(found, "year")).splitlines()[3]
    assert row.split()[-2:] == ["-", "1"]
    usage = msgspec.structs.replace(jobs[0].usage, block_input_operations=4)
    found, _ = thinned([msgspec.structs.replace(jobs[0], usage=usage), *jobs[1:]], WINDOW, 3)
    assert sorted((one.load.block_bytes for one in found.chosen), key=str) == [2048.0, None, None]
    counted = msgspec.structs.replace(jobs[0].usage, block_input_operations=4, block_output_operations=0)
    on_aix = [msgspec.structs.replace(jobs[0], usage=counted), *jobs[1:]]
    unsized, _ = thinned(on_aix, WINDOW, 3, {jobs[0].node})
    assert [one.load.block_bytes for one in unsized.chosen] == [None, None, None]
    read = msgspec.structs.replace(on_aix[0], usage=usage)
    unsized, _ = thinned([read, *jobs[1:]], WINDOW, 3, {jobs[0].node})
    assert [one.load.block_bytes for one in unsized.chosen] == [None, None, None]
    assert found.errors["block_bytes"] is None


def test_a_job_without_an_end_is_not_counted_as_running_all_night() -> None:
    ended = [ran(0, 10.0, number=number) for number in range(3)]
    cut = [msgspec.structs.replace(ran(0, 10.0, number=number), ended_at=None) for number in range(3, 8)]
    found, _ = thinned([*ended, *cut], WINDOW, 1)
    assert (found.chosen[0].load.jobs, found.chosen[0].load.peak_jobs) == (8, 1)


def test_as_many_as_there_are_miss_nothing() -> None:
    jobs = [ran(night, 10.0 * (night + 1)) for night in range(5)]
    found, _ = thinned(jobs, WINDOW, 5)
    assert {one.nights for one in found.chosen} == {1}
    assert {error for error in found.errors.values() if error is not None} == {0.0}


def test_nights_that_are_all_alike_still_stand_for_one_another() -> None:
    found, _ = thinned([ran(night, 10.0) for night in range(6)], WINDOW, 2)
    assert sum(one.nights for one in found.chosen) == 6
    assert min(one.nights for one in found.chosen) >= 1


def test_a_night_goes_over_midnight_in_the_zone_of_the_logs() -> None:
    berlin = DailyWindow(20 * 60, 6 * 60, ZoneInfo("Europe/Berlin"))
    at = datetime(2026, 3, 3, 4, 59, tzinfo=UTC).timestamp()
    start = datetime(2026, 3, 2, 19, 0, tzinfo=UTC).timestamp()
    assert berlin.of(at) == Night(start, start + 10 * 3600)
    assert berlin.of(at + 60) is None
    assert parse_daily("01:00/05:00").of(parse_instant("2026-03-02T00:30:00Z")) is None


@pytest.mark.parametrize(
    "text", ["", "20:00", "2026-03-02T20:00/06:00", "24:00/06:00", "20:00/20:00", "20:61/06:00"]
)
def test_a_window_of_every_day_is_two_clock_times(text: str) -> None:
    with pytest.raises(UsageError, match="expected a window of every day"):
        parse_daily(text)


def test_more_nights_than_there_are_is_refused() -> None:
    with pytest.raises(UsageError, match="1 such night with jobs"):
        thinned([ran(1, 1.0)], WINDOW, 2)


def test_each_night_has_a_folder_and_its_jobs_their_weight(tmp_path: Path) -> None:
    texts = logs(WORDS)
    for day in ("05", "06"):
        texts[f"later{day}.log"] = log(OTHER_WORDS, 30).replace("03/02/2026", f"03/{day}/2026")
    run = run_of(tmp_path, texts)
    thinning, nights = derive_nights(run, DeriveRequest(), WINDOW, 2)
    (tmp_path / "year").mkdir()
    write_nights(tmp_path / "year", thinning, nights)
    assert [one.nights for one in thinning.chosen] == [1, 2]
    weights = [
        {one.weight for one in load_derived(tmp_path / "year" / name / "derived.json").jobs}
        for name in ("night-1", "night-2")
    ]
    assert weights == [{1.0}, {2.0}]
    content = "".join(path.read_text() for path in (tmp_path / "year").rglob("*.json"))
    assert not any(word in content for word in WORDS.values())


NIGHT = msgspec.structs.replace(KEEP, night=Night(START, START + 10 * 3600))
FIRST_JOB = Ran(1, WORDS["program"], START + 580, START + 599, START + 960)
BESIDE = Ran(2, WORDS["ledger"], START + 800, START + 839, START + 1201)


def derived(
    folder: Path, submitted: float, request: DeriveRequest = NIGHT, eligible: float | None = None
) -> Derivation:
    """The shop's night: the second job of its first session starts 1 s after the end of the first job."""
    second = Ran(3, WORDS["program"], START + submitted, START + 961, START + 1322, eligible)
    texts = {**logs(WORDS), "history.txt": sacct([FIRST_JOB, BESIDE, second])}
    return derive(run_of(folder, texts), request)


def test_a_job_that_waited_while_another_ran_does_not_start_before_it_could_run(tmp_path: Path) -> None:
    found = derived(tmp_path, 720)
    first, beside, second = found.workload.jobs
    assert (first.start_seconds, first.after) == (600.0, ())
    assert (beside.start_seconds, beside.after) == (840.0, ())
    # The log starts 0.2 s after the scheduler's job, which waited 241 s.
    assert second.start_seconds == pytest.approx(720, abs=0.5)
    assert second.after == (first.name,)


def test_its_earliest_start_counts_and_not_its_submission(tmp_path: Path) -> None:
    second = derived(tmp_path, 60, eligible=START + 900).workload.jobs[2]
    assert second.start_seconds == pytest.approx(900, abs=0.5)


@pytest.mark.parametrize("submitted", [959.5, 960, 961, pytest.param(-500, id="before the night")])
def test_a_job_that_was_submitted_when_another_had_ended_follows_it_alone(
    tmp_path: Path, submitted: float
) -> None:
    second = derived(tmp_path, submitted).workload.jobs[2]
    assert (second.start_seconds, len(second.after)) == (0.0, 1)


def test_scale_shortens_the_clock_of_the_queue_and_closed_arrivals_have_none(tmp_path: Path) -> None:
    scaled = derived(tmp_path / "a", 720, msgspec.structs.replace(NIGHT, scale=0.1)).workload.jobs[2]
    assert scaled.start_seconds == pytest.approx(72, abs=0.05)
    closed = derived(tmp_path / "b", 720, msgspec.structs.replace(NIGHT, arrivals="closed"))
    assert {job.start_seconds for job in closed.workload.jobs} == {0.0}
    assert closed.evidence.queue is not None
    assert closed.evidence.queue.not_before == 0
    assert "the derived night has no queue" not in rendered(document(closed.evidence, "shop"), "text")


def test_the_evidence_has_queue_times_that_a_scheduler_tells_and_no_name(tmp_path: Path) -> None:
    found = derived(tmp_path, 720, msgspec.structs.replace(NIGHT, keep_names=False)).evidence
    queue = found.queue
    assert queue is not None and queue.times is not None and queue.chain is not None
    assert (queue.submitted, queue.not_before, queue.times.jobs) == (3, 1, 3)
    assert [job.queue_seconds for job in found.jobs] == [19.0, 39.0, 241.0]
    assert (queue.times.median_seconds, queue.times.most_seconds) == (39.0, 241.0)
    # From 10:00 (less 19 s of queue) to 22:01, with about a second between the two jobs.
    assert queue.chain.jobs == 2
    assert queue.chain.queue_seconds == pytest.approx(20, abs=0.5)
    assert queue.chain.length_seconds == pytest.approx(740, abs=1.5)
    text = " ".join(rendered(document(found, "shop"), "text").split())
    assert (
        "the history of the scheduler has the submission of 3 of 3 jobs; in the queue: median 39.0 s" in text
    )
    assert "1 job that followed another cannot start before the time" in text
    assert found.rules["queue"].startswith("the history of a scheduler tells it")
    written = msgspec.json.encode(found).decode() + rendered(document(found, "derived"), "html")
    assert not [word for word in WORDS.values() if word.lower() in written.lower()]


def test_without_a_history_the_evidence_has_no_queue(tmp_path: Path) -> None:
    found = derive(run_of(tmp_path, logs(WORDS)), NIGHT).evidence
    assert found.queue is None
    assert "queue" not in found.rules
    assert {job.queue_seconds for job in found.jobs} == {None}


def test_the_command_says_what_the_history_tells_and_asks_for_a_zone_that_it_needs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in logs(WORDS).items():
        Path(name).write_text(text)
    for name, text in (("lsb.acct", lsb_record(FIRST_JOB)), ("sacct.txt", sacct([FIRST_JOB]))):
        Path(name).write_text(text)
        assert main(["derive", *sorted(logs(WORDS)), name, "--output", f"shop-{name}"]) == 0
    absolute, _, local = capsys.readouterr().out.rpartition("shop-lsb.acct")
    assert "warning   2 logs cannot be joined to the scheduler's jobs" in absolute
    assert "have a clock that cannot be compared with the scheduler's" in absolute
    assert "remark    the history of the scheduler (1 job) has the submission of 1 of 3 jobs" in local
    assert "; 2 fit none of them" in local
