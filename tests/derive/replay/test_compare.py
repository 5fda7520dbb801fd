"""A run of derived jobs against the logs: figures that the test works out of the text of the logs itself."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from msgspec.structs import replace

from mawl.base.errors import UnreadableRunError, UsageError
from mawl.derive.derive import Derivation, DeriveRequest, derive
from mawl.derive.replay.compare import NO_CLOCK, replay
from mawl.derive.replay.records import Replay
from mawl.derive.replay.tables import NOT_A_FINDING
from mawl.figures.nights import Night
from mawl.records.model.node import NodeRun
from mawl.records.model.records import JobRecord
from mawl.records.spec.run_spec import RunSpec
from mawl.records.store import Run, open_run
from mawl.records.store.folder import RunWriter
from tests.derive.shop import OTHER_WORDS, START, WORDS, log, logs
from tests.derive.test_derive import run_of
from tests.fakes.replayed import MORE_CPU, MORE_MEMORY, SLOWER, replayed_run
from tests.fakes.stored_run import PLAN, facts

NIGHT = Night(START, START + 3600)
HASHED = DeriveRequest(night=NIGHT)
MIB = 2**20
MOVED = {"s1.DATA": 200, "s2.SORT": 400, "s3.OTHER": 100}
"""MiB that the block operations of a step are, of a job of 100 MB in ``shop.log``."""

CPU = {"s1.DATA": 30.0, "s2.SORT": 240.0, "s3.OTHER": 60.0}
REAL = 120.0
MEMORY = 50 * MIB


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """The logs of three jobs."""
    return run_of(tmp_path_factory.mktemp("logs"), logs(WORDS))


@pytest.fixture(scope="module")
def derived(shop: Run) -> Derivation:
    return derive(shop, HASHED)


@pytest.fixture(scope="module")
def found(shop: Run, derived: Derivation, tmp_path_factory: pytest.TempPathFactory) -> Replay:
    return replay(shop, replayed_run(tmp_path_factory.mktemp("ran") / "run", derived.workload))


def test_every_step_has_what_its_log_tells_and_what_the_run_measured(found: Replay) -> None:
    assert (found.counted.matched, found.counted.jobs, found.counted.steps) == (3, 3, 9)
    assert (found.counted.by_order, found.counted.not_finished, found.counted.steps_missing) == (0, 0, 0)
    for one in found.steps:
        half = 0.5 if one.program == WORDS["ledger"] else 1.0
        figures = one.figures
        assert (figures.real_seconds.logs, figures.real_seconds.run) == (REAL, REAL * SLOWER)
        assert (figures.cpu_seconds.logs, figures.cpu_seconds.run) == (
            CPU[one.step],
            CPU[one.step] * MORE_CPU,
        )
        assert (figures.memory_bytes.logs, figures.memory_bytes.run) == (MEMORY, MEMORY * MORE_MEMORY)
        assert figures.moved_bytes.logs == pytest.approx(MOVED[one.step] * MIB * half, rel=0.01)
        assert [figures.real_seconds.ratio, figures.cpu_seconds.ratio, figures.memory_bytes.ratio] == [
            SLOWER,
            MORE_CPU,
            MORE_MEMORY,
        ]
        assert figures.moved_bytes.ratio == pytest.approx(1.0)
        roles = (figures.data_bytes, figures.work_bytes, figures.util_bytes)
        assert math.fsum(part.run or 0.0 for part in roles) == figures.moved_bytes.run


def test_names_are_those_of_the_logs_although_the_folder_has_none(found: Replay) -> None:
    assert {one.program for one in found.steps} == {WORDS["program"], WORDS["ledger"]}
    assert {one.program for one in found.programs} == {WORDS["program"], WORDS["ledger"]}
    assert all(one.run_job != one.job and one.program in one.job for one in found.steps)


def test_programs_and_all_steps_are_summed(found: Replay) -> None:
    first, second = found.programs
    assert [(one.program, one.jobs, one.steps) for one in (first, second)] == [
        (WORDS["program"], 2, 6),
        (WORDS["ledger"], 1, 3),
    ]
    assert (first.figures.real_seconds.logs, first.figures.real_seconds.run) == (6 * REAL, 9 * REAL)
    assert (second.figures.cpu_seconds.logs, second.figures.cpu_seconds.run) == (330.0, 412.5)
    assert found.total.real_seconds.logs == 9 * REAL
    assert found.total.memory_bytes.logs == MEMORY
    assert found.total.moved_bytes.logs == pytest.approx(2.5 * 700 * MIB, rel=0.01)


def test_how_near_single_steps_come(found: Replay) -> None:
    near = {one.figure: (one.steps, one.median, one.high) for one in found.closeness}
    assert near["real_seconds"] == (9, SLOWER, SLOWER)
    assert near["cpu_seconds"] == (9, MORE_CPU, MORE_CPU)
    assert near["memory_bytes"] == (9, MORE_MEMORY, MORE_MEMORY)
    assert near["moved_bytes"][0] == 9


def test_a_faster_run_is_as_far_away_as_a_slower_one(shop: Run, derived: Derivation, tmp_path: Path) -> None:
    found = replay(shop, replayed_run(tmp_path / "run", derived.workload, slower=1 / SLOWER))
    real = next(one for one in found.closeness if one.figure == "real_seconds")
    assert real.median == pytest.approx(SLOWER)


def test_the_night_of_both_sides_with_the_chain_that_ended_last(found: Replay) -> None:
    logged, ran = found.logs_night, found.run_night
    assert logged is not None and ran is not None
    # 20:10 and 20:16:01 are the starts of a chain in the logs, which ended at 20:22:01.
    assert (logged.started_seconds, logged.ended_seconds) == pytest.approx((600, 1321), abs=1.1)
    assert logged.spare_seconds == pytest.approx(3600 - 1321, abs=1.1)
    # In the run each job lasts 540 s, and the second starts when the first has ended.
    assert (ran.started_seconds, ran.ended_seconds) == pytest.approx((600, 600 + 2 * 540))
    assert ran.spare_seconds == pytest.approx(3600 - 1680)
    for night in (logged, ran):
        assert [one.program for one in night.chain] == [WORDS["program"]] * 2
        assert night.chain[1].started_seconds >= night.chain[0].ended_seconds - 1
    assert found.due_seconds == 3600


def test_the_curves_of_jobs_against_a_count_of_every_tenth_of_a_second(
    found: Replay, shop: Run, derived: Derivation
) -> None:
    at_once = found.jobs_at_once
    assert at_once is not None and at_once.jobs == 3
    logged = [(job.started_at or 0.0, job.ended_at or 0.0) for job in shop.job_records()]
    logged = [(start - START, end - START) for start, end in logged]
    ran = [(600.0, 1140.0), (1140.0, 1680.0), (840.0, 1380.0)]

    def count(spans: list[tuple[float, float]], tick: int) -> int:
        return sum(start <= (tick + 0.5) / 10 < end for start, end in spans)

    ticks = range(20_000)
    before, after = (sum(count(spans, tick) for tick in ticks) / 10 for spans in (logged, ran))
    apart = sum(abs(count(logged, tick) - count(ran, tick)) for tick in ticks) / 10
    assert (at_once.logs_job_seconds, at_once.run_job_seconds) == pytest.approx((before, after), abs=0.5)
    assert at_once.area_difference_ratio == pytest.approx(abs(after - before) / before, abs=1e-3)
    assert at_once.area_between_ratio == pytest.approx(apart / before, abs=1e-3)
    assert (at_once.logs_peak, at_once.run_peak) == (2, 2)


def test_the_sentence_has_time_and_night_and_a_line_says_that_it_is_no_finding(found: Replay) -> None:
    assert found.sentence == (
        "9 steps of 3 jobs took 27 min 00 s in 20260101-080000-tiny, +50 % against the 18 min 00 s of the "
        "logs; the night was held with 32 min 00 s to spare, in the logs held with 37 min 59 s to spare"
    )
    assert found.not_a_finding == NOT_A_FINDING
    assert found.remarks == []


def test_a_tenth_of_the_load_is_compared_with_a_tenth_of_the_logs(shop: Run, tmp_path: Path) -> None:
    small = derive(shop, replace(HASHED, scale=0.1))
    found = replay(shop, replayed_run(tmp_path / "run", small.workload))
    assert found.scale == 0.1 and found.counted.matched == 3
    assert found.total.real_seconds.logs == pytest.approx(9 * REAL / 10)
    assert found.total.real_seconds.ratio == pytest.approx(SLOWER)
    assert found.total.cpu_seconds.ratio == pytest.approx(MORE_CPU)
    assert found.total.memory_bytes.ratio == pytest.approx(MORE_MEMORY, rel=1e-6)
    assert found.total.moved_bytes.ratio == pytest.approx(1.0)
    assert found.logs_night is not None and found.run_night is not None
    assert found.logs_night.ended_seconds == pytest.approx(132.1, abs=0.2)
    assert found.run_night.ended_seconds == pytest.approx(168)
    assert found.jobs_at_once is not None
    assert found.jobs_at_once.logs_job_seconds == pytest.approx(108, abs=0.3)
    assert any("times 0.1" in text for text in found.remarks)
    assert "of the logs (times 0.1)" in found.sentence


def test_growth_is_in_bytes_and_cpu_time_of_the_logs_and_not_in_their_real_time(
    shop: Run, tmp_path: Path
) -> None:
    grown = derive(shop, replace(HASHED, growth=1.3))
    found = replay(shop, replayed_run(tmp_path / "run", grown.workload))
    assert found.growth == 1.3
    assert found.total.real_seconds.logs == 9 * REAL
    assert found.total.cpu_seconds.ratio == pytest.approx(MORE_CPU)
    assert found.total.moved_bytes.logs == pytest.approx(1.3 * 2.5 * 700 * MIB, rel=0.01)
    memory = {one.step: one.figures.memory_bytes.logs for one in found.steps}
    # The third step computes, so its memory grows with the rows.
    assert memory == {"s1.DATA": MEMORY, "s2.SORT": MEMORY, "s3.OTHER": pytest.approx(1.3 * MEMORY)}
    assert any("times 1.3" in text for text in found.remarks)


def test_a_run_at_another_scale_has_steps_and_no_night(
    shop: Run, derived: Derivation, tmp_path: Path
) -> None:
    workload = replace(facts().workload, scale=0.5)
    found = replay(shop, replayed_run(tmp_path / "run", derived.workload, workload=workload))
    assert found.scale == 0.5
    assert found.total.real_seconds.ratio == pytest.approx(SLOWER)
    assert found.total.moved_bytes.ratio == pytest.approx(1.0, abs=1e-6)
    assert found.run_night is None and found.jobs_at_once is None
    assert any("--scale 0.5" in text for text in found.remarks)
    assert "night" not in found.sentence


def test_jobs_that_started_in_turn_have_steps_and_no_night(
    shop: Run, derived: Derivation, tmp_path: Path
) -> None:
    closed = replayed_run(tmp_path / "closed", derived.workload, spec=RunSpec(arrivals="closed"))
    found = replay(shop, closed)
    assert found.run_night is None and any("--arrivals closed" in text for text in found.remarks)
    lanes = derive(shop, replace(HASHED, arrivals="closed"))
    found = replay(shop, replayed_run(tmp_path / "lanes", lanes.workload))
    assert found.counted.matched == 3 and found.run_night is None
    # The three jobs of the shop have equal steps, and nothing but the clock told which is which.
    assert found.counted.by_order == 3
    assert found.remarks[-1] == f"the night and the jobs at a time are not compared: {NO_CLOCK}"


def test_without_a_window_no_night_is_held(shop: Run, tmp_path: Path) -> None:
    found = replay(shop, replayed_run(tmp_path / "run", derive(shop, DeriveRequest()).workload))
    assert found.run_night is not None and found.run_night.spare_seconds is None
    assert found.run_night.started_seconds == 0.0
    assert found.jobs_at_once is not None
    assert "night was" not in found.sentence


@pytest.mark.parametrize("keep", [True, False])
def test_jobs_of_a_part_of_the_logs_are_found(tmp_path: Path, keep: bool) -> None:
    texts = logs(WORDS)
    name = f"{WORDS['ledger']}.log"
    shop = run_of(tmp_path / "logs", {**texts, name: texts[name].replace("0:30.00", "0:31.00")})
    only = replace(HASHED, only=[f"{WORDS['ledger']}*"], keep_names=keep)
    found = replay(shop, replayed_run(tmp_path / "run", derive(shop, only).workload))
    assert {one.program for one in found.steps} == {WORDS["ledger"]}
    assert found.remarks == [
        "2 of 3 jobs of the logs are left out: no job of the run was derived from them (--night, --only, "
        "--without)"
    ]


def test_jobs_that_failed_are_counted_and_left_out(shop: Run, derived: Derivation, tmp_path: Path) -> None:
    names = [job.name for job in derived.workload.jobs]
    found = replay(
        shop, replayed_run(tmp_path / "run", derived.workload, failed=names[:1], without=names[1:2])
    )
    assert (found.counted.matched, found.counted.not_finished, found.counted.jobs) == (3, 2, 1)
    assert found.counted.steps == 3
    assert found.sentence.startswith("2 of 3 jobs did not finish; 3 steps of 1 job took ")
    assert "the night was missed, as 2 jobs did not finish" in found.sentence
    assert found.jobs_at_once is not None and found.jobs_at_once.jobs == 1


def test_a_run_without_a_finished_job_cannot_be_compared(
    shop: Run, derived: Derivation, tmp_path: Path
) -> None:
    names = [job.name for job in derived.workload.jobs]
    with pytest.raises(UsageError, match="of 3 jobs none finished with a right answer"):
        replay(shop, replayed_run(tmp_path / "run", derived.workload, failed=names))


def test_a_step_that_the_run_lacks_is_counted(shop: Run, derived: Derivation, tmp_path: Path) -> None:
    first = derived.workload.jobs[0]
    shorter = replace(first, steps=first.steps[:2])
    ran = replayed_run(
        tmp_path / "ran", replace(derived.workload, jobs=(shorter, *derived.workload.jobs[1:]))
    )
    whole = replayed_run(tmp_path / "whole", derived.workload)
    (ran.path / "derived.json").write_bytes((whole.path / "derived.json").read_bytes())
    found = replay(shop, ran)
    assert (found.counted.steps, found.counted.steps_missing) == (8, 1)
    assert "the run has no record of 1 step" in found.remarks


def test_without_io_by_role_bytes_are_not_compared(shop: Run, derived: Derivation, tmp_path: Path) -> None:
    found = replay(shop, replayed_run(tmp_path / "run", derived.workload, counted=False))
    assert found.total.moved_bytes.run is None
    assert found.steps[0].figures.moved_bytes.ratio is None
    assert "bytes are not compared: the run did not count I/O by role" in found.remarks


def test_logs_of_another_shop_are_told_apart(derived: Derivation, tmp_path: Path) -> None:
    """The same programs and steps, which took other times."""
    texts = {name: text.replace("2:00.00", "2:00.01") for name, text in logs(OTHER_WORDS).items()}
    other = run_of(tmp_path / "other", texts)
    ran = replayed_run(tmp_path / "run", derived.workload)
    with pytest.raises(UsageError, match="was not derived from the logs of run: 0 of its 3 jobs have"):
        replay(other, ran)


def test_equal_steps_of_another_night_are_told_apart_by_the_clock(shop: Run, tmp_path: Path) -> None:
    """Three jobs of equal steps; only two of them are of the night that the run was derived from."""
    texts = {f"a_{number}.log": log(WORDS, minutes) for number, minutes in enumerate((5, 30, 50))}
    every = run_of(tmp_path / "three", texts)
    late = derive(every, DeriveRequest(night=Night(START + 1200, START + 7200)))
    found = replay(every, replayed_run(tmp_path / "run", late.workload))
    assert (found.counted.matched, found.counted.by_order, found.counted.logs_jobs) == (2, 0, 3)
    assert found.logs_night is not None
    # On the clock of a night from 20:20 on: the jobs of 20:30 and 20:50.
    assert found.logs_night.started_seconds == pytest.approx(600, abs=1.1)
    assert found.logs_night.ended_seconds == pytest.approx(30 * 60 + 360, abs=1.1)
    assert {one.job for one in found.steps} == {job.job for job in started_after(every, START + 1200)}


def test_nights_that_nothing_tells_apart_are_said_to_be_matched_by_order(tmp_path: Path) -> None:
    """Equal jobs at equal distances: those of 20:05 and 20:30 fit as well as those of 20:30 and 20:55."""
    texts = {f"a_{number}.log": log(WORDS, minutes) for number, minutes in enumerate((5, 30, 55))}
    every = run_of(tmp_path / "three", texts)
    late = derive(every, DeriveRequest(night=Night(START + 1200, START + 7200)))
    found = replay(every, replayed_run(tmp_path / "run", late.workload))
    assert (found.counted.matched, found.counted.by_order) == (2, 2)
    assert "2 jobs were matched by their order: others have the same steps and times" in found.remarks


def started_after(run: Run, moment: float) -> list[JobRecord]:
    return [job for job in run.job_records() if job.started_at is not None and job.started_at >= moment]


def test_logs_without_a_job_are_no_logs_of_this_run(derived: Derivation, tmp_path: Path) -> None:
    some = facts(kind="imported")
    RunWriter(tmp_path / "empty", some, plan=PLAN).finish(some)
    with pytest.raises(UsageError, match="0 of its 3 jobs have the steps"):
        replay(open_run(tmp_path / "empty"), replayed_run(tmp_path / "run", derived.workload))


def test_a_run_that_lost_its_derived_jobs_is_one_sentence(
    shop: Run, derived: Derivation, tmp_path: Path
) -> None:
    ran = replayed_run(tmp_path / "run", derived.workload)
    (ran.path / "derived.json").unlink()
    with pytest.raises(UnreadableRunError, match=r"has no derived\.json"):
        replay(shop, open_run(ran.path))


def test_a_run_that_repeats_the_night_on_several_nodes_is_refused(
    shop: Run, derived: Derivation, tmp_path: Path
) -> None:
    nodes = [
        NodeRun(node=name, run_id=name, workload="shop", sessions=2, jobs=3, outcome="completed")
        for name in ("one", "two")
    ]
    with pytest.raises(UsageError, match="repeats the night on 2 nodes"):
        replay(shop, replayed_run(tmp_path / "run", derived.workload, node_runs=nodes))


def test_a_measured_run_is_compared_like_its_logs(derived: Derivation, tmp_path: Path) -> None:
    """Derived from a run folder: here from that of a run of derived jobs, which is a run like any."""
    first = replayed_run(tmp_path / "first", derived.workload)
    again = derive(first, DeriveRequest())
    found = replay(first, replayed_run(tmp_path / "again", again.workload, slower=1.0))
    assert found.counted.matched == 3
    assert found.total.real_seconds.ratio == pytest.approx(1.0)
