"""Cases of the fuzzing program: some in every run of the tests, many where asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzz.bases import write_bases
from tests.fuzz.cases import judged, run_case

QUICK_CASES, LONG_CASES = 60, 2500


@pytest.fixture(scope="module")
def bases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_bases(tmp_path_factory.mktemp("fuzz") / "bases")


def test_no_changed_file_ends_in_more_than_a_sentence(bases: Path, tmp_path: Path) -> None:
    found = [run_case(case, 1, bases, tmp_path) for case in range(QUICK_CASES)]
    assert [fault for fault in found if fault is not None] == []


@pytest.mark.long(minutes=6)
def test_no_changed_file_ends_in_more_than_a_sentence_many_times(bases: Path, tmp_path: Path) -> None:
    """About five CPU minutes; ``python -m tests.fuzz`` runs any number in processes of their own."""
    found = [run_case(case, 2, bases, tmp_path) for case in range(LONG_CASES)]
    assert [fault for fault in found if fault is not None] == []


def test_the_judge_knows_each_kind_of_fault() -> None:
    def printing(text: str) -> int:
        print(text)
        return 0

    def failing() -> int:
        raise ZeroDivisionError

    def endless() -> int:
        while True:
            pass

    assert judged(0, [], [], lambda: 0) is None
    for act, what in (
        (failing, "traceback"),
        (lambda: 3, "status"),
        (lambda: 2, "silence"),
        (lambda: printing("\x1b[2J"), "escape"),
    ):
        fault = judged(0, [], [], act)
        assert fault is not None and fault.what == what
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tests.fuzz.cases.MOST_SECONDS", 0.05)
        fault = judged(0, [], [], endless)
    assert fault is not None and fault.what == "hang"
