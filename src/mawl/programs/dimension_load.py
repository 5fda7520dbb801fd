"""Load customer records with a hash lookup, sort them without duplicates, summarise."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from mawl.programs.context import JobContext, check_equal
from mawl.programs.declarations.dimension_load import (
    CUSTOMER,
    CUSTOMER_TYPES,
    RECORD_BYTES,
    REPEATED_GROUP,
    TABLE,
    TYPE_BYTES,
    UNLISTED,
)
from mawl.programs.tables import arrow
from mawl.programs.toolkit.checks import RowSample, StrictOrder, TableSum, added_sums, regenerate_text
from mawl.programs.toolkit.partitions import partition_count
from mawl.programs.toolkit.rows import RecordParser, Records, Text, Words, read_texts
from mawl.programs.toolkit.sorting import (
    SAMPLES_PER_PARTITION,
    KeyRanges,
    Keys,
    KeySample,
    distribute,
    sorted_rows,
)
from mawl.programs.toolkit.statistics import ClassProfile, moments_by, session, total, total_rows
from mawl.records.model.records import Answer

KEYS: Keys = ("customer", "updated", "record")
_KEYS = ("record", "customer")
_SAMPLED_GROUPS = 200
_FREQUENCIES = """
    SELECT class_code, customer_type, count(*), sum(risk_weight) FROM source
    GROUP BY class_code, customer_type ORDER BY class_code"""
_PROFILE = ClassProfile(("income", "credit_limit", "score", "risk_weight"), "balance_cents")
_BRANCHES = f"""
    SELECT branch, count(*), sum(balance_cents), sum(balance_cents * risk_weight),
           {_PROFILE.sql}
    FROM source GROUP BY branch"""


def run(context: JobContext) -> Answer:
    """Do all steps; the answer's figures are counts, sums of whole numbers, and means."""
    return _DimensionLoad(context).run()


