"""One performance note of a SAS log: its heading and the lines under it.

``whole_note`` matches a whole FULLSTIMER or STIMER note of SAS 9 at once, as nearly all notes of a long log
are.  ``OpenBlock`` takes all others line by line, since page headers and echo may interrupt them.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from mawl.importers.formats.saslog_notes import Above, without_commas
from mawl.importers.formats.saslog_records import (
    STAMP,
    LogFact,
    NoteKind,
    PerformanceNote,
    clock_seconds,
    is_page_header,
    page_instant,
    stamp_instant,
)
from mawl.importers.formats.saslog_write import COUNTS
from mawl.importers.formats.text import text_of
from mawl.records.model.records import TableNote, Usage

TIME = r"[0-9]{1,9}\.[0-9]{1,6} seconds|(?:[0-9]{1,9}:)?[0-9]{1,9}:[0-9]{2}(?:\.[0-9]{1,6})?"
"""A time: with its unit below one minute, ``m:ss.ss`` and ``h:mm:ss.ss`` from there on, and both without a
fraction.  One colon parts minutes and seconds (SAS 9.3 Companion for UNIX, STIMEFMT)."""

_SQL_STATEMENT = "SQL Statement"
SUBJECTS: tuple[tuple[NoteKind, str], ...] = (
    ("data", r"DATA statement"),
    ("procedure", rf"PROCEDURE (\S{{1,64}})|{_SQL_STATEMENT}"),
    ("initialization", r"SAS [Ii]nitialization|initialization phase"),
    ("session", r"The SAS System|The SAS session|SAS session|SAS System"),
    ("view", r"[Vv]iew (\S{1,128})"),
)
"""With ``PROC SQL STIMER`` each statement has a note, "rather than as a cumulative value for the entire
procedure" (SAS SQL Procedure User's Guide, STIMER; Improving Query Performance has such a log)."""
_SUBJECT = "|".join(f"(?P<{kind}>{pattern})" for kind, pattern in SUBJECTS)
HEADING = re.compile(rf"NOTE: (?:The )?(?:{_SUBJECT}) used(?: \(Total process time\))?:\s*")
MAINFRAME = re.compile(
    rf"NOTE: (?:The )?(?:{_SUBJECT}) used (?P<cpu>[0-9]{{1,9}}\.[0-9]{{1,6}}) CPU seconds"
    r"(?: and (?P<memory>[0-9]{1,15})K)?\.\s*"
)
ONE_TIME = re.compile(
    rf"NOTE: (?:The )?(?:{_SUBJECT}) used (?P<real>[0-9]{{1,9}}\.[0-9]{{1,6}}) seconds\.\s*"
)
"""Of releases 6 and 8 on Windows and UNIX, with STIMER."""
RESOURCES = re.compile(rf"NOTE: (?:The )?(?:{_SUBJECT}) used the following resources:\s*")

_TIMES = re.compile(rf"\s*(real time|user cpu time|system cpu time|cpu time)\s+({TIME})\s*")
_MEMORY = re.compile(r"\s*([Mm]emory|OS Memory)\s+([0-9]{1,15}(?:\.[0-9]{1,9})?)k\s*")
_TIMESTAMP = re.compile(rf"\s*Timestamp\s+(?:- +)?({STAMP})\s*")
_STEP_COUNT = re.compile(r"\s*Step Count\s+([0-9]{1,18})\s+Switch Count\s+([0-9]{1,18})\s*")
_COUNT = re.compile(r"\s*(" + "|".join(name for name, _ in COUNTS) + r")\s+([0-9]{1,18})\s*")
_NAMES = re.compile(
    r"\s*(real time|user cpu time|system cpu time|cpu time|[Mm]emory|OS Memory|Timestamp|Step Count|"
    + "|".join(name for name, _ in COUNTS)
    + r")\s{2,}\S.*"
)
_COUNT_FIELDS = dict(COUNTS)
_TIME_FIELDS = {
    "real time": "real_time_seconds",
    "user cpu time": "user_cpu_seconds",
    "system cpu time": "system_cpu_seconds",
    "cpu time": "unsplit_cpu_seconds",
}

