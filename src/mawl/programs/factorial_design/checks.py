"""Checks of the analyses and the designs of studies whose effects are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mawl.plan.columns import Column, Response
from mawl.programs.context import check, check_equal
from mawl.programs.datagen.responses import true_means
from mawl.programs.factorial_design.analysis import (
    DESIGN,
    FACTORS,
    FAMILY_ERROR,
    IMPROVES,
    LEVELS,
    PAIRS,
    PLACES,
    SIGNIFICANCE,
    TERMS,
    Analysis,
    Candidates,
)
from mawl.programs.factorial_design.declare import RESPONSES, STUDY_ROWS
from mawl.programs.toolkit.regression import SIGMAS

Numbers = NDArray[np.float64]

_CLEAR = 7.0
"""Levels whose means are so far apart are never taken for equal: nine standard errors."""
_SPREAD_DEVIATIONS = 8.0
_ERROR_SLACK = 0.12
_LEAST_EFFICIENCY = 0.9
"""Of a design, beside the bound (measured: 0.97 and more)."""


@dataclass(frozen=True)
class SampledDesign:
    """One study's design, kept to be checked: the runs it chose from and its log determinant."""

    study: int
    candidates: Candidates
    design: NDArray[np.intp]
    value: float


class EffectTally:
    """Counts what the analyses of one response found beside what was there, over all studies."""

    def __init__(self, column: Column) -> None:
        assert isinstance(column.values, Response)
        self.name = column.name
        self.values = column.values
        self.found = np.zeros((2, TERMS), np.int64)
        """Terms found, by whether they are there."""
        self.there = np.zeros((2, TERMS), np.int64)
        self.differing = np.zeros(2, np.int64)
        """Pairs of levels found to differ, by whether they do so clearly."""
        self.clear = 0
        self.families = self.alarms = 0
        """Factors without effects, and those of them where any pair was found to differ."""
        self.farthest = self.squares = self.errors = self.variances = 0.0
        self.studies = 0
        self._solve = np.linalg.pinv(DESIGN)
        # Were all cells run equally often; chance makes errors 5 % larger.
        self._balanced = np.diag(np.linalg.inv(DESIGN.T @ DESIGN)) * len(DESIGN) / STUDY_ROWS

    def add(self, analyses: Sequence[Analysis], active: NDArray[np.bool_]) -> None:
        """Studies' analyses and the terms that they have by the generator, (studies, terms)."""
        truth = true_means(self.values, active) @ self._solve.T
        mains = _level_means(truth)
        for analysis, there, parameters, means in zip(analyses, active, truth, mains, strict=True):
            distances = (analysis.parameters - parameters) / analysis.errors
            self.farthest = max(self.farthest, float(np.abs(np.nan_to_num(distances, nan=np.inf)).max()))
            self.squares += float(distances @ distances)
            self.errors += float((np.square(analysis.errors) / (analysis.variance * self._balanced)).mean())
            self.variances += analysis.variance
            np.add.at(self.found, (there.astype(np.intp), np.arange(TERMS)), analysis.found)
            np.add.at(self.there, (there.astype(np.intp), np.arange(TERMS)), 1)
            apart = np.array([[abs(level[one] - level[other]) for one, other in PAIRS] for level in means])
            clear = apart >= _CLEAR - 0.5
            self.clear += int(clear.sum())
            self.differing += (
                int((analysis.differing & ~clear).sum()),
                int((analysis.differing & clear).sum()),
            )
            idle = ~there[:FACTORS]
            self.families += int(idle.sum())
            self.alarms += int(analysis.differing[idle].any(axis=1).sum())
        self.studies += len(analyses)

    def check(self, studies: int) -> None:
        what = f"of {self.name}"
        check_equal(f"the number of studies analysed {what}", self.studies, studies)
        check_equal(f"the number of terms found {what}", self.found[1].tolist(), self.there[1].tolist())
        _check_share(
            f"terms {what} found that are not there", self.found[0].sum(), self.there[0].sum(), SIGNIFICANCE
        )
        check_equal(f"the number of clear differences {what}", int(self.differing[1]), self.clear)
        _check_share(f"factors {what} compared that have no effect", self.alarms, self.families, FAMILY_ERROR)
        check(
            self.farthest <= SIGMAS,
            f"the effect {what} farthest from the truth, in standard errors,",
            found=self.farthest,
            expected=f"at most {SIGMAS:g}",
        )
        check_variance(
            f"runs in one cell {what}", self.variances / studies, studies * (STUDY_ROWS - len(DESIGN))
        )
        errors = self.errors / studies
        check(
            abs(errors - 1.0) <= _ERROR_SLACK,
            f"the square of standard errors {what} beside those of equal cells",
            found=errors,
            expected=f"1, give or take {_ERROR_SLACK:g}",
        )
        count = self.studies * DESIGN.shape[1]
        spread, slack = self.squares / count, _SPREAD_DEVIATIONS * np.sqrt(2.0 / count)
        check(
            abs(spread - 1.0) <= slack,
            f"the mean square of effects {what} less the truth, in standard errors,",
            found=spread,
            expected=f"1, give or take {slack:.3f}",
        )


def check_variance(what: str, found: float, freedom: int) -> None:
    """An error variance is that of the generator's noise and of its rounding to whole numbers."""
    values = RESPONSES[0].values
    assert isinstance(values, Response)
    truth = values.noise**2 + 1.0 / 12.0
    slack = SIGMAS * np.sqrt(2.0 / freedom) * truth
    check(
        abs(found - truth) <= slack,
        f"the variance of {what}",
        found=found,
        expected=f"{truth:.2f}, give or take {slack:.2f}",
    )


def check_design(sample: SampledDesign, runs: int) -> float:
    """No swap of one coordinate improves a design, and it comes near the bound; returns its efficiency."""
    what = f"of study {sample.study}"
    candidates, design = sample.candidates, sample.design
    check_equal(f"the number of next runs {what}", len(design), runs)
    value = candidates.log_determinant(design)
    check(
        bool(np.isfinite(value)) and abs(value - sample.value) <= 1e-6 * max(abs(value), 1.0),
        f"the log determinant of the design {what}",
        found=sample.value,
        expected=value,
    )
    swap = candidates.best_swap(design)
    most = 1.0 + 2.0 * (IMPROVES - 1.0)
    check(swap <= most, f"the best swap left {what}", found=swap, expected=f"at most {most:g}")
    terms = candidates.terms.shape[1]
    efficiency = float(np.exp((value - candidates.bound()) / terms) / runs)
    check(
        _LEAST_EFFICIENCY <= efficiency <= 1.0 + 1e-9,
        f"the efficiency of the design {what}",
        found=efficiency,
        expected=f"{_LEAST_EFFICIENCY:g} to 1",
    )
    return efficiency


def _level_means(parameters: Numbers) -> Numbers:
    """Means of levels less the mean of all: (studies, factors, levels)."""
    found = np.empty((len(parameters), FACTORS, LEVELS))
    for factor, place in enumerate(PLACES[:FACTORS]):
        found[:, factor, :-1] = parameters[:, place]
        found[:, factor, -1] = -parameters[:, place].sum(axis=1)
    return found


def _check_share(what: str, found: int, cases: int, share: float) -> None:
    expected = share * cases
    slack = SIGMAS * np.sqrt(expected * (1.0 - share)) + 3.0
    check(
        abs(found - expected) <= slack,
        f"the number of {what}",
        found=int(found),
        expected=f"about {expected:.1f} of {cases}, give or take {slack:.1f}",
    )
