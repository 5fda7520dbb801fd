"""Analyse factorial experiments study by study, compare levels, and design each study's next runs."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from mawl.plan.columns import Column, Response
from mawl.programs.context import JobContext, check, check_equal, check_most, check_near
from mawl.programs.datagen.responses import true_active, true_means
from mawl.programs.declarations.factorial_design import (
    DERIVED,
    FACTORS,
    NUMERICS,
    PARAMETERS,
    RESPONSES,
    RESULTS,
    STUDY_ROWS,
    TABLE,
)
from mawl.programs.factorial_analysis import (
    CELL_LEVELS,
    CELLS,
    DESIGN,
    FACTOR_COUNT,
    FAMILY_ERROR,
    IMPROVES,
    LEVELS,
    PAIRS,
    PLACES,
    SIGNIFICANCE,
    TERMS,
    Analysis,
    Candidates,
    analyse,
    model_terms,
)
from mawl.programs.tables import arrow
from mawl.programs.toolkit.estimates import SIGMAS
from mawl.programs.toolkit.groups import (
    PreparedJob,
    WorkTable,
    as_batch,
    as_rows,
    blocks,
    numeric_schema,
    sampled,
)
from mawl.programs.toolkit.worker_processes import side_by_side
from mawl.records.model.records import Answer

Numbers = NDArray[np.float64]

_CLEAR = 7.0
"""Levels whose means are so far apart are never taken for equal: nine standard errors."""
_SPREAD_DEVIATIONS = 8.0
_ERROR_SLACK = 0.12
_LEAST_EFFICIENCY = 0.9
"""Of a design, beside the bound (measured: 0.97 and more)."""


@dataclass(frozen=True)
class SampledDesign:
    """One study's design, kept to be checked: the runs it chose from and its log determinant."""

    study: int
    candidates: Candidates
    design: NDArray[np.intp]
    value: float


class EffectTally:
    """Counts what the analyses of one response found beside what was there, over all studies."""

    def __init__(self, column: Column) -> None:
        assert isinstance(column.values, Response)
        self.name = column.name
        self.values = column.values
        self.found = np.zeros((2, TERMS), np.int64)
        """Terms found, by whether they are there."""
        self.there = np.zeros((2, TERMS), np.int64)
        self.differing = np.zeros(2, np.int64)
        """Pairs of levels found to differ, by whether they do so clearly."""
        self.clear = 0
        self.families = self.alarms = 0
        """Factors without effects, and those of them where any pair was found to differ."""
        self.farthest = self.squares = self.errors = self.variances = 0.0
        self.studies = 0
        self._solve = np.linalg.pinv(DESIGN)
        # Were all cells run equally often; chance makes errors 5 % larger.
        self._balanced = np.diag(np.linalg.inv(DESIGN.T @ DESIGN)) * len(DESIGN) / STUDY_ROWS

    def add(self, analyses: Sequence[Analysis], active: NDArray[np.bool_]) -> None:
        """Studies' analyses and the terms that they have by the generator, (studies, terms)."""
        truth = true_means(self.values, active) @ self._solve.T
        mains = _level_means(truth)
        for analysis, there, parameters, means in zip(analyses, active, truth, mains, strict=True):
            distances = (analysis.parameters - parameters) / analysis.errors
            self.farthest = max(self.farthest, float(np.abs(np.nan_to_num(distances, nan=np.inf)).max()))
            self.squares += float(distances @ distances)
            self.errors += float((np.square(analysis.errors) / (analysis.variance * self._balanced)).mean())
            self.variances += analysis.variance
            np.add.at(self.found, (there.astype(np.intp), np.arange(TERMS)), analysis.found)
            np.add.at(self.there, (there.astype(np.intp), np.arange(TERMS)), 1)
            apart = np.array([[abs(level[one] - level[other]) for one, other in PAIRS] for level in means])
            clear = apart >= _CLEAR - 0.5
            self.clear += int(clear.sum())
            self.differing += (
                int((analysis.differing & ~clear).sum()),
                int((analysis.differing & clear).sum()),
            )
            idle = ~there[:FACTOR_COUNT]
            self.families += int(idle.sum())
            self.alarms += int(analysis.differing[idle].any(axis=1).sum())
        self.studies += len(analyses)

    def check(self, studies: int) -> None:
        what = f"of {self.name}"
        check_equal(f"the number of studies analysed {what}", self.studies, studies)
        check_equal(f"the number of terms found {what}", self.found[1].tolist(), self.there[1].tolist())
        _check_share(
            f"terms {what} found that are not there", self.found[0].sum(), self.there[0].sum(), SIGNIFICANCE
        )
        check_equal(f"the number of clear differences {what}", int(self.differing[1]), self.clear)
        _check_share(f"factors {what} compared that have no effect", self.alarms, self.families, FAMILY_ERROR)
        check_most(f"the effect {what} farthest from the truth, in standard errors,", self.farthest, SIGMAS)
        check_variance(
            f"runs in one cell {what}", self.variances / studies, studies * (STUDY_ROWS - len(DESIGN))
        )
        errors = self.errors / studies
        check_near(
            f"the square of standard errors {what} beside those of equal cells", errors, 1, _ERROR_SLACK, "g"
        )
        count = self.studies * DESIGN.shape[1]
        spread, slack = self.squares / count, _SPREAD_DEVIATIONS * np.sqrt(2.0 / count)
        check_near(
            f"the mean square of effects {what} less the truth, in standard errors,", spread, 1, slack, ".3f"
        )


