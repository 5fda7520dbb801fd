"""One item ahead: order, threads, errors."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from mawl.programs.toolkit.partitions import read_ahead


def job(threads: int) -> Any:
    return SimpleNamespace(threads=threads)


@pytest.mark.parametrize("threads", [1, 2])
def test_items_come_in_order(threads: int) -> None:
    assert list(read_ahead(job(threads), iter(range(50)))) == list(range(50))
    assert list(read_ahead(job(threads), iter([]))) == []


def test_the_next_item_is_made_while_one_is_worked_on() -> None:
    made = [threading.Event() for _ in range(3)]

    def items() -> Iterator[int]:
        for number, event in enumerate(made):
            event.set()
            yield number

    found = read_ahead(job(2), items())
    assert next(found) == 0
    assert made[1].wait(timeout=30)
    assert not made[2].is_set()
    assert list(found) == [1, 2]


@pytest.mark.parametrize("threads", [1, 2])
def test_an_error_comes_in_its_turn(threads: int) -> None:
    def items() -> Iterator[int]:
        yield 1
        raise OSError("the device is gone")

    found = read_ahead(job(threads), items())
    assert next(found) == 1
    with pytest.raises(OSError, match="the device is gone"):
        next(found)
