"""``--shuffle-files SEED``: the files of the tests in a random order, the same for the same seed.

A test that passes only after another one shows itself.  Tests within a file keep their order.
"""

from __future__ import annotations

import random

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option."""
    parser.addoption("--shuffle-files", metavar="SEED", type=int, help="run the files in a random order")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Order the files by a drawn number each."""
    seed = config.getoption("--shuffle-files")
    if seed is None:
        return
    chance = random.Random(seed)
    drawn = {path: chance.random() for path in sorted({item.path for item in items})}
    items.sort(key=lambda item: drawn[item.path])
