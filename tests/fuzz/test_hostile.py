"""Hostile files given to the verbs that take a stranger's: some in every run of the tests, many in one."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from random import Random

import pytest

from tests.fuzz import hostile
from tests.fuzz.hostile import Outcome, outcome_of
from tests.fuzz.hostile_texts import JSON, TOML, Made

QUICK_CASES, LONG_CASES = 32, 2000


def last_line(cases: int, seed: int) -> str:
    """The last line of the program, which runs in a process of its own: its memory is that of mawl."""
    command = [sys.executable, "-m", "tests.fuzz.hostile", "--cases", str(cases), "--seed", str(seed)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()[-1]


def test_no_hostile_file_takes_more_than_it_may() -> None:
    assert last_line(QUICK_CASES, seed=2).startswith(f"{QUICK_CASES} cases, 0 faults, ")


@pytest.mark.long(minutes=20)
def test_no_hostile_file_takes_more_than_it_may_many_times() -> None:
    """``python -m tests.fuzz.hostile`` runs any number."""
    assert last_line(LONG_CASES, seed=1).startswith(f"{LONG_CASES} cases, 0 faults, ")


def judged(act: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Outcome:
    def made(*_: object) -> tuple[str, list[str]]:
        (tmp_path / "case").mkdir()
        return "kind", ["words"]

    monkeypatch.setattr(hostile, "make_case", made)
    monkeypatch.setattr(hostile, "main", act)
    return outcome_of(1, 1, tmp_path, tmp_path / "case")


def test_the_judge_knows_each_kind_of_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def saying(text: str, status: int = 1) -> object:
        return lambda _: print(text, file=sys.stderr) or status

    def growing(_: object) -> int:
        return len(b"x" * 300_000_000) * 0

    def sleeping(seconds: float) -> object:
        def act(_: object) -> int:
            time.sleep(seconds)
            return 0

        return act

    monkeypatch.setattr(hostile, "MOST_SECONDS", 0.5)
    monkeypatch.setattr(hostile, "MOST_BYTES", 2**40)
    for act, fault in (
        (saying("mawl plan: x: is not valid TOML"), ""),
        (saying("", 0), ""),
        (lambda _: 1 // 0, "traceback"),
        (saying("it holds what mawl did not foresee (KeyError)"), "traceback"),
        (saying("no memory", 137), "status 137"),
        (saying("", 2), "silence"),
        (sleeping(0.7), "1 s"),
        (sleeping(30), "wait status 9"),
    ):
        found = judged(act, tmp_path, monkeypatch).fault
        assert found.startswith(fault) and bool(found) is bool(fault), found
    monkeypatch.setattr(
        hostile, "MOST_BYTES", judged(saying("", 0), tmp_path, monkeypatch).peak_bytes + 10**8
    )
    assert judged(growing, tmp_path, monkeypatch).fault.startswith("memory")


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
