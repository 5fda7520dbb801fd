"""Jobs that read Parquet tables with filters, as a shop's SAS programs do; each writes notes as SAS would.

A test copies this module beside a ``spec.json`` (``tests/derive/filtered.py`` draws it) and runs its classes
``Job0``, ``Job1`` and so on.  For each step a job appends the notes that SAS writes above a performance note:
rows that passed, with a WHERE below where the step has one, and the tables that it wrote.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.acero
import pyarrow.compute as pc
import pyarrow.parquet as pq

HERE = Path(__file__).parent
SPEC: dict[str, Any] = json.loads((HERE / "spec.json").read_text()) if (HERE / "spec.json").exists() else {}
GROUP = 8192
"""Rows of a row group, which a reader takes or leaves as a whole."""


def made(rows: int, variables: int, seed: int) -> Iterator[pa.Table]:
    """The row groups of a table: ``k`` ascends, ``x`` is drawn from 0 to 1, the others are numbers."""
    draw = np.random.default_rng(seed)
    for start in range(0, rows, GROUP):
        count = min(GROUP, rows - start)
        columns = {"k": np.arange(start, start + count, dtype=float), "x": draw.random(count)}
        for number in range(variables - len(columns)):
            columns[f"v{number}"] = draw.random(count)
        yield pa.table(columns)


def write(path: Path, tables: Iterator[pa.Table]) -> tuple[int, int]:
    """Write row groups as they come; rows and variables."""
    first = next(tables)
    rows = 0
    with pq.ParquetWriter(path, first.schema, compression="none", use_dictionary=False) as writer:
        for table in chain([first], tables):
            writer.write_table(table)
            rows += table.num_rows
    return rows, first.num_columns


def copied(query: str, path: Path, *options: str) -> int:
    """Write what a query gives by DuckDB, with one thread; the rows."""
    words = ", ".join(["format parquet", *options])
    base = duckdb.connect()
    base.execute("set threads=1")
    [(rows,)] = base.execute(f"copy ({query}) to '{path}' ({words})").fetchall()
    base.close()
    return int(rows)


def kernel_read_bytes() -> int:
    """What this process has read by system calls so far, as the kernel counts it."""
    [read] = re.findall(r"rchar: ([0-9]+)", Path("/proc/self/io").read_text())
    return int(read)


class Shop:
    """One job: the steps that ``spec.json`` has for it."""

    name = "job"
    program_class = "io"
    inputs: tuple[str, ...] = ()
    session = 0
    steps: tuple[dict[str, Any], ...] = ()

    def run(self, context: Any) -> dict[str, int]:
        self.context = context
        self.paths: dict[str, Path] = {}
        notes, read = [], []
        for number, step in enumerate(self.steps):
            self.above: list[str] = []
            kind = "data" if step["procedure"] == "DATA" else "procedure"
            with context.steps.step(f"S{number}_{step['procedure']}", kind):
                before = kernel_read_bytes()
                getattr(self, step["does"])(step)
                read.append(kernel_read_bytes() - before)
                end = time.process_time() + step.get("cpu_seconds", 0.0)
                while time.process_time() < end:
                    pass
            notes.append("".join(f"{line}\n" for line in self.above))
        (HERE / "notes").mkdir(exist_ok=True)
        kept = {"notes": notes, "kernel_read_bytes": read}
        (HERE / "notes" / f"{context.assignment.job}.json").write_text(json.dumps(kept))
        return {"steps": len(self.steps)}

    def path(self, table: str) -> Path:
        libref, member = table.split(".")
        if libref == "BANK":
            return Path(SPEC["data"], "bank", str(self.session), f"{member}.parquet")
        if table not in self.paths:
            self.paths[table] = self.context.work(f"{member}.parquet")
        return self.paths[table]

    def noted(self, table: str, rows: int, where: str | None) -> None:
        self.above.append(f"NOTE: There were {rows} observations read from the data set {table}.")
        if where is not None:
            self.above.append(f"      WHERE {where};")

    def out(self, step: dict[str, Any], tables: Iterator[pa.Table]) -> None:
        rows, variables = write(self.path(step["out"]), tables)
        self.wrote(step["out"], rows, variables)

    def wrote(self, table: str, rows: int, variables: int) -> None:
        self.above.append(f"NOTE: The data set {table} has {rows} observations and {variables} variables.")

    def groups(self, step: dict[str, Any]) -> Iterator[pa.Table]:
        """The rows that a step gets of its table, and the notes on them when all are read."""
        with pq.ParquetFile(self.path(step["table"])) as file:
            rows, wanted = 0, step.get("rows")
            first = step.get("first", 0) // GROUP
            for number in range(first, file.num_row_groups):
                if wanted is not None and rows >= wanted:
                    break
                if step.get("index") and (number + 1) * GROUP <= step["from"]:
                    continue
                if step.get("index") and number * GROUP >= step["to"]:
                    break
                table = file.read_row_group(number, use_threads=False)
                if step.get("index"):
                    below = pc.less(table["k"], step["to"])
                    table = table.filter(pc.and_(pc.greater_equal(table["k"], step["from"]), below))
                elif "ratio" in step:
                    table = table.filter(pc.less(table["x"], step["ratio"]))
                table = table if wanted is None else table.slice(0, wanted - rows)
                rows += table.num_rows
                yield table
        if step.get("index") == "noted":
            self.above.append("INFO: Index k selected for WHERE clause optimization.")
        filtered = step.get("index") or "ratio" in step
        self.noted(step["table"], rows, f"x<{step.get('ratio', 1)}" if filtered else None)

    # The kinds of steps, by the name that ``does`` has.

    def load(self, step: dict[str, Any]) -> None:
        self.out(step, made(step["rows"], step["variables"], step["seed"]))

    def copy(self, step: dict[str, Any]) -> None:
        self.out(step, self.groups(step))

    def summary(self, step: dict[str, Any]) -> None:
        sums = [pc.sum(table["x"]).as_py() or 0.0 for table in self.groups(step)]
        self.out(step, iter([pa.table({"sum": [sum(sums)]})]))

    def sort(self, step: dict[str, Any]) -> None:
        whole = pa.concat_tables(list(self.groups(step))).sort_by("x")
        self.out(step, iter([whole]))

    def spill(self, step: dict[str, Any]) -> None:
        """A sort whose rows go through utility files: sorted pieces are written, and read back."""
        pieces = []
        for number, table in enumerate(self.groups(step)):
            pieces.append(self.context.util(f"piece{number}.parquet"))
            write(pieces[-1], iter([table.sort_by("x")]))
        self.out(step, (pq.ParquetFile(piece).read(use_threads=False) for piece in pieces))

    def merge(self, step: dict[str, Any]) -> None:
        """A filtered table next to a whole one."""
        other = list(self.groups({"table": step["with"]}))
        self.out(step, self.groups(step))
        del other

    def engine(self, step: dict[str, Any]) -> None:
        """DuckDB reads with the filter, and may leave out columns of row groups in which nothing passes."""
        source, out = self.path(step["table"]), self.path(step["out"])
        rows = copied(
            f"select * from read_parquet('{source}') where x < {step['ratio']}",
            out,
            "compression uncompressed",
        )
        self.noted(step["table"], rows, f"x<{step['ratio']}")
        self.wrote(step["out"], rows, step["variables"])

    def query(self, step: dict[str, Any]) -> None:
        """A query with a WHERE; SAS writes no note on what SQL reads."""
        source, out = self.path(step["table"]), self.path(step["out"])
        columns = ("k", *(f"v{number}" for number in range(step["variables"] - 2)))
        sums = ", ".join(f"sum({column}) as {column}" for column in columns)
        rows = copied(
            f"select floor(x * 100) as c, {sums} from read_parquet('{source}') "
            f"where x < {step['ratio']} group by 1",
            out,
        )
        self.above.append(
            f"NOTE: Table {step['out']} created, with {rows} rows and {step['variables']} columns."
        )


for _number, _job in enumerate(SPEC.get("jobs", ())):
    globals()[f"Job{_number}"] = type(f"Job{_number}", (Shop,), _job)
