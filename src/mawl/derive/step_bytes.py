"""Bytes of a step by role: inferred from block operations, rows, record lengths and the tables it names."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Literal

import msgspec

from mawl.derive.steps import READERS, StepFigures
from mawl.derive.tables import Libraries, ObservedSizes, Ranged, about, exactly, in_pages
from mawl.records.model.records import TableNote
from mawl.records.spec.program_options import ROLES, Role

BLOCKS_BELOW, BLOCKS_ABOVE = 0.85, 1.15
"""How far block operations may be off a step's bytes: whole pages, and pages written twice."""

PAGES_TWICE_BYTES = 16384
"""The least that block operations may be above a step's bytes: four pages, begun or written twice."""

Parts = dict[Role, Ranged]
"""Bytes of one direction by role."""

Ends = tuple[float, float]
"""The lowest and the highest of a figure."""


def least_of(blocks: float) -> float:
    """The fewest bytes that a step moved for these bytes of block operations."""
    return max(min(blocks * BLOCKS_BELOW, blocks - PAGES_TWICE_BYTES), 0.0)


def ends_of(parts: Parts) -> Ends:
    return math.fsum(part.low for part in parts.values()), math.fsum(part.high for part in parts.values())


def spread(parts: Parts, named: Parts, blocks: int | None, *, tells: bool, room: float) -> tuple[Parts, Ends]:
    """The parts of one direction with the roles that notes leave open, and the range of all roles together.

    ``parts`` are what was inferred, ``named`` the sizes of the tables that notes name (and of a sort that
    spills).  ``blocks`` are the bytes of block operations (None: not counted); they count all that moves if
    ``tells``.  ``room`` is what the step may move through utility files that no note names.

    Bytes of no table can be of any role.  Tables are at least as large as their lowest size: what is left of
    block operations can be of utility files, and of any role if it is more than the largest tables.
    """
    low, high = ends_of(parts)
    least, most = ends_of(named)
    if not most and parts:
        return {role: _from_nothing(parts.get(role), high) for role in ROLES}, (low, high)
    exceeds = blocks is not None and least_of(blocks) > most
    if blocks is None or not (tells or exceeds):
        return _util_of_roles(parts, room)
    whole = least_of(blocks), blocks * BLOCKS_ABOVE if tells else max(blocks * BLOCKS_ABOVE, high)
    rest = whole[1] - least if exceeds else min(whole[1] - least, room)
    may = ROLES if exceeds else ("util",) if room else ()
    if rest <= 0 or not may:
        return parts, whole
    wider = dict(parts)
    for role, part in named.items():
        lowest = part.low if exceeds else max(part.low, parts[role].low - rest)
        wider[role] = msgspec.structs.replace(parts[role], low=min(parts[role].low, lowest))
    for role in may:
        own = named[role].low if role in named else 0.0
        wider[role] = _up_to(wider.get(role), own + rest, "any-role" if exceeds else "may-spill")
    return wider, whole


def _util_of_roles(parts: Parts, room: float) -> tuple[Parts, Ends]:
    """Add possible utility files to the tables: the log does not tell how much the step moved."""
    low, high = ends_of(parts)
    more = room - (parts["util"].high if "util" in parts else 0.0)
    if more <= 0:
        return parts, (low, high)
    return {**parts, "util": _up_to(parts.get("util"), room, "may-spill")}, (low, high + more)


def _from_nothing(part: Ranged | None, high: float) -> Ranged:
    return msgspec.structs.replace(_up_to(part, high, "any-role"), low=0.0)


def _up_to(part: Ranged | None, high: float, rule: str) -> Ranged:
    if part is None:
        return Ranged(0.0, 0.0, high, "assumed", rule)
    return msgspec.structs.replace(part, high=max(part.high, high))


Direction = Literal["read", "written"]

CACHED_RATIO = 0.9
"""Below this share of reads that devices served, block operations do not tell how much was read."""

UNCOUNTED_BYTES = 2**20
"""Tables of at least so many bytes and no block operation: the file system does not count them (GPFS)."""

MOST_BYTES_PER_SECOND = 1e9
"""The most that a step may have moved if the log has only its time: from memory or fast storage."""

SORTSIZE_BYTES = 2**30
SORTS = ("SORT",)
SPILLS = ("SORT", "SQL", "FEDSQL", "MEANS", "SUMMARY")
"""Procedures that use utility files for what their memory does not hold."""

LEAST_SPILL = 2**20
"""Writes of a sort or a join to no table of a note: utility files from so many bytes on, else a listing."""

