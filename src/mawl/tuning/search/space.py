"""The space of a search: a finite list of values for each dimension, from a TOML file or the command line.

Sizes and counts may be ranges (``{low = "1MiB", high = "1GiB"}``): every doubling from low.  The whole space
is checked, also against the baseline, before anything runs.
"""

from __future__ import annotations

import argparse
import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any, Literal

import msgspec

from mawl.base.errors import InvalidFileError, UsageError
from mawl.base.units import parse_size
from mawl.plan.mix import FEWEST_FULL_SESSIONS, MIX_CHANGES, mix_range
from mawl.plan.run_plan import plan_of
from mawl.records.spec import toml
from mawl.records.spec.program_options import ROLES, Role, parse_options
from mawl.records.spec.run_spec import DEFAULT_WORKLOAD, MOST_SESSIONS, RunSpec, check
from mawl.records.spec.sources import OPTIONS
from mawl.tuning.search.records import OBJECTIVES, ObjectiveName, Point, Value

Size = int | str
SIZES = ("memsize", "sortsize", "bufsize")
COUNTS: dict[str, tuple[int, int]] = {
    "cpucount": (1, 4096),
    "sessions": (1, MOST_SESSIONS),
    "data_volumes": (1, 1024),
    "work_volumes": (1, 1024),
    "util_volumes": (1, 1024),
}
NAMES = (*SIZES, *COUNTS, "volume_order", *ROLES)
MOST_POINTS = 100_000
"""More points than anybody's budget has runs for."""


