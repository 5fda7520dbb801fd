"""What counters gained over a run: the part that samples cover, and never more than they saw."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from mawl.analysis.series import CounterChange, RunSamples
from mawl.model.run import RunFacts
from mawl.model.summary.host import Host
from mawl.units import format_seconds

Span = tuple[float, float]

WHOLE_RATIO = 0.99
"""A series of which samples cover this share of the run, or more, covers the run."""

MOST_NAMED = 4


def gain(facts: RunFacts, samples: RunSamples, node: str, name: str, span: Span) -> CounterChange | None:
    """What a counter gained in the known part of a span, and how many seconds that part has.

    A measured run looks once more before its first job and after its last only where it has the time:
    there the rate is held up to one sample interval beyond the first and the last sample.  Of an imported
    recording nothing is added.  None where samples cover less than half of the span.
    """
    change = samples.changes(node, name, span)[0]
    series = samples.series(node, name)
    if change is None or series is None or facts.kind == "imported":
        return change
    interval = float(np.median(np.diff(series.times)))
    outside = (series.times[0] - span[0], span[1] - series.times[-1])
    held = sum(min(max(float(seconds), 0.0), interval) for seconds in outside)
    return CounterChange(change.amount + change.per_second * held, change.seconds + held)


def amount(facts: RunFacts, samples: RunSamples, node: str, name: str, span: Span) -> float | None:
    """:func:`gain` without its seconds."""
    change = gain(facts, samples, node, name, span)
    return None if change is None else change.amount


def fewest_seconds(changes: Iterable[CounterChange | None]) -> float | None:
    """The seconds of the least known of several counters; None where none is known."""
    return min((change.seconds for change in changes if change is not None), default=None)


def partial_remark(host: Host | None, seconds: float) -> list[str]:
    """A sentence that names what samples cover only in part, each with its known seconds."""
    parts = [] if host is None else sorted(_parts(host), key=lambda part: part[1])
    partial = [(name, known) for name, known in parts if known < WHOLE_RATIO * seconds]
    if not partial:
        return []
    named = [f"{name} {format_seconds(known)}" for name, known in partial[:MOST_NAMED]]
    more = len(partial) - MOST_NAMED
    beside = f" and {more} more" if more > 0 else ""
    return [
        f"samples do not cover all of the {format_seconds(seconds)} from first start to last end: "
        f"{', '.join(named)}{beside}; sums of the host are of those seconds alone"
    ]


def _parts(host: Host) -> Iterator[tuple[str, float]]:
    """The known seconds of the processors and of every device, interface, port and mount."""
    if host.known_seconds is not None:
        yield "processors", host.known_seconds
    for kind in (host.device, host.network, host.fabric, host.mount):
        for name, figures in (kind or {}).items():
            if figures.known_seconds is not None:
                yield name, figures.known_seconds
