"""Every program has at least ten wrong answers planted in it, each of its own kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from mawl.plan.catalogue import CATALOGUE
from tests.contract import test_planted_answers as answers
from tests.contract import test_planted_models as models
from tests.contract import test_planted_repeated as repeated
from tests.programs import (
    test_customer_profile,
    test_factorial_design,
    test_forecasting,
    test_ledger_update,
    test_pension_cube,
    test_portfolio_optimization,
    test_random_access,
    test_stepwise_selection,
    test_survey_logistic,
    test_text_topics,
    test_tree_ensemble,
)

PLANTED: dict[str, tuple[Any, Mapping[str, Any]]] = {
    "census_load": (answers.test_census_load_rejects, answers.CENSUS_LOAD),
    "census_load_single": (answers.test_census_load_rejects, answers.CENSUS_LOAD),
    "census_query": (answers.test_census_query_rejects, answers.CENSUS_QUERY),
    "dimension_load": (answers.test_dimension_load_rejects, answers.DIMENSION_LOAD),
    "wide_sort": (models.test_wide_sort_rejects, models.WIDE_SORT),
    "stress_projection": (models.test_stress_projection_rejects, models.STRESS_PROJECTION),
    "segmentation": (models.test_segmentation_rejects, models.SEGMENTATION),
    "gee_repeated": (repeated.test_gee_repeated_rejects, repeated.GEE),
    "mixed_model": (repeated.test_mixed_model_rejects, repeated.MIXED),
    **{
        module.__name__.rpartition("test_")[2]: (module.test_a_wrong_answer_is_rejected, module.FAULTS)
        for module in (
            test_customer_profile,
            test_factorial_design,
            test_forecasting,
            test_ledger_update,
            test_pension_cube,
            test_portfolio_optimization,
            test_random_access,
            test_stepwise_selection,
            test_survey_logistic,
            test_text_topics,
            test_tree_ensemble,
        )
    },
}
"""The test that plants the faults of each program, and these by name."""
FEWEST = 10


@pytest.mark.parametrize("program", sorted(CATALOGUE))
def test_ten_faults_are_planted_in_every_program(program: str) -> None:
    test, faults = PLANTED[program]
    assert len(faults) >= FEWEST
    planted = [mark.args for mark in test.pytestmark if mark.name == "parametrize"]
    assert ("fault", faults) in planted
