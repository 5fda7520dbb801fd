"""The lines that scripts around iotest.sh and rhel_iotest.sh look for: throughput per core in megabytes.

``read throughput rate:`` and ``write throughput rate:`` stand as those scripts print them, with their
megabyte (2**20 bytes).  The figure is the sustained throughput at the device (the median window of the
active phase) over the cores that the jobs could use.  A direction that is not known has no line, since
a script would take 0 for a measurement.
"""

from __future__ import annotations

from mawl.analysis.throughput import cores_of
from mawl.analysis.view import RunView
from mawl.formats.lines import one_line
from mawl.model.summary.summary import Summary

MEGABYTE_BYTES = 2**20
TITLES = {"read": "read throughput rate:   ", "write": "write throughput rate:  "}


def render(view: RunView, summary: Summary) -> str:
    """A block in the layout of the results of those scripts."""
    device = summary.io.device.sustained
    cores, reason = cores_of(view.facts)
    rates = {direction: getattr(device, f"{direction}_bytes_per_second") for direction in TITLES}
    basis = next((node.core_basis for node in view.facts.nodes), None) or "core"
    statistics = [
        f"  {TITLES[direction]}{rate / cores / MEGABYTE_BYTES:.2f} megabytes/second per {basis}"
        for direction, rate in rates.items()
        if rate is not None and cores
    ]
    if not statistics:
        why = summary.missing["io.device.sustained.read_bytes_per_second"] if cores else reason
        statistics = [f"  not known: {one_line(why)}"]
    return "\n".join(
        [
            "RESULTS",
            "-------",
            f"INVOCATION:  mawl report {one_line(summary.run_id)} --format throughput",
            "",
            "TARGET DETAILS",
            *(f"  {volume.role}:         {one_line(volume.directory)}" for volume in summary.volumes),
            "",
            "STATISTICS",
            *statistics,
            "-----------------------------",
        ]
    )
