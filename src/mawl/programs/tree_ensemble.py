"""Predict which loan applications default: boosting and a forest, scored on rows they never saw.

Steps, bytes and limits are declared in :mod:`mawl.plan.catalogue.tree_ensemble`.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier

from mawl.datagen.outcomes import columns_of, true_chances
from mawl.model.records import Answer
from mawl.plan.catalogue.tree_ensemble import DERIVED, SAMPLE_SHARE
from mawl.plan.inputs.applications import OUTCOME, PREDICTORS, TABLE
from mawl.programs.context import JobContext, check, check_equal
from mawl.programs.prepared import PreparedTable
from mawl.programs.ranking import Ranking
from mawl.tables import arrow

Numbers = NDArray[np.float64]

_NAMES = tuple(column.name for column in PREDICTORS)
_WIDTH = len(_NAMES) + DERIVED
_SCHEMA = pa.schema(
    [(name, pa.float64()) for name in ("application", "defaulted", *(f"x{n:02d}" for n in range(_WIDTH)))]
)
_RULE_PLACES = {column.name: _NAMES.index(column.name) for column in columns_of(OUTCOME)}
_ROUNDS = 60
_LEAVES = 15
_TREES = 40
_TREE_DEPTH = 12
_TREE_ROWS = 100_000
"""Rows that each tree of the forest draws at most."""
_TENTHS = 10
_RANDOM_STATE = 20_261_120
_AREA_SLACK = 0.012
_SLACK_BY_ROW = 2.6
"""How far below the area of the true chances a model's may stay, the latter over the root of rows fitted."""
_CHANCE_DEVIATIONS = 5.0
_CALIBRATION_SLACK = 0.02


def run(context: JobContext) -> Answer:
    """Do all steps; areas and shares agree to a relative 1e-6 at any number of threads."""
    return _TreeEnsemble(context).run()


