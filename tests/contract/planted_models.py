"""Sorting, projecting and segmenting with one thing wrong: the programs' own checks must say so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from mawl.programs.datagen.values import true_cluster
from mawl.programs.declarations.segmentation import FEATURES, NUMERICS, TABLE
from tests.contract.planted_run import without_first_row
from tests.programs.faults import result, sequence


def column_changed(name: str, change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Change a column of a record batch, where it has it."""

    def changed(batch: Any) -> Any:
        place = batch.schema.get_field_index(name)
        if place < 0:
            return batch
        values = pa.array(change(batch.column(place).to_numpy().copy()))
        return batch.set_column(place, batch.schema.field(place), values)

    return changed


def one_more(values: Any) -> Any:
    values[0] += 1.0
    return values


def backwards(batch: Any) -> Any:
    return batch.take(pa.array(range(batch.num_rows))[::-1])


def half_given(moments: Any) -> Any:
    """Moments of every second batch."""
    return lambda context, batches, *a, **k: moments(
        context, (batch for number, batch in enumerate(batches) if number % 2 == 0), *a, **k
    )


WIDE_SORT: dict[str, dict[str, Any]] = {
    "a row is lost": {"context:TableWriter.write": without_first_row},
    "batches change places": {"wide_sort:sorted_batches": sequence(lambda found: found[::-1])},
    "a batch comes twice": {"wide_sort:sorted_batches": sequence(lambda found: [*found, found[-1]])},
    "a batch is lost": {"wide_sort:sorted_batches": sequence(lambda found: found[:-1])},
    "rows within batches go backwards": {
        "wide_sort:sorted_batches": sequence(lambda found: [backwards(batch) for batch in found])
    },
    "values changed places": {
        "wide_sort:sorted_batches": sequence(
            lambda found: [column_changed("fee_cents", lambda v: np.roll(v, 1))(batch) for batch in found]
        )
    },
    "one value is another": {
        "wide_sort:sorted_batches": sequence(
            lambda found: [column_changed("merchant", one_more)(found[0]), *found[1:]]
        )
    },
    "parts are not sorted": {"toolkit.sorting:np.lexsort": lambda _: lambda keys: np.arange(len(keys[0]))},
    "rows go to other partitions": {
        "toolkit.sorting:KeyRanges.number": lambda number: (
            lambda self, *keys: self.count - 1 - number(self, *keys)
        )
    },
    "moments of some rows": {"wide_sort:moments_by": half_given},
    "another amount is totalled": {
        "wide_sort:_Groups.add": lambda add: lambda self, group, cents: add(self, group, cents + 1.0)
    },
    "the totals are another column's": {
        "wide_sort:total": lambda total: lambda found, name: total(found, name) + len(found)
    },
}


def with_tile(column: str, change: Callable[[Any], Any]) -> dict[str, Any]:
    """Project policies that differ in one column from those read."""

    def changed(project: Any) -> Any:
        return lambda self, tile, flows: project(self, {**tile, column: change(tile[column])}, flows)

    return {"stress_projection:_Projector._project_tile": changed}


STRESS_PROJECTION: dict[str, dict[str, Any]] = {
    "a row is lost": {"context:TableWriter.write": without_first_row},
    "ages are a year off": with_tile("age", lambda age: np.minimum(age + 1, 80)),
    "terms are a month short": with_tile("term_months", lambda term: term - 1),
    "durations are a month long": with_tile("duration_months", lambda months: months + 1),
    "everybody smokes": with_tile("smoker", np.ones_like),
    "sums assured are a tenth higher": with_tile("sum_assured", lambda value: value * 1.1),
    "premiums are monthly ones": with_tile("annual_premium", lambda value: value / 12),
    "nobody pays": with_tile("paying", np.zeros_like),
    "lapse classes are ignored": with_tile("lapse_class", np.zeros_like),
    "expense classes are ignored": with_tile("expense_class", np.zeros_like),
    "shocks changed places": {
        "stress_projection:_Projector.present_values": lambda value: (
            lambda self, flows: value(self, flows)[::-1]
        )
    },
    "the last month is forgotten": {
        "stress_projection:_Projector.by_month": lambda sums: (
            lambda self, flows: np.pad(sums(self, flows[:-1]), ((0, 0), (0, 1)))
        )
    },
    "the tables changed places": {
        "context:JobContext.work": lambda work: (
            lambda self, name: work(
                self, {"paying.arrow": "paid_up.arrow", "paid_up.arrow": "paying.arrow"}.get(name, name)
            )
        ),
        "stress_projection:_StressProjection._values": lambda values: (
            lambda self, name: values(self, {"paying": "paid_up", "paid_up": "paying"}[name])
        ),
    },
    "values stand with the next policy": {
        "stress_projection:_Projector.present_values": lambda value: (
            lambda self, flows: np.roll(value(self, flows), 1, axis=1)
        )
    },
}


