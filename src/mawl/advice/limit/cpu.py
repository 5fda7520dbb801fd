"""cpu: jobs wait for a processor."""

from __future__ import annotations

from mawl.advice.limit.rule import Rule, RuleEvidence, pressure_line
from mawl.analysis.moments import Moment
from mawl.analysis.view import RunView
from mawl.units import format_percent


def _loss(moment: Moment, _: RunView) -> float | None:
    """Time in the run queue.  Busy processors alone are no limit: nobody may be waiting for them."""
    return moment.share(moment.jobs_in_run_queue)


def _evidence(reading: RunView) -> list[RuleEvidence]:
    queued = reading.mean(lambda moment: moment.share(moment.jobs_in_run_queue))
    on_cpu = reading.mean(lambda moment: moment.share(moment.jobs_on_cpu))
    lines = []
    if queued is not None and on_cpu is not None:
        lines.append(
            RuleEvidence(
                kind="evidence",
                sentence=f"jobs waited for CPU {format_percent(queued)} of the time and "
                f"were on CPU {format_percent(on_cpu)} of it",
            )
        )
    lines += pressure_line(reading, "cpu_some", "tasks waited for CPU")
    busy = reading.mean(lambda moment: moment.cpu_busy_ratio)
    if busy is not None:
        lines.append(
            RuleEvidence(kind="support", sentence=f"processors were busy {format_percent(busy)} of the time")
        )
    stopped = reading.mean(lambda moment: moment.throttled_cpus) or 0.0
    if round(stopped, 1) > 0.0:
        sentence = f"the CPU quota of mawl's control group stopped {stopped:.1f} processors on average"
        lines.append(RuleEvidence(kind="support", sentence=sentence))
    return lines


RULE = Rule(resource="cpu", loss=_loss, evidence=_evidence)
