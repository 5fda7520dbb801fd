"""What may have served the load in place of the storage that will serve it every day."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter

from mawl.advice.qualification.estimate import MedianEstimate
from mawl.advice.qualification.limits import Contradiction
from mawl.advice.qualification.sentence import limit_words
from mawl.model.probe import Probe
from mawl.model.qualification import AnswerStorage
from mawl.model.run import RunFacts
from mawl.model.summary.summary import Judged
from mawl.model.thresholds import value_of
from mawl.plan.mix import FEWEST_SESSIONS, SESSIONS_PER_CORE
from mawl.units import counted_noun, format_percent, format_ratio, format_seconds

BURST_SECONDS = value_of("qualification.burst_seconds")
LONG_RUN = (
    f"A run of {format_seconds(BURST_SECONDS)} shows whether that is so: give --repeat 1 and more --minutes."
)
MOST_PROBE_RATIO = value_of("qualification.most_probe_ratio")


def cautions_of(
    summaries: Sequence[Judged],
    facts: RunFacts,
    during: Sequence[AnswerStorage] = (),
    probe: Probe | None = None,
) -> list[str]:
    """Sentences on caches of arrays, burst credits and memory; the gravest first, each once.

    ``during`` is what the storage of the roles did, and ``probe`` what it can do.
    """
    found = [*_falling(summaries), *_faster(summaries, _more_requests(during, probe))]
    if not found:
        found += _bursting(summaries, facts)
    return list(dict.fromkeys(found))


def faster_than_alone(whole: MedianEstimate | None) -> list[str]:
    """No mix makes jobs faster than they are alone, so the times alone are too long."""
    if whole is None or whole.high >= 1.0:
        return []
    return [
        "The jobs ran faster in the mix than alone "
        f"({format_ratio(whole.low)} to {format_ratio(whole.high)}): "
        "something slowed the times alone."
    ]


def other_verdict(found: Contradiction) -> str:
    """The reports of the runs name another limit than the answer, which names the processors."""
    return (
        f"The reports of the runs name {limit_words(found.verdict)} as the limit: they count all that jobs "
        "wait for, also when alone. The slowdown comes from the processors: compute makes jobs "
        f"{format_ratio(found.compute.median)} times as long as alone, storage "
        f"{format_ratio(found.storage.median)} times."
    )


def crowded(sessions: int, cores: int | None) -> list[str]:
    """The smallest mix is more than the published load where there are few cores."""
    if cores is None or sessions != FEWEST_SESSIONS or math.ceil(SESSIONS_PER_CORE * cores) >= sessions:
        return []
    return [
        f"The smallest mix has {sessions} sessions, {format_ratio(sessions / cores)} a core; the published "
        f"load has {SESSIONS_PER_CORE} a core. On {counted_noun(cores, 'core')} the answer is of the denser "
        "load."
    ]


def _falling(summaries: Sequence[Judged]) -> list[str]:
    """Throughput fell while jobs went on waiting (the rule ``drift`` of the validity)."""
    drifting = [
        finding.sentence
        for summary in summaries
        for finding in summary.validity.findings
        if finding.rule == "drift"
    ]
    if not drifting:
        return []
    return [
        f"A cache of the array or a burst credit may have served the beginning: {drifting[0]}. {LONG_RUN}"
    ]


def _more_requests(during: Sequence[AnswerStorage], probe: Probe | None) -> dict[str, float]:
    """By role: mean requests in flight at the devices, divided by the most streams of a probe's test."""
    streams: dict[str, int] = {}
    targets = probe.targets if probe is not None else []
    for target in targets:
        most = max((test.streams for test in target.tests if test.pattern == "sequential"), default=0)
        streams.update((role, most) for role in target.roles if most)
    return {
        role: one.queue_length / streams[role]
        for one in during
        for role in one.roles
        if one.queue_length is not None and role in streams
    }


def _faster(summaries: Sequence[Judged], more_requests: Mapping[str, float]) -> list[str]:
    """The mix moved more than the probe could, so something faster than the device took part.

    Storage that takes long for each request but serves many at once moves more with more requests in flight
    (Little's law), so the rate may exceed the probe's by the ratio of the requests.
    """
    faster = [
        (used, f"{role} {direction}s")
        for role, direction, used in _used(summaries)
        if used > MOST_PROBE_RATIO * max(more_requests.get(role, 1.0), 1.0)
    ]
    if not faster:
        return []
    used, moved = max(faster, key=itemgetter(0))
    return [
        f"A cache of the array may have served {moved}: they reached {format_percent(used)} of what the "
        f"probe found. {LONG_RUN}"
    ]


def _used(summaries: Sequence[Judged]) -> Iterator[tuple[str, str, float]]:
    """Role, direction, and sustained rate over that of the probe, where it is known."""
    for summary in summaries:
        by_role = summary.storage.by_role if summary.storage is not None else {}
        for role, one in by_role.items():
            for direction, demand in (("read", one.read), ("write", one.write)):
                if demand is not None and demand.sustained_used_ratio is not None:
                    yield role, direction, demand.sustained_used_ratio


def _bursting(summaries: Sequence[Judged], facts: RunFacts) -> list[str]:
    """Storage of a virtual machine or behind a network that one run has not used for long."""
    longest = max((summary.time.active_seconds or 0.0 for summary in summaries), default=0.0)
    virtual = any(node.virtual not in (None, "none") for node in facts.nodes)
    elsewhere = any(volume.network or volume.transport is not None for volume in facts.volumes)
    if longest >= BURST_SECONDS or not (virtual or elsewhere):
        return []
    where = "behind a network" if elsewhere else "of a virtual machine"
    return [
        f"The storage is {where}: a cache or a burst credit that is not visible from here may have "
        f"served the whole load: the longest run took {format_seconds(longest)}. {LONG_RUN}"
    ]
