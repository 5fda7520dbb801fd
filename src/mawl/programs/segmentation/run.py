"""Segment the customers of each market: principal components, k-means, segments common to all, profile."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from mawl.programs.context import JobContext, check, check_equal
from mawl.programs.datagen.values import true_cluster
from mawl.programs.segmentation.declare import CLUSTER_SHARES, FEATURES, MARKET_ROWS, NUMERICS, TABLE
from mawl.programs.segmentation.markets import (
    COMPONENTS,
    ClusterAgreement,
    ClusterTruth,
    Market,
    Segments,
    check_agreement,
    clusters_of,
    nearest,
    standardised,
    sums_by,
)
from mawl.programs.tables import arrow
from mawl.programs.toolkit.groups import PreparedTable, block_sizes, blocks
from mawl.programs.toolkit.partitions import read_ahead
from mawl.programs.toolkit.worker_processes import side_by_side
from mawl.records.model.records import Answer

Numbers = NDArray[np.float64]

_COPIED = tuple(column.name for column in TABLE.columns if column.width is None)[1:]
_DERIVED = NUMERICS - len(_COPIED)
_NAMES = [f"x{n:02d}" for n in range(NUMERICS)]
_SCHEMA = pa.schema([(name, pa.float64()) for name in ("customer", *_NAMES)])
_FEATURE_PLACES = [_COPIED.index(name) for name in FEATURES]
_CLUSTERS = len(CLUSTER_SHARES)
_STANDARD_ERRORS = 6.0


def run(context: JobContext) -> Answer:
    """Do all steps; one thread fits each market, so shares and means are the same with any number."""
    return _Segmentation(context).run()


class _Segmentation:
    def __init__(self, context: JobContext) -> None:
        self.context = context
        self.prepared = PreparedTable(context, TABLE.name, _SCHEMA)
        self.rows = self.prepared.rows
        self.sizes = block_sizes(self.rows, MARKET_ROWS)
        self.truth = ClusterTruth(TABLE, self.prepared.input.manifest.seed)
        self.segments = Segments(_CLUSTERS, len(FEATURES))
        self.markets, self.common = ClusterAgreement(self.truth), ClusterAgreement(self.truth)
        self.explained = self.within = 0.0
        self.answer: Answer = {"customers": self.rows, "markets": len(self.sizes)}

    def run(self) -> Answer:
        self._prepare()
        self._cluster()
        self._profile()
        self._verify()
        return self.answer

    def _prepare(self) -> None:
        self.sums, squares = np.zeros(NUMERICS), np.zeros(NUMERICS)
        with self.prepared.preparing() as table:
            for batch in self.prepared.input_batches():
                numerics = _derive(batch)
                self.sums += numerics.sum(axis=1)
                squares += np.square(numerics).sum(axis=1)
                columns = [arrow.numbers(batch.column("customer")), *numerics]
                table.write(columns)
        self.means = self.sums / self.rows
        self.deviations = np.sqrt(np.maximum(squares / self.rows - np.square(self.means), 0.0))

    def _cluster(self) -> None:
        with self.context.steps.step("cluster") as step:
            done = 0
            markets = self._markets([_NAMES[place] for place in _FEATURE_PLACES])
            for features, found in side_by_side(self.context, _clustered, markets, len(self.sizes)):
                counts = np.bincount(found.clusters, minlength=_CLUSTERS)
                sums = sums_by(found.clusters, features, _CLUSTERS)
                self.segments.add(sums, counts)
                self.explained += found.explained * len(features)
                between = np.square(sums).sum(axis=1) / np.maximum(counts, 1)
                self.within += float(np.square(features).sum() - between.sum())
                self.markets.add(found.clusters, self._hidden(done, len(features)), features)
                done += len(features)
            step.rows_read = done
        self.answer |= {
            "explained_variance_ratio": self.explained / self.rows,
            "within_variance": self.within / (self.rows * len(FEATURES)),
        }

    def _profile(self) -> None:
        scale = self.means[_FEATURE_PLACES], self.deviations[_FEATURE_PLACES]
        centres = standardised(self.segments.centres(), *scale)
        self.profile_sums = np.zeros((_CLUSTERS, NUMERICS))
        self.counts = np.zeros(_CLUSTERS, np.int64)
        with self.context.steps.step("profile") as step:
            done = 0

            # Copies to other processes would take as long as the work: a thread reads ahead instead.
            for numerics in read_ahead(self.context, self._markets(_NAMES)):
                features = numerics[:, _FEATURE_PLACES]
                found = nearest(standardised(features, *scale), centres)
                self.counts += np.bincount(found, minlength=_CLUSTERS)
                self.profile_sums += sums_by(found, numerics, _CLUSTERS)
                self.common.add(found, self._hidden(done, len(found)), features)
                done += len(found)
            step.rows_read = done
        self.profiles = self.profile_sums / np.maximum(self.counts, 1)[:, None]
        self.answer["largest_segment_ratio"] = float(self.counts.max() / self.rows)

    def _markets(self, names: list[str]) -> Iterator[Numbers]:
        """A pass over the prepared table: numerics of a market's customers, (rows, names)."""
        for block in blocks(self.prepared.batches(), names, self.sizes):
            yield np.stack(list(block.values()), axis=1)

    def _hidden(self, start: int, count: int) -> NDArray[np.intp]:
        manifest = self.prepared.input.manifest
        return true_cluster(TABLE, seed=manifest.seed, replica=manifest.replica, start=start, count=count)

    def _verify(self) -> None:
        with self.context.steps.step("verify", "verify"):
            self.prepared.check_input("the customers")
            check_equal("the number of clustered customers", self.markets.rows, self.rows)
            check_equal("the number of customers in segments", self.common.rows, self.rows)
            check_agreement("markets' clusters", self.markets)
            check_agreement("common segments", self.common)
            miss = 1.0 - self.markets.nearest_true()
            self.truth.check_variances(
                explained=self.explained / self.rows,
                within=self.within / (self.rows * len(FEATURES)),
                components=COMPONENTS,
                rows=self.rows,
                market_rows=min(self.sizes),
                miss=miss,
            )
            self.truth.check_segments(self.profiles[:, _FEATURE_PLACES], self.counts, miss)
            self._check_profiles()
        self.answer |= {
            "agreement_ratio": self.markets.agreement(),
            "segment_agreement_ratio": self.common.agreement(),
        }

    def _check_profiles(self) -> None:
        totals = self.profile_sums.sum(axis=0)
        check(
            bool(np.allclose(totals, self.sums, rtol=1e-9, atol=1e-6 * self.rows)),
            "the sum of the numerics over segments",
            found=totals.tolist(),
            expected=self.sums.tolist(),
        )
        others = [place for place in range(len(_COPIED)) if place not in _FEATURE_PLACES]
        errors = standardised(self.profiles[:, others], self.means[others], self.deviations[others])
        farthest = float((np.abs(errors) * np.sqrt(self.counts)[:, None]).max())
        check(
            farthest <= _STANDARD_ERRORS,
            "the farthest mean of a segment in what clusters do not show in, in standard errors",
            found=farthest,
            expected=f"at most {_STANDARD_ERRORS}",
        )


def _clustered(features: Numbers) -> tuple[Numbers, Market]:
    return features, clusters_of(features, _CLUSTERS)


def _derive(batch: pa.RecordBatch) -> Numbers:
    """The prepared numerics of a batch, as (NUMERICS, rows): those of the input, then derived ones."""
    numerics = np.empty((NUMERICS, batch.num_rows))
    for place, name in enumerate(_COPIED):
        numerics[place] = arrow.numbers(batch.column(name))
    features = numerics[_FEATURE_PLACES]
    derived = numerics[len(_COPIED) :]
    derived[0] = features.mean(axis=0)
    derived[1] = features.min(axis=0)
    derived[2] = features.max(axis=0)
    for place in range(3, _DERIVED):
        derived[place] = features[place] * features[place - 3]
    return numerics
