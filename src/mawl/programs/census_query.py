"""Copy households and persons, query persons through views and semi-joins, summarise an extract."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa

from mawl.programs.census_load import PERSON_PROFILE
from mawl.programs.context import JobContext, check, check_equal
from mawl.programs.declarations.census_query import EXTRACT_COLUMNS, HOUSEHOLDS, KEY_COLUMNS, PERSONS
from mawl.programs.tables import arrow
from mawl.programs.toolkit.checks import RowSample, TableSum, added_sums, check_code_shares, regenerate
from mawl.programs.toolkit.partitions import Distributor, read_rows
from mawl.programs.toolkit.rows import Records, Words, memory
from mawl.programs.toolkit.sorting import distribute_by_hash
from mawl.programs.toolkit.statistics import moments_by, session, total, total_rows
from mawl.records.model.records import Answer

WORKING_AGE = (15, 64)
PROFILE = msgspec.structs.replace(
    PERSON_PROFILE, codes=tuple(code for code in PERSON_PROFILE.codes if code not in ("sex", "worker_class"))
)
"""What is asked of each group beside its totals; sex and class of worker make the groups."""

POPULATION = f"""
    SELECT employment, sex, count(*) FILTER (person = 1), sum(person_weight) FILTER (person = 1),
           sum(wages) FILTER (person = 1), count(*), {PROFILE.sql}
    FROM persons GROUP BY employment, sex"""
HOUSEHOLDERS = "CREATE TEMP VIEW householders AS SELECT * FROM persons WHERE person = 1"
SEMI_JOIN = f"""
    SELECT employment, sex, count(*), sum(person_weight), sum(wages), {PROFILE.sql}
    FROM householders WHERE serial IN (SELECT serial FROM households WHERE {{which}})
    GROUP BY employment, sex"""
OWNERS, RENTERS = "tenure = 1", "tenure > 1"
INCOMES = f"""
    SELECT worker_class, sex, count(*), avg(wages), stddev_samp(wages), {PROFILE.sql}
    FROM persons WHERE age BETWEEN {WORKING_AGE[0]} AND {WORKING_AGE[1]}
    GROUP BY worker_class, sex"""

Totals = dict[tuple[bytes, int], tuple[int, int, int]]
"""Employment and sex to persons, their weight and their wages."""


def totals(rows: list[tuple[Any, ...]]) -> Totals:
    """The first five columns of a result as totals; groups without anybody are left out."""
    return {
        (employment, int(sex)): (int(count), int(weight), int(wages))
        for employment, sex, count, weight, wages, *_ in rows
        if count
    }


def added_totals(left: Totals, right: Totals) -> Totals:
    nothing = (0, 0, 0)
    both: Totals = {}
    for group in left.keys() | right.keys():
        one, other = left.get(group, nothing), right.get(group, nothing)
        both[group] = (one[0] + other[0], one[1] + other[1], one[2] + other[2])
    return both


_NAMES = (HOUSEHOLDS.name, PERSONS.name)
_AGES = 95


def run(context: JobContext) -> Answer:
    """Do all steps; the answer's figures are counts, sums of whole numbers, and means."""
    return _CensusQuery(context).run()


