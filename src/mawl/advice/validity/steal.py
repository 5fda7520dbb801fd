"""steal: the hypervisor gave the processors to this machine."""

from __future__ import annotations

from mawl.advice.validity.imported import Said, with_reason
from mawl.analysis.view import RunView
from mawl.analysis.windows import rates
from mawl.model.summary.judgement import Finding, Unmeasured
from mawl.model.thresholds import value_of
from mawl.units import format_percent

NAME = "steal"
MOST_STEAL_RATIO = value_of("validity.steal.most_ratio")


def check(reading: RunView) -> list[Finding] | list[Unmeasured]:
    """If the hypervisor gives processor time to other machines, only steal counts that time."""
    if reading.over_time is None:
        return _unmeasured(reading)
    samples, windows = reading.over_time
    edges = (windows.edges[0], windows.edges[-1])
    steal, idle, busy = (
        rates(samples, names, edges)[0]
        for names in (
            ["host.cpu_steal_seconds"],
            ["host.cpu_idle_seconds", "host.cpu_iowait_seconds"],
            ["host.cpu_user_seconds", "host.cpu_system_seconds", "host.cpu_interrupt_seconds"],
        )
    )
    if steal is None or idle is None or busy is None:
        return _unmeasured(reading)
    share = steal / (steal + idle + busy) if steal else 0.0
    if share <= MOST_STEAL_RATIO:
        return []
    return [
        Finding(
            rule=NAME,
            severity="preliminary",
            sentence=f"the hypervisor gave {format_percent(share)} of this machine's CPU time to others",
            cure="run on a machine with dedicated processors, or when its neighbours are idle",
        )
    ]


def _unmeasured(reading: RunView) -> list[Unmeasured]:
    reason = reading.why_not_drawn or "the samples do not contain the processors' time"
    return [Unmeasured(rule=NAME, severity="preliminary", reason=reason)]


def check_import(reading: RunView) -> Said:
    """The same rule, over what was recorded."""
    reason = "the recordings do not contain the time that a hypervisor gave to others"
    return with_reason(check(reading), reason, reading)
