"""Load a census: parse its text into two wide tables, join persons to their households, tabulate.

census_load and census_load_single do this; a ``CensusLoad`` says where they differ.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa

from mawl.programs.context import JobContext, check_equal
from mawl.programs.declarations.census_load import (
    HOUSEHOLD,
    LOADS,
    PERSON,
    PERSON_CODES,
    RECORD_BYTES,
    CensusLoad,
)
from mawl.programs.tables import arrow
from mawl.programs.toolkit.checks import TableSum, added_sums, check_first_rows
from mawl.programs.toolkit.partitions import Distributor, read_ahead, read_rows
from mawl.programs.toolkit.rows import RecordParser, Records, Text, Words, memory, read_texts
from mawl.programs.toolkit.sorting import distribute_by_hash
from mawl.programs.toolkit.statistics import ClassProfile, print_table, session
from mawl.records.model.records import Answer

_FREQUENCIES = {
    "households": """
        SELECT tenure, count(*) AS n, sum(household_weight) AS w
        FROM source GROUP BY tenure ORDER BY tenure""",
    "persons": """
        SELECT education, sex, count(*) AS n, sum(person_weight) AS w
        FROM source GROUP BY education, sex ORDER BY education, sex""",
}
_CONSISTENCY = {
    "households": """
        SELECT count(*), sum(persons), count(*) FILTER (bedrooms > rooms){weighted} FROM source""",
    "persons": """
        SELECT count(*), count(*) FILTER (age < 15 AND hours_worked > 0),
               count(*) FILTER (weeks_worked = 0 AND wages > 0), sum(wages) FROM source""",
}
_MEANS = {
    "households": """
        SELECT building, avg(rent), avg(property_value) FROM source GROUP BY building ORDER BY building""",
    "persons": """
        SELECT occupation, avg(wages), avg(hours_worked){}
        FROM source GROUP BY occupation ORDER BY occupation""",
}
_TABULATE = """
    SELECT tenure, count(*) AS n, sum(person_weight) AS w, sum(wages) AS wages
    FROM source GROUP BY tenure ORDER BY tenure"""

_FIRST_ROWS = 800
_MOST_PRINTED = 5
"""Columns of a result that are printed as they are; a profile behind them has its own listing."""


def run(context: JobContext) -> Answer:
    """Do all steps; the answer's figures are counts and sums of whole numbers."""
    return _CensusJob(context, LOADS[context.assignment.program]).run()


