"""Sort a table of 55 columns by two keys, summarise it, and sort a narrower one by two others."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa

from mawl.plan.columns import Code
from mawl.programs.context import JobContext, JobTable, check_equal
from mawl.programs.declarations.wide_sort import CHECKED_EVERY, NARROW_COLUMNS, TABLE
from mawl.programs.tables import arrow
from mawl.programs.tables.arrow import TableWriter
from mawl.programs.toolkit.checks import RowSample, StrictOrder, TableSum, added_sums, regenerate
from mawl.programs.toolkit.partitions import partition_count
from mawl.programs.toolkit.rows import Records
from mawl.programs.toolkit.sorting import (
    SAMPLES_PER_PARTITION,
    KeyRanges,
    Keys,
    KeySample,
    distribute,
    sorted_batches,
)
from mawl.programs.toolkit.statistics import class_rows, moments_by, print_table, total, total_rows
from mawl.records.model.records import Answer

BY_ACCOUNT: Keys = ("account", "posted", "row")
BY_MERCHANT: Keys = ("merchant", "amount_cents", "row")
_CODES = tuple(column.name for column in TABLE.columns if isinstance(column.values, Code))
_KEYS = ("row", "account", "merchant")
_FEWEST_BATCHES = 8
_DAYS = 2**16
_LARGEST_AMOUNT = 2**24


def run(context: JobContext) -> Answer:
    """Do all steps; the answer's figures are counts, and sums of whole numbers."""
    return _WideSort(context).run()