_COLUMNS = re.compile(
    rf"\s*(?P<time>real|user cpu|system cpu)\s+(?P<clock>{TIME})"
    r"(?:\s+(?:(?P<fault>page faults|page reclaims)\s+(?P<faults>[0-9]{1,18})"
    r"|usage\s+(?P<usage>[0-9]{1,15}(?:\.[0-9]{1,9})?) (?P<unit>[KMG])))?\s*"
)
_OPERATIONS = re.compile(
    r"\s*(?P<way>input|output)\s+(?P<blocks>[0-9]{1,18})"
    r"(?:\s+(?P<switch>voluntary|involuntary)\s+(?P<switches>[0-9]{1,18}))?\s*"
)
_COLUMN_HEADS = re.compile(r"\s*(?:time:\s+memory:|block I/O operations:\s+context switches:|time:)\s*")
_UNITS = {"K": 2**10, "M": 2**20, "G": 2**30}

_MAINFRAME_LINES = re.compile(
    r"\s*(?P<what>CPU\s+time|Elapsed\s+time|EXCP\s+count|Task\s+memory|Total\s+memory)\s+-\s+"
    r"(?:(?P<clock>[0-9]{1,6}:[0-9]{2}:[0-9]{2}\.[0-9]{1,6})|(?P<number>[0-9]{1,15})(?P<k>K)?)\s*(?:\(.*\))?\s*"
)

_LAST_LINE = re.compile(
    r"\s*(?:cpu time|Memory|Step Count\s+[0-9]{1,18}\s+Switch Count|Block Output Operations|output)\s+[0-9].*"
    r"|\s*Total\s+memory\s+-\s+[0-9].*|\s*Timestamp\s+-\s+[0-9].*"
)
"""The lines with which a note may end: of STIMER, Windows 8.2 (its capital M), Windows 9.4, UNIX, 6.12, z/OS.

One that ends with another is cut, unless a line of blanks follows, or it is an early end."""
_EARLY_END = re.compile(r"\s*(OS Memory|Timestamp)\s+[0-9].*")
"""With which notes of Windows before 9.4 end, which have no counts (9.2 has no Timestamp, either)."""
_WHOLE_VALUE = re.compile(r".*(?:seconds|[AP]M|[0-9][kKM]|:[0-9]{2}\.[0-9]{2}|\))")
"""A value that cannot be the beginning of a longer one; SAS writes hundredths of a second."""


