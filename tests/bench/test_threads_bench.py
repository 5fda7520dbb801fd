"""The bench of threads says what a second thread costs on a crowded machine, and what it gains alone."""

from __future__ import annotations

import pytest

from bench.threads import Figures, Round, crowd_rows, gain, gain_row


def _rounds(alone: list[tuple[float, float]], crowd: list[tuple[float, float]]) -> list[Round]:
    """Rounds from (real, CPU) seconds of the job alone, and of each of two jobs in a crowd."""
    return [
        Round(Figures(*one), (Figures(*each), Figures(*each))) for one, each in zip(alone, crowd, strict=True)
    ]


ONE = _rounds([(2.0, 2.0)] * 3, [(2.5, 2.4), (2.5, 2.5), (2.5, 2.6)])
TWO = _rounds([(1.25, 2.3)] * 3, [(2.6, 2.64), (2.6, 2.6), (2.6, 2.6)])


def test_cpu_of_the_crowds_has_the_bound_and_cpu_alone_has_none() -> None:
    rows = {row.name: row for row in crowd_rows("sorting", ONE, TWO)}
    crowded = rows["sorting: CPU on a crowded machine"]
    # The pairs give 1.1, 1.04 and 1.0.
    assert crowded.value == pytest.approx(1.04)
    assert (crowded.target, crowded.met) == ("at most 1.1", True)
    assert crowded.detail == "median 1.04 (1 to 1.1)"
    alone = rows["sorting: CPU alone"]
    assert alone.value == pytest.approx(1.15)
    assert (alone.target, alone.met) == ("", None)


def test_a_crowd_that_uses_more_than_the_bound_is_missed() -> None:
    dear = _rounds([(1.0, 2.0)] * 3, [(2.6, 2.8)] * 3)
    rows = {row.name: row for row in crowd_rows("sorting", ONE, dear)}
    assert rows["sorting: CPU on a crowded machine"].met is False


def test_one_slow_job_of_a_crowd_counts() -> None:
    """The crowd's CPU time is that of all its jobs; its work ends with its last job."""
    uneven = Round(Figures(2.0, 2.0), (Figures(2.0, 2.0), Figures(4.0, 3.0)))
    assert uneven.crowd_cpu_seconds == 5.0
    assert uneven.crowd_work == 1.0


def test_the_gain_is_of_jobs_alone() -> None:
    one, two = [Figures(2.0, 2.0)] * 3, [Figures(1.2, 2.3), Figures(1.25, 2.3), Figures(4.0, 2.3)]
    assert gain(one, two) == pytest.approx(1.6)
    row = gain_row("sorting", one, two)
    assert row.value == pytest.approx(1.6) and row.met is None
    assert row.detail == "real 2.00 and 1.25 s, CPU 2.00 and 2.30 s, CPU/real 1.00 and 1.84"


def test_what_the_machine_allows_is_the_work_of_the_crowd() -> None:
    rows = {row.name: row for row in crowd_rows("sorting", ONE, TWO)}
    machine = rows["sorting: 2 jobs of one thread side by side"]
    assert machine.value == pytest.approx(1.6)
    assert machine.detail.startswith("CPU of each 1.25 of that alone;")
