"""In which order the runs of a campaign are made: by turns, so that what drifts drifts for all arms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

from mawl.model.campaign import Arm, Slot

Item = TypeVar("Item")


def in_turn(items: Sequence[Item], repeats: int) -> Iterator[Item]:
    """Every item ``repeats`` times, each second round backwards: A B B A A B for two items and three rounds.

    A drift that is straight in time weighs alike on both of two items over an even number of rounds.
    """
    for turn in range(repeats):
        yield from items if turn % 2 == 0 else reversed(items)


def back_and_forth(arms: Sequence[Arm], repeats: int) -> list[Slot]:
    """The slots of a campaign that makes every arm ``repeats`` times, :func:`in_turn`."""
    return [Slot(position=place, arm=arm.name) for place, arm in enumerate(in_turn(arms, repeats), start=1)]