class SizeRange(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Every doubling of ``low`` up to ``high``."""

    low: Size
    high: Size


class SpaceFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The keys of a space file; a dimension that is left out stays as the command line has it."""

    memsize: list[Size] | SizeRange | None = None
    sortsize: list[Size] | SizeRange | None = None
    bufsize: list[Size] | SizeRange | None = None
    cpucount: list[int] | SizeRange | None = None
    sessions: list[int] | SizeRange | None = None
    data_volumes: list[int] | SizeRange | None = None
    work_volumes: list[int] | SizeRange | None = None
    util_volumes: list[int] | SizeRange | None = None
    volume_order: list[Literal["rotation", "free-space"]] | None = None
    data: list[list[str]] | None = None
    work: list[list[str]] | None = None
    util: list[list[str]] | None = None


class SearchSpace(msgspec.Struct, frozen=True, kw_only=True):
    """``dimensions`` by name, each with at least one value; ``origin`` says where it was written."""

    origin: str
    dimensions: dict[str, list[Value]]

    def size(self) -> int:
        count = 1
        for values in self.dimensions.values():
            count *= len(values)
        return count

    def points(self) -> Iterator[Point]:
        """Every point, the last dimension fastest."""
        for values in product(*self.dimensions.values()):
            yield dict(zip(self.dimensions, values, strict=True))


def load_space(path: Path) -> SearchSpace:
    """A space file; ``InvalidFileError`` names file, key and reason."""
    held = toml.load(path, SpaceFile)
    given = {name: getattr(held, name) for name in NAMES if getattr(held, name) is not None}
    return _checked(given, str(path), "key ")


def space_of(words: Sequence[str]) -> SearchSpace:
    """A space from ``NAME=VALUE,VALUE...`` of the command line; directories of one value have ``:`` between
    them, and ``LOW..HIGH`` is a range."""
    given: dict[str, object] = {}
    for word in words:
        name, separator, text = word.partition("=")
        if not separator or not text:
            raise UsageError(f"--dimension {word}: expected NAME=VALUE,VALUE, such as sortsize=16MiB,256MiB")
        if name not in NAMES:
            raise UsageError(f"--dimension {name}: unknown, expected one of {', '.join(NAMES)}")
        if name in given:
            raise UsageError(f"--dimension {name}: given twice", cure="name all its values in one")
        given[name] = _values(name, text)
    return _checked(given, "--dimension", "")


def _values(name: str, text: str) -> object:
    low, dots, high = text.partition("..")
    if dots and name not in ROLES:
        return SizeRange(low=low, high=high)
    parts = text.split(",")
    if name in ROLES:
        return [part.split(os.pathsep) for part in parts]
    return [_number(name, part) for part in parts] if name in COUNTS else parts


def _number(name: str, text: str) -> int:
    if not text.isdecimal() or len(text) > 9:
        raise UsageError(f"--dimension {name}: expected a whole number, found {text!r}")
    return int(text)


def _checked(given: Mapping[str, object], origin: str, word: str) -> SearchSpace:
    if not given:
        raise InvalidFileError("no dimension in it", where=origin, cure=f"name some of {', '.join(NAMES)}")
    dimensions = {name: _dimension(name, value, f"{origin}: {word}{name}") for name, value in given.items()}
    for role in ROLES:
        if role in dimensions and f"{role}_volumes" in dimensions:
            raise InvalidFileError(
                f"{word}{role}_volumes: does not go with {role}",
                where=origin,
                why="the one takes the first of the directories that the other replaces",
                cure="leave one of them out",
            )
    space = SearchSpace(origin=origin, dimensions=dimensions)
    if space.size() > MOST_POINTS:
        raise InvalidFileError(
            f"has {space.size()} points", where=origin, why=f"at most {MOST_POINTS} can be held apart"
        )
    return space


def _dimension(name: str, given: object, where: str) -> list[Value]:
    values = list(_expanded(name, given, where))
    if not values:
        raise InvalidFileError("expected at least one value, found none", where=where)
    sizes = [parse_size(value) if name in SIZES else value for value in values]
    twice = [value for place, value in enumerate(values) if sizes[place] in sizes[:place]]
    if twice:
        raise InvalidFileError(f"holds {twice[0]} twice", where=where)
    return values


def _expanded(name: str, given: object, where: str) -> Iterator[Value]:
    if isinstance(given, SizeRange):
        yield from _doublings(name, given, where)
        return
    assert isinstance(given, list), "a list or a range, by the declared types"
    for value in given:
        if name in ROLES:
            with _as_invalid_file():
                OPTIONS[name].form.check(value, where)
            if any(os.pathsep in place for place in value):
                raise InvalidFileError(f"a directory may not have {os.pathsep} in its name", where=where)
            yield os.pathsep.join(value)
            continue
        _check_value(name, value, where)
        yield value


def _doublings(name: str, given: SizeRange, where: str) -> Iterator[Value]:
    """Sizes and counts from low on, each twice the one before, up to high."""
    ends = []
    for key, value in (("low", given.low), ("high", given.high)):
        try:
            ends.append(parse_size(value))
        except UsageError as error:
            raise InvalidFileError(str(error), where=f"{where}.{key}") from None
        _check_value(name, value if name in SIZES else ends[-1], f"{where}.{key}")
    low, high = ends
    if low > high:
        raise InvalidFileError(f"low {given.low} is above high {given.high}", where=where)
    while low <= high:
        yield _binary(low) if name in SIZES else low
        low *= 2


def _binary(size: int) -> Value:
    for power, unit in ((30, "GiB"), (20, "MiB"), (10, "KiB")):
        if size % 2**power == 0:
            return f"{size >> power}{unit}"
    return size


@contextlib.contextmanager
def _as_invalid_file() -> Iterator[None]:
    try:
        yield
    except UsageError as error:
        raise InvalidFileError(error.what, why=error.why, cure=error.cure) from None


def _check_value(name: str, value: object, where: str) -> None:
    if name in COUNTS:
        low, high = COUNTS[name]
        if not isinstance(value, int) or not low <= value <= high:
            raise InvalidFileError(
                f"expected a whole number from {low} to {high}, found {value}", where=where
            )
    elif name in SIZES:
        assert isinstance(value, int | str), "by the declared types"
        with _as_invalid_file():
            parse_options({name: value}, where=where)
    elif value not in ("rotation", "free-space"):
        raise InvalidFileError(f"expected rotation or free-space, found {value!r}", where=where)


class PointSetup(msgspec.Struct, frozen=True, kw_only=True):
    """What a run of a point is given over the baseline; empty: the baseline itself."""

    options: dict[str, Value] = {}
    sessions: int | None = None
    volume_order: str | None = None
    directories: dict[Role, list[str]] = {}


def setup_of(point: Mapping[str, Value], base: Mapping[Role, Sequence[str]]) -> PointSetup:
    """A point as options and directories; ``base`` are the baseline's directories of each role.

    UsageError where a number of volumes is larger than the directories there are.
    """
    directories: dict[Role, list[str]] = {}
    for role in ROLES:
        if role in point:
            directories[role] = str(point[role]).split(os.pathsep)
        elif f"{role}_volumes" in point:
            number = int(point[f"{role}_volumes"])
            if number > len(base[role]):
                raise UsageError(
                    f"{role}_volumes: cannot take {number} of {len(base[role])} directories",
                    cure=f"name more with --{role}",
                )
            directories[role] = list(base[role][:number])
    return PointSetup(
        options={name: point[name] for name in (*SIZES, "cpucount") if name in point},
        sessions=int(point["sessions"]) if "sessions" in point else None,
        volume_order=str(point["volume_order"]) if "volume_order" in point else None,
        directories=directories,
    )


def with_setup(spec: RunSpec, setup: PointSetup) -> RunSpec:
    """A spec with a setup over it."""
    changes: dict[str, Any] = {role: tuple(places) for role, places in setup.directories.items()}
    if setup.sessions is not None:
        changes["sessions"] = setup.sessions
    if setup.volume_order is not None:
        changes["volume_order"] = setup.volume_order
    options = parse_options(setup.options, where="the space", base=spec.options)
    return check(msgspec.structs.replace(spec, options=options, **changes))


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
    numbers = [baseline.sessions or FEWEST_FULL_SESSIONS, *map(int, space.dimensions.get("sessions", ()))]
    if baseline.workload == DEFAULT_WORKLOAD and len({mix_range(number) for number in numbers}) > 1:
        raise UsageError(
            "key sessions: the values and the baseline are of two mixes",
            where=space.origin,
            why=MIX_CHANGES,
            cure=f"name values on one side of the change, and a baseline there (--sessions {numbers[-1]})",
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
    jobs = [(job.job, job.options) for job in plan_of(spec).jobs()]
    return jobs, spec.directories(), spec.volume_order
