"""Make a wide table of customers from a known model, sort it twice, merge means, and find the model again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import cast

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from mawl.programs.context import JobContext, check, check_equal
from mawl.programs.datagen.values import column_values
from mawl.programs.declarations.customer_profile import (
    COLUMNS,
    DRAWN,
    HOUSEHOLD_ROWS,
    MEAN_COLUMNS,
    MODEL_COLUMNS,
    MODEL_MEANS,
    MODEL_PREDICTORS,
    NOISE,
    PREDICTORS,
    PROFILES,
    PROGRAM,
    SEGMENTS,
)
from mawl.programs.tables import arrow
from mawl.programs.toolkit.checks import StrictOrder, TableSum, added_sums
from mawl.programs.toolkit.estimates import SIGMAS, LeastSquares
from mawl.programs.toolkit.groups import as_batch, as_rows, group_means, numeric_schema
from mawl.programs.toolkit.partitions import partition_count
from mawl.programs.toolkit.rows import Records, Words
from mawl.programs.toolkit.sorting import (
    SAMPLES_PER_PARTITION,
    KeyRanges,
    Keys,
    KeySample,
    distribute,
    sorted_batches,
)
from mawl.programs.toolkit.statistics import class_rows, moments_by, total, total_rows
from mawl.records.model.records import Answer

Numbers = NDArray[np.float64]

SCHEMA = numeric_schema(*COLUMNS)
NOISE_VARIANCE = 300.0**2
LARGEST_SPEND = 2**18
"""Spend is a whole number of cents below this: 100,000 less or more what predictors and noise add."""

INTERCEPTS: Numbers = 100_000.0 + 2_000.0 * np.arange(SEGMENTS, dtype=np.float64)
FIRST_SLOPES: Numbers = 10.0 - 3.0 * np.arange(SEGMENTS, dtype=np.float64)
"""The slope of the first predictor differs by segment."""
SLOPES: Numbers = np.array([(place * 17) % 41 - 20.0 for place in range(1, len(PREDICTORS))])
"""Slopes of the other predictors."""

_SCATTER = (1_000_003, 999_983)


def household(numbers: Numbers, rows: int) -> Numbers:
    """The household of each row number: each of rows / 8 has eight customers, far apart."""
    households = rows // HOUSEHOLD_ROWS
    # A prime that does not divide the number of households visits each of them.
    factor = next(prime for prime in _SCATTER if households % prime)
    return (numbers.astype(np.int64) * factor % households).astype(np.float64)


def members(number: int, rows: int) -> list[int]:
    """The row numbers of a household's customers: the other way round than ``household``."""
    households = rows // HOUSEHOLD_ROWS
    factor = next(prime for prime in _SCATTER if households % prime)
    first = number * pow(factor, -1, households) % households
    return [first + place * households for place in range(HOUSEHOLD_ROWS)]


def make_rows(*, seed: int, replica: int, rows: int, start: int, count: int) -> pa.RecordBatch:
    """Rows ``start`` to ``start + count`` of a table of ``rows``, every value a whole number."""
    drawn = {
        column.name: cast(
            Numbers, column_values(PROFILES, column, seed=seed, replica=replica, start=start, count=count)
        )
        for column in (*DRAWN, NOISE)
    }
    segment = drawn["segment"].astype(np.intp)
    spend = INTERCEPTS[segment] + FIRST_SLOPES[segment] * drawn["x01"] + drawn["noise"]
    for name, slope in zip(PREDICTORS[1:], SLOPES, strict=True):
        spend += slope * drawn[name]
    drawn |= {"spend_cents": spend, "household": household(drawn["row"], rows)}
    return pa.RecordBatch.from_arrays([arrow.array(drawn[name]) for name in COLUMNS], schema=SCHEMA)


def design(batch: pa.RecordBatch) -> Numbers:
    """The design matrix of the overall regression, (rows, terms); ``truth`` has its coefficients."""
    classes = np.eye(SEGMENTS)[arrow.numbers(batch.column("segment")).astype(np.intp)]
    first, *others = (arrow.numbers(batch.column(name)) for name in PREDICTORS)
    return np.hstack([classes, classes * first[:, None], np.stack(others, axis=1)])


def truth() -> Numbers:
    return np.concatenate([INTERCEPTS, FIRST_SLOPES, SLOPES])


def segment_design(batch: pa.RecordBatch) -> Numbers:
    columns = [arrow.numbers(batch.column(name)) for name in (*MODEL_PREDICTORS, *MODEL_MEANS)]
    return np.stack([np.ones(batch.num_rows), *columns], axis=1)