class _DimensionLoad:
    def __init__(self, context: JobContext) -> None:
        self.context = context
        self.input = context.table(TABLE.name)
        self.rows = self.input.manifest.rows
        self.parser = RecordParser(CUSTOMER)
        self.types = TypeTable()
        self.loaded = Records(self.types.extend(self.parser.records.schema))
        self.loaded_sum, self.unique_sum = TableSum(), TableSum()
        self.kept, self.dropped = TableSum(), TableSum()
        self.type_words = 0
        self.sample = RowSample(
            self.loaded,
            self.input.manifest,
            "record",
            block_rows=_SAMPLED_GROUPS * REPEATED_GROUP,
            every_batch=1,
        )
        self.answer: Answer = {"records": self.rows}

    def run(self) -> Answer:
        loaded, unique = self.context.work("loaded.arrow"), self.context.work("unique.arrow")
        keys = self._load(loaded)
        self._frequencies(loaded)
        self._means(loaded)
        parts = self._distribute(loaded, keys)
        loaded.unlink()
        self._sort(parts, unique)
        self._summary(unique)
        self._branches(unique)
        self._verify()
        return self.answer

    def _partitions(self) -> int:
        return partition_count(self.rows * self.loaded.bytes, self.context.partition_sortsize_bytes)

    def _records(self, text: Text) -> pa.RecordBatch:
        return self.types.add(self.parser.parse(text), self.loaded.schema)

    def _load(self, loaded: Path) -> KeySample:
        keys = KeySample()
        every = max(self.rows // (self._partitions() * SAMPLES_PER_PARTITION), 1)
        bufsize = self.context.options.bufsize_bytes
        with (
            self.context.steps.step("load", "data") as step,
            self.context.writer(loaded, self.loaded.schema) as writer,
        ):
            texts = read_texts(self.input.files, RECORD_BYTES, bufsize_bytes=bufsize)
            for batch in map(self._records, texts):
                keys.add(*(arrow.numbers(batch.column(key))[::every].astype(float) for key in KEYS))
                writer.write(batch)
            step.rows_read = step.rows_written = writer.rows
        return keys

    def _frequencies(self, loaded: Path) -> None:
        with self.context.steps.step("frequencies") as step:
            with session(self.context.options, self.context.util("duckdb")) as connection:
                connection.register("source", self._source(loaded, None))
                found = connection.execute(_FREQUENCIES).fetchall()
            step.rows_read = sum(int(count) for _, _, count, _ in found)
        check_equal("the number of records by class code", step.rows_read, self.rows)
        codes = sum(int(code) * int(count) for code, _, count, _ in found)
        check_equal("the sum of class codes", codes, self.input.manifest.sums["C.class_code"])
        for code, name, count, risk in found:
            expected, weight = CUSTOMER_TYPES.get(int(code), UNLISTED)
            check_equal(f"the type of class code {code}", name.decode().rstrip(), expected)
            check_equal(f"the risk of class code {code}", int(risk), weight * int(count))
            words = np.frombuffer(expected.ljust(TYPE_BYTES).encode(), np.uint64)
            self.type_words += int(count) * (sum(map(int, words)) + weight)
        self.answer |= {
            "classes": len(found),
            "unlisted": sum(int(count) for code, _, count, _ in found if int(code) not in CUSTOMER_TYPES),
        }

    def _means(self, loaded: Path) -> None:
        with self.context.steps.step("means") as step:
            found = moments_by(
                self.context,
                self.context.read(loaded),
                self.loaded.schema,
                by=("customer_type", "status"),
                against="balance_cents",
                keys=_KEYS,
            )
            step.rows_read = total_rows(found["status"])
        balance = total(found["customer_type"], "balance_cents")
        check_equal("the sum of balances", balance, self.input.manifest.sums["C.balance_cents"])
        active = found["status"][b"ACTIVE  "]["balance_cents"]
        self.answer |= {
            "balance_cents_of_records": balance,
            "mean_active_balance_cents": float(active["avg"] or 0.0),
        }

    def _distribute(self, loaded: Path, keys: KeySample) -> list[Path]:
        with self.context.steps.step("distribute", "data") as step:
            ranges = KeyRanges(keys, self._partitions())
            batches = self.context.read(loaded, self.loaded_sum.add)
            done = distribute(self.context, batches, self.loaded, KEYS, ranges, "loaded")
            step.rows_read = step.rows_written = int(done.rows.sum())
            return done.paths

    def _sort(self, parts: list[Path], unique: Path) -> None:
        last = -1.0
        with (
            self.context.steps.step("sort") as step,
            self.context.writer(unique, self.loaded.schema) as writer,
        ):
            for rows in sorted_rows(self.context, parts, self.loaded, KEYS):
                customers = self.loaded.numbers(rows, "customer")
                first = np.diff(customers, prepend=last) != 0.0
                last = float(customers[-1])
                words: Words = np.compress(first, rows, axis=0)
                self.kept.add_rows(words)
                self.dropped.add_rows(np.compress(~first, rows, axis=0))
                writer.write(self.loaded.batch(words))
            step.rows_read = self.kept.rows + self.dropped.rows
            step.rows_written = writer.rows
        self.answer |= {"customers": self.kept.rows, "duplicates": self.dropped.rows}

    def _summary(self, unique: Path) -> None:
        with self.context.steps.step("summary") as step:
            found = moments_by(
                self.context,
                self.context.read(unique),
                self.loaded.schema,
                by=("customer_type", "segment"),
                against="balance_cents",
                keys=_KEYS,
            )
            step.rows_read = total_rows(found["segment"])
        self.answer |= {
            "balance_cents": total(found["customer_type"], "balance_cents"),
            "stddev_score": float(found["segment"][b"MASS    "]["score"]["stddev_samp"] or 0.0),
        }

    def _branches(self, unique: Path) -> None:
        order = StrictOrder("the table without duplicates", below=1)

        def look(batch: pa.RecordBatch) -> None:
            customers = arrow.numbers(batch.column("customer")).astype(float)
            # Nothing beside the customer: none may come twice.
            nothing = np.zeros(len(customers))
            order.add(customers, nothing, nothing)
            self.sample.add(batch, arrow.numbers(batch.column("record")).astype(float))

        def batches() -> Iterator[pa.RecordBatch]:
            for batch in self.context.read(unique, self.unique_sum.add):
                look(batch)
                yield batch

        source = pa.RecordBatchReader.from_batches(self.loaded.schema, batches())
        with self.context.steps.step("branches") as step:
            with session(self.context.options, self.context.util("duckdb")) as connection:
                connection.register("source", source)
                found = connection.execute(_BRANCHES).fetchall()
            _PROFILE.show("branch", {branch: of for branch, _, _, _, *of in found})
            order.close()
            step.rows_read = sum(int(row[1]) for row in found)
        balance = sum(int(row[2]) for row in found)
        check_equal("the sum of the branches' balances", balance, self.answer["balance_cents"])
        self.answer |= {
            "branches": len(found),
            "largest_branch_cents": max(int(row[2]) for row in found),
            "risk_weighted_cents": sum(int(row[3]) for row in found) // 100,
        }

    def _verify(self) -> None:
        with self.context.steps.step("verify", "verify"):
            fields = added_sums(self.input.manifest.sums)
            loaded = (fields + self.type_words) & 0xFFFF_FFFF_FFFF_FFFF
            self.loaded_sum.check("the loaded table", rows=self.rows, value=loaded)
            unique = "the table without duplicates"
            customers = self.rows // REPEATED_GROUP * (REPEATED_GROUP - 1)
            rest = (loaded - self.dropped.value) & 0xFFFF_FFFF_FFFF_FFFF
            self.unique_sum.check(unique, rows=customers, value=rest)
            check_equal("the number of duplicates", self.dropped.rows, self.rows - customers)
            ((first, count),) = self.sample.blocks
            text = regenerate_text(
                TABLE, self.input.manifest, first // REPEATED_GROUP, count // REPEATED_GROUP
            )
            expected = self._records(text)
            self.sample.check(unique, [expected])
            check_equal("which records were kept", self.sample.found, _earliest(expected))

    def _source(self, table: Path, total: TableSum | None) -> pa.RecordBatchReader:
        batches = self.context.read(table, total.add if total else None)
        return pa.RecordBatchReader.from_batches(self.loaded.schema, batches)


class TypeTable:
    """Customer type and risk weight by class code: a hash table, and one more entry for unlisted codes."""

    def __init__(self) -> None:
        entries = [*CUSTOMER_TYPES.values(), UNLISTED]
        self._codes = pa.array(list(CUSTOMER_TYPES), pa.int64())
        self._types = np.array([name.ljust(TYPE_BYTES).encode() for name, _ in entries], f"S{TYPE_BYTES}")
        self._risks = np.array([risk for _, risk in entries], np.int64)

    def extend(self, schema: pa.Schema) -> pa.Schema:
        return schema.append(pa.field("customer_type", pa.binary(TYPE_BYTES))).append(
            pa.field("risk_weight", pa.int64())
        )

    def add(self, batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
        """The batch with each record's type and risk weight; ``schema`` is the extended one."""
        found = pc.index_in(batch.column("class_code"), value_set=self._codes)
        places = pc.fill_null(found, len(self._codes)).to_numpy(zero_copy_only=False)
        looked_up = [arrow.array(column[places]) for column in (self._types, self._risks)]
        return pa.RecordBatch.from_arrays([*batch.columns, *looked_up], schema=schema)


def _earliest(batch: pa.RecordBatch) -> list[int]:
    """The record of each customer that was updated first, in order."""
    customer, updated, record = (
        arrow.numbers(batch.column(name)) for name in ("customer", "updated", "record")
    )
    order = np.lexsort((record, updated, customer))
    _, first = np.unique(customer[order], return_index=True)
    return sorted(int(number) for number in record[order][first])
