"""A run with an end (MAWL_TEST_ENDS_AT): what comes first, which tests begin, and what stops long ones."""

from __future__ import annotations

import signal
import time
from typing import cast

import pytest

from tests import conftest


class Marked:
    """A test with these marks."""

    def __init__(self, *marks: str) -> None:
        self.marks = marks

    def get_closest_marker(self, name: str) -> pytest.Mark | None:
        return pytest.Mark(name, (), {}, _ispytest=True) if name in self.marks else None

    def add_marker(self, mark: pytest.MarkDecorator) -> None:
        self.marks = (*self.marks, mark.name)


def item(*marks: str) -> pytest.Item:
    return cast(pytest.Item, Marked(*marks))


def test_measured_tests_come_last_and_campaigns_after_them() -> None:
    campaign, measured, plain = item("lab", "campaign", "measured"), item("lab", "measured"), item("lab")
    items = [campaign, measured, plain]
    conftest.pytest_collection_modifyitems(items)
    assert items == [plain, measured, campaign]
    assert [one.get_closest_marker("flaky") is not None for one in items] == [False, True, True]


@pytest.mark.parametrize(("marks", "begins"), [(("lab",), False), ((), True)])
def test_near_the_end_no_lab_test_begins(
    marks: tuple[str, ...], begins: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MAWL_TEST_ENDS_AT", str(time.time() + conftest.LAST_SECONDS - 1))
    if begins:
        conftest.pytest_runtest_setup(item(*marks))
    else:
        with pytest.raises(pytest.skip.Exception, match="are left of this run"):
            conftest.pytest_runtest_setup(item(*marks))


def test_a_lab_test_that_lasts_until_the_end_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAWL_TEST_ENDS_AT", str(time.time() + conftest.TIDY_SECONDS + 0.2))
    handler = signal.getsignal(signal.SIGALRM)
    call = conftest.pytest_runtest_call(item("lab"))
    next(call)
    with pytest.raises(pytest.fail.Exception, match="time of the whole run was over") as stopped:
        time.sleep(60)
    with pytest.raises(pytest.fail.Exception):
        call.throw(stopped.value)
    assert signal.getsignal(signal.SIGALRM) == handler
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_other_tests_and_runs_without_an_end_are_not_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    for marks, ends_at in ((("lab",), "inf"), ((), str(time.time()))):
        monkeypatch.setenv("MAWL_TEST_ENDS_AT", ends_at)
        call = conftest.pytest_runtest_call(item(*marks))
        next(call)
        assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
        with pytest.raises(StopIteration):
            call.send(None)
