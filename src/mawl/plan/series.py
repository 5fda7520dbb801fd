"""Columns that hold monthly series, as data; :mod:`mawl.datagen.series` makes them."""

from __future__ import annotations

import msgspec


class SeriesKind(msgspec.Struct, frozen=True, kw_only=True):
    """How series of a kind move: the smoothing of level, slope and season, and what damps the slope.

    ``share`` of the series in 256ths; ``level_weight``, ``slope_weight``, ``season_weight`` (what of an
    innovation stays) and ``damping`` in 256ths.  At first the slope is ``slopes[0]`` to ``slopes[1]`` a
    month, up or down, and the season has a standard deviation of ``swing``.
    """

    name: str
    share: int
    level_weight: int
    slope_weight: int = 0
    damping: int = 256
    season_weight: int = 0
    slopes: tuple[int, int] = (0, 0)
    swing: int = 0


class MonthlySeries(msgspec.Struct, frozen=True, tag="series"):
    """Monthly series of ``months`` rows each, one behind the other, with additive innovations.

    A hidden kind of ``kinds`` says how a series moves; innovations have a standard deviation of ``noise``.
    All is computed in 256ths and rounded to whole numbers.
    :func:`mawl.datagen.series.true_kinds` and ``true_forecasts`` give the truth.
    """

    months: int
    noise: int
    kinds: tuple[SeriesKind, ...]
