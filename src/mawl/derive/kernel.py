"""Which kind of work a step does, by its procedure and what it moves."""

from __future__ import annotations

from mawl.derive.told import StepTold
from mawl.records.model.derived import Kernel

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


def kernel_of(told: StepTold, read_bytes: float, written_bytes: float) -> tuple[Kernel, str]:
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
