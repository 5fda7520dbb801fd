"""Segment customers: prepare, standardise, principal components, k-means, score, profile.

Steps, bytes and limits are declared in :mod:`mawl.plan.catalogue.segmentation`.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA

from mawl.datagen.values import cluster_centres, true_cluster
from mawl.model.records import Answer
from mawl.plan.catalogue.segmentation import NUMERICS, SAMPLE_SHARE
from mawl.plan.inputs.customers import CLUSTER_SHARES, FEATURES, TABLE
from mawl.programs.context import JobContext, check, check_equal
from mawl.programs.prepared import PreparedTable
from mawl.tables import arrow

Numbers = NDArray[np.float64]

_COPIED = tuple(column.name for column in TABLE.columns if column.width is None)[1:]
_DERIVED = NUMERICS - len(_COPIED)
_SCHEMA = pa.schema([(name, pa.float64()) for name in ("customer", *(f"x{n:02d}" for n in range(NUMERICS)))])
_FEATURE_PLACES = [_COPIED.index(name) for name in FEATURES]
_CLUSTERS = len(CLUSTER_SHARES)
_COMPONENTS = 10
_STARTS = 20
_RANDOM_STATE = 20_261_120
_AGREEMENT_SLACK = 0.05
"""How far below the best possible agreement (nearest true centre) the found clusters may stay."""
_CENTRE_SLACK = 0.25
"""How far a found centre may be from the truth, in standard deviations of a feature, and besides that
so many standard errors of the mean of the smallest cluster."""
_CENTRE_DEVIATIONS = 3.0

_EXPLAINED_TOLERANCE = 1e-6


def run(context: JobContext) -> Answer:
    """Do all steps; shares and means agree to a relative 1e-6 at any number of threads."""
    return _Segmentation(context).run()


class _Segmentation:
    def __init__(self, context: JobContext) -> None:
        self.context = context
        self.prepared = PreparedTable(context, TABLE.name, _SCHEMA)
        self.rows = self.prepared.rows
        self.agreement = np.zeros((_CLUSTERS, _CLUSTERS), np.int64)
        self.answer: Answer = {"customers": self.rows}

    def run(self) -> Answer:
        sample = self._prepare()
        components = self._fit_components(sample)
        self._fit_clusters(sample, components)
        self._score()
        self._profile()
        self._verify(sample)
        return self.answer

    def _prepare(self) -> Numbers:
        """Write the prepared table; returns every so many-th row of it, (rows, NUMERICS)."""
        room = int(self.context.options.memsize_bytes * SAMPLE_SHARE) // (8 * NUMERICS)
        every = max(-(-self.rows // room), 1)
        sample = np.empty((-(-self.rows // every), NUMERICS))
        sums, squares = np.zeros(NUMERICS), np.zeros(NUMERICS)
        kept = 0
        with (
            self.context.steps.step("prepare", "data") as step,
            self.prepared.writing() as writer,
        ):
            for batch in self.prepared.input_batches():
                numerics = _derive(batch)
                sums += numerics.sum(axis=1)
                squares += np.square(numerics).sum(axis=1)
                some = numerics[:, (-writer.rows) % every :: every].T
                sample[kept : kept + len(some)] = some
                kept += len(some)
                columns = [arrow.numbers(batch.column("customer")), *numerics]
                writer.write(
                    pa.RecordBatch.from_arrays([arrow.array(column) for column in columns], schema=_SCHEMA)
                )
            step.rows_read = step.rows_written = writer.rows
        self.means = sums / self.rows
        self.deviations = np.sqrt(np.maximum(squares / self.rows - np.square(self.means), 1e-12))
        return sample[:kept]

    def _fit_components(self, sample: Numbers) -> Numbers:
        with self.context.steps.step("components") as step:
            standard = self._standardise(sample)
            self.components = PCA(n_components=_COMPONENTS, svd_solver="covariance_eigh").fit(standard)
            step.rows_read = len(sample)
        explained = float(self.components.explained_variance_ratio_.sum())
        scores: Numbers = self.components.transform(standard)
        _check_explained(explained, standard, scores)
        self.answer["explained_variance_ratio"] = explained
        return scores

    def _fit_clusters(self, sample: Numbers, scores: Numbers) -> None:
        with self.context.steps.step("cluster") as step:
            self.clusters = KMeans(
                n_clusters=_CLUSTERS, n_init=_STARTS, max_iter=200, random_state=_RANDOM_STATE
            ).fit(scores)
            step.rows_read = len(sample)
        self.answer |= {
            "inertia_per_row": float(self.clusters.inertia_ / len(sample)),
            "iterations": int(self.clusters.n_iter_),
        }

    def _score(self) -> None:
        manifest = self.prepared.input.manifest
        done = 0
        with self.context.steps.step("score") as step:
            for numerics in self._passed():
                found = self._predict(numerics)
                truth = true_cluster(
                    TABLE, seed=manifest.seed, replica=manifest.replica, start=done, count=len(found)
                )
                self.agreement += np.bincount(
                    found * _CLUSTERS + truth, minlength=_CLUSTERS * _CLUSTERS
                ).reshape(_CLUSTERS, _CLUSTERS)
                done += len(found)
            step.rows_read = done

    def _profile(self) -> None:
        sums, counts = np.zeros((_CLUSTERS, NUMERICS)), np.zeros(_CLUSTERS, np.int64)
        with self.context.steps.step("profile") as step:
            for numerics in self._passed():
                found = self._predict(numerics)
                counts += np.bincount(found, minlength=_CLUSTERS)
                sums += np.eye(_CLUSTERS)[found].T @ numerics
            step.rows_read = int(counts.sum())
        self.profiles = sums / np.maximum(counts, 1)[:, None]
        self.answer["largest_cluster_ratio"] = float(counts.max() / self.rows)

    def _passed(self) -> Iterator[Numbers]:
        """A pass over the prepared table, as (rows, NUMERICS); its word sum is checked."""
        for batch in self.prepared.batches():
            yield np.stack([arrow.numbers(batch.column(place + 1)) for place in range(NUMERICS)], axis=1)

    def _standardise(self, numerics: Numbers) -> Numbers:
        """The features that customers are segmented by, in standard deviations: (rows, features)."""
        return (numerics[:, _FEATURE_PLACES] - self.means[_FEATURE_PLACES]) / self.deviations[_FEATURE_PLACES]

    def _predict(self, numerics: Numbers) -> NDArray[np.intp]:
        scores = self.components.transform(self._standardise(numerics))
        return self.clusters.predict(scores).astype(np.intp)  # type: ignore[no-any-return]

    def _verify(self, sample: Numbers) -> None:
        with self.context.steps.step("verify", "verify"):
            manifest = self.prepared.input.manifest
            self.prepared.check_input("the customers")
            check_equal("the number of scored customers", int(self.agreement.sum()), self.rows)
            partner = self.agreement.argmax(axis=1)
            check_equal("the found clusters' true ones", sorted(partner.tolist()), list(range(_CLUSTERS)))
            agreement = float(self.agreement.max(axis=1).sum() / self.rows)
            centres = cluster_centres(TABLE, seed=manifest.seed)
            possible = self._possible_agreement(sample, centres)
            check(
                agreement >= possible - _AGREEMENT_SLACK,
                "the share of customers in their true cluster",
                found=agreement,
                expected=f"at least {possible:.3f} less {_AGREEMENT_SLACK}",
            )
            # A cluster's mean of all its members; what overlaps shifts it a little.
            distance = np.abs(self.profiles[:, _FEATURE_PLACES] - centres[partner])
            farthest = float((distance / self.deviations[_FEATURE_PLACES]).max())
            slack = _CENTRE_SLACK + _CENTRE_DEVIATIONS / int(self.agreement.sum(axis=1).min()) ** 0.5
            check(farthest <= slack, "the farthest centre", found=farthest, expected=f"at most {slack:.3f}")
        self.answer["agreement_ratio"] = agreement

    def _possible_agreement(self, sample: Numbers, centres: Numbers) -> float:
        """Share of sampled customers nearest to their own cluster's true centre: the overlap's bound."""
        manifest = self.prepared.input.manifest
        every = max(-(-self.rows // len(sample)), 1)
        count = min(len(sample), 2000)
        features = sample[:count, _FEATURE_PLACES]
        truth = true_cluster(
            TABLE, seed=manifest.seed, replica=manifest.replica, start=0, count=(count - 1) * every + 1
        )[::every]
        distances = np.square(features[:, None, :] - centres[None, :, :]).sum(axis=2)
        return float((distances.argmin(axis=1) == truth).mean())


def _check_explained(explained: float, standard: Numbers, scores: Numbers) -> None:
    """Components are directions at right angles, so scores hold that share of all squared deviations."""
    mean = standard.mean(axis=0)
    squares = float(np.vdot(standard, standard)) - len(standard) * float(mean @ mean)
    held = float(np.vdot(scores, scores)) / squares
    check(
        abs(held - explained) <= _EXPLAINED_TOLERANCE,
        "the explained variance",
        found=explained,
        expected=f"{held:.9f}, the share that the scores hold",
    )


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
