"""steal: the hypervisor gave the processors to this machine."""

from __future__ import annotations

from mawl.advice.evidence import Finding, Reading
from mawl.analysis.windows import rates
from mawl.units import format_ratio

NAME = "steal"
MOST_STEAL_RATIO = 0.02


def check(reading: Reading) -> list[Finding]:
    """Time that the hypervisor gave to others is in no figure of this machine but steal."""
    if reading.samples is None or reading.windows is None:
        return []
    edges = (reading.windows.edges[0], reading.windows.edges[-1])
    steal, idle, busy = (
        rates(reading.samples, names, edges)[0]
        for names in (
            ["host.cpu_steal_seconds"],
            ["host.cpu_idle_seconds", "host.cpu_iowait_seconds"],
            ["host.cpu_user_seconds", "host.cpu_system_seconds", "host.cpu_interrupt_seconds"],
        )
    )
    if not steal or idle is None or busy is None:
        return []
    share = steal / (steal + idle + busy)
    if share <= MOST_STEAL_RATIO:
        return []
    return [
        Finding(
            rule=NAME,
            severity="indicative",
            sentence=f"the hypervisor gave {format_ratio(share)} of this machine's processor time to others",
            cure="run on a machine with processors of its own, or when its neighbours are quiet",
        )
    ]
