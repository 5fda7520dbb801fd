"""Models of repeated measures with one thing wrong in them: their own checks must say so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from statsmodels.genmod.cov_struct import Autoregressive, Exchangeable, Independence

from tests.contract.planted_run import without_first_row
from tests.programs.faults import instead, result


def changed(name: str, change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A model that reports something else under one of its names."""

    def model(method: Any) -> Any:
        def run(self: Any, *arguments: Any) -> None:
            method(self, *arguments)
            setattr(self, name, change(getattr(self, name)))

        return run

    return model


def of_next_row(name: str) -> Callable[[Any], Any]:
    """A pass whose blocks have one column moved on by a row: no sum changes."""

    def moved(blocks: Any) -> Any:
        def run(*arguments: Any) -> Any:
            for block in blocks(*arguments):
                yield {**block, name: np.roll(block[name], 1)}

        return run

    return moved


def fewer(add: Any) -> Any:
    """A ranking that misses the first row of each site."""
    return lambda self, scores, happened: add(self, scores[1:], happened[1:])


SITE = "gee_repeated:SiteModel.fit"
GEE: dict[str, dict[str, Any]] = {
    "coefficients of other terms": {SITE: changed("coefficients", lambda found: np.roll(found, 1, axis=1))},
    "signs are turned": {SITE: changed("coefficients", np.negative)},
    "standard errors too small": {SITE: changed("errors", lambda found: 0.4 * found)},
    "standard errors too large": {SITE: changed("errors", lambda found: 1.5 * found)},
    "structures changed places": {
        "gee_repeated:_structures": instead(
            lambda: (Independence(), Autoregressive(grid=True), Exchangeable())
        )
    },
    "correlations of independent visits": {SITE: changed("correlations", np.zeros_like)},
    "the worst structure is preferred": {SITE: changed("penalties", np.negative)},
    "every visit is a patient": {
        "gee_repeated:np.repeat": lambda repeat: lambda values, times: np.arange(len(values) * times)
    },
    "outcomes of other visits": {"gee_repeated:blocks": of_next_row("relapsed")},
    "chances of other visits": {"gee_repeated:chances": result(lambda found: found[::-1])},
    "chances of no relapse": {"gee_repeated:chances": result(lambda found: 1.0 - found)},
    "scores that are no chances": {"gee_repeated:chances": result(np.sqrt)},
    "one chance for all": {"gee_repeated:chances": result(lambda found: np.full_like(found, 0.4))},
    "visits are not scored": {"gee_repeated:ScoreBins.add": fewer},
    "a row is lost": {"context:TableWriter.write": without_first_row},
}


LINE = "mixed_model:LineModel.__init__"
TURNED = np.array([[1.0, -1.0], [-1.0, 1.0]])
MIXED: dict[str, dict[str, Any]] = {
    "coefficients of other terms": {LINE: changed("coefficients", lambda found: np.roll(found, 1))},
    "standard errors too small": {LINE: changed("errors", lambda found: 0.4 * found)},
    "standard errors too large": {LINE: changed("errors", lambda found: 1.2 * found)},
    "deviations for variances": {LINE: changed("covariance", np.sqrt)},
    "the covariance is turned": {LINE: changed("covariance", lambda found: found * TURNED)},
    "a deviation for the noise": {LINE: changed("noise", np.sqrt)},
    "noise without its degrees of freedom": {LINE: changed("noise", lambda found: 1.2 * found)},
    "effects of other stores": {LINE: changed("effects", lambda found: np.roll(found, 1, axis=0))},
    "effects changed places": {LINE: changed("effects", lambda found: found[:, ::-1])},
    "effects shrunk twice": {LINE: changed("effects", lambda found: 0.6 * found)},
    "effects of everybody": {LINE: changed("effects", lambda found: 0.0 * found)},
    "time runs backwards": {"mixed_model:RANDOM_DESIGN": lambda design: design[::-1].copy()},
    "sales of other weeks": {"mixed_model:blocks": of_next_row("sales")},
    "expected sales of other weeks": {"mixed_model:expected": result(lambda found: np.roll(found, 1))},
    "expected sales are too high": {"mixed_model:expected": result(lambda found: found + 3.0)},
    "a row is lost": {"context:TableWriter.write": without_first_row},
}
