"""What the nodes' links and a watched storage server say of waits over the network."""

from __future__ import annotations

from mawl.advice.limit.rule import RuleEvidence
from mawl.analysis.links import FULL_RATIO
from mawl.analysis.moments import Moment
from mawl.analysis.view import RunView
from mawl.units import format_latency, format_percent, format_rate


def server_part(moment: Moment) -> float:
    """The share (0 to 1) of the time blocked over the network that was for the storage server.

    0 where not known: the fabric and the server behind it then are one, the network.
    """
    links = moment.links
    return links.server / links.waited if links is not None and links.waited else 0.0


def told(reading: RunView) -> bool:
    """Whether some window of the active phase tells links from server."""
    return any(moment.links is not None for moment in reading.active)


def link_lines(reading: RunView) -> list[RuleEvidence]:
    """The links as evidence, each storage server as support; nothing where a run does not tell."""
    link = reading.facts.link_bytes_per_second
    used, waited, full, server = (
        reading.mean(lambda moment, name=name: getattr(moment.links, name, None))  # type: ignore[misc]
        for name in ("used_ratio", "waited", "full", "server")
    )
    if link is None or used is None or waited is None or full is None or server is None:
        return []
    sentence = (
        f"the nodes used {format_percent(used)} of their links ({format_rate(link)} each way, as declared; "
        "the busier way, mean over nodes)"
    )
    if waited:
        sentence += (
            f"; of the time inside I/O calls {format_percent(full / waited)} was on nodes whose link "
            "was full "
            f"(at least {format_percent(FULL_RATIO)}), {format_percent(server / waited)} on others while the "
            "storage server's devices were at their top"
        )
    return [RuleEvidence(kind="evidence", sentence=sentence), *_servers(reading)]


def _servers(reading: RunView) -> list[RuleEvidence]:
    block = reading.summary.cluster
    lines = []
    for name, server in (block.storage if block else {}).items():
        device = server.device
        peak, sustained = (getattr(device, kind).total_bytes_per_second for kind in ("peak", "sustained"))
        if peak is None or sustained is None:
            continue
        sentence = (
            f"the devices of {name} moved {format_rate(peak)} in their highest window, "
            f"{format_rate(sustained)} in the median one"
        )
        wait = device.await_seconds.mean
        if wait is not None:
            sentence += f", and a request took {format_latency(wait)} on average"
        lines.append(RuleEvidence(kind="support", sentence=sentence))
    return lines
