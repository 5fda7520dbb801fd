"""tree_ensemble rejects wrong answers that are planted in its models, its ranks and its passes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier

from mawl.programs import tree_ensemble
from mawl.programs.tables.arrow import TableWriter
from mawl.programs.toolkit.estimates import ScoreBins
from tests.contract.planted_run import without_first_row
from tests.programs.faults import Fault, given, result

Array = NDArray[Any]


SCALE = 0.00035


def quicken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree_ensemble, "_TREES", 12)
    monkeypatch.setattr(tree_ensemble, "_ROUNDS", 40)


def _reversed(scores: Array) -> Array:
    return scores[::-1]


def _inverted(scores: Array) -> Array:
    return scores[:, ::-1]


def _of_the_first(scores: Array) -> Array:
    return np.broadcast_to(scores[:1], scores.shape)


def _constant(scores: Array) -> Array:
    return np.full_like(scores, 0.5)


def _next_row(scores: Array) -> Array:
    return np.roll(scores, 1, axis=0)


def _mostly_noise(scores: Array) -> Array:
    noise = np.random.default_rng(1).random(len(scores))
    mixed = 0.3 * scores[:, 1] + 0.7 * noise
    return np.stack([1.0 - mixed, mixed], axis=1)


def _of_other_rows(self: Any, rows: Array, outcomes: Array) -> tuple[Any, Array, Array]:
    return self, rows, np.roll(outcomes, 1)


def _of_one_column(self: Any, rows: Array, outcomes: Array) -> tuple[Any, Array, Array]:
    return self, np.repeat(rows[:, :1], rows.shape[1], axis=1), outcomes


def _few(self: Any, rows: Array, outcomes: Array) -> tuple[Any, Array, Array]:
    return self, rows[::32], outcomes[::32]


def _last_is_turned(branches: Any) -> Any:
    def turned(self: Any) -> Any:
        for fitted, (rows, happened) in branches(self):
            yield fitted, (rows, np.append(happened[:-1], not happened[-1]))

    return turned


def _leaking(add: Any) -> Any:
    def leak(self: ScoreBins, scores: Array, happened: Array) -> None:
        add(self, np.where(happened, 0.9, 0.1) if len(np.unique(scores)) > 30 else scores, happened)

    return leak


MODELS = {"boosting": HistGradientBoostingClassifier, "forest": RandomForestClassifier}
AREA = "area under the curve"
SCORES: dict[str, tuple[Callable[[Any], Any], str]] = {
    "scores are in reverse": (_reversed, AREA),
    "scores are those of no default": (_inverted, AREA),
    "scores are all alike": (_constant, AREA),
    "scores are the first row's": (_of_the_first, AREA),
    "scores are the next row's": (_next_row, AREA),
    "scores are mostly noise": (_mostly_noise, AREA),
    "scores rank well but are no chances": (np.sqrt, "share of defaults by tenth"),
}
FITS = {"outcomes are the next row's": _of_other_rows, "one column": _of_one_column, "few rows": _few}
FAULTS = {
    **{
        f"{name}, {which}": Fault(model, "predict_proba", result(wrong), said)
        for name, (wrong, said) in SCORES.items()
        for which, model in MODELS.items()
    },
    **{
        f"{name}, {which}": Fault(model, "fit", given(wrong), AREA)
        for name, wrong in FITS.items()
        for which, model in MODELS.items()
    },
    "models score the rows they are fitted on": Fault(
        tree_ensemble._TreeEnsemble,
        "_branches",
        lambda right: lambda self: ((odd, odd) for _, odd in right(self)),
        AREA,
    ),
    "scores know the outcome": Fault(ScoreBins, "add", _leaking, AREA),
    "outcomes are ranked with other rows": Fault(
        ScoreBins,
        "add",
        given(lambda self, scores, happened: (self, scores, np.roll(happened, 1))),
        "tenth of the truth score",
    ),
    "a row of each branch is not ranked": Fault(
        ScoreBins,
        "add",
        given(lambda self, scores, happened: (self, scores[1:], happened[1:])),
        "number of applications ranked",
    ),
    "a branch is left out": Fault(
        tree_ensemble._TreeEnsemble,
        "_branches",
        result(lambda branches: list(branches)[1:]),
        "number of applications ranked",
    ),
    "an outcome is turned round": Fault(
        tree_ensemble._TreeEnsemble, "_branches", _last_is_turned, "number of defaults ranked"
    ),
    "a row is lost": Fault(TableWriter, "write", without_first_row, "is wrong"),
}
