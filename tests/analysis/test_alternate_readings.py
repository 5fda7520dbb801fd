"""Sums of jobs that were read in turns: what the jobs really gained at each second is recovered."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from mawl.analysis.alternate_readings import READ_IN_TURNS, evened
from mawl.analysis.moments import moments
from mawl.analysis.over_time import over_time
from mawl.analysis.series import RunSamples
from mawl.analysis.throughput import APPLICATION
from mawl.analysis.windows import Windows
from mawl.model.records import SampleRecord
from mawl.store.columns import to_table
from tests.fakes.measured_run import IDLE
from tests.fakes.measured_run import samples as steady
from tests.fakes.stored_run import START, facts

LOOKS = 30
CPU, QUEUE = READ_IN_TURNS[-2:]
Rates = Sequence[float]


def stored(rates: Rates, running: Callable[[int], int] | None = None) -> RunSamples:
    """Jobs of constant ``rates``, one a place: even places have their turn at even looks, odd ones at odd.

    With up to eight jobs all are read.
    """
    known = [0.0] * len(rates)
    rows = []
    for look in range(LOOKS + 1):
        jobs = running(look) if running else len(rates)
        for place, rate in enumerate(rates):
            if jobs <= 8 or place % 2 == look % 2:
                known[place] = rate * look
        values = {"jobs_running": float(jobs), CPU: sum(known), QUEUE: 0.0, "other": sum(known)}
        values |= {f"role.{role}.waited_seconds": 0.0 for role in ("data", "work", "util")}
        for name, value in values.items():
            rows.append(SampleRecord(node="bench1", sampled_at=START + look, series=name, value=value))
    return RunSamples(to_table("samples", rows))


def values(samples: RunSamples, name: str = CPU) -> list[float]:
    series = samples.series("bench1", name)
    assert series is not None
    return [float(value) for value in series.values]


def test_true_rates_of_two_unlike_halves_are_recovered() -> None:
    zigzag = stored([0.9, 0.2] * 5)
    assert set(np.diff(values(zigzag)).round(6)[2:-1]) == {2.0, 9.0}
    found = values(evened(zigzag))
    assert np.diff(found)[1:-1].tolist() == pytest.approx([5.5] * (LOOKS - 2))
    assert found[1:-1] == pytest.approx([5.5 * look for look in range(1, LOOKS)])


def test_first_and_last_value_stand_and_the_counter_never_falls() -> None:
    zigzag = stored([0.9, 0.0] * 5)
    before, after = values(zigzag), values(evened(zigzag))
    assert (after[0], after[-1]) == (before[0], before[-1])
    assert min(np.diff(after)) >= 0.0


def test_a_counter_that_fell_is_not_carried_on_below_what_was_stored() -> None:
    """A job whose counters were lost takes its sum away: the look before it gains nothing from that."""
    jobs = [0.9] * 10
    rows = [
        SampleRecord(node="bench1", sampled_at=START + look, series=name, value=value)
        for look, whole in enumerate((0.0, 9.0, 18.0, 3.0, 12.0, 21.0))
        for name, value in (("jobs_running", float(len(jobs))), (CPU, whole), (QUEUE, 0.0))
    ]
    samples = RunSamples(to_table("samples", rows))
    assert all(
        after >= before for before, after in zip(values(samples), values(evened(samples)), strict=True)
    )


def test_few_jobs_and_other_series_stay_as_they_were_read() -> None:
    few, many = stored([0.9, 0.2] * 4), stored([0.9, 0.2] * 5)
    assert evened(few) is few
    assert values(evened(many), "other") == values(many, "other")


def test_only_the_stretch_with_many_jobs_is_evened() -> None:
    zigzag = stored([0.5] * 10, running=lambda look: 10 if look < 15 else 8)
    found = values(evened(zigzag))
    assert found[1:] == pytest.approx([5.0 * look for look in range(1, LOOKS + 1)])
    assert found[15:] == values(zigzag)[15:]


def test_course_and_windows_of_jobs_that_never_block_show_none_blocked() -> None:
    zigzag = stored([1.0, 1.0] * 5)
    even = evened(zigzag)
    span = (START + 2.0, START + LOOKS - 2.0)

    def by_second(samples: RunSamples) -> float:
        return float(over_time(facts(), samples, span).columns["jobs_blocked_other"].sum())

    assert by_second(even) == pytest.approx(0.0)
    windows = Windows(seconds=5.0, edges=tuple(START + edge for edge in (3, 8, 13, 18, 23)), active=4)
    blocked = [moment.jobs_blocked for moment in moments(even, windows, APPLICATION)]
    assert [parts["other"] for parts in blocked if parts] == pytest.approx([0.0] * 4)
    uneven = stored([1.0, 1.0, 1.0, 0.0] * 3)
    assert by_second(evened(uneven)) == pytest.approx(3.0 * (span[1] - span[0]))


def test_a_run_of_one_look_and_one_without_jobs_are_left_alone() -> None:
    short = steady(0, {**IDLE, "jobs_running": 20.0})
    assert values(evened(short)) == values(short)
    assert evened(RunSamples(to_table("samples", []))).nodes == []
