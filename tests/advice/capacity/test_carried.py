"""Carried or not, on runs whose slowdown, reach and length are known.

What to do about an import: its load as a workload, by a command that works.
"""

from __future__ import annotations

import json
import re
import shlex
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from mawl.advice.capacity.bounds import CapacityBounds
from mawl.advice.capacity.judgement import capacity_of
from mawl.advice.capacity.slowdown import by_program, percentile, slowdowns
from mawl.advice.judge import judged as judge_all
from mawl.commands.main import main
from mawl.figures.view import RunView, StoredView
from mawl.records.model.records import JobRecord
from mawl.records.model.role_io import Waits
from mawl.records.model.run import Alone, AloneRun
from mawl.records.model.summary.io import Foreign
from mawl.reports.html import report
from tests.fakes.clustered_run import node_run
from tests.fakes.measured_run import IDLE, WORKLOAD, four_jobs, reading_of, samples
from tests.fakes.nightly_logs import nightly
from tests.fakes.probes import MB, disk, probe, probe_test, target
from tests.fakes.stored_run import facts, job, jobs
from tests.fakes.views import judge, judged, partly, plain
from tests.importers.test_import import imported, log, write
from tests.importers.test_nights import TEN, linux

COMMAND = ": mawl "


def next_step(folder: Path, *paths: Path) -> str:
    _, run = imported(folder, *paths)
    step = judged(StoredView(run))["capacity"]["next_step"]
    assert isinstance(step, str)
    return step


