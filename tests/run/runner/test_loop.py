"""The loop of a run over a fake launcher: order, failures, interrupts, limits, a lost launcher."""

from __future__ import annotations

import errno
import signal
from pathlib import Path
from typing import Any

import pytest

from mawl.base.errors import UnsuitableMachineError
from mawl.figures.view import StoredView
from mawl.records.model.messages import Release, Start, Stop
from mawl.records.spec.program_options import Role
from mawl.records.store import open_run
from mawl.run.runner.request import Opening
from tests.fakes.launcher import FakeLauncher
from tests.fakes.loop_bench import Bench

FIRST = ["a.1.wide_sort", "a.1.segmentation", "b.1.segmentation"]


def test_a_run_goes_through_its_gate_stages_and_dependencies(tmp_path: Path) -> None:
    bench = Bench(tmp_path, FakeLauncher())
    records = bench.run()
    assert {name: record.outcome for name, record in records.items()} == dict.fromkeys(
        [*FIRST, "a.2.wide_sort", "b.2.segmentation"], "finished"
    )
    sent = bench.launcher.sent
    release = next(place for place, message in enumerate(sent) if isinstance(message, Release))
    assert [message.assignment.job for message in sent[:release] if isinstance(message, Start)] == FIRST
    assert {message.gate for message in sent[release:] if isinstance(message, Start)} == {None}


def test_a_record_leaves_start_up_and_verify_out_and_the_total_in(tmp_path: Path) -> None:
    record = Bench(tmp_path, FakeLauncher()).run()["a.2.wide_sort"]
    assert record.verified is True
    assert record.total.user_cpu_seconds == 1.75
    assert record.usage.user_cpu_seconds == 1.75 - 0.25 - 0.5
    assert record.usage.application_read_bytes == 30 - 10
    assert record.usage.os_memory_bytes == 600, "the peak of verify is not the job's"
    assert record.usage.memory_bytes == 500
    assert record.usage.real_time_seconds == pytest.approx(1.5, abs=0.2)
    assert record.steps == 2


def test_the_jobs_are_sampled_before_the_clock_starts(tmp_path: Path) -> None:
    """A look at many jobs takes time, which is none of the run."""
    bench = Bench(tmp_path, FakeLauncher())
    sample, started = bench.loop.sampling.sampler.sample, []

    def look(pids: Any) -> Any:
        started.append(bench.loop.released_at)
        return sample(pids)

    bench.loop.sampling.sampler.sample = look  # type: ignore[assignment,method-assign]
    bench.run()
    assert started[0] is None and started[-1] == bench.loop.released_at


def test_the_jobs_series_begin_and_end_with_the_run(tmp_path: Path) -> None:
    """A look once a second alone would leave the first second, and the last part of one, to no window."""
    bench = Bench(tmp_path, FakeLauncher())
    bench.run()
    run = open_run(bench.folder)
    samples = StoredView(run).samples
    assert samples is not None
    series = samples.series("n1", "application_read_bytes")
    assert series is not None
    assert series.times[0] == pytest.approx(bench.loop.released_at, abs=1e-3)
    assert series.values[0] == 0.0
    assert series.values[-1] == sum(record.total.application_read_bytes or 0 for record in run.job_records())


def test_the_run_folder_has_every_job_step_and_log(tmp_path: Path) -> None:
    bench = Bench(tmp_path, FakeLauncher({"a.1.segmentation": "fail"}))
    bench.run()
    run = open_run(bench.folder)
    assert run.jobs.num_rows == 5
    assert run.steps.num_rows == 9
    assert len(list((bench.folder / "logs").glob("*.saslog"))) == 5


@pytest.mark.parametrize(
    ("behaviour", "verified", "reason"),
    [
        ("fail", None, "a.1.wide_sort went wrong"),
        ("wrong", False, "a.1.wide_sort went wrong"),
        ("killed", None, "killed by signal 9 after step read"),
        ("silent", None, "ended without an answer after step read"),
    ],
)
def test_a_bad_end_has_its_reason_and_skips_what_depends_on_it(
    behaviour: str, verified: bool | None, reason: str, tmp_path: Path
) -> None:
    records = Bench(tmp_path, FakeLauncher({"a.1.wide_sort": behaviour})).run()
    assert records["a.1.wide_sort"].outcome == "failed"
    assert records["a.1.wide_sort"].verified is verified
    assert reason in (records["a.1.wide_sort"].reason or "")
    assert records["a.2.wide_sort"].outcome == "finished"
    assert records["b.2.segmentation"].outcome == "not_started"
    assert "a.1.wide_sort, which it depends on" in (records["b.2.segmentation"].reason or "")


def test_abort_stops_what_runs_and_starts_nothing_more(tmp_path: Path) -> None:
    launcher = FakeLauncher({"a.1.wide_sort": "hang", "b.1.segmentation": "fail"})
    records = Bench(tmp_path, launcher, on_failure="abort").run()
    assert {name: record.outcome for name, record in records.items()} == {
        "a.1.wide_sort": "stopped",
        "a.1.segmentation": "finished",
        "b.1.segmentation": "failed",
        "a.2.wide_sort": "not_started",
        "b.2.segmentation": "not_started",
    }
    assert "--on-failure is abort" in (records["a.1.wide_sort"].reason or "")


