"""The fitted numbers without a paper: what the model forecasts of systems that it has never seen.

Printed by ``python -m tools.published_fit --held-out``: for each paper that has a pair of systems, the six
numbers fitted on all systems of the other papers.
"""

from __future__ import annotations

from mawl.whatif.published_forecast import FittedNumbers

HELD_OUT: dict[str, FittedNumbers] = {
    "dl980-ioscale-2014": FittedNumbers(
        cpu_ratio=1.167,
        bytes_ratio=0.7232,
        stream_bytes_per_second=1.256e09,
        unhidden_ratio=0.4043,
        threads=1.389,
        waiting_cpu_ratio=0.5,
    ),
    "power-s822-2015": FittedNumbers(
        cpu_ratio=0.935,
        bytes_ratio=0.8849,
        stream_bytes_per_second=4.497e08,
        unhidden_ratio=0.3775,
        threads=1.475,
        waiting_cpu_ratio=0.4375,
    ),
    "power-e880-2016": FittedNumbers(
        cpu_ratio=0.7481,
        bytes_ratio=0.6494,
        stream_bytes_per_second=6.944e08,
        unhidden_ratio=0.803,
        threads=1.411,
        waiting_cpu_ratio=0.3088,
    ),
    "power-e880-2017": FittedNumbers(
        cpu_ratio=1.253,
        bytes_ratio=0.7575,
        stream_bytes_per_second=1.277e09,
        unhidden_ratio=0.322,
        threads=1.667,
        waiting_cpu_ratio=0.63,
    ),
    "power-e980-fs9150": FittedNumbers(
        cpu_ratio=0.7954,
        bytes_ratio=0.75,
        stream_bytes_per_second=4.509e08,
        unhidden_ratio=0.5531,
        threads=1.572,
        waiting_cpu_ratio=0.3835,
    ),
}
"""Key of a paper to the numbers that were fitted without it."""
