"""Blocks worked on by several processes: what comes out, what goes wrong, what is left."""

from __future__ import annotations

import contextlib
import itertools
import os
import signal
import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from mawl.base.errors import UnsuitableMachineError, WrongAnswerError
from mawl.measure.processes import children
from mawl.programs.toolkit import worker_processes as module
from mawl.programs.toolkit.worker_processes import SideBySide, shared_array, side_by_side


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Others are started before the first block; none is left."""
    monkeypatch.setattr(module, "_WORTH_SECONDS", 0.0)
    monkeypatch.setattr(module, "_WORTH_DONE_SECONDS", 0.0)
    before = children(os.getpid())
    yield
    assert children(os.getpid()) == before


class Job:
    """As much of a job as is asked for its processes."""

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self.divisible_seconds = 0.0
        self.memory: list[int] = []
        self.steps = SimpleNamespace(add_memory=self.memory.append)


def worked(threads: int, work: Any, blocks: Any) -> list[Any]:
    return list(side_by_side(Job(threads), work, blocks))  # type: ignore[arg-type]


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_results_come_in_the_order_of_the_blocks(threads: int) -> None:
    def work(block: tuple[int, np.ndarray]) -> tuple[int, np.ndarray]:
        number, values = block
        return number, np.cumsum(values)[-3:]

    blocks = [(number, np.arange(100.0 + number)) for number in range(40)]
    found = worked(threads, work, blocks)
    assert [number for number, _ in found] == list(range(40))
    for (_, values), (_, sums) in zip(blocks, found, strict=True):
        assert sums.tolist() == np.cumsum(values)[-3:].tolist()


def test_several_processes_take_part_and_say_what_they_held() -> None:
    job = Job(3)
    held: list[bytearray] = []

    def work(number: int) -> int:
        # Long enough for all to come to their turn.
        held.append(bytearray(b"x") * 2**20)
        signal.sigtimedwait([], 0.02)
        return os.getpid()

    assert len(set(side_by_side(job, work, range(12)))) == 3  # type: ignore[arg-type]
    assert len(job.memory) == 2
    assert min(job.memory) >= 2**20


@pytest.mark.parametrize(
    ("used", "count", "alone"),
    [(0.0, None, 12), (0.0, 12, 12), (0.0, 24, 2), (0.3, None, 0), (0.3, 3, 12), (0.3, 24, 1)],
)
def test_others_begin_where_enough_is_to_come(
    used: float, count: int | None, alone: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of so many blocks takes 15 ms of CPU time, the first 100; earlier work took ``used`` seconds."""
    monkeypatch.setattr(module, "_WORTH_SECONDS", 0.3)
    monkeypatch.setattr(module, "_WORTH_DONE_SECONDS", 0.3)
    seconds = itertools.accumulate(itertools.chain([0.0, 0.1], itertools.cycle([0.0, 0.015])))
    monkeypatch.setattr(time, "process_time", lambda: next(seconds))

    def work(number: int) -> int:
        signal.sigtimedwait([], 0.02)
        return os.getpid()

    job = Job(2)
    job.divisible_seconds = used
    found = list(side_by_side(job, work, range(12), count))  # type: ignore[arg-type]
    assert set(found[:alone]) <= {os.getpid()}
    assert len(set(found)) == (1 if alone == 12 else 2)


def test_blocks_and_results_do_not_go_through_files() -> None:
    def moved() -> int:
        with open("/proc/self/io", "rb", buffering=0) as file:
            return sum(int(count) for count in file.read().split()[1:4:2])

    before = moved()
    found = worked(2, lambda block: block * 2.0, (np.full(2**17, float(number)) for number in range(20)))
    assert moved() - before < 2**16
    assert [float(block[-1]) for block in found] == [2.0 * number for number in range(20)]


def test_a_much_larger_block_is_worked_on_all_the_same() -> None:
    blocks = [np.ones(10), *(np.ones(2**19) for _ in range(3)), np.ones(7)]
    assert worked(2, lambda block: float(block.sum()), blocks) == [10.0, *[2.0**19] * 3, 7.0]


@pytest.mark.parametrize("threads", [1, 2])
def test_an_error_is_the_jobs(threads: int) -> None:
    def work(number: int) -> int:
        if number == 5:
            raise WrongAnswerError("the fit of 5 is wrong", why="found 1, expected 2")
        return number

    with pytest.raises(WrongAnswerError, match="the fit of 5 is wrong: found 1, expected 2"):
        worked(threads, work, range(9))


def test_an_error_that_cannot_be_made_again_keeps_its_words() -> None:
    class OddError(Exception):
        def __init__(self, one: str, other: str) -> None:
            super().__init__(f"{one} and {other}")

    def work(number: int) -> int:
        raise OddError("this", "that")

    with pytest.raises((OddError, RuntimeError), match="this and that"):
        worked(2, work, range(9))


def test_a_process_that_is_killed_ends_the_job_with_a_sentence() -> None:
    here = os.getpid()

    def work(number: int) -> int:
        if os.getpid() != here:
            os.kill(os.getpid(), signal.SIGKILL)
        signal.sigtimedwait([], 0.02)
        return number

    with pytest.raises(UnsuitableMachineError, match="ended before its work: signal 9"):
        worked(2, work, range(20))


