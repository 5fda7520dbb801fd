"""Bytes that the block devices under the roles moved over a run, for all programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from mawl.analysis.counter_gains import Span, gain
from mawl.analysis.series import CounterChange, RunSamples
from mawl.analysis.throughput import Counters
from mawl.model.run import RunFacts


class DeviceBytes(NamedTuple):
    """What moved at block devices in the known part of a run; each is None where samples do not cover it."""

    source: str
    read: CounterChange | None
    written: CounterChange | None


def device_bytes(
    facts: RunFacts, samples: RunSamples | None, counters: Counters, span: Span | None
) -> DeviceBytes | None:
    """The sums of the devices behind the windows of ``io.device``; None where these are not known."""
    if samples is None or span is None or counters.reason is not None:
        return None
    return DeviceBytes(
        counters.source,
        _summed(facts, samples, counters.read, span),
        _summed(facts, samples, counters.write, span),
    )


def _summed(facts: RunFacts, samples: RunSamples, names: Sequence[str], span: Span) -> CounterChange | None:
    """Sum of these counters over all nodes that have them, in the mean of their known seconds by bytes.

    So the rate of the sum is the sum of the rates, also where more is known of one than of another.
    """
    changes = [
        gain(facts, samples, node, name, span)
        for node in samples.nodes
        for name in names
        if samples.times(node, name) is not None
    ]
    known = [change for change in changes if change is not None]
    if not known or len(known) < len(changes):
        return None
    amount, rate = sum(change.amount for change in known), sum(change.per_second for change in known)
    seconds = amount / rate if rate > 0 else min(change.seconds for change in known)
    return CounterChange(amount, seconds)
