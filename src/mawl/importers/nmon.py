"""Recordings of nmon as host samples, node facts and settings (docs/design/imported-host.md)."""

from __future__ import annotations

import math
import re
from array import array
from collections import Counter
from collections.abc import Callable, Iterator
from typing import BinaryIO

from mawl.base.units import counted_noun
from mawl.importers.formats.nmon import (
    Clock,
    Fact,
    Header,
    NmonDoubt,
    NmonRow,
    NmonText,
    Unread,
    read_records,
)
from mawl.importers.interface import Context, HostFigures, HostSettings, Item
from mawl.importers.nmon_snapshot import (
    LEFT_ALONE,
    Columns,
    Figures,
    NmonSnapshot,
    RecordedSystem,
    base_of,
    columns_of,
    name_of,
    wanted,
)
from mawl.importers.recording import Recording, whole_lines
from mawl.records.model.run import CoreBasis, NodeFacts, Setting

MOST_SETTINGS = 400
LONGEST_SETTING = 32 * 1024
PAGES = {"x86_64": 4096.0, "i686": 4096.0}
"""Pages of processors that have one size; others are told by ``getconf PAGESIZE`` in the recording."""

ACCOUNTING = "PURR: AIX scales the time of a processor by what its threads share; raw, nothing is adjusted"

_COLON = re.compile(r"\s*([^:]{1,60}?)\s*:\s*(.{1,200})")
_LOGICAL = re.compile(r"\s*([0-9]{1,5})")


class NmonMachine:
    """One recording's machine, line by line."""

    def __init__(self, node_of: Callable[[str | None], str]) -> None:
        self.name, self._node_of = node_of(None), node_of
        self.system = RecordedSystem()
        self.gmt = False
        self.interval_seconds: float | None = None
        self._kernel: str | None = None
        self._model: str | None = None
        self._told: dict[str, str] = {}
        self._configured: int | None = None
        self._settings: dict[str, str] = {}

    def fact(self, fact: Fact) -> None:
        name, value = fact.name.strip(), fact.value.strip()
        self._keep(f"AAA.{name}", value)
        if name == "host" and value:
            self.name = self._node_of(name_of(value))
        elif name == "OS":
            self._kernel = name_of(value.replace(",", " "))
            processor = value.rpartition(",")[2]
            self.system.page_bytes = self.system.page_bytes or PAGES.get(processor)
        elif name in ("AIX", "VIOS"):
            self.system.aix = True
            self._kernel = name_of(f"{name} {value}")
        elif name == "build" and value == "AIX":
            self.system.aix = True
        elif name == "gmt":
            self.gmt = True
        elif name == "hardware":
            self._model = name_of(value)
        elif name == "cpus":
            counts = [float(part) for part in value.split(",") if _LOGICAL.fullmatch(part)]
            self.system.logical_cpus = counts[-1] if counts and counts[-1] > 0 else None

    def text(self, text: NmonText) -> None:
        self._keep(f"{text.section}.{name_of(text.name)}", text.text)
        if text.name == "getconf PAGESIZE" and re.fullmatch(r"[0-9]{4,6}", text.text.strip()):
            self.system.page_bytes = float(text.text)
        elif text.section == "BBBL" and text.name.strip().lower() == "smt threads":
            self._configured = _count(text.text.strip()) or None
        elif text.name in ("lscpu", "lparstat -i", "lparstat") and (match := _COLON.fullmatch(text.text)):
            self._told.setdefault(match[1], match[2].strip())

    def _keep(self, name: str, text: str) -> None:
        old = self._settings.get(name)
        if old is None and len(self._settings) >= MOST_SETTINGS:
            return
        whole = text if old is None else f"{old}\n{text}"
        if len(whole) <= LONGEST_SETTING:
            self._settings[name] = whole

    def settings(self) -> HostSettings:
        values: dict[str, Setting] = dict(self._settings)
        if self.system.aix:
            values["cpu_accounting"] = ACCOUNTING
        for name in ("entitled", "virtualCPUs", "logicalCPUs", "SharedCPU", "Capped"):
            if name in self.system.lpar:
                values[f"lpar.{name}"] = self.system.lpar[name]
        return HostSettings(self.name, values)

    def facts(self) -> NodeFacts:
        cores, basis, smt, virtual = self._aix() if self.system.aix else self._linux()
        logical, memory = self.system.logical_cpus, self.system.memory_bytes
        return NodeFacts(
            name=self.name,
            kernel=self._kernel,
            cpu_model=self._told.get("Model name") or self._model,
            cores=cores,
            core_basis=basis,
            memory_bytes=None if memory is None else round(memory),
            logical_cpus=None if logical is None else round(logical),
            physical_cores=cores if basis == "physical core" else None,
            smt=smt,
            virtual=virtual,
        )

    def _linux(self) -> tuple[int | None, CoreBasis | None, str | None, str | None]:
        """By lscpu: sockets times cores of bare metal, processors of a virtual machine."""
        told = self._told
        virtual = told.get("Hypervisor vendor")
        processors, sockets, each, threads = (
            _count(told.get(name))
            for name in ("CPU(s)", "Socket(s)", "Core(s) per socket", "Thread(s) per core")
        )
        smt = None if threads is None else "on" if threads > 1 else "off"
        if virtual:
            return processors, "vCPU", smt, virtual
        if sockets and each:
            return sockets * each, "physical core", smt, None
        return None, None, smt, None

    def _aix(self) -> tuple[int | None, CoreBasis | None, str | None, str | None]:
        """By LPAR, else ``lparstat -i``: a virtual processor of a dedicated partition is a core."""
        lpar, told = self.system.lpar, self._told
        whole = lpar.get("virtualCPUs") or _count(told.get("Online Virtual CPUs"))
        kind = told.get("Type", "")
        shared = lpar["SharedCPU"] == 1.0 if "SharedCPU" in lpar else kind.startswith("Shared") or None
        if shared is None and kind.startswith("Dedicated"):
            shared = False
        threads = _threads(lpar) or _count(kind.rpartition("SMT-")[2]) or self._configured
        smt = None if threads is None else f"SMT-{threads}"
        virtual = None if shared is None else f"PowerVM {'shared' if shared else 'dedicated'} processors"
        if whole is None or shared is None:
            return None, None, smt, virtual
        return round(whole), "vCPU" if shared else "physical core", smt, virtual


def _threads(lpar: Figures) -> int | None:
    """SMT threads of a virtual processor."""
    logical, virtual = lpar.get("logicalCPUs"), lpar.get("virtualCPUs")
    if not logical or not virtual or logical % virtual:
        return None
    return round(logical / virtual)


def _count(text: str | None) -> int | None:
    return int(text) if text is not None and re.fullmatch(r"[0-9]{1,6}", text) else None


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
        self._begin()

    def _begin(self) -> None:
        """A recording of its own, where several were put into one file."""
        self._machine = NmonMachine(self._context.node_of)
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
