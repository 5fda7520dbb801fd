"""memory: jobs wait for pages that memory could not hold."""

from __future__ import annotations

from mawl.advice.limit.memory_part import memory_part, reread_lines
from mawl.advice.limit.rule import Rule, RuleEvidence, pressure_line
from mawl.analysis.moments import Moment
from mawl.analysis.view import RunView
from mawl.units import format_percent, format_rate


def _loss(moment: Moment, reading: RunView) -> float | None:
    """The part of all blocked time, inside I/O calls or not, that was for memory."""
    if moment.jobs_blocked is None:
        return None
    return moment.share(
        sum(jobs * memory_part(moment, reading, place) for place, jobs in moment.jobs_blocked.items())
    )


def _evidence(reading: RunView) -> list[RuleEvidence]:
    loss = reading.mean(lambda moment: _loss(moment, reading))
    lines = []
    if loss is not None:
        lines.append(
            RuleEvidence(
                kind="evidence",
                sentence=f"jobs spent {format_percent(loss)} of their time waiting for pages that memory "
                "could not hold (part of the blocked time)",
            )
        )
    lines += reread_lines(reading)
    lines += pressure_line(reading, "memory_some", "tasks waited for memory")
    swap = reading.mean(lambda moment: moment.swap_bytes_per_second)
    if swap:
        lines.append(RuleEvidence(kind="evidence", sentence=f"the system swapped {format_rate(swap)}"))
    return lines


RULE = Rule(resource="memory", loss=_loss, evidence=_evidence)
