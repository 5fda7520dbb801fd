"""Sorting, projecting and segmenting with one thing wrong: the programs' own checks must say so."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tests.contract.planted_run import instead, run_with, without_first_row


def reordered(change: Callable[[list[Any]], list[Any]]) -> Callable[[Any], Any]:
    """Change the sequence that a function yields."""
    return lambda function: lambda *arguments, **options: iter(change(list(function(*arguments, **options))))


def column_changed(name: str, change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Change a column of a record batch, where it has it."""

    def changed(batch: Any) -> Any:
        place = batch.schema.get_field_index(name)
        if place < 0:
            return batch
        values = pa.array(change(batch.column(place).to_numpy().copy()))
        return batch.set_column(place, batch.schema.field(place), values)

    return changed


def one_more(values: Any) -> Any:
    values[0] += 1.0
    return values


def backwards(batch: Any) -> Any:
    return batch.take(pa.array(range(batch.num_rows))[::-1])


def half_given(moments: Any) -> Any:
    """Moments of every second batch."""
    return lambda context, batches, *a, **k: moments(
        context, (batch for number, batch in enumerate(batches) if number % 2 == 0), *a, **k
    )


WIDE_SORT: dict[str, dict[str, Any]] = {
    "a row is lost": {"context:TableWriter.write": without_first_row},
    "batches change places": {"wide_sort:sorted_batches": reordered(lambda found: found[::-1])},
    "a batch comes twice": {"wide_sort:sorted_batches": reordered(lambda found: [*found, found[-1]])},
    "a batch is lost": {"wide_sort:sorted_batches": reordered(lambda found: found[:-1])},
    "rows within batches go backwards": {
        "wide_sort:sorted_batches": reordered(lambda found: [backwards(batch) for batch in found])
    },
    "values changed places": {
        "wide_sort:sorted_batches": reordered(
            lambda found: [column_changed("fee_cents", lambda v: np.roll(v, 1))(batch) for batch in found]
        )
    },
    "one value is another": {
        "wide_sort:sorted_batches": reordered(
            lambda found: [column_changed("merchant", one_more)(found[0]), *found[1:]]
        )
    },
    "parts are not sorted": {"sorting:np.lexsort": lambda _: lambda keys: np.arange(len(keys[0]))},
    "rows go to other partitions": {
        "sorting:KeyRanges.number": lambda number: lambda self, *keys: self.count - 1 - number(self, *keys)
    },
    "moments of some rows": {"wide_sort:moments_by": half_given},
    "another amount is totalled": {
        "wide_sort:_Groups.add": lambda add: lambda self, group, cents: add(self, group, cents + 1.0)
    },
    "the totals are another column's": {
        "wide_sort:total": lambda total: lambda found, name: total(found, name) + len(found)
    },
}


