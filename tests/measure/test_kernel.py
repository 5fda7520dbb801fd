"""Signals that come while a block must not be interrupted."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest

from mawl.measure.processes import uninterrupted

NUMBERS = (signal.SIGINT, signal.SIGTERM)


@pytest.fixture
def seen() -> Iterator[list[int]]:
    """The signals that a handler outside of the block gets."""
    found: list[int] = []
    before = {number: signal.signal(number, lambda which, _: found.append(which)) for number in NUMBERS}
    yield found
    for number, handler in before.items():
        signal.signal(number, handler)


def test_each_signal_waits_for_the_outermost_block_and_comes_once(seen: list[int]) -> None:
    with uninterrupted():
        with uninterrupted():
            signal.raise_signal(signal.SIGTERM)
            signal.raise_signal(signal.SIGINT)
        assert seen == []
    assert seen == [signal.SIGTERM, signal.SIGINT]
    signal.raise_signal(signal.SIGINT)
    assert len(seen) == 3, "the handlers are back"


def test_a_signal_is_not_lost_in_a_block_that_fails(seen: list[int]) -> None:
    with pytest.raises(OSError, match="no such program"), uninterrupted():
        signal.raise_signal(signal.SIGTERM)
        raise OSError("no such program")
    assert seen == [signal.SIGTERM]


def test_what_a_signal_raises_has_the_error_of_the_block_as_its_context() -> None:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt) as raised, uninterrupted():
            signal.raise_signal(signal.SIGINT)
            raise OSError("no such program")
    finally:
        signal.signal(signal.SIGINT, before)
    assert isinstance(raised.value.__context__, OSError)


def test_an_ignored_signal_stays_ignored() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with uninterrupted():
            signal.raise_signal(signal.SIGINT)
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
