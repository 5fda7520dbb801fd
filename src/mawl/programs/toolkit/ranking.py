"""How well scores rank what happened and what did not, over rows that come in batches."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mawl.programs.context import check

Numbers = NDArray[np.float64]
Counts = NDArray[np.int64]


class ScoreBins:
    """Counts of rows with outcome 0 and 1 in ``bins`` equal bins of a score between 0 and 1."""

    def __init__(self, bins: int = 4096) -> None:
        self._bins = bins
        self.counts: Counts = np.zeros((2, bins), np.int64)

    def add(self, scores: Numbers, happened: NDArray[np.bool_]) -> None:
        """One batch: scores and outcomes of its rows, (rows,) each."""
        places = np.minimum((scores * self._bins).astype(np.int64), self._bins - 1)
        places += self._bins * happened
        self.counts += np.bincount(places, minlength=2 * self._bins).reshape(2, self._bins)

    @property
    def rows(self) -> int:
        return int(self.counts.sum())

    def area(self) -> float:
        """Area under the receiver operating characteristic (0 to 1), ties of a bin counted half."""
        below = np.cumsum(self.counts[0]) - self.counts[0]
        pairs = (self.counts[1] * (below + 0.5 * self.counts[0])).sum()
        return float(pairs / max(float(self.counts[0].sum()) * float(self.counts[1].sum()), 1.0))

    def accuracy(self) -> float:
        """Share of rows on the right side of one half (0 to 1)."""
        half = self._bins // 2
        right = self.counts[0, :half].sum() + self.counts[1, half:].sum()
        return float(right / max(self.rows, 1))

    def by_part(self, parts: int) -> tuple[Counts, Counts, Numbers]:
        """Rows, those with outcome 1 and their mean score in ``parts`` about equal parts, scores rising.

        (parts,) each; whole bins make a part, and a row's score is its bin's middle.
        """
        sizes = self.counts.sum(axis=0)
        reached = np.cumsum(sizes) / max(self.rows, 1)
        firsts = np.searchsorted(reached, np.arange(1, parts) / parts) + 1
        places = np.searchsorted(firsts, np.arange(self._bins), side="right")
        middles = (np.arange(self._bins) + 0.5) / self._bins

        by_part = np.bincount(places, weights=sizes, minlength=parts)
        happened = np.bincount(places, weights=self.counts[1], minlength=parts)
        mean = np.bincount(places, weights=sizes * middles, minlength=parts) / np.maximum(by_part, 1.0)
        return by_part.astype(np.int64), happened.astype(np.int64), mean


def check_calibration(what: str, ranking: ScoreBins, *, parts: int, slack: float, deviations: float) -> None:
    """Raise ``WrongAnswerError`` unless rows of about equal parts happen as foretold.

    Shares may be off by ``slack`` and so many of their standard errors.
    """
    sizes, observed, foretold = ranking.by_part(parts)
    filled = sizes > 0
    sizes, foretold = sizes[filled], foretold[filled]
    found = observed[filled] / sizes
    allowed = slack + deviations * np.sqrt(foretold * (1.0 - foretold) / sizes)
    check(
        bool((np.abs(found - foretold) <= allowed).all()),
        f"the share of {what}",
        found=found.round(4).tolist(),
        expected=f"{foretold.round(4).tolist()}, as foretold",
    )
