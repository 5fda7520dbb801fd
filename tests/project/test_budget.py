"""The tree grows only in a commit that raises ``budget.toml`` and says what was bought."""

from __future__ import annotations

import pytest

from tools.budget import budget, measured, small_with_one_importer


@pytest.mark.parametrize("name", measured())
def test_the_tree_stays_within_its_budget(name: str) -> None:
    found, most = measured()[name], budget()[name]
    assert found <= most, (
        f"{name} grew to {found}: make it smaller, or raise the budget and say what was bought"
    )


def test_no_small_file_has_one_importer() -> None:
    assert small_with_one_importer() == []
