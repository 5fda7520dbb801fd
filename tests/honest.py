"""What a tier promises is done or fails: no skip but for a need, no test left out for want of time.

Loaded by ``tests/conftest.py`` for every run of the tests.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Generator
from types import FrameType

import pytest
from _pytest.outcomes import OutcomeException

from tests import needs
from tests.lab.quiet import MOST_SECONDS, quiet_machine

MEASURED_RERUNS = 2
QUIET_SECONDS = 180.0
"""The most that the measured tests of a run together wait for a quiet machine; long tests do not count."""
_WAITED = pytest.StashKey[float]()
TEST_SECONDS = 300.0
"""The most that each phase of a test may take on a quiet machine: one that hangs fails, and others go on."""
TEARDOWN_SECONDS = 30.0
"""What a teardown may take at least, though the time of the whole run is over."""
AGAIN_SECONDS = 60.0
"""Seconds after which a test is stopped again: something may have swallowed the first stop."""
SLOWNESS = "MAWL_TEST_SLOWNESS"
"""How long this machine takes, in hundredths of a quiet one: ``.ci/run`` measures it (tools/slowness.py)."""
ENDS_AT = "MAWL_TEST_ENDS_AT"
"""When a run of the tests must end (time(2)): ``.ci/run`` sets it, whose own time is bounded."""
TIDY_SECONDS = 60.0
"""Seconds before that moment at which a test is stopped and no other begins: beds are taken down, and the
results written, before the whole run would be killed."""
OUT_OF_TIME = "the time of the whole run was over"
STOPPED = "stopped: "
NO_NEED = "a skip that names no need of the machine is a failure (tests/needs.py is the one place to skip)"


class StoppedError(OutcomeException):
    """A test took too long.  Hypothesis tries failed examples again; it does not catch this class."""


def pytest_configure(config: pytest.Config) -> None:
    """Make the mark of needs known; let an interrupt end the tests' commands.

    A shell starts its background jobs with interrupts ignored, and so would be what they start.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    config.addinivalue_line("markers", f"{needs.MARK}(...): what a machine must have, see tests/needs.py")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests marked ``measured`` run alone and last, and are tried again, each attempt printed; long tests
    that do not announce their time are refused."""
    for item in items:
        if item.get_closest_marker("long") is not None and minutes(item) <= 0:
            raise pytest.UsageError(f"{item.nodeid}: mark it long(minutes=N) with the time that it takes")
        if mark := item.get_closest_marker("measured"):
            reruns = mark.kwargs.get("reruns", MEASURED_RERUNS)
            again = {"reruns": reruns, "reruns_delay": 5, "rerun_except": f"{STOPPED}|{OUT_OF_TIME}"}
            item.add_marker(pytest.mark.flaky(**again))
            item.add_marker(pytest.mark.alone)
    items.sort(key=lambda item: item.get_closest_marker("measured") is not None)


def minutes(item: pytest.Item) -> float:
    """The time that a long test announces; 0 where it announces none."""
    mark = item.get_closest_marker("long")
    return float(mark.kwargs.get("minutes", 0)) if mark is not None else 0.0


def pytest_runtestloop(session: pytest.Session) -> None:
    """Say how long the long tests of this run take."""
    long = [item for item in session.items if minutes(item)]
    if long and not session.config.option.collectonly:
        total = sum(minutes(item) for item in long)
        _say(session.config, f"{len(long)} long tests announce {total:.0f} minutes")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> None:
    """Announce a long test when it starts."""
    if minutes(item):
        began = time.strftime("%H:%M:%S")
        _say(item.config, f"{began} {item.nodeid}: takes about {minutes(item):g} minutes")


def _say(config: pytest.Config, line: str) -> None:
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None:
        reporter.ensure_newline()
        reporter.write_line(line)


def _left_seconds() -> float:
    return float(os.environ.get(ENDS_AT, "inf")) - TIDY_SECONDS - time.time()


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None]:
    """A test that cannot begin in time fails; one whose needs are lacking skips; a measured one waits."""
    if _left_seconds() <= 0.0:
        pytest.fail(f"did not begin: {OUT_OF_TIME}", pytrace=False)
    for mark in item.iter_markers(needs.MARK):
        for need in mark.args:
            need.require()
    if item.get_closest_marker("measured") is not None:
        _wait_for_quiet(item)
    return (yield from _within_its_time(item))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None]:
    """Stop a test that hangs, or would outlast the run's time."""
    return (yield from _within_its_time(item))


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None]:
    """Stop what hangs as it tidies up."""
    return (yield from _within_its_time(item, TEARDOWN_SECONDS))


def _wait_for_quiet(item: pytest.Item) -> None:
    stash, most = item.session.stash, min(MOST_SECONDS, _left_seconds())
    if not minutes(item):
        most = min(most, QUIET_SECONDS - stash.get(_WAITED, 0.0))
    waited = quiet_machine(most)
    if waited:
        if not minutes(item):
            stash[_WAITED] = stash.get(_WAITED, 0.0) + waited
        _say(item.config, f"{item.nodeid}: waited {waited:.0f} s for a quiet machine")


def _within_its_time(item: pytest.Item, least_seconds: float = 0.001) -> Generator[None]:
    own = float("inf") if minutes(item) else TEST_SECONDS * float(os.environ.get(SLOWNESS, "100")) / 100
    left = max(_left_seconds(), least_seconds)
    if min(own, left) == float("inf"):
        return (yield)
    why = f"it took {own:g} s, the most that a test may take" if own < left else OUT_OF_TIME

    def stop(_: int, __: FrameType | None) -> None:
        raise StoppedError(f"{STOPPED}{why}")

    before = signal.signal(signal.SIGALRM, stop)
    timer = signal.setitimer(signal.ITIMER_REAL, min(own, left), AGAIN_SECONDS)
    try:
        return (yield)
    finally:
        signal.setitimer(signal.ITIMER_REAL, *timer)
        signal.signal(signal.SIGALRM, before)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A skip without a need has failed, and so has a test that failed, was tried again and then skips."""
    report = yield
    if not report.skipped or hasattr(report, "wasxfail"):
        return report
    if call.excinfo is None or not isinstance(call.excinfo.value, needs.LackingNeedError):
        report.outcome, report.longrepr = "failed", f"{NO_NEED}: {report.longrepr}"
    elif getattr(item, "execution_count", 1) > 1:
        report.outcome, report.longrepr = "failed", f"failed before; tried again: {report.longrepr}"
    elif isinstance(report.longrepr, tuple):
        # As of every skip: its reason without the name of a class.
        report.longrepr = (*report.longrepr[:2], f"Skipped: {call.excinfo.value.msg}")
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """A file that skips itself as a whole has failed."""
    report = yield
    if report.outcome == "skipped":
        report.outcome, report.longrepr = "failed", f"{NO_NEED}: {report.longrepr}"
    return report
