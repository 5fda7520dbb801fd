"""The models of one site: relapses of its patients by GEE, with three working correlations."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from statsmodels.genmod.cov_struct import Autoregressive, CovStruct, Exchangeable, Independence
from statsmodels.genmod.families.family import Binomial
from statsmodels.genmod.generalized_estimating_equations import GEE

from mawl.programs.context import check
from mawl.programs.gee_repeated.inputs import COEFFICIENTS, KEPT, OUTCOME, VISITS
from mawl.programs.toolkit.panels import Block

Numbers = NDArray[np.float64]

STRUCTURES = ("independence", "exchangeable", "autoregressive")
TERMS = len(COEFFICIENTS)
_QUADRATURE_STEPS = 200
"""Points of the quasi-likelihood's integral; comparing structures rests on the penalty, which has none."""


class SiteModel:
    """What one site's fits found: a row for each of ``STRUCTURES``, in that order.

    ``coefficients``, ``errors`` (robust) and ``model_errors`` (as if the structure were true) are
    (structures, terms); ``correlations``, ``criteria`` (QIC) and ``penalties`` (what QIC has for the
    structure, the smaller the better) are (structures,).
    """

    def __init__(self) -> None:
        shape = (len(STRUCTURES), TERMS)
        self.coefficients, self.errors, self.model_errors = np.empty(shape), np.empty(shape), np.empty(shape)
        self.correlations = np.zeros(len(STRUCTURES))
        self.criteria, self.penalties = np.empty(len(STRUCTURES)), np.empty(len(STRUCTURES))

    def fit(self, relapsed: Numbers, terms: Numbers) -> None:
        """Fit all structures to visits in order of patients: (visits,) and (visits, terms)."""
        patients = np.repeat(np.arange(len(relapsed) // VISITS), VISITS)
        months = np.tile(np.arange(VISITS), len(relapsed) // VISITS)
        for place, structure in enumerate(_structures()):
            found = GEE(
                relapsed, terms, groups=patients, time=months, family=Binomial(), cov_struct=structure
            ).fit()
            check(
                bool(found.converged), f"the {STRUCTURES[place]} fit", found="no convergence", expected="some"
            )
            self.coefficients[place] = found.params
            self.errors[place] = found.bse
            self.model_errors[place] = found.standard_errors("naive")
            self.correlations[place] = 0.0 if structure.dep_params is None else structure.dep_params
            # With a common scale, as comparing structures demands.
            self.criteria[place], without = found.qic(scale=1.0, n_step=_QUADRATURE_STEPS)
            self.penalties[place] = (self.criteria[place] - without) / 2.0 + TERMS


def design(block: Block) -> Numbers:
    """The terms of each visit: a one, then whether each condition of the model holds; (visits, terms)."""
    visits = len(block["relapsed"])
    found = np.empty((TERMS, visits))
    found[0] = 1.0
    for place, rule in enumerate(OUTCOME.rules, start=1):
        (condition,) = rule.conditions
        found[place] = block[condition.column.name] >= condition.at_least
    return np.ascontiguousarray(found.T)


def true_correlations(true: Numbers) -> tuple[float, float]:
    """What the exchangeable and the autoregressive parameter estimate, from visits' true chances: (visits,).

    Draws of two visits are the same with a known chance, and then both relapse when the draw lies below
    both their chances.
    """
    by_patient = true.reshape(-1, VISITS)
    deviations = np.sqrt(by_patient * (1.0 - by_patient))
    every, rows = 0.0, 0
    neighbours = 0.0
    for apart in range(1, VISITS):
        early, late = by_patient[:, :-apart], by_patient[:, apart:]
        shared = (np.minimum(early, late) - early * late) / (deviations[:, :-apart] * deviations[:, apart:])
        correlation = (KEPT / 256) ** apart * shared
        every, rows = every + float(correlation.sum()), rows + correlation.size
        if apart == 1:
            neighbours = float(correlation.mean())
    return every / rows, neighbours


def _structures() -> tuple[CovStruct, ...]:
    # The grid: visits are equally spaced.
    return Independence(), Exchangeable(), Autoregressive(grid=True)
