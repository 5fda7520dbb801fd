"""Predict which loan applications default: boosting and a forest for each branch of a lender."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier

from mawl.programs.context import JobContext, check, check_equal
from mawl.programs.datagen.responses import outcome_columns, true_chances
from mawl.programs.declarations.tree_ensemble import BRANCH_ROWS, DERIVED, OUTCOME, PREDICTORS, TABLE
from mawl.programs.tables import arrow
from mawl.programs.toolkit.estimates import ScoreBins, check_calibration
from mawl.programs.toolkit.groups import PreparedJob, block_sizes, blocks, numeric_schema
from mawl.programs.toolkit.worker_processes import side_by_side
from mawl.records.model.records import Answer

Numbers = NDArray[np.float64]
Branch = tuple[Numbers, NDArray[np.bool_]]
"""Predictors (rows, predictors) of a branch's applications and whether each defaulted (rows,)."""

_NAMES = tuple(column.name for column in PREDICTORS)
_WIDTH = len(_NAMES) + DERIVED
_PREPARED_NAMES = tuple(f"x{n:02d}" for n in range(_WIDTH))
_SCHEMA = numeric_schema("application", "defaulted", *_PREPARED_NAMES)
_RULE_PLACES = {column.name: _NAMES.index(column.name) for column in outcome_columns(OUTCOME)}
_ROUNDS = 60
_LEAVES = 8
_TREES = 28
_TREE_DEPTH = 10
_TREE_SHARE = 0.5
"""Share of a branch's rows to fit on that each tree of its forest draws."""
_TENTHS = 10
_RANDOM_STATE = 20_261_120
_AREA_SLACK = {"boosted": 1.5, "forest": 3.0}
"""How far below the true chances' area models may stay, over the root of rows fitted (measured: 1.0, 2.4)."""
_CHANCE_SLACK = {"boosted": 4.5, "forest": 7.5}
"""How far a tenth's chances foretold may be from the share found, over that root (measured: 2.9, 5.4)."""
_DEVIATIONS = 5.0


def run(context: JobContext) -> Answer:
    """Do all steps; areas and shares agree to a relative 1e-6 at any number of threads."""
    return _TreeEnsemble(context).run()


