"""The models of one site: its terms, and what correlation parameters estimate by theory."""

from __future__ import annotations

import numpy as np
import pytest

from mawl.programs.declarations.gee_repeated import COEFFICIENTS, KEPT, OUTCOME, VISITS
from mawl.programs.gee_repeated import TERMS, design, true_correlations
from mawl.programs.toolkit.models import chances


def test_terms_are_a_one_and_the_conditions_of_the_rules() -> None:
    lowest = {rule.conditions[0].column.name: np.zeros(2) for rule in OUTCOME.rules}
    for rule in OUTCOME.rules:
        (condition,) = rule.conditions
        lowest[condition.column.name] = np.array([condition.at_least - 1, condition.at_least])
    found = design({"relapsed": np.zeros(2), **lowest})
    assert found.tolist() == [[1.0] + [0.0] * (TERMS - 1), [1.0] * TERMS]
    linear = [COEFFICIENTS[0], sum(COEFFICIENTS)]
    assert chances(found @ np.array(COEFFICIENTS)) == pytest.approx(1.0 / (1.0 + np.exp(-np.array(linear))))


def test_equal_chances_correlate_as_often_as_draws_are_kept() -> None:
    every, neighbours = true_correlations(np.full(3 * VISITS, 0.3))
    assert neighbours == pytest.approx(KEPT / 256)
    pairs = [(KEPT / 256) ** apart for apart in range(1, VISITS) for _ in range(VISITS - apart)]
    assert every == pytest.approx(np.mean(pairs))


def test_correlations_are_those_of_simulated_visits() -> None:
    generator = np.random.default_rng(5)
    true = np.tile(generator.uniform(0.05, 0.9, VISITS), 20_000)
    drawn = generator.random((20_000, VISITS))
    kept = generator.random((20_000, VISITS)) < KEPT / 256
    for place in range(1, VISITS):
        drawn[:, place] = np.where(kept[:, place], drawn[:, place - 1], drawn[:, place])
    by_patient = true.reshape(-1, VISITS)
    residuals = ((drawn < by_patient) - by_patient) / np.sqrt(by_patient * (1.0 - by_patient))
    products = residuals.T @ residuals / 20_000
    every, neighbours = true_correlations(true)
    assert np.diag(products, 1).mean() == pytest.approx(neighbours, abs=0.01)
    assert products[np.triu_indices(VISITS, 1)].mean() == pytest.approx(every, abs=0.01)
