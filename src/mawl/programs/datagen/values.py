"""The values of input tables: value = f(seed, replica, table, column, row number).

Integer and exactly rounded arithmetic only (add, multiply, divide of IEEE 754; no libm), so every
machine makes the same bytes, and any rows can be made alone.
"""

from __future__ import annotations

import bisect
import functools
from collections.abc import Callable
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from mawl.plan.columns import (
    Bell,
    Code,
    Column,
    Feature,
    GroupNumber,
    GroupPlace,
    HouseholdSerial,
    HouseholdSize,
    InputTable,
    Linear,
    Logistic,
    MixedResponse,
    MonthlySeries,
    Outcome,
    Paired,
    PerGroup,
    PersonNumber,
    Phrases,
    Repeated,
    RepeatedOutcome,
    Response,
    RowNumber,
    Text,
    Uniform,
)
from mawl.programs.datagen.groups import (
    group_draws,
    group_numbers,
    group_places,
    household_serials,
    household_sizes,
    mixed_responses,
    per_group,
    person_numbers,
    scattered_numbers,
)
from mawl.programs.datagen.hashing import deviations, hashes, key
from mawl.programs.datagen.responses import (
    linear_predictor,
    logistic_chances,
    logistic_draws,
    monthly_observations,
    outcome_columns,
    study_responses,
    term_columns,
    true_chances,
)
from mawl.programs.datagen.text import phrase_texts, random_text

Numbers = NDArray[np.float64]
Array = NDArray[np.generic]

_TABLE_BITS = 12
_TABLE_CHOICES = 256
_FEATURE_STEPS = 4
_CENTRE_RANGE = 3.0


class ReplicaSeed(msgspec.Struct, frozen=True):
    """Whose values: one replica of a table under a seed."""

    table: str
    seed: int
    replica: int


def column_values(
    table: InputTable, column: Column, *, seed: int, replica: int, start: int, count: int, filled: int = 0
) -> Array:
    """Rows ``start`` to ``start + count`` of a column of a table (or of its records).

    float64 of shape (count,), or ``S<width>`` for a character column; possibly read-only.
    ``filled`` is how many leading bytes a dial column has filled (``fills``);
    other columns do not heed it.
    """
    source = ReplicaSeed(table.name, seed, replica)
    if column.is_dial:
        return random_text(_column_key(source, column.name), column.stored_bytes, start, count, filled)
    made: Array = _MAKERS[type(column.values)](column.values, source, column, start, count)
    return made


def rotation_key(source: ReplicaSeed, population: str = "") -> int:
    """The key of the rotations of household groups (``programs.datagen.groups``).

    Tables that name the same ``population`` share it.
    """
    return key(source.seed, source.replica, population or source.table, "rotation")


def true_cluster(table: InputTable, *, seed: int, replica: int, start: int, count: int) -> NDArray[np.intp]:
    """The hidden cluster of each row, from 0: intp of shape (count,), read-only."""
    return _clusters(ReplicaSeed(table.name, seed, replica), _features(table)[0].shares, start, count)


def cluster_centres(table: InputTable, *, seed: int) -> Numbers:
    """The true centres, whole steps of 1/8: float64 of shape (clusters, features).

    They do not depend on the replica, so that every copy has the same clusters.
    """
    source = ReplicaSeed(table.name, seed, 0)
    return np.stack([_centres(source, feature) for feature in _features(table)], axis=1)


def _features(table: InputTable) -> list[Feature]:
    found = [column.values for column in table.columns if isinstance(column.values, Feature)]
    if not found:
        raise ValueError(f"{table.name} has no feature columns, so no clusters")
    return found


def _column_key(source: ReplicaSeed, column: str) -> int:
    return key(source.seed, source.replica, source.table, column)


def _centres(source: ReplicaSeed, feature: Feature) -> Numbers:
    chosen = hashes(key(source.seed, source.table, "centre", feature.index), 0, len(feature.shares))
    steps = int(2 * _CENTRE_RANGE * _FEATURE_STEPS) + 1
    return ((chosen >> np.uint64(40)) % np.uint64(steps)).astype(np.float64) / _FEATURE_STEPS - _CENTRE_RANGE


