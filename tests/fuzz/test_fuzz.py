"""Cases of the fuzzing program: some in every run of the tests, many where asked for."""

from __future__ import annotations

import os
import re
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from tests.fuzz import working
from tests.fuzz.__main__ import fuzzed
from tests.fuzz.bases import KINDS, write_bases
from tests.fuzz.cases import Case, judge_case, make_case
from tests.fuzz.hostile_texts import JSON, TOML, Made
from tests.fuzz.judging import judged
from tests.fuzz.mutators import mutate
from tests.fuzz.working import watched

QUICK_CASES, LONG_CASES = 40, 2500
HOSTILE_CASES, LONG_HOSTILE_CASES = 32, 2000


def test_no_changed_file_ends_in_more_than_a_sentence(tmp_path: Path) -> None:
    bases = write_bases(tmp_path / "bases")
    cases = (make_case(number, 5, bases, tmp_path) for number in range(QUICK_CASES))
    found = [(case, judge_case(case, tmp_path)) for case in cases]
    assert [(case, fault) for case, fault in found if fault is not None] == []
    assert {case.kind for case, _ in found} == set(KINDS)


@pytest.mark.long(minutes=6)
def test_no_changed_file_ends_in_more_than_a_sentence_many_times() -> None:
    """About five CPU minutes; ``python -m tests.fuzz`` runs any number."""
    parts = fuzzed(LONG_CASES, seed=2, workers=1)
    assert [fault for part in parts for fault in part.faults] == []
    assert sum(sum(part.kinds.values()) for part in parts) == LONG_CASES


def test_no_hostile_file_takes_more_than_it_may() -> None:
    parts = fuzzed(HOSTILE_CASES, seed=2, workers=1, is_hostile=True)
    assert [fault for part in parts for fault in part.faults] == []


@pytest.mark.long(minutes=20)
def test_no_hostile_file_takes_more_than_it_may_many_times() -> None:
    """``python -m tests.fuzz --hostile`` runs any number."""
    parts = fuzzed(LONG_HOSTILE_CASES, seed=1, workers=1, is_hostile=True)
    assert [fault for part in parts for fault in part.faults] == []


def test_no_change_is_written_through_a_link(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("somebody else's")
    for seed in range(100):
        folder = tmp_path / str(seed)
        folder.mkdir()
        (folder / "link").symlink_to(outside)
        (folder / "own.json").write_text('{"a": [1, 2]}')
        mutate(folder, Random(seed))
    assert outside.read_text() == "somebody else's"


def test_the_judge_knows_each_kind_of_fault() -> None:
    def printing(text: str) -> int:
        print(text)
        return 0

    def complaining(text: str) -> int:
        print(text, file=sys.stderr)
        return 1

    def failing() -> int:
        raise ZeroDivisionError

    def endless() -> int:
        while True:
            pass

    def waiting() -> int:
        time.sleep(60)
        return 0

    assert judged(lambda: 0) is None
    for act, what in (
        (failing, "traceback"),
        (lambda: 3, "status"),
        (lambda: 2, "silence"),
        (lambda: 1, "silence"),
        (lambda: complaining("it holds what mawl did not foresee (KeyError)"), "traceback"),
        (lambda: printing("\x1b[2J"), "escape"),
    ):
        fault = judged(act)
        assert fault is not None and fault[0] == what
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tests.fuzz.judging.MOST_SECONDS", 0.05)
        for act in (endless, waiting):
            patch.setattr("tests.fuzz.judging.MOST_ASLEEP_SECONDS", 0.2)
            fault = judged(act)
            assert fault is not None and fault[0] == "hang"


def test_a_case_that_dies_or_takes_much_memory_is_a_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    [held] = re.findall(r"RssAnon:\s+(\d+)", Path("/proc/self/status").read_text())
    monkeypatch.setattr(working, "MOST_BYTES", int(held) * 1024 + 50_000_000)

    def seen(act: Callable[[], object]) -> str | None:
        monkeypatch.setattr(working, "judge_case", lambda *_: judged(lambda: act() is act))
        _, found, _ = watched(lambda: Case(7, "workload", [], []), tmp_path)
        return found and found[0]

    assert seen(lambda: None) is None
    assert seen(lambda: os.kill(os.getpid(), signal.SIGKILL)) == "death"
    assert seen(lambda: b"x" * 100_000_000) == "memory"


@pytest.mark.parametrize(
    ("kinds", "content"),
    [(TOML, b'name = "a"\nscale = 0.1\n'), (JSON, b'{"name": "a", "scale": 0.1}')],
    ids=["TOML", "JSON"],
)
def test_a_case_is_the_same_each_time_and_each_kind_changes_something(
    kinds: dict[str, Made], content: bytes
) -> None:
    for name, made in kinds.items():
        several = [made(Random(f"{name} {number}"), content) for number in range(5)]
        assert several == [made(Random(f"{name} {number}"), content) for number in range(5)]
        assert any(changed != content for changed in several), name
