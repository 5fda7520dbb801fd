"""The throughput-per-core gate: what the papers' publisher asks of storage for each core."""

from __future__ import annotations

from typing import Any, Literal

from mawl.advice.capacity.bounds import Bounds
from mawl.advice.evidence import Reading
from mawl.advice.foreign import foreign
from mawl.analysis.blocks import Missing
from mawl.analysis.io import cached_directions

PER_CORE = "sustained_bytes_per_second_per_core"

NOT_ASKED = "no imported file tells how much was asked of the storage, and how much the page cache served"

Standing = Literal["good", "warn", "below"]


def gate_block(reading: Reading, bounds: Bounds, missing: Missing) -> dict[str, Any]:
    """``capacity.gate``: sustained device throughput per core against the two bounds.

    ``met`` is null where the run cannot tell: no figure, or less than was asked for because the page
    cache served it.  All of it is null where others moved more than a tenth of the bytes
    (:mod:`mawl.advice.foreign`).  Of imported files
    less is null, too: none tells what the page cache served, nor what was asked for.  Throughput of the
    jobs' own that meets the gate meets it whatever limited the run.
    """
    device = reading.summary["io"]["device"]
    value = device[PER_CORE]
    standing: Standing | None = None
    met: bool | None = None
    others = foreign(reading.summary)
    if others is not None:
        value = None
    if value is None:
        reason = others or reading.summary["missing"][f"io.device.{PER_CORE}"]
        missing |= {
            f"capacity.gate.{name}": reason for name in ("bytes_per_second_per_core", "standing", "met")
        }
    else:
        standing = standing_of(value, bounds)
        met = standing != "below"
        if not met and cached_directions(reading.summary["io"]):
            met = None
            missing["capacity.gate.met"] = (
                "the page cache served the load, so the storage was not asked for more"
            )
        elif not met and reading.facts.kind == "imported":
            met = None
            missing["capacity.gate.met"] = NOT_ASKED
    missing["capacity.gate.core_basis"] = "the nodes' cores are not known in one basis"
    bases = {node.core_basis for node in reading.facts.nodes}
    return {
        "bytes_per_second_per_core": value,
        "warn_bytes_per_second_per_core": bounds.warn_bytes_per_second_per_core,
        "good_bytes_per_second_per_core": bounds.good_bytes_per_second_per_core,
        "core_basis": bases.pop() if len(bases) == 1 else None,
        "standing": standing,
        "met": met,
    }


def standing_of(bytes_per_second_per_core: float, bounds: Bounds) -> Standing:
    """Where a throughput per core stands between the two bounds."""
    if bytes_per_second_per_core >= bounds.good_bytes_per_second_per_core:
        return "good"
    return "warn" if bytes_per_second_per_core >= bounds.warn_bytes_per_second_per_core else "below"
