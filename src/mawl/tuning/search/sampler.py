"""Chooses the next point to try: the only module that uses Optuna, seeded.

The study lives in memory.  A search that continues replays the trials of its record in their order and with
the same seed, and so gets the same proposals.
"""

from __future__ import annotations

import random
import warnings
from typing import Literal

import optuna

from mawl.tuning.search.records import Point
from mawl.tuning.search.space import SearchSpace

Kind = Literal["tpe", "random"]
"""``tpe``: the tree-structured Parzen estimator (Bergstra et al. 2011); ``random``: without regard."""

RANDOM_TRIALS = 5
"""Trials before the estimator has something to estimate from."""

MOST_REPEATED = 20
"""Proposals of known points in a row, after which an unknown one is drawn."""


class Sampler:
    """Proposes points of a space, each once, and is told how each did."""

    def __init__(self, space: SearchSpace, seed: int, clearly_worse: float, kind: Kind = "tpe") -> None:
        """``clearly_worse``: a difference of costs above it after the first repeat ends a trial."""
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        self._space = space
        self._known: dict[tuple[object, ...], float] = {}
        self._random = random.Random(seed)
        self._trial: optuna.trial.Trial | None = None
        chosen: optuna.samplers.BaseSampler = optuna.samplers.RandomSampler(seed=seed)
        if kind == "tpe":
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
                chosen = optuna.samplers.TPESampler(
                    seed=seed, n_startup_trials=RANDOM_TRIALS, multivariate=True
                )
        self._study = optuna.create_study(
            sampler=chosen, pruner=optuna.pruners.ThresholdPruner(upper=clearly_worse)
        )

    def add_known(self, point: Point, difference: float) -> None:
        """A point whose difference is known without a trial, such as the baseline."""
        self._known[tuple(point.values())] = difference

    @property
    def exhausted(self) -> bool:
        return len(self._known) >= self._space.size()

    def propose(self) -> Point | None:
        if self.exhausted:
            return None
        for _ in range(MOST_REPEATED):
            point = self._ask()
            known = self._known.get(tuple(point.values()))
            if known is None:
                return point
            self._tell(known)
        unknown = [point for point in self._space.points() if tuple(point.values()) not in self._known]
        chosen = self._random.choice(unknown)
        self._study.enqueue_trial(
            {name: self._space.dimensions[name].index(value) for name, value in chosen.items()}
        )
        return self._ask()

    def prune(self, difference: float) -> bool:
        """Whether the trial is to end after its first repeat, which made this difference."""
        assert self._trial is not None, "propose comes first"
        self._trial.report(difference, step=1)
        return self._trial.should_prune()

    def tell(self, point: Point, difference: float | None, *, pruned: bool = False) -> None:
        """How the trial that was proposed did; None: its runs failed."""
        self._known[tuple(point.values())] = float("inf") if difference is None else difference
        if difference is None or pruned:
            assert self._trial is not None, "propose comes first"
            state = optuna.trial.TrialState.PRUNED if pruned else optuna.trial.TrialState.FAIL
            self._study.tell(self._trial, state=state)
        else:
            self._tell(difference)

    def _ask(self) -> Point:
        self._trial = self._study.ask()
        # By place: a study keeps its choices as they are given, and knows no others.
        places = {
            name: self._trial.suggest_categorical(name, range(len(values)))
            for name, values in self._space.dimensions.items()
        }
        return {name: self._space.dimensions[name][int(place)] for name, place in places.items()}

    def _tell(self, difference: float) -> None:
        assert self._trial is not None, "propose comes first"
        if difference == float("inf"):
            self._study.tell(self._trial, state=optuna.trial.TrialState.FAIL)
        else:
            self._study.tell(self._trial, difference)