def by_segment(batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[int, Numbers, Numbers]]:
    """A pass over the merged table, as (segment, design, response) of each batch and segment."""
    for batch in batches:
        segments = arrow.numbers(batch.column("segment")).astype(np.intp)
        order = np.argsort(segments, kind="stable")
        rows = segment_design(batch)[order]
        response = arrow.numbers(batch.column("spend_cents"))[order]
        ends = np.cumsum(np.bincount(segments, minlength=SEGMENTS))
        for segment in range(SEGMENTS):
            start = int(ends[segment - 1]) if segment else 0
            yield segment, rows[start : ends[segment]], response[start : ends[segment]]


def segment_truth(segment: int) -> Numbers:
    """The true coefficients of a segment's regression; its intercept holds what is left out, so NaN.

    A household's mean says nothing beyond the customer's own predictors.
    """
    slopes = SLOPES[: len(MODEL_PREDICTORS) - 1]
    return np.concatenate([[np.nan, FIRST_SLOPES[segment]], slopes, np.zeros(len(MODEL_MEANS))])


BY_HOUSEHOLD: Keys = ("household", "segment", "row")
BY_REGION: Keys = ("region", "spend_cents", "row")
_MEANS_SCHEMA = numeric_schema("household", *MEAN_COLUMNS)
_MODEL_SCHEMA = numeric_schema(*MODEL_COLUMNS)
_SAMPLED_ROWS = 1024
_SAMPLED_HOUSEHOLDS = 2
_TABLES = {
    "made": "the made table",
    "sorted": "the table sorted by household",
    "means": "the means of households",
    "model": "the merged table",
    "region": "the customers sorted by region",
}


def run(context: JobContext) -> Answer:
    """Do all steps; coefficients agree to a relative 1e-6 at any number of threads."""
    return _CustomerProfile(context).run()


