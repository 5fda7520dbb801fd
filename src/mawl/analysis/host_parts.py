"""What each device, network interface, fabric port and network mount of the hosts did."""

from __future__ import annotations

from collections.abc import Sequence

from mawl.analysis.blocks import Block
from mawl.analysis.gains import fewest_seconds, gain
from mawl.analysis.series import Change, Samples, quotients
from mawl.model.run import RunFacts

AWAITS = (("read", "reads", "read_seconds"), ("write", "writes", "write_seconds"))
FIGURES = {
    "device": ("reads", "writes", "read_bytes", "written_bytes", "flushes"),
    "network": (
        "received_bytes",
        "sent_bytes",
        "received_errors",
        "sent_errors",
        "received_drops",
        "sent_drops",
    ),
    "fabric": ("received_bytes", "sent_bytes", "link_failures"),
    "mount": (
        "application_read_bytes",
        "application_written_bytes",
        "read_bytes",
        "written_bytes",
        "retransmissions",
    ),
}
"""Counters of each kind of part whose gain is reported."""

PARTS = tuple(FIGURES)
WITH_AWAIT = ("device", "mount")
WITH_RATES = ("network", "fabric")


def part_blocks(kind: str, facts: RunFacts, samples: Samples, edges: Sequence[float]) -> dict[str, Block]:
    """The figures of every part of a kind by its name; ``NODE:NAME`` where there are several nodes."""
    found: dict[str, Block] = {}
    for node in samples.nodes:
        for name in part_names(samples, node, kind):
            block = _Part(facts, samples, node, f"{kind}.{name}", edges)
            figures: Block = {figure: block.gain(figure) for figure in FIGURES[kind]}
            figures["known_seconds"] = block.known_seconds(FIGURES[kind])
            if kind in WITH_AWAIT:
                figures |= block.awaits()
            if kind == "device":
                figures |= block.both() | block.utilisation()
                figures["roles"] = roles_on(facts, node, name)
            if kind in WITH_RATES:
                figures |= block.rates()
            found[name if len(samples.nodes) == 1 else f"{node}:{name}"] = figures
    return found


def part_names(samples: Samples, node: str, kind: str) -> list[str]:
    """Names of the parts of a kind; a name may hold dots (a mount's path), a figure does not."""
    prefix = f"{kind}."
    named = {
        name[len(prefix) :].rpartition(".")[0] for name in samples.names(node) if name.startswith(prefix)
    }
    return sorted(named)


def roles_on(facts: RunFacts, node: str, device: str) -> list[str]:
    """The roles that a device holds, at any layer."""
    found = {volume.role: None for volume in facts.volumes if volume.node == node and device in volume.layers}
    return list(found)


class _Part:
    """One part's counters over windows."""

    def __init__(
        self, facts: RunFacts, samples: Samples, node: str, prefix: str, edges: Sequence[float]
    ) -> None:
        self._facts, self._samples, self._node = facts, samples, node
        self._prefix, self._edges = prefix, edges
        self._whole = (edges[0], edges[-1])

    def _over(self, figure: str, edges: Sequence[float]) -> list[Change | None]:
        return self._samples.changes(self._node, f"{self._prefix}.{figure}", edges)

    def gain(self, figure: str) -> float | None:
        """Over the part of the whole time that samples cover."""
        change = self._gained(figure)
        return None if change is None else change.amount

    def _gained(self, figure: str) -> Change | None:
        return gain(self._facts, self._samples, self._node, f"{self._prefix}.{figure}", self._whole)

    def known_seconds(self, figures: Sequence[str]) -> float | None:
        """How much of the time samples cover, of the least known of these counters."""
        return fewest_seconds(self._gained(figure) for figure in figures)

    def awaits(self) -> Block:
        """Time of requests over requests: over the whole time, and in the highest window."""
        block: Block = {}
        for direction, requests, seconds in AWAITS:
            mean = quotients(self._over(seconds, self._whole), self._over(requests, self._whole))[0]
            windows = quotients(self._over(seconds, self._edges), self._over(requests, self._edges))
            block[f"{direction}_await_seconds"] = {"mean": mean, "peak": _highest(windows)}
        return block

    def both(self) -> Block:
        """Requests of both directions: their number, and the time of them over it."""
        requests: tuple[str, ...] = ("reads", "writes")
        seconds: tuple[str, ...] = ("read_seconds", "write_seconds")
        if f"{self._prefix}.requests" in self._samples.names(self._node):
            requests, seconds = ("requests",), ("request_seconds",)
        counts = [self.gain(figure) for figure in requests]
        block: Block = {"requests": None if None in counts else sum(value or 0.0 for value in counts)}
        mean, windows = (
            quotients(self._sum(seconds, edges), self._sum(requests, edges))
            for edges in (self._whole, self._edges)
        )
        block["await_seconds"] = {"mean": mean[0], "peak": _highest(windows)}
        return block

    def _sum(self, figures: Sequence[str], edges: Sequence[float]) -> list[Change | None]:
        """Counters added up, window by window; None where one has no figure."""
        rows = zip(*(self._over(figure, edges) for figure in figures), strict=True)
        return [
            None
            if None in row
            else Change(sum(change.amount for change in row if change), max(c.seconds for c in row if c))
            for row in rows
        ]

    def utilisation(self) -> Block:
        """Share of the time with a request in flight, and how many there were on average."""
        busy, queue = self._gained("busy_seconds"), self._gained("queue_seconds")
        return {
            "utilisation_ratio": None if busy is None else busy.per_second,
            "queue_length": None if queue is None else queue.per_second,
        }

    def rates(self) -> Block:
        """Throughput in each direction: mean, and the highest window."""
        block: Block = {}
        for direction in ("received", "sent"):
            change = self._over(f"{direction}_bytes", self._whole)[0]
            windows = self._over(f"{direction}_bytes", self._edges)
            block[f"{direction}_bytes_per_second"] = {
                "mean": None if change is None else change.per_second,
                "peak": _highest([None if window is None else window.per_second for window in windows]),
            }
        return block


def _highest(values: Sequence[float | None]) -> float | None:
    return max((value for value in values if value is not None), default=None)