def some_columns_blank(values: Any) -> Any:
    values[:, 4:] = 0.0
    return values


def fitted_on(rows: slice) -> Callable[[Any], Any]:
    """Fit on some rows only."""
    return lambda fit: lambda self, values: fit(self, values[rows])


def rows_rolled(values: Any) -> Any:
    return np.roll(values, 1, axis=1)


def of_markets(change: Callable[[Any], Any]) -> dict[str, Any]:
    """Change the rows of every market in every pass."""
    return {
        "segmentation:_Segmentation._markets": lambda markets: (
            lambda self, names: (change(rows) for rows in markets(self, names))
        )
    }


def with_clusters(change: Callable[[Any], Any]) -> dict[str, Any]:
    """Change the clusters that are found in a market."""
    return {
        "segmentation:clusters_of": lambda clusters_of: (
            lambda *arguments: (lambda found: found._replace(clusters=change(found.clusters)))(
                clusters_of(*arguments)
            )
        )
    }


def in_segments(change: Callable[[Any], Any]) -> dict[str, Any]:
    """Change the segments that customers are nearest to."""
    return {"segmentation:nearest": lambda nearest: lambda *arguments: change(nearest(*arguments))}


def two_as_one(found: Any) -> Any:
    return np.where(found == 1, 0, found)


def every_third_anywhere(found: Any) -> Any:
    return np.where(np.arange(len(found)) % 3, found, (found + 1) % 8)


def with_components(count: int) -> dict[str, Any]:
    return {"segmentation:PCA": lambda pca: lambda **options: pca(**options | {"n_components": count})}


SEGMENTATION: dict[str, dict[str, Any]] = {
    "a row is lost": {"context:TableWriter.write": without_first_row},
    "customers stand with the next one's features": {
        "segmentation:_derive": lambda derive: lambda batch: rows_rolled(derive(batch))
    },
    "two clusters are taken for one": with_clusters(two_as_one),
    "two segments are taken for one": in_segments(two_as_one),
    "all customers are in one cluster": with_clusters(np.zeros_like),
    "all customers are in one segment": in_segments(np.zeros_like),
    "every third customer is in any cluster": with_clusters(every_third_anywhere),
    "every third customer is in any segment": in_segments(every_third_anywhere),
    "one customer in twenty is in any cluster": with_clusters(
        lambda found: np.where(np.arange(len(found)) % 20, found, (found + 1) % 8)
    ),
    "the hidden clusters are given away": {
        "segmentation:clusters_of": lambda clusters_of: (
            lambda features, clusters: clusters_of(features, clusters)._replace(
                clusters=true_cluster(TABLE, seed=20_261_120, replica=0, start=0, count=len(features))
            )
        )
    },
    "most features are left out": {"segmentation:standardised": result(some_columns_blank)},
    "other columns are the features": {
        "segmentation:_FEATURE_PLACES": lambda places: [place + 1 for place in places]
    },
    "one component": with_components(1),
    "six components": with_components(6),
    "one variance is told for all markets": {
        "segmentation:clusters_of": lambda clusters_of: (
            lambda *arguments: clusters_of(*arguments)._replace(explained=0.8)
        )
    },
    "k-means is fitted on forty customers": {"segmentation:KMeans.fit": fitted_on(slice(0, 40))},
    "k-means does not iterate": {
        "segmentation:KMeans": lambda kmeans: (
            lambda **options: kmeans(**options | {"init": "random", "n_init": 1, "max_iter": 1})
        )
    },
    "clusters are counted twice": {
        "segmentation:np.bincount": lambda bincount: lambda found, **options: bincount(found, **options) * 2
    },
    "segments are other features'": {
        "segmentation:Segments.centres": lambda centres: lambda self: rows_rolled(centres(self))
    },
    "profiles are of the wrong segments": {
        "segmentation:sums_by": lambda sums_by: (
            lambda places, values, count: np.roll(
                sums_by(places, values, count), int(values.shape[1] == NUMERICS), axis=0
            )
        )
    },
    "the profile of a product is doubled": {
        "segmentation:sums_by": lambda sums_by: (
            lambda places, values, count: (
                sums_by(places, values, count)
                * np.where(np.arange(values.shape[1]) == NUMERICS - 1, 2.0, 1.0)
            )
        )
    },
    "profiles are half as large again": of_markets(lambda rows: rows * 1.5),
    "some customers are not scored": of_markets(lambda rows: rows[::2]),
    "a market is left out": {
        "segmentation:_Segmentation._markets": lambda markets: (
            lambda self, names: list(markets(self, names))[1:]
        )
    },
    "balances go up with the segment": {
        "segmentation:_Segmentation._check_profiles": lambda check: (
            lambda self: (self.profiles.__setitem__((0, len(FEATURES) + 1), 20_000.0), check(self))
        )
    },
}
