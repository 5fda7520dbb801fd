"""competition: nobody else loaded the machine, before or during the run."""

from __future__ import annotations

from mawl.advice.foreign import foreign
from mawl.advice.validity.imported import no_file_says
from mawl.analysis.view import RunView
from mawl.analysis.windows import added, rates
from mawl.model.summary.judgement import Finding, Unmeasured
from mawl.model.thresholds import value_of
from mawl.units import format_percent

NAME = "competition"
MOST_FOREIGN_RATIO = value_of("validity.competition.most_cpu_ratio")
"""Share of all processor time that others may use; writeback and reclaim by the kernel are in it."""

CURE = "end other programs, and run on a machine that does nothing else"


def check(reading: RunView) -> list[Finding] | list[Unmeasured]:
    """Processor time and device bytes of other programs during the run, and load just before it."""
    found = [*_processors(reading), *_devices(reading), *_before(reading)]
    reason = None if found else _unknown(reading)
    return [Unmeasured(rule=NAME, severity="preliminary", reason=reason)] if reason else found


def _unknown(reading: RunView) -> str | None:
    before = reading.facts.load_before
    if before is None or before.busy_ratio is None:
        return "the load before the start was not measured"
    if foreign_cpu_ratio(reading) is None:
        return reading.why_not_drawn or "the samples do not say who used the processors"
    return None


def _before(reading: RunView) -> list[Finding]:
    before = reading.facts.load_before
    if before is None or before.busy_ratio is None or before.busy_ratio <= MOST_FOREIGN_RATIO:
        return []
    names = f" ({', '.join(before.heavy)})" if before.heavy else ""
    return [
        Finding(
            rule=NAME,
            severity="preliminary",
            sentence=f"processors were busy for {format_percent(before.busy_ratio)} of the time just before "
            f"the start{names}",
            cure=CURE,
        )
    ]


def _processors(reading: RunView) -> list[Finding]:
    foreign = foreign_cpu_ratio(reading)
    if foreign is None or foreign <= MOST_FOREIGN_RATIO:
        return []
    return [
        Finding(
            rule=NAME,
            severity="preliminary",
            sentence=f"others used {format_percent(foreign)} of all processor time during the run",
            cure=CURE,
        )
    ]


def foreign_cpu_ratio(reading: RunView) -> float | None:
    """Share of all processor time that neither the jobs nor mawl used; None where it is not known."""
    if reading.over_time is None:
        return None
    samples, windows = reading.over_time
    edges = (windows.edges[0], windows.edges[-1])

    def rate(*names: str) -> float | None:
        return rates(samples, names, edges)[0]

    busy = rate("host.cpu_user_seconds", "host.cpu_system_seconds", "host.cpu_interrupt_seconds")
    rest = rate("host.cpu_idle_seconds", "host.cpu_iowait_seconds", "host.cpu_steal_seconds")
    own = added((rate("jobs.on_cpu_seconds"), rate("mawl_cpu_seconds")))
    if busy is None or rest is None or own is None or busy + rest <= 0:
        return None
    return max(busy - own, 0.0) / (busy + rest)


def _devices(reading: RunView) -> list[Finding]:
    sentence = foreign(reading.summary)
    if sentence is None:
        return []
    return [Finding(rule=NAME, severity="preliminary", sentence=sentence, cure=CURE)]


check_import = no_file_says(NAME, "no file says whether the host did other work")
