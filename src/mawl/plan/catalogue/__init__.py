"""The catalogue: what each program declares, one file each; ``CATALOGUE`` finds them by name, by class.

Data only: no engine is imported here, so that plans, reports and simulations work without them.
"""

from __future__ import annotations

from importlib import import_module

from mawl.plan.programs import Program

NAMES = (
    "census_load",
    "census_load_single",
    "census_query",
    "wide_sort",
    "dimension_load",
    "random_access",
    "customer_profile",
    "ledger_update",
    "stress_projection",
    "pension_cube",
    "stepwise_selection",
    "gee_repeated",
    "mixed_model",
    "survey_logistic",
    "factorial_design",
    "tree_ensemble",
    "segmentation",
    "forecasting",
    "text_topics",
    "portfolio_optimization",
)
"""Every program, in the order of reports; a module of this package has its name."""

CATALOGUE: dict[str, Program] = {name: import_module(f"{__name__}.{name}").PROGRAM for name in NAMES}