def test_one_interrupt_lets_jobs_end_and_two_stop_them(tmp_path: Path) -> None:
    def interrupt(job: str) -> None:
        if job == FIRST[-1]:
            signal.raise_signal(signal.SIGINT)

    bench = Bench(tmp_path, FakeLauncher(on_start=interrupt))
    records = bench.run()
    assert [records[name].outcome for name in FIRST] == ["finished"] * 3
    assert records["a.2.wide_sort"].outcome == "not_started"
    assert "press Ctrl-C again" in bench.watcher.notices[0]

    def interrupt_twice(job: str) -> None:
        if job == FIRST[-1]:
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)

    (tmp_path / "second").mkdir()
    launcher = FakeLauncher({FIRST[0]: "hang"}, on_start=interrupt_twice)
    records = Bench(tmp_path / "second", launcher).run()
    assert records[FIRST[0]].outcome == "stopped"
    assert records[FIRST[0]].reason == "the run was interrupted (SIGINT)"
    assert records[FIRST[1]].outcome == "finished"


def test_sigterm_stops_at_once(tmp_path: Path) -> None:
    launcher = FakeLauncher(
        dict.fromkeys(FIRST, "hang"),
        on_start=lambda job: signal.raise_signal(signal.SIGTERM) if job == FIRST[-1] else None,
    )
    records = Bench(tmp_path, launcher).run()
    assert [records[name].outcome for name in FIRST] == ["stopped"] * 3


def test_a_job_past_its_time_limit_is_stopped_and_the_rest_goes_on(tmp_path: Path) -> None:
    bench = Bench(tmp_path, FakeLauncher({"a.1.wide_sort": "hang"}), timeout_seconds=0.05)
    records = bench.run()
    assert records["a.1.wide_sort"].outcome == "timed_out"
    assert "time limit of 0.05 s" in (records["a.1.wide_sort"].reason or "")
    assert records["a.2.wide_sort"].outcome == "finished"
    assert sum(isinstance(message, Stop) for message in bench.launcher.sent) == 1


def test_a_lost_launcher_loses_its_jobs_and_the_run_still_has_its_records(tmp_path: Path) -> None:
    launcher = FakeLauncher({"a.1.wide_sort": "hang", "b.1.segmentation": "lose"})
    bench = Bench(tmp_path, launcher)
    records = bench.run()
    assert records["a.1.wide_sort"].outcome == "lost"
    assert records["a.2.wide_sort"].outcome == "not_started"
    assert "killed by signal 9" in (records["a.1.wide_sort"].reason or "")
    assert bench.loop.lost is not None
    assert open_run(bench.folder).jobs.num_rows == 5


def test_a_role_that_is_full_when_a_job_starts_costs_that_job_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = Bench(tmp_path, FakeLauncher())
    make_job = bench.volumes.make_job

    def full(job: str) -> dict[Role, list[Path]]:
        if job == "a.2.wide_sort":
            raise OSError(errno.ENOSPC, "No space left on device", str(tmp_path / "util" / "x"))
        return make_job(job)

    monkeypatch.setattr(bench.volumes, "make_job", full)
    records = bench.run()
    assert {name: record.outcome for name, record in records.items() if record.outcome != "finished"} == {
        "a.2.wide_sort": "failed"
    }
    reason = records["a.2.wide_sort"].reason or ""
    assert "the util directory of the job cannot be made: no space left on device" in reason
    assert "--util" in reason


def test_a_job_that_would_use_the_page_cache_fails_without_a_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = Bench(tmp_path, FakeLauncher())

    def counters(job: str) -> str | None:
        if job == "a.2.wide_sort":
            raise UnsuitableMachineError("--cache none has no effect", why="no counter file for it")
        return None

    monkeypatch.setattr(bench.loop.sampling.roles, "counters", counters)
    records = bench.run()
    assert {name: record.reason for name, record in records.items() if record.outcome != "finished"} == {
        "a.2.wide_sort": "--cache none has no effect: no counter file for it"
    }
    started = [message.assignment.job for message in bench.launcher.sent if isinstance(message, Start)]
    assert "a.2.wide_sort" not in started


def test_a_step_of_the_wall_clock_changes_no_duration(tmp_path: Path) -> None:
    bench = Bench(tmp_path, FakeLauncher({"b.1.segmentation": "stepped clock"}))
    assert bench.run()["b.1.segmentation"].usage.real_time_seconds == pytest.approx(1.5, abs=0.2)


def test_jobs_leave_nothing_under_work_and_util(tmp_path: Path) -> None:
    bench = Bench(tmp_path, FakeLauncher({"a.1.wide_sort": "killed"}))
    bench.run()
    bench.volumes.release()
    assert [path.name for role in ("work", "util", "data") for path in (tmp_path / role).iterdir()] == []


class Agreed(Opening):
    """An opening that stays shut for some looks, and writes down what was asked."""

    def __init__(self, pauses: list[float | None]) -> None:
        self.pauses = pauses
        self.ready_jobs: list[int] = []

    def ready(self, jobs: int) -> None:
        self.ready_jobs.append(jobs)

    def pause_seconds(self) -> float | None:
        return self.pauses.pop(0) if self.pauses else 0.0


def test_the_gate_opens_when_the_nodes_have_agreed(tmp_path: Path) -> None:
    bench = Bench(tmp_path, FakeLauncher())
    opening = Agreed([None, None, 0.01, 0.01])
    bench.loop.opening = opening
    before = bench.loop.monotonic()
    bench.loop.run()
    assert opening.ready_jobs == [3] and opening.pauses == []
    assert bench.loop.released_monotonic is not None and bench.loop.released_monotonic - before >= 0.1
    assert [record.outcome for record in bench.watcher.ended] == ["finished"] * 5


def test_an_interrupt_ends_the_wait_at_the_gate(tmp_path: Path) -> None:
    bench = Bench(tmp_path, FakeLauncher())

    class Shut(Agreed):
        def pause_seconds(self) -> float | None:
            signal.raise_signal(signal.SIGTERM)
            return None

    bench.loop.opening = Shut([])
    records = bench.run()
    assert {record.outcome for record in records.values()} == {"stopped", "not_started"}
