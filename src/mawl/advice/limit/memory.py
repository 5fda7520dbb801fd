"""memory: jobs wait for pages that memory could not hold."""

from __future__ import annotations

from mawl.advice.evidence import Reading
from mawl.advice.limit.rule import Line, Rule, memory_part, pressure_line
from mawl.analysis.moments import Moment
from mawl.units import format_rate, format_ratio


def _loss(moment: Moment, _: Reading) -> float | None:
    """The part of all blocked time, inside I/O calls or not, that memory pressure accounts for."""
    if moment.jobs_blocked is None:
        return None
    share = moment.share(sum(moment.jobs_blocked.values()))
    return None if share is None else share * memory_part(moment)


def _evidence(reading: Reading) -> list[Line]:
    loss = reading.mean(lambda moment: _loss(moment, reading))
    lines = []
    if loss is not None:
        lines.append(
            Line(
                kind="evidence",
                sentence=f"memory accounts for {format_ratio(loss)} of the jobs' time: "
                "what was blocked, by memory's part in the pressure",
            )
        )
    lines += pressure_line(reading, "memory_some", "some task waited for memory")
    swap = reading.mean(lambda moment: moment.swap_bytes_per_second)
    if swap:
        lines.append(Line(kind="evidence", sentence=f"the system swapped {format_rate(swap)}"))
    return lines


RULE = Rule(resource="memory", loss=_loss, evidence=_evidence)
