"""The estimator against compressing everything: 10 GB, one codec and block size, bounds of 2 points.

The tree is ten sets of files of five kinds; the truth is every block compressed, once.
"""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path
from random import Random

from bench.harness import Result, at_least, at_most, sized, spread
from mawl.measure.compressibility.codecs import KIB, ZSTD_1, EstimateRequest
from mawl.measure.compressibility.estimate import VolumeEstimates, estimate
from mawl.measure.compressibility.population import Population
from mawl.records.model.compressibility import Estimate
from tests.measure.compressibility.pieces import write_mixture

NAME = "compressibility"
PIECE_BYTES = sized(10**9, 10**7)
TREE_BYTES = 10 * PIECE_BYTES
SEEDS = sized(200, 2)
FEWEST_INSIDE = 184
FIGURES = (EstimateRequest("plain", ZSTD_1, 128 * KIB),)
MOST_CPU_RATIO = 0.05


def run() -> list[Result]:
    """CPU seconds of both, and how far the estimates lay from the truth."""
    with tempfile.TemporaryDirectory(prefix="mawl-bench-", dir=os.environ.get("MAWL_BENCH_DIR")) as directory:
        tree = Path(directory)
        for number in range(TREE_BYTES // PIECE_BYTES):
            piece = tree / f"piece{number}"
            piece.mkdir()
            write_mixture(piece, PIECE_BYTES, Random(number))
        truth, all_seconds = _look(tree, 0, read_all_bytes=2**60)
        looks = [_look(tree, seed, read_all_bytes=0) for seed in range(SEEDS)]
    exact = _saving(truth)
    seconds = [used for _, used in looks]
    errors = [abs(_saving(found) - exact) for found, _ in looks]
    inside = sum(
        error <= (_first(found).half_width_ratio or 0.0)
        for error, (found, _) in zip(errors, looks, strict=True)
    )
    what = f"zstd-1 at 128 KiB on {TREE_BYTES / 1e9:g} GB"
    draws = [float(_first(found).draws) for found, _ in looks]
    return [
        at_most(
            "estimate over compressing all, CPU",
            sorted(seconds)[SEEDS // 2] / all_seconds,
            "",
            MOST_CPU_RATIO,
            f"{what}: {spread(seconds, 's')} against {all_seconds:.3g} s; {spread(draws, 'blocks')}",
        ),
        at_least(
            "estimates within their bound",
            inside,
            f"of {SEEDS}",
            FEWEST_INSIDE,
            f"truth {exact:.4f}; off by {spread(errors)}",
        ),
    ]


def _look(tree: Path, seed: int, *, read_all_bytes: int) -> tuple[VolumeEstimates, float]:
    before = time.process_time()
    population = Population()
    population.add(tree)
    found = estimate(
        population,
        FIGURES,
        confidence=0.95,
        half_width=0.02,
        random=Random(seed),
        read_all_bytes=read_all_bytes,
    )
    return found, time.process_time() - before


def _first(found: VolumeEstimates) -> Estimate:
    return found.estimates[0]


def _saving(found: VolumeEstimates) -> float:
    saving = _first(found).saving_ratio
    assert saving is not None, found.reason
    return saving