class OpenBlock:
    """A note that is being read: ``line`` is that of its heading."""

    def __init__(self, line: int, heading: re.Match[str], above: Above) -> None:
        kind = next(kind for kind, _ in SUBJECTS if heading[kind])
        self.line, self.kind = line, kind
        self.figures: dict[str, float] = {}
        self.more: dict[str, object] = {"line": line, "kind": kind, **above.fields()}
        if heading[kind] == _SQL_STATEMENT:
            self.more["name"] = "SQL"
        elif kind in ("procedure", "view"):
            self.more["name"] = heading[kind].split(" ", 1)[1]
        self.may_end = False
        self.early_end: str | None = None
        self.mixed = False
        self.split = False

    def take(self, line: str) -> bool:
        """Take a line's figures; False for a line that has none.

        A second, other value for a figure marks the block as ``mixed``: lines of several logs.
        """
        line = without_commas(line)
        self.ends_with(line)
        if match := _TIMES.fullmatch(line):
            self._figure(_TIME_FIELDS[match[1]], clock_seconds(match[2].removesuffix(" seconds")))
        elif match := _MEMORY.fullmatch(line):
            field = "os_memory_bytes" if match[1] == "OS Memory" else "memory_bytes"
            self._figure(field, round(float(match[2]) * 1024))
        elif match := _COUNT.fullmatch(line):
            self._figure(_COUNT_FIELDS[match[1]], int(match[2]))
        elif match := _STEP_COUNT.fullmatch(line):
            self._more("step_count", int(match[1]))
            self._more("switch_count", int(match[2]))
        elif match := _TIMESTAMP.fullmatch(line):
            instant = stamp_instant(match[1])
            if instant is None:
                return False
            self._more("ended_at", instant)
        else:
            return self._columns(line) or self._mainframe(line)
        return True

    def ends_with(self, line: str) -> None:
        self.may_end = _LAST_LINE.fullmatch(line) is not None
        early = _EARLY_END.fullmatch(line)
        self.early_end = early[1] if early else None

    def _columns(self, line: str) -> bool:
        """The two-column layout of release 6.12."""
        if match := _COLUMNS.fullmatch(line):
            field = _TIME_FIELDS[f"{match['time']} time"]
            self._figure(field, clock_seconds(match["clock"].removesuffix(" seconds")))
            if match["fault"]:
                self._figure(match["fault"].replace(" ", "_"), int(match["faults"]))
            elif match["usage"]:
                self._figure("memory_bytes", round(float(match["usage"]) * _UNITS[match["unit"]]))
        elif match := _OPERATIONS.fullmatch(line):
            self._figure(f"block_{match['way']}_operations", int(match["blocks"]))
            if match["switch"]:
                self._figure(f"{match['switch']}_context_switches", int(match["switches"]))
        else:
            return _COLUMN_HEADS.fullmatch(line) is not None
        return True

    def _mainframe(self, line: str) -> bool:
        """The lines under ``used the following resources`` (z/OS, FULLSTATS); EXCPs are no blocks."""
        match = _MAINFRAME_LINES.fullmatch(line)
        if match is None:
            return False
        what = match["what"].split()[0]
        if what in ("CPU", "Elapsed") and match["clock"]:
            self._figure(
                "unsplit_cpu_seconds" if what == "CPU" else "real_time_seconds", clock_seconds(match["clock"])
            )
        elif what in ("Task", "Total") and match["k"]:
            field = "memory_bytes" if what == "Task" else "os_memory_bytes"
            self._figure(field, int(match["number"]) * 1024)
        return True

    def _figure(self, field: str, value: float) -> None:
        self.mixed = self.mixed or self.figures.setdefault(field, value) != value

    def _more(self, field: str, value: float) -> None:
        self.mixed = self.mixed or self.more.setdefault(field, value) != value

    def note(self, *, cut: bool = False) -> PerformanceNote:
        return PerformanceNote(usage=Usage(**self.figures), cut=cut, **self.more)  # type: ignore[arg-type]


def note_of_one_line(line: int, heading: re.Match[str], above: Above) -> PerformanceNote:
    """The note whose heading (a match of ``MAINFRAME`` or ``ONE_TIME``) has its figures."""
    block = OpenBlock(line, heading, above)
    if heading.re is ONE_TIME:
        block.figures["real_time_seconds"] = float(heading["real"])
        return block.note()
    block.figures["unsplit_cpu_seconds"] = float(heading["cpu"])
    if heading["memory"] is not None:
        block.figures["memory_bytes"] = int(heading["memory"]) * 1024
    return block.note()


def names_figure(line: str) -> bool:
    """Whether a line is one of a note's, whatever its value."""
    patterns = (_NAMES, _COLUMNS, _OPERATIONS, _MAINFRAME_LINES)
    return any(pattern.fullmatch(line) for pattern in patterns)


def is_time(line: str) -> bool:
    """Whether a line is one of a note's that gives a time, in any layout."""
    return any(pattern.fullmatch(line) for pattern in (_TIMES, _COLUMNS, _MAINFRAME_LINES))


def value_is_whole(line: str) -> bool:
    """Whether a line without an end gives its whole value: a count may lack digits, ``13k`` does not."""
    return _WHOLE_VALUE.fullmatch(line.rstrip(" \0")) is not None


def unreadable_value(line: str) -> bool:
    """Whether a line names a figure of a note and gives no value that SAS writes."""
    return _NAMES.fullmatch(line) is not None


_CLOCK = (
    rb"([0-9]{1,9}\.[0-9]{1,6}(?= seconds)|(?:[0-9]{1,9}:)?[0-9]{1,9}:[0-9]{2}\.[0-9]{1,6})"
    rb"(?: seconds)?[ ]*+\n"
)
_NUMBER = rb"([0-9]{1,18}+)[ ]*+\n"
_KILOBYTES = rb"([0-9]{1,15}+(?:\.[0-9]{1,9})?)k[ ]*+\n"

