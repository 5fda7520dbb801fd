"""How found groups of rows agree with hidden ones, counted over rows that come in batches."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mawl.programs.context import check_equal

Kinds = NDArray[np.intp]


class Agreement:
    """Counts of rows by found and by true group, both numbered from 0: ``counts`` is (groups, groups)."""

    def __init__(self, groups: int) -> None:
        self.groups = groups
        self.counts = np.zeros((groups, groups), np.int64)

    def add(self, found: Kinds, truth: Kinds) -> None:
        """One batch: the found and the true group of its rows, (rows,) each."""
        counts = np.bincount(found * self.groups + truth, minlength=self.groups**2)
        self.counts += counts.reshape(self.groups, self.groups)

    def partners(self, what: str, rows: int) -> Kinds:
        """The true group of each found one; raises unless all ``rows`` are there and groups pair off."""
        check_equal(f"the number of rows by found {what}", int(self.counts.sum()), rows)
        partner: Kinds = self.counts.argmax(axis=1)
        check_equal(f"the found {what}' true ones", sorted(partner.tolist()), list(range(self.groups)))
        return partner

    @property
    def ratio(self) -> float:
        """The share of rows that are in the true group of their found one."""
        return float(self.counts.max(axis=1).sum() / self.counts.sum())
