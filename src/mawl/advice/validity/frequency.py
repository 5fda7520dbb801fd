"""frequency: the processors kept their speed."""

from __future__ import annotations

from mawl.advice.evidence import Finding, Reading
from mawl.advice.validity.thirds import thirds
from mawl.analysis.windows import gauges
from mawl.units import format_ratio

NAME = "frequency"
LEAST_KEPT_RATIO = 0.9


def check(reading: Reading) -> list[Finding]:
    """The mean frequency of the last third of the active phase against the first."""
    if reading.samples is None or reading.windows is None:
        return []
    found = thirds(gauges(reading.samples, "host.frequency_hertz", reading.windows.active_edges))
    if found is None or found[1] >= LEAST_KEPT_RATIO * found[0]:
        return []
    return [
        Finding(
            rule=NAME,
            severity="indicative",
            sentence=f"processors ran at {format_ratio(found[1] / 1e9)} GHz in the last third, after "
            f"{format_ratio(found[0] / 1e9)} GHz in the first",
            cure="see to cooling and power limits, and set the frequency governor to performance",
        )
    ]
