"""Hosts of a run over ssh: ranges of names, and a file with what differs from host to host."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from mawl.base.errors import InvalidFileError, UsageError
from mawl.records.spec.forms import MOST_NODES, Form
from mawl.records.spec.program_options import ROLES, Role

_RANGES = re.compile(r"\[([^\[\]]*)\]")
_APART = re.compile(r",(?![^\[]*\])")
_EXAMPLE = "hosts as ssh knows them, such as a,b or node[01-64]"


class HostSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What differs on one host; None: as on all."""

    python: str | None = None
    data: tuple[str, ...] | None = None
    work: tuple[str, ...] | None = None
    util: tuple[str, ...] | None = None
    node_runs: str | None = None

    def places(self, of_all: Mapping[Role, Sequence[str]]) -> dict[Role, tuple[str, ...]]:
        """The directories of the roles there."""
        return {role: getattr(self, role) or tuple(of_all[role]) for role in ROLES}


AS_ON_ALL = HostSettings()


class Hosts(Form):
    """Hosts with commas between them; ``node[01-64]`` and ``node[1,3-5]`` stand for several."""

    def read(self, given: Any, name: str) -> tuple[str, ...]:
        found = tuple(host for part in _APART.split(given) if part for host in expanded(part, name))
        self.check(found, name)
        return found

    def check(self, value: Any, name: str) -> None:
        if not value:
            raise UsageError(f"{name} names no host", cure=f"give {_EXAMPLE}")
        check_once(value, name)

    def words(self, value: Any) -> list[str]:
        return [",".join(value)]


def expanded(text: str, name: str) -> list[str]:
    """The hosts that a word stands for; each bracket holds numbers and ranges, with leading zeros or not."""
    bracket = _RANGES.search(text)
    if bracket is None:
        if set(text) & set("[]"):
            raise UsageError(f"{name}: {text!r} is no host", cure=f"give {_EXAMPLE}")
        return [text]
    before, after = text[: bracket.start()], text[bracket.end() :]
    found = [
        before + number + rest
        for part in bracket[1].split(",")
        for number in _numbers(part, name)
        for rest in expanded(after, name)
    ]
    if len(found) > MOST_NODES:
        raise UsageError(f"{name}: {text} stands for more than {MOST_NODES:,} hosts")
    return found


def _numbers(part: str, name: str) -> Iterable[str]:
    first, separator, last = part.partition("-")
    last = last if separator else first
    if not (first.isdecimal() and last.isdecimal() and int(first) <= int(last) < int(first) + MOST_NODES):
        raise UsageError(f"{name}: [{part}] is no range", cure=f"give {_EXAMPLE}")
    return (str(number).zfill(len(first)) for number in range(int(first), int(last) + 1))


def check_once(hosts: Iterable[str], name: str) -> None:
    """UsageError for a host that is named twice."""
    seen: set[str] = set()
    for host in hosts:
        if host in seen:
            raise UsageError(f"{name} names {host} twice", cure="name each host once")
        seen.add(host)


def read_host_file(path: str) -> dict[str, HostSettings]:
    """The hosts of a file, one or a range in each line, with what differs there: ``node[1-8] python=FILE``.

    Several directories of a role have commas between them; ``#`` begins a comment.  InvalidFileError names
    the line.
    """
    try:
        lines = Path(path).read_text().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no text"
        raise UsageError("the file of hosts cannot be read", where=path, why=why) from None
    found: dict[str, HostSettings] = {}
    for number, line in enumerate(lines, 1):
        where = f"{path}: line {number}"
        try:
            words = shlex.split(line, comments=True)
        except ValueError as error:
            raise InvalidFileError(str(error).lower(), where=where) from None
        if words:
            settings = _settings(words[1:], where)
            hosts = [host for part in _APART.split(words[0]) for host in expanded(part, where)]
            check_once([*found, *hosts], where)
            found |= dict.fromkeys(hosts, settings)
    if not found:
        raise InvalidFileError("names no host", where=path, cure="give one in each line")
    return found


def _settings(words: Sequence[str], where: str) -> HostSettings:
    given: dict[str, Any] = {}
    for word in words:
        key, _, value = word.partition("=")
        if key not in HostSettings.__struct_fields__ or not value:
            expected = ", ".join(f"{field}=..." for field in HostSettings.__struct_fields__)
            raise InvalidFileError(f"{word!r} is no setting", where=where, cure=f"give {expected}")
        given[key] = tuple(value.split(",")) if key in ROLES else value
    return HostSettings(**given)
