"""The basis of stress_projection: shocks, mortality, lapses, expenses, interest.

Invented for this benchmark: Gompertz mortality with select years, lapses that fall with duration,
and shocks in the manner of a solvency standard formula (each multiplies or shifts one assumption).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mawl.programs.stress_projection.declare import MONTHS, SHOCKS

Numbers = NDArray[np.float64]

YOUNGEST = 18
AGE_MONTHS = (80 - YOUNGEST) * 12 + MONTHS
DURATION_MONTHS = 240 + MONTHS
LIVES = 4
"""Mortality tables: sex plus twice smoker."""
PRODUCTS = 9

_BASE = {"mortality": 1.0, "lapse": 1.0, "mass_lapse": 0.0, "expense": 1.0, "interest": 0.0}
_SHOCKED: tuple[dict[str, float], ...] = (
    {"mortality": 1.15},
    {"mortality": 0.80},
    {"mortality": 1.30},
    {"mortality": 1.02, "lapse": 1.10},
    {"lapse": 1.50},
    {"lapse": 0.50},
    {"lapse": 2.00},
    {"mass_lapse": 0.40},
    {"mass_lapse": 0.20},
    {"expense": 1.10},
    {"expense": 1.25},
    {"interest": 0.01},
    {"interest": -0.01},
    {"interest": 0.02},
    {"interest": -0.015},
    {"interest": -0.01, "lapse": 0.50},
    {"interest": 0.01, "lapse": 1.50},
    {"mortality": 1.15, "expense": 1.10},
    {"mortality": 0.80, "interest": -0.01},
    {"mortality": 1.15, "lapse": 1.50, "mass_lapse": 0.20, "expense": 1.10, "interest": -0.01},
)

FACTORS: dict[str, Numbers] = {
    name: np.array([{**_BASE, **shock}[name] for shock in ({}, *_SHOCKED)]) for name in _BASE
}
"""Each assumption's factor (or, for interest and mass lapse, its value) by shock; shock 0 is the base."""

INTEREST = 0.03
EXPENSE_CENTS_PER_MONTH = 350.0
SURRENDER_SHARE = 0.5
MORTALITY_STEP = 0.05
LAPSE_STEP = 0.10
EXPENSE_STEP = 0.25


def mortality(life: int, age_months: int) -> float:
    """Probability of death within a month at an age counted in months from YOUNGEST."""
    yearly = 0.0004 + 0.00003 * 1.1 ** (age_months / 12.0)
    return float(min(yearly * (1.0 + 0.3 * (life % 2) + 0.8 * (life // 2)) / 12.0, 1.0))


def lapse(product: int, duration_months: int) -> float:
    """Probability of surrender within a month after a duration in months."""
    return 0.002 + 0.012 * 0.97**duration_months * (1.0 + 0.05 * product)


def mortality_table() -> Numbers:
    """:func:`mortality` as (LIVES, AGE_MONTHS)."""
    return np.array([[mortality(life, month) for month in range(AGE_MONTHS)] for life in range(LIVES)])


def lapse_table() -> Numbers:
    """:func:`lapse` as (PRODUCTS, DURATION_MONTHS)."""
    return np.array(
        [[lapse(product, month) for month in range(DURATION_MONTHS)] for product in range(PRODUCTS)]
    )


def discount(shock: int, month: int) -> float:
    """Present value of 1 paid at the end of a month, from 0."""
    return float((1.0 + INTEREST + FACTORS["interest"][shock]) ** (-(month + 1) / 12.0))


def discount_table() -> Numbers:
    """:func:`discount` as (SHOCKS, MONTHS)."""
    return np.array([[discount(shock, month) for month in range(MONTHS)] for shock in range(SHOCKS)])


def present_value(policy: dict[str, float], shock: int) -> float:
    """One policy's present value by plain recursion: the check on the vectorised projection."""
    life = int(policy["sex"] + 2 * policy["smoker"])
    factor = {name: float(values[shock]) for name, values in FACTORS.items()}
    death_factor = factor["mortality"] * (1.0 + MORTALITY_STEP * policy["mortality_class"])
    lapse_factor = factor["lapse"] * (1.0 + LAPSE_STEP * policy["lapse_class"])
    expense = EXPENSE_CENTS_PER_MONTH * factor["expense"] * (1.0 + EXPENSE_STEP * policy["expense_class"])
    premium = policy["paying"] * policy["annual_premium"] * 100.0 / 12.0
    remaining = policy["term_months"] - policy["duration_months"]
    in_force, value = 1.0 - factor["mass_lapse"], 0.0
    for month in range(min(MONTHS, max(int(remaining), 0))):
        duration = int(policy["duration_months"]) + month
        age = int(policy["age"] - YOUNGEST) * 12 + month
        death = min(mortality(life, age) * death_factor, 1.0)
        lapsed = min(lapse(int(policy["product"]), duration) * lapse_factor, 1.0)
        paid_out = death * policy["sum_assured"] * 100.0
        surrendered = lapsed * SURRENDER_SHARE * policy["annual_premium"] * 100.0 / 12.0 * duration
        value += discount(shock, month) * in_force * (premium - paid_out - surrendered - expense)
        in_force *= (1.0 - death) * (1.0 - lapsed)
    return value