FILTERED = ("where-open", "where-whole", "where-index")
PARTLY_READ = (*FILTERED, "part-of-table")
"""Rules of tables of which a step read more than the rows of their notes."""


class Loads(msgspec.Struct, frozen=True):
    """What a step reads and writes in each role; roles in which nothing can move are not in it.

    ``read_range`` and ``written_range`` are of all roles together.  They are narrower than the sums of the
    ranges by role if the logs tell how much a step moved, but not in which role.
    """

    read: Parts
    written: Parts
    read_range: Ends
    written_range: Ends


class Inference:
    """Infers the bytes of steps, which it must be given in the order of their jobs."""

    def __init__(self, libraries: Libraries, *, reads_told: bool) -> None:
        """``reads_told``: block operations count all that is read (``counts_reads``)."""
        self._sizes, self._reads_told = ObservedSizes(libraries), reads_told
        self._libraries = libraries
        self._last: dict[str, tuple[Role, float]] = {}
        """Role and bytes of the table that a job wrote last: procedures that name none read it (_LAST_)."""

    def loads(self, step: StepFigures, job: str) -> Loads:
        if step.io is not None:
            return _counted(step)
        named: dict[Direction, Parts] = {
            "read": self._named(step, job, "read"),
            "written": self._named(step, job, "written"),
        }
        if step.tables and all(note.file_bytes is not None and not note.external for note in step.tables):
            # A command: its notes tell what it moved in each role.
            self._learn(step, job, named["written"], None, may_spill=False)
            return Loads(named["read"], named["written"], ends_of(named["read"]), ends_of(named["written"]))
        kept = self._sorted(step, job)
        if kept is not None:
            named["written"] = kept
        names_util = any("util" in parts for parts in named.values())
        passed = self._named(step, job, "read", passed=True)
        spill = None if names_util else _spill(step, passed)
        if spill is not None and passed == named["read"]:
            named["read"] = _as_large(named["read"], spill.value)
        to_write = _with_util(named["written"], spill)
        blocks_out = self._blocks(step, "written", to_write)
        written = self._direction(step, job, "written", to_write, blocks_out)
        if spill is None and not names_util:
            spill = written.get("util")
        to_read = _with_util(named["read"], spill) if named["read"] else {}
        blocks_in = self._blocks(step, "read", to_read)
        read = self._direction(step, job, "read", to_read, blocks_in)
        to_read = {role: _as_high(part, read.get(role)) for role, part in to_read.items()}
        if spill is not None and not to_read:
            read = _read_back(read, spill, counted=bool(blocks_in) and self._reads_told)
        room = 0.0 if names_util else _room(step, read if passed == named["read"] else passed, spill)
        self._learn(step, job, written, kept, may_spill=room > 0)
        read, read_range = spread(read, to_read, blocks_in, tells=self._reads_told, room=room)
        written, written_range = spread(written, to_write, blocks_out, tells=True, room=room)
        return Loads(read, written, read_range, written_range)

    def size_of(self, note: TableNote, job: str) -> Ranged | None:
        """The bytes of a table that a step has just written; None where its note tells no rows."""
        return self._sizes.of_rows(msgspec.structs.replace(note, direction="read"), job) or (
            self._sizes.of_rows(note, job)
        )

    def _blocks(self, step: StepFigures, direction: Direction, parts: Parts) -> int | None:
        """Bytes of block operations; None if the log has none, or the file system does not count them."""
        blocks = step.read_bytes if direction == "read" else step.written_bytes
        if blocks == 0 and ends_of(parts)[0] >= UNCOUNTED_BYTES and self._tells(direction):
            return None
        return blocks

    def _tells(self, direction: Direction) -> bool:
        """Whether block operations count all that moves; memory hides reads only."""
        return direction == "written" or self._reads_told

    def _named(self, step: StepFigures, job: str, direction: Direction, *, passed: bool = False) -> Parts:
        """Bytes of the tables that notes name; ``passed``: of the rows that a WHERE let pass alone."""
        parts: Parts = {}
        for note in step.tables:
            if note.direction != direction:
                continue
            if passed:
                size = self._sizes.of_rows(note, job)
            else:
                size = self._sizes.of(note, job, indexed=step.indexes_used > 0)
            if size is not None:
                if size.high == math.inf:
                    size = msgspec.structs.replace(size, high=max(size.value, _most_bytes(step)))
                role = self._libraries.role_of(note)
                parts[role] = size if role not in parts else _added(parts[role], size)
        return parts

    def _direction(
        self, step: StepFigures, job: str, direction: Direction, parts: Parts, blocks: int | None
    ) -> Parts:
        tells = self._tells(direction)
        expected = math.fsum(part.value for part in parts.values())
        if direction == "read" and not parts and not (blocks and tells):
            parts = self._read_last(step, job, blocks or 0)
            if parts:
                return parts
        if blocks is None:
            unnamed = direction == "read" and not parts and step.procedure in READERS
            told = (step.tables and not unnamed) or step.remote_tables
            return parts if told else _at_most(step, direction)
        partly = next((role for rule in PARTLY_READ for role, one in parts.items() if one.rule == rule), None)
        if partly is not None:
            return _with_rest(blocks, parts, partly, tells=tells)
        if not expected:
            return _unnamed(step, next(iter(parts), self._usual(step, job, direction)), blocks, tells=tells)
        if not tells and blocks < expected:
            if blocks < ends_of(parts)[0]:
                return {role: _cached(part, blocks / expected) for role, part in parts.items()}
            return {role: _at_least(one, parts[role]) for role, one in _shared_out(blocks, parts).items()}
        beyond = blocks - BLOCKS_ABOVE * ends_of(parts)[1]
        if step.procedure in SPILLS and (beyond >= LEAST_SPILL or (beyond > 0 and "util" in parts)):
            rest = about(blocks - expected, 0.0, 1.0, "inferred", "rest-util")
            return {**parts, "util": _added(parts["util"], rest) if "util" in parts else rest}
        return _shared_out(blocks, parts)

    def _usual(self, step: StepFigures, job: str, direction: Direction) -> Role:
        """The role of block operations if no note names a table of that direction."""
        if direction == "read":
            return self._last[job][0] if job in self._last else "data"
        return "util" if step.procedure in SPILLS and (step.written_bytes or 0) >= LEAST_SPILL else "work"

    def _read_last(self, step: StepFigures, job: str, least: int) -> Parts:
        """The table that the job wrote last, for a procedure that reads one and names none."""
        role, size = self._last.get(job, ("data", 0.0))
        if step.procedure not in READERS or step.remote_tables or not size:
            return {}
        value = max(size, float(least))
        most = max(2 * value, _most_bytes(step))
        return {role: Ranged(value, least_of(least), most, "assumed", "last-table")}

    def _sorted(self, step: StepFigures, job: str) -> Parts | None:
        """What a sort writes: rows as wide as those that it read; None where that width is not known."""
        reads = [note for note in step.tables if note.direction == "read"]
        writes = [note for note in step.tables if note.direction == "written" and not note.external]
        if step.procedure not in SORTS or len(reads) != 1 or len(writes) != 1 or not reads[0].rows:
            return None
        size = self._sizes.of_rows(reads[0], job)
        if size is None or size.rule != "written-width" or writes[0].rows is None:
            return None
        part = in_pages(size.times(writes[0].rows / reads[0].rows))
        role = self._libraries.role_of(writes[0])
        return {role: msgspec.structs.replace(part, rule="sorted-width")}

    def table_bytes(self, note: TableNote, step: StepFigures, job: str) -> float:
        """About what the step moves of one of its tables, as far as rows and widths tell."""
        size = self._sizes.of(note, job, indexed=step.indexes_used > 0)
        return 0.0 if size is None else size.value

    def known_reads(self, step: StepFigures, job: str, *, filtered: bool) -> float | None:
        """Bytes of the tables that a step reads, where the width or size of all of them is known.

        ``filtered``: also of steps with a WHERE, which read less of their tables if an index found the rows.
        """
        notes = [note for note in step.tables if note.direction == "read"]
        if not filtered and any(note.filtered for note in notes):
            return None
        sizes = [self._sizes.whole(note, job) for note in notes]
        known = [size.value for size in sizes if size is not None and size.rule in ("written-width", "file")]
        return math.fsum(known) if sizes and len(known) == len(sizes) else None

    def _learn(
        self, step: StepFigures, job: str, written: Parts, parts: Parts | None, *, may_spill: bool
    ) -> None:
        """What the step shows of the tables it wrote: the width where it wrote one and its blocks count.

        If it ``may_spill``, its blocks can be of utility files, too: the width is at most that.
        """
        tables = [note for note in step.tables if note.direction == "written"]
        alone = len(tables) == 1 and len(written) == 1 and not tables[0].external
        known = alone and step.written_bytes and next(iter(written.values())).rule == "blocks"
        size = float(step.written_bytes or 0) if known else None
        if parts is not None and size is None:
            size = sum(part.value for part in parts.values())
        for note in tables:
            self._sizes.wrote(note, job, size, at_most=may_spill and parts is None)
            part = self._sizes.of(note, job) if size is None else None
            bytes_ = size if part is None else part.value
            self._last[job] = self._libraries.role_of(note), bytes_ or 0.0


