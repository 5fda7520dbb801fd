"""Faults to plant in a program: what is put in the place of what, and what the program must then say."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest


class Fault(NamedTuple):
    """``wrong`` makes of what is under a name of ``owner`` something else; ``said`` is in the sentence.

    A fault is one of the program's work; neither its checks nor what they expect are changed.
    """

    owner: Any
    name: str
    wrong: Callable[[Any], Any]
    said: str

    def plant(self, patch: pytest.MonkeyPatch) -> None:
        """Put the wrong thing in its place."""
        right = inspect.getattr_static(self.owner, self.name)
        patch.setattr(self.owner, self.name, self.wrong(right))


def instead(value: object) -> Callable[[object], object]:
    """Put another value in the place of the old one."""
    return lambda _: value


def result(change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Change what a function returns."""
    return lambda right: lambda *given, **named: change(right(*given, **named))


def given(change: Callable[..., tuple[Any, ...]]) -> Callable[[Any], Any]:
    """Change what a function is given."""
    return lambda right: lambda *given, **named: right(*change(*given), **named)


def each(change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Change all that a function yields, one by one."""
    return lambda right: lambda *given, **named: map(change, right(*given, **named))


def sequence(change: Callable[[list[Any]], list[Any]]) -> Callable[[Any], Any]:
    """Change the list of all that a function yields."""
    return lambda right: lambda *given, **named: iter(change(list(right(*given, **named))))
