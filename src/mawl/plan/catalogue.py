"""The catalogue: every program's declaration by name, by class, and the input tables that they read.

Data only: a declaration lies in the folder of its program and imports no engine, so that plans, reports and
simulations work without them.
"""

from __future__ import annotations

from importlib import import_module

from mawl.plan.programs import Program
from mawl.plan.tables import InputTable

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
"""Every program, in the order of reports; ``programs/NAME/declare.py`` has its declaration."""

CATALOGUE: dict[str, Program] = {
    name: import_module(f"mawl.programs.{name}.declare").PROGRAM for name in NAMES
}
INPUTS: dict[str, InputTable] = {
    table.name: table for program in CATALOGUE.values() for table in program.inputs
}
