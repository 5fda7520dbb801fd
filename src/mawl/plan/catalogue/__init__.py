"""The catalogue: what each program declares, one file each; ``CATALOGUE`` finds them by name, by class.

Data only: no engine is imported here, so that plans, reports and simulations work without them.
"""

from __future__ import annotations

from mawl.plan.catalogue import (
    census_load,
    census_load_single,
    census_query,
    customer_profile,
    dimension_load,
    factorial_design,
    forecasting,
    gee_repeated,
    ledger_update,
    mixed_model,
    pension_cube,
    portfolio_optimization,
    random_access,
    segmentation,
    stepwise_selection,
    stress_projection,
    survey_logistic,
    text_topics,
    tree_ensemble,
    wide_sort,
)
from mawl.plan.programs import Program

CATALOGUE: dict[str, Program] = {
    module.PROGRAM.name: module.PROGRAM
    for module in (
        census_load,
        census_load_single,
        census_query,
        wide_sort,
        dimension_load,
        random_access,
        customer_profile,
        ledger_update,
        stress_projection,
        pension_cube,
        stepwise_selection,
        gee_repeated,
        mixed_model,
        survey_logistic,
        factorial_design,
        tree_ensemble,
        segmentation,
        forecasting,
        text_topics,
        portfolio_optimization,
    )
}
