"""Recordings of nmon (AIX and Linux) as host samples (docs/design/imported-host.md)."""

from __future__ import annotations

import math
import re
from array import array
from collections import Counter
from collections.abc import Iterator
from pathlib import PurePath
from typing import BinaryIO

from mawl.formats.nmon import Clock, Fact, Header, NmonDoubt, NmonRow, NmonText, Unread, read_records
from mawl.importers.interface import Context, HostFigures, Item
from mawl.importers.nmon_sections import LEFT_ALONE, Columns, base_of, columns_of, name_of, wanted
from mawl.importers.nmon_snapshot import NmonSnapshot
from mawl.importers.nmon_system import NmonMachine
from mawl.importers.recording import Recording, whole_lines
from mawl.units import counted_noun

POOL = "Pool_id"
"""The last column of LPAR: rows may lack it, and no other."""

MOST_HELD_FIGURES = 8_000_000
"""Figures that wait for the time of their snapshot (a file put in order by ``sort`` has times last)."""

MOST_SECTIONS = 200

_FIRST = re.compile(rb"(^|\n)(AAA[,;](progname|host|command|version)[,;]|ZZZZ[,;]T[0-9]{4}[,;])")


class Nmon:
    """Files that ``nmon -f`` and ``topas_nmon`` write."""

    kind = "nmon"
    title = "recordings of nmon, AIX and Linux"

    def recognises(self, first: bytes, name: str) -> float:
        """By the lines AAA and ZZZZ, also where these stand last (sorted files)."""
        found = len({match[2] for match in _FIRST.finditer(first)})
        if found >= 2:
            return 1.0
        return 0.8 if found else 0.1 if ".nmon" in name else 0.0

    def read(self, stream: BinaryIO, context: Context) -> Iterator[Item]:
        """Samples in the order of the file, then each node with its settings."""
        return _NmonReader(context).items(stream)


