"""What to do where an answer is not known: one sentence with its command."""

from __future__ import annotations

import shlex
from bisect import bisect_right
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Literal

from mawl.base.units import format_seconds
from mawl.figures.view import RunView
from mawl.plan.spec import SCALES
from mawl.records.model.run import RunFacts
from mawl.records.model.thresholds import count_of
from mawl.records.spec.forms import options_of
from mawl.records.spec.nodes import NodesSpec

Lack = Literal["", "reference", "stopped", "others", "reach", "duration", "spread", "imported"]
"""What an answer lacks: the one thing to do about it follows from that."""

REPEATS = str(count_of("validity.repeats.fewest_runs"))


def next_step(reading: RunView, lack: Lack) -> str | None:
    """What to do about a lack, in one sentence; None without any."""
    facts = reading.facts
    if not lack:
        return None
    if facts.outcome == "running":
        return "wait for the end of the run"
    if lack == "imported":
        return _derive_step(reading)
    if lack == "others":
        return f"end other programs, then run again: {_command_again(facts)}"
    if lack == "reach" and (facts.cache is None or facts.cache.mode != "none"):
        return f"run without the page cache: {_command_again(facts, '--cache', 'none')}"
    if lack in ("reach", "duration"):
        larger = _larger_scale(facts)
        if larger is None:
            return "use a lower --memory-limit or more --sessions, so that less of the load fits the cache"
        return f"use a larger scale: {_command_again(facts, '--scale', larger)}"
    if lack == "spread":
        return f"repeat the run: {_command_again(facts, '--repeat', REPEATS)}"
    if lack == "stopped":
        return f"run it again, to its end: {_command_again(facts)}"
    if facts.reference is None:
        return f"run it with this mawl: {_command_again(facts)}"
    return (
        "give the CPU seconds of the programs without a reference time: cpu_seconds of a command in its "
        "workload file, or --reference FILE"
    )


def _derive_step(reading: RunView) -> str:
    """The load of the imported logs as a workload; of several periods that of one."""
    if not reading.jobs:
        return "import the logs of the jobs, too: recordings alone have no jobs"
    command, logs = ["mawl", "derive", reading.called], "these logs"
    if (found := _period_to_derive(reading)) is not None:
        period, which = found
        # Derive takes times without a zone as those of --timezone, whose default is UTC.
        start, end = (datetime.fromtimestamp(at, UTC) for at in (period[0], period[1] + 60))
        command += ["--night", f"{start:%Y-%m-%dT%H:%M}/{end:%Y-%m-%dT%H:%M}"]
        length = format_seconds(period[1] - period[0])
        logs = f"the longest period{which} ({length}, in whole minutes)"
    command += ["--output", "derived"]
    return f"make a workload of {logs}, and run it on the system in question: {shlex.join(command)}"


def _period_to_derive(reading: RunView) -> tuple[tuple[float, float], str] | None:
    """Start and end of the longest period without a failed job, and the words `` without a failed job``.

    The words are empty if no job failed, or if one failed in every period: then it is the longest period that
    has jobs, since some may hold only a recording.  None if the import is not divided into periods.
    """
    periods = reading.line.periods if reading.line is not None else ()
    firsts = [period[0] for period in periods]
    jobs = reading.jobs
    whole = {id(job) for job in jobs if job.outcome == "finished"}
    held: set[int] = set()
    broken: set[int] = set()
    for job in jobs:
        if job.started_at is not None:
            (held if id(job) in whole else broken).add(bisect_right(firsts, job.started_at) - 1)
    chosen = held - broken or held
    found = [periods[place] for place in chosen if place >= 0]
    if not found:
        return None
    longest = max(found, key=lambda period: period[1] - period[0])
    return longest, " without a failed job" if broken and held - broken else ""


def _larger_scale(facts: RunFacts) -> str | None:
    """The next named scale above that of the run; None above the largest."""
    scale = facts.workload.scale
    above = [
        name for name, factor in sorted(SCALES.items(), key=lambda item: item[1]) if factor > (scale or 0.0)
    ]
    return above[0] if above else None


def _command_again(facts: RunFacts, *options: str) -> str:
    """The command of the run with ``options``.

    It leaves out the output folder, which exists already, and the options that name the nodes of a run.
    """
    own = ["run", facts.workload.name]
    if len(facts.command) > 1 and facts.command[1] == "run":
        of_nodes = list(options_of(NodesSpec).values()) if facts.node_runs else []
        switches = [one.flag for one in of_nodes if one.form.file is bool]
        words = [word for word in facts.command[1:] if word not in switches]
        own = _without_options(words, ("--output", *(one.flag for one in of_nodes), *options[:1]))
    elif facts.workload.scale_name and "--scale" not in options:
        own += ["--scale", facts.workload.scale_name]
    return shlex.join(["mawl", *own, *options])


def _without_options(words: Sequence[str], names: Sequence[str]) -> list[str]:
    kept: list[str] = []
    skip = False
    for word in words:
        if skip or word in names:
            skip = not skip and word in names
        elif not any(word.startswith(f"{name}=") for name in names):
            kept.append(word)
    return kept
