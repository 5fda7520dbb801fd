"""Terms of an answer, for a reader who sees one for the first time."""

from __future__ import annotations

from mawl.advice.qualification.nodes import LEAST_RATIO
from mawl.units import format_ratio

WORDS = (
    (
        "session",
        "one analyst's queue of jobs: when one job has ended, the next one starts at once. It is neither a "
        "login nor a head count: an analyst who pauses between jobs is less than one session",
    ),
    (
        "times as long as alone",
        "half of the jobs take at least so many times as long in the mix as alone on this machine; the range "
        "is the 95 % interval, and the bound is a convention",
    ),
    (
        "data, work, util",
        "directories of input tables and results, of temporary tables, of sort and spill files",
    ),
)
STORAGE_WORDS = (
    (
        "read, written",
        "rates at the device, of all programs, from the first job to the last (median of the runs)",
    ),
    (
        "latency, queue",
        "mean time of a request with its wait in the queue; mean number of requests that wait or are served",
    ),
)
NODES_WORDS = (
    (
        "nodes, shared storage",
        "the nodes limit where one node alone takes as long as all together; the shared storage or its "
        f"network where jobs surely take more than {format_ratio(LEAST_RATIO)} times as long with all nodes "
        "as with one, and wait for storage or network",
    ),
)
