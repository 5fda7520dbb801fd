"""For all tests: none fails because the machine was busy for once; what they share is made once."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

from mawl.measure.preload.build import Library, library
from tests.fakes.command_line import Verbs
from tests.fakes.counted import Counted
from tests.fakes.warm import warm
from tests.needs import COMPILER

settings.register_profile("mawl", deadline=None)
settings.load_profile("mawl")

pytest_plugins = [
    "tests.compiled",
    "tests.honest",
    "tests.leftovers",
    "tests.shuffled",
    "tests.tiers",
]


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish() -> None:
    """End the warm process before it is looked what the tests left."""
    if warm.cache_info().currsize:
        warm().close()


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Library:
    """The library in a cache of its own."""
    COMPILER.require()
    found = library({**os.environ, "XDG_CACHE_HOME": str(tmp_path_factory.mktemp("cache"))})
    assert found.reason is None, found.reason
    return found


@pytest.fixture
def counted(made: Library, tmp_path: Path) -> Counted:
    """Runs commands under the library."""
    return Counted(made, tmp_path)


@pytest.fixture
def verbs(capsys: pytest.CaptureFixture[str]) -> Verbs:
    return Verbs(capsys)
