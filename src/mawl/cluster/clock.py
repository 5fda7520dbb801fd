"""By how much a node's clock differs from the controller's, and times corrected by it.

One exchange: the controller's time, the node's, the controller's again.  The node's clock was read at
some moment of the round trip, so the middle of it errs by at most half of it (RFC 5905 section 8 has the
same bound); the shortest of several exchanges is kept.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

import msgspec
import pyarrow as pa
from pyarrow import compute

from mawl.model.cluster import ClockFacts
from mawl.model.records import EventRecord, JobRecord, StepRecord

Exchange = tuple[float, float, float]
"""Sent and answered by the controller's clock, with the node's between them; seconds."""

EXCHANGES = 16


def clock_of(exchanges: Sequence[Exchange]) -> ClockFacts:
    """Offset and error of the shortest round trip."""
    sent, node, answered = min(exchanges, key=lambda one: one[2] - one[0])
    return ClockFacts(
        offset_seconds=node - (sent + answered) / 2,
        error_seconds=(answered - sent) / 2,
        exchanges=len(exchanges),
    )


class Correction:
    """One node's records as the merged run has them: by the controller's clock, jobs under the node's name.

    ``left_out`` and ``kept`` are those of :class:`mawl.cluster.merge.OwnSeries`.
    """

    def __init__(
        self, node: str, offset_seconds: float, left_out: Sequence[str] = (), kept: Sequence[str] = ()
    ) -> None:
        self.node, self.offset_seconds = node, offset_seconds
        self.left_out, self.kept = tuple(left_out), tuple(kept)

    def name(self, job: str) -> str:
        """A job's name in the merged run."""
        return f"{self.node}.{job}"

    def at(self, moment: float | None) -> float | None:
        """A moment of the node's clock by the controller's."""
        return None if moment is None else moment - self.offset_seconds

    def job(self, record: JobRecord) -> JobRecord:
        """A job's record."""
        return msgspec.structs.replace(
            record,
            job=self.name(record.job),
            node=self.node,
            ready_at=self.at(record.ready_at),
            started_at=self.at(record.started_at),
            ended_at=self.at(record.ended_at),
        )

    def step(self, record: StepRecord) -> StepRecord:
        """A step's record."""
        return msgspec.structs.replace(
            record,
            job=self.name(record.job),
            started_at=self.at(record.started_at),
            ended_at=self.at(record.ended_at),
        )

    def event(self, record: EventRecord) -> EventRecord:
        """An event; one of the node as a whole names it in its detail."""
        detail = record.detail
        if record.job is None:
            detail = f"{self.node}: {detail}" if detail else self.node
        return msgspec.structs.replace(
            record,
            happened_at=record.happened_at - self.offset_seconds,
            job=None if record.job is None else self.name(record.job),
            detail=detail,
        )

    def samples(self, table: pa.Table) -> pa.Table:
        """Samples, without those that the merged run takes from another node."""
        if self.left_out and table.num_rows:
            series = table.column("series")
            drop = _begins(series, self.left_out)
            if self.kept:
                drop = compute.and_not(drop, _begins(series, self.kept))
            table = table.filter(compute.invert(drop))
        moments = table.column("sampled_at")
        shift = pa.scalar(round(self.offset_seconds * 1e6), pa.duration("us"))
        place = table.schema.get_field_index("sampled_at")
        return table.set_column(place, table.schema.field(place), compute.subtract(moments, shift))


def _begins(series: pa.ChunkedArray, beginnings: Sequence[str]) -> pa.ChunkedArray:
    """Which names begin as one of these."""
    return functools.reduce(compute.or_, (compute.starts_with(series, one) for one in beginnings))