@functools.lru_cache(maxsize=2)
def _clusters(source: ReplicaSeed, shares: tuple[int, ...], start: int, count: int) -> NDArray[np.intp]:
    if sum(shares) != 256:
        raise ValueError(f"shares of clusters must add up to 256, found {sum(shares)}")
    table = np.repeat(np.arange(len(shares)), shares)
    chosen = table[_top_bits(hashes(_column_key(source, "cluster"), start, count), 8)]
    chosen.flags.writeable = False
    return chosen


def _top_bits(random: NDArray[np.uint64], bits: int) -> NDArray[np.intp]:
    """The upper bits of hashes, as indices (overwrites its argument)."""
    random >>= np.uint64(64 - bits)
    return random.view(np.intp)


def _row_numbers(_: RowNumber, __: ReplicaSeed, ___: Column, start: int, count: int) -> Array:
    return np.arange(start, start + count, dtype=np.float64)


def _uniform(values: Uniform, source: ReplicaSeed, column: Column, start: int, count: int) -> Array:
    random = hashes(_column_key(source, column.name), start, count)
    if values.choices <= _TABLE_CHOICES:
        return _uniform_table(values)[_top_bits(random, _TABLE_BITS)]
    random >>= np.uint64(32)
    share = random.copy() if values.skew > 1 else random
    for _ in range(values.skew - 1):
        share *= random
        share >>= np.uint64(32)
    share *= np.uint64(values.choices)
    share >>= np.uint64(32)
    whole = share.view(np.int64)
    if values.step != 1:
        whole *= values.step
    if values.low:
        whole += values.low
    return whole.astype(np.float64)


@functools.lru_cache(maxsize=256)
def _uniform_table(values: Uniform) -> Numbers:
    """The value for each of the 2**12 places of u, from the place at which each choice begins."""
    size, skew = 2**_TABLE_BITS, values.skew
    begins = [
        bisect.bisect_left(range(size), choice * size**skew, key=lambda place: values.choices * place**skew)
        for choice in range(values.choices)
    ]
    return np.repeat(
        np.arange(values.choices, dtype=np.float64) * values.step + values.low,
        np.diff([*begins, size]),
    )


def _paired(_: Paired, source: ReplicaSeed, column: Column, start: int, count: int) -> Array:
    first = start // 2
    pairs = (start + count + 1) // 2 - first
    odd = hashes(_column_key(source, column.name), first, pairs) >> np.uint64(63)
    both = np.empty((pairs, 2))
    both[:, 0] = odd
    both[:, 1] = np.uint64(1) - odd
    return both.reshape(-1)[start - 2 * first :][:count]


def _repeated(values: Repeated, source: ReplicaSeed, column: Column, start: int, count: int) -> Array:
    return scattered_numbers(_column_key(source, column.name), values.group, start, count)


def _bell(values: Bell, source: ReplicaSeed, column: Column, start: int, count: int) -> Array:
    steps = values.steps_per_unit
    whole = deviations(hashes(_column_key(source, column.name), start, count), values.stddev * steps)
    whole += round(values.mean * steps)
    return whole / np.float64(steps)


def _feature(values: Feature, source: ReplicaSeed, column: Column, start: int, count: int) -> Array:
    noise = deviations(hashes(_column_key(source, column.name), start, count), values.noise * _FEATURE_STEPS)
    found = noise / np.float64(_FEATURE_STEPS)
    found += _centres(source, values)[_clusters(source, values.shares, start, count)]
    return found


def _code(values: Code, source: ReplicaSeed, column: Column, start: int, count: int) -> Array:
    table = _code_table(values, column.stored_bytes)
    return table[_top_bits(hashes(_column_key(source, column.name), start, count), 8)]


