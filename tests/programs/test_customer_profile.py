"""customer_profile: the table it makes, and wrong answers planted in each of its parts."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mawl.programs import customer_profile
from mawl.programs.customer_profile import household, make_rows, members
from mawl.programs.declarations.customer_profile import HOUSEHOLD_ROWS, SEGMENTS
from mawl.programs.tables import arrow
from mawl.programs.tables.arrow import TableWriter
from mawl.programs.toolkit.estimates import LeastSquares
from mawl.programs.toolkit.groups import group_means
from mawl.records.spec.program_options import MIB, Options
from tests.contract.jobs import Job, assign, run_here
from tests.contract.planted_run import without_first_row
from tests.programs.faults import Fault, each, given, result, sequence

OPTIONS = Options(memsize_bytes=64 * MIB, sortsize_bytes=MIB)
SCALE = 0.00006


def job(place: Path) -> Job:
    return run_here(assign("customer_profile", SCALE, OPTIONS, {}, place))


def test_rows_are_the_same_on_every_machine_and_any_can_be_made_alone() -> None:
    digest = hashlib.blake2b(digest_size=8)
    for start in (0, 2**31 - 100, 2**32):
        batch = make_rows(seed=1, replica=0, rows=2**33, start=start, count=500)
        alone = make_rows(seed=1, replica=0, rows=2**33, start=start + 13, count=22)
        assert alone.equals(batch.slice(13, 22))
        for column in batch.columns:
            digest.update(arrow.numbers(column).tobytes())
        assert all((arrow.numbers(column) % 1 == 0).all() for column in batch.columns)
    assert digest.hexdigest() == "e326f584af93df1f"


@pytest.mark.parametrize("rows", [4000, 8 * 1_000_003, 39_056])
def test_each_household_has_eight_customers(rows: int) -> None:
    found = household(np.arange(rows, dtype=np.float64), rows)
    assert np.bincount(found.astype(np.intp)).tolist() == [HOUSEHOLD_ROWS] * (rows // HOUSEHOLD_ROWS)


@pytest.mark.parametrize("rows", [4000, 8 * 1_000_003, 39_056])
def test_members_are_those_of_the_household(rows: int) -> None:
    for number in (0, 1, rows // HOUSEHOLD_ROWS - 1):
        found = np.array(members(number, rows), np.float64)
        assert len(set(found.tolist())) == HOUSEHOLD_ROWS and found.max() < rows
        assert (household(found, rows) == number).all()


def test_means_of_groups_in_order() -> None:
    rows = np.array([[1.0, 2.0], [1.0, 4.0], [3.0, 5.0]])
    assert group_means(rows).tolist() == [[1.0, 3.0], [3.0, 5.0]]
    assert group_means(rows[:0]).tolist() == []


def test_a_right_job_at_its_smallest(tmp_path: Path) -> None:
    found = job(tmp_path)
    assert found.failed is None
    assert found.answer is not None
    assert found.answer["households"] == found.answer["customers"] // HOUSEHOLD_ROWS  # type: ignore[operator]


def _backwards(batch: Any) -> Any:
    return batch.take(np.arange(batch.num_rows - 1, -1, -1))


def _of_the_next(rows: Any) -> Any:
    """Means that stand with the next household."""
    return np.column_stack([rows[:, :1], np.roll(rows[:, 1:], 1, axis=0)])


def _other_segment(fitted: tuple[int, Any, Any]) -> tuple[int, Any, Any]:
    segment, rows, response = fitted
    return (segment + 1) % SEGMENTS, rows, response


def _next_terms(solve: Any) -> Any:
    def solved(self: LeastSquares) -> None:
        solve(self)
        self.coefficients = np.roll(self.coefficients, 1)

    return solved


def _cut(batch: Any) -> Any:
    place = batch.schema.get_field_index("spend_cents")
    cents = arrow.numbers(batch.column(place))
    return batch.set_column(place, batch.schema.field(place), arrow.array(cents // 1000 * 1000))


FAULTS = {
    "predictors are a tenth too large": Fault(
        customer_profile, "design", result(lambda rows: 1.1 * rows), "coefficient of the regression"
    ),
    "spend is the next customer's": Fault(
        LeastSquares,
        "add",
        given(lambda self, rows, response: (self, rows, np.roll(response, 1))),
        "coefficient of the regression",
    ),
    "coefficients are of other terms": Fault(
        LeastSquares, "solve", _next_terms, "coefficient of the regression"
    ),
    "customers count for other segments": Fault(
        customer_profile, "by_segment", each(_other_segment), "number of customers by segment"
    ),
    "some residuals are left out": Fault(
        LeastSquares,
        "add_residuals",
        given(lambda self, rows, response: (self, rows[::2], response[::2])),
        "number of residuals",
    ),
    "residuals are a tenth too small": Fault(
        LeastSquares,
        "add_residuals",
        given(lambda self, rows, response: (self, 0.9 * rows, 0.9 * response)),
        "variance of the residuals",
    ),
    "means are sums": Fault(
        customer_profile,
        "group_means",
        result(lambda rows: np.column_stack([rows[:, :1], 8.0 * rows[:, 1:]])),
        "means of household",
    ),
    "means are the next household's": Fault(
        customer_profile, "group_means", result(_of_the_next), "means of household"
    ),
    "spend is added up twice": Fault(
        customer_profile, "total", result(lambda found: 2 * found), "sum of spend by segment"
    ),
    "some customers have no region": Fault(
        customer_profile, "total_rows", result(lambda found: found - 1), "number of customers by region"
    ),
    "sorted rows go backwards": Fault(
        customer_profile, "sorted_batches", each(_backwards), "sorted by household is out of order"
    ),
    "a sorted batch is lost": Fault(
        customer_profile, "sorted_batches", sequence(lambda found: found[1:]), "number of households"
    ),
    "a sorted batch comes twice": Fault(
        customer_profile, "sorted_batches", sequence(lambda found: [*found, found[-1]]), "out of order"
    ),
    "spend is cut to thousands": Fault(
        customer_profile,
        "sorted_batches",
        each(_cut),
        "is wrong",
    ),
    "a row is lost": Fault(TableWriter, "write", without_first_row, "is wrong"),
}
