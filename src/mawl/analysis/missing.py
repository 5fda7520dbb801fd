"""Every null of a summary has a reason: the one that was found, or the one that its field gives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

import msgspec

from mawl.analysis.blocks import Missing
from mawl.model.fields import ANY, Path, places
from mawl.model.summary.summary import Summary

NOT_MEASURED = "not measured in this run"

_PLACES = {one.path: one for one in places(Summary)}
_MANY = frozenset(path for path, one in _PLACES.items() if one.many)
_MOST_PATHS = 65_536


def reasons(summary: Summary, found: Mapping[str, str], recorded: Mapping[str, str]) -> Missing:
    """The reason of every null in a summary, by its dotted path (``*`` for any member without its own).

    ``found`` are reasons from working the summary out, ``recorded`` those of the run's facts.
    """
    unknown = [path for path in found if not _is_figure(path)]
    assert not unknown, f"reasons of what a summary does not have: {unknown}"
    result: Missing = {}
    for path in nulls(msgspec.to_builtins(summary)):
        place = generalised(path)
        exact, general = ".".join(path), ".".join(place)
        if exact != general and found.get(exact):
            result[exact] = found[exact]
            continue
        candidates = (
            recorded.get(exact),
            recorded.get(general),
            found.get(general),
            _PLACES[place].figure.absent,
            _PLACES[place[:1]].figure.within,
        )
        result.setdefault(general, next((reason for reason in candidates if reason), NOT_MEASURED))
    return dict(sorted(result.items()))


@lru_cache(_MOST_PATHS)
def _is_figure(path: str) -> bool:
    """Whether a summary can have a figure at a dotted path."""
    return generalised(tuple(path.split("."))) in _PLACES


def reason_of(missing: Mapping[str, str], path: Path) -> str | None:
    """Why a figure of a summary is null: its own reason, or that of the block it would be in."""
    for length in range(len(path), 0, -1):
        for own in (path[:length], generalised(path[:length])):
            if (reason := missing.get(".".join(own))) is not None:
                return reason
    return None


def gaps(summary: Summary) -> dict[str, str]:
    """The reason of every null that is a gap, not an answer, by its path."""
    return {path: why for path, why in summary.missing.items() if not _null_answers(path)}


def _null_answers(path: str) -> bool:
    place = generalised(tuple(path.split(".")))
    return any(_PLACES[place[:length]].figure.null_answers for length in range(1, len(place) + 1))


def nulls(value: Any, path: Path = ()) -> Iterator[Path]:
    """The paths of all nulls; list members by their index."""
    found: list[Path] = []
    _add_nulls(value, path, found)
    return iter(found)


def _add_nulls(value: Any, path: Path, found: list[Path]) -> None:
    """Without generators, which a summary of thousands of figures would pass each null up through."""
    members: Any = ()
    if isinstance(value, dict):
        members = value.items()
    elif isinstance(value, list):
        members = enumerate(value)
    elif value is None:
        found.append(path)
    for name, member in members:
        if member is None:
            found.append((*path, str(name)))
        elif isinstance(member, dict | list):
            _add_nulls(member, (*path, str(name)), found)


@lru_cache(_MOST_PATHS)
def generalised(path: Path) -> Path:
    """The path with ``*`` for the members of lists and mappings."""
    result: Path = ()
    for part in path:
        result = (*result, ANY if result in _MANY else part)
    return result
