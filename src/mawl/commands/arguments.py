"""Options that several verbs share, and the ``RunSpec`` that they make."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mawl.advice.bounds import AnswerBounds
from mawl.base.errors import UsageError
from mawl.base.units import parse_size
from mawl.commands.verbs import Arguments, operand, option, options_of_run, repeated, switch
from mawl.plan.run_plan import with_run_of
from mawl.plan.workload import shipped
from mawl.records.spec.program_options import ROLES, Role
from mawl.records.spec.run_spec import DEFAULT_WORKLOAD, RunSpec
from mawl.records.spec.settings import Settings
from mawl.records.spec.sources import Layer, layer_of_command, load_profile, spec_of
from mawl.records.volumes import Volumes

MOST_BOUND = 1e6
PLAN_OPTIONS = ("sessions", "scale", "seed", "saving")
ROLE_HELP = {"data": "input tables and results", "work": "temporary tables", "util": "sort and spill files"}


RUN = operand("RUN", "a run folder, a run id, or latest (default)", default="latest")
NAMED_RUN = operand("RUN", "a run folder, a run id, or latest")
RUNS = option("DIR", "where run folders are (default: ./runs)")
JSON = switch("print one JSON object")
OUTPUT = option("FILE", "write there instead of to the terminal")
ROLES_OF_RUN = options_of_run(*ROLE_HELP)
"""Where the roles are that mawl itself puts files on."""
DATA, WORK, UTIL = (
    option("DIR", f"{holds}; one directory or several (default: ./mawl-{role})", nargs="+")
    for role, holds in ROLE_HELP.items()
)
"""Where the roles are of programs that mawl only measures."""


def formats(*names: str, text: str = "default: text") -> Any:
    """--format; the first is the usual."""
    return option(None, text, choices=names, default=names[0])


class WorkloadArguments(Arguments):
    """What decides a plan."""

    workload: str = operand(
        "WORKLOAD",
        f"a shipped workload ({', '.join(shipped())}) or a TOML file (default: {DEFAULT_WORKLOAD})",
        default=DEFAULT_WORKLOAD,
        group="workload",
    )
    plan_options: Any = options_of_run(*PLAN_OPTIONS)
    option: list[str] = repeated(
        "NAME=VALUE",
        "a run option: memsize, sortsize, bufsize, cpucount, queue_depth, fullstimer, or direct (auto, "
        "yes or no: bypass the page cache in random_access and the scan of wide_sort's input); may be "
        "repeated",
        group="workload",
        brief="an option of the programs, such as memsize=512M or cpucount=2; may be repeated",
    )


PROFILE = option(
    "FILE",
    "run options from a file, such as mawl tune search writes; precedence: command line, profile, "
    "environment, mawl.toml",
)
TIMEZONE = repeated(
    "ZONE",
    "zone of the files' wall clocks: Area/City or +HH:MM, for one kind KIND=ZONE; may be repeated "
    "(default: UTC)",
)
SHIFT = repeated(
    "NODE=SECONDS",
    "move the recording of a node, or all files of a kind, by seconds; may be repeated",
)
DATES = option(None, "order in timestamps of logs (default: as they show)")
"""Wall clocks of foreign files, and day and month in the timestamps of SAS logs."""


def patterns_by_role(flag: str, given: Sequence[str], how: int = 0) -> dict[Role, list[re.Pattern[str]]]:
    """``ROLE=PATTERN`` of an option that may be repeated, compiled with ``how`` (flags of ``re``).

    Raises ``UsageError`` for an unknown role and for what is no regular expression.
    """
    patterns: dict[Role, list[re.Pattern[str]]] = {}
    for text in given:
        name, separator, pattern = text.partition("=")
        role = next((role for role in ROLES if role == name), None)
        if not separator or role is None:
            raise UsageError(f"{flag} {text}: expected ROLE=PATTERN with a role of {', '.join(ROLES)}")
        try:
            patterns.setdefault(role, []).append(re.compile(pattern, how))
        except re.error as error:
            raise UsageError(f"{flag} {text}: no regular expression: {error}") from None
    return patterns


def settings() -> Settings:
    """Settings of the environment and of ``mawl.toml`` in the current directory."""
    return Settings(os.environ, Path.cwd())


def layer_of(arguments: argparse.Namespace, *, leave: Sequence[str] = ()) -> Layer:
    """What settings, plan, profile and command line set; ``leave``: options with another meaning to the
    verb.

    Bounds of what is said of a run are checked, too, because mawl reads them only after the run.
    """
    chosen = settings()
    bounds_of(chosen)
    layer = chosen.layer()
    if getattr(arguments, "workload", None) is not None:
        layer = with_run_of(arguments.workload, layer)
    if getattr(arguments, "profile", None) is not None:
        layer = layer.under(load_profile(Path(arguments.profile)))
    return layer.under(layer_of_command(vars(arguments), leave))


def spec_of_arguments(arguments: argparse.Namespace, *, leave: Sequence[str] = ()) -> RunSpec:
    """The spec that ``layer_of`` makes."""
    return spec_of(layer_of(arguments, leave=leave))


def volumes_of(spec: RunSpec) -> Volumes:
    """The volumes of a spec."""
    return Volumes({role: [Path(place) for place in places] for role, places in spec.directories().items()})


def bounds_of(chosen: Settings) -> AnswerBounds:
    """What a system must keep to carry its sessions, from the settings."""
    if getattr(chosen.file, "most_slowdown", None) is not None or "MAWL_MOST_SLOWDOWN" in chosen.environment:
        raise UsageError(
            "most_slowdown is not known any more",
            where="mawl.toml or MAWL_MOST_SLOWDOWN",
            why="the slowdown is now real time over reference time, so the same number is another bound",
            cure="name the bound answer_bound (default: 2)",
        )
    defaults = AnswerBounds()
    answer_bound = chosen.number("answer_bound", None, defaults.answer_bound)
    if not 1.0 < answer_bound <= MOST_BOUND:
        raise UsageError(
            f"answer_bound {answer_bound:g}: expected a number above 1 and up to {MOST_BOUND:,.0f}",
            why="it says how many times their reference time jobs may take",
            cure="mend it in mawl.toml or MAWL_ANSWER_BOUND",
        )
    return AnswerBounds(
        answer_bound=answer_bound,
        warn_bytes_per_second_per_core=_rate(
            chosen, "guideline_warn", defaults.warn_bytes_per_second_per_core
        ),
        good_bytes_per_second_per_core=_rate(
            chosen, "guideline_good", defaults.good_bytes_per_second_per_core
        ),
    )


def _rate(chosen: Settings, name: str, default: float) -> float:
    text = chosen.optional_text(name, None)
    return default if text is None else float(parse_size(text))