def check_variance(what: str, found: float, freedom: int) -> None:
    """An error variance is that of the generator's noise and of its rounding to whole numbers."""
    values = RESPONSES[0].values
    assert isinstance(values, Response)
    truth = values.noise**2 + 1.0 / 12.0
    slack = SIGMAS * np.sqrt(2.0 / freedom) * truth
    check_near(f"the variance of {what}", found, truth, slack, ".2f")


def check_design(sample: SampledDesign, runs: int) -> float:
    """No swap of one coordinate improves a design, and it comes near the bound; returns its efficiency."""
    what = f"of study {sample.study}"
    candidates, design = sample.candidates, sample.design
    check_equal(f"the number of next runs {what}", len(design), runs)
    value = candidates.log_determinant(design)
    check(
        bool(np.isfinite(value)) and abs(value - sample.value) <= 1e-6 * max(abs(value), 1.0),
        f"the log determinant of the design {what}",
        found=sample.value,
        expected=value,
    )
    swap = candidates.best_swap(design)
    most = 1.0 + 2.0 * (IMPROVES - 1.0)
    check_most(f"the best swap left {what}", swap, most)
    terms = candidates.terms.shape[1]
    efficiency = float(np.exp((value - candidates.bound()) / terms) / runs)
    check(
        _LEAST_EFFICIENCY <= efficiency <= 1.0 + 1e-9,
        f"the efficiency of the design {what}",
        found=efficiency,
        expected=f"{_LEAST_EFFICIENCY:g} to 1",
    )
    return efficiency


def _level_means(parameters: Numbers) -> Numbers:
    """Means of levels less the mean of all: (studies, factors, levels)."""
    found = np.empty((len(parameters), FACTOR_COUNT, LEVELS))
    for factor, place in enumerate(PLACES[:FACTOR_COUNT]):
        found[:, factor, :-1] = parameters[:, place]
        found[:, factor, -1] = -parameters[:, place].sum(axis=1)
    return found


def _check_share(what: str, found: int, cases: int, share: float) -> None:
    expected = share * cases
    slack = SIGMAS * np.sqrt(expected * (1.0 - share)) + 3.0
    check(
        abs(found - expected) <= slack,
        f"the number of {what}",
        found=int(found),
        expected=f"about {expected:.1f} of {cases}, give or take {slack:.1f}",
    )


_NAMES = tuple(column.name for column in NUMERICS)
_RESPONSES = tuple(column.name for column in RESPONSES)
_SCHEMA = numeric_schema("run", *_NAMES, *DERIVED)
_RESULT_NAMES = ("variance", "found", "differing", *(f"effect_{n:02d}" for n in range(PARAMETERS)))
_EFFECTS = pa.schema(
    [("study", pa.float64())]
    + [(f"{response}_{name}", pa.float64()) for response in _RESPONSES for name in _RESULT_NAMES]
)
_BLOCK_STUDIES = 24
_ROWS_WRITTEN = 128
"""Studies whose effects are written together."""
_NEXT_RUNS = 24
_STARTS = 3
_ALLOWED = CELLS * 3 // 4
"""Cells that may be run again: not those of the lowest yields."""
_SAMPLED = 4
_OUTLYING = 3.0
_CODED = CELL_LEVELS - 1.0


