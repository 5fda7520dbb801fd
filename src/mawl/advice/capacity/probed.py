"""The throughput-per-core gate of a probe: what storage can do for each core, before anything runs on it."""

from __future__ import annotations

from typing import Any

from mawl.advice.capacity.bounds import Bounds
from mawl.advice.capacity.gate import standing_of
from mawl.analysis.capability import by_streams, figures_of, words_of
from mawl.model.probe import PAPERS_REQUEST_BYTES, Probe, ProbeTarget


def probe_gates(probe: Probe, bounds: Bounds) -> dict[str, dict[str, Any]]:
    """The gate of each target, by its name; one that cannot be told has a ``reason``.

    Sequential rates at 256 KiB, at which the gate is defined, by as many streams as cores (or nearest),
    over the cores, reading and writing each; the lower of both decides (docs/design/probe.md, The gate).
    """
    return {target.name: _gate(target, probe, bounds) for target in probe.targets}


def _gate(target: ProbeTarget, probe: Probe, bounds: Bounds) -> dict[str, Any]:
    cores = probe.physical_cores
    block: dict[str, Any] = {
        "core_basis": probe.core_basis,
        "warn_bytes_per_second_per_core": bounds.warn_bytes_per_second_per_core,
        "good_bytes_per_second_per_core": bounds.good_bytes_per_second_per_core,
        "standing": None,
        "met": None,
        "reason": None if cores else "the cores of the node that probed are not known",
    }
    rates = []
    for direction in ("read", "write"):
        # Another request size is another figure, and no gate.
        test = by_streams(target, direction, PAPERS_REQUEST_BYTES, round(cores)) if cores else None
        if test is not None and test.request_bytes != PAPERS_REQUEST_BYTES:
            test = None
        figures = figures_of(test, direction) if test else None
        rate = figures.bytes_per_second / cores if figures and cores else None
        block[f"{direction}_bytes_per_second_per_core"] = rate
        block[f"{direction}_test"] = words_of(test) if test else None
        if rate is not None:
            rates.append(rate)
        elif block["reason"] is None:
            block["reason"] = f"it has no sequential {direction} test of 256 KiB with figures"
    if len(rates) == 2:
        block["standing"] = standing_of(min(rates), bounds)
        block["met"] = block["standing"] != "below"
    return block