_NAME = rb"((?>(?:[A-Za-z_][A-Za-z0-9_]{0,31}\.)?)[A-Za-z_][A-Za-z0-9_]{0,63}+)"
_READ = rb" ?+NOTE: There were ([0-9]{1,18}+) observations read from the data set " + _NAME + rb"\.[ ]*+\n"
_COUNTS = rb"([0-9]{1,18}+) observations and ([0-9]{1,18}+) variables"
_WRITTEN = rb" ?+NOTE: The data set " + _NAME + rb" has " + _COUNTS + rb"\.[ ]*+\n"

_WHOLE = re.compile(
    rb"(?>(?:" + _READ + rb")?)(?>(?:" + _WRITTEN + rb")?)"
    rb" ?+NOTE: (?:(DATA) statement|PROCEDURE ([A-Za-z0-9_]{1,64}+)) used(?: \(Total process time\))?:[ ]*+\n"
    rb"[ ]++real time[ ]++" + _CLOCK + rb"(?>(?:[ ]++cpu time[ ]++" + _CLOCK + rb")?)"
    rb"(?>(?:[ ]++user cpu time[ ]++" + _CLOCK + rb"[ ]++system cpu time[ ]++" + _CLOCK + rb")?)"
    rb"(?>(?:[ ]++[Mm]emory[ ]++" + _KILOBYTES + rb"[ ]++OS Memory[ ]++" + _KILOBYTES + rb")?)"
    rb"(?>(?:[ ]++Timestamp[ ]++(" + STAMP.encode() + rb")[ ]*+\n)?)"
    rb"(?>(?:[ ]++Step Count[ ]++([0-9]{1,18}+)[ ]++Switch Count[ ]++" + _NUMBER + rb")?)"
    rb"(?>(?:[ ]++Page Faults[ ]++" + _NUMBER + rb"[ ]++Page Reclaims[ ]++" + _NUMBER + rb")?)"
    rb"(?>(?:[ ]++Page Swaps[ ]++" + _NUMBER + rb")?)"
    rb"(?>(?:[ ]++Voluntary Context Switches[ ]++" + _NUMBER +
    rb"[ ]++Involuntary Context Switches[ ]++" + _NUMBER + rb")?)"
    rb"(?>(?:[ ]++Block Input Operations[ ]++" + _NUMBER +
    rb"[ ]++Block Output Operations[ ]++" + _NUMBER + rb")?)"
    rb"[ ]*+\n"
)  # fmt: skip


_HEADED = re.compile(
    rb"(?>(?:" + _READ + rb")?)(?>(?:" + _WRITTEN + rb")?)"
    rb" ?NOTE: (?:DATA statement|PROCEDURE [A-Za-z0-9_]{1,64}) used"
)
_PAGE_HEAD = re.compile(rb"\n((?:\f[^\n]*|[^\n]*day, [^\n]*)\n)[ ]*\n")
MOST_BYTES_OF_A_NOTE = 2048

_WHERE_BELOW = rb"(?:(?:(?:\f[^\n]*|[^\n]*day, [^\n]*)\n)?[ ]*\n)? {2,}WHERE "
WHERE_BELOW = re.compile(_WHERE_BELOW)
"""A WHERE, below its note on rows; the head of a page and a line of blanks may be between."""

_ROWS = re.compile(_READ + rb"(?!" + _WHERE_BELOW + rb")|" + _WRITTEN)


def whole_rows(content: bytes, start: int, above: Above) -> int | None:
    """Add what a note on observations tells to ``above``; where its line ends, None for any other line.

    Also None for a note with a WHERE below, which is read line by line.
    """
    match = _ROWS.match(content, start)
    if match is None:
        return None
    _add_rows(above, *match.groups())
    return match.end()


