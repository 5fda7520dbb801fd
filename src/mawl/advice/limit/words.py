"""What limits a run or a qualification, and what causes cost, in words."""

from __future__ import annotations

from mawl.advice.limit.costs import able
from mawl.base.units import format_percent
from mawl.importers.formats.text import one_line
from mawl.records.model.qualification import AnswerLimit
from mawl.records.model.summary.judgement import Cause, Limit

NO_COST = "no cause cost the jobs 2 % of their time"
MOST_OTHER_COSTS = 2
LONGEST_PLACE = 60
"""Characters of a directory in a sentence; the figures have all of it."""

RESOURCES: dict[str, str] = {
    "storage": "storage",
    "cpu": "processors",
    "memory": "memory",
    "network": "the network",
    "others": "other programs",
    "other": "other waits",
    "none": "no shared resource",
}
OF_PROCESSORS = {"queue": "processors (too few)", "speed": "processors (too slow)"}


def shown_causes(limit: Limit | AnswerLimit) -> list[Cause]:
    """The causes that reports name: one or two that limit, or none; below the bound of W the largest cost."""
    if not limit.named:
        return limit.costs[:1]
    resources = [name for name in (limit.verdict, limit.second) if name not in (None, "none")]
    return able(limit.costs)[: len(resources)]


def cause_words(cost: Cause, *, with_place: bool = True) -> str:
    """``work writes on /mnt/b (bandwidth)``; without roles the resource."""
    if not cost.roles:
        return OF_PROCESSORS.get(cost.kind or "", RESOURCES[cost.resource])
    words: str = cost.roles[0]
    if cost.direction is not None:
        words += f" {cost.direction}s"
    if cost.place is not None and with_place:
        words += f" on {shortened(one_line(cost.place))}"
    if cost.resource == "network":
        words += " over the network"
    return words if cost.kind is None else f"{words} ({cost.kind})"


def cost_words(cost: Cause) -> str:
    """The cause and its cost: ``work writes on /mnt/b (bandwidth), 25 % of the jobs' time``."""
    return f"{cause_words(cost)}, {format_percent(cost.share_ratio)} of the jobs' time"


def limit_words(limit: Limit | AnswerLimit, *, with_place: bool = True) -> str:
    """``work writes on /mnt/b (bandwidth) and processors (too few)``, or the largest cost."""
    causes = " and ".join(cause_words(cost, with_place=with_place) for cost in shown_causes(limit))
    if limit.named or not causes:
        return causes or RESOURCES["none"]
    return f"largest cost: {causes}"


def costs_words(limit: Limit | AnswerLimit) -> str:
    """What limits, or cost most, and then what other causes cost."""
    if not limit.costs:
        return NO_COST
    shown = shown_causes(limit)
    rest = [cost for cost in limit.costs if cost not in shown][:MOST_OTHER_COSTS]
    words = " and ".join(map(cost_words, shown)) or RESOURCES["none"]
    return words + (f"; then {', '.join(map(cost_words, rest))}" if rest else "")


def limit_sentence(limit: Limit | AnswerLimit) -> str:
    """``limit: A, 40 % of the jobs' time, and B``; below the bound ``largest cost: A``."""
    causes = shown_causes(limit)
    if limit.named and causes:
        return f"limit: {', and '.join(map(cost_words, causes))}"
    return f"largest cost: {cost_words(limit.costs[0])}"


def shortened(text: str) -> str:
    """The end of a long path."""
    return text if len(text) <= LONGEST_PLACE else f"...{text[3 - LONGEST_PLACE :]}"
