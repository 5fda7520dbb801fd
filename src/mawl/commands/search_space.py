"""The space of a search against its baseline: every value possible, and what the baseline has already."""

from __future__ import annotations

import argparse
from pathlib import Path

import msgspec

from mawl.campaigns.search.space import Setup, Space, load_space, setup_of, space_of
from mawl.commands.arguments import plan_of, volume_order_of, volumes_of
from mawl.config.settings import Settings
from mawl.errors import UsageError
from mawl.model.options import ROLES, Role
from mawl.model.search import OBJECTIVES, ObjectiveName

Values = dict[str, list[int | str]]


def checked_space(
    arguments: argparse.Namespace, chosen: Settings, objective: ObjectiveName
) -> tuple[Space, Values, dict[str, list[str]]]:
    """The space, the values that change nothing, and the baseline's directories by role.

    Of values with which every job gets the same, such as large ``sortsize`` at a small scale, the space has
    the first alone.
    UsageError where a value cannot be, where a dimension changes nothing, or goes with other work than the
    objective can hold against the baseline's.
    """
    if (arguments.space is None) == (arguments.dimension is None):
        raise UsageError(
            "--space and --dimension do not go together"
            if arguments.space
            else "no space: nothing says what to search",
            cure="give --space FILE.toml, or --dimension NAME=VALUE,VALUE",
        )
    space = load_space(Path(arguments.space)) if arguments.space else space_of(arguments.dimension)
    if "sessions" in space.dimensions and not OBJECTIVES[objective].any_sessions:
        raise UsageError(
            f"key sessions: does not go with the objective {objective}",
            where=space.origin,
            why="other sessions are other work, which takes other time",
            cure="choose --objective sustained or cpu-real, or leave it out",
        )
    directories: dict[Role, list[str]] = {
        role: [str(place) for place in places]
        for role, places in chosen.roles({role: getattr(arguments, role) for role in ROLES}).items()
    }
    base = effect_of(arguments, chosen)
    distinct: Values = {}
    unchanged: Values = {}
    for name, values in space.dimensions.items():
        effects: list[object] = []
        distinct[name] = []
        for value in values:
            setup = setup_of({name: value}, directories)
            try:
                effect = effect_of(with_setup(arguments, setup), chosen)
            except UsageError as error:
                raise UsageError(f"key {name}: {value}: {error}", where=space.origin) from None
            if effect not in effects:
                effects.append(effect)
                distinct[name].append(value)
        if effects == [base]:
            raise UsageError(
                f"key {name}: changes nothing: with {' or '.join(map(str, values))} every job gets what the "
                "baseline gives it",
                where=space.origin,
                why="the workload sets it itself, or it is below what shrinks with the scale",
                cure="leave it out, name other values, or choose a larger scale",
            )
        unchanged[name] = [
            value for value, effect in zip(distinct[name], effects, strict=True) if effect == base
        ]
    space = msgspec.structs.replace(space, dimensions=distinct)
    return space, unchanged, {str(role): places for role, places in directories.items()}


def with_setup(arguments: argparse.Namespace, setup: Setup) -> argparse.Namespace:
    """The baseline's arguments with a setup over them."""
    changed = argparse.Namespace(**vars(arguments))
    changed.option = [*arguments.option, *(f"{name}={value}" for name, value in setup.options.items())]
    changed.sessions = setup.sessions or arguments.sessions
    changed.volume_order = setup.volume_order or arguments.volume_order
    for role in ROLES:
        setattr(changed, role, setup.directories.get(role) or getattr(arguments, role))
    return changed


def effect_of(arguments: argparse.Namespace, chosen: Settings) -> object:
    """What arguments make of a run: options of each job, directories, their order."""
    plan = plan_of(argparse.Namespace(**{**vars(arguments), "seed": None, "saving": None}), chosen)
    jobs = [(job.job, job.options) for job in plan.jobs()]
    volumes = volumes_of(arguments, chosen)
    places = [[str(path) for path in volumes.directories[role]] for role in ROLES]
    return jobs, places, volume_order_of(arguments, chosen)


def baseline_words(arguments: argparse.Namespace) -> list[str]:
    """The baseline as arguments of ``mawl run``."""
    words: list[str] = []
    for name in ("scale", "sessions", "volume_order", "cache", "cores", "memory_limit"):
        value = getattr(arguments, name)
        if value is not None:
            words += [f"--{name.replace('_', '-')}", str(value)]
    for text in arguments.option:
        words += ["--option", text]
    for role in ROLES:
        if getattr(arguments, role):
            words += [f"--{role}", *getattr(arguments, role)]
    return words
