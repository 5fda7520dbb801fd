"""What to do next about a run: one sentence with the one command that leads on from its answer."""

from __future__ import annotations

import os
import shlex
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Literal

from mawl.advice.limit.verdict import shown_causes
from mawl.advice.validity.host import COMPETITION
from mawl.base.units import format_seconds
from mawl.figures.view import RunView
from mawl.plan.spec import SCALES
from mawl.plan.workload import shipped
from mawl.records.model.run import RunFacts, VolumeFacts
from mawl.records.model.summary.judgement import Finding
from mawl.records.model.summary.summary import Judged
from mawl.records.model.thresholds import count_of
from mawl.records.spec.forms import options_of
from mawl.records.spec.nodes import NodesSpec
from mawl.records.spec.program_options import ROLES, Role

Lack = Literal["", "reference", "stopped", "others", "reach", "duration", "spread", "imported"]
"""What an answer lacks: the one thing to do about it follows from that."""

TOO_SMALL = ("scale", "duration", "repeats")
"""Rules that ask for a larger run; findings that say what disturbed the figures come before theirs."""
MINUTES_OF_QUALIFY = 30.0
ROLE_OPTIONS = tuple(f"--{role}" for role in ROLES)

REPEATS = str(count_of("validity.repeats.fewest_runs"))


def not_passed(summary: Judged) -> list[Finding]:
    """Checks that failed, the gravest first.

    Of equal ones, those that found what disturbed the run come first, and of these the one of other programs.
    """
    return sorted(
        (one for one in summary.validity.findings if one.severity != "remark"),
        key=lambda one: (one.severity != "invalid", one.rule in TOO_SMALL, one.rule != COMPETITION.name),
    )


def next_of(summary: Judged, called: str) -> str | None:
    """The next step of a judged run; ``called``: what a command finds it by, as a shell takes it."""
    findings, answer = not_passed(summary), summary.answer
    going_on = summary.outcome == "running"
    fixed = summary.kind == "imported"  # a run of the past: nothing makes it valid now
    if findings and findings[0].severity == "invalid" and not (going_on or fixed):
        return findings[0].cure
    if answer.next_step or going_on:
        return answer.next_step
    if summary.kind == "measured" and summary.workload.name in shipped():
        small = any(one.rule in ("scale", "duration") for one in findings)
        places = roles_of(summary.volumes or ()) if len(summary.nodes) == 1 else {}
        if small and len(places) == len(ROLES):
            return f"get an answer for this machine: {qualify_command(places)}"
    if answer.answer == "not carried":
        what, command = step_to_change(summary)
        return f"{what}: mawl {command.replace('{}', called)}"
    if findings:
        return findings[0].cure
    if answer.answer == "carried":
        return f"pack the run, so that others can check it: mawl pack {called}"
    return None


def roles_of(volumes: Iterable[VolumeFacts]) -> dict[Role, list[str]]:
    """The directories of the roles; those of a run on one node."""
    places: dict[Role, list[str]] = {}
    for volume in volumes:
        places.setdefault(volume.role, []).append(volume.directory)
    return places


def qualify_command(places: Mapping[Role, list[str]], program: str = "mawl") -> str:
    """The command that answers for a machine with these directories, from wherever it is given."""
    return f"{program} qualify {_role_words(places)} --minutes {MINUTES_OF_QUALIFY:g}"


def _role_words(places: Mapping[Role, list[str]]) -> str:
    return shlex.join(
        word for role, paths in places.items() for word in (f"--{role}", *map(os.path.abspath, paths))
    )


def step_to_change(summary: Judged) -> tuple[str, str]:
    """What to do about what limited a run, and the words of its command; ``{}`` stands for the run."""
    limit, places = summary.limit, roles_of(summary.volumes or ())
    cause = next(iter(shown_causes(limit)), None) if limit is not None else None
    node = summary.nodes[0] if summary.nodes else None
    if cause is None or cause.resource in ("others", "other"):
        return "see what each job waited for", "report {} --all"
    if cause.resource == "storage" and summary.storage is None:
        where = f" of {' and '.join(cause.roles)}" if cause.roles else ""
        return (
            f"find what the storage{where} can do, so that mawl can forecast a change",
            f"probe {_role_words(places)} --run {{}}",
        )
    if cause.resource == "storage":
        where = f" of {' and '.join(cause.roles)}" if cause.roles else ""
        return (
            f"find what faster storage{where} would bring, then prove it by the same run there",
            "simulate {}",
        )
    if cause.resource == "cpu" and cause.kind == "speed":
        return "find what processors twice as fast would bring", "simulate {} --set core_speed=2"
    if cause.resource == "cpu" and node is not None:
        return (
            "find what twice the processors would bring",
            f"simulate {{}} --set cores={2 * (node.cores or 1)}",
        )
    if cause.resource == "memory" and node is not None and node.memory_bytes:
        more = 2 * (node.memory_limit_bytes or node.memory_bytes)
        return "find what twice the memory would bring", f"simulate {{}} --set memory={more}"
    return "find what would change it", "simulate {}"


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
    command += ["--output", f"{reading.facts.run_id}-workload"]
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
        own = _with_places(own, roles_of(facts.volumes)) if not facts.node_runs else own
    elif facts.workload.scale_name and "--scale" not in options:
        own += ["--scale", facts.workload.scale_name]
    return shlex.join(["mawl", *own, *options])


def _with_places(words: Sequence[str], places: Mapping[Role, list[str]]) -> list[str]:
    """The words with whole paths for the directories of the roles, so that they hold anywhere."""
    kept: list[str] = []
    of_role = False
    for word in words:
        of_role = word in ROLE_OPTIONS or (of_role and not word.startswith("--"))
        kept += [] if of_role or word.startswith(tuple(f"{one}=" for one in ROLE_OPTIONS)) else [word]
    return [*kept, *shlex.split(_role_words(places))]


def _without_options(words: Sequence[str], names: Sequence[str]) -> list[str]:
    kept: list[str] = []
    skip = False
    for word in words:
        if skip or word in names:
            skip = not skip and word in names
        elif not any(word.startswith(f"{name}=") for name in names):
            kept.append(word)
    return kept