def run(context: JobContext) -> Answer:
    """Do all steps; effects agree to a relative 1e-6, counts exactly, at any number of threads."""
    return _FactorialDesign(context).run()


class _FactorialDesign(PreparedJob):
    def __init__(self, context: JobContext) -> None:
        super().__init__(context, TABLE, _SCHEMA, "the runs")
        self.effects = WorkTable(context, "effects", _EFFECTS)
        self.studies = self.rows // STUDY_ROWS
        self.tallies = {column.name: EffectTally(column) for column in RESPONSES}
        self.samples: list[SampledDesign] = []
        self.residual_squares = np.zeros(len(RESPONSES))
        self.residuals = 0
        self.answer |= {"runs": self.rows, "studies": self.studies}

    def _work(self) -> None:
        self._prepare()
        self._analyse()
        self._design()
        self._residuals()

    def _prepare(self) -> None:
        with self.prepared.preparing() as table:
            for batch in self.prepared.input_batches():
                block = {name: arrow.numbers(batch.column(name)) for name in ("run", *_NAMES)}
                table.write((*block.values(), *_derive(block)))

    def _analyse(self) -> None:
        kept: list[list[float]] = []
        done = 0
        with (
            self.context.steps.step("analyse") as step,
            self.effects.writing() as writer,
        ):
            passed = self._passed("study", "cell", *_RESPONSES)
            for rows, by_response in side_by_side(
                self.context, _analysed, passed, self.studies // _BLOCK_STUDIES
            ):
                studies = len(rows)
                for (name, tally), analyses in zip(self.tallies.items(), by_response, strict=True):
                    tally.add(analyses, self._active(name, done, studies))
                    for row, analysis in zip(rows, analyses, strict=True):
                        row += _results(analysis)
                kept += rows
                done += studies
                if len(kept) >= _ROWS_WRITTEN or done == self.studies:
                    writer.write(as_batch(np.array(kept), _EFFECTS))
                    kept = []
            step.rows_read, step.rows_written = done * STUDY_ROWS, writer.rows
        check_equal("the number of studies with effects", writer.rows, self.studies)
        for name, tally in self.tallies.items():
            self.answer |= {
                f"{name}_terms_found": int(tally.found.sum()),
                f"{name}_differences_found": int(tally.differing.sum()),
            }

    def _active(self, response: str, first: int, studies: int) -> NDArray[np.bool_]:
        """The terms that studies have of a response, by the generator: (studies, terms)."""
        return true_active(self.tallies[response].values, self.column_key(response), first, studies)

    def _design(self) -> None:
        chosen_numbers = sampled(_SAMPLED, self.studies)
        seed = self.manifest.seed
        terms = 0
        determinants = 0.0
        with self.context.steps.step("design") as step:
            studies = ((seed, study, row) for study, row in enumerate(self._effect_rows()))
            for study, (candidates, design, value) in enumerate(
                side_by_side(self.context, _designed, studies)
            ):
                count = candidates.terms.shape[1]
                terms += count
                determinants += value / count
                if study in chosen_numbers:
                    self.samples.append(SampledDesign(study, candidates, design, value))
                step.rows_read = study + 1
        check_equal("the number of studies with next runs", step.rows_read, self.studies)
        self.answer |= {
            "terms_designed_for": terms,
            "mean_log_information": determinants / self.studies - float(np.log(_NEXT_RUNS)),
        }

    def _residuals(self) -> None:
        outlying = 0
        rows = self._effect_rows()
        with self.context.steps.step("residuals") as step:
            for block in self._passed("study", "cell", *_RESPONSES):
                numbers = block["study"][::STUDY_ROWS]
                found = np.array(list(itertools.islice(rows, len(numbers))))
                check_equal("the studies of effects", found[:, 0].tolist(), numbers.tolist())
                cells = block["cell"].astype(np.intp).reshape(-1, STUDY_ROWS)
                for place, name in enumerate(_RESPONSES):
                    results = found[:, 1 + place * RESULTS :][:, :RESULTS]
                    expected = results[:, 3:] @ DESIGN.T
                    left = block[name].reshape(cells.shape) - np.take_along_axis(expected, cells, axis=1)
                    self.residual_squares[place] += float(np.square(left).sum())
                    outlying += int((np.abs(left) > _OUTLYING * np.sqrt(results[:, :1])).sum())
                self.residuals += cells.size
            check_equal("the number of studies whose effects are left over", sum(1 for _ in rows), 0)
            step.rows_read = self.residuals + self.studies
        self.answer["outlying_runs"] = outlying

    def _passed(self, *names: str) -> Iterator[dict[str, Numbers]]:
        """A pass over the prepared table: columns of whole studies at a time."""
        return blocks(self.prepared.batches(), list(names), itertools.repeat(_BLOCK_STUDIES * STUDY_ROWS))

    def _effect_rows(self) -> Iterator[Numbers]:
        for batch in self.effects.batches():
            yield from as_rows(batch)

    def _check(self) -> None:
        check_equal("the number of residuals", self.residuals, self.rows)
        for place, (name, tally) in enumerate(self.tallies.items()):
            tally.check(self.studies)
            left = self.residuals - PARAMETERS * self.studies
            check_variance(f"the residuals of {name}", self.residual_squares[place] / left, left)
        efficiencies = [check_design(sample, _NEXT_RUNS) for sample in self.samples]
        self.answer["least_efficiency_ratio"] = min(efficiencies)


