"""A run with an end (MAWL_TEST_ENDS_AT): what comes first, what never begins, and what is stopped."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Generator
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tests import honest


class Marked:
    """A test with these marks."""

    def __init__(self, *marks: str) -> None:
        self.marks = marks

    def get_closest_marker(self, name: str) -> pytest.Mark | None:
        return pytest.Mark(name, (), {}, _ispytest=True) if name in self.marks else None

    def iter_markers(self, name: str) -> list[pytest.Mark]:
        return []

    def add_marker(self, mark: pytest.MarkDecorator) -> None:
        self.marks = (*self.marks, mark.name)


def item(*marks: str) -> pytest.Item:
    return cast(pytest.Item, Marked(*marks))


def test_measured_tests_come_last_and_are_tried_again() -> None:
    measured, plain = item("lab", "measured"), item("lab")
    items = [measured, plain]
    honest.pytest_collection_modifyitems(items)
    assert items == [plain, measured]
    assert [one.get_closest_marker("flaky") is not None for one in items] == [False, True]


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
    with pytest.raises(pytest.fail.Exception, match=why) as stopped:
        time.sleep(60)
    with pytest.raises(pytest.fail.Exception):
        running.throw(stopped.value)
    assert signal.getsignal(signal.SIGALRM) == handler
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_a_long_test_without_an_end_is_not_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(honest.ENDS_AT, raising=False)
    monkeypatch.setattr(honest, "minutes", lambda _: 1.0)
    before = signal.getitimer(signal.ITIMER_REAL)[0]
    running = honest.pytest_runtest_call(item())
    next(running)
    assert signal.getitimer(signal.ITIMER_REAL)[0] == pytest.approx(before, abs=5)
    running.close()


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
        next(honest.pytest_runtest_setup(measured))
    assert asked == [30.0] * 6 + [0.0] * 2 and sum(asked) == honest.QUIET_SECONDS
    assert said == ["one: waited 30 s for a quiet machine"] * 6
    next(honest.pytest_runtest_setup(item("lab")))
    assert len(asked) == 8, "others do not wait"
