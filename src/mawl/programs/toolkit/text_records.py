"""Read fixed-width text records and parse them, column by column, into Arrow record batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from mawl.base.errors import DamagedTableError
from mawl.plan.columns import Field, RecordLayout
from mawl.programs.tables.arrow import BATCH_BYTES
from mawl.programs.toolkit.rows import Records

Text = NDArray[np.uint8]
_NEWLINE = 10
_ZERO = 48


def read_records(path: Path, record_bytes: int, *, bufsize_bytes: int) -> Iterator[Text]:
    """A file's records, about a MiB at a time, as (records, record_bytes), in requests of bufsize.

    Raises ``DamagedTableError`` where the file does not hold whole records, each
    ended by a newline.
    """
    step = max(BATCH_BYTES // record_bytes, 1) * record_bytes
    with open(path, "rb", buffering=0) as file:
        while True:
            chunk = np.empty(step, np.uint8)
            view = chunk.data
            done = 0
            while done < step:
                got = file.readinto(view[done : min(done + bufsize_bytes, step)])
                if not got:
                    break
                done += got
            if not done:
                return
            if done % record_bytes:
                raise DamagedTableError("ends inside a record", where=str(path), cure="run mawl generate")
            text = chunk[:done].reshape(-1, record_bytes)
            if not (text[:, -1] == _NEWLINE).all():
                raise DamagedTableError("holds a record without its newline", where=str(path))
            yield text


def read_texts(paths: Iterable[Path], record_bytes: int, *, bufsize_bytes: int) -> Iterator[Text]:
    """The records of several files, one after another, as ``read_records`` has them."""
    for path in paths:
        yield from read_records(path, record_bytes, bufsize_bytes=bufsize_bytes)


class RecordParser:
    """Makes record batches of one kind of record: whole numbers as int64, characters as they are."""

    def __init__(self, layout: RecordLayout) -> None:
        self._layout = layout
        self.records = Records(
            pa.schema(
                [
                    (field.column.name, pa.int64() if field.column.width is None else pa.binary(field.width))
                    for field in layout.fields
                ]
            )
        )

    def owns(self, text: Text) -> NDArray[np.bool_]:
        return np.equal(text[:, 0], ord(self._layout.kind))

    def parse(self, text: Text) -> pa.RecordBatch:
        """The record batch of records that are all of this kind.

        Raises ``DamagedTableError`` for another kind, or where a digit should be.
        """
        rows = len(text)
        if not self.owns(text).all():
            raise DamagedTableError(f"expected a record of kind {self._layout.kind}, found another letter")
        body = np.empty(rows * self.records.words, np.uint64)
        # By column: each digit of all records then lies side by side, and parsing is plain arithmetic.
        by_place = np.ascontiguousarray(text.T)
        for field in self._layout.fields:
            start = self.records.starts[field.column.name] * rows
            if field.column.width is None:
                self._number(field, by_place, body[start : start + rows].view(np.int64))
            else:
                target = body[start : start + rows * field.width // 8].view(np.uint8)
                target.reshape(rows, field.width)[...] = text[:, field.start : field.start + field.width]
        return self.records.from_body(body, rows)

    def _number(self, field: Field, by_place: Text, into: NDArray[np.int64]) -> None:
        digits = by_place[field.start : field.start + field.width] - np.uint8(_ZERO)
        # Other bytes wrap around to more than nine.
        if digits.max(initial=0) > 9:
            raise DamagedTableError(f"expected digits in field {field.column.name}, found another character")
        # 32 bits hold nine digits and are twice as fast to add up.
        number = digits[0].astype(np.int64 if field.width > 9 else np.int32)
        for digit in digits[1:]:
            number *= 10
            number += digit
        into[...] = number
