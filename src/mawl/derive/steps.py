"""Which kind of work a step does, by its procedure and what it moves.

What a log tells of a step, or, where mawl measured the run, what mawl counted.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from mawl.figures.nights.nights import BLOCK_BYTES
from mawl.records.model.derived import Kernel
from mawl.records.model.records import SortNote, StepNotes, StepRecord, TableNote
from mawl.records.model.role_io import IoByRole

BlockUnit = Literal["linux", "assumed", "unknown"]
"""The size of a block operation: 512 bytes on Linux; assumed to be 512 bytes if the log names no platform;
unknown on other platforms."""

_NOTHING = StepNotes()


class StepFigures(msgspec.Struct, frozen=True, kw_only=True):
    """One step; None where nothing tells the figure.

    ``read_bytes`` and ``written_bytes`` are those of block operations, of all roles together: reads that
    memory served are not in them, writes are when a page becomes dirty.  Tables of databases and
    of other sessions are counted (``remote_tables``) and not in ``tables``: this host does not hold them.
    ``tables_left_out`` counts those beyond ``MOST_TABLES``: nothing is known
    of them.  ``blocks`` is the unit of the log's block operations; None if the log has no block operations.
    """

    number: int
    procedure: str
    real_seconds: float | None
    cpu_seconds: float | None
    split: bool
    memory_bytes: int | None
    read_bytes: int | None
    written_bytes: int | None
    blocks: BlockUnit | None
    rows_read: int | None
    rows_written: int | None
    tables: tuple[TableNote, ...]
    remote_tables: int
    tables_left_out: int
    sort: SortNote | None
    indexes_used: int
    io: IoByRole | None


def step_figures(step: StepRecord, unit: BlockUnit) -> StepFigures:
    """What is told of a step; block operations only if their unit is known."""
    usage, notes = step.usage, step.notes or _NOTHING
    counted = usage.block_input_operations is not None or usage.block_output_operations is not None
    blocks_in = None if unit == "unknown" else usage.block_input_operations
    blocks_out = None if unit == "unknown" else usage.block_output_operations
    return StepFigures(
        number=step.number,
        procedure="DATA" if step.kind == "data" else step.name.upper(),
        real_seconds=usage.real_time_seconds,
        cpu_seconds=usage.cpu_seconds,
        split=usage.user_cpu_seconds is not None and usage.system_cpu_seconds is not None,
        memory_bytes=usage.memory_bytes,
        read_bytes=None if blocks_in is None else blocks_in * BLOCK_BYTES,
        written_bytes=None if blocks_out is None else blocks_out * BLOCK_BYTES,
        blocks=unit if counted and step.io is None else None,
        rows_read=step.rows_read,
        rows_written=step.rows_written,
        tables=tuple(table for table in notes.tables if not table.remote),
        remote_tables=sum(table.remote for table in notes.tables),
        tables_left_out=notes.tables_left_out,
        sort=notes.sort,
        indexes_used=notes.indexes_used,
        io=step.io,
    )


PROCEDURES: dict[str, Kernel] = {
    **dict.fromkeys(("SORT", "RANK"), "sort"),
    **dict.fromkeys(
        ("MEANS", "SUMMARY", "FREQ", "TABULATE", "UNIVARIATE", "REPORT", "CORR", "SURVEYMEANS", "TIMESERIES"),
        "summarise",
    ),
    **dict.fromkeys(
        ("APPEND", "COPY", "CONTENTS", "DATASETS", "COMPARE", "EXPORT", "IMPORT", "PRINT", "TRANSPOSE",
         "UPLOAD", "DOWNLOAD", "CPORT", "CIMPORT",
         "FORMAT", "CATALOG", "STDIZE", "STANDARD", "SCORE", "PLM", "EXPAND",
         "PRINTTO", "OPTIONS", "TEMPLATE", "DELETE", "SURVEYSELECT", "HPSAMPLE", "SGPLOT", "GPLOT", "GCHART"),
        "scan",
    ),
    **dict.fromkeys(
        ("ANOVA", "ARIMA", "AUTOREG", "CANDISC", "CLUSTER", "DISCRIM", "ESM", "FACTOR", "FASTCLUS", "FOREST",
         "GAM", "GENMOD", "GLIMMIX", "GLM", "GLMSELECT", "GRADBOOST", "HPFOREST", "HPGENSELECT", "HPLOGISTIC",
         "HPREG", "HPSPLIT", "IML", "LIFEREG", "LOGISTIC", "MCMC", "MI", "MIXED", "MODEL", "NLIN", "NLMIXED",
         "OPTEX", "PHREG", "PLS", "PRINCOMP", "QUANTREG", "REG", "ROBUSTREG", "SEVERITY", "SIMNORMAL",
         "STATESPACE", "SURVEYLOGISTIC", "SURVEYREG", "TREEBOOST", "TTEST", "UCM", "VARCLUS", "VARMAX"),
        "dense",
    ),
    **dict.fromkeys(("HPTMINE", "HPTMSCORE", "OPTGRAPH", "OPTLP", "OPTMILP", "OPTMODEL", "OPTNET"), "sparse"),
}  # fmt: skip
"""Procedures whose kind of work is known.  DATA and SQL depend on the tables of the step."""

QUERIES = ("SQL", "FEDSQL")
VOCABULARY = frozenset((*PROCEDURES, *QUERIES, "DATA", "DS2"))
"""Procedures of SAS that a derived folder may name; it calls any other procedure OTHER."""
OTHER = "OTHER"

READERS = frozenset(
    (*QUERIES, *(name for name, kernel in PROCEDURES.items() if kernel in ("summarise", "sort", "dense")))
)
"""Procedures that read a table even where no note says so; SAS writes no note on what SQL reads."""

COMPUTES_SECONDS_PER_GB = 60.0
"""From so many CPU seconds for each GB a step of an unknown procedure counts as computing: mawl's programs of
the class io take at most 20 (docs/reference/programs.md)."""


def kernel_of(told: StepFigures, read_bytes: float, written_bytes: float) -> tuple[Kernel, str]:
    """The kind of work and the rule that gave it."""
    known = PROCEDURES.get(told.procedure)
    if known is not None:
        return known, "procedure"
    if told.indexes_used and read_bytes >= 1:
        return "look_up", "procedure"
    if told.procedure in QUERIES:
        reads = sum(table.direction == "read" for table in told.tables)
        return ("join" if reads != 1 else "scan"), "query"
    if told.procedure in ("DATA", "DS2"):
        return ("scan" if read_bytes >= 1 or not written_bytes else "write"), "procedure"
    moved = (read_bytes + written_bytes) / 1e9
    computes = (told.cpu_seconds or 0.0) > COMPUTES_SECONDS_PER_GB * moved
    return ("dense" if computes else "scan"), "cpu-per-byte"