class _CustomerProfile:
    def __init__(self, context: JobContext) -> None:
        self.context = context
        self.rows = PROGRAM.rows(context.assignment.scale)
        self.records = Records(SCHEMA)
        tables = (context.work(f"{name}.arrow") for name in ("made", "sorted", "means", "model"))
        self.made, self.sorted, self.means, self.model = tables
        self.partitions = partition_count(self.rows * self.records.bytes, context.partition_sortsize_bytes)
        self.samples = {keys: KeySample() for keys in (BY_HOUSEHOLD, BY_REGION)}
        self.totals = {name: TableSum() for name in _TABLES}
        self.written: dict[str, int] = {}
        self.spend = 0
        self.found: list[Words] = []
        self.matched: list[Numbers] = []
        self.overall = LeastSquares(len(truth()))
        self.by_segment = [LeastSquares(len(segment_truth(0))) for _ in range(SEGMENTS)]
        self.answer: Answer = {"customers": self.rows}

    def run(self) -> Answer:
        self._make()
        self._means()
        parts = self._distribute("distribute", self.made, "made", BY_HOUSEHOLD)
        self.made.unlink()
        self._sort(parts)
        self._household_means()
        self._merge()
        self._regress()
        self._regress_groups()
        parts = self._distribute("distribute_region", self.sorted, "sorted", BY_REGION)
        self._sort_region(parts)
        self._verify()
        return self.answer

    def _rows(self, start: int, count: int) -> pa.RecordBatch:
        job = self.context.assignment
        return make_rows(seed=job.seed, replica=job.replica, rows=self.rows, start=start, count=count)

    def _make(self) -> None:
        size = arrow.batch_rows(self.records.bytes)
        every = max(self.rows // (self.partitions * SAMPLES_PER_PARTITION), 1)
        with (
            self.context.steps.step("make", "data") as step,
            self.context.writer(self.made, SCHEMA, checksum=True) as writer,
        ):
            for start in range(0, self.rows, size):
                batch = self._rows(start, min(size, self.rows - start))
                for keys, sample in self.samples.items():
                    sample.add(*(arrow.numbers(batch.column(key))[::every] for key in keys))
                self.spend += int(arrow.numbers(batch.column("spend_cents")).sum())
                writer.write(batch)
            step.rows_written = writer.rows
        self.written["made"] = added_sums(writer.sums)

    def _means(self) -> None:
        with self.context.steps.step("means") as step:
            found = moments_by(
                self.context,
                self.context.read(self.made),
                SCHEMA,
                by=("segment", "region"),
                against="spend_cents",
                keys=("row", "household"),
            )
            segments, regions = found["segment"], found["region"]
            step.rows_read = total_rows(segments)
        check_equal("the number of customers by region", total_rows(regions), self.rows)
        spend = total(segments, "spend_cents")
        # Classes are numbers here.
        counts = {float(name): int(m["spend_cents"]["count"] or 0) for name, m in segments.items()}
        self.segments = [counts.get(float(segment), 0) for segment in range(SEGMENTS)]
        check_equal("the sum of spend by segment", spend, self.spend)
        check_equal("the sum of spend by region", total(regions, "spend_cents"), self.spend)
        self.answer |= {
            "spend_cents": spend,
            "largest_mean_cents": max(float(m["spend_cents"]["avg"] or 0.0) for m in segments.values()),
            "largest_segment": max(map(class_rows, segments.values())),
        }

    def _distribute(self, name: str, table: Path, passed: str, keys: Keys) -> list[Path]:
        with self.context.steps.step(name, "data") as step:
            ranges = KeyRanges(self.samples[keys], self.partitions)
            batches = self.context.read(table, self.totals[passed].add)
            done = distribute(self.context, batches, self.records, keys, ranges, keys[0])
            step.rows_read = step.rows_written = int(done.rows.sum())
            return done.paths

    def _sort(self, parts: list[Path]) -> None:
        with (
            self.context.steps.step("sort") as step,
            self.context.writer(self.sorted, SCHEMA) as writer,
        ):
            for batch in sorted_batches(self.context, parts, self.records, BY_HOUSEHOLD):
                writer.write(batch)
            step.rows_read = step.rows_written = writer.rows

    def _household_means(self) -> None:
        """By-group means of a sorted table; a household may begin in one batch and end in the next."""
        order = StrictOrder(_TABLES["sorted"], below=SEGMENTS)
        size = arrow.batch_rows(8 * len(_MEANS_SCHEMA))
        waiting: list[Numbers] = []
        rest = np.empty((0, len(_MEANS_SCHEMA)))
        with (
            self.context.steps.step("household_means") as step,
            self.context.writer(self.means, _MEANS_SCHEMA, checksum=True) as writer,
        ):
            for batch in self.context.read(self.sorted):
                order.add(*(arrow.numbers(batch.column(key)) for key in BY_HOUSEHOLD))
                columns = [arrow.numbers(batch.column(name)) for name in _MEANS_SCHEMA.names]
                rows = np.vstack([rest, np.stack(columns, axis=1)])
                last = int(np.searchsorted(rows[:, 0], rows[-1, 0]))
                waiting.append(group_means(rows[:last]))
                rest = rows[last:]
                if sum(map(len, waiting)) >= size:
                    writer.write(as_batch(np.vstack(waiting), _MEANS_SCHEMA))
                    waiting.clear()
            writer.write(as_batch(np.vstack([*waiting, group_means(rest)]), _MEANS_SCHEMA))
            order.close()
            step.rows_read, step.rows_written = self.rows, writer.rows
        check_equal("the number of households", writer.rows, self.rows // HOUSEHOLD_ROWS)
        self.written["means"] = added_sums(writer.sums)
        self.answer["households"] = writer.rows

    def _merge(self) -> None:
        taken = [_MEANS_SCHEMA.get_field_index(name.removeprefix("mean_")) for name in MODEL_MEANS]
        own = MODEL_COLUMNS[: -len(MODEL_MEANS)]
        first = self.rows // 2 - self.rows // 2 % 8
        with (
            self.context.steps.step("merge", "data") as step,
            self.context.writer(self.model, _MODEL_SCHEMA, checksum=True) as writer,
        ):
            batches = self.context.read(self.means, self.totals["means"].add)
            means = as_rows(next(batches))
            for batch in self.context.read(self.sorted):
                numbers = arrow.numbers(batch.column("row"))
                sampled = np.flatnonzero((numbers >= first) & (numbers < first + _SAMPLED_ROWS))
                keys = arrow.numbers(batch.column("household"))
                while means[-1, 0] < keys[-1]:
                    # What lies before this batch's households is done with.
                    done = int(np.searchsorted(means[:, 0], keys[0]))
                    means = np.vstack([means[done:], as_rows(next(batches))])
                matched = means[np.searchsorted(means[:, 0], keys)]
                check_equal("the households of the merge", bool((matched[:, 0] == keys).all()), True)
                if len(sampled):
                    self.found.append(self.records.pick(batch, sampled))
                    self.matched.append(matched[sampled])
                columns = [*(arrow.numbers(batch.column(name)) for name in own), *matched[:, taken].T]
                writer.write(as_batch(np.stack(columns, axis=1), _MODEL_SCHEMA))
            check_equal("the households after the last customer", len(list(batches)), 0)
            step.rows_read, step.rows_written = self.rows + self.totals["means"].rows, writer.rows
        self.written["model"] = added_sums(writer.sums)

    def _regress(self) -> None:
        with self.context.steps.step("regress") as step:
            for batch in self.context.read(self.sorted):
                self.overall.add(design(batch), arrow.numbers(batch.column("spend_cents")))
            self.overall.solve()
            step.rows_read = self.overall.rows
        with self.context.steps.step("residuals") as step:
            for batch in self.context.read(self.sorted):
                self.overall.add_residuals(design(batch), arrow.numbers(batch.column("spend_cents")))
            step.rows_read = self.overall.residual_rows

    def _regress_groups(self) -> None:
        with self.context.steps.step("regress_groups") as step:
            for segment, rows, response in by_segment(self.context.read(self.model)):
                self.by_segment[segment].add(rows, response)
            for fit in self.by_segment:
                fit.solve()
            fitted = [fit.rows for fit in self.by_segment]
            check_equal("the number of customers by segment", fitted, self.segments)
            step.rows_read = sum(fitted)
        with self.context.steps.step("residuals_groups") as step:
            batches = self.context.read(self.model, self.totals["model"].add)
            for segment, rows, response in by_segment(batches):
                self.by_segment[segment].add_residuals(rows, response)
            step.rows_read = sum(fit.residual_rows for fit in self.by_segment)

    def _sort_region(self, parts: list[Path]) -> None:
        order = StrictOrder(_TABLES["region"], below=LARGEST_SPEND)
        regions, spreads, ranked = 0, 0, 0
        region, lowest, highest = -1.0, 0.0, 0.0
        with self.context.steps.step("sort_region") as step:
            for batch in sorted_batches(self.context, parts, self.records, BY_REGION):
                keys = [arrow.numbers(batch.column(key)) for key in BY_REGION]
                order.add(*keys)
                self.totals["region"].add(batch.num_rows, arrow.body_sum(batch, self.records.bytes))
                starts = np.concatenate(([0], np.flatnonzero(np.diff(keys[0])) + 1))
                for start, end in zip(starts, [*starts[1:], len(keys[0])], strict=True):
                    if keys[0][start] != region:
                        spreads += int(highest - lowest)
                        region, lowest = float(keys[0][start]), float(keys[1][start])
                        regions += 1
                    highest = float(keys[1][end - 1])
                ranked += batch.num_rows
            order.close()
            step.rows_read = ranked
        self.answer |= {"regions": regions, "spread_cents": spreads + int(highest - lowest)}

    def _verify(self) -> None:
        with self.context.steps.step("verify", "verify"):
            for name, passed in self.totals.items():
                written = self.written.get(name, self.written["made"])
                rows = self.rows // HOUSEHOLD_ROWS if name == "means" else self.rows
                passed.check(_TABLES[name], rows=rows, value=written)
            self._check_rows()
            self._check_means()
            farthest = self.overall.check("the regression", truth())
            for segment, fit in enumerate(self.by_segment):
                farthest = max(farthest, fit.check(f"segment {segment}", segment_truth(segment)))
            variance = self.overall.variance
            check(
                abs(variance / NOISE_VARIANCE - 1) <= SIGMAS * (2 / self.rows) ** 0.5,
                "the variance of the residuals",
                found=variance,
                expected=NOISE_VARIANCE,
            )
        self.answer |= {
            "residual_variance": variance,
            "farthest_standard_errors": farthest,
            "first_slope": float(self.overall.coefficients[SEGMENTS]),
        }

    def _check_rows(self) -> None:
        first = self.rows // 2 - self.rows // 2 % 8
        again = self._rows(first, min(_SAMPLED_ROWS, self.rows - first))
        expected = np.empty((again.num_rows, self.records.words), np.uint64)
        self.records.fill(again, expected)
        found = np.concatenate(self.found)
        found = found[np.argsort(self.records.numbers(found, "row"))]
        check_equal("the sampled rows of the sorted table", bool(np.array_equal(found, expected)), True)

    def _check_means(self) -> None:
        for means in np.concatenate(self.matched)[:_SAMPLED_HOUSEHOLDS]:
            rows = [self._rows(number, 1) for number in members(int(means[0]), self.rows)]
            again = np.vstack([as_rows(row.select(_MEANS_SCHEMA.names)) for row in rows]).mean(axis=0)
            check_equal(f"the means of household {means[0]:.0f}", means.tolist(), again.tolist())