def test_the_longest_of_several_nights_becomes_a_workload(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    slow = {1: 1.5}
    logs = nightly(tmp_path / "logs", datetime(2026, 10, 5, 20), 3, zone=UTC, slow=slow)
    step, _, command = next_step(tmp_path, logs).partition(COMMAND)
    said = r"make a workload of the longest period \(5 h 47 min, in whole minutes\)"
    assert re.match(said, step), step
    assert "--night 2026-10-06T" in command
    monkeypatch.chdir(tmp_path)
    assert main(shlex.split(command)) == 0
    assert (tmp_path / "derived" / "workload.toml").is_file()
    assert "14 jobs" in capsys.readouterr().out


def test_a_night_with_a_failed_job_is_passed_over(tmp_path: Path) -> None:
    logs = nightly(tmp_path / "logs", datetime(2026, 10, 5, 20), 3, zone=UTC, slow={1: 1.5, 2: 1.2})
    failed = logs / "close_books_20261006.log"
    head, found, rest = failed.read_text().partition("NOTE: DATA statement")
    failed.write_text(f"{head}ERROR: File WORK.BOOKS.DATA does not exist.\n{found}{rest}")
    _, run = imported(tmp_path, logs)
    summary = judged(StoredView(run))
    assert found and summary["capacity"]["answer"] == "not carried"
    assert "--night 2026-10-07T" in summary["capacity"]["next_step"]
    assert "the longest period without a failed job (" in summary["capacity"]["next_step"]
    page = report.render(StoredView(run), judge_all(StoredView(run)))
    assert "derive run --night 2026-10-07T" in " ".join(re.sub("<[^>]+>", " ", page).split())


def test_a_run_elsewhere_is_named_by_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    logs = write(tmp_path / "logs", a=log(TEN, 600))
    here, elsewhere = tmp_path / "here", tmp_path / "else where" / "night"
    here.mkdir()
    monkeypatch.chdir(here)
    elsewhere.parent.mkdir()
    assert main(["import", str(logs), "--output", str(elsewhere)]) == 0
    assert main(["import", str(logs), "--output", "runs/own"]) == 0
    capsys.readouterr()
    for given, named in ((str(elsewhere), str(elsewhere)), ("runs/own", "own")):
        assert main(["report", given, "--format", "json"]) == 0
        command = json.loads(capsys.readouterr().out)["capacity"]["next_step"].partition(COMMAND)[2]
        assert shlex.split(command)[:2] == ["derive", named]
        assert main([*shlex.split(command)[:-1], str(tmp_path / f"derived-{given[-3:]}")]) == 0
        capsys.readouterr()
        assert main(["report", given]) == 0
        shown = "".join(capsys.readouterr().out.split())  # long paths are broken over lines
        assert f"mawlderive{shlex.quote(named)}".replace(" ", "") in shown
        assert main(["report", given, "--format", "html", "--output", str(tmp_path / "page.html")]) == 0
        page = (tmp_path / "page.html").read_text()
        assert str(tmp_path) not in page.partition("<script")[0], "a page is read anywhere"


def test_a_period_that_only_a_recording_has_is_not_derived(tmp_path: Path) -> None:
    night = write(tmp_path / "logs", a=log(TEN, 600), b=log(TEN + timedelta(days=1), 600))
    recording = tmp_path / "lab1.nmon"
    recording.write_text("".join(linux(TEN + timedelta(days=2), 60)))
    assert "--night 2026-" in (step := next_step(tmp_path, night, recording))
    assert f"--night {TEN + timedelta(days=2):%Y-%m-%d}" not in step


def test_one_night_needs_no_window_and_recordings_need_logs(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    step = next_step(tmp_path / "one", write(tmp_path / "logs", a=log(TEN, 600)))
    assert step.startswith("make a workload of these logs") and "--night" not in step
    recording = tmp_path / "lab1.nmon"
    recording.write_text("".join(linux(TEN, 60)))
    assert next_step(tmp_path / "two", recording).startswith("import the logs of the jobs, too")


SECONDS = 59.5
"""Real time of each of the four jobs of the fake."""


def waits(compute: float, storage: float, other: float = 0.0) -> Waits:
    return Waits(
        on_cpu_seconds=0.5 * compute,
        run_queue_seconds=0.5 * compute,
        blocked_data_seconds=storage,
        blocked_work_seconds=0.0,
        blocked_util_seconds=0.0,
        blocked_other_seconds=other,
    )


def alone(compute: float, storage: float, names: list[str] | None = None, runs: int = 3) -> list[Alone]:
    names = names or [f"s{number}-1" for number in range(1, 5)]
    one = AloneRun(run_id="solo", real_time_seconds=compute + storage, waits=waits(compute, storage))
    return [
        Alone(
            program="wide_sort",
            jobs=names,
            real_time_seconds=compute + storage,
            run_id="solo",
            runs=[one] * runs,
        )
    ]


def four(compute: float, storage: float) -> list[JobRecord]:
    """The four jobs with the parts of their time."""
    return [msgspec.structs.replace(one, waits=waits(compute, storage)) for one in four_jobs(60.0)]


def block(
    reading: RunView, bounds: CapacityBounds | None = None, **more: Any
) -> tuple[dict[str, Any], dict[str, str]]:
    missing: dict[str, str] = {}
    return plain(capacity_of(reading, bounds or CapacityBounds(), missing, **more)), missing


def run_of(
    mix: tuple[float, float] = (30.0, 29.5),
    own: list[Alone] | None = None,
    *,
    reach: tuple[float | None, float | None] = (0.95, 0.9),
    active: float = 1500.0,
    **changes: Any,
) -> RunView:
    """Four jobs whose times are ``mix`` (compute, storage), against times alone of (20, 20)."""
    of = {"outcome": "completed", "workload": WORKLOAD, "alone": alone(20.0, 20.0) if own is None else own}
    reading = reading_of(of=facts(**{**of, **changes}), jobs=four(*mix))
    io = reading.summary.io
    io.reach.read_ratio, io.reach.write_ratio = reach
    io.application.read_bytes, io.application.written_bytes = 8e9, 2e9
    reading.summary.time.active_seconds = active
    return reading


def test_both_parts_within_the_bound_make_a_system_that_carries() -> None:
    capacity, missing = block(run_of())
    assert (capacity["answer"], capacity["carried"], capacity["preliminary"]) == ("carried", True, False)
    assert capacity["slowdown"]["median"] == pytest.approx(59.5 / 40.0)
    assert capacity["compute"]["median"] == pytest.approx(50.0 / 40.0)
    assert capacity["storage"]["median"] == pytest.approx(49.5 / 40.0)
    assert capacity["reasons"][:4] == [
        "all 4 jobs finished",
        "jobs took 1.49 times as long as alone (median; 1.49 to 1.49; bound 2.00)",
        "compute carries: 1.25 times as long as alone by waiting for processors (1.25 to 1.25; bound 2.00)",
        "storage carries: 1.24 times as long as alone by waiting for storage (1.24 to 1.24; bound 2.00)",
    ]
    assert capacity["next_step"] is None and missing["capacity.next_step"]


@pytest.mark.parametrize(
    ("mix", "compute", "storage"),
    [((110.0, 20.0), "not carried", "carried"), ((20.0, 110.0), "carried", "not carried")],
)
def test_each_part_has_its_own_answer(mix: tuple[float, float], compute: str, storage: str) -> None:
    capacity, _ = block(longer(mix))
    assert (capacity["compute"]["answer"], capacity["storage"]["answer"]) == (compute, storage)
    assert (capacity["answer"], capacity["carried"]) == ("not carried", False)


def longer(mix: tuple[float, float], **changes: Any) -> RunView:
    """The same where jobs took the sum of their parts."""
    reading = run_of(mix, **changes)
    jobs = [
        msgspec.structs.replace(one, usage=msgspec.structs.replace(one.usage, real_time_seconds=sum(mix)))
        for one in reading.jobs
    ]
    view = RunView(reading.facts, jobs, reading.samples)
    view.summary = reading.summary
    return view


def test_parts_that_are_too_much_together_are_not_carried() -> None:
    """1.75 and 1.75 are 2.5 together."""
    capacity, _ = block(longer((50.0, 50.0)))
    assert [capacity[part]["answer"] for part in ("compute", "storage")] == ["carried", "carried"]
    assert capacity["answer"] == "not carried"
    assert block(longer((50.0, 50.0)), CapacityBounds(most_slowdown=3.0))[0]["answer"] == "carried"


def test_perfect_storage_carries_for_the_rate_that_the_processors_could_ask() -> None:
    reading = longer((110.0, 0.0))
    rate = reading.summary.io.device.sustained.total_bytes_per_second
    capacity, _ = block(reading, limit=partly({"limit": {"verdict": "cpu"}}).limit)
    assert (capacity["storage"]["answer"], capacity["compute"]["answer"]) == ("carried", "not carried")
    assert capacity["storage"]["median"] < 1.0
    assert capacity["storage"]["asked_bytes_per_second"] == rate
    said = "storage carries the 135 MB/s that the processors could ask: "
    assert any(one.startswith(said) for one in capacity["reasons"])


def test_nine_seconds_out_of_the_page_cache_are_no_yes() -> None:
    """A run of `bed` at 0.003 in 1 GiB: reach 0.24 and 0.47, 9.7 s."""
    capacity, _ = block(run_of(reach=(0.24, 0.47), active=9.7, command=["/x/mawl", "run", "bed", "--solo"]))
    assert (capacity["answer"], capacity["carried"], capacity["preliminary"]) == ("not known", None, None)
    assert capacity["compute"]["answer"] == "carried"
    assert capacity["storage"]["reason"] == "only 24 % of the bytes read reached a device (80 % required)"
    assert capacity["next_step"] == "run without the page cache: mawl run bed --solo --cache none"


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"reach": (0.95, 0.5)}, "only 50 % of the bytes written reached a device"),
        ({"reach": (None, 0.9)}, "how many of the bytes read reached a device is not known"),
        ({"active": 59.0}, "the active phase is only 59.0 s long (60.0 s required)"),
    ],
)
def test_storage_is_answered_only_where_it_was_asked(changes: dict[str, Any], reason: str) -> None:
    capacity, _ = block(run_of(**changes, command=["mawl", "run", "x", "--solo", "--scale", "quick"]))
    storage = capacity["storage"]
    larger = "use a larger scale: mawl run x --solo --scale full"
    assert capacity["next_step"] == (
        larger
        if "active" in changes
        else "run without the page cache: mawl run x --solo --scale quick --cache none"
    )
    assert storage["answer"] == "not known" and reason in storage["reason"]
    assert storage["median"] == pytest.approx(49.5 / 40.0)


