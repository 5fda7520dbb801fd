"""The active phase of simulated runs, against the rule counted by hand."""

from __future__ import annotations

import pytest

from mawl.simulation.engine import active_seconds
from tests.simulation.scenes import side_by_side, simulated, step, system


@pytest.mark.parametrize(
    ("count", "active"),
    [
        (1, 5.0),  # two jobs at once are never three: no tail by their number
        (2, 1.0),  # four jobs for 1 s, then two
        (3, 5.0),  # six jobs, then three until the end
    ],
)
def test_the_jobs_of_all_nodes_count_for_the_tail(count: int, active: float) -> None:
    outcome = simulated(system(count=count), *side_by_side([[step(1.0)], [step(5.0)]]))
    assert active_seconds(outcome, 10) == pytest.approx(active)
    assert active_seconds(outcome, 3) == outcome.elapsed_seconds == pytest.approx(5.0)
