"""Copy a ledger to work, append to it, update it in place, sweep small files, publish the result."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from mawl.programs.context import JobContext, check_equal
from mawl.programs.datagen.hashing import hashes, key
from mawl.programs.declarations.ledger_update import (
    APPENDED,
    FILE_ROWS,
    OPEN_VOUCHERS,
    SETTLED,
    TABLE,
    VOUCHER_CLASSES,
    VOUCHER_ROWS,
)
from mawl.programs.tables import arrow
from mawl.programs.toolkit.checks import TableSum, added_sums, regenerate
from mawl.programs.toolkit.partitions import read_chunks, read_rows, write_all
from mawl.programs.toolkit.rows import Records, Words, memory
from mawl.programs.toolkit.statistics import moments_by, total, total_rows
from mawl.records.model.records import Answer

CHUNK_ROWS = 4096


class RowFile:
    """A file of (rows, words) records, opened for writing; ``rows`` counts what was appended.

    Requests are of at most ``bufsize`` bytes, in whole rows.
    """

    def __init__(self, path: Path, words: int, *, bufsize_bytes: int) -> None:
        self.path = path
        self.rows = 0
        self._row_bytes = words * 8
        self._request_rows = max(bufsize_bytes // self._row_bytes, 1)
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
        os.lseek(self._descriptor, 0, os.SEEK_END)

    def append(self, rows: Words) -> None:
        for start in range(0, len(rows), self._request_rows):
            some = np.ascontiguousarray(rows[start : start + self._request_rows])
            write_all(self._descriptor, some, self.path)
        self.rows += len(rows)

    def replace(self, first: int, rows: Words) -> None:
        os.lseek(self._descriptor, first * self._row_bytes, os.SEEK_SET)
        write_all(self._descriptor, rows, self.path)

    def sync(self) -> None:
        """Wait until all that was written is on the device."""
        os.fsync(self._descriptor)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._descriptor)


def pass_over(path: Path, words: int, *, bufsize_bytes: int) -> Iterator[tuple[int, Words]]:
    """A pass over a file of rows opened afresh, as (number of the first row, rows), 4096 at a time.

    The rows are valid until the next ones are asked for.
    """
    start = 0
    for rows in read_chunks(path, memory(CHUNK_ROWS, words), bufsize_bytes=bufsize_bytes):
        yield start, rows
        start += len(rows)


_GROUP_ROWS = VOUCHER_ROWS * SETTLED
_FOLDER_FILES = 1000
_SETTLED_STATUS = 9.0
_WORD = 0xFFFF_FFFF_FFFF_FFFF


def run(context: JobContext) -> Answer:
    """Do all steps; the answer's figures are counts and sums of whole cents."""
    return _LedgerUpdate(context).run()