def _analyse_studies(cell: Numbers, response: Numbers) -> list[Analysis]:
    studies = len(cell) // STUDY_ROWS
    places = cell.astype(np.intp) + np.repeat(np.arange(studies) * CELLS, STUDY_ROWS)
    counts = np.bincount(places, minlength=studies * CELLS).astype(np.float64).reshape(studies, CELLS)
    # Whole numbers: sums are exact in any order.
    sums = np.bincount(places, response, studies * CELLS).reshape(studies, CELLS)
    squares = np.square(response).reshape(studies, STUDY_ROWS).sum(axis=1)
    return [analyse(counts[study], sums[study], float(squares[study])) for study in range(studies)]


def _results(analysis: Analysis) -> list[float]:
    """Of one response what is kept: error variance, found terms and differences as bits, parameters."""
    bits = [
        float(1 << np.arange(flags.size) @ flags.ravel()) for flags in (analysis.found, analysis.differing)
    ]
    return [analysis.variance, *bits, *analysis.parameters.tolist()]


def _analysed(block: dict[str, Numbers]) -> tuple[list[list[float]], list[list[Analysis]]]:
    rows: list[list[float]] = block["study"][::STUDY_ROWS, None].tolist()
    return rows, [_analyse_studies(block["cell"], block[name]) for name in _RESPONSES]


def _designed(numbered: tuple[int, int, Numbers]) -> tuple[Candidates, NDArray[np.intp], float]:
    seed, study, row = numbered
    check_equal("the study of effects", int(row[0]), study)
    candidates = _candidates(row)
    return candidates, *candidates.search(_NEXT_RUNS, _STARTS, np.random.default_rng([seed, study]))


def _candidates(row: Numbers) -> Candidates:
    """The runs that may come next and the model they are for, from the effects of a study.

    The model has the squares of factors and the products of pairs that any response shows; cells whose
    first response is expected among the lowest quarter are not run again.
    """
    results = row[1:].reshape(len(_RESPONSES), RESULTS)
    found = np.bitwise_or.reduce(results[:, 1].astype(np.int64))
    has = (found >> np.arange(TERMS) & 1).astype(np.bool_)
    expected = DESIGN @ results[0, 3:]
    allowed = np.sort(np.argsort(-expected, kind="stable")[:_ALLOWED])
    levels = _CODED[allowed]
    return Candidates(levels, model_terms(levels, has[: len(FACTORS)], has[len(FACTORS) :]))


def _derive(block: dict[str, Numbers]) -> tuple[Numbers, ...]:
    """Cell, coded levels, cost of the run in cents, yield an hour, and a mark of quality."""
    cell = np.zeros(len(block["run"]))
    for factor in FACTORS:
        cell = cell * LEVELS + (block[factor.name] - 1.0)
    coded = [block[factor.name] - 2.0 for factor in FACTORS]
    cents = block["material_cents"] + block["energy_watt_hours"] * 0.25
    an_hour = block["yield"] * 60.0 / block["minutes"]
    return cell, *coded, cents, an_hour, block["strength"] + block["purity"]