def test_processes_end_when_nobody_asks_for_more() -> None:
    results = side_by_side(Job(2), lambda number: number, iter(range(10**9)))  # type: ignore[arg-type]
    with contextlib.closing(results):  # type: ignore[type-var]
        assert [next(results) for _ in range(3)] == [0, 1, 2]


def test_parts_of_a_shared_array_are_seen_by_all() -> None:
    whole = shared_array((6, 2))

    def fill(row: int) -> None:
        whole[row] = row + 1

    assert worked(2, fill, range(6)) == [None] * 6
    assert whole.tolist() == [[row + 1.0] * 2 for row in range(6)]
    assert shared_array((0,)).shape == (0,)


def test_no_blocks_and_little_work_start_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fork", lambda: pytest.fail("a process was started"))
    assert worked(2, lambda number: number, []) == []
    monkeypatch.setattr(module, "_WORTH_DONE_SECONDS", 60.0)
    assert worked(2, lambda number: number, range(3)) == [0, 1, 2]


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_several_rounds_have_the_same_processes_and_see_what_others_wrote(threads: int) -> None:
    numbers = shared_array((20,))

    def work(block: tuple[slice, float | None]) -> tuple[int, float]:
        where, value = block
        if value is not None:
            numbers[where] = value
        return os.getpid(), float(numbers[where].sum())

    places = [slice(start, start + 2) for start in range(0, 20, 2)]
    workers: set[int] = set()
    with SideBySide(Job(threads), work) as processes:  # type: ignore[arg-type]
        for value in (1.0, 2.0, 3.0):
            filled = list(processes.results((at, value) for at in places))
            summed = list(processes.results((at, None) for at in places))
            workers |= {pid for pid, _ in (*filled, *summed)}
            assert [sums for _, sums in summed] == [2 * value] * 10
    assert len(workers) <= threads


def test_rounds_are_worth_other_processes_by_the_time_of_all_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_WORTH_DONE_SECONDS", 0.02)

    def work(_: int) -> int:
        until = time.process_time() + 0.004
        while time.process_time() < until:
            pass
        return os.getpid()

    with SideBySide(Job(2), work) as processes:  # type: ignore[arg-type]
        rounds = [set(processes.results(range(2))) for _ in range(40)]
    assert rounds[0] == rounds[1] == {os.getpid()}
    assert len(set.union(*rounds)) == 2


def test_a_round_that_fails_ends_the_others() -> None:
    def work(number: int) -> int:
        if number == 3:
            raise WrongAnswerError("the third block is wrong", why="found 1, expected 2")
        return number

    with pytest.raises(WrongAnswerError), SideBySide(Job(3), work) as processes:  # type: ignore[arg-type]
        assert list(processes.results(range(3))) == [0, 1, 2]
        list(processes.results(range(3, 6)))


@pytest.mark.parametrize("threads", [2, 3])
def test_a_fixed_block_goes_to_the_same_process_in_every_round(threads: int) -> None:
    def work(number: int) -> tuple[int, int]:
        # Blocks of one number differ in how long they take from round to round.
        signal.sigtimedwait([], 0.01 * (number % 3))
        return number % 100, os.getpid()

    found: dict[int, set[int]] = {}
    with SideBySide(Job(threads), work, fixed=True) as processes:  # type: ignore[arg-type]
        for begin in (0, 100, 200, 300):
            for number, pid in processes.results(range(begin, begin + 11)):
                found.setdefault(number, set()).add(pid)
    assert list(found) == list(range(11))
    assert all(len(pids) == 1 for pids in found.values())
    assert len(set.union(*found.values())) == threads


@pytest.mark.parametrize("fixed", [False, True])
def test_results_that_are_views_of_their_blocks_stay_what_they_are(fixed: bool) -> None:
    """A slot is filled again while a result waits for its turn."""

    def work(block: np.ndarray) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
        signal.sigtimedwait([], 0.02 if block[0, 0] == 0 else 0.0)
        return block[:, ::3], block[1:2], [block.T]

    blocks = [np.arange(60.0).reshape(6, 10) + 1000.0 * number for number in range(24)]
    with SideBySide(Job(2), work, fixed=fixed) as processes:  # type: ignore[arg-type]
        found = list(processes.results(iter(blocks)))
    for block, (strided, row, (turned,)) in zip(blocks, found, strict=True):
        assert strided.tolist() == block[:, ::3].tolist()
        assert row.tolist() == block[1:2].tolist()
        assert turned.tolist() == block.T.tolist()


@pytest.mark.parametrize("has_views", [False, True])
def test_results_are_copied_only_where_their_block_lies(
    has_views: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process copies one of its results only if that holds a view of its block."""
    copied: list[object] = []
    copy, here = module._copied, os.getpid()

    def counted(pieces: module.Pieces) -> object:
        copied.append(pieces)
        return copy(pieces)

    monkeypatch.setattr(module, "_copied", counted)

    def work(block: np.ndarray) -> tuple[int, np.ndarray]:
        signal.sigtimedwait([], 0.01)
        return os.getpid(), block[::2] if has_views else block + 1.0

    found = worked(2, work, (np.full(100, float(number)) for number in range(20)))
    mine = sum(pid == here for pid, _ in found)
    assert 0 < mine < 20
    assert len(copied) == (20 if has_views else 20 - mine)
