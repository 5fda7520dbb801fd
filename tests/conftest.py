"""For all tests: none fails because the machine was busy for once; the counting library, compiled once."""

from __future__ import annotations

import os
import time
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import settings

from mawl.measure.preload.build import Library, find_compiler, library
from tests.fakes.counted import Counted

settings.register_profile("mawl", deadline=None)
settings.load_profile("mawl")

MEASURED_RERUNS = 2
LAST_SECONDS = 450.0
"""A campaign's own time limit and its wait for an idle machine: later than so before MAWL_TEST_ENDS_AT
(time(2)) none begins."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Try tests marked ``measured`` again, each attempt printed; put campaigns last."""
    for item in items:
        if mark := item.get_closest_marker("measured"):
            reruns = mark.kwargs.get("reruns", MEASURED_RERUNS)
            item.add_marker(pytest.mark.flaky(reruns=reruns, reruns_delay=5))
    items.sort(key=lambda item: item.get_closest_marker("campaign") is not None)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """A gate with a time limit ends with the figures of what it did, instead of being killed in a test."""
    left = float(os.environ.get("MAWL_TEST_ENDS_AT", "inf")) - time.time()
    if left < LAST_SECONDS and item.get_closest_marker("lab"):
        pytest.skip(f"lab: {max(left, 0.0):.0f} s are left of this run, fewer than {LAST_SECONDS:.0f}")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A test that failed, was tried again and then skips has failed."""
    report = yield
    if report.skipped and getattr(item, "execution_count", 1) > 1:
        report.outcome, report.longrepr = "failed", f"failed before; tried again: {report.longrepr}"
    return report


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Library:
    """The library in a cache of its own, or a skip where there is no compiler."""
    if find_compiler(os.environ) is None:
        pytest.skip("no C compiler")
    found = library({**os.environ, "XDG_CACHE_HOME": str(tmp_path_factory.mktemp("cache"))})
    assert found.reason is None, found.reason
    return found


@pytest.fixture
def counted(made: Library, tmp_path: Path) -> Counted:
    """Runs commands under the library."""
    return Counted(made, tmp_path)
