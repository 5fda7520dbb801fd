"""Every program has at least ten wrong answers planted in it, each of its own kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from mawl.plan.catalogue import CATALOGUE
from tests.contract import test_planted_answers as answers
from tests.contract import test_planted_models as models
from tests.contract import test_planted_repeated as repeated
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
