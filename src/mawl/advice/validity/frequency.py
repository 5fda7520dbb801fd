"""frequency: the processors kept their speed."""

from __future__ import annotations

from mawl.advice.validity.imported import Said, with_reason
from mawl.advice.validity.thirds import FEW, FEWEST_WINDOWS, thirds
from mawl.analysis.view import RunView
from mawl.analysis.windows import gauges
from mawl.model.summary.judgement import Finding, Unmeasured
from mawl.model.thresholds import value_of
from mawl.units import format_ratio

NAME = "frequency"
LEAST_KEPT_RATIO = value_of("validity.frequency.least_kept_ratio")


def check(reading: RunView) -> list[Finding] | list[Unmeasured]:
    """The mean frequency of the last third of the active phase, divided by that of the first.

    Many virtual machines report no frequency. No fix can change that, so it is only a remark.
    """
    if reading.over_time is None:
        return _unmeasured(reading.why_not_drawn or FEW)
    samples, windows = reading.over_time
    found = thirds(gauges(samples, "host.frequency_hertz", windows.active_edges))
    if found is None:
        few = len(windows.active_edges) <= FEWEST_WINDOWS
        return _unmeasured(FEW if few else "this machine does not report the frequency of its processors")
    if found[1] >= LEAST_KEPT_RATIO * found[0]:
        return []
    return [
        Finding(
            rule=NAME,
            severity="preliminary",
            sentence=f"processors ran at {format_ratio(found[1] / 1e9)} GHz in the last third, after "
            f"{format_ratio(found[0] / 1e9)} GHz in the first",
            cure="see to cooling and power limits, and set the frequency governor to performance",
        )
    ]


def _unmeasured(reason: str) -> list[Unmeasured]:
    return [Unmeasured(rule=NAME, severity="remark", reason=reason)]


def check_import(reading: RunView) -> Said:
    """The same rule, over what was recorded."""
    return with_reason(
        check(reading), "the recordings do not contain the frequency of the processors", reading
    )
