"""The catalogue: what each program declares, one file each; ``CATALOGUE`` finds them by name.

Data only: no engine is imported here, so that plans, reports and simulations work without them.
"""

from __future__ import annotations

from mawl.plan.catalogue import (
    census_load,
    customer_profile,
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
        wide_sort,
        customer_profile,
        random_access,
        ledger_update,
        stress_projection,
        segmentation,
        pension_cube,
        tree_ensemble,
        portfolio_optimization,
        text_topics,
    )
}