def counts_reads(share: float | None) -> bool:
    """Whether block operations count all that is read; ``share`` is what ``device_share`` found."""
    return share is not None and share >= CACHED_RATIO


def device_share(steps: Iterable[tuple[StepFigures, str]], libraries: Libraries) -> float | None:
    """The share of reads of known size that block operations count; None where no step shows it.

    Known are tables whose width the block operations of their writing told, since memory does not keep a
    write from being counted.  It is the median of the steps by bytes, which single wrong widths do not move.
    Steps with a WHERE count only if there are no others: the share is at least theirs.
    """
    inference = Inference(libraries, reads_told=False)
    plain: list[tuple[float, float]] = []
    where: list[tuple[float, float]] = []
    for step, job in steps:
        if step.read_bytes is not None and step.procedure not in SORTS and not step.indexes_used:
            for shares, filtered in ((plain, False), (where, True)):
                if expected := inference.known_reads(step, job, filtered=filtered):
                    shares.append((step.read_bytes / expected, expected))
        inference.loads(step, job)
    shares = plain or where
    half = math.fsum(weight for _, weight in shares) / 2
    for share, weight in sorted(shares):
        half -= weight
        if half <= 0:
            return share
    return None


def _counted(step: StepFigures) -> Loads:
    io = step.io or {}
    read = {role: exactly(io[role].read_bytes, "counted") for role in ROLES if role in io}
    written = {role: exactly(io[role].written_bytes, "counted") for role in ROLES if role in io}
    return Loads(read, written, ends_of(read), ends_of(written))


