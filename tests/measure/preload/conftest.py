"""The library, compiled once for all tests in a cache of their own."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mawl.measure.preload.build import Library, find_compiler, library
from tests.fakes.counted import Counted


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Library:
    """The library, or a skip where there is no compiler."""
    if find_compiler(os.environ) is None:
        pytest.skip("no C compiler")
    cache = tmp_path_factory.mktemp("cache")
    found = library({**os.environ, "XDG_CACHE_HOME": str(cache)})
    assert found.reason is None, found.reason
    return found


@pytest.fixture
def counted(made: Library, tmp_path: Path) -> Counted:
    """Runs commands under the library."""
    return Counted(made, tmp_path)
