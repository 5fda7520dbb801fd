"""Which kind of work a step does, by its procedure and what it moves.

What a log tells of a step, or, where mawl measured the run, what mawl counted.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from typing import Literal

import msgspec

from mawl.figures.nights import BLOCK_BYTES
from mawl.records.model.derived import Kernel
from mawl.records.model.records import SortNote, StepNotes, StepRecord, TableNote, TableRemoval
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
    removed: tuple[TableRemoval, ...] = ()
    removed_left_out: int = 0
    started_at: float | None = None
    ended_at: float | None = None
    involuntary_switches: int | None = None


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
        tables=tuple(table for table in notes.tables if not (table.remote or table.view)),
        remote_tables=sum(table.remote for table in notes.tables),
        tables_left_out=notes.tables_left_out,
        sort=notes.sort,
        indexes_used=notes.indexes_used,
        io=step.io,
        removed=notes.removed,
        removed_left_out=notes.removed_left_out,
        started_at=step.started_at,
        ended_at=step.ended_at,
        involuntary_switches=usage.involuntary_context_switches,
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


def kernel_of(step: StepFigures, read_bytes: float, written_bytes: float) -> tuple[Kernel, str]:
    """The kind of work and the rule that gave it."""
    known = PROCEDURES.get(step.procedure)
    if known is not None:
        return known, "procedure"
    if step.indexes_used and read_bytes >= 1:
        return "look_up", "procedure"
    if step.procedure in QUERIES:
        reads = sum(table.direction == "read" for table in step.tables)
        return ("join" if reads != 1 else "scan"), "query"
    if step.procedure in ("DATA", "DS2"):
        return ("scan" if read_bytes >= 1 or not written_bytes else "write"), "procedure"
    moved = (read_bytes + written_bytes) / 1e9
    computes = (step.cpu_seconds or 0.0) > COMPUTES_SECONDS_PER_GB * moved
    return ("dense" if computes else "scan"), "cpu-per-byte"


DIGITS = 8
_NOT_PLAIN = re.compile(r"[^A-Za-z0-9._-]+")
LONGEST = 60


class Names:
    """Plain names for words of logs; equal words have equal names, others have other names."""

    def __init__(self, *, keep: bool, key: bytes | None = None) -> None:
        """Hashed with ``key``, which is drawn anew and thrown away unless it is given."""
        self._keep = keep
        self._key = secrets.token_bytes(16) if key is None else key
        self._known: dict[tuple[str, str], str] = {}
        self._taken: set[str] = set()

    def of(self, kind: str, word: str) -> str:
        """The name of a word of one kind (``p`` program, ``t`` table, ``s`` session); kinds share no name."""
        known = self._known.get((kind, word))
        if known is None:
            known = self._known[kind, word] = self.fresh(self._wanted(kind, word))
        return known

    def fresh(self, wanted: str) -> str:
        """``wanted``, with a number where it is taken."""
        name, number = wanted, 1
        while name in self._taken:
            number += 1
            name = f"{wanted}-{number}"
        self._taken.add(name)
        return name

    def procedure(self, word: str) -> str:
        """A procedure as SAS calls it; one that SAS does not have is the shop's own word."""
        known = word in VOCABULARY or (self._keep and _NOT_PLAIN.search(word) is None)
        return word[:LONGEST] if known else OTHER

    def _wanted(self, kind: str, word: str) -> str:
        if self._keep:
            plain = _NOT_PLAIN.sub("-", word).strip("-._")[:LONGEST]
            return plain or kind
        digest = hashlib.blake2b(f"{kind} {word}".encode("utf-8", "replace"), key=self._key, digest_size=16)
        return f"{kind}{digest.hexdigest()[:DIGITS]}"
