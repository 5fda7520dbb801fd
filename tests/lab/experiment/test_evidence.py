"""Steps of a series, the knee before the first that gains less than half, and what held it.

What a paper says in words beside two arms, and why it is otherwise.
"""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from mawl.figures.comparison.sides import ComparedRun, JobTime, Side
from mawl.lab.experiment.evidence import finding_result, programs_result, saving_result, series_result
from mawl.lab.experiment.records import (
    ArmRun,
    Direction,
    FindingSpec,
    RoleKept,
    SavingResult,
    SavingSpec,
    SeriesResult,
    SeriesSpec,
    VolumeKept,
)
from mawl.records.model.published import published_result
from tests.fakes.stored_run import facts
from tests.fakes.views import partly


def arm(name: str, seconds: float, device_bytes: float, cpu: float = 4.0) -> Side:
    summary: dict[str, Any] = {
        "time": {
            "elapsed_seconds": 10.0,
            "real_time_seconds": seconds,
            "user_cpu_seconds": cpu,
            "system_cpu_seconds": 0.0,
        },
        "volumes": [{"role": "work", "devices": ["loop0"]}, {"role": "util", "devices": ["loop0"]}],
        "host": {"device": {"loop0": {"read_bytes": 0.0, "written_bytes": device_bytes}}},
        "io": {
            "application": {"read_bytes": 1e9, "written_bytes": 1e9},
        },
    }
    return Side(label=name, runs=(ComparedRun(facts=facts(), summary=partly(summary), jobs={}),))


def spec(direction: Direction) -> FindingSpec:
    return FindingSpec(
        source="paper",
        text="words",
        figure="time.real_time_seconds",
        reference="none",
        candidate="software",
        direction=direction,
    )


@pytest.mark.parametrize(
    ("seconds", "found"), [(91.0, "alike"), (109.0, "alike"), (89.0, "lower"), (111.0, "higher")]
)
def test_less_than_a_tenth_is_alike(seconds: float, found: str) -> None:
    arms = {"none": arm("none", 100.0, 1e9), "software": arm("software", seconds, 1e9)}
    judged = finding_result(spec("alike"), arms, "A Paper")
    assert judged.found == found
    assert judged.agrees is (found == "alike")


def test_where_it_is_otherwise_the_report_says_why() -> None:
    arms = {"none": arm("none", 100.0, 1e9), "software": arm("software", 50.0, 2e8, cpu=6.0)}
    judged = finding_result(spec("higher"), arms, "A Paper")
    assert judged.agrees is False
    assert "1.00 GB -> 200 MB for the same application bytes, fewer" in judged.reasons[0]
    assert judged.reasons[-1].endswith("CPU time of the jobs 4.00 s -> 6.00 s")


def test_an_arm_that_did_not_run_is_not_judged() -> None:
    judged = finding_result(spec("lower"), {"none": arm("none", 100.0, 1e9)}, "A Paper")
    assert judged.agrees is None
    assert judged.reasons == ["the figure is not known of both arms"]


ARMS = {"one": 1, "two": 2, "four": 4, "eight": 8}
SPEC = SeriesSpec(title="volumes", arms=list(ARMS), roles=["work", "util"])
CAP = 30e6


def step(name: str, rate: float, *, jobs: float = 16.0, uneven: float = 1.0) -> Side:
    """A run of 10 s whose volumes, each of work and util, wrote ``rate``; the first ``uneven`` times more."""
    names = [f"loop{number}" for number in range(ARMS[name])]
    parts = [uneven, *(1.0 for _ in names[1:])]
    summary: dict[str, Any] = {
        "time": {"elapsed_seconds": 10.0},
        "jobs": {"mean_concurrent": jobs},
        "volumes": [
            *({"role": role, "devices": [device]} for role in ("work", "util") for device in names),
            {"role": "data", "devices": ["inputs"]},
        ],
        "host": {
            "device": {
                device: {"read_bytes": 0.0, "written_bytes": 10.0 * rate * part / sum(parts)}
                for device, part in zip(names, parts, strict=True)
            }
            | {"inputs": {"read_bytes": 1e9, "written_bytes": 1e9}}
        },
    }
    return Side(label=name, runs=(ComparedRun(facts=facts(), summary=partly(summary), jobs={}),))


def judged(*sides: Side, own_cpu: float = 0.2) -> SeriesResult:
    runs = {
        side.label: ArmRun(
            arm=side.label,
            run_id="r",
            folder="f",
            outcome="completed",
            speed_factor=1.0,
            cpu_busy_ratio=None,
            own_cpu_ratio=own_cpu,
        )
        for side in sides
    }
    caps = {name: count * CAP for name, count in ARMS.items()}
    return series_result(SPEC, {side.label: side for side in sides}, runs, caps)


def test_steps_count_devices_once_and_leave_other_roles_out() -> None:
    found = judged(step("one", 30e6), step("two", 45e6))
    assert [one.volumes for one in found.steps] == [1, 2]
    assert [one.bytes_per_second for one in found.steps] == [pytest.approx(30e6), pytest.approx(45e6)]
    assert found.steps[1].gain_ratio == pytest.approx(0.5)
    assert [one.cap_share_ratio for one in found.steps] == [pytest.approx(1.0), pytest.approx(0.75)]


def test_exactly_half_of_the_ideal_is_no_knee_and_less_is() -> None:
    assert judged(step("one", 30e6), step("two", 45.01e6)).knee is None
    found = judged(step("one", 30e6), step("two", 44e6))
    assert (found.knee, found.knee_volumes) == ("one", 1)


