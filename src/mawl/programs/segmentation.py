"""Segment the customers of each market: principal components, k-means, segments common to all, profile."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA

from mawl.base.units import format_percent
from mawl.plan.columns import Feature, InputTable
from mawl.programs.context import JobContext, check, check_equal, check_most
from mawl.programs.datagen.values import cluster_centres, true_cluster
from mawl.programs.declarations.segmentation import CLUSTER_SHARES, FEATURES, MARKET_ROWS, NUMERICS, TABLE
from mawl.programs.tables import arrow
from mawl.programs.toolkit.groups import PreparedJob, block_sizes, blocks, numeric_schema
from mawl.programs.toolkit.partitions import read_ahead
from mawl.programs.toolkit.worker_processes import side_by_side
from mawl.records.model.records import Answer

Numbers = NDArray[np.float64]
Places = NDArray[np.intp]

COMPONENTS = 10
_FITTED_ROWS = 2_048
"""About how many rows of a market k-means is fitted on: every so-many-th."""
_STARTS = 16
_RANDOM_STATE = 20_261_120


class Market(NamedTuple):
    """What one market's fit found."""

    clusters: Places
    """Each customer's cluster, from 0: (rows,)."""
    explained: float
    """Share of the variance of the standardised features that the components explain."""


def clusters_of(features: Numbers, clusters: int) -> Market:
    """Components of a market's standardised features, (rows, features), and k-means on their scores."""
    standard = standardised(features, features.mean(axis=0), features.std(axis=0))
    components = PCA(n_components=COMPONENTS, svd_solver="covariance_eigh").fit(standard)
    scores = components.transform(standard)
    every = max(len(scores) // _FITTED_ROWS, 1)
    fitted = KMeans(n_clusters=clusters, n_init=_STARTS, random_state=_RANDOM_STATE).fit(scores[::every])
    return Market(fitted.predict(scores).astype(np.intp), float(components.explained_variance_ratio_.sum()))


def standardised(values: Numbers, means: Numbers, deviations: Numbers) -> Numbers:
    """Values in standard deviations from their means."""
    return (values - means) / np.maximum(deviations, 1e-6)


def nearest(points: Numbers, centres: Numbers) -> Places:
    """The nearest centre, (centres, features), of each point, (rows, features): (rows,)."""
    closeness = points @ centres.T - 0.5 * np.square(centres).sum(axis=1)
    found: Places = closeness.argmax(axis=1)
    return found


def sums_by(places: Places, values: Numbers, count: int) -> Numbers:
    """Sums of rows, (rows, columns), by their place, from 0 to ``count``: (count, columns)."""
    sums: Numbers = np.eye(count)[places].T @ values
    return sums


class Segments:
    """Common segments: each market's clusters, one to one with those of the markets before."""

    def __init__(self, count: int, features: int) -> None:
        self.counts = np.zeros(count, np.int64)
        self._sums = np.zeros((count, features))

    def add(self, sums: Numbers, counts: NDArray[np.int64]) -> None:
        """Add a market's clusters, matched one to one: sums of features by cluster, and rows of each."""
        order = np.arange(len(counts))
        if self.counts.any():
            means = sums / np.maximum(counts, 1)[:, None]
            distances = np.square(self.centres()[:, None, :] - means[None, :, :]).sum(axis=2)
            order = linear_sum_assignment(distances)[1]
        self._sums += sums[order]
        self.counts += counts[order]

    def centres(self) -> Numbers:
        """The mean of the members of each segment: (segments, features)."""
        return self._sums / np.maximum(self.counts, 1)[:, None]


_DEVIATIONS = 5.0
"""Standard errors that chance is given."""
_UNPAIRED_SHARE = 0.01
"""Share of markets in which k-means may end in a local optimum."""
_AGREEMENT_SLACK = 0.3
"""How far agreement may stay below the best possible, as a share of the misses (measured: 0.17)."""
_CENTRE_SLACK = 0.6
"""How far overlap may shift a market's centres, in the noise's deviations times the share of misses."""
_PROFILE_SLACK = 2.5
"""The same of the one feature of one segment that is shifted farthest (measured: 1.8)."""
_WITHIN_SLACK = 0.4
"""Share of the noise's variance that overlap may take away, times the share of misses."""
_SHARE_SLACK = 0.3
"""How far overlap may move a segment's share of the rows, times the share of misses."""
_EXPLAINED_SLACK = 0.6
"""How far the explained share of variance may be from the truth, over the root of a market's rows."""


class ClusterTruth:
    """Centres, shares and noise of a table's hidden clusters."""

    def __init__(self, table: InputTable, seed: int) -> None:
        kinds = [column.values for column in table.columns if isinstance(column.values, Feature)]
        self.centres = cluster_centres(table, seed=seed)
        self.shares: Numbers = np.array(kinds[0].shares) / 256.0
        self.noise = kinds[0].noise

    def explained(self, components: int) -> float:
        """Share of the variance of standardised features that so many principal components explain."""
        around = self.centres - self.shares @ self.centres
        covariance = (around.T * self.shares) @ around
        covariance += np.eye(len(covariance)) * self.noise**2
        deviations = np.sqrt(np.diag(covariance))
        values = np.linalg.eigvalsh(covariance / np.outer(deviations, deviations))
        return float(values[-components:].sum() / len(values))

    def check_variances(
        self, *, explained: float, within: float, components: int, rows: int, market_rows: int, miss: float
    ) -> None:
        """Variance that components explain, and a feature's within clusters, against the generator's.

        ``miss`` is the share of rows that have another centre nearer than their own.
        """
        expected = self.explained(components)
        slack = _EXPLAINED_SLACK / np.sqrt(market_rows)
        check(
            abs(explained - expected) <= slack,
            "the share of variance that the components explain",
            found=explained,
            expected=f"{expected:.4f} within {slack:.4f}",
        )
        chance = _DEVIATIONS * np.sqrt(2.0 / (rows * self.centres.shape[1]))
        ratio = within / self.noise**2
        check(
            1.0 - _WITHIN_SLACK * miss - chance <= ratio <= 1.0 + chance,
            "the variance within clusters",
            found=within,
            expected=f"{self.noise**2}, less at most {_WITHIN_SLACK * miss:.3f} of it",
        )

    def check_segments(self, profiles: Numbers, counts: NDArray[np.int64], miss: float) -> None:
        partners = nearest(profiles, self.centres)
        check(
            len(set(partners.tolist())) == len(self.shares),
            "the segments' true clusters",
            found=sorted(partners.tolist()),
            expected="each once",
        )
        rows, shares = int(counts.sum()), self.shares[partners]
        errors = np.abs(profiles - self.centres[partners]) / self.noise
        allowed = _PROFILE_SLACK * miss + _DEVIATIONS / np.sqrt(np.maximum(counts, 1))
        check(
            bool((errors.max(axis=1) <= allowed).all()),
            "the distance of the segments' means from their true centres",
            found=errors.max(axis=1).round(4).tolist(),
            expected=f"at most {allowed.round(4).tolist()}",
        )
        found = counts / rows
        allowed = _SHARE_SLACK * miss + _DEVIATIONS * np.sqrt(shares * (1.0 - shares) / rows)
        check(
            bool((np.abs(found - shares) <= allowed).all()),
            "the segments' shares of the customers",
            found=found.round(4).tolist(),
            expected=f"{shares.round(4).tolist()} within {allowed.round(4).tolist()}",
        )


class ClusterAgreement:
    """Found clusters against the hidden ones, pooled over markets; each market's are paired off by itself."""

    def __init__(self, truth: ClusterTruth) -> None:
        self.truth = truth
        self._distance = 0.0
        self.rows = self.markets = self.paired = 0
        self.agreed = self.possible = 0

    def add(self, found: Places, hidden: Places, features: Numbers) -> None:
        """Rows of a market: their found and hidden cluster, (rows,), and their features, (rows, features)."""
        truth, size = self.truth, len(self.truth.shares)
        counts = np.bincount(found * size + hidden, minlength=size * size).reshape(size, size)
        partners = counts.argmax(axis=1)
        self.rows += len(found)
        self.markets += 1
        self.paired += len(set(partners.tolist())) == size
        self.agreed += int(counts.max(axis=1).sum())
        self.possible += int((nearest(features, truth.centres) == hidden).sum())
        members = np.maximum(counts.sum(axis=1), 1)[:, None]
        errors = sums_by(found, features, size) / members - truth.centres[partners]
        self._distance += float((np.square(errors / truth.noise) * members).mean())

    def agreement(self) -> float:
        """Share of rows whose hidden cluster is the one that most of their found cluster have."""
        return self.agreed / max(self.rows, 1)

    def nearest_true(self) -> float:
        """Share of rows whose own true centre is the nearest one: what no method can do much better than."""
        return self.possible / max(self.rows, 1)

    def squared_errors(self) -> float:
        """Mean squared error of found centres, in standard errors of the mean of so many rows: about 1."""
        return self._distance / max(self.markets, 1)


def check_agreement(what: str, agreement: ClusterAgreement) -> None:
    """Clusters pair off with the hidden ones, and hold nearly the rows and means that they can."""
    unpaired = agreement.markets - agreement.paired
    check(
        unpaired <= _UNPAIRED_SHARE * agreement.markets,
        f"the pairing of {what} with the hidden ones",
        found=f"{unpaired} of {agreement.markets} markets in which two are of one",
        expected=f"at most {format_percent(_UNPAIRED_SHARE)}",
    )
    possible = agreement.nearest_true()
    miss = 1.0 - possible
    chance = 1.0 / np.sqrt(max(agreement.rows, 1))
    check(
        possible - _AGREEMENT_SLACK * miss - chance <= agreement.agreement() <= possible + chance,
        f"the agreement of {what} with the hidden ones",
        found=agreement.agreement(),
        expected=f"{possible:.4f}, the nearest true centre's, less at most {_AGREEMENT_SLACK * miss:.4f}",
    )
    allowed = 1.5 + (_CENTRE_SLACK * miss) ** 2 * agreement.rows / agreement.markets / len(
        agreement.truth.shares
    )
    check_most(
        f"the squared distance of {what} from the true centres, in standard errors",
        agreement.squared_errors(),
        allowed,
        ".2f",
    )


_COPIED = tuple(column.name for column in TABLE.columns if column.width is None)[1:]
_DERIVED = NUMERICS - len(_COPIED)
_NAMES = [f"x{n:02d}" for n in range(NUMERICS)]
_SCHEMA = numeric_schema("customer", *_NAMES)
_FEATURE_PLACES = [_COPIED.index(name) for name in FEATURES]
_CLUSTERS = len(CLUSTER_SHARES)
_STANDARD_ERRORS = 6.0


def run(context: JobContext) -> Answer:
    """Do all steps; one thread fits each market, so shares and means are the same with any number."""
    return _Segmentation(context).run()


class _Segmentation(PreparedJob):
    def __init__(self, context: JobContext) -> None:
        super().__init__(context, TABLE, _SCHEMA, "the customers")
        self.sizes = block_sizes(self.rows, MARKET_ROWS)
        self.truth = ClusterTruth(TABLE, self.manifest.seed)
        self.segments = Segments(_CLUSTERS, len(FEATURES))
        self.markets, self.common = ClusterAgreement(self.truth), ClusterAgreement(self.truth)
        self.explained = self.within = 0.0
        self.answer |= {"customers": self.rows, "markets": len(self.sizes)}

    def _work(self) -> None:
        self._prepare()
        self._cluster()
        self._profile()

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
        manifest = self.manifest
        return true_cluster(TABLE, seed=manifest.seed, replica=manifest.replica, start=start, count=count)

    def _check(self) -> None:
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
        check_most(
            "the farthest mean of a segment in what clusters do not show in, in standard errors",
            farthest,
            _STANDARD_ERRORS,
            "",
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
