"""For all tests: none fails because the machine was busy for once; what they share is compiled once."""

from __future__ import annotations

import compileall
import os
from pathlib import Path

import pytest
from hypothesis import settings

import mawl
from mawl.measure.preload.build import Library, library
from tests.fakes.counted import Counted
from tests.fakes.warm import warm
from tests.needs import COMPILER

settings.register_profile("mawl", deadline=None)
settings.load_profile("mawl")

pytest_plugins = ["tests.honest", "tests.leftovers", "tests.shuffled"]


def pytest_configure(config: pytest.Config) -> None:
    """Compile the package: where Python may not keep bytecode, each of hundreds of commands would do it."""
    if not hasattr(config, "workerinput"):
        compileall.compile_dir(Path(mawl.__file__).parent, quiet=2)


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
