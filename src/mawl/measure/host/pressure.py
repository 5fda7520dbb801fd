"""Pressure stall information: time in which tasks could not run for want of a resource.

Source: ``/proc/pressure`` (Linux Documentation/accounting/psi.rst).  Kernels built without it have no
such files; where it is switched off by default (psi=1 at boot switches it on) reading them fails
with EOPNOTSUPP.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from mawl.measure.host.files import Figures, FileSource

KINDS = {"cpu": ("some",), "io": ("some", "full"), "memory": ("some", "full")}
"""Of each resource what is meaningful for a whole machine: ``full`` of the CPU is not (psi.rst)."""

_SERIES = {
    (resource, kind.encode()): f"host.pressure_{resource}_{kind}_seconds"
    for resource, kinds in KINDS.items()
    for kind in kinds
}


def parse_pressure(text: bytes, resource: str) -> Figures:
    """Cumulative stall seconds: ``some`` task waited, ``full``: all that were not idle did."""
    figures: Figures = {}
    for line in text.splitlines():
        kind, _, rest = line.partition(b" ")
        series = _SERIES.get((resource, kind))
        if series is not None:
            figures[series] = int(rest.rpartition(b"total=")[2]) / 1e6
    return figures


def pressure_sources(proc: Path) -> list[FileSource]:
    """One for each resource."""
    return [
        FileSource(
            proc / "pressure" / resource,
            partial(parse_pressure, resource=resource),
            tuple(f"host.pressure.{resource}_{kind}_ratio" for kind in kinds),
        )
        for resource, kinds in KINDS.items()
    ]
