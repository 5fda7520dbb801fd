"""Sessions of derived jobs: as the clock brought them, or one after another."""

from __future__ import annotations

from collections.abc import Sequence

from mawl.plan.spec import JobSpec, SessionSpec
from mawl.records.model.derived import DerivedJob
from mawl.records.spec.program_options import Arrivals


def sessions_of(jobs: Sequence[DerivedJob], arrivals: Arrivals) -> list[SessionSpec]:
    """The sessions of a file of derived jobs, in the order in which they first appear.

    ``clock``: a job starts when those of its ``after`` have ended and the run has lasted its
    ``start_seconds``, however late the others are; so a slower system has more jobs side by side.
    ``closed``: a job starts when the one before it in its session and those of its ``after`` have ended,
    whatever the clock; so a slower system takes longer.
    """
    lanes: dict[str, list[JobSpec]] = {}
    for job in jobs:
        lanes.setdefault(job.session, []).append(
            JobSpec(
                program=job.name,
                name=job.name,
                after=list(job.after),
                start_delay_seconds=job.start_seconds if arrivals == "clock" else 0.0,
            )
        )
    return [
        SessionSpec(name=name, stages=[[*lane]] if arrivals == "clock" else [[job] for job in lane])
        for name, lane in lanes.items()
    ]
