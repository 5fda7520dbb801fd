"""Where the time of the jobs went."""

from __future__ import annotations

from typing import Annotated

import msgspec

from mawl.definitions.figure import Number, block, count, seconds, words
from mawl.definitions.metric import WAITS


class Blocked(msgspec.Struct, kw_only=True):
    """Time blocked by role."""

    data: Annotated[Number | None, seconds("Blocked in I/O of data{whose}.", WAITS)]
    work: Annotated[Number | None, seconds("Blocked in I/O of work{whose}.", WAITS)]
    util: Annotated[Number | None, seconds("Blocked in I/O of util{whose}.", WAITS)]
    other: Annotated[Number | None, seconds("Blocked in anything else{whose}.", WAITS)]


class KnownWait(msgspec.Struct, kw_only=True):
    """The waits of the jobs whose whole time is known by state."""

    jobs: Annotated[int, count("The jobs that these sums hold.", WAITS)]
    on_cpu_seconds: Annotated[Number | None, seconds("On a CPU, of these jobs.", WAITS)]
    run_queue_seconds: Annotated[Number | None, seconds("Waiting for a CPU, of these jobs.", WAITS)]
    blocked_seconds: Annotated[Blocked, words(whose=", of these jobs")]


class Wait(msgspec.Struct, kw_only=True):
    """Where the time of the jobs that count went."""

    on_cpu_seconds: Annotated[Number | None, seconds("On a CPU.", WAITS)]
    run_queue_seconds: Annotated[Number | None, seconds("Waiting for a CPU.", WAITS)]
    blocked_seconds: Annotated[Blocked, words(whose="")]
    blocked_at_most_seconds: Annotated[
        Number | None,
        seconds(
            "Real time less CPU time and, where it is known, run queue, job by job and never "
            "below 0: the most that jobs of one thread can have been blocked.",
            WAITS,
        ),
    ]
    known: Annotated[
        KnownWait | None,
        block("The sums over the jobs that count and whose whole time is known by state.", WAITS),
    ]
