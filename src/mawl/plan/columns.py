"""Input tables as data: their columns, what these hold, and how the table lies on disk.

Every value is a function of (seed, replica, table, column, row number) alone;
``programs.datagen.values`` implements each kind, in integer and exactly rounded arithmetic, so that
every machine makes the same bytes.  All numerics are eight-byte floats, as in SAS.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Literal

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
    ``true_kinds`` and ``true_forecasts`` give the truth.
    """

    months: int
    noise: int
    kinds: tuple[SeriesKind, ...]


class RowNumber(msgspec.Struct, frozen=True, tag="row_number"):
    """The row number itself, from 0."""


class Uniform(msgspec.Struct, frozen=True, tag="uniform"):
    """``low``, ``low + step``, ... up to ``high`` (included); ``skew`` > 1 makes low ones common.

    With skew s the value is low + step * floor(choices * u**s), u uniform on [0, 1): in steps of
    2**-12 up to 256 choices, else in steps of 2**-32 with each product cut to 32 bits.
    """

    low: int
    high: int
    skew: int = 1
    step: int = 1

    @property
    def choices(self) -> int:
        return (self.high - self.low) // self.step + 1


class Paired(msgspec.Struct, frozen=True, tag="paired"):
    """0 or 1: of each two rows 2k and 2k+1 exactly one has 1, so half of any even number of rows."""


class Repeated(msgspec.Struct, frozen=True, tag="repeated"):
    """Number of whom the row is about, below 2**32, scattered; some rows repeat another's.

    Of each ``group`` rows the last repeats one of the others in it, drawn by a hash; the rest are all
    different, over the whole table: so exactly (group - 1) / group of the rows have different numbers.
    Past 2**32 different numbers they go on above 2**32.
    """

    group: int


class Bell(msgspec.Struct, frozen=True, tag="bell"):
    """Irwin-Hall normal: mean + stddev * z, rounded to 1/``steps_per_unit``.

    z is the centred and scaled sum of four 16-bit uniforms of one hash, so it lies in +-3.46.
    """

    mean: float
    stddev: float
    steps_per_unit: int = 100


class Code(msgspec.Struct, frozen=True, tag="code"):
    """One of ``values`` (character, at most 256), the first ones more common (skew as in Uniform).

    u is one byte here: the share of each value is a whole number of 256ths.
    """

    values: tuple[str, ...]
    skew: int = 1


class Text(msgspec.Struct, frozen=True, tag="text"):
    """Random printable Latin-1 in the first ``filled`` bytes, blanks behind.

    ``filled=None``: this column carries the compressibility dial.  A table's dial columns are
    filled in order, each to its width before the next, with as many bytes as give its saving.
    """

    filled: int | None = None


class Feature(msgspec.Struct, frozen=True, tag="feature"):
    """Feature number ``index`` of a row that belongs to a hidden cluster (segmentation).

    centre(cluster, index) + bell noise of ``noise`` standard deviations, rounded to 1/4;
    ``shares`` are the clusters' shares of the rows in 256ths (their sum is 256).
    ``cluster_centres`` and ``true_cluster`` give the truth.
    """

    index: int
    shares: tuple[int, ...]
    noise: float


class Response(msgspec.Struct, frozen=True, tag="response", kw_only=True):
    """What runs of experiments gave: ``mean``, effects of factors, and bell noise, a whole number.

    Each ``group`` rows in a row are one study.  ``factors`` hold levels from 1 to 3; in a study each has
    its ``effects`` by level (they add up to 0) or none, at even chances, and each pair of factors, with a
    chance of a quarter, ``interaction`` times the product of their levels less 2.
    ``true_active`` and ``true_means`` give the truth.
    """

    group: int
    factors: tuple[Column, ...]
    mean: int
    effects: tuple[tuple[int, int, int], ...]
    interaction: int
    noise: int


class _Households(msgspec.Struct, frozen=True):
    """Households of persons, in groups of ``len(sizes)``.

    Their sizes are ``sizes``, a power of two of them, rotated by a hash of the group number.
    ``population`` is the name that this hash is drawn under where households and persons are tables
    of their own and must agree (the table's own name by default).
    """

    sizes: tuple[int, ...]
    population: str = ""


class HouseholdSize(_Households, frozen=True, tag="household_size"):
    """Persons in the household whose number the row number is."""


class HouseholdSerial(_Households, frozen=True, tag="household_serial"):
    """Number of the household that the person belongs to."""


class PersonNumber(_Households, frozen=True, tag="person_number"):
    """The person's place in its household, from 1."""


class Condition(msgspec.Struct, frozen=True):
    """That a numeric column of the same row is at least ``at_least``."""

    column: Column
    at_least: float


