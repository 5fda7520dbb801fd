"""For all tests: none fails because the machine was busy for once; what they share is compiled once."""

from __future__ import annotations

import compileall
import os
import signal
import time
from collections.abc import Generator
from pathlib import Path
from types import FrameType

import pytest
from hypothesis import settings

import mawl
from mawl.measure.preload.build import Library, find_compiler, library
from tests.fakes.counted import Counted

settings.register_profile("mawl", deadline=None)
settings.load_profile("mawl")

MEASURED_RERUNS = 2
LAST_SECONDS = 450.0
"""A campaign's own time limit and its wait for an idle machine: later than so before MAWL_TEST_ENDS_AT
(time(2)) no lab test begins."""
TIDY_SECONDS = 60.0
"""So long before MAWL_TEST_ENDS_AT a lab test is stopped that lasts until then: beds are taken down, and
the figures written, before the whole run would be killed."""


def pytest_configure(config: pytest.Config) -> None:
    """Compile the package: where Python may not keep bytecode, each of hundreds of commands would do it."""
    if not hasattr(config, "workerinput"):
        compileall.compile_dir(Path(mawl.__file__).parent, quiet=2)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Try tests marked ``measured`` again, each attempt printed; put them last, campaigns after them."""
    for item in items:
        if mark := item.get_closest_marker("measured"):
            reruns = mark.kwargs.get("reruns", MEASURED_RERUNS)
            item.add_marker(pytest.mark.flaky(reruns=reruns, reruns_delay=5))
    items.sort(key=_turn)


def _turn(item: pytest.Item) -> int:
    """A run that is cut short has the tests that are cheap and sure."""
    for turn, mark in ((2, "campaign"), (1, "measured")):
        if item.get_closest_marker(mark) is not None:
            return turn
    return 0


def _left_seconds() -> float:
    return float(os.environ.get("MAWL_TEST_ENDS_AT", "inf")) - time.time()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """A gate with a time limit ends with the figures of what it did, instead of being killed in a test."""
    left = _left_seconds()
    if left < LAST_SECONDS and item.get_closest_marker("lab"):
        pytest.skip(f"lab: {max(left, 0.0):.0f} s are left of this run, fewer than {LAST_SECONDS:.0f}")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None]:
    """Stop a lab test that would outlast the run's time."""
    left = _left_seconds() - TIDY_SECONDS
    if item.get_closest_marker("lab") is None or left == float("inf"):
        return (yield)
    before = signal.signal(signal.SIGALRM, _out_of_time)
    signal.setitimer(signal.ITIMER_REAL, max(left, 0.001))
    try:
        return (yield)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def _out_of_time(_: int, __: FrameType | None) -> None:
    pytest.fail("stopped, because the time of the whole run was over")


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
