"""Compression savings estimated from random blocks, with confidence bounds that hold for any data.

All bytes, file after file, make slices of equal size.  A round draws one byte from each slice, with the same
chance anywhere in it, and the value of a draw is the saving of the block around it.  The mean over draws is
then the saving of all bytes, whatever their order, files and sizes.  Since neighbours are alike, fewer rounds
are enough.

Source of the bounds: the empirical Bernstein bound of Howard, Ramdas, McAuliffe and Sekhon, "Time-uniform,
nonparametric, nonasymptotic confidence sequences" (Annals of Statistics 49, 2021), section 3.4, with
weights that follow the data as in Waudby-Smith and Ramdas, "Estimating means of bounded random
variables by betting" (Journal of the Royal Statistical Society B 86, 2024), theorem 2.  For draws x with
conditional means m, and any weight l < 1 and guess g (0 to 1) chosen before each draw,

    | sum(l x)/sum(l) - sum(l m)/sum(l) |  <=  (ln(2/alpha) + sum((x - g)^2 (-ln(1 - l) - l))) / sum(l)

at every moment at once with probability 1 - alpha.
"""

from __future__ import annotations

import math
import time
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from random import Random
from typing import NamedTuple

from mawl.measure.compressibility.codecs import (
    SECTOR_BYTES,
    Codec,
    CodecKey,
    EstimateRequest,
    SavedShare,
    load_codec,
    original_bytes,
    saved_share,
)
from mawl.measure.compressibility.population import BytePlace, Population
from mawl.records.model.compressibility import (
    UNKNOWN_SHARE,
    Estimate,
    SampledShare,
    SamplingCost,
    StorageModel,
)

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
        return self.half_width <= self._wanted