def test_a_direction_that_hardly_moved_is_not_asked_for_its_reach() -> None:
    reading = run_of(reach=(0.95, 0.0))
    application = reading.summary.io.application
    application.read_bytes, application.written_bytes = 9.6e9, 0.4e9
    assert block(reading)[0]["storage"]["answer"] == "carried"


def test_an_answer_of_some_minutes_is_preliminary() -> None:
    capacity, _ = block(run_of(active=600.0))
    assert (capacity["answer"], capacity["preliminary"]) == ("carried", True)


def test_an_interval_across_the_bound_is_not_known() -> None:
    own = alone(20.0, 20.0)
    runs = [AloneRun(run_id="a", real_time_seconds=at, waits=waits(at - 1, 1.0)) for at in (20.0, 31.0, 45.0)]
    own = [msgspec.structs.replace(own[0], runs=runs)]
    capacity, _ = block(run_of((58.5, 1.0), own, command=["mawl", "run", "four", "--output", "x", "--solo"]))
    assert capacity["compute"]["answer"] == "not known"
    assert "lies on both sides of the bound 2.00" in capacity["compute"]["reason"]
    assert capacity["next_step"] == "repeat the run: mawl run four --solo --repeat 5"


def test_without_a_time_alone_it_is_not_known_and_says_what_to_do() -> None:
    capacity, missing = block(
        run_of(own=[], command=["/usr/bin/mawl", "run", "my load.toml", "--cores", "2"])
    )
    assert capacity["carried"] is None
    assert "mawl run --solo" in missing["capacity.carried"]
    assert capacity["next_step"] == "time the programs alone: mawl run 'my load.toml' --cores 2 --solo"