class _TreeEnsemble:
    def __init__(self, context: JobContext) -> None:
        self.context = context
        self.prepared = PreparedTable(context, TABLE.name, _SCHEMA)
        self.rows = self.prepared.rows
        self.rankings = {name: Ranking() for name in ("boosted", "forest", "truth")}
        self.observed = np.zeros(_TENTHS, np.int64)
        self.predicted = np.zeros(_TENTHS)
        self.sizes = np.zeros(_TENTHS, np.int64)
        self.answer: Answer = {"applications": self.rows}

    def run(self) -> Answer:
        predictors, defaulted = self._prepare()
        self._boost(predictors, defaulted)
        self._grow_forest(predictors, defaulted)
        del predictors, defaulted
        self._score()
        self._lift()
        self._verify()
        return self.answer

    def _prepare(self) -> tuple[Numbers, NDArray[np.bool_]]:
        """Write the prepared table; returns predictors (rows, predictors) and outcomes to fit on.

        Fitted on are even rows, as many as have room; odd rows are held out.
        """
        room = int(self.context.options.memsize_bytes * SAMPLE_SHARE) // (8 * _WIDTH)
        every = 2 * max(-(-self.rows // (2 * room)), 1)
        sample = np.empty((-(-self.rows // every), _WIDTH))
        defaulted = np.empty(len(sample), np.bool_)
        kept = defaults = 0
        with (
            self.context.steps.step("prepare", "data") as step,
            self.prepared.writing() as writer,
        ):
            for batch in self.prepared.input_batches():
                predictors, outcome = _derive(batch), arrow.numbers(batch.column("defaulted"))
                some = slice((-writer.rows) % every, None, every)
                count = len(outcome[some])
                sample[kept : kept + count] = predictors[:, some].T
                defaulted[kept : kept + count] = outcome[some] == 1.0
                kept += count
                defaults += int(outcome.sum())
                columns = [arrow.numbers(batch.column("application")), outcome, *predictors]
                writer.write(
                    pa.RecordBatch.from_arrays([arrow.array(column) for column in columns], schema=_SCHEMA)
                )
            step.rows_read = step.rows_written = writer.rows
        self.answer |= {"defaults": defaults, "fitted": kept}
        return sample[:kept], defaulted[:kept]

    def _boost(self, predictors: Numbers, defaulted: NDArray[np.bool_]) -> None:
        with self.context.steps.step("boost") as step:
            self.boosted = HistGradientBoostingClassifier(
                max_iter=_ROUNDS, max_leaf_nodes=_LEAVES, early_stopping=False, random_state=_RANDOM_STATE
            ).fit(predictors, defaulted)
            step.rows_read = len(predictors)

    def _grow_forest(self, predictors: Numbers, defaulted: NDArray[np.bool_]) -> None:
        with self.context.steps.step("forest") as step:
            self.forest = RandomForestClassifier(
                n_estimators=_TREES,
                max_depth=_TREE_DEPTH,
                max_features=0.4,
                min_samples_leaf=10,
                max_samples=min(len(predictors), _TREE_ROWS),
                n_jobs=self.context.options.cpucount,
                random_state=_RANDOM_STATE,
            ).fit(predictors, defaulted)
            # Threads add up votes in the order in which they end: the last bits would differ.
            self.forest.n_jobs = 1
            step.rows_read = len(predictors)

    def _score(self) -> None:
        """Rank the held-out rows by both models and by the truth."""
        with self.context.steps.step("score") as step:
            for predictors, happened in self._held_out():
                columns = {name: predictors[:, place] for name, place in _RULE_PLACES.items()}
                self.rankings["truth"].add(true_chances(OUTCOME, columns) / 65_536.0, happened)
                self.rankings["boosted"].add(self.boosted.predict_proba(predictors)[:, 1], happened)
                self.rankings["forest"].add(self.forest.predict_proba(predictors)[:, 1], happened)
                step.rows_read = (step.rows_read or 0) + len(happened)
        for name, ranking in self.rankings.items():
            self.answer |= {f"{name}_area": ranking.area(), f"{name}_accuracy_ratio": ranking.accuracy()}

    def _lift(self) -> None:
        """Defaults by tenth of the boosted score, found and foretold, over the held-out rows."""
        cuts = self.rankings["boosted"].cuts(_TENTHS)
        with self.context.steps.step("lift") as step:
            for predictors, happened in self._held_out():
                scores = self.boosted.predict_proba(predictors)[:, 1]
                tenth = np.searchsorted(cuts, scores, side="right")
                self.sizes += np.bincount(tenth, minlength=_TENTHS)
                self.observed += np.bincount(tenth[happened], minlength=_TENTHS)
                self.predicted += np.bincount(tenth, weights=scores, minlength=_TENTHS)
                step.rows_read = (step.rows_read or 0) + len(happened)
        overall = max(int(self.observed.sum()), 1) / max(int(self.sizes.sum()), 1)
        self.answer["top_tenth_lift"] = float(self.observed[-1] / max(self.sizes[-1], 1) / overall)

    def _held_out(self) -> Iterator[tuple[Numbers, NDArray[np.bool_]]]:
        """A pass over the prepared table: its odd rows' predictors and outcomes; its sum is checked."""
        done = 0
        for batch in self.prepared.batches():
            odd = slice((done + 1) % 2, None, 2)
            columns = [arrow.numbers(batch.column(place))[odd] for place in range(1, 2 + _WIDTH)]
            done += batch.num_rows
            yield np.stack(columns[1:], axis=1), columns[0] == 1.0

    def _verify(self) -> None:
        with self.context.steps.step("verify", "verify"):
            self.prepared.check_input("the applications")
            held_out = self.rows // 2
            for name, ranking in self.rankings.items():
                check_equal(f"the number of applications ranked by {name}", ranking.rows, held_out)
            possible = self.rankings["truth"].area()
            for name in ("boosted", "forest"):
                _check_area(name, self.rankings[name], possible, int(self.answer["fitted"]))
            check_equal("the number of applications by tenth", int(self.sizes.sum()), held_out)
            check_equal(
                "the number of defaults by tenth",
                int(self.observed.sum()),
                int(self.rankings["truth"].counts[1].sum()),
            )
            self._check_calibration()

    def _check_calibration(self) -> None:
        sizes = np.maximum(self.sizes, 1)
        foretold = self.predicted / sizes
        slack = _CALIBRATION_SLACK + _SLACK_BY_ROW / np.sqrt(int(self.answer["fitted"]))
        allowed = slack + _CHANCE_DEVIATIONS * np.sqrt(foretold * (1.0 - foretold) / sizes)
        found = self.observed / sizes
        check(
            bool((np.abs(found - foretold) <= allowed).all()),
            "the share of defaults by tenth of the score",
            found=found.round(4).tolist(),
            expected=f"{foretold.round(4).tolist()}, as foretold",
        )


def _check_area(name: str, ranking: Ranking, possible: float, fitted: int) -> None:
    """No model can rank much better than the true chances, and a good one not much worse."""
    area = ranking.area()
    # The standard error of an area is at most this; a model shares most of it with the truth.
    chance = 0.5 / np.sqrt(max(int(ranking.counts.sum(axis=1).min()), 1))
    slack = _AREA_SLACK + _SLACK_BY_ROW / np.sqrt(fitted)
    check(
        possible - slack <= area <= possible + chance,
        f"the area under the curve of the {name} model",
        found=area,
        expected=f"{possible:.4f}, that of the true chances, less at most {slack:.4f}",
    )


def _derive(batch: pa.RecordBatch) -> Numbers:
    """The predictors of a batch, as (predictors, rows): those of the input, then derived ones."""
    predictors = np.empty((_WIDTH, batch.num_rows))
    for place, name in enumerate(_NAMES):
        predictors[place] = arrow.numbers(batch.column(name))
    of = {name: predictors[place] for place, name in enumerate(_NAMES)}
    derived = predictors[len(_NAMES) :]
    derived[0] = of["amount"] / of["income"]
    derived[1] = of["monthly_payments"] * 12.0 / of["income"]
    derived[2] = of["balance"] / of["income"]
    derived[3] = of["amount"] / of["term_months"]
    derived[4] = of["savings"] - of["amount"]
    derived[5] = of["employed_years"] / of["age"]
    derived[6] = of["inquiries"] + of["delinquencies"]
    derived[7] = of["accounts"] / (of["oldest_account_years"] + 1.0)
    derived[8] = of["income"] / (of["dependants"] + 1.0)
    derived[9] = of["amount"] * of["rate_per_mille"] / 1000.0
    derived[10] = of["residence_years"] + of["employed_years"]
    derived[11] = of["balance"] / (of["savings"] + 1.0)
    return predictors
