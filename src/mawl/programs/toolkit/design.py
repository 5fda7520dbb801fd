"""Design matrices of models: an intercept, prepared columns, and products of two of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from mawl.plan.columns import Code, Column, Factor, PerGroup, Product
from mawl.tables import arrow

Numbers = NDArray[np.float64]


def class_levels(column: Column) -> tuple[str, ...]:
    """The values of a class that get an indicator: all but the first."""
    codes = column.values.values if isinstance(column.values, PerGroup) else column.values
    assert isinstance(codes, Code)
    return codes.values[1:]


def indicator_names(classes: Iterable[Column]) -> list[str]:
    """Names of the indicators, as :class:`~mawl.plan.columns.Factor` has them."""
    return [Factor(column, value=value).name for column in classes for value in class_levels(column)]


def prepare(batch: pa.RecordBatch, measures: Sequence[Factor], classes: Sequence[Column]) -> Numbers:
    """Centred measures, then the classes' indicators, as (columns, rows)."""
    levels = [(column, value) for column in classes for value in class_levels(column)]
    prepared = np.empty((len(measures) + len(levels), batch.num_rows))
    for place, measure in enumerate(measures):
        np.subtract(arrow.numbers(batch.column(measure.column.name)), measure.less, out=prepared[place])
    words = {column.name: arrow.words(batch.column(column.name)) for column in classes}
    for place, (column, value) in enumerate(levels, start=len(measures)):
        wanted = np.frombuffer(value.ljust(8).encode("latin-1"), np.uint64)
        np.equal(words[column.name], wanted[0], out=prepared[place], casting="unsafe")
    return prepared


class Design:
    """Terms of a model over prepared columns: intercept, ``names``, then ``products`` of two of them."""

    def __init__(self, names: Sequence[str], products: Sequence[tuple[str, str]]) -> None:
        self.terms = ("intercept", *names, *("*".join(pair) for pair in products))
        self._columns = len(names)
        places = {name: place for place, name in enumerate(names)}
        self._products = [
            (row, places[first], places[second])
            for row, (first, second) in enumerate(products, start=1 + len(names))
        ]

    def __len__(self) -> int:
        return len(self.terms)

    def fill(self, prepared: Numbers) -> Numbers:
        """The matrix of (terms, rows) for prepared columns (names, rows)."""
        matrix = np.empty((len(self.terms), prepared.shape[1]))
        matrix[0] = 1.0
        matrix[1 : 1 + self._columns] = prepared
        for row, first, second in self._products:
            np.multiply(prepared[first], prepared[second], out=matrix[row])
        return matrix

    def pick(self, places: NDArray[np.intp], prepared: Numbers) -> Numbers:
        """Some terms' rows of that matrix, (places, rows)."""
        matrix = np.empty((len(places), prepared.shape[1]))
        for row, place in enumerate(places):
            if place == 0:
                matrix[row] = 1.0
            elif place <= self._columns:
                matrix[row] = prepared[place - 1]
            else:
                _, first, second = self._products[place - 1 - self._columns]
                np.multiply(prepared[first], prepared[second], out=matrix[row])
        return matrix

    def truth(self, intercept: int, terms: Iterable[Product], unit: int = 1) -> Numbers:
        """The true coefficient of each of the model's terms, 0 where the generator has none."""
        coefficients = np.zeros(len(self.terms))
        coefficients[0] = intercept / unit
        for term in terms:
            coefficients[self.terms.index(term.name)] = term.slope / unit
        return coefficients
