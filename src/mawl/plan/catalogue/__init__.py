"""The catalogue: what each program declares, one file each; ``CATALOGUE`` finds them by name.

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
    ledger_update,
    pension_cube,
    portfolio_optimization,
    random_access,
    segmentation,
    stress_projection,
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
        tree_ensemble,
        segmentation,
        text_topics,
        portfolio_optimization,
        forecasting,
        factorial_design,
    )
}