class _CensusQuery:
    def __init__(self, context: JobContext) -> None:
        self.context = context
        self.inputs = {name: context.table(name) for name in _NAMES}
        self.rows = {name: table.manifest.rows for name, table in self.inputs.items()}
        self.records = {
            name: Records(arrow.read_schema(table.directory)) for name, table in self.inputs.items()
        }
        self.tables = {name: context.work(f"{name}.arrow") for name in _NAMES}
        self.sums = {name: TableSum() for name in _NAMES}
        self.part_records = {
            HOUSEHOLDS.name: self.records[HOUSEHOLDS.name].project(KEY_COLUMNS),
            PERSONS.name: self.records[PERSONS.name],
        }
        self.parted = {name: TableSum() for name in _NAMES}
        self.extract = self.records[PERSONS.name].project(EXTRACT_COLUMNS)
        self.extract_sum, self.chosen_sum = TableSum(), TableSum()
        self.extract_rows = RowSample(self.extract, self.inputs[PERSONS.name].manifest, "row")
        self.truth = _HouseholdSide()
        self.answer: Answer = dict(self.rows)

    def run(self) -> Answer:
        extract = self.context.work("extract.arrow")
        self._copy()
        population = self._population()
        owners = self._semi_join("owners", OWNERS)
        renters = self._semi_join("renters", RENTERS)
        self._incomes()
        parts = self._distribute()
        self._extract(parts, extract)
        self._summary(extract)
        self._verify(population, owners, renters)
        return self.answer

    def _copy(self) -> None:
        with self.context.steps.step("copy", "data") as step:
            for name, table in self.inputs.items():
                with self.context.writer(self.tables[name], self.records[name].schema) as writer:
                    for batch in self.context.read(table.directory):
                        writer.write(batch)
            step.rows_read = step.rows_written = sum(self.rows.values())

    def _population(self) -> Totals:
        with self.context.steps.step("population") as step:
            found = self._query(POPULATION)
            _show("employment/sex", found, ahead=6)
            step.rows_read = sum(int(row[5]) for row in found)
        check_equal("the number of persons", step.rows_read, self.rows[PERSONS.name])
        by_employment: dict[bytes, int] = {}
        for row in found:
            by_employment[row[0]] = by_employment.get(row[0], 0) + int(row[5])
        check_code_shares(PERSONS, "employment", by_employment, self.rows[PERSONS.name])
        self.answer["employed"] = max(by_employment.values())
        return totals(found)

    def _semi_join(self, name: str, which: str) -> Totals:
        with self.context.steps.step(name):
            rows = self._query(SEMI_JOIN.format(which=which), households=True)
            _show(f"employment/sex of {name}", rows, ahead=5)
        found = totals(rows)
        self.answer |= {
            name: sum(count for count, _, _ in found.values()),
            f"wages_of_{name}": sum(wages for _, _, wages in found.values()),
        }
        return found

    def _incomes(self) -> None:
        low, high = WORKING_AGE
        with self.context.steps.step("incomes"):
            found = self._query(INCOMES)
            _show("worker_class/sex", found, ahead=5)
        count = sum(int(row[2]) for row in found)
        # Ages are uniform: within six standard deviations of their share, and what its steps of 2**-12 add.
        share = (high - low + 1) / _AGES
        rows = self.rows[PERSONS.name]
        check(
            abs(count - share * rows) <= 3.0 * rows**0.5 + rows / 2**11,
            "the number of persons of working age",
            found=count,
            expected=f"about {share * rows:.0f}",
        )
        self.answer |= {
            "of_working_age": count,
            "largest_mean_wages": max(float(row[3]) for row in found),
            "largest_deviation_of_wages": max(float(row[4] or 0.0) for row in found),
        }

    def _distribute(self) -> dict[str, Distributor]:
        with self.context.steps.step("distribute", "data") as step:
            done = distribute_by_hash(self.context, self.part_records, self.rows, self._last_pass, "serial")
            step.rows_read = step.rows_written = sum(int(part.rows.sum()) for part in done.values())
        return done

    def _last_pass(self, name: str) -> Iterator[pa.RecordBatch]:
        """The last pass over a table: its word sum, and of households what the semi-joins must give."""
        for batch in self.context.read(self.tables[name], self.sums[name].add):
            if name == HOUSEHOLDS.name:
                self.truth.add(batch)
            yield batch

    def _extract(self, parts: dict[str, Distributor], extract: Path) -> None:
        persons = self.part_records[PERSONS.name]
        places = persons.places(EXTRACT_COLUMNS)
        # Half of the rows are chosen, so that batches come out at their usual size.
        size = 2 * arrow.batch_rows(self.extract.bytes)
        most = {name: int(part.rows.max()) for name, part in parts.items()}
        space = {name: memory(most[name], kind.words) for name, kind in self.part_records.items()}
        with (
            self.context.steps.step("extract") as step,
            self.context.writer(extract, self.extract.schema) as writer,
        ):
            for pair in zip(*(parts[name].paths for name in _NAMES), strict=True):
                keys, rows = (self._take(name, path, space) for name, path in zip(_NAMES, pair, strict=True))
                serials = self._column(HOUSEHOLDS.name, keys, "serial")
                serials = serials[self._column(HOUSEHOLDS.name, keys, "half_sample") == 1.0]
                chosen = np.flatnonzero(np.isin(persons.numbers(rows, "serial"), serials))
                for start in range(0, len(chosen), size // 2):
                    narrow = rows[chosen[start : start + size // 2, np.newaxis], places]
                    self.chosen_sum.add_rows(narrow)
                    writer.write(self.extract.batch(narrow))
            step.rows_read = sum(int(part.rows.sum()) for part in parts.values())
            step.rows_written = writer.rows

    def _take(self, name: str, path: Path, space: dict[str, Words]) -> Words:
        """The rows of a partition file, which is removed."""
        rows = read_rows(path, space[name], bufsize_bytes=self.context.options.bufsize_bytes)
        path.unlink(missing_ok=True)
        self.parted[name].add_rows(rows)
        return rows

    def _column(self, name: str, rows: Words, column: str) -> np.ndarray:
        return self.part_records[name].numbers(rows, column)

    def _summary(self, extract: Path) -> None:
        found_sides = _PersonSide()

        def batches() -> Iterator[pa.RecordBatch]:
            for batch in self.context.read(extract, self.extract_sum.add):
                found_sides.add(batch)
                self.extract_rows.add(batch, arrow.numbers(batch.column("row")))
                yield batch

        with self.context.steps.step("summary") as step:
            found = moments_by(
                self.context,
                batches(),
                self.extract.schema,
                by=("employment", "origin"),
                against="wages",
                keys=("row", "serial"),
            )
            step.rows_read = total_rows(found["origin"])
        check_equal(
            "persons, serials and places in the household of the extract",
            found_sides.sums,
            self.truth.half_sample,
        )
        employed = found["employment"][b"EMPLOYED"]
        self.answer |= {
            "extracted": total_rows(found["employment"]),
            "extracted_wages": total(found["origin"], "wages"),
            "mean_wages_of_employed": float(employed["wages"]["avg"] or 0.0),
            "stddev_age_of_employed": float(employed["age"]["stddev_samp"] or 0.0),
        }

    def _verify(self, population: Totals, owners: Totals, renters: Totals) -> None:
        with self.context.steps.step("verify", "verify"):
            check_equal("the number of households with an owner", self.answer["owners"], self.truth.owners)
            check_equal("the number of others", self.answer["renters"], self.truth.renters)
            check_equal("what owners and renters add up to", added_totals(owners, renters), population)
            for name, table in self.inputs.items():
                sums = table.manifest.sums
                self.sums[name].check(name, rows=self.rows[name], value=added_sums(sums))
                columns = self.part_records[name].schema.names
                self.parted[name].check(
                    f"the parts of {name}", rows=self.rows[name], value=added_sums(sums, columns)
                )
            self.extract_sum.check("the extract", rows=self.chosen_sum.rows, value=self.chosen_sum.value)
            manifest = self.inputs[PERSONS.name].manifest
            self.extract_rows.check("the extract", regenerate(PERSONS, manifest, self.extract_rows.blocks))

    def _query(self, sql: str, *, households: bool = False) -> list[tuple[Any, ...]]:
        with session(self.context.options, self.context.util("duckdb")) as connection:
            # The hash table is of households whatever the optimizer guesses about streams.
            connection.execute("SET disabled_optimizers = 'build_side_probe_side'")
            for name in _NAMES if households else (PERSONS.name,):
                batches = self.context.read(self.tables[name])
                source = pa.RecordBatchReader.from_batches(self.records[name].schema, batches)
                connection.register(name, source)
            if households:
                connection.execute(HOUSEHOLDERS)
            return connection.execute(sql).fetchall()


def _show(by: str, rows: list[tuple[Any, ...]], *, ahead: int) -> None:
    """Print the profile of a query's groups; the two class columns are the first of ``ahead`` others."""
    PROFILE.show(by, {row[:2]: row[ahead:] for row in rows})


class _HouseholdSide:
    """What the semi-joins must find, counted on the side of households: each knows its persons."""

    def __init__(self) -> None:
        self.owners = 0
        self.renters = 0
        self.half_sample = (0, 0, 0)
        """Persons, sum of their households' serials, sum of their places in the household."""

    def add(self, batch: pa.RecordBatch) -> None:
        owners = int(np.count_nonzero(arrow.numbers(batch.column("tenure")) == 1.0))
        self.owners += owners
        self.renters += batch.num_rows - owners
        half = arrow.numbers(batch.column("half_sample")) == 1.0
        persons = arrow.numbers(batch.column("persons"))[half].astype(np.int64)
        serials = arrow.numbers(batch.column("serial"))[half].astype(np.int64)
        more = (persons.sum(), (serials * persons).sum(), (persons * (persons + 1) // 2).sum())
        count, serial, place = (had + int(new) for had, new in zip(self.half_sample, more, strict=True))
        self.half_sample = (count, serial, place)


class _PersonSide:
    """The same figures from the persons of an extract."""

    def __init__(self) -> None:
        self.sums = (0, 0, 0)

    def add(self, batch: pa.RecordBatch) -> None:
        serial, person = (
            int(arrow.numbers(batch.column(name)).astype(np.int64).sum()) for name in ("serial", "person")
        )
        self.sums = (self.sums[0] + batch.num_rows, self.sums[1] + serial, self.sums[2] + person)