class _CensusJob:
    def __init__(self, context: JobContext, load: CensusLoad) -> None:
        self.context = context
        self.load = load
        self.input = context.table(load.table.name)
        self.parsers = {"households": RecordParser(HOUSEHOLD), "persons": RecordParser(PERSON)}
        self.records = {name: parser.records for name, parser in self.parsers.items()}
        self.part_records = self.records | {"persons": self.records["persons"].project(load.part_columns)}
        self.tables = {name: context.work(f"{name}.arrow") for name in self.records}
        self.sums = {name: TableSum() for name in self.records}
        self.parted = {name: TableSum() for name in self.records}
        joined = (*load.joined_person, *load.joined_household)
        self.joined = Records(pa.schema([(name, pa.int64()) for name in joined]))
        self.joined_sum = TableSum()
        self.first: dict[str, pa.RecordBatch] = {}
        self.answer: Answer = {}
        self.by_person: dict[str, int] = {}

    def run(self) -> Answer:
        joined = self.context.work("joined.arrow")
        self._parse()
        parts = self._distribute()
        self._join(parts, joined)
        self._frequencies()
        self._consistency()
        self._means()
        self._tabulate(joined)
        if self.load.is_single:
            self._delete(joined)
        self._verify()
        return self.answer

    def _parse(self) -> None:
        bufsize = self.context.options.bufsize_bytes
        with (
            self.context.steps.step("parse", "data") as step,
            self.context.writer(self.tables["households"], self.records["households"].schema) as households,
            self.context.writer(self.tables["persons"], self.records["persons"].schema) as persons,
        ):
            texts = read_texts(self.input.files, RECORD_BYTES, bufsize_bytes=bufsize)
            for of_households, of_persons in map(self._parsed, texts):
                households.write(of_households)
                persons.write(of_persons)
            step.rows_read = step.rows_written = households.rows + persons.rows
        self.answer |= {"households": households.rows, "persons": persons.rows}

    def _parsed(self, text: Text) -> tuple[pa.RecordBatch, pa.RecordBatch]:
        households, persons = self.parsers["households"], self.parsers["persons"]
        is_household = households.owns(text)
        return households.parse(text[is_household]), persons.parse(text[~is_household])

    def _distribute(self) -> dict[str, Distributor]:
        with self.context.steps.step("distribute", "data") as step:
            done = distribute_by_hash(
                self.context,
                self.part_records,
                {name: int(self.answer[name]) for name in self.tables},
                lambda name: self.context.read(self.tables[name]),
                "serial",
            )
            step.rows_read = step.rows_written = sum(int(part.rows.sum()) for part in done.values())
        return done

    def _join(self, parts: dict[str, Distributor], joined: Path) -> None:
        # All rows of a partition share their hash, so sizes vary little: half of sort memory on average.
        most = {name: int(part.rows.max()) for name, part in parts.items()}
        space = {name: memory(most[name], records.words) for name, records in self.part_records.items()}
        household = ("serial", *self.load.joined_household)
        with (
            self.context.steps.step("join") as step,
            self.context.writer(joined, self.joined.schema) as writer,
        ):

            def joined_parts() -> Iterator[pa.Table]:
                for pair in zip(parts["households"].paths, parts["persons"].paths, strict=True):
                    left = self._take("persons", pair[1], space["persons"], self.load.joined_person)
                    right = self._take("households", pair[0], space["households"], household)
                    found = left.join(right, "serial", join_type="inner", use_threads=False)
                    yield found.sort_by([("serial", "ascending"), ("person", "ascending")])

            for found in read_ahead(self.context, joined_parts()):
                for batch in found.combine_chunks().to_batches(arrow.batch_rows(self.joined.bytes)):
                    writer.write(pa.RecordBatch.from_arrays(batch.columns, schema=self.joined.schema))
            step.rows_read = sum(int(part.rows.sum()) for part in parts.values())
            step.rows_written = writer.rows

    def _take(self, name: str, path: Path, space: Words, columns: tuple[str, ...]) -> pa.Table:
        """Some columns of a partition file, which is removed."""
        records = self.part_records[name]
        rows = read_rows(path, space, bufsize_bytes=self.context.options.bufsize_bytes)
        path.unlink(missing_ok=True)
        # Most columns end here: without their sum a byte changed in util would go unseen.
        self.parted[name].add_rows(rows)
        taken = [np.ascontiguousarray(records.words_of(rows, column)).view(np.int64) for column in columns]
        return pa.table([pa.array(column) for column in taken], names=list(columns))

    def _frequencies(self) -> None:
        with self.context.steps.step("frequencies"):
            if not self.load.is_single:
                tenures = self._query("households", _FREQUENCIES["households"])
                self.answer |= {
                    "owned_households": next(int(n) for tenure, n, _ in tenures if tenure == 1),
                    "household_weight": sum(int(weight) for _, _, weight in tenures),
                }
            groups = self._query("persons", _FREQUENCIES["persons"])
        persons = sum(int(count) for _, _, count, _ in groups)
        check_equal("the number of persons by education", persons, self.answer["persons"])
        self.answer |= {
            "education_groups": len(groups),
            "person_weight": sum(int(weight) for *_, weight in groups),
        }

    def _consistency(self) -> None:
        weighted = "".join(f", sum({name} * persons)" for name in self.load.joined_household)
        # The last pass over households where means leave them out.
        last = self.sums["households"] if self.load.is_single else None
        with self.context.steps.step("consistency"):
            sql = _CONSISTENCY["households"].format(weighted=weighted)
            household = self._query("households", sql, last)[0]
            person = self._query("persons", _CONSISTENCY["persons"])[0]
        check_equal("the number of persons in households", int(household[1]), int(person[0]))
        self.by_person = dict(zip(self.load.joined_household, map(int, household[3:]), strict=True))
        self.answer |= {
            "bedrooms_exceed_rooms": int(household[2]),
            "children_at_work": int(person[1]),
            "wages_without_weeks": int(person[2]),
            "wages": int(person[3]),
        }

    def _means(self) -> None:
        with self.context.steps.step("means"):
            if not self.load.is_single:
                rents = self._query("households", _MEANS["households"], self.sums["households"])
                self.answer["largest_mean_rent"] = max(float(rent) for _, rent, _ in rents)
            is_long = self.load.is_single
            sql = _MEANS["persons"].format(f", {PERSON_PROFILE.sql}" if is_long else "")
            wages = self._query("persons", sql, self.sums["persons"], is_long=is_long)
            if is_long:
                PERSON_PROFILE.show("occupation", {occupation: of for occupation, _, _, *of in wages})
        self.answer["largest_mean_wages"] = max(float(mean) for _, mean, *_ in wages)

    def _tabulate(self, joined: Path) -> None:
        with self.context.steps.step("tabulate"):
            rows = self._select(_TABULATE, joined, self.joined.schema, self.joined_sum)
        check_equal(
            "the sum of wages in the joined table", sum(int(row[3]) for row in rows), self.answer["wages"]
        )
        self.answer["owners"] = int(rows[0][1])

    def _delete(self, joined: Path) -> None:
        """Remove all tables, as a step of its own: freeing very large files takes file systems time."""
        with self.context.steps.step("delete"):
            for table in (*self.tables.values(), joined):
                table.unlink()

    def _verify(self) -> None:
        sums = self.input.manifest.sums
        with self.context.steps.step("verify", "verify"):
            for name, layout in (("households", HOUSEHOLD), ("persons", PERSON)):
                kind = layout.kind
                columns = [column for column in sums if column.startswith(f"{kind}.")]
                parted = [f"{kind}.{column}" for column in self.part_records[name].schema.names]
                rows = int(self.answer[name])
                check_first_rows(name, self.first[name], layout, self.input.manifest)
                self.sums[name].check(name, rows=rows, value=added_sums(sums, columns))
                self.parted[name].check(f"the parts of {name}", rows=rows, value=added_sums(sums, parted))
            check_equal(
                "the number of records",
                self.sums["households"].rows + self.sums["persons"].rows,
                self.input.manifest.rows,
            )
            weight = int(self.answer["person_weight"])
            check_equal("the weight of all persons", weight, sums["P.person_weight"])
            joined = {name: sums[f"P.{name}"] for name in self.load.joined_person} | self.by_person
            self.joined_sum.check(
                "the joined table", rows=int(self.answer["persons"]), value=added_sums(joined)
            )

    def _query(
        self, table: str, sql: str, total: TableSum | None = None, *, is_long: bool = False
    ) -> list[tuple[Any, ...]]:
        return self._select(sql, self.tables[table], self.records[table].schema, total, is_long=is_long)

    def _keeping_first(self, table: Path, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for number, batch in enumerate(batches):
            if number == 0:
                self.first[table.stem] = batch.take(pa.array(range(min(_FIRST_ROWS, batch.num_rows))))
            yield batch

    def _select(
        self, sql: str, table: Path, schema: pa.Schema, total: TableSum | None, *, is_long: bool = False
    ) -> list[tuple[Any, ...]]:
        """Run a query over one pass of a table, known to it as ``source``, and print what it finds.

        A short query runs in one thread: it takes less time than the rows need to get into the cache of
        another processor.
        """
        batches = self._keeping_first(table, self.context.read(table, total.add if total else None))
        options = self.context.options
        if is_long:
            batches = read_ahead(self.context, batches)
        else:
            options = msgspec.structs.replace(options, cpucount=1)
        source = pa.RecordBatchReader.from_batches(schema, batches)
        with session(options, self.context.util("duckdb")) as connection:
            connection.register("source", source)
            done = connection.execute(sql)
            names = [column[0] for column in done.description][:_MOST_PRINTED]
            rows = done.fetchall()
        print_table(
            f"{self.context.steps.current} of {table.stem}", names, [row[:_MOST_PRINTED] for row in rows]
        )
        return rows


_PERSON_KEYS = ("serial", "person", "person_weight")
_LONG_CODES = ("industry",)
"""Codes of too many values to list for each group."""

PERSON_PROFILE = ClassProfile(
    measures=tuple(
        field.column.name
        for field in PERSON.fields
        if field.column.width is None and field.column.name not in (*_PERSON_KEYS, *PERSON_CODES)
    ),
    against="wages",
    codes=tuple(code for code in PERSON_CODES if code not in _LONG_CODES),
    weight="person_weight",
    quartiles=("age", "wages"),
)
"""Moments, weighted means and quartiles of what is measured, frequencies of what is coded."""
