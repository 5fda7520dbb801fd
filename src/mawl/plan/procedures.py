"""The SAS procedures that steps are named after in the SAS-style log, and the reason for each."""

from __future__ import annotations

from collections.abc import Mapping

from mawl.plan.programs import Program, Step

PROCEDURES: Mapping[str, str] = {
    "DATASETS": "it makes indexes of tables and removes tables",
    "ESM": "it fits exponential smoothing models to many series and forecasts them",
    "FASTCLUS": "it finds clusters by k-means in large tables",
    "FOREST": "it fits random forests",
    "FREQ": "it counts rows by the values of codes",
    "GENMOD": "its REPEATED statement fits generalized estimating equations",
    "GLM": "it fits linear models with classes, and writes their residuals",
    "GLMSELECT": "it selects the terms of a linear model with classes",
    "GRADBOOST": "it fits gradient boosted trees",
    "HPTMINE": "it finds topics in a collection of texts",
    "HPTMSCORE": "it gives new texts the topics of a fitted collection",
    "IML": "it computes with whole matrices in memory",
    "LOGISTIC": "it selects and fits logistic models",
    "MEANS": "it prints moments and extremes, by class",
    "MIXED": "it fits linear mixed models by REML",
    "OPTEX": "it searches optimal designs",
    "OPTMODEL": "it states and solves optimization problems",
    "PLM": "it scores rows by a fitted model that was stored",
    "REG": "it fits linear regressions, by group too",
    "SORT": "it orders rows by keys within SORTSIZE, and can keep one row of each key",
    "SQL": "it joins tables, looks rows up by key and tests conditions over rows",
    "SUMMARY": "it writes sums and means by class to a table",
    "SURVEYLOGISTIC": "it fits weighted logistic models with strata and clusters",
    "TABULATE": "it prints tables of classes against each other",
    "UNIVARIATE": "it gives percentiles of a distribution",
}
"""Every procedure that a declaration names, with the reason."""

DATA_STEP = "a DATA step reads and writes rows one after another"


def sas_name(program: Program | None, step: str) -> str | None:
    """The procedure of a program's step; None where the declaration has none (commands, other versions)."""
    found: Step | None = next((one for one in program.steps if one.name == step), None) if program else None
    return None if found is None else found.procedure
