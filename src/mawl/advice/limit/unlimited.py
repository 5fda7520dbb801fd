"""What bounds jobs that no shared resource limited: how many cores were busy, and the jobs' time on them."""

from __future__ import annotations

from mawl.advice.limit.rule import LEAST_LOSS_RATIO, RuleEvidence
from mawl.analysis.moments import busy_cores
from mawl.analysis.throughput import cores_of
from mawl.analysis.view import RunView
from mawl.units import format_percent, format_ratio


def unlimited_lines(reading: RunView) -> list[RuleEvidence]:
    """How many cores were busy, and the share of the jobs' time on a processor, in one line.

    Empty if neither is known.  If the rest of the jobs' time is too little for any resource to limit it, the
    line says that the speed of a core bounds each job.
    """
    parts = []
    cores, _ = cores_of(reading.facts)
    if reading.samples is not None and reading.windows is not None:
        busy = busy_cores(reading.samples, reading.windows)
        if busy is not None and cores is not None and busy <= cores:
            parts.append(f"{format_ratio(busy)} of {cores:g} cores were busy")
    on_cpu = reading.mean(lambda moment: moment.share(moment.jobs_on_cpu))
    if on_cpu is not None:
        parts.append(f"jobs spent {format_percent(on_cpu)} of their time on a processor")
    if not parts:
        return []
    bound = on_cpu is not None and on_cpu > 1.0 - LEAST_LOSS_RATIO
    sentence = " and ".join(parts) + (": the speed of a core bounds each job" if bound else "")
    return [RuleEvidence(kind="evidence", sentence=sentence)]
