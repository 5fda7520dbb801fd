"""Design matrices: their terms, whole or picked, and rows in blocks of even size."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from mawl.datagen.build import schema
from mawl.datagen.values import column_values
from mawl.plan.columns import Code, Column, Factor, Product, Uniform
from mawl.plan.tables import InputTable
from mawl.programs.toolkit.design import Design, indicator_names, prepare
from mawl.tables import arrow

SIZE, KIND = Factor(Column("size", Uniform(0, 9)), 4), Column("kind", Code(("A", "B", "C")), 8)
TABLE = InputTable(name="sample", full_bytes=0, columns=(SIZE.column, KIND))


def test_measures_are_centred_and_classes_become_indicators() -> None:
    columns = [column_values(TABLE, c, seed=1, replica=0, start=0, count=50) for c in TABLE.columns]
    batch = pa.RecordBatch.from_arrays([arrow.array(column) for column in columns], schema=schema(TABLE))
    found = prepare(batch.slice(7), [SIZE], [KIND])
    assert indicator_names([KIND]) == ["kind=B", "kind=C"]
    assert found[0].tolist() == (columns[0][7:].astype(np.float64) - 4).tolist()
    kinds = columns[1][7:].tolist()
    assert found[1].tolist() == [float(kind.strip() == b"B") for kind in kinds]
    assert found[2].tolist() == [float(kind.strip() == b"C") for kind in kinds]


def test_terms_are_the_same_whole_or_picked() -> None:
    design = Design(["a", "b", "c"], [("a", "a"), ("b", "c")])
    prepared = np.arange(12.0).reshape(3, 4)
    matrix = design.fill(prepared)
    assert design.terms == ("intercept", "a", "b", "c", "a*a", "b*c")
    assert matrix[0].tolist() == [1.0] * 4
    assert matrix[4].tolist() == (prepared[0] ** 2).tolist()
    assert matrix[5].tolist() == (prepared[1] * prepared[2]).tolist()
    places = np.array([5, 0, 2])
    assert np.array_equal(design.pick(places, prepared), matrix[places])


def test_the_truth_stands_at_its_terms() -> None:
    design = Design(["size", "kind=B"], [("size", "size")])
    terms = (Product(6, (SIZE, SIZE)), Product(-2, (Factor(KIND, value="B"),)))
    assert design.truth(8, terms, 2).tolist() == [4.0, 0.0, -1.0, 3.0]
