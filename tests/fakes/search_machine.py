"""A machine whose runs cost what is planted, for searches without runs: noise, and drift of several kinds."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping

from mawl.tuning.search.search import Rules, SearchStep, TrialCost
from mawl.tuning.search.space import space_of

SPACE = space_of(["sortsize=16MiB,64MiB,256MiB", "cpucount=1,2"])
CONFIDENCE = 0.95
DRIFTS = ("none", "linear", "wave", "steps", "walk", "heavy")
"""``heavy``: no drift, but every twentieth run is half as long again."""


class SearchMachine:
    """Runs of ``seconds`` each, give or take the share ``spread``.

    ``effects`` are differences of cost by dimension and value; a run with one of ``lost`` has no cost, and
    lasts that share of its time (0: the machine refused it).
    """

    def __init__(
        self,
        seed: int,
        *,
        noise: float = 0.03,
        drift: str = "none",
        effects: Mapping[tuple[str, object], float] | None = None,
        seconds: float = 10.0,
        spread: float = 0.0,
        lost: Mapping[tuple[str, object], float] | None = None,
    ) -> None:
        assert drift in DRIFTS
        self._random = random.Random(f"machine {seed}")
        self._noise, self._drift, self._effects, self._seconds = noise, drift, effects or {}, seconds
        self._spread, self._lost = spread, lost or {}
        self._durations = random.Random(f"durations {seed}")
        self._level = 0.0
        self._phase = self._random.random()
        self.steps: list[SearchStep] = []

    def __call__(self, step: SearchStep) -> TrialCost:
        """The run's cost: that of its values, of the time and of chance."""
        self.steps.append(step)
        seconds = self._seconds * self._durations.uniform(1.0 - self._spread, 1.0 + self._spread)
        for pair in step.point.items():
            if pair in self._lost:
                return TrialCost(cost=None, seconds=seconds * self._lost[pair])
        effect = sum(self._effects.get(pair, 0.0) for pair in step.point.items())
        cost = effect + self._random.gauss(0.0, self._noise) + self._drifted(step.number)
        return TrialCost(cost=cost, seconds=seconds)

    def _drifted(self, number: int) -> float:
        if self._drift == "linear":
            return 0.02 * number
        if self._drift == "wave":
            return 0.1 * math.sin(2.0 * math.pi * (number / 7.0 + self._phase))
        if self._drift == "steps" and self._random.random() < 0.1:
            self._level = self._random.choice((0.0, 0.1, 0.2))
        if self._drift == "walk":
            self._level += self._random.gauss(0.0, 0.02)
        if self._drift == "heavy":
            self._level = 0.5 * (self._random.random() < 0.05)
        return self._level


def rules(seed: int, **changes: object) -> Rules:
    """Rules of a search of at most 200 runs of 10 s."""
    given: dict[str, object] = {
        "seed": seed,
        "budget_seconds": 2000.0,
        "confidence": CONFIDENCE,
        "least": -math.log(0.95),
        "clearly_worse": math.log(1.1),
        "sampler": "random",
    }
    return Rules(**{**given, **changes})  # type: ignore[arg-type]