def test_the_first_of_several_such_steps_is_the_knee() -> None:
    found = judged(step("one", 30e6), step("two", 58e6), step("four", 70e6), step("eight", 75e6))
    assert (found.knee, found.knee_volumes) == ("two", 2)
    assert "4 volumes move 70.0 MB/s instead of 58.0 MB/s" in found.sentence


@pytest.mark.parametrize(
    ("figures", "own_cpu", "words"),
    [
        ({"jobs": 3.5}, 0.2, "fewer streams than 8 volumes"),
        ({"uneven": 4.0}, 0.2, "of what the busiest moved"),
        ({}, 0.8, "80 % of the processors"),
        ({}, 0.2, "caps, processors, streams and evenness do not explain it"),
    ],
)
def test_what_held_the_step_after_the_knee(figures: dict[str, float], own_cpu: float, words: str) -> None:
    found = judged(step("four", 100e6), step("eight", 110e6, **figures), own_cpu=own_cpu)
    assert len(found.reasons) == 1
    assert words in found.reasons[0]


def test_a_device_without_figures_gives_no_rate_and_no_knee() -> None:
    side = step("two", 60e6)
    host = side.runs[0].summary.host
    assert host is not None and host.device is not None
    del host.device["loop1"]
    found = judged(step("one", 30e6), side)
    assert found.steps[1].bytes_per_second is None
    assert (found.knee, found.sentence) == (
        None,
        "no knee can be found: bytes at a device are not known of every step",
    )


def test_a_series_of_one_step_says_so() -> None:
    assert msgspec.to_builtins(judged(step("one", 30e6)))["sentence"].startswith("a series needs two steps")


NAME = "e880-xiv-compressed-30"
SAVING_SPEC = SavingSpec(arm="software", storage="btrfs", codec="zstd", level=1, published=NAME)


def judged_saving(*volumes: tuple[int, int], estimated: float | None = 0.88) -> SavingResult:
    kept = RoleKept(
        arm="software",
        role="work",
        codec="zstd-1",
        storage="btrfs",
        source="btrfs (compsize)",
        volumes=[
            VolumeKept(volume=f"v{number}", original_bytes=original, stored_bytes=stored)
            for number, (original, stored) in enumerate(volumes)
        ],
        estimated_saving_ratio=estimated,
        half_width_ratio=0.0,
        block_bytes=131072,
    )
    return saving_result(kept, [SAVING_SPEC], {NAME: published_result(NAME)}, {NAME: "A Paper"})


@pytest.mark.parametrize(("stored", "agrees"), [(100, True), (149, True), (151, False), (89, False)])
def test_three_points_are_the_bound(stored: int, agrees: bool) -> None:
    found = judged_saving((1000, stored))
    assert found.agrees is agrees
    assert found.off_ratio == pytest.approx(0.12 - stored / 1000)


def test_a_role_is_weighted_by_bytes_and_stands_beside_the_paper() -> None:
    found = judged_saving((3000, 300), (1000, 200))
    assert found.saving_ratio == pytest.approx(1 - 500 / 4000)
    assert found.spread_ratio == pytest.approx(0.1)
    assert found.published_saving_ratio == pytest.approx(0.79)


def test_a_volume_with_next_to_nothing_is_left_out_of_the_spread() -> None:
    assert judged_saving((1000, 100), (1000, 110), (10, 10)).spread_ratio == pytest.approx(0.01)


def test_nothing_there_is_no_figure() -> None:
    found = judged_saving(estimated=None)
    assert (found.saving_ratio, found.agrees, found.spread_ratio) == (None, None, None)


NOISE = (1.0, 1.01, 0.99, 1.005, 0.995)


def arm_of_programs(name: str, runs: int, first: int = 0, **seconds: float) -> Side:
    """Every second run, from the ``first`` on, with a job of each program."""
    return Side(
        label=name,
        runs=tuple(
            ComparedRun(
                facts=facts(started_at=float(first + 2 * place)),
                summary=partly({}),
                jobs={
                    program: JobTime(program=program, real_time_seconds=real * noise)
                    for program, real in seconds.items()
                },
            )
            for place, noise in enumerate(NOISE[:runs])
        ),
    )


def test_five_runs_an_arm_are_judged_program_by_program() -> None:
    found = programs_result(
        arm_of_programs("as-found", 5, wide_sort=10.0, text_topics=2.0, ledger_update=3.0),
        arm_of_programs("profile", 5, 1, wide_sort=4.0, text_topics=2.0, ledger_update=4.0),
    )
    assert (found.judged, found.runs) == (True, [5, 5])
    assert (found.faster, found.slower, found.not_told_apart) == (1, 1, 1)
    assert [change.program for change in found.changes] == ["wide_sort", "text_topics", "ledger_update"]
    first = found.changes[0]
    assert first.verdict == "faster"
    assert first.low_ratio is not None and first.high_ratio is not None
    assert first.low_ratio < first.change_ratio < first.high_ratio
    assert first.change_ratio == pytest.approx(-0.6)


def test_one_run_an_arm_is_counted_and_not_judged() -> None:
    found = programs_result(
        arm_of_programs("as-found", 1, wide_sort=10.0, text_topics=2.0),
        arm_of_programs("profile", 1, wide_sort=4.0, text_topics=2.1),
    )
    assert (found.judged, found.verdict) == (False, "not judged")
    assert (found.faster, found.slower, found.ran_shorter, found.ran_longer) == (0, 0, 1, 1)