class _NmonReader:
    """One file."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._machines: dict[str, NmonMachine] = {}
        self._recordings: dict[str, Recording] = {}
        self._unread: Counter[str] = Counter()
        self._last: dict[str, float] = {}
        self._fallback = name_of(PurePath(context.file).name.partition(".")[0]) or "node"
        self._begin()

    def _begin(self) -> None:
        """A recording of its own, where several were put into one file."""
        self._machine = NmonMachine(self._fallback)
        self._columns: dict[str, Columns] = {}
        self._clocks: dict[str, float] = {}
        self._held: dict[str, list[tuple[int, str, array[float]]]] = {}
        self._held_figures = 0
        self._lost: Counter[str] = Counter()
        self._snapshot: NmonSnapshot | None = None
        self._tag = ""
        self._before: tuple[int, float] | None = None
        """Number and time of the snapshot before."""

    def items(self, stream: BinaryIO) -> Iterator[Item]:
        skip = self._context.skip
        for record in read_records(whole_lines(stream, skip), wanted):
            if isinstance(record, NmonRow):
                self._row(record)
            elif isinstance(record, Clock):
                yield from self._clock(record)
            elif isinstance(record, NmonDoubt):
                skip(record.line, record.reason, record.text)
            elif isinstance(record, Fact):
                if record.name == "progname" and (self._clocks or self._columns):
                    yield from self._end()
                    self._begin()
                self._machine.fact(record)
            elif isinstance(record, NmonText):
                self._machine.text(record)
            elif isinstance(record, Header):
                self._header(record)
            elif isinstance(record, Unread):
                self._not_read(record.section)
        yield from self._end()
        for section, lines in sorted(self._unread.items()):
            skip(
                None, f"section {section} ({counted_noun(lines, 'line')}) is not one that this version reads"
            )
        for machine in self._machines.values():
            yield machine.facts()
            yield machine.settings()

    def _not_read(self, section: str) -> None:
        if not LEFT_ALONE.fullmatch(section):
            known = section in self._unread or len(self._unread) < MOST_SECTIONS
            self._unread[section if known else "others"] += 1

    def _header(self, header: Header) -> None:
        ports_seen = any(name.startswith("FC") for name in self._columns)
        self._machine.system.sections.add(base_of(header.section))
        self._columns[header.section] = columns_of(header.section, header.columns, ports_seen=ports_seen)
        if header.section.startswith("FC") and "IOADAPT" in self._columns:
            adapters = self._columns["IOADAPT"]
            self._columns["IOADAPT"] = columns_of("IOADAPT", adapters.names, ports_seen=True)

    def _clock(self, clock: Clock) -> Iterator[HostFigures]:
        yield from self._flush()
        if clock.tag in self._clocks:  # begun again, without a word
            machine = self._machine
            columns = self._columns
            self._tell_lost()
            self._begin()
            self._machine, self._columns = machine, columns
        self._clocks[clock.tag] = clock.at
        self._tag, self._snapshot = clock.tag, NmonSnapshot()
        for line, section, values in self._held.pop(clock.tag, []):
            self._held_figures -= len(values)
            known = [None if math.isnan(value) else value for value in values]
            self._take(self._snapshot, NmonRow(line, section, clock.tag, known))

    def _row(self, row: NmonRow) -> None:
        if row.tag == self._tag and self._snapshot is not None:
            self._take(self._snapshot, row)
        elif row.tag in self._clocks:
            self._context.skip(row.line, f"a line of {row.tag} after the next snapshot began", "")
        elif self._held_figures + len(row.values) > MOST_HELD_FIGURES:
            self._lost[row.tag] += 1
        else:
            held = array("d", [math.nan if value is None else value for value in row.values])
            self._held.setdefault(row.tag, []).append((row.line, row.section, held))
            self._held_figures += len(held)

    def _take(self, snapshot: NmonSnapshot, row: NmonRow) -> None:
        """A line of a snapshot whose time is known; in a sorted file its header may have come after it."""
        columns = self._columns.get(row.section)
        if columns is None:
            self._context.skip(row.line, f"a line of {row.section} without a header", "")
            return
        values, count = row.values, len(columns.names)
        while len(values) > count and values[-1] is None:
            values.pop()
        if columns.names[-1:] == [POOL] and len(values) == count - 1:
            values.append(None)  # nmon of AIX writes the heading of a pool and no pool
        if len(values) != count:
            # A short line does not say which figure it lacks: those behind it would shift.
            reason = f"a line of {row.section} with {len(values)} figures, where its header has {count}"
            self._context.skip(row.line, reason, "")
        else:
            snapshot.take(columns, values)

    def _flush(self) -> Iterator[HostFigures]:
        """The snapshot that is complete: its rates are of the time since the one before."""
        snapshot, self._snapshot = self._snapshot, None
        if snapshot is None:
            return
        machine = self._machine
        snapshot.close(machine.system)
        read = self._context.absolute if machine.gmt else self._context.local
        at = read(self._clocks[self._tag])
        number = int(self._tag[1:])
        since = self._before[1] if self._before and self._before[0] == number - 1 else None
        first, self._before = self._before is None, (number, at)
        if since is not None and at <= since:
            since = None
        before = self._last.get(machine.name)
        if before is not None and at <= before:
            self._context.skip(None, f"{self._tag} is of a time that was read before: left out")
            return
        self._last[machine.name] = at
        self._context.blocks += 1
        if since is not None:
            for name, amount in snapshot.gains.items():
                snapshot.rates[name] = amount / (at - since)
        else:
            snapshot.rates |= dict.fromkeys(snapshot.gains, 0.0)
            why = "the recording does not say" if first else f"no snapshot T{number - 1:04d} says"
            self._context.skip(None, f"the rates of {self._tag} are left out: {why} when its interval began")
        self._machines[machine.name] = machine
        recording = self._recordings.setdefault(machine.name, Recording(machine.name))
        yield from recording.interval(since, at, snapshot.rates, snapshot.gauges)

    def _end(self) -> Iterator[HostFigures]:
        yield from self._flush()
        self._tell_lost()

    def _tell_lost(self) -> None:
        for tag, rows in self._held.items():
            self._lost[tag] += len(rows)
        if not self._lost:
            return
        tags, lines = sorted(self._lost), sum(self._lost.values())
        named = ", ".join(tags[:5]) + (f" and {len(tags) - 5} more" if len(tags) > 5 else "")
        self._context.skip(None, f"no line ZZZZ gives the time of {named}: {lines} lines are left out")


IMPORTER = Nmon()
