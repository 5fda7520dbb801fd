"""Derived jobs that were in the queue of a scheduler: when they may start, and what the evidence says."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from mawl.commands.main import main
from mawl.derive.derive import Derived, DeriveRequest, derive
from mawl.derive.page import html_of
from mawl.derive.text import text_of
from mawl.figures.nights.nights import Night
from tests.derive.shop import START, WORDS, logs
from tests.derive.test_derive import KEEP, run_of
from tests.fakes.schedulers import Ran, lsb_record, sacct

NIGHT = msgspec.structs.replace(KEEP, night=Night(START, START + 10 * 3600))
FIRST = Ran(1, WORDS["program"], START + 580, START + 599, START + 960)
BESIDE = Ran(2, WORDS["ledger"], START + 800, START + 839, START + 1201)


def derived(
    folder: Path, submitted: float, request: DeriveRequest = NIGHT, eligible: float | None = None
) -> Derived:
    """The shop's night: the second job of its first session starts 1 s after the end of the first job."""
    second = Ran(3, WORDS["program"], START + submitted, START + 961, START + 1322, eligible)
    texts = {**logs(WORDS), "history.txt": sacct([FIRST, BESIDE, second])}
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


@pytest.mark.parametrize("submitted", [959.5, 960, 961])
def test_a_job_that_was_submitted_when_another_had_ended_follows_it_alone(
    tmp_path: Path, submitted: float
) -> None:
    second = derived(tmp_path, submitted).workload.jobs[2]
    assert (second.start_seconds, len(second.after)) == (0.0, 1)


def test_a_submission_before_the_night_is_no_time_of_it(tmp_path: Path) -> None:
    second = derived(tmp_path, -500).workload.jobs[2]
    assert (second.start_seconds, len(second.after)) == (0.0, 1)


def test_scale_shortens_the_clock_of_the_queue_and_closed_arrivals_have_none(tmp_path: Path) -> None:
    scaled = derived(tmp_path / "a", 720, msgspec.structs.replace(NIGHT, scale=0.1)).workload.jobs[2]
    assert scaled.start_seconds == pytest.approx(72, abs=0.05)
    closed = derived(tmp_path / "b", 720, msgspec.structs.replace(NIGHT, arrivals="closed"))
    assert {job.start_seconds for job in closed.workload.jobs} == {0.0}
    assert closed.evidence.queue is not None
    assert closed.evidence.queue.not_before == 0
    assert "the derived night has no queue" not in text_of(closed.evidence, "shop")


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
    text = " ".join(text_of(found, "shop").split())
    assert (
        "the history of the scheduler has the submission of 3 of 3 jobs; in the queue: median 39.0 s" in text
    )
    assert "1 job that followed another cannot start before the time" in text
    assert found.rules["queue"].startswith("the history of a scheduler tells it")
    written = msgspec.json.encode(found).decode() + html_of(found)
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
    for name, text in (("lsb.acct", lsb_record(FIRST)), ("sacct.txt", sacct([FIRST]))):
        Path(name).write_text(text)
        assert main(["derive", *sorted(logs(WORDS)), name, "--output", f"shop-{name}"]) == 0
    absolute, local = capsys.readouterr().out.split("shop-lsb.acct")
    assert "warning   2 logs cannot be joined to the scheduler's jobs" in absolute
    assert "have a clock that cannot be compared with the scheduler's" in absolute
    assert "remark    the history of the scheduler (1 job) has the submission of 1 of 3 jobs" in local
    assert "; 2 fit none of them" in local