def _with_util(named: Parts, spill: Ranged | None) -> Parts:
    return named if spill is None else {**named, "util": spill}


def _as_large(parts: Parts, size: float) -> Parts:
    """Tables of that size in all: what a sort reads is as large as what it spills."""
    whole = math.fsum(part.value for part in parts.values())
    return {
        role: msgspec.structs.replace(part, value=min(max(part.value * size / whole, part.low), part.high))
        for role, part in parts.items()
    }


def _read_back(read: Parts, spill: Ranged, *, counted: bool) -> Parts:
    """Reads of a step whose notes name no table that it reads: the utility files that it wrote, and ``read``.

    If block operations count all reads (``counted``), both are parts of them.
    """
    if not counted:
        return {**read, "util": msgspec.structs.replace(spill, low=0.0)}
    ((role, part),) = read.items()
    back = min(spill.value / part.value, 1.0)
    if role == "util":
        return read
    return {role: part.times(1.0 - back), "util": part.times(back)}


def _spill(step: StepFigures, read: Parts) -> Ranged | None:
    """What a sort moves through utility files, each way, where its notes name none."""
    if step.procedure not in SORTS or step.sort in ("sorted", "source") or not read:
        return None
    sorted_ = list(read.values())
    whole = sorted_[0] if len(sorted_) == 1 else _sum(sorted_)
    memory = step.memory_bytes if step.memory_bytes is not None else SORTSIZE_BYTES
    half = (step.read_bytes or 0) / 2
    if whole.rule != "written-width" and whole.low < half < whole.high:
        whole = msgspec.structs.replace(whole, value=half)
    if whole.value <= memory:
        return None
    return Ranged(
        whole.value, 0.0 if whole.low <= memory else whole.low, whole.high, "inferred", "sort-spill"
    )


def _room(step: StepFigures, read: Parts, spill: Ranged | None) -> float:
    """Bytes that the step may write to utility files and read back, on which SAS writes no note.

    A sort whose input fits into its memory uses none, unless it wrote more than its tables (``spill``); nor
    does a step with less than a MiB, such as the rows that a WHERE let pass.
    """
    most = math.fsum(part.high for role, part in read.items() if role != "util")
    if step.procedure not in SPILLS or step.sort in ("sorted", "source") or most < LEAST_SPILL:
        return 0.0
    sorts = step.procedure in SORTS and step.memory_bytes is not None
    return 0.0 if sorts and spill is None and most <= (step.memory_bytes or 0) else most


