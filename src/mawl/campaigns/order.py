"""In which order the runs of a campaign are made: by turns, so that what drifts drifts for all arms."""

from __future__ import annotations

from collections.abc import Sequence

from mawl.model.campaign import Arm, Slot


def back_and_forth(arms: Sequence[Arm], repeats: int) -> list[Slot]:
    """Every arm ``repeats`` times, each second round backwards: A B B A A B for two arms and three runs.

    A drift that is straight in time weighs alike on both arms of an even number of rounds.
    """
    names = [arm.name for arm in arms]
    order = [name for turn in range(repeats) for name in (names if turn % 2 == 0 else reversed(names))]
    return [Slot(position=place, arm=name) for place, name in enumerate(order, start=1)]