@pytest.mark.parametrize(("runs", "reason"), [(0, "no parts"), (1, "only once"), (2, "only 2 times")])
def test_fewer_than_three_runs_alone_do_not_answer(runs: int, reason: str) -> None:
    """A folder of an older format has one time and not where it went."""
    capacity, _ = block(run_of(own=alone(20.0, 20.0, runs=runs), command=[]))
    assert capacity["slowdown"]["median"] == pytest.approx(59.5 / 40.0)
    assert capacity["compute"]["answer"] == capacity["storage"]["answer"] == "not known"
    assert reason in capacity["compute"]["reason"]
    assert capacity["next_step"].endswith("mawl run four --scale standard --solo")


def test_one_job_is_not_all_of_several() -> None:
    single = facts(outcome="completed", workload=msgspec.structs.replace(WORKLOAD, sessions=1, jobs=1))
    assert block(reading_of(of=single, jobs=four_jobs(60.0)[:1]))[0]["reasons"][0] == "its 1 job finished"


def test_a_failed_job_is_not_carried_whatever_else_is_unknown() -> None:
    some = four_jobs(60.0)
    some[0] = job("s1-1", 0.0, 60.0, outcome="failed")
    capacity, _ = block(reading_of(jobs=some))
    assert (capacity["carried"], capacity["next_step"]) == (False, None)
    assert "1 of 4 jobs failed: s1-1 (failed)" in capacity["reasons"][0]


def test_the_guideline_is_judged_by_a_probe_or_a_run_that_storage_limited() -> None:
    capacity, missing = block(run_of())
    guideline = capacity["guideline"]
    assert guideline["bytes_per_second_per_core"] == pytest.approx(67.5e6)
    assert (guideline["basis"], guideline["standing"], guideline["met"]) == (None, None, None)
    assert "did not limit this run and was not probed" in missing["capacity.guideline.met"]
    assert capacity["reasons"][-1].endswith("per vCPU; use mawl probe")
    assert capacity["carried"] is True
    guideline = block(run_of(), limit=partly({"limit": {"verdict": "storage"}}).limit)[0]["guideline"]
    assert (guideline["basis"], guideline["standing"], guideline["met"]) == ("run", "below", False)
    capacity = block(run_of(), probe=probe(disk()))[0]
    guideline = capacity["guideline"]
    assert (guideline["basis"], guideline["standing"], guideline["met"]) == ("probe", "warn", True)
    assert guideline["bytes_per_second_per_core"] == 100 * MB
    candidate = target("usb", [probe_test("read", 10), probe_test("write", 10)], devices=["sdz"])
    assert block(run_of(), probe=probe(disk(), candidate))[0]["guideline"] == guideline, "it holds no role"
    other, why = block(run_of(), probe=probe(candidate))
    assert other["guideline"]["basis"] is None
    assert "no target of the probe holds one of its roles" in why["capacity.guideline.met"]
    assert capacity["reasons"][-1] == (
        "guideline 100 MB/s (good: 150 MB/s): met: a probe found 100 MB/s per vCPU"
    )