class _WideSort:
    def __init__(self, context: JobContext) -> None:
        self.context = context
        self.input: JobTable = context.table(TABLE.name)
        self.rows = self.input.manifest.rows
        self.wide = Records(arrow.read_schema(self.input.directory))
        self.narrow = self.wide.project(NARROW_COLUMNS)
        self.wide_sum = TableSum()
        self.narrow_sum = TableSum()
        self.wide_rows = RowSample(self.wide, self.input.manifest, "row")
        self.narrow_rows = RowSample(self.narrow, self.input.manifest, "row")
        self.sorted = context.output("sorted.arrow")
        self.sorted_sums: list[int] = []
        """Word sums of the batches of ``sorted`` that are read back, as they were written."""
        self.answer: Answer = {"rows": self.rows}

    def run(self) -> Answer:
        wide, narrow = self.context.work("wide.arrow"), self.context.work("narrow.arrow")
        parts = self._distribute()
        self._sort("sort", parts, self.wide, BY_ACCOUNT, wide)
        self._check_order(wide)
        sample = self._summary(wide)
        parts = self._distribute_narrow(wide, sample)
        wide.unlink()
        self._sort("sort_narrow", parts, self.narrow, BY_MERCHANT, narrow)
        self._summary_narrow(narrow)
        self._verify()
        return self.answer

    def _partitions(self, records: Records) -> int:
        return partition_count(self.rows * records.bytes, self.context.partition_sortsize_bytes)

    def _distribute(self) -> list[Path]:
        with self.context.steps.step("distribute", "data") as step:
            sample = KeySample()
            partitions = self._partitions(self.wide)
            wanted = partitions * SAMPLES_PER_PARTITION
            batches = max(-(-wanted // arrow.batch_rows(self.wide.bytes)), _FEWEST_BATCHES)
            for batch in arrow.sample_batches(
                self.input.directory, BY_ACCOUNT, batches, bufsize_bytes=self.context.options.bufsize_bytes
            ):
                sample.add(*(arrow.numbers(batch.column(key)) for key in BY_ACCOUNT))
            ranges = KeyRanges(sample, partitions)
            done = distribute(
                self.context, self.context.scan(self.input.directory), self.wide, BY_ACCOUNT, ranges, "wide"
            )
            step.rows_read = step.rows_written = int(done.rows.sum())
            return done.paths

    def _sort(self, name: str, parts: list[Path], records: Records, keys: Keys, table: Path) -> None:
        with (
            self.context.steps.step(name) as step,
            self.context.writer(table, records.schema) as writer,
        ):
            for batch in sorted_batches(self.context, parts, records, keys):
                writer.write(batch)
            step.rows_read = step.rows_written = writer.rows

    def _check_order(self, table: Path) -> None:
        with self.context.steps.step("check_order", "data") as step:
            order = StrictOrder("the table sorted by account", below=_DAYS)
            groups = _Groups()
            for batch in self.context.read(table):
                account, posted, row = (arrow.numbers(batch.column(key)) for key in BY_ACCOUNT)
                order.add(account, posted, row)
                self.wide_rows.add(batch, row)
                groups.add(account, arrow.numbers(batch.column("amount_cents")))
                step.rows_read = (step.rows_read or 0) + batch.num_rows
            order.close()
            groups.close()
            self.answer |= {"accounts": groups.count, "largest_account_cents": groups.largest}

    def _summary(self, table: Path) -> KeySample:
        """Moments of the numerics by class, frequencies of the codes; samples the second sort's keys."""
        sample = KeySample()
        every = max(self.rows // (self._partitions(self.narrow) * SAMPLES_PER_PARTITION), 1)
        codes: dict[str, Counter[bytes]] = {name: Counter() for name in _CODES}

        def batches() -> Iterator[pa.RecordBatch]:
            for batch in self.context.read(table):
                for name, counter in codes.items():
                    for entry in batch.column(name).value_counts().to_pylist():
                        counter[entry["values"]] += entry["counts"]
                sample.add(*(arrow.numbers(batch.column(key))[::every] for key in BY_MERCHANT))
                yield batch

        with self.context.steps.step("summary") as step:
            found = moments_by(
                self.context,
                batches(),
                self.wide.schema,
                by=("transaction_type", "segment"),
                against="amount_cents",
                keys=_KEYS,
            )
            print_table(
                "frequencies",
                ("code", "value", "count"),
                ((name, *entry) for name, counter in codes.items() for entry in sorted(counter.items())),
            )
            step.rows_read = total_rows(found["segment"])
        by_type = found["transaction_type"]
        purchases = by_type[b"PURCHASE"]
        check_equal(
            "the number of purchases",
            class_rows(purchases),
            codes["transaction_type"][b"PURCHASE"],
        )
        self.answer |= {
            "amount_cents": total(by_type, "amount_cents"),
            "purchases": codes["transaction_type"][b"PURCHASE"],
            "mean_purchase_cents": float(purchases["amount_cents"]["avg"] or 0.0),
            "stddev_purchase_cents": float(purchases["amount_cents"]["stddev_samp"] or 0.0),
        }
        return sample

    def _distribute_narrow(self, table: Path, sample: KeySample) -> list[Path]:
        with self.context.steps.step("distribute_narrow", "data") as step:
            ranges = KeyRanges(sample, self._partitions(self.narrow))
            with self.context.writer(self.sorted, self.wide.schema) as writer:
                batches = self._copied_pass(table, writer)
                done = distribute(self.context, batches, self.narrow, BY_MERCHANT, ranges, "narrow")
            check_equal("the number of rows of the sorted table under data", writer.rows, self.rows)
            step.rows_read = int(done.rows.sum())
            step.rows_written = step.rows_read + writer.rows
            return done.paths

    def _copied_pass(self, table: Path, writer: TableWriter) -> Iterator[pa.RecordBatch]:
        """The last pass over the table, each batch of it also written under data."""
        sums: list[int] = []

        def total(rows: int, value: int) -> None:
            # Summed on this pass: a byte changed in data, util or work before is seen.
            self.wide_sum.add(rows, value)
            sums.append(value)

        for batch in self.context.read(table, total):
            writer.write(batch)
            yield batch
        self.sorted_sums = sums[::CHECKED_EVERY]

    def _summary_narrow(self, table: Path) -> None:
        order = StrictOrder("the table sorted by merchant", below=_LARGEST_AMOUNT)
        groups = _Groups()

        def batches() -> Iterator[pa.RecordBatch]:
            for batch in self.context.read(table, self.narrow_sum.add):
                merchant, amount, row = (arrow.numbers(batch.column(key)) for key in BY_MERCHANT)
                order.add(merchant, amount, row)
                self.narrow_rows.add(batch, row)
                groups.add(merchant, amount)
                yield batch

        with self.context.steps.step("summary_narrow") as step:
            found = moments_by(
                self.context,
                batches(),
                self.narrow.schema,
                by=("currency", "segment"),
                against="amount_cents",
                keys=_KEYS,
            )
            order.close()
            groups.close()
            step.rows_read = self.narrow_sum.rows
        check_equal(
            "the sum of amount_cents", total(found["segment"], "amount_cents"), self.answer["amount_cents"]
        )
        check_equal("the sum of the merchants' totals", groups.total, self.answer["amount_cents"])
        self.answer |= {"merchants": groups.count, "largest_merchant_cents": groups.largest}

    def _verify(self) -> None:
        with self.context.steps.step("verify", "verify"):
            manifest = self.input.manifest
            wide, narrow = "the table sorted by account", "the table sorted by merchant"
            self.wide_sum.check(wide, rows=self.rows, value=added_sums(manifest.sums))
            self.narrow_sum.check(narrow, rows=self.rows, value=added_sums(manifest.sums, NARROW_COLUMNS))
            expected = regenerate(TABLE, manifest, self.wide_rows.blocks)
            self.wide_rows.check(wide, expected)
            self.narrow_rows.check(narrow, expected)
            found: list[int] = []
            deque(
                self.context.read(
                    self.sorted, lambda _, word_sum: found.append(word_sum), every=CHECKED_EVERY
                ),
                0,
            )
            check_equal("the sorted table under data", found, self.sorted_sums)


class _Groups:
    """First. and last. processing: groups of equal neighbours, their number and largest sum of cents."""

    def __init__(self) -> None:
        self.count = 0
        self.largest = 0
        self.total = 0
        self._open: tuple[float, int] | None = None

    def add(self, group: np.ndarray, cents: np.ndarray) -> None:
        """One batch, in order of the groups."""
        starts = np.concatenate(([0], np.flatnonzero(group[1:] != group[:-1]) + 1))
        totals = np.add.reduceat(cents, starts)
        if self._open is not None:
            if self._open[0] == group[0]:
                totals[0] += self._open[1]
            else:
                self._end(self._open[1])
        self.count += len(starts) - 1
        if len(starts) > 1:
            self.largest = max(self.largest, int(totals[:-1].max()))
        self.total += int(cents.sum())
        self._open = (float(group[-1]), int(totals[-1]))

    def close(self) -> None:
        """The last group is whole."""
        if self._open is not None:
            self._end(self._open[1])
            self._open = None

    def _end(self, total: int) -> None:
        self.count += 1
        self.largest = max(self.largest, total)
