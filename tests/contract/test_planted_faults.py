"""Every program has at least ten wrong answers planted in it, each of its own kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from mawl.plan.catalogue import CATALOGUE
from tests.contract import test_planted_answers as answers
from tests.contract import test_planted_models as models
from tests.contract import test_planted_repeated as repeated
from tests.programs.customer_profile import test_run as customer_profile
from tests.programs.factorial_design import test_run as factorial_design
from tests.programs.forecasting import test_run as forecasting
from tests.programs.ledger_update import test_run as ledger_update
from tests.programs.pension_cube import test_run as pension_cube
from tests.programs.portfolio_optimization import test_run as portfolio_optimization
from tests.programs.random_access import test_run as random_access
from tests.programs.stepwise_selection import test_run as stepwise_selection
from tests.programs.survey_logistic import test_run as survey_logistic
from tests.programs.text_topics import test_run as text_topics
from tests.programs.tree_ensemble import test_run as tree_ensemble

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
        module.__name__.split(".")[-2]: (module.test_a_wrong_answer_is_rejected, module.FAULTS)
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