@pytest.mark.parametrize("fault", WIDE_SORT)
def test_wide_sort_rejects(
    fault: str, make_table: Callable[[str, float], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = run_with("wide_sort", make_table, tmp_path, WIDE_SORT[fault], monkeypatch)
    assert job.failed is not None
    assert job.failed.wrong_answer, job.failed.sentence


def with_tile(column: str, change: Callable[[Any], Any]) -> dict[str, Any]:
    """Project policies that differ in one column from those read."""

    def changed(project: Any) -> Any:
        return lambda self, tile, flows: project(self, {**tile, column: change(tile[column])}, flows)

    return {"stress_projection:_Projector._project_tile": changed}


STRESS_PROJECTION: dict[str, dict[str, Any]] = {
    "a row is lost": {"context:TableWriter.write": without_first_row},
    "ages are a year off": with_tile("age", lambda age: np.minimum(age + 1, 80)),
    "terms are a month short": with_tile("term_months", lambda term: term - 1),
    "durations are a month long": with_tile("duration_months", lambda months: months + 1),
    "everybody smokes": with_tile("smoker", np.ones_like),
    "sums assured are a tenth higher": with_tile("sum_assured", lambda value: value * 1.1),
    "premiums are monthly ones": with_tile("annual_premium", lambda value: value / 12),
    "nobody pays": with_tile("paying", np.zeros_like),
    "lapse classes are ignored": with_tile("lapse_class", np.zeros_like),
    "expense classes are ignored": with_tile("expense_class", np.zeros_like),
    "shocks changed places": {
        "stress_projection:_Projector.present_values": lambda value: (
            lambda self, flows: value(self, flows)[::-1]
        )
    },
    "the last month is forgotten": {
        "stress_projection:_Projector.by_month": lambda sums: (
            lambda self, flows: np.pad(sums(self, flows[:-1]), ((0, 0), (0, 1)))
        )
    },
    "the tables changed places": {
        "context:JobContext.work": lambda work: (
            lambda self, name: work(
                self, {"paying.arrow": "paid_up.arrow", "paid_up.arrow": "paying.arrow"}.get(name, name)
            )
        ),
        "stress_projection:_StressProjection._values": lambda values: (
            lambda self, name: values(self, {"paying": "paid_up", "paid_up": "paying"}[name])
        ),
    },
    "values stand with the next policy": {
        "stress_projection:_Projector.present_values": lambda value: (
            lambda self, flows: np.roll(value(self, flows), 1, axis=1)
        )
    },
}


@pytest.mark.parametrize("fault", STRESS_PROJECTION)
def test_stress_projection_rejects(
    fault: str, make_table: Callable[[str, float], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = run_with("stress_projection", make_table, tmp_path, STRESS_PROJECTION[fault], monkeypatch)
    assert job.failed is not None
    assert job.failed.wrong_answer, job.failed.sentence


def of_result(change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Change what a method returns."""
    return lambda method: lambda self, *arguments: change(method(self, *arguments))


def some_columns_blank(values: Any) -> Any:
    values[:, 4:] = 0.0
    return values


def rows_rolled(values: Any) -> Any:
    return np.roll(values, 1, axis=1)


SEGMENTATION: dict[str, dict[str, Any]] = {
    "a row is lost": {"context:TableWriter.write": without_first_row},
    "customers stand with the next one's features": {
        "segmentation:_derive": lambda derive: lambda batch: rows_rolled(derive(batch))
    },
    "two clusters are taken for one": {
        "segmentation:_Segmentation._predict": of_result(lambda found: np.where(found == 1, 0, found))
    },
    "all customers are in one cluster": {"segmentation:_Segmentation._predict": of_result(np.zeros_like)},
    "every third customer is anywhere": {
        "segmentation:_Segmentation._predict": of_result(
            lambda found: np.where(np.arange(len(found)) % 3, found, (found + 1) % 8)
        )
    },
    "most features are left out": {"segmentation:_Segmentation._standardise": of_result(some_columns_blank)},
    "features are not centred alike": {
        "segmentation:_Segmentation._standardise": lambda standardise: (
            lambda self, rows: standardise(self, rows) + len(rows) % 7
        )
    },
    "components are stretched": {"segmentation:PCA.transform": of_result(lambda scores: 1.1 * scores)},
    "one component": {"segmentation:_COMPONENTS": instead(1)},
    "other columns are the features": {
        "segmentation:_FEATURE_PLACES": lambda places: [place - 1 for place in places]
    },
    "profiles are of the wrong clusters": {
        "segmentation:np.eye": lambda eye: lambda size: np.roll(eye(size), 1, axis=0)
    },
    "profiles are sums of two columns": {
        "segmentation:_Segmentation._passed": lambda passed: (
            lambda self: (rows * 1.5 for rows in passed(self))
        )
    },
    "some batches are not scored": {
        "segmentation:_Segmentation._passed": lambda passed: lambda self: (rows[::2] for rows in passed(self))
    },
}


@pytest.mark.parametrize("fault", SEGMENTATION)
def test_segmentation_rejects(
    fault: str, make_table: Callable[[str, float], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = run_with("segmentation", make_table, tmp_path, SEGMENTATION[fault], monkeypatch)
    assert job.failed is not None
    assert job.failed.wrong_answer, job.failed.sentence
