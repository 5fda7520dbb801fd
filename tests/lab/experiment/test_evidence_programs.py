"""Programs of two arms: judged with five runs an arm, plain changes with fewer."""

from __future__ import annotations

import pytest

from mawl.figures.comparison.sides import ComparedRun, JobTime, Side
from mawl.lab.experiment.evidence import programs_result
from tests.fakes.stored_run import facts
from tests.fakes.views import partly

NOISE = (1.0, 1.01, 0.99, 1.005, 0.995)


def arm(name: str, runs: int, first: int = 0, **seconds: float) -> Side:
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
        arm("as-found", 5, wide_sort=10.0, text_topics=2.0, ledger_update=3.0),
        arm("profile", 5, 1, wide_sort=4.0, text_topics=2.0, ledger_update=4.0),
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
        arm("as-found", 1, wide_sort=10.0, text_topics=2.0), arm("profile", 1, wide_sort=4.0, text_topics=2.1)
    )
    assert (found.judged, found.verdict) == (False, "not judged")
    assert (found.faster, found.slower, found.ran_shorter, found.ran_longer) == (0, 0, 1, 1)
