"""One node's figures of one second as an Arrow record batch, made once and filled in anew each second.

Series seldom change from one second to the next, and of a batch as it is written (metadata, then
columns) only times and values do.  Making one takes 25 us in a loop but 250 us once a second,
when little of Arrow is in the processor's caches any more; filling one in takes a tenth of it.

Batches are compressed with Zstandard, which makes names of series a fifth of their size.  Columns that do
not compress stand in a frame as they are, so the batch is made with random times and values, and those
are found in it and replaced.
"""

from __future__ import annotations

import itertools
import random
import struct
from collections.abc import Collection, Sequence

import pyarrow as pa
from pyarrow import ipc

from mawl.store.columns import INSTANT, SCHEMAS

MOST_SERIES = 4096
"""Of one batch: a frame keeps a column in one piece up to 128 KiB."""

_SCHEMA = SCHEMAS["samples"]
_COMPRESSED = ipc.IpcWriteOptions(compression="zstd")


def message_of(batch: pa.RecordBatch) -> bytes:
    """A batch of the table ``samples``, compressed, as bytes of an IPC stream."""
    sink = pa.BufferOutputStream()
    with ipc.new_stream(sink, _SCHEMA, options=_COMPRESSED) as stream:
        stream.write_batch(batch)
        end = sink.tell()
    return bytes(sink.getvalue()[_SCHEMA.serialize().size : end])


class BatchForm:
    """A batch of the table ``samples`` for one node and these series, at most :data:`MOST_SERIES`."""

    def __init__(self, node: str, series: Sequence[str]) -> None:
        count = len(series)
        self._count, self._values = count, struct.Struct(f"<{count}d")
        draw = random.Random(0)
        moments, values = (draw.randbytes(self._values.size) for _ in range(2))
        columns = [
            _texts([node] * count),
            _fixed(INSTANT, moments),
            _texts(series),
            _fixed(pa.float64(), values),
        ]
        self._content = bytearray(message_of(pa.record_batch(columns, schema=_SCHEMA)))
        self._moments_at = self._content.index(moments)
        self._values_at = self._content.index(values)

    def filled(self, microseconds: int, values: Collection[float]) -> bytes:
        """The batch as bytes of an IPC stream; ``microseconds`` since the epoch, values in order."""
        moments = struct.pack("<q", microseconds) * self._count
        self._content[self._moments_at : self._moments_at + len(moments)] = moments
        self._values.pack_into(self._content, self._values_at, *values)
        return bytes(self._content)


# pa.array would do, and imports pandas where it is installed: a fifth of a CPU second, while jobs run.


def _texts(texts: Sequence[str]) -> pa.Array:
    encoded = [text.encode() for text in texts]
    ends = [0, *itertools.accumulate(map(len, encoded))]
    offsets = struct.pack(f"<{len(ends)}i", *ends)
    return pa.Array.from_buffers(
        pa.string(), len(encoded), [None, pa.py_buffer(offsets), pa.py_buffer(b"".join(encoded))]
    )


def _fixed(kind: pa.DataType, content: bytes) -> pa.Array:
    return pa.Array.from_buffers(kind, len(content) // 8, [None, pa.py_buffer(content)])
