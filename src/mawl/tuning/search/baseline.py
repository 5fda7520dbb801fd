"""The space of a search against its baseline: every value possible, and what the baseline has already."""

from __future__ import annotations

import argparse
from pathlib import Path

import msgspec

from mawl.errors import UsageError
from mawl.plan.from_spec import plan_of
from mawl.spec.program_options import Role
from mawl.spec.record import RunSpec
from mawl.tuning.search.records import OBJECTIVES, ObjectiveName
from mawl.tuning.search.space import SearchSpace, load_space, setup_of, space_of, with_setup

Values = dict[str, list[int | str]]


def checked_space(
    arguments: argparse.Namespace, baseline: RunSpec, objective: ObjectiveName
) -> tuple[SearchSpace, Values, dict[str, list[str]]]:
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
        role: list(places) for role, places in baseline.directories().items()
    }
    base = effect_of(baseline)
    distinct: Values = {}
    unchanged: Values = {}
    for name, values in space.dimensions.items():
        effects: list[object] = []
        distinct[name] = []
        for value in values:
            setup = setup_of({name: value}, directories)
            try:
                effect = effect_of(with_setup(baseline, setup))
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


def effect_of(spec: RunSpec) -> object:
    """What a spec makes of a run: options of each job, directories, their order."""
    jobs = [(job.job, job.options) for job in plan_of(spec).jobs()]
    return jobs, spec.directories(), spec.volume_order
