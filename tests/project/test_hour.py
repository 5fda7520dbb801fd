"""Limits of time: of a run of the tests, of one test, and of the wait for a quiet machine."""

from __future__ import annotations

import re
import signal
import time
from collections.abc import Callable, Generator
from contextlib import closing
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tests import honest


class Marked:
    """A test with these marks."""

    def __init__(self, *marks: str) -> None:
        self.marks = marks
        self.given = dict[str, pytest.MarkDecorator]()

    def get_closest_marker(self, name: str) -> pytest.Mark | None:
        return pytest.Mark(name, (), {}, _ispytest=True) if name in self.marks else None

    def iter_markers(self, name: str) -> list[pytest.Mark]:
        return []

    def add_marker(self, mark: pytest.MarkDecorator) -> None:
        self.marks = (*self.marks, mark.name)
        self.given[mark.name] = mark


def item(*marks: str) -> pytest.Item:
    return cast(pytest.Item, Marked(*marks))


def test_measured_tests_come_last_and_are_tried_again() -> None:
    measured, plain = item("lab", "measured"), item("lab")
    items = [measured, plain]
    honest.pytest_collection_modifyitems(items)
    assert items == [plain, measured]
    for mark in ("flaky", "alone"):
        assert [one.get_closest_marker(mark) is not None for one in items] == [False, True]
    again = cast(Any, measured).given["flaky"].kwargs["rerun_except"]
    for reason in (f"did not begin: {honest.OUT_OF_TIME}", f"{honest.STOPPED}it took 300 s"):
        assert re.search(again, reason), "there is no time to try it again"


@pytest.mark.parametrize(("seconds", "begins"), [(-1.0, False), (60.0, True)])
def test_a_test_for_which_no_time_is_left_fails(
    seconds: float, begins: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(honest.ENDS_AT, str(time.time() + honest.TIDY_SECONDS + seconds))
    setup = honest.pytest_runtest_setup(item("lab"))
    if begins:
        next(setup)
        setup.close()
    else:
        with pytest.raises(pytest.fail.Exception, match="did not begin: the time of the whole run was over"):
            next(setup)


@pytest.mark.parametrize("phase", [honest.pytest_runtest_setup, honest.pytest_runtest_call])
@pytest.mark.parametrize(
    ("left_seconds", "hundredths", "why"),
    [
        (0.2, "100", "stopped: the time of the whole run was over"),
        (60.0, "200", "stopped: it took 0.2 s, the most that a test may take"),
    ],
)
def test_a_test_that_hangs_or_lasts_until_the_end_is_stopped_alone(
    phase: Callable[[pytest.Item], Generator[None]],
    left_seconds: float,
    hundredths: str,
    why: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(honest.ENDS_AT, str(time.time() + honest.TIDY_SECONDS + left_seconds))
    monkeypatch.setenv(honest.SLOWNESS, hundredths)
    monkeypatch.setattr(honest, "TEST_SECONDS", 0.1 if left_seconds > 1 else 60.0)
    handler = signal.getsignal(signal.SIGALRM)
    running = phase(item())
    next(running)
    with pytest.raises(honest.StoppedError, match=why) as stopped:
        time.sleep(60)
    with pytest.raises(honest.StoppedError):
        running.throw(stopped.value)
    assert signal.getsignal(signal.SIGALRM) == handler
    assert signal.getitimer(signal.ITIMER_REAL)[1] == honest.AGAIN_SECONDS, "the limit of this test itself"


def test_a_long_test_without_an_end_is_not_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(honest.ENDS_AT, raising=False)
    monkeypatch.setattr(honest, "minutes", lambda _: 1.0)
    handler = signal.getsignal(signal.SIGALRM)
    with closing(honest.pytest_runtest_call(item())) as running:
        next(running)
        assert signal.getsignal(signal.SIGALRM) == handler


def test_a_measured_test_waits_for_a_quiet_machine_and_all_of_them_a_bounded_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = list[float]()

    def busy(most_seconds: float) -> float:
        asked.append(most_seconds)
        return most_seconds

    monkeypatch.setattr(honest, "quiet_machine", busy)
    said = list[str]()
    monkeypatch.setattr(honest, "_say", lambda _, line: said.append(line))
    stash = pytest.Stash()
    for _ in range(8):
        measured = cast(Any, item("measured"))
        measured.session, measured.config, measured.nodeid = SimpleNamespace(stash=stash), None, "one"
        with closing(honest.pytest_runtest_setup(measured)) as setup:
            next(setup)
    assert asked == [30.0] * 6 + [0.0] * 2 and sum(asked) == honest.QUIET_SECONDS
    assert said == ["one: waited 30 s for a quiet machine"] * 6
    with closing(honest.pytest_runtest_setup(item("lab"))) as setup:
        next(setup)
    assert len(asked) == 8, "others do not wait"
