"""What a qualification is about to run, with its forecast, as it is shown before the question."""

from __future__ import annotations

import math

from mawl.base.units import (
    counted_noun,
    format_bytes,
    format_memory,
    format_percent,
    format_ratio,
    format_seconds,
)
from mawl.campaigns.qualify.choice import PUBLISHABLE_SECONDS, SPARE_RATIO
from mawl.records.model.qualification import Asked, QualificationChoice
from mawl.reports.qualification import demand_words


def choice_text(choice: QualificationChoice, asked: Asked) -> str:
    """The choice with its reasons, its forecast, and the answer that is expected."""
    wide = max(len(decision.what) for decision in choice.decisions)
    value = max(len(decision.value) for decision in choice.decisions)
    lines = ["", "what will be run"]
    lines += [
        f"  {decision.what:<{wide}}  {decision.value:<{value}}  {decision.why}"
        for decision in choice.decisions
    ]
    phases = ", ".join(
        f"{name} {format_seconds(seconds)}"
        for name, seconds in choice.phase_seconds.items()
        if seconds >= 0.5
    )
    reach = [
        f"{name} {format_percent(ratio)}"
        for name, ratio in (("reads", choice.read_reach_ratio), ("writes", choice.write_reach_ratio))
        if ratio is not None
    ]
    expected, bound = choice.expected, format_ratio(asked.answer_bound)
    answer = (
        f"{expected.answer}: {expected.reason}"
        if expected.reason
        else f"{expected.answer}, {format_percent(expected.probability)} sure: "
        f"{format_ratio(expected.slowdown)} times the reference time "
        f"({format_ratio(expected.slowdown_low)} to {format_ratio(expected.slowdown_high)}; bound {bound})"
    )
    over = choice.total_seconds > 60 * asked.minutes
    minutes = math.ceil(choice.total_seconds / (60 * (1 - SPARE_RATIO)))
    lines += [
        "forecast",
        f"  time      {format_seconds(choice.total_seconds)} of {asked.minutes:g} min: {phases}"
        + (f"; it does not fit: use --minutes {minutes} or a smaller --scale" if over else ""),
        *_run_lines(choice),
        *_load_lines(choice, asked.minutes),
        *([f"  demand    {words}"] if (words := demand_words(choice)) else []),
        f"  space     {format_bytes(choice.space_bytes)} on disk, {format_bytes(choice.input_bytes)} of it "
        f"input tables; memory {format_memory(choice.memory_bytes)}"
        + (" (a node; nodes that share data share its input tables)" if choice.nodes > 1 else ""),
        f"  reach     {', '.join(reach) or 'not known'} of the bytes reach the storage",
        f"  answer    {answer}",
    ]
    return "\n".join(lines)


def _load_lines(choice: QualificationChoice, minutes: float) -> list[str]:
    """How long the storage is loaded, and what jobs do to each other's CPU seconds."""
    if choice.load_seconds is None:
        return []
    needed = f"{PUBLISHABLE_SECONDS / 60:g} min of load"
    why = f"as an answer to publish needs, {needed} or more"
    if choice.minutes_to_publish is not None:
        why = (
            f"with {minutes:g} min the answer will be preliminary, because {needed} need about "
            f"--minutes {choice.minutes_to_publish}"
        )
    lines = [f"  load      {format_seconds(choice.load_seconds)}: {why}"]
    if choice.mutual_slowing_ratio is not None:
        times = f"{format_ratio(choice.mutual_slowing_ratio)} times the CPU seconds of the same jobs alone"
        lines.append(f"  together  {counted_noun(choice.sessions, 'session')} take {times}")
    return lines


def _run_lines(choice: QualificationChoice) -> list[str]:
    moved, active = format_bytes(choice.moved_bytes), format_seconds(choice.active_seconds)
    if choice.nodes == 1:
        return [f"  one run   {choice.jobs} jobs, {moved} moved, active phase {active}"]
    nodes, every = choice.nodes, format_bytes(choice.nodes * choice.moved_bytes)
    return [
        f"  one node  {choice.jobs} jobs, {moved} moved, active phase {active}",
        f"  {f'{nodes} nodes':<8}  {nodes * choice.jobs} jobs, {every} moved; a run is planned with "
        f"{format_seconds(choice.run_seconds)}, for a load that is just carried",
    ]
