"""The fitted numbers without a paper: what the model forecasts of systems that it has never seen.

Printed by ``python -m tools.published_fit --held-out``: for each paper that has a pair of systems, the six
numbers fitted on all systems of the other papers.
"""

from __future__ import annotations

from mawl.whatif.published_forecast import FittedNumbers

HELD_OUT: dict[str, FittedNumbers] = {
    "dl980-ioscale-2014": FittedNumbers(
        cpu_ratio=0.825,
        bytes_ratio=0.75,
        stream_bytes_per_second=2.765e09,
        unhidden_ratio=0.1052,
        threads=1.155,
        waiting_cpu_ratio=0.5,
    ),
    "power-s822-2015": FittedNumbers(
        cpu_ratio=0.7322,
        bytes_ratio=0.8154,
        stream_bytes_per_second=1e10,
        unhidden_ratio=0.1937,
        threads=1.697,
        waiting_cpu_ratio=0.6442,
    ),
    "power-e880-2016": FittedNumbers(
        cpu_ratio=0.7857,
        bytes_ratio=0.7232,
        stream_bytes_per_second=1.167e09,
        unhidden_ratio=0.123,
        threads=1.659,
        waiting_cpu_ratio=0.5926,
    ),
    "power-e880-2017": FittedNumbers(
        cpu_ratio=0.8164,
        bytes_ratio=0.7793,
        stream_bytes_per_second=1.845e09,
        unhidden_ratio=0.1677,
        threads=1.68,
        waiting_cpu_ratio=0.6223,
    ),
    "power-e980-fs9150": FittedNumbers(
        cpu_ratio=0.789,
        bytes_ratio=0.7857,
        stream_bytes_per_second=1.884e09,
        unhidden_ratio=0.1562,
        threads=1.68,
        waiting_cpu_ratio=0.6248,
    ),
}
"""Key of a paper to the numbers that were fitted without it."""
