"""Was shared storage tested: what went over the nodes' networks, where no device of it is visible."""

from __future__ import annotations

from mawl.advice.capacity.answers import LEAST_DIRECTION_RATIO, Lack
from mawl.analysis.io import REACHES_STORAGE_RATIO
from mawl.model.run import RunFacts
from mawl.model.summary.summary import Judged
from mawl.units import format_percent

NETWORK_FIGURES = {
    "read": ("application_read_bytes", "network_received_bytes_per_second"),
    "written": ("application_written_bytes", "network_sent_bytes_per_second"),
}
IN_PLACE_OF_REACH = (
    "The nodes do not see how many bytes reached a device of the shared storage. What went over their "
    "networks is taken for it; a cache of the storage server may have served it."
)


def is_all_behind_network(facts: RunFacts) -> bool:
    """Whether every role lies on another machine, so that the nodes see no device of it."""
    return bool(facts.volumes) and all(volume.network for volume in facts.volumes)


def unasked_over_network(summary: Judged) -> tuple[str, Lack] | None:
    """Why a run on nodes did not ask the storage behind their networks; None where it did.

    A direction is that of a tenth of all bytes or more.  What a network moved for others counts, too.
    """
    nodes = [] if summary.cluster is None else [*summary.cluster.nodes.values()]
    moved: dict[str, tuple[float, float] | None] = {}
    for way, (asked, rate) in NETWORK_FIGURES.items():
        figures = [(getattr(node, asked), getattr(node, rate), node.done_seconds) for node in nodes]
        known = [one for one in figures if None not in one]
        moved[way] = (
            (sum(own for own, _, _ in known), sum(each * seconds for _, each, seconds in known))
            if known and len(known) == len(figures)
            else None
        )
    whole = sum(found[0] for found in moved.values() if found is not None)
    for way, found in moved.items():
        if found is None:
            return f"how many of the bytes {way} went over the network is not known", "reach"
        if not whole or found[0] < LEAST_DIRECTION_RATIO * whole:
            continue
        if found[1] < REACHES_STORAGE_RATIO * found[0]:
            part, needed = format_percent(found[1] / found[0]), format_percent(REACHES_STORAGE_RATIO)
            return f"only {part} of the bytes {way} went over the network ({needed} required)", "reach"
    return None if whole else ("the programs moved no bytes", "reach")
