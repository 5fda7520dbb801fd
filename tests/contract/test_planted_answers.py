"""Programs with one thing wrong in them: their own checks must say so."""

from __future__ import annotations

import importlib
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from mawl.plan.catalogue import CATALOGUE
from tests.contract.jobs import Job, assign, run_here
from tests.contract.test_programs import OPTIONS

SCALE = 0.00006


def run_with(
    program: str,
    make_table: Callable[[str, float], Path],
    place: Path,
    changes: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
) -> Job:
    """Run a job with other things under some names of its modules (``module:name``).

    A name of a library (``np.diff``) changes for that module alone: the generator uses it too.
    """
    inputs = {table.name: make_table(table.name, SCALE) for table in CATALOGUE[program].inputs}
    for target, value in changes.items():
        module, name = target.split(":")
        owner: Any = importlib.import_module(f"mawl.programs.{module}")
        *path, last = name.split(".")
        for part in path:
            inner = getattr(owner, part)
            if isinstance(inner, types.ModuleType):
                inner = types.SimpleNamespace(**vars(inner))
                monkeypatch.setattr(owner, part, inner)
            owner = inner
        monkeypatch.setattr(owner, last, value(getattr(owner, last)))
    return run_here(assign(program, SCALE, OPTIONS, inputs, place))


def instead(value: object) -> Callable[[object], object]:
    """Put another value in the place of the old one."""
    return lambda _: value


def replaced(old: str, new: str) -> Callable[[str], str]:
    """Change a piece of SQL."""

    def change(sql: str) -> str:
        assert old in sql
        return sql.replace(old, new)

    return change


def without_first_row(method: Callable[..., Any]) -> Callable[..., Any]:
    """A writer that loses one row of its first batch."""
    lost: list[bool] = []

    def write(self: Any, batch: Any) -> Any:
        if not lost and batch.num_rows:
            lost.append(True)
            batch = batch.slice(1)
        return method(self, batch)

    return write


CENSUS_QUERY: dict[str, dict[str, Any]] = {
    "owners are somebody else": {"census_query:OWNERS": instead("tenure = 2")},
    "renters are not all": {"census_query:RENTERS": instead("tenure > 2")},
    "owners and renters changed places": {
        "census_query:OWNERS": instead("tenure > 1"),
        "census_query:RENTERS": instead("tenure = 1"),
    },
    "the view holds others than householders": {
        "census_query:HOUSEHOLDERS": replaced("person = 1", "person = 2")
    },
    "the view is not filtered": {"census_query:HOUSEHOLDERS": replaced("person = 1", "person >= 1")},
    "an anti-join": {"census_query:SEMI_JOIN": replaced("serial IN", "serial NOT IN")},
    "a join on another column": {"census_query:SEMI_JOIN": replaced("serial IN", '"row" IN')},
    "wages of the wrong persons": {"census_query:SEMI_JOIN": replaced("sum(wages)", "sum(other_income)")},
    "other ages": {"census_query:INCOMES": replaced("BETWEEN 15", "BETWEEN 25")},
    "all persons counted as householders": {
        "census_query:POPULATION": replaced("count(*) FILTER (person = 1)", "count(*)")
    },
    "the extract of the other half": {
        "census_query:np.isin": lambda isin: lambda left, right: np.logical_not(isin(left, right))
    },
    "a row is lost": {"context:TableWriter.write": without_first_row},
}


