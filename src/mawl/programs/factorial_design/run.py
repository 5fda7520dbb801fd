"""Analyse factorial experiments study by study, compare levels, and design each study's next runs."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from mawl.programs.context import JobContext, check_equal
from mawl.programs.datagen.responses import true_active
from mawl.programs.factorial_design.analysis import (
    CELL_LEVELS,
    CELLS,
    DESIGN,
    LEVELS,
    TERMS,
    Analysis,
    Candidates,
    analyse,
    model_terms,
)
from mawl.programs.factorial_design.checks import EffectTally, SampledDesign, check_design, check_variance
from mawl.programs.factorial_design.declare import (
    DERIVED,
    FACTORS,
    NUMERICS,
    PARAMETERS,
    RESPONSES,
    RESULTS,
    STUDY_ROWS,
    TABLE,
)
from mawl.programs.tables import arrow
from mawl.programs.toolkit.groups import PreparedTable, WorkTable, as_batch, as_rows, blocks
from mawl.programs.toolkit.worker_processes import side_by_side
from mawl.records.model.records import Answer

Numbers = NDArray[np.float64]

_NAMES = tuple(column.name for column in NUMERICS)
_RESPONSES = tuple(column.name for column in RESPONSES)
_SCHEMA = pa.schema([(name, pa.float64()) for name in ("run", *_NAMES, *DERIVED)])
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


class _FactorialDesign:
    def __init__(self, context: JobContext) -> None:
        self.context = context
        self.prepared = PreparedTable(context, TABLE.name, _SCHEMA)
        self.effects = WorkTable(context, "effects", _EFFECTS)
        self.studies = self.prepared.rows // STUDY_ROWS
        self.tallies = {column.name: EffectTally(column) for column in RESPONSES}
        self.samples: list[SampledDesign] = []
        self.residual_squares = np.zeros(len(RESPONSES))
        self.residuals = 0
        self.answer: Answer = {"runs": self.prepared.rows, "studies": self.studies}

    def run(self) -> Answer:
        self._prepare()
        self._analyse()
        self._design()
        self._residuals()
        self._verify()
        return self.answer

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
        manifest = self.prepared.input.manifest
        values = self.tallies[response].values
        return true_active(
            values,
            table=TABLE.name,
            column=response,
            seed=manifest.seed,
            replica=manifest.replica,
            first=first,
            studies=studies,
        )

    def _design(self) -> None:
        sampled = set(np.linspace(0, self.studies - 1, _SAMPLED).astype(int).tolist())
        seed = self.prepared.input.manifest.seed
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
                if study in sampled:
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

    def _verify(self) -> None:
        with self.context.steps.step("verify", "verify"):
            self.prepared.check_input("the runs")
            check_equal("the number of residuals", self.residuals, self.prepared.rows)
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