def _add_rows(
    above: Above,
    read: bytes | None,
    read_name: bytes | None,
    written_name: bytes | None,
    written: bytes | None,
    variables: bytes | None,
) -> None:
    # Not Above.add: this is done for nearly every note of a long log.
    counts = above.counts
    if read is not None and read_name is not None:
        rows = int(read)
        before = counts.get("rows_read", 0)
        counts["rows_read"] = None if before is None else before + rows
        above.keep(TableNote(direction="read", name=read_name.decode(), rows=rows))
    if written is not None and written_name is not None and variables is not None:
        if above.repeats(written_name.decode(), int(written), int(variables)):
            return
        rows, columns = int(written), int(variables)
        note = TableNote(direction="written", name=written_name.decode(), rows=rows, variables=columns)
        note = above.as_added(note, rows)
        before = counts.get("rows_written", 0)
        counts["rows_written"] = None if before is None or note.rows is None else before + note.rows
        before = counts.get("variables_written", 0)
        counts["variables_written"] = None if before is None else before + columns
        above.keep(note)


class NotePlace(NamedTuple):
    """A note, where the line of blanks after it ends, and the date in the head of a page within it."""

    note: PerformanceNote
    end: int
    page: LogFact | None


def whole_note(content: bytes, start: int, line: int, above: Above) -> NotePlace | None:
    """The note whose heading, or whose notes on observations, begin at ``start``; else None.

    ``line`` is that at ``start``; ``above`` is what the notes before have told.
    """
    match = _WHOLE.match(content, start)
    if match is not None:
        note = _note(match, line, above)
        return None if note is None else NotePlace(note, match.end(), None)
    if not _HEADED.match(content, start):
        return None
    part = content[start : start + MOST_BYTES_OF_A_NOTE]
    header = _PAGE_HEAD.search(part)
    if header is None or not is_page_header(title := text_of(header[1]), below_blank=True):
        return None
    match = _WHOLE.match(part[: header.start(1)] + part[header.end() :])
    if match is None or match.end() <= header.start(1):
        return None
    note = _note(match, line, above)
    if note is None:
        return None
    page = None
    if "day, " in title and page_instant(title) is not None:
        page = LogFact(line + part.count(b"\n", 0, header.start(1)), "page", title.strip())
    return NotePlace(note, start + match.end() + header.end() - header.start(1), page)


def _note(match: re.Match[bytes], line: int, above: Above) -> PerformanceNote | None:
    """The record; None where the timestamp is none."""
    (read, read_name, written_name, written, variables, data, procedure, real, cpu, user, system,
     memory, os_memory, stamp, step, switch, faults, reclaims, swaps, voluntary, involuntary,
     blocks_in, blocks_out) = match.groups()  # fmt: skip
    ended_at = None
    if stamp is not None:
        ended_at = stamp_instant(stamp.decode())
        if ended_at is None:
            return None
    _add_rows(above, read, read_name, written_name, written, variables)
    counts = above.counts
    return PerformanceNote(
        line=line + (read is not None) + (written is not None),
        kind="procedure" if data is None else "data",
        name=None if procedure is None else procedure.decode(),
        usage=Usage(
            real_time_seconds=clock_seconds(real) if b":" in real else float(real),
            user_cpu_seconds=None if user is None else clock_seconds(user) if b":" in user else float(user),
            system_cpu_seconds=None
            if system is None
            else clock_seconds(system)
            if b":" in system
            else float(system),
            unsplit_cpu_seconds=None if cpu is None else clock_seconds(cpu) if b":" in cpu else float(cpu),
            memory_bytes=None if memory is None else round(float(memory) * 1024),
            os_memory_bytes=None if os_memory is None else round(float(os_memory) * 1024),
            page_faults=None if faults is None else int(faults),
            page_reclaims=None if reclaims is None else int(reclaims),
            page_swaps=None if swaps is None else int(swaps),
            voluntary_context_switches=None if voluntary is None else int(voluntary),
            involuntary_context_switches=None if involuntary is None else int(involuntary),
            block_input_operations=None if blocks_in is None else int(blocks_in),
            block_output_operations=None if blocks_out is None else int(blocks_out),
        ),
        ended_at=ended_at,
        step_count=None if step is None else int(step),
        switch_count=None if switch is None else int(switch),
        rows_read=counts.get("rows_read"),
        rows_written=counts.get("rows_written"),
        variables_written=counts.get("variables_written"),
        notes=above.notes(),
    )