@pytest.mark.parametrize("fault", CENSUS_QUERY)
def test_census_query_rejects(
    fault: str, make_table: Callable[[str, float], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = run_with("census_query", make_table, tmp_path, CENSUS_QUERY[fault], monkeypatch)
    assert job.failed is not None
    assert job.failed.wrong_answer, job.failed.sentence


def changed_entry(name: str, old: str, new: str) -> Callable[[dict[str, str]], dict[str, str]]:
    """Change the SQL under one name of several."""
    return lambda queries: {**queries, name: replaced(old, new)(queries[name])}


def joined_by(other: str, column: str) -> Callable[[Any], Any]:
    """Put another column in the place of one that comes from a partition file."""

    def change(take: Any) -> Any:
        def taken(self: Any, name: str, path: Path, space: Any, columns: tuple[str, ...]) -> Any:
            others = tuple(other if wanted == column else wanted for wanted in columns)
            return take(self, name, path, space, others).rename_columns(list(columns))

        return taken

    return change


def moved_wages(parse: Any) -> Any:
    """A parser whose wages stand with the next person: no sum changes."""

    def moved(self: Any, text: Any) -> Any:
        batch = parse(self, text)
        place = batch.schema.get_field_index("wages")
        if place < 0:
            return batch
        wages = pa.array(np.roll(batch.column(place).to_numpy(), 1))
        return batch.set_column(place, batch.schema.field(place), wages)

    return moved


CENSUS_LOAD: dict[str, dict[str, Any]] = {
    "a row is lost": {"context:TableWriter.write": without_first_row},
    "values changed places": {"census_tables:RecordParser.parse": moved_wages},
    "another column is joined": {"census_tables:CensusJob._take": joined_by("rooms", "tenure")},
    "another person column is joined": {"census_tables:CensusJob._take": joined_by("sex", "wages")},
    "frequencies of some persons": {
        "census_tables:_FREQUENCIES": changed_entry("persons", "FROM source", "FROM source WHERE age > 20")
    },
    "another weight": {
        "census_tables:_FREQUENCIES": changed_entry("persons", "sum(person_weight)", "sum(wages)")
    },
    "persons are counted as households": {
        "census_tables:_CONSISTENCY": changed_entry("households", "sum(persons)", "count(*)")
    },
    "wages are other incomes": {
        "census_tables:_CONSISTENCY": changed_entry("persons", "sum(wages)", "sum(other_income)")
    },
    "some persons are not checked": {
        "census_tables:_CONSISTENCY": changed_entry("persons", "FROM source", "FROM source WHERE sex = 1")
    },
    "another sum is tabulated": {"census_tables:_TABULATE": replaced("sum(wages)", "sum(age)")},
    "some persons are tabulated": {"census_tables:_TABULATE": replaced("GROUP BY", "WHERE age > 9 GROUP BY")},
}


@pytest.mark.parametrize("fault", CENSUS_LOAD)
@pytest.mark.parametrize("program", ["census_load", "census_load_single"])
def test_census_load_rejects(
    program: str,
    fault: str,
    make_table: Callable[[str, float], Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    job = run_with(program, make_table, tmp_path, CENSUS_LOAD[fault], monkeypatch)
    assert job.failed is not None
    assert job.failed.wrong_answer, job.failed.sentence


def each(change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Change all that a function yields."""
    return lambda function: lambda *arguments: map(change, function(*arguments))


def rolled(rows: Any) -> Any:
    """Incomes that moved on to the next row: no sum of a column changes."""
    rows[:, 9] = np.roll(rows[:, 9], 1)
    return rows


def another_type(add: Any) -> Any:
    """A lookup that finds the neighbour's entry."""

    def added(self: Any, batch: Any, schema: Any) -> Any:
        self._types, self._risks = np.roll(self._types, 1), np.roll(self._risks, 1)
        found = add(self, batch, schema)
        self._types, self._risks = np.roll(self._types, -1), np.roll(self._risks, -1)
        return found

    return added


DIMENSION_LOAD: dict[str, dict[str, Any]] = {
    "a row is lost": {"context:TableWriter.write": without_first_row},
    "another type is looked up": {"dimension_load:TypeTable.add": another_type},
    "unlisted codes get a type": {
        "dimension_load:pc.fill_null": lambda fill: lambda values, _: fill(values, 0)
    },
    "the first record that comes is kept": {
        "dimension_load:KEYS": instead(("customer", "record", "updated"))
    },
    "the largest record is kept": {"dimension_load:KEYS": instead(("customer", "balance_cents", "record"))},
    "duplicates are kept": {
        "dimension_load:np.diff": lambda diff: lambda *a, **k: np.ones_like(diff(*a, **k))
    },
    "customers go in reverse": {"dimension_load:sorted_rows": each(lambda rows: rows[::-1].copy())},
    "values changed places": {"dimension_load:sorted_rows": each(rolled)},
    "other balances": {"dimension_load:_BRANCHES": replaced("sum(balance_cents),", "sum(income),")},
    "some branches": {"dimension_load:_BRANCHES": replaced("FROM source", "FROM source WHERE branch > 5")},
    "some records are counted": {
        "dimension_load:_FREQUENCIES": replaced("FROM source", "FROM source WHERE score > 400")
    },
}


@pytest.mark.parametrize("fault", DIMENSION_LOAD)
def test_dimension_load_rejects(
    fault: str, make_table: Callable[[str, float], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = run_with("dimension_load", make_table, tmp_path, DIMENSION_LOAD[fault], monkeypatch)
    assert job.failed is not None
    assert job.failed.wrong_answer, job.failed.sentence


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