class _LedgerUpdate:
    def __init__(self, context: JobContext) -> None:
        self.context = context
        self.input = context.table(TABLE.name)
        self.manifest = self.input.manifest
        self.copied = self.manifest.rows
        self.rows = self.copied + self.copied // APPENDED
        self.records = Records(arrow.read_schema(self.input.directory))
        self.ledger, self.journal = context.work("ledger.rows"), context.work("journal.rows")
        self.published = context.output("open-vouchers.arrow")
        self.folders: list[Path] = []
        self.files = self.settled = self.cents = self.change = 0
        names = ("input", "copied", "appended", "before", "after", "journalled", "journal", "open", "swept")
        self.sums = {name: TableSum() for name in names}
        self.sample: Words = np.empty((0, self.records.words), np.uint64)
        self.sample_start = self.rows // 2 // _GROUP_ROWS * _GROUP_ROWS
        self.answer: Answer = {"entries": self.rows}

    def run(self) -> Answer:
        self._copy()
        self._append()
        self._update()
        self._checkpoint()
        self._balances()
        self._extract()
        self._publish()
        self._verify()
        return self.answer

    def _file(self, path: Path) -> RowFile:
        return RowFile(path, self.records.words, bufsize_bytes=self.context.options.bufsize_bytes)

    def _pass(self, path: Path) -> Iterator[tuple[int, Words]]:
        return pass_over(path, self.records.words, bufsize_bytes=self.context.options.bufsize_bytes)

    def _take(self, batch: pa.RecordBatch, name: str, file: RowFile) -> None:
        rows = np.empty((batch.num_rows, self.records.words), np.uint64)
        self.records.fill(batch, rows)
        self.sums[name].add_rows(rows)
        self.cents += int(self.records.numbers(rows, "amount_cents").sum())
        file.append(rows)

    def _copy(self) -> None:
        with self.context.steps.step("copy", "data") as step, self._file(self.ledger) as file:
            for batch in self.context.read(self.input.directory, self.sums["input"].add):
                self._take(batch, "copied", file)
            step.rows_read = step.rows_written = file.rows

    def _append(self) -> None:
        with self.context.steps.step("append", "data") as step, self._file(self.ledger) as file:
            for start in range(self.copied, self.rows, CHUNK_ROWS):
                count = min(CHUNK_ROWS, self.rows - start)
                for batch in regenerate(TABLE, self.manifest, [(start, count)]):
                    self._take(batch, "appended", file)
            step.rows_written = file.rows

    def _update(self) -> None:
        with self.context.steps.step("update", "data") as step, self._file(self.journal) as file:
            for start, rows in self._pass(self.ledger):
                self.sums["before"].add_rows(rows)
                places = self._to_settle(start // _GROUP_ROWS, len(rows) // _GROUP_ROWS) - start
                changed = rows[places]
                before = arrow.word_sum(changed)
                self._settle(changed)
                self.change = (self.change + arrow.word_sum(changed) - before) & _WORD
                self.sums["journalled"].add_rows(changed)
                file.append(changed)
            step.rows_read, step.rows_written = self.sums["before"].rows, file.rows

    def _checkpoint(self) -> None:
        with self.context.steps.step("checkpoint", "data") as step, self._file(self.ledger) as file:
            for _, rows in self._pass(self.journal):
                self.sums["journal"].add_rows(rows)
                entries = self.records.numbers(rows, "entry")
                for start in range(0, len(rows), VOUCHER_ROWS):
                    file.replace(int(entries[start]), rows[start : start + VOUCHER_ROWS])
            file.sync()
            step.rows_read = step.rows_written = self.sums["journal"].rows
        self.journal.unlink()

    def _balances(self) -> None:
        balances = np.zeros(0)

        def batches() -> Iterator[pa.RecordBatch]:
            nonlocal balances
            for _, rows in self._pass(self.ledger):
                account, cents, debit, status = (
                    self.records.numbers(rows, name)
                    for name in ("account", "amount_cents", "debit", "status")
                )
                some = np.bincount(account.astype(np.intp), np.where(debit == 1.0, cents, -cents))
                balances = np.pad(balances, (0, max(len(some) - len(balances), 0)))
                balances[: len(some)] += some
                self.settled += int(np.count_nonzero(status == _SETTLED_STATUS))
                yield self.records.batch(rows)

        with self.context.steps.step("balances") as step:
            found = moments_by(
                self.context,
                batches(),
                self.records.schema,
                by=("kind", "period", "branch", "status"),
                against="amount_cents",
                keys=("entry", "account"),
            )
            step.rows_read = total_rows(found["kind"])
        check_equal("the number of entries by kind", total_rows(found["kind"]), self.rows)
        cents = total(found["kind"], "amount_cents")
        check_equal("the sum of amounts by period", total(found["period"], "amount_cents"), cents)
        self.answer |= {
            "amount_cents": cents,
            "largest_balance_cents": int(balances.max()),
            "balance_cents": int(balances.sum()),
            "settled": self.settled,
        }

    def _extract(self) -> None:
        waiting = np.empty((0, self.records.words), np.uint64)
        with self.context.steps.step("extract", "data") as step:
            for start, rows in self._pass(self.ledger):
                self.sums["after"].add_rows(rows)
                numbers = np.arange(start, start + len(rows))
                entries = self.records.numbers(rows, "entry")
                check_equal("the order of entries", bool(np.array_equal(entries, numbers)), True)
                sampled = (numbers >= self.sample_start) & (numbers < self.sample_start + _GROUP_ROWS)
                self.sample = np.vstack([self.sample, rows[sampled]])
                chosen = rows[_is_open(numbers)]
                self.sums["open"].add_rows(chosen)
                waiting = np.vstack([waiting, chosen])
                whole = len(waiting) // FILE_ROWS * FILE_ROWS
                for first in range(0, whole, FILE_ROWS):
                    self._write_small(waiting[first : first + FILE_ROWS])
                waiting = waiting[whole:]
            if len(waiting):
                self._write_small(waiting)
            step.rows_read, step.rows_written = self.sums["after"].rows, self.sums["open"].rows

    def _write_small(self, rows: Words) -> None:
        if self.files % _FOLDER_FILES == 0:
            self.folders.append(self.context.work(f"vouchers-{len(self.folders):05d}"))
            self.folders[-1].mkdir(mode=0o700)
        with self._file(self._small(self.files)) as file:
            file.append(rows)
        self.files += 1

    def _small(self, number: int) -> Path:
        folder, place = divmod(number, _FOLDER_FILES)
        return self.folders[folder] / f"{place:03d}.rows"

    def _publish(self) -> None:
        space = memory(FILE_ROWS * (CHUNK_ROWS // FILE_ROWS), self.records.words)
        filled = 0
        with (
            self.context.steps.step("publish", "data") as step,
            self.context.writer(self.published, self.records.schema) as writer,
        ):
            for number in range(self.files):
                path = self._small(number)
                bufsize = self.context.options.bufsize_bytes
                filled += len(read_rows(path, space[filled : filled + FILE_ROWS], bufsize_bytes=bufsize))
                path.unlink(missing_ok=True)
                if filled + FILE_ROWS > len(space) or number == self.files - 1:
                    self.sums["swept"].add_rows(space[:filled])
                    writer.write(self.records.batch(space[:filled]))
                    filled = 0
            step.rows_read = step.rows_written = writer.rows
        self.answer |= {"small_files": self.files, "published": writer.rows}

    def _verify(self) -> None:
        with self.context.steps.step("verify", "verify"):
            sums, manifest = self.sums, added_sums(self.manifest.sums)
            sums["input"].check("the ledger", rows=self.copied, value=manifest)
            sums["copied"].check("the copied ledger", rows=self.copied, value=manifest)
            written = (manifest + sums["appended"].value) & _WORD
            sums["before"].check("the ledger with new entries", rows=self.rows, value=written)
            groups = self.rows // _GROUP_ROWS
            journalled = sums["journalled"]
            sums["journal"].check("the journal", rows=groups * VOUCHER_ROWS, value=journalled.value)
            updated = (written + self.change) & _WORD
            sums["after"].check("the updated ledger", rows=self.rows, value=updated)
            check_equal("the number of settled entries", self.settled, groups * VOUCHER_ROWS)
            check_equal(
                "the sum of amounts", self.answer["amount_cents"], self.cents + self._added_cents(groups)
            )
            self._check_sample()
            opened = sums["open"]
            check_equal("the number of open entries", opened.rows, _open_rows(self.rows))
            sums["swept"].check("the small files", rows=opened.rows, value=opened.value)
            published = TableSum()
            for _ in self.context.read(self.published, published.add):
                pass
            published.check("the published table", rows=opened.rows, value=opened.value)

    def _to_settle(self, first_group: int, groups: int) -> NDArray[np.int64]:
        """The numbers of the entries to update: one voucher of each group, chosen by the seed."""
        job = self.context.assignment
        chosen = hashes(key(job.seed, job.replica, "ledger_update", "vouchers"), first_group, groups)
        chosen %= np.uint64(SETTLED)
        starts = np.arange(first_group, first_group + groups) * _GROUP_ROWS
        starts += chosen.view(np.int64) * VOUCHER_ROWS
        places: NDArray[np.int64] = (starts[:, None] + np.arange(VOUCHER_ROWS)).reshape(-1)
        return places

    def _settle(self, rows: Words) -> None:
        """The update of an entry, in place: a correction of its amount, and its status."""
        self.records.numbers(rows, "amount_cents")[...] += _correction(self.records.numbers(rows, "entry"))
        self.records.numbers(rows, "status")[...] = _SETTLED_STATUS

    def _added_cents(self, groups: int) -> int:
        return sum(
            int(_correction(self._to_settle(first, min(CHUNK_ROWS, groups - first))).sum())
            for first in range(0, groups, CHUNK_ROWS)
        )

    def _check_sample(self) -> None:
        count = min(_GROUP_ROWS, self.rows - self.sample_start)
        (again,) = regenerate(TABLE, self.manifest, [(self.sample_start, count)])
        expected = np.empty((count, self.records.words), np.uint64)
        self.records.fill(again, expected)
        places = self._to_settle(self.sample_start // _GROUP_ROWS, count // _GROUP_ROWS) - self.sample_start
        changed = expected[places]
        self._settle(changed)
        expected[places] = changed
        check_equal("the sampled entries", bool(np.array_equal(self.sample, expected)), True)


def _correction(entries: NDArray[np.int64] | NDArray[np.float64]) -> NDArray[np.float64]:
    return 1.0 + np.asarray(entries, np.float64) % 97.0


def _is_open(entries: NDArray[np.int64]) -> NDArray[np.bool_]:
    opened: NDArray[np.bool_] = entries // VOUCHER_ROWS % VOUCHER_CLASSES < OPEN_VOUCHERS
    return opened


def _open_rows(rows: int) -> int:
    cycles, rest = divmod(rows, VOUCHER_ROWS * VOUCHER_CLASSES)
    return cycles * VOUCHER_ROWS * OPEN_VOUCHERS + min(rest, VOUCHER_ROWS * OPEN_VOUCHERS)
