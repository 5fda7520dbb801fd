"""The fitted numbers without a paper: what the model forecasts of systems that it has never seen.

Printed by ``python -m tools.published_fit --held-out``: for each paper that has a pair of systems, the six
numbers fitted on all systems of the other papers.
"""

from __future__ import annotations

from mawl.whatif.published_forecast import FittedNumbers

HELD_OUT: dict[str, FittedNumbers] = {
    "dl980-ioscale-2014": FittedNumbers(
        cpu_ratio=1.048,
        bytes_ratio=0.776,
        stream_bytes_per_second=5.411e08,
        unhidden_ratio=0.2439,
        threads=1.522,
        waiting_cpu_ratio=0.5,
    ),
    "power-s822-2015": FittedNumbers(
        cpu_ratio=0.8281,
        bytes_ratio=0.8869,
        stream_bytes_per_second=3.21e08,
        unhidden_ratio=0.3269,
        threads=1.503,
        waiting_cpu_ratio=0.4938,
    ),
    "power-e880-2016": FittedNumbers(
        cpu_ratio=0.7143,
        bytes_ratio=0.7322,
        stream_bytes_per_second=5.475e08,
        unhidden_ratio=0.6098,
        threads=1.361,
        waiting_cpu_ratio=0.3401,
    ),
    "power-e880-2017": FittedNumbers(
        cpu_ratio=0.8333,
        bytes_ratio=0.8658,
        stream_bytes_per_second=3.552e08,
        unhidden_ratio=0.4224,
        threads=1.731,
        waiting_cpu_ratio=0.4253,
    ),
    "power-e980-fs9150": FittedNumbers(
        cpu_ratio=0.7793,
        bytes_ratio=0.7483,
        stream_bytes_per_second=4.87e08,
        unhidden_ratio=0.566,
        threads=1.361,
        waiting_cpu_ratio=0.3571,
    ),
}
"""Key of a paper to the numbers that were fitted without it."""