class _TreeEnsemble(PreparedJob):
    def __init__(self, context: JobContext) -> None:
        super().__init__(context, TABLE, _SCHEMA, "the applications")
        self.sizes = block_sizes(self.rows, BRANCH_ROWS)
        self.rankings = {name: ScoreBins() for name in ("boosted", "forest", "truth")}
        self.answer |= {"applications": self.rows, "branches": len(self.sizes)}

    def _work(self) -> None:
        self._prepare()
        self._boost()
        self._grow_forests()

    def _prepare(self) -> None:
        defaults = held_out = 0
        with self.prepared.preparing() as table:
            for batch in self.prepared.input_batches():
                outcome = arrow.numbers(batch.column("defaulted"))
                defaults += int(outcome.sum())
                held_out += int(outcome[(table.rows + 1) % 2 :: 2].sum())
                columns = [arrow.numbers(batch.column("application")), outcome, *_derive(batch)]
                table.write(columns)
        self.answer |= {"defaults": defaults, "defaults_held_out": held_out}

    def _boost(self) -> None:
        with self.context.steps.step("boost") as step:
            for rows, scores, true, happened in side_by_side(
                self.context, _boosted, self._branches(), len(self.sizes)
            ):
                self.rankings["boosted"].add(scores, happened)
                self.rankings["truth"].add(true, happened)
                step.rows_read = (step.rows_read or 0) + rows
        self._keep("boosted")
        self._keep("truth")

    def _grow_forests(self) -> None:
        with self.context.steps.step("forest") as step:
            branches = enumerate(self._branches())
            for rows, scores, happened in side_by_side(self.context, _grown, branches):
                self.rankings["forest"].add(scores, happened)
                step.rows_read = (step.rows_read or 0) + rows
        self._keep("forest")

    def _keep(self, name: str) -> None:
        """How well a kind of model ranks all branches' held-out rows, and how much its top tenth defaults."""
        ranking = self.rankings[name]
        sizes, observed, _ = ranking.by_part(_TENTHS)
        overall = max(int(observed.sum()), 1) / max(ranking.rows, 1)
        self.answer |= {
            f"{name}_area": ranking.area(),
            f"{name}_accuracy_ratio": ranking.accuracy(),
            f"{name}_top_tenth_lift": float(observed[-1] / max(sizes[-1], 1) / overall),
        }

    def _branches(self) -> Iterator[tuple[Branch, Branch]]:
        """A pass over the prepared table: each branch's even rows, to fit on, and its odd ones, held out."""
        names = list(_SCHEMA.names[1:])
        for block in blocks(self.prepared.batches(), names, self.sizes):
            columns = list(block.values())
            some, others = (
                (np.stack([column[first::2] for column in columns[1:]], axis=1), columns[0][first::2] == 1.0)
                for first in (0, 1)
            )
            yield some, others

    def _check(self) -> None:
        held_out = self.rows // 2
        for name, ranking in self.rankings.items():
            check_equal(f"the number of applications ranked by {name}", ranking.rows, held_out)
            check_equal(
                f"the number of defaults ranked by {name}",
                int(ranking.counts[1].sum()),
                self.answer["defaults_held_out"],
            )
        root = float(np.sqrt(min(self.sizes) // 2))
        for name in ("boosted", "forest"):
            _check_area(name, self.rankings[name], self.rankings["truth"], _AREA_SLACK[name] / root)
        for name, slack in ("truth", 0.0), *_CHANCE_SLACK.items():
            check_calibration(
                f"defaults by tenth of the {name} score",
                self.rankings[name],
                parts=_TENTHS,
                slack=slack / root,
                deviations=_DEVIATIONS,
            )


def _boosted(branch: tuple[Branch, Branch]) -> tuple[int, Numbers, Numbers, NDArray[np.bool_]]:
    (predictors, defaulted), (others, happened) = branch
    model = HistGradientBoostingClassifier(
        max_iter=_ROUNDS, max_leaf_nodes=_LEAVES, early_stopping=False, random_state=_RANDOM_STATE
    )
    scores = model.fit(predictors, defaulted).predict_proba(others)[:, 1]
    return len(defaulted) + len(happened), scores, _true_chances(others), happened


def _true_chances(predictors: Numbers) -> Numbers:
    columns = {name: predictors[:, place] for name, place in _RULE_PLACES.items()}
    return true_chances(OUTCOME, columns) / 65_536.0


def _grown(numbered: tuple[int, tuple[Branch, Branch]]) -> tuple[int, Numbers, NDArray[np.bool_]]:
    number, ((predictors, defaulted), (others, happened)) = numbered
    forest = RandomForestClassifier(
        n_estimators=_TREES,
        max_depth=_TREE_DEPTH,
        max_features=0.3,
        min_samples_leaf=10,
        max_samples=_TREE_SHARE,
        n_jobs=1,
        random_state=_RANDOM_STATE + number,
    ).fit(predictors, defaulted)
    return len(defaulted) + len(happened), forest.predict_proba(others)[:, 1], happened


def _check_area(name: str, ranking: ScoreBins, truth: ScoreBins, slack: float) -> None:
    """No model can rank much better than the true chances, and a good one not much worse."""
    area, possible = ranking.area(), truth.area()
    # The standard error of an area is at most this; a model shares most of it with the truth.
    chance = 0.5 / np.sqrt(max(int(ranking.counts.sum(axis=1).min()), 1))
    check(
        possible - slack - chance <= area <= possible + chance,
        f"the area under the curve of the {name} models",
        found=area,
        expected=f"{possible:.4f}, that of the true chances, less at most {slack + chance:.4f}",
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
