"""The fitted numbers without a paper: what the model forecasts of systems that it has never seen.

Printed by ``python -m tools.published_fit --held-out``: for each paper that has a pair of systems, the six
numbers fitted on all systems of the other papers.
"""

from __future__ import annotations

from mawl.whatif.published_forecast import FittedNumbers

HELD_OUT: dict[str, FittedNumbers] = {
    "dl980-ioscale-2014": FittedNumbers(
        cpu_ratio=1.0,
        bytes_ratio=0.7857,
        stream_bytes_per_second=4.208e08,
        unhidden_ratio=0.3664,
        threads=1.882,
        waiting_cpu_ratio=0.5,
    ),
    "power-s822-2015": FittedNumbers(
        cpu_ratio=1.01,
        bytes_ratio=0.8658,
        stream_bytes_per_second=7.665e08,
        unhidden_ratio=0.3259,
        threads=1.515,
        waiting_cpu_ratio=0.5125,
    ),
    "power-e880-2016": FittedNumbers(
        cpu_ratio=0.7143,
        bytes_ratio=0.7232,
        stream_bytes_per_second=5.565e08,
        unhidden_ratio=0.701,
        threads=1.429,
        waiting_cpu_ratio=0.3087,
    ),
    "power-e880-2017": FittedNumbers(
        cpu_ratio=0.8333,
        bytes_ratio=0.8333,
        stream_bytes_per_second=4.319e08,
        unhidden_ratio=0.5953,
        threads=1.667,
        waiting_cpu_ratio=0.3246,
    ),
    "power-e980-fs9150": FittedNumbers(
        cpu_ratio=0.7793,
        bytes_ratio=0.7665,
        stream_bytes_per_second=4.525e08,
        unhidden_ratio=0.5327,
        threads=1.592,
        waiting_cpu_ratio=0.388,
    ),
}
"""Key of a paper to the numbers that were fitted without it."""