def test_bytes_of_others_answer_nothing() -> None:
    reading = run_of()
    reading.summary.io.foreign = Foreign(
        read_bytes=15e9, written_bytes=0.0, total_bytes_per_second=250e6, ratio=0.7
    )
    capacity, missing = block(reading, limit=partly({"limit": {"verdict": "storage"}}).limit)
    assert (capacity["guideline"]["met"], capacity["storage"]["answer"]) == (None, "not known")
    why = "other programs moved 15.0 GB at the devices of the roles"
    assert why in missing["capacity.guideline.met"] and why in capacity["storage"]["reason"]
    assert capacity["next_step"].startswith("end other programs, then run again: mawl run")


def test_slowdown_by_job_and_program_over_those_that_count() -> None:
    own = [
        *alone(5.0, 5.0, ["s1-1", "s2-1", "s3-1"]),
        Alone(program="census_load", jobs=["s1-2"], real_time_seconds=5.0, run_id="x"),
    ]
    found = slowdowns(jobs(), own)
    assert found.by_job() == {"s1-1": 2.0, "s2-1": 3.0, "s1-2": 2.0}
    assert by_program(found) == {"wide_sort": 2.5, "census_load": 2.0}


def test_percentiles_lie_straight_between_neighbours() -> None:
    assert percentile([1.0, 2.0, 3.0], 0.9) == pytest.approx(2.8)
    assert percentile([4.0], 0.9) == 4.0


def test_the_judged_summary_has_every_block_and_a_reason_for_every_null() -> None:
    of = facts(outcome="completed", workload=WORKLOAD, alone=alone(15.0, 15.0))
    reading = reading_of(of=of)
    whole = judge(of, reading.jobs, plain(reading.summary), samples(60, IDLE))
    assert whole["programs"]["wide_sort"]["slowdown"] == pytest.approx(SECONDS / 30.0)
    assert whole["limit"]["verdict"] == "none"
    assert whole["validity"]["status"] == "preliminary"
    assert "limit" not in whole["missing"] and whole["missing"]["limit.second"]
    decided = {one["name"]: one["bound"] for one in whole["thresholds"]}
    assert decided["capacity.most_slowdown"] == 2.0 and decided["validity.repeats.fewest_runs"] == 5
    strict = judge(
        of, reading.jobs, plain(reading.summary), samples(60, IDLE), CapacityBounds(most_slowdown=1.5)
    )
    (own,) = [one for one in strict["thresholds"] if one["name"] == "capacity.most_slowdown"]
    assert (own["bound"], own["source"]) == (1.5, "set by the user (mawl.toml)")


@pytest.mark.parametrize("outcome", ["interrupted", "running"])
@pytest.mark.parametrize("end", ["lost", "stopped", "not_started"])
def test_a_run_that_did_not_go_through_is_carried_or_not_by_a_job_that_failed_only(
    outcome: str, end: str
) -> None:
    some = four(100.0, 20.0)
    some[0] = job("s1-1", 0.0, 60.0, outcome=end)
    cut = facts(outcome=outcome, workload=WORKLOAD, alone=alone(10.0, 10.0))
    capacity, missing = block(reading_of(of=cut, jobs=some))
    assert capacity["slowdown"]["median"] > 2.0
    assert capacity["carried"] is None
    assert "3 of 4 jobs finished" in missing["capacity.carried"]
    some[1] = job("s2-1", 0.0, 60.0, outcome="failed")
    capacity, _ = block(reading_of(of=cut, jobs=some))
    assert capacity["carried"] is False
    assert "1 of 4 jobs failed: s2-1 (failed)" in capacity["reasons"][0]


def test_a_run_that_went_through_is_not_carried_where_a_job_was_lost() -> None:
    some = four_jobs(60.0)
    some[0] = job("s1-1", 0.0, 60.0, outcome="lost")
    capacity, _ = block(reading_of(of=facts(outcome="failed", workload=WORKLOAD), jobs=some))
    assert capacity["carried"] is False


def test_a_run_on_several_nodes_is_told_the_command_for_one() -> None:
    command = ["mawl", "run", "four", "--cluster", "tcp://10.0.0.1:8786", "--link=10Gbit", "--scale", "quick"]
    capacity, _ = block(run_of(own=[], command=command, node_runs=[node_run("n1", 0.0), node_run("n2", 0.1)]))
    assert capacity["next_step"] == (
        "time the programs alone, on one node: mawl run four --scale quick --solo"
    )
