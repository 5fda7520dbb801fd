"""Outcomes that hidden rules decide: the chance of each row, in whole 65,536ths."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mawl.plan.columns import Column, Outcome


def columns_of(outcome: Outcome) -> list[Column]:
    """The columns that the rules look at, once each, in the order of rules."""
    found = {
        condition.column.name: condition.column for rule in outcome.rules for condition in rule.conditions
    }
    return list(found.values())


def true_chances(outcome: Outcome, columns: Mapping[str, NDArray[Any]]) -> NDArray[np.int64]:
    """The chance of 1 of each row in 65,536ths: int64 of shape (rows,).

    ``columns`` hold, by name, at least the columns of :func:`columns_of`, (rows,) each.
    """
    rows = len(next(iter(columns.values())))
    points = np.full(rows, outcome.base, np.int64)
    for rule in outcome.rules:
        holds = np.ones(rows, np.bool_)
        for condition in rule.conditions:
            holds &= columns[condition.column.name] >= condition.at_least
        points += rule.points * holds
    np.clip(points, 0, len(outcome.chances) - 1, out=points)
    return np.array(outcome.chances, np.int64)[points]
