"""The fitted numbers without a paper: what the model forecasts of systems that it has never seen.

Printed by ``python -m tools.published_fit --held-out``: for each paper that has a pair of systems, the six
numbers fitted on all systems of the other papers.
"""

from __future__ import annotations

from mawl.whatif.published_forecast import FittedNumbers

HELD_OUT: dict[str, FittedNumbers] = {
    "dl980-ioscale-2014": FittedNumbers(
        cpu_ratio=1.35,
        bytes_ratio=0.7143,
        stream_bytes_per_second=7.143e08,
        unhidden_ratio=0.07787,
        threads=2.0,
        waiting_cpu_ratio=0.5,
    ),
    "power-s822-2015": FittedNumbers(
        cpu_ratio=0.7367,
        bytes_ratio=0.9205,
        stream_bytes_per_second=3.936e08,
        unhidden_ratio=0.421,
        threads=1.355,
        waiting_cpu_ratio=0.3462,
    ),
    "power-e880-2016": FittedNumbers(
        cpu_ratio=0.7322,
        bytes_ratio=0.7143,
        stream_bytes_per_second=5.230e08,
        unhidden_ratio=0.663,
        threads=1.651,
        waiting_cpu_ratio=0.3484,
    ),
    "power-e880-2017": FittedNumbers(
        cpu_ratio=0.9546,
        bytes_ratio=0.8572,
        stream_bytes_per_second=4.017e08,
        unhidden_ratio=0.2953,
        threads=1.588,
        waiting_cpu_ratio=0.5762,
    ),
    "power-e980-fs9150": FittedNumbers(
        cpu_ratio=0.7857,
        bytes_ratio=0.7407,
        stream_bytes_per_second=5.682e08,
        unhidden_ratio=0.6065,
        threads=1.394,
        waiting_cpu_ratio=0.3444,
    ),
}
"""Key of a paper to the numbers that were fitted without it."""