class HiddenRule(msgspec.Struct, frozen=True):
    """``points`` for a row where all of ``conditions`` hold."""

    points: int
    conditions: tuple[Condition, ...]


LOGISTIC_CHANCES = (
    439, 720, 1_179, 1_921, 3_108, 4_971, 7_812, 11_955, 17_625, 24_743, 32_768, 40_793, 47_911,
    53_581, 57_724, 60_565, 62_428, 63_615, 64_357, 64_816,
)  # fmt: skip
"""A logistic curve of half a unit a point, centred at 10 points, in 65,536ths."""


class Outcome(msgspec.Struct, frozen=True, tag="outcome"):
    """0 or 1: 1 with a chance that hidden rules over other columns of the row give.

    ``chances`` are by the row's points (of all its rules, and ``base``), from 0 points on, in 65,536ths.
    ``true_chances`` gives the truth.
    """

    base: int
    rules: tuple[HiddenRule, ...]
    chances: tuple[int, ...]


class GroupNumber(msgspec.Struct, frozen=True, tag="group_number"):
    """Number of the group of ``rows`` rows that the row belongs to, from 0."""

    rows: int


class GroupPlace(msgspec.Struct, frozen=True, tag="group_place"):
    """The row's place in its group of ``rows`` rows, from 0."""

    rows: int


class PerGroup(msgspec.Struct, frozen=True, tag="per_group"):
    """``values`` drawn once for each group of ``rows`` rows; all of them have it."""

    rows: int
    values: Uniform | Bell | Code | GroupPlace


class RepeatedOutcome(msgspec.Struct, frozen=True, tag="repeated_outcome"):
    """As ``outcome``, whose chances hold for each row by itself, but the rows of a group hang together.

    A row takes over the random draw of the row before, in its group of ``rows`` rows, with a chance of
    ``kept`` in 256ths; so outcomes k rows apart correlate by about (kept / 256)**k.
    """

    rows: int
    kept: int
    outcome: Outcome


class Term(msgspec.Struct, frozen=True):
    """``coefficient`` times a numeric column of whole numbers of the same row."""

    coefficient: int
    column: Column


class MixedResponse(msgspec.Struct, frozen=True, tag="mixed_response"):
    """A linear response with a random level and trend for each group of ``group_rows`` rows.

    intercept + sum of terms + level + (slope + trend) * time + noise, rounded to whole numbers; time goes
    from -1 to 1 over a group.  ``level``, ``trend`` and ``noise`` are standard deviations (Irwin-Hall
    normal); a group's trend has ``shared`` 16ths of its level added.
    ``true_effects`` gives the hidden levels and trends.
    """

    group_rows: int
    intercept: int
    slope: int
    terms: tuple[Term, ...]
    level: float
    trend: float
    shared: int
    noise: float


class Phrases(msgspec.Struct, frozen=True, tag="phrases"):
    """Text of standard phrases, one behind the other in slots of 24 bytes: as many as the column is wide.

    A row has a hidden topic; ``shares`` are the topics' shares of the rows in 256ths (their sum is 256).
    Each slot holds one of 64 phrases that all topics use with a chance of ``common``, one of any topic
    with a chance of ``stray``, else one of the row's own topic (chances in 256ths; 32 phrases a topic).
    ``true_topics`` and ``topic_words`` give the truth.
    """

    shares: tuple[int, ...]
    common: int
    stray: int


class Factor(msgspec.Struct, frozen=True):
    """A numeric column of whole numbers less ``less``, or 1 where a character column holds ``value``."""

    column: Column
    less: int = 0
    value: str = ""

    @property
    def name(self) -> str:
        return f"{self.column.name}={self.value}" if self.value else self.column.name


class Product(msgspec.Struct, frozen=True):
    """``slope`` times the product of ``factors``, all of the same row."""

    slope: int
    factors: tuple[Factor, ...]

    @property
    def name(self) -> str:
        return "*".join(factor.name for factor in self.factors)


class Linear(msgspec.Struct, frozen=True, tag="linear"):
    """``intercept``, all ``terms`` and bell noise of ``noise`` standard deviations: a whole number."""

    intercept: int
    terms: tuple[Product, ...]
    noise: int


LOGIT_UNIT = 8192
"""Slopes and intercept of ``Logistic`` are in so-manieths of a logit."""