def interval_of_looks(
    looks: Sequence[tuple[float, Sequence[float]]], confidence: float
) -> tuple[float, float] | None:
    """Mean over looks and its half-width: each look is its weight and independent draws of one mean.

    For the number of draws and the weights that were fixed whatever the draws gave: nobody stops early.
    A draw weighs its look's weight over the draws there.  Four bounds each take a quarter of the error,
    and the narrowest counts: Hoeffding's for sums of unequal ranges ("Probability inequalities for sums of
    bounded random variables", Journal of the American Statistical Association 58, 1963, theorem 2), and
    the empirical Bernstein bound above with the heaviest draw at each of ``HEAVIEST``; its guess is
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


READ_ALL_BYTES = 64 * 2**20
"""No more than this is read in full: that costs less than drawing from it."""
SLICES = 64
"""Draws of a round; they are read in the order in which they lie, which a disk likes."""
MOST_TRIES = 16
"""Draws in a slice without one that can be read; after that the slice is left out."""

NOTHING_THERE = "there is no data to look at"
NOTHING_READ = "nothing of it could be read"


class VolumeEstimates(NamedTuple):
    """Estimates in the order of their figures, the share of zero pages, and what it took."""

    estimates: list[Estimate]
    zero_share: SampledShare
    cost: SamplingCost
    reason: str | None


class _Meter(NamedTuple):
    """One figure under way: what a block gives, in blocks of which size."""

    block_bytes: int
    value: SavedShare
    storage: StorageModel


def zero_page(page: bytes, _: bool = False) -> float:
    """1 where a page holds nothing but zeros, else 0."""
    return 0.0 if page.strip(b"\0") else 1.0


def estimate(
    population: Population,
    figures: Sequence[EstimateRequest],
    *,
    confidence: float,
    half_width: float,
    random: Random,
    loader: Callable[[CodecKey], Codec] = load_codec,
    read_all_bytes: int = READ_ALL_BYTES,
) -> VolumeEstimates:
    """Estimates of all figures, each within ``half_width`` at ``confidence``; a codec that is absent has
    None and its reason.  Up to ``read_all_bytes`` are read in full, with a half-width of 0; more only where
    draws are likely to read as much, and never where that is 0."""
    began, cpu_before = time.monotonic(), time.process_time()
    codecs = {key: loader(key) for key in dict.fromkeys(figure.codec for figure in figures)}
    there = [figure for figure in figures if codecs[figure.codec].compressed_bytes is not None]
    meters = [
        _Meter(figure.block_bytes, saved_share(figure, codecs[figure.codec]), figure.storage)
        for figure in there
    ] + [_Meter(SECTOR_BYTES, zero_page, "plain")]
    look = _Look(population, meters)
    all_at_most = population.bytes if read_all_bytes else math.inf
    if population.bytes <= read_all_bytes or not look.draw(random, confidence, half_width, all_at_most):
        look.read_all()
    reason = None
    if any(share.ratio is None for share, _ in look.results):
        reason = NOTHING_READ if population.bytes else NOTHING_THERE
    of_figure = dict(zip(there, look.results, strict=False))
    estimates = []
    for figure in figures:
        share, draws = of_figure.get(figure, (UNKNOWN_SHARE, 0))
        original, why = look.original_bytes(figure.storage), codecs[figure.codec].reason or reason
        estimates.append(
            figure.result(share, original_bytes=original, confidence=confidence, draws=draws, reason=why)
        )
    cost = SamplingCost(
        read_bytes=look.read_bytes,
        read_ratio=look.read_bytes / population.bytes if population.bytes else None,
        cpu_seconds=time.process_time() - cpu_before,
        elapsed_seconds=time.monotonic() - began,
        draws=look.draws,
    )
    return VolumeEstimates(estimates, look.results[-1][0], cost, reason)


def blocks_of(window: bytes, start: int, size: int) -> Iterator[bytes]:
    """The blocks of ``size`` in a window that starts at byte ``start`` of its file."""
    at = 0
    while at < len(window):
        end = ((start + at) // size + 1) * size - start
        yield window[at:end]
        at = end


class _Look:
    """One population under all meters."""

    def __init__(self, population: Population, meters: Sequence[_Meter]) -> None:
        self._population = population
        self._meters = meters
        self._known: dict[tuple[int, int, int], float] = {}
        self._ends: dict[StorageModel, array[int]] = {}
        self.read_bytes = 0
        self.draws = 0
        self.results: list[tuple[SampledShare, int]] = []

    def original_bytes(self, storage: StorageModel) -> int:
        """The population as a storage counts it before compression."""
        if storage not in self._ends:
            self._ends[storage] = self._population.original_ends(storage)
        ends = self._ends[storage]
        return ends[-1] if ends else 0

    def read_all(self) -> None:
        """Every block of every size, once; the bound is 0."""
        sums = [[0.0, 0, 0] for _ in self._meters]
        largest = max(meter.block_bytes for meter in self._meters)
        for place in self._population.blocks(largest):
            found = self._population.read(place, largest)
            if found is None:
                continue
            start, window = found
            self.read_bytes += len(window)
            for meter, into in zip(self._meters, sums, strict=True):
                whole_file = self._population.whole_file(place, meter.block_bytes)
                for block in blocks_of(window, start, meter.block_bytes):
                    weight = original_bytes(meter.storage, len(block), whole_file)
                    into[0] += meter.value(block, whole_file) * weight
                    into[1] += weight
                    into[2] += 1
        self.draws = max(int(draws) for _, _, draws in sums)
        self.results = [
            (SampledShare(ratio=saved / whole, half_width_ratio=0.0), int(draws))
            if whole
            else (UNKNOWN_SHARE, 0)
            for saved, whole, draws in sums
        ]

    def draw(self, random: Random, confidence: float, half_width: float, all_at_most: float) -> bool:
        """Draw until every meter is within ``half_width``; False where the draws that are left are likely to
        read more than ``all_at_most`` bytes.  Storage models count bytes differently: each has its draws."""
        bounds = [Rounds(confidence, half_width) for _ in self._meters]
        for storage in dict.fromkeys(meter.storage for meter in self._meters):
            own = [number for number, meter in enumerate(self._meters) if meter.storage == storage]
            if not self._draw_own(random, storage, own, bounds, all_at_most):
                return False
        self.results = [
            (SampledShare(ratio=bound.centre, half_width_ratio=bound.half_width), bound.draws)
            if bound.draws
            else (UNKNOWN_SHARE, 0)
            for bound in bounds
        ]
        return True

    def _draw_own(
        self,
        random: Random,
        storage: StorageModel,
        own: Sequence[int],
        bounds: Sequence[Rounds],
        all_at_most: float,
    ) -> bool:
        whole = self.original_bytes(storage)
        edges = [whole * number // SLICES for number in range(SLICES + 1)]
        slices = [number for number in range(SLICES) if edges[number] < edges[number + 1]]
        a_draw = self._population.mean_block_bytes(max(self._meters[meter].block_bytes for meter in own))
        while active := [meter for meter in own if not bounds[meter].done]:
            if max(bounds[meter].draws_left for meter in active) * a_draw > all_at_most:
                return False
            before = self.read_bytes
            drawn = {
                number: self._draw_piece(random, storage, edges[number], edges[number + 1], active)
                for number in slices
            }
            values = {number: found for number, found in drawn.items() if found is not None}
            slices = list(values)
            if not slices:
                break
            self.draws += len(values)
            a_draw = (self.read_bytes - before) / len(values)
            for place, meter in enumerate(active):
                bounds[meter].add({number: found[place] for number, found in values.items()})
        return True

    def _draw_piece(
        self, random: Random, storage: StorageModel, first: int, last: int, active: Sequence[int]
    ) -> list[float] | None:
        """What a byte of a slice gives; None where ``MOST_TRIES`` could not be read."""
        for _ in range(MOST_TRIES):
            place = self._population.place(random.randrange(first, last), self._ends[storage])
            if place is not None and (found := self._values(place, active)) is not None:
                return found
        return None

    def _values(self, place: BytePlace, active: Sequence[int]) -> list[float] | None:
        """What each active meter gives for the block around a place; None where it cannot be read."""
        keys = [(meter, place.segment, place.offset // self._meters[meter].block_bytes) for meter in active]
        unknown = [key for key in keys if key not in self._known]
        if unknown:
            found = self._population.read(place, max(self._meters[key[0]].block_bytes for key in unknown))
            if found is None:
                return None
            start, window = found
            self.read_bytes += len(window)
            for key in unknown:
                offset, length = self._population.block(place, self._meters[key[0]].block_bytes)
                self._known[key] = self._meters[key[0]].value(
                    window[offset - start : offset - start + length],
                    self._population.whole_file(place, self._meters[key[0]].block_bytes),
                )
        return [self._known[key] for key in keys]


class Strata:
    """A line that grows, cut into strata as it does, with one draw from each.

    The width of a stratum is settled when it begins, and the place of its draw, anywhere in it with the same
    chance, before anybody knows what will lie there.  So the mean of a draw, given all before it, is the mean
    of its stratum, and the draws weighed by their strata's widths make the mean of the line.

    ``total`` is the length of the line so far; ``whole`` how many strata lie in it with both ends.
    """

    def __init__(self, random: Random) -> None:
        self._random = random
        self.total = 0.0
        self.whole = 0
        self._begins = self._ends = self._place = 0.0

    def over(self, length: float, width: Callable[[float], float]) -> Iterator[tuple[float, float]]:
        """Put ``length`` on; for each draw that lies there, its stratum's width and its place, 0 to 1 of it.

        ``width`` gives the next stratum's from the length that is left; it is asked after the draw before
        was taken.
        """
        start, self.total = self.total, self.total + length
        while True:
            if start <= self._place < min(self.total, self._ends):
                yield self._ends - self._begins, (self._place - start) / length
            if self._ends >= self.total:
                return
            self.whole += self._ends > self._begins
            self._begins = self._ends
            self._ends = self._begins + width(self.total - self._begins)
            self._place = self._begins + self._random.random() * (self._ends - self._begins)

    @property
    def open_ratio(self) -> float:
        """The share of the line in the stratum that has not ended yet; 0 before there is a line."""
        return (self.total - self._begins) / self.total if self.total else 0.0
