"""Writing a run that is known as a whole (imported): its tables at once, in batches, without a journal.

``run.json`` comes last: until it is there, the folder is no run.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from mawl.model.probe import Probe
from mawl.model.records import JobRecord, StepRecord
from mawl.model.run import RunFacts
from mawl.store.columns import INSTANT, SCHEMAS, plain_steps, to_table, whole_steps
from mawl.store.facts import write_facts
from mawl.store.files import replace_file, replace_link, sync_directory
from mawl.store.folder import make_folder
from mawl.store.layout import LATEST, LOGS, PLAN, PROBE
from mawl.store.probe import write_probe

STEPS_PER_BATCH = 50_000
"""Rows of a row group.  Each group costs time and bytes for all 150 columns, however few its rows."""
VALUES_PER_BATCH = 250_000
SAMPLES_LAYOUT: dict[str, Any] = {
    "use_dictionary": ["node", "sampled_at", "series"],
    "column_encoding": {"value": "BYTE_STREAM_SPLIT"},
}
"""Values are rarely the same twice: a dictionary of them costs time and makes files larger."""


class WholeRunWriter:
    """The one writer of such a folder; :meth:`abandon` takes away what it made.

    Methods raise OSError when the folder cannot be written.
    """

    def __init__(self, path: Path) -> None:
        """Make the folder (0700).  Raises :class:`~mawl.errors.UsageError` where it holds something."""
        from pyarrow import parquet

        self.path = path.absolute()
        self._new = not self.path.exists()
        make_folder(self.path)
        (self.path / LOGS).mkdir(mode=0o700)
        self._tables = {
            name: parquet.ParquetWriter(
                self.path / f"{name}.parquet", SCHEMAS[name], compression="zstd", **options
            )
            for name, options in (("steps", {}), ("samples", SAMPLES_LAYOUT))
        }
        self._steps: list[StepRecord] = []
        self._pieces: list[pa.Table] = []
        self._order: list[tuple[int, int]] = []
        self._waiting = 0
        self._rows: list[tuple[str, int, int]] = []
        self._codes: dict[str, int] = {}
        self._series: list[NDArray[np.int32]] = []
        self._last: tuple[tuple[str, ...], NDArray[np.int32]] = ((), np.empty(0, np.int32))
        self._values: list[float] = []

    def step(self, record: StepRecord) -> None:
        """A step without I/O by role and waits."""
        self._steps.append(record)
        self._count_step(1)

    def step_columns(self, table: pa.Table) -> None:
        """Steps as columns of the table ``steps``; those that are missing are null."""
        self._order.append((len(self._steps), table.num_rows))
        self._pieces.append(table)
        self._count_step(table.num_rows)

    def _count_step(self, count: int) -> None:
        self._waiting += count
        if self._waiting >= STEPS_PER_BATCH:
            self._flush_steps()

    def figures(self, node: str, at: float, figures: Mapping[str, float]) -> None:
        """Figures of one node at one moment (seconds since the epoch): series to value, in base units."""
        self._rows.append((node, round(at * 1e6), len(figures)))
        names = tuple(figures)
        if names != self._last[0]:  # nearly all rows have the series of the row before
            codes = self._codes
            known = (codes.setdefault(name, len(codes)) for name in names)
            self._last = (names, np.fromiter(known, np.int32, len(names)))
        self._series.append(self._last[1])
        self._values.extend(figures.values())
        if len(self._values) >= VALUES_PER_BATCH:
            self._flush_samples()

    def finish(
        self, facts: RunFacts, jobs: Sequence[JobRecord], probe: Probe | None = None, runs: Path | None = None
    ) -> None:
        """Write the rest, then the facts, then the link ``latest`` of ``runs``."""
        from pyarrow import parquet

        self._flush_steps()
        self._flush_samples()
        self._close()
        for name, table in (("jobs", to_table("jobs", jobs)), ("events", to_table("events", []))):
            parquet.write_table(table, self.path / f"{name}.parquet", compression="zstd")
        for path in self.path.glob("*.parquet"):
            path.chmod(0o600)
        if probe is not None:
            write_probe(self.path / PROBE, probe)
        replace_file(self.path / PLAN, b"# an imported run: no plan\n")
        write_facts(self.path, facts)
        sync_directory(self.path)
        if runs is not None:
            replace_link(runs / LATEST, self.path)

    def abandon(self) -> None:
        """Take away the folder, or what was put into one that was there before."""
        with contextlib.suppress(OSError, pa.ArrowException):
            self._close()
        for entry in self.path.iterdir():
            shutil.rmtree(entry, ignore_errors=True) if entry.is_dir() else entry.unlink(missing_ok=True)
        if self._new:
            self.path.rmdir()

    def _close(self) -> None:
        for writer in self._tables.values():
            writer.close()

    def _flush_steps(self) -> None:
        """Write the steps that wait, in the order in which they came: records and pieces wait apart."""
        if not self._waiting:
            return
        tables = [plain_steps(self._steps)] if self._steps else []
        table = pa.concat_tables([*tables, *map(_cast_times, self._pieces)], promote_options="default")
        if self._steps and self._pieces:
            table = table.take(pa.array(_in_order(len(self._steps), self._order)))
        self._tables["steps"].write_table(whole_steps(table.combine_chunks()))
        self._steps.clear()
        self._pieces.clear()
        self._order.clear()
        self._waiting = 0

    def _flush_samples(self) -> None:
        if not self._values:
            return
        nodes, moments, counts = zip(*self._rows, strict=True)
        names = sorted(set(nodes))
        codes = np.repeat(np.array([names.index(node) for node in nodes], dtype=np.int32), counts)
        times = np.repeat(np.array(moments, dtype=np.int64), counts)
        columns = [
            pa.array(names, pa.string()).take(pa.array(codes)),
            pa.array(times).cast(INSTANT),
            pa.array(list(self._codes), pa.string()).take(pa.array(np.concatenate(self._series))),
            pa.array(self._values, pa.float64()),
        ]
        self._tables["samples"].write_table(pa.table(columns, schema=SCHEMAS["samples"]))
        self._rows.clear()
        self._series.clear()
        self._values.clear()


def _in_order(records: int, pieces: Sequence[tuple[int, int]]) -> NDArray[np.int64]:
    """Places, in the order in which the rows came, in a table that has all records before all pieces.

    ``pieces`` has a pair for each piece: how many records came before it, and how many rows it has.
    """
    places, taken, below = [], 0, records
    for before, rows in pieces:
        places.append(np.arange(taken, before))
        places.append(np.arange(below, below + rows))
        taken, below = before, below + rows
    return np.concatenate([*places, np.arange(taken, records)])


def _cast_times(table: pa.Table) -> pa.Table:
    for name in ("started_at", "ended_at"):
        place = table.schema.get_field_index(name)
        table = table.set_column(place, name, table.column(name).cast(INSTANT))
    return table
