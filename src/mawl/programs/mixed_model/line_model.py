"""The model of one product line: weekly sales with a random level and trend of every store, by REML."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from statsmodels.regression.mixed_linear_model import MixedLM

from mawl.datagen.repeated import time_of
from mawl.programs.context import check
from mawl.programs.mixed_model.inputs import COEFFICIENTS, RESPONSE, VARYING, WEEKS
from mawl.programs.toolkit.panels import Block

Numbers = NDArray[np.float64]

TERMS = len(COEFFICIENTS)
_NAMES = tuple(column.name for column in VARYING)
TIMES = time_of(np.arange(WEEKS, dtype=np.float64), WEEKS)
RANDOM_DESIGN = np.stack([np.ones(WEEKS), TIMES], axis=1)
"""What a store's effects are multiplied with: (weeks, 2), the same for every store."""

TRUE_NOISE = RESPONSE.noise**2 + 1.0 / 12.0
"""The variance of the noise; rounding sales to whole numbers adds a twelfth."""
_LEVEL, _SHARED = RESPONSE.level**2, RESPONSE.shared / 16.0
_TRUE_COVARIANCE = np.array(
    [[_LEVEL, _SHARED * _LEVEL], [_SHARED * _LEVEL, RESPONSE.trend**2 + _SHARED**2 * _LEVEL]]
)


class LineModel:
    """What one line's fit found.

    ``coefficients`` and ``errors``, (terms,); ``covariance`` of level and trend, (2, 2); ``noise``, the
    variance of what is left; ``effects`` of every store, (stores, 2).
    """

    def __init__(self, sales: Numbers, terms: Numbers) -> None:
        stores = len(sales) // WEEKS
        owners = np.repeat(np.arange(stores), WEEKS)
        found = MixedLM(sales, terms, groups=owners, exog_re=np.tile(RANDOM_DESIGN, (stores, 1))).fit(
            reml=True, method=["lbfgs", "bfgs", "cg"]
        )
        check(bool(found.converged), "the fit of a line", found="no convergence", expected="some")
        self.coefficients: Numbers = np.asarray(found.fe_params)
        self.errors: Numbers = np.asarray(found.bse_fe)
        self.covariance: Numbers = np.asarray(found.cov_re)
        self.noise = float(found.scale)
        effects = found.random_effects
        self.effects: Numbers = np.array([np.asarray(effects[store]) for store in range(stores)])


def design(block: Block) -> Numbers:
    """The terms of each week: a one, time, then what varies; (weeks, terms)."""
    found = np.empty((TERMS, len(block["sales"])))
    found[0] = 1.0
    found[1] = time_of(block["week"], WEEKS)
    for place, name in enumerate(_NAMES, start=2):
        found[place] = block[name]
    return np.ascontiguousarray(found.T)


def expected(terms: Numbers, coefficients: Numbers, effects: Numbers) -> Numbers:
    """The sales to expect in each week of each store: (weeks,)."""
    found: Numbers = terms @ coefficients + (effects @ RANDOM_DESIGN.T).reshape(-1)
    return found


def true_errors(terms: Numbers) -> Numbers:
    """The standard errors that coefficients have by theory, with the true variances: (terms,)."""
    by_store = terms.reshape(-1, WEEKS, TERMS)
    # What the weeks of a store tell, less what its own level and trend take of it.
    told = np.einsum("sti,stj->ij", by_store, by_store) / TRUE_NOISE
    own = np.einsum("sti,te->sie", by_store, RANDOM_DESIGN) / TRUE_NOISE
    told -= np.einsum("sie,ef,sjf->ij", own, leftover(_TRUE_COVARIANCE, TRUE_NOISE), own)
    found: Numbers = np.sqrt(np.diag(np.linalg.inv(told)))
    return found


def leftover(covariance: Numbers, noise: float) -> Numbers:
    """The covariance of recovered effects about the hidden ones, by theory: (2, 2)."""
    information = RANDOM_DESIGN.T @ RANDOM_DESIGN / noise
    found: Numbers = np.linalg.inv(information + np.linalg.inv(covariance))
    return found
