"""Bounds that hold for any data in 0 to 1 and whenever one stops to look.

Source: the empirical Bernstein bound of Howard, Ramdas, McAuliffe and Sekhon, "Time-uniform,
nonparametric, nonasymptotic confidence sequences" (Annals of Statistics 49, 2021), section 3.4, with
weights that follow the data as in Waudby-Smith and Ramdas, "Estimating means of bounded random
variables by betting" (Journal of the Royal Statistical Society B 86, 2024), theorem 2.  For draws x with
conditional means m, and any weight l < 1 and guess g (0 to 1) chosen before each draw,

    | sum(l x)/sum(l) - sum(l m)/sum(l) |  <=  (ln(2/alpha) + sum((x - g)^2 (-ln(1 - l) - l))) / sum(l)

at every moment at once with probability 1 - alpha.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

LARGEST_WEIGHT = 0.75
"""The bound needs less than 1; more than this gains little and pays much for a wrong guess."""
HEAVIEST = (0.2, 0.6, 0.9)
"""Weights of the heaviest draw where nobody looks before the end, so that none can be chosen from draws."""
START_VARIANCE = 0.25
"""Variance before the first round: the largest that values of 0 to 1 can have."""
START_DRAWS = 8
"""Draws that the variance of the first round counts for in later ones."""


class Rounds:
    """The mean over slices of equal size, by rounds of one draw from each; looked at after each round.

    All draws of a round weigh alike, so that their means make the mean of the whole; the guess of a draw is
    what its slice gave before, so that only the variance within slices costs draws.  ``wanted`` is the
    half-width to stop at.  The weight h / (h + v), of this h and the variance v so far, reaches it in the
    fewest draws (it maximises l h - v (-ln(1 - l) - l)); the bound holds whatever the weights are.
    """

    def __init__(self, confidence: float, wanted: float) -> None:
        self._log = math.log(2.0 / (1.0 - confidence))
        self._wanted = wanted
        self._weights = self._weighted = self._variation = 0.0
        self._slices: dict[int, tuple[float, int]] = {}
        self._first_variance = START_VARIANCE
        self._squares, self._later = 0.0, 0
        self._sum = 0.0
        self.draws = 0

    def add(self, values: Mapping[int, float]) -> None:
        """One round: a value from each slice, by its number."""
        weight = min(LARGEST_WEIGHT, self._wanted / (self._wanted + self._variance))
        price = -math.log1p(-weight) - weight
        first, mean = not self.draws, self._sum / self.draws if self.draws else 0.5
        for number, value in values.items():
            total, count = self._slices.get(number, (0.0, 0))
            square = (value - (mean + total) / (1 + count)) ** 2
            self._weights += weight
            self._weighted += weight * value
            self._variation += square * price
            if not first:
                self._squares += square
                self._later += 1
            self._slices[number] = (total + value, count + 1)
        self._sum += sum(values.values())
        self.draws += len(values)
        if first:
            centre = self._sum / self.draws
            self._first_variance = sum((value - centre) ** 2 for value in values.values()) / self.draws

    @property
    def _variance(self) -> float:
        return (self._squares + START_DRAWS * self._first_variance) / (self._later + START_DRAWS)

    @property
    def centre(self) -> float:
        """The estimate: the middle of the interval."""
        return self._weighted / self._weights

    @property
    def half_width(self) -> float:
        """Infinite before the first round."""
        return (self._log + self._variation) / self._weights if self.draws else math.inf

    @property
    def draws_left(self) -> float:
        """How many more are likely to be needed, at the variance so far; before the first the fewest."""
        if not self.draws:
            return self._log / (self._wanted * LARGEST_WEIGHT)
        variance = self._variance
        weight = min(LARGEST_WEIGHT, self._wanted / (self._wanted + variance))
        gain = self._wanted * weight - variance * (-math.log1p(-weight) - weight)
        return max(self._log + self._variation - self._wanted * self._weights, 0.0) / gain

    @property
    def done(self) -> bool:
        """Whether the estimate is as close as wanted."""
        return self.half_width <= self._wanted


def interval_of_looks(
    looks: Sequence[tuple[float, Sequence[float]]], confidence: float
) -> tuple[float, float] | None:
    """Mean over looks and its half-width: each look is its weight and independent draws of one mean.

    For the number of draws and the weights that were fixed whatever the draws gave: nobody stops early.
    A draw weighs its look's weight over the draws there.  Four bounds each take a quarter of the error,
    and the narrowest counts: Hoeffding's for sums of unequal ranges ("Probability inequalities for sums of
    bounded random variables", Journal of the American Statistical Association 58, 1963, theorem 2), and
    the empirical Bernstein bound above with the heaviest draw at each of :data:`HEAVIEST`; its guess is
    what draws before gave, those of the same look first.  Never wider than 0 to 1; None without a draw.
    """
    shares = [(weight / len(values), values) for weight, values in looks if values and weight > 0.0]
    if not shares:
        return None
    log = math.log(2.0 * (1 + len(HEAVIEST)) / (1.0 - confidence))
    heaviest = max(share for share, _ in shares)
    scales = [weight / heaviest for weight in HEAVIEST]
    total = weighted = squares = before = 0.0
    variations, seen = [0.0] * len(scales), 0
    for share, values in shares:
        prices = [-math.log1p(-scale * share) - scale * share for scale in scales]
        mean, own, variation = before / seen if seen else 0.5, 0.0, 0.0
        for number, value in enumerate(values):
            variation += (value - (mean + own) / (1 + number)) ** 2
            own += value
        variations = [sum_ + variation * price for sum_, price in zip(variations, prices, strict=True)]
        total += share * len(values)
        weighted += share * own
        squares += share * share * len(values)
        before, seen = before + own, seen + len(values)
    centre = weighted / total
    bounds = [math.sqrt(squares * log / 2.0) / total]
    bounds += [(log + sum_) / (scale * total) for sum_, scale in zip(variations, scales, strict=True)]
    return centre, min(*bounds, max(centre, 1.0 - centre))