def _as_high(part: Ranged, found: Ranged | None) -> Ranged:
    """A table of which the step read more than its rows: what no other table explains is of this one."""
    if found is None or part.rule not in PARTLY_READ:
        return part
    return msgspec.structs.replace(part, high=max(part.high, found.high))


def _with_rest(blocks: float, parts: Parts, partly: Role, *, tells: bool) -> Parts:
    """Block operations of a step that read more of a table than its rows: those that no other table explains.

    The other roles keep their sizes.  If block operations do not count all that is read, they are the least.
    """
    others = {role: part for role, part in parts.items() if role != partly}
    expected = math.fsum(part.value for part in others.values())
    least, most = ends_of(others)
    mine = parts[partly]
    rest = blocks - expected
    # Of a part of a table, the kernel reads more ahead than the step reads.
    part = mine.rule in ("part-of-table", "where-index") or (mine.rule == "where-whole" and rest < mine.value)
    low = mine.low if part else max(mine.low, least_of(blocks) - most)
    high = max(blocks * BLOCKS_ABOVE - least, mine.low)
    rule = "where-blocks" if mine.rule in FILTERED else mine.rule
    if not tells:
        value = max(rest, mine.value)
        high = max(high, mine.high)
        if rest < mine.value:
            rule = mine.rule if mine.rule in FILTERED else "blocks-cached"
    elif rest < mine.low:
        return _shared_out(blocks, parts)
    else:
        value = rest
        others = {
            role: msgspec.structs.replace(part, high=max(min(part.high, blocks * BLOCKS_ABOVE), part.value))
            for role, part in others.items()
        }
    return {**others, partly: Ranged(value, min(low, value), max(high, value), mine.origin, rule)}


def _shared_out(blocks: float, parts: Parts) -> Parts:
    """Block operations, by the sizes of tables: what one role can have depends on what the others must."""
    low, high = least_of(blocks), blocks * BLOCKS_ABOVE
    if len(parts) == 1:
        return {role: Ranged(blocks, low, high, "inferred", "blocks") for role in parts}
    whole = math.fsum(part.value for part in parts.values())
    found: Parts = {}
    for role, part in parts.items():
        least = _share(part.low, math.fsum(one.high for other, one in parts.items() if other != role))
        most = _share(part.high, math.fsum(one.low for other, one in parts.items() if other != role))
        value = blocks * part.value / whole
        found[role] = Ranged(
            value, min(low * least, value), max(high * most, value), part.origin, "blocks-by-tables"
        )
    return found


def _share(part: float, others: float) -> float:
    return part / (part + others) if part + others > 0 else 0.0


def _at_least(blocks: Ranged, part: Ranged) -> Ranged:
    """Block operations that the size of the tables allows for: memory may have served more."""
    return msgspec.structs.replace(blocks, high=max(blocks.high, part.high), rule="blocks-at-least")


def _cached(part: Ranged, share: float) -> Ranged:
    """The size of tables, where memory served what block operations lack."""
    least = max(part.low, part.value * share * BLOCKS_BELOW)
    return Ranged(part.value, min(least, part.value), part.high, part.origin, "blocks-cached")


def _unnamed(step: StepFigures, role: Role, blocks: int, *, tells: bool) -> Parts:
    """Block operations of a step whose notes name no table of that direction, or empty ones."""
    most = blocks * BLOCKS_ABOVE if tells else max(_most_bytes(step), blocks * BLOCKS_ABOVE)
    if not blocks:
        return (
            {role: Ranged(0.0, 0.0, most, "told" if tells else "assumed", "no-input-output")} if most else {}
        )
    return {role: Ranged(float(blocks), least_of(blocks), most, "assumed", "blocks-role")}


def _at_most(step: StepFigures, direction: Direction) -> Parts:
    """A step of which nothing is told but its time."""
    role: Role = "data" if direction == "read" else "work"
    return {role: Ranged(0.0, 0.0, _most_bytes(step), "assumed", "no-blocks")}


def _most_bytes(step: StepFigures) -> float:
    return (step.real_seconds or step.cpu_seconds or 0.0) * MOST_BYTES_PER_SECOND


def _added(one: Ranged, other: Ranged) -> Ranged:
    return _sum([one, other])


def _sum(parts: Sequence[Ranged]) -> Ranged:
    worst = max(parts, key=lambda part: part.high - part.low)
    return Ranged(
        math.fsum(part.value for part in parts),
        math.fsum(part.low for part in parts),
        math.fsum(part.high for part in parts),
        worst.origin,
        worst.rule,
    )