@functools.lru_cache(maxsize=256)
def _code_table(values: Code, width: int) -> Array:
    choices = len(values.values)
    chosen = (choices * place**values.skew // 256**values.skew for place in range(256))
    return np.array(
        [values.values[choice].ljust(width).encode("latin-1") for choice in chosen], dtype=f"S{width}"
    )


def _text(values: Text, source: ReplicaSeed, column: Column, start: int, count: int) -> Array:
    width = column.stored_bytes
    return random_text(_column_key(source, column.name), width, start, count, values.filled or 0)


def _household_size(values: HouseholdSize, source: ReplicaSeed, _: Column, start: int, count: int) -> Array:
    return household_sizes(rotation_key(source, values.population), values.sizes, start, count)


def _household_serial(
    values: HouseholdSerial, source: ReplicaSeed, _: Column, start: int, count: int
) -> Array:
    return household_serials(rotation_key(source, values.population), values.sizes, start, count)


def _person_number(values: PersonNumber, source: ReplicaSeed, _: Column, start: int, count: int) -> Array:
    return person_numbers(rotation_key(source, values.population), values.sizes, start, count)


def _values_by_name(columns: list[Column], source: ReplicaSeed, start: int, count: int) -> dict[str, Array]:
    return {
        column.name: _MAKERS[type(column.values)](column.values, source, column, start, count)
        for column in columns
    }


def _linear(values: Linear, source: ReplicaSeed, column: Column, start: int, count: int) -> Array:
    columns = _values_by_name(term_columns(values.terms), source, start, count)
    whole = linear_predictor(values.intercept, values.terms, columns)
    whole += deviations(hashes(_column_key(source, column.name), start, count), values.noise)
    return whole.astype(np.float64)


def _logistic(values: Logistic, source: ReplicaSeed, column: Column, start: int, count: int) -> Array:
    columns = _values_by_name(term_columns(values.terms), source, start, count)
    drawn = logistic_draws(values, _column_key(source, column.name), start, count)
    return (drawn < logistic_chances(values, columns)).astype(np.float64)


def _chances(values: Outcome, source: ReplicaSeed, start: int, count: int) -> NDArray[np.int64]:
    return true_chances(values, _values_by_name(outcome_columns(values), source, start, count))


def _outcome(values: Outcome, source: ReplicaSeed, column: Column, start: int, count: int) -> Array:
    drawn = hashes(_column_key(source, column.name), start, count) >> np.uint64(48)
    return (drawn.view(np.int64) < _chances(values, source, start, count)).astype(np.float64)


def _group_number(values: GroupNumber, _: ReplicaSeed, __: Column, start: int, count: int) -> Array:
    return group_numbers(values.rows, start, count)


def _group_place(values: GroupPlace, _: ReplicaSeed, __: Column, start: int, count: int) -> Array:
    return group_places(values.rows, start, count)


def _per_group(values: PerGroup, source: ReplicaSeed, column: Column, start: int, count: int) -> Array:
    make = functools.partial(_MAKERS[type(values.values)], values.values, source, column)
    return per_group(values.rows, start, count, make)


def _repeated_outcome(
    values: RepeatedOutcome, source: ReplicaSeed, column: Column, start: int, count: int
) -> Array:
    drawn = group_draws(_column_key(source, column.name), values.rows, values.kept, start, count)
    return (drawn < _chances(values.outcome, source, start, count)).astype(np.float64)


def _mixed_response(
    values: MixedResponse, source: ReplicaSeed, column: Column, start: int, count: int
) -> Array:
    fixed: Numbers = np.zeros(count)
    for term in values.terms:
        named = term.column
        made: Numbers = _MAKERS[type(named.values)](named.values, source, named, start, count)
        fixed += made * term.coefficient
    return mixed_responses(values, _column_key(source, column.name), fixed, start, count)


def _phrases(values: Phrases, source: ReplicaSeed, column: Column, start: int, count: int) -> Array:
    return phrase_texts(values, _column_key(source, column.name), column.stored_bytes, start, count)


def _series(values: MonthlySeries, source: ReplicaSeed, column: Column, start: int, count: int) -> Array:
    return monthly_observations(values, _column_key(source, column.name), start, count)


def _response(values: Response, source: ReplicaSeed, column: Column, start: int, count: int) -> Array:
    levels = [
        _MAKERS[type(factor.values)](factor.values, source, factor, start, count) for factor in values.factors
    ]
    return study_responses(values, _column_key(source, column.name), levels, start, count)


_MAKERS: dict[type, Callable[..., Any]] = {
    RowNumber: _row_numbers,
    Uniform: _uniform,
    Linear: _linear,
    Logistic: _logistic,
    Paired: _paired,
    Repeated: _repeated,
    Bell: _bell,
    Code: _code,
    Text: _text,
    Feature: _feature,
    Outcome: _outcome,
    GroupNumber: _group_number,
    GroupPlace: _group_place,
    PerGroup: _per_group,
    RepeatedOutcome: _repeated_outcome,
    MixedResponse: _mixed_response,
    Phrases: _phrases,
    MonthlySeries: _series,
    Response: _response,
    HouseholdSize: _household_size,
    HouseholdSerial: _household_serial,
    PersonNumber: _person_number,
}
