"""A prediction beside a run that was really made: figure by figure, with the error."""

from __future__ import annotations

from typing import Any

from mawl.analysis.comparison.sides import at
from mawl.model.summary.summary import Summary

COMPARED: dict[str, str] = {
    "time.elapsed_seconds": "seconds",
    "time.real_time_seconds": "seconds",
    "time.cpu_seconds": "seconds",
    "io.device.peak.total_bytes_per_second": "rate",
    "io.device.sustained.total_bytes_per_second": "rate",
    "limit.verdict": "word",
}
"""Figures of the JSON summary, and what they are."""


def beside(predicted: Summary, measured: Summary) -> list[dict[str, Any]]:
    """Rows of figure, predicted, measured and error (predicted over measured, less 1) of two summaries.

    Device figures are those of the storage server's devices, where one was watched and the nodes' own are
    not known.
    ``error_ratio`` is None for words and where a side is not known; ``agrees`` is of words, else None.
    """
    rows = []
    for figure, kind in _figures(measured).items():
        ours, theirs = at(predicted, figure), at(measured, figure)
        known = ours is not None and theirs is not None
        rows.append(
            {
                "figure": figure,
                "predicted": ours,
                "measured": theirs,
                "error_ratio": ours / theirs - 1.0 if known and kind != "word" and theirs else None,
                "agrees": ours == theirs if known and kind == "word" else None,
            }
        )
    return rows


def _figures(measured: Summary) -> dict[str, str]:
    servers = list(measured.cluster.storage if measured.cluster else ())
    if len(servers) != 1:
        return COMPARED
    front = f"cluster.storage.{servers[0]}."
    return {
        figure.replace("io.", front) if at(measured, figure) is None else figure: kind
        for figure, kind in COMPARED.items()
    }