class Logistic(msgspec.Struct, frozen=True, tag="logistic"):
    """0 or 1: 1 with the chance whose logit is ``intercept`` and all ``terms``, in 1/``LOGIT_UNIT``.

    The logit is rounded to 1/256 and cut to +-12.  ``shared`` 256ths of the rows are decided by the one
    draw of their block of ``block_rows`` rows, the others each by its own: rows of a block are alike, and
    yet each has exactly its chance.
    """

    intercept: int
    terms: tuple[Product, ...]
    shared: int = 0
    block_rows: int = 1


Values = (
    RowNumber
    | Uniform
    | Linear
    | Logistic
    | Paired
    | Repeated
    | Bell
    | Code
    | Text
    | Feature
    | Outcome
    | GroupNumber
    | GroupPlace
    | PerGroup
    | RepeatedOutcome
    | MixedResponse
    | Phrases
    | MonthlySeries
    | Response
    | HouseholdSize
    | HouseholdSerial
    | PersonNumber
)


class Column(msgspec.Struct, frozen=True):
    """A column: eight-byte numeric (``width`` None) or blank-padded character of ``width`` bytes."""

    name: str
    values: Values
    width: int | None = None

    @property
    def stored_bytes(self) -> int:
        return 8 if self.width is None else self.width

    @property
    def is_dial(self) -> bool:
        return isinstance(self.values, Text) and self.values.filled is None


class Field(msgspec.Struct, frozen=True):
    """Where a column stands in a record: bytes ``start`` to ``start + width``, from 0.

    Numerics are whole numbers, right-aligned and zero-padded digits; characters fill their column's
    width, blank-padded on the right.
    """

    column: Column
    start: int
    width: int


class RecordLayout(msgspec.Struct, frozen=True, kw_only=True):
    """One kind of record: ``kind`` is the letter in its first byte.

    ``per_group`` records of this kind are in every group; the ``filler`` field carries the dial and
    belongs to no table.
    """

    kind: str
    per_group: int
    fields: tuple[Field, ...]
    filler: Field

    @property
    def row_bytes(self) -> int:
        """Bytes of the table row that a record becomes: eight for a numeric, the width of a character."""
        return sum(field.column.stored_bytes for field in self.fields)


def lay_out(
    kind: str, per_group: int, record_bytes: int, columns: Sequence[tuple[Column, int]], filler: str
) -> RecordLayout:
    """Fields one behind the other, from (column, width in the record); the filler takes the rest.

    ``record_bytes`` counts the letter in front and the newline at the end; ``filler`` is a name.
    """
    fields, start = [], 1
    for column, width in columns:
        fields.append(Field(column, start, width))
        start += width
    rest = record_bytes - 1 - start
    return RecordLayout(
        kind=kind,
        per_group=per_group,
        fields=tuple(fields),
        filler=Field(Column(filler, Text(), rest), start, rest),
    )


GB = 10**9


class InputTable(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """A table that ``mawl generate`` makes and programs read.

    ``full_bytes`` is its size at scale 1.0; the size is linear in the scale, never below
    ``minimum_rows``.  ``layout``: ``arrow`` is a directory of Arrow IPC files; ``text`` is
    fixed-width records of ``record_bytes``, of the kinds in ``records``, interleaved in groups of
    ``group_rows``, in as many files as ``file_weights`` has numbers, sized in their proportion.
    A text table has no ``columns`` of its own: they are in the fields of ``records``.
    Rows come in whole groups of ``group_rows``.  ``unfilled_bytes`` is what a row takes with the
    compressibility dial at its lowest, by zstd level 1 in blocks of 128 KiB; it is measured, and
    ``tests/programs/datagen`` checks it.  ``fill_overhead_bytes`` is what filling any of it adds.
    """

    name: str
    full_bytes: int
    columns: tuple[Column, ...] = ()
    layout: Literal["arrow", "text"] = "arrow"
    minimum_rows: int = 2000
    group_rows: int = 1
    record_bytes: int | None = None
    records: tuple[RecordLayout, ...] = ()
    file_weights: tuple[int, ...] = (1,)
    unfilled_bytes: float = 0.0
    fill_overhead_bytes: float = 0.0

    @cached_property
    def row_bytes(self) -> int:
        return self.record_bytes or sum(column.stored_bytes for column in self.columns)

    def rows(self, scale: float) -> int:
        """Rows at a scale: linear, at least ``minimum_rows``, in whole groups."""
        # Exactly, so that tables of one population have rows for the same groups at any scale.
        numerator, denominator = scale.as_integer_ratio()
        rows = max(self.full_bytes * numerator // (denominator * self.row_bytes), self.minimum_rows)
        return max(rows // self.group_rows, 1) * self.group_rows

    def bytes(self, scale: float) -> int:
        """Bytes of values at a scale (what lies on disk is up to 1 % more, for metadata)."""
        return self.rows(scale) * self.row_bytes
