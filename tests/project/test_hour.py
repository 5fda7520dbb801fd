"""A run with an end (MAWL_TEST_ENDS_AT): what comes first, what never begins, and what is stopped."""

from __future__ import annotations

import signal
import time
from typing import cast

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
    if begins:
        honest.pytest_runtest_setup(item("lab"))
    else:
        with pytest.raises(pytest.fail.Exception, match="did not begin: the time of the whole run was over"):
            honest.pytest_runtest_setup(item("lab"))


def test_a_lab_test_that_lasts_until_the_end_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(honest.ENDS_AT, str(time.time() + honest.TIDY_SECONDS + 0.2))
    handler = signal.getsignal(signal.SIGALRM)
    call = honest.pytest_runtest_call(item("lab"))
    next(call)
    with pytest.raises(pytest.fail.Exception, match="time of the whole run was over") as stopped:
        time.sleep(60)
    with pytest.raises(pytest.fail.Exception):
        call.throw(stopped.value)
    assert signal.getsignal(signal.SIGALRM) == handler
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_other_tests_and_runs_without_an_end_are_not_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    for marks, ends_at in ((("lab",), "inf"), ((), str(time.time()))):
        monkeypatch.setenv(honest.ENDS_AT, ends_at)
        call = honest.pytest_runtest_call(item(*marks))
        next(call)
        assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
        with pytest.raises(StopIteration):
            call.send(None)
