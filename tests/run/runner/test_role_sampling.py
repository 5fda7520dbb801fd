"""The series of the jobs' time, where each job is read in its turn."""

from __future__ import annotations

from mawl.measure.accounting import TreeSample
from mawl.records.model.role_io import FILE_ROLES
from mawl.run.runner.counting import RoleSampling


class Ended:
    """Counters of a job whose processes end: what these waited for a CPU."""

    reason = None
    seconds = 0.0

    def run_delay_seconds(self, job: str) -> float:
        return self.seconds

    def waited_seconds(self, job: str) -> tuple[dict[str, float], dict[str, float]]:
        return dict.fromkeys(FILE_ROLES, 0.0), dict.fromkeys(FILE_ROLES, 0.0)

    def live(self) -> int:
        return 0


def test_a_process_that_ends_between_turns_does_not_wait_twice() -> None:
    counting = Ended()
    sampling = RoleSampling(counting)  # type: ignore[arg-type]
    tree = TreeSample(0, 0, 0, 0, 1.0, 0.0, 0, 2, 5.0, read_at=10.0, living_run_delay_seconds=5.0)

    def delay(tree: TreeSample) -> float:
        return dict(sampling.series({"job": tree}))["jobs.run_queue_seconds"]

    assert delay(tree) == 5.0
    counting.seconds = 3.0  # it was in the 5 s, which are not read anew out of turn
    assert delay(tree) == 5.0
    # The largest sum of the living stays 5 s; 2.5 s are of what lives now.
    assert delay(tree._replace(living_run_delay_seconds=2.5, read_at=11.0)) == 5.5
