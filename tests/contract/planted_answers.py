"""Programs that load and query with one thing wrong in them: their own checks must say so."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from tests.contract.planted_run import replaced, without_first_row
from tests.programs.faults import each, instead

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
    "values changed places": {"census_load:RecordParser.parse": moved_wages},
    "another column is joined": {"census_load:_CensusJob._take": joined_by("rooms", "tenure")},
    "another person column is joined": {"census_load:_CensusJob._take": joined_by("sex", "wages")},
    "frequencies of some persons": {
        "census_load:_FREQUENCIES": changed_entry("persons", "FROM source", "FROM source WHERE age > 20")
    },
    "another weight": {
        "census_load:_FREQUENCIES": changed_entry("persons", "sum(person_weight)", "sum(wages)")
    },
    "persons are counted as households": {
        "census_load:_CONSISTENCY": changed_entry("households", "sum(persons)", "count(*)")
    },
    "wages are other incomes": {
        "census_load:_CONSISTENCY": changed_entry("persons", "sum(wages)", "sum(other_income)")
    },
    "some persons are not checked": {
        "census_load:_CONSISTENCY": changed_entry("persons", "FROM source", "FROM source WHERE sex = 1")
    },
    "another sum is tabulated": {"census_load:_TABULATE": replaced("sum(wages)", "sum(age)")},
    "some persons are tabulated": {"census_load:_TABULATE": replaced("GROUP BY", "WHERE age > 9 GROUP BY")},
}


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
