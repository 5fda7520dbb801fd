"""Which hosts the recordings of an import are of, and how many processors they have."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from mawl.base.errors import UsageError
from mawl.importers.formats.text import one_line

MOST_CORES = 100_000
SHARES_ALONE = (
    "the recordings of {} do not give the number of processors: shares of their time are known, seconds are "
    "not (--cores NUMBER)"
)
SHARES_OF_SEVERAL = "{}, and a share of the time of all hosts needs the number of processors of each"


class Cores:
    """How many processors the hosts of an import have, by what the user says or a recording tells."""

    def __init__(self, given: Mapping[str, int] | None = None) -> None:
        """``given`` is by node, ``""`` for all, where a recording does not tell the number."""
        self._given = given or {}
        self._told: dict[str, int] = {}
        self.unknown: set[str] = set()
        """Nodes of which only shares are known: their processors are counted as one, in all files."""

    def of(self, node: str, told: int | None) -> int:
        """The processors of a node, where a recording ``told`` their number or not; 1 where it is unknown."""
        if node in self.unknown:
            return 1
        count = told or self._told.get(node) or self._given.get(node) or self._given.get("")
        if count is None:
            self.unknown.add(node)
            return 1
        self._told[node] = count
        return count

    def known(self, node: str) -> int | None:
        """The number that is known by now."""
        return self._told.get(node)


class HostNames:
    """The node that a recording is of, by the name that it gives its host.

    ``db1`` and ``db1.example.com`` are one host, under the name that comes first.
    """

    def __init__(
        self, unnamed: str | None = None, patterns: Sequence[tuple[str, re.Pattern[str] | None]] = ()
    ) -> None:
        """``unnamed`` is the node of recordings without a name; each of ``patterns`` a node, and the whole
        names that are its, None for all."""
        self._unnamed, self._patterns = unnamed, patterns
        self._seen: dict[str, str] = {}

    def of(self, name: str | None, fallback: str) -> str:
        """The node of a recording that calls its host ``name``, or not at all and lies in ``fallback``."""
        own = name or self._unnamed or fallback
        for node, pattern in self._patterns:
            if pattern is None or pattern.fullmatch(own):
                return node
        if not name:
            return own
        short = own.partition(".")[0].lower()
        first = self._seen.setdefault(short, own)
        return first if "." not in first or "." not in own else own


def parse_cores(given: Sequence[str]) -> dict[str, int]:
    """``[NODE=]NUMBER``; ``UsageError`` for anything else."""
    cores = {}
    for text in given:
        node, _, number = text.rpartition("=")
        if not (re.fullmatch(r"[0-9]{1,6}", number) and 0 < int(number) <= MOST_CORES):
            raise UsageError(f"--cores {text}: expected [NODE=]NUMBER, such as 16 or db1=16")
        cores[node] = int(number)
    return cores


def parse_hosts(unnamed: str | None, given: Sequence[str]) -> HostNames:
    """``--node NAME`` and ``--host NAME[=PATTERN]``; ``UsageError`` for what is no regular expression."""
    patterns: list[tuple[str, re.Pattern[str] | None]] = []
    for text in given:
        name, separator, pattern = text.partition("=")
        try:
            patterns.append((one_line(name) or "node", re.compile(pattern) if separator else None))
        except re.error as error:
            raise UsageError(
                f"--host {text}: not a regular expression: {error}",
                cure="write NAME, or NAME=PATTERN for hosts whose whole names fit: db1='db1|db1-old'",
            ) from None
    return HostNames(one_line(unnamed) if unnamed else None, patterns)
