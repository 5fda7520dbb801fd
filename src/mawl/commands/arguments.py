"""Options that several verbs share, and the ``RunSpec`` that they make."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

from mawl.advice.bounds import AnswerBounds
from mawl.base.errors import UsageError
from mawl.base.units import parse_size
from mawl.importers.formats.saslog_records import DateOrder
from mawl.plan.run_plan import with_run_of
from mawl.plan.workload import shipped
from mawl.records.spec.campaign import CAMPAIGN_OPTIONS
from mawl.records.spec.program_options import ROLES, Role
from mawl.records.spec.run_spec import DEFAULT_WORKLOAD, RunSpec
from mawl.records.spec.settings import Settings
from mawl.records.spec.sources import OPTIONS, Layer, layer_of_command, load_profile, spec_of
from mawl.records.volumes import Volumes

MOST_BOUND = 1e6
PLAN_OPTIONS = ("sessions", "scale", "seed", "saving")
ROLE_HELP = {"data": "input tables and results", "work": "temporary tables", "util": "sort and spill files"}


def add_options(parser: argparse.ArgumentParser, *fields: str) -> None:
    """The options of these fields of a run, of its nodes or of a campaign, as they are declared."""
    for field in fields:
        option = OPTIONS[field] if field in OPTIONS else CAMPAIGN_OPTIONS[field]
        words: dict[str, Any] = {"metavar": option.metavar} if option.metavar else {}
        parser.add_argument(option.flag, help=option.help, **(words | dict(option.form.arguments)))


def add_workload_arguments(parser: argparse.ArgumentParser) -> None:
    """WORKLOAD, --sessions, --scale, --seed, --saving, --option: what decides a plan."""
    parser.add_argument(
        "workload",
        nargs="?",
        default=DEFAULT_WORKLOAD,
        metavar="WORKLOAD",
        help=f"a shipped workload ({', '.join(shipped())}) or a TOML file (default: {DEFAULT_WORKLOAD})",
    )
    add_options(parser, *PLAN_OPTIONS)
    parser.add_argument(
        "--option",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a run option: memsize, sortsize, bufsize, cpucount, queue_depth, fullstimer, or direct (auto, "
        "yes or no: bypass the page cache in random_access and the scan of wide_sort's input); may be "
        "repeated",
    )


def add_role_arguments(parser: argparse.ArgumentParser, *, own: bool = True) -> None:
    """--data, --work, --util: where the roles lie; ``own`` where mawl itself puts files there."""
    if own:
        add_options(parser, *ROLE_HELP)
        return
    for role, holds in ROLE_HELP.items():
        parser.add_argument(
            f"--{role}",
            nargs="+",
            metavar="DIR",
            help=f"{holds}; one directory or several (default: ./mawl-{role})",
        )


def add_profile_argument(parser: argparse.ArgumentParser) -> None:
    """--profile: a file that mawl tune search wrote, or one like it."""
    parser.add_argument(
        "--profile",
        metavar="FILE",
        help="run options from a file, such as mawl tune search writes; precedence: command line, profile, "
        "environment, mawl.toml",
    )


def add_clock_arguments(parser: argparse.ArgumentParser) -> None:
    """--timezone, --shift: the wall clocks of foreign files."""
    parser.add_argument(
        "--timezone",
        action="append",
        default=[],
        metavar="ZONE",
        help="zone of the files' wall clocks: Area/City or +HH:MM, for one kind KIND=ZONE; may be repeated "
        "(default: UTC)",
    )
    parser.add_argument(
        "--shift",
        action="append",
        default=[],
        metavar="NODE=SECONDS",
        help="move the recording of a node, or all files of a kind, by seconds; may be repeated",
    )


def add_dates_argument(parser: argparse.ArgumentParser) -> None:
    """--dates: day and month in the timestamps of SAS logs."""
    parser.add_argument(
        "--dates",
        choices=get_args(DateOrder),
        help="order in timestamps of logs (default: as they show)",
    )


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
