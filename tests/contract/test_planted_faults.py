"""Every program has at least ten wrong answers planted in it, each of its own kind, and rejects them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from mawl.plan.catalogue import CATALOGUE
from tests.contract.planted_answers import CENSUS_LOAD, CENSUS_QUERY, DIMENSION_LOAD
from tests.contract.planted_models import SEGMENTATION, STRESS_PROJECTION, WIDE_SORT
from tests.contract.planted_repeated import GEE, MIXED
from tests.contract.planted_run import run_with
from tests.programs import test_customer_profile as customer_profile
from tests.programs import test_factorial_design as factorial_design
from tests.programs import test_forecasting as forecasting
from tests.programs import test_ledger_update as ledger_update
from tests.programs import test_pension_cube as pension_cube
from tests.programs import test_portfolio_optimization as portfolio_optimization
from tests.programs import test_random_access as random_access
from tests.programs import test_stepwise_selection as stepwise_selection
from tests.programs import test_survey_logistic as survey_logistic
from tests.programs import test_text_topics as text_topics
from tests.programs import test_tree_ensemble as tree_ensemble
from tests.programs.planted import OPTIONS, RunJob, job_runner, rejected

MODULES: dict[str, Any] = {
    module.__name__.rpartition("test_")[2]: module
    for module in (
        customer_profile,
        factorial_design,
        forecasting,
        ledger_update,
        pension_cube,
        portfolio_optimization,
        random_access,
        stepwise_selection,
        survey_logistic,
        text_topics,
        tree_ensemble,
    )
}
"""Tests with the faults of a program, the scale of its jobs, and what makes them quick."""

PLANTED: dict[str, Mapping[str, Any]] = {
    "census_load": CENSUS_LOAD,
    "census_load_single": CENSUS_LOAD,
    "census_query": CENSUS_QUERY,
    "dimension_load": DIMENSION_LOAD,
    "wide_sort": WIDE_SORT,
    "stress_projection": STRESS_PROJECTION,
    "segmentation": SEGMENTATION,
    "gee_repeated": GEE,
    "mixed_model": MIXED,
    **{name: module.FAULTS for name, module in MODULES.items()},
}
FEWEST = 10


@pytest.fixture(scope="module")
def runner(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], RunJob]:
    """Runs jobs of a program of ``MODULES``, over inputs that are made once."""

    @functools.cache
    def made(program: str) -> RunJob:
        module = MODULES[program]
        options, tables = getattr(module, "OPTIONS", OPTIONS), getattr(module, "TABLES", None)
        return job_runner(program, module.SCALE, tmp_path_factory.mktemp(program), options, tables)

    return made


@pytest.mark.parametrize("program", sorted(CATALOGUE))
def test_ten_faults_are_planted_in_every_program(program: str) -> None:
    assert len(PLANTED[program]) >= FEWEST


@pytest.mark.parametrize("program", sorted(MODULES))
def test_the_right_answer_passes(
    program: str, runner: Callable[[str], RunJob], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = runner(program)
    getattr(MODULES[program], "quicken", lambda _: None)(monkeypatch)
    assert run().failed is None


@pytest.mark.parametrize(
    ("program", "fault"), [(program, fault) for program in sorted(PLANTED) for fault in PLANTED[program]]
)
def test_a_wrong_answer_is_rejected(
    program: str,
    fault: str,
    make_table: Callable[[str, float], Path],
    runner: Callable[[str], RunJob],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    planted, said = PLANTED[program][fault], ""
    if program in MODULES:
        run, said = runner(program), planted.said
        getattr(MODULES[program], "quicken", lambda _: None)(monkeypatch)
        planted.plant(monkeypatch)
        job = run()
    else:
        job = run_with(program, make_table, tmp_path, planted, monkeypatch)
    assert said in rejected(job)
    assert job.answer is None
    assert not Path(job.assignment.results).exists()
