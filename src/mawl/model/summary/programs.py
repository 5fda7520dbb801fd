"""Figures of each program."""

from __future__ import annotations

from typing import Annotated

import msgspec

from mawl.definitions.figure import Number, count, joules, seconds, share, size
from mawl.definitions.metric import COUNTED, MEMORY, PROGRAM_WAITS, REAL

SLOWDOWN_AND_ITS_PARTS = "docs/design/capacity.md, Slowdown and its parts"


class RealTimes(msgspec.Struct, kw_only=True):
    """Real times of the jobs of a program that count."""

    median: Annotated[Number | None, seconds("Median real time of a job that counts.", REAL)]
    min: Annotated[Number | None, seconds("Shortest real time of a job that counts.", REAL)]
    max: Annotated[Number | None, seconds("Longest real time of a job that counts.", REAL)]
    sum: Annotated[Number | None, seconds("Sum of the jobs' real time.", COUNTED)]


class ProgramWaits(msgspec.Struct, kw_only=True):
    """Where the time of the jobs of a program went, in sums."""

    on_cpu_seconds: Annotated[
        Number | None, seconds("Sum over the jobs that count: time on a processor.", PROGRAM_WAITS)
    ]
    run_queue_seconds: Annotated[
        Number | None, seconds("Sum over the jobs that count: time waiting for one.", PROGRAM_WAITS)
    ]
    blocked_data_seconds: Annotated[
        Number | None, seconds("Sum over the jobs that count: time blocked in I/O of data.", PROGRAM_WAITS)
    ]
    blocked_work_seconds: Annotated[
        Number | None, seconds("Sum over the jobs that count: time blocked in I/O of work.", PROGRAM_WAITS)
    ]
    blocked_util_seconds: Annotated[
        Number | None, seconds("Sum over the jobs that count: time blocked in I/O of util.", PROGRAM_WAITS)
    ]
    blocked_other_seconds: Annotated[
        Number | None, seconds("Sum over the jobs that count: time blocked elsewhere.", PROGRAM_WAITS)
    ]


class ProgramFigures(msgspec.Struct, kw_only=True):
    """A program: its jobs, and the figures of those that count."""

    jobs: Annotated[int, count("Jobs of the program.", COUNTED)]
    counted: Annotated[int, count("Those of them whose figures are summed.", COUNTED)]
    real_time_seconds: RealTimes
    cpu_seconds: Annotated[Number | None, seconds("Sum of the jobs' user and system CPU time.", COUNTED)]
    user_cpu_seconds: Annotated[Number | None, seconds("Sum of the jobs' user CPU time.", COUNTED)]
    system_cpu_seconds: Annotated[Number | None, seconds("Sum of the jobs' system CPU time.", COUNTED)]
    application_read_bytes: Annotated[
        Number | None, size("Sum of the jobs' application bytes read.", COUNTED)
    ]
    application_written_bytes: Annotated[
        Number | None, size("Sum of the jobs' application bytes written.", COUNTED)
    ]
    memory_bytes: Annotated[Number | None, size("Largest memory of a job that counts.", MEMORY)]
    slowdown: Annotated[
        Number | None,
        share(
            "Median of a job's real time in the mix over alone.",
            SLOWDOWN_AND_ITS_PARTS,
            absent="the program was not run alone on this system (mawl run --solo)",
        ),
    ]
    joules_per_job: Annotated[
        Number | None,
        joules(
            "Mean energy of a job that counts: the run's energy, shared out to all jobs by the CPU time of "
            "their process trees.",
            "docs/design/energy.md, Energy of a job",
            absent="no job of this program counts",
        ),
    ]
    wait: ProgramWaits
