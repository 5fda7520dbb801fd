"""SAS logs as a stream of performance notes, and of facts that show where sessions begin and end.

Reads STIMER and FULLSTIMER of SAS 8.2, 9 and Viya, the two columns of 6.12 and the notes of z/OS, also where
page headers and echo interrupt them (docs/design/sas-log.md).  Memory does not grow with the log.
What is absent is None, never 0; what looks like a note and cannot be read is reported with its line.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, BinaryIO, cast

from mawl.importers.formats.saslog_block import (
    HEADING,
    MAINFRAME,
    MOST_BYTES_OF_A_NOTE,
    ONE_TIME,
    RESOURCES,
    WHERE_BELOW,
    OpenBlock,
    is_time,
    names_figure,
    note_of_one_line,
    unreadable_value,
    value_is_whole,
    whole_note,
    whole_rows,
)
from mawl.importers.formats.saslog_nesting import with_nesting
from mawl.importers.formats.saslog_notes import (
    Above,
    Details,
    damaged_rows,
    exported_table,
    fact,
    like_a_figure,
    like_a_heading,
    look_alike,
    may_go_on,
    removal_note,
    table_note,
)
from mawl.importers.formats.saslog_records import (
    DateOrder,
    Entry,
    LogFact,
    PerformanceNote,
    is_page_header,
    page_instant,
    with_month_first,
)
from mawl.importers.formats.saslog_scan import DONE, FULL, UNFINISHED
from mawl.importers.formats.text import LONGEST_LINE_BYTES, byte_chunks, text_of

if TYPE_CHECKING:
    from mawl.importers.formats.saslog_scan import NoteBatch, Scanner

MOST_LINES_BETWEEN = 100
"""Lines of echo and page headers that may stand between two lines of a note."""

MOST_LINES_OF_A_NOTE = 4
MOST_DETAILS = 12
"""Indented lines below a note that are searched for its details."""

UNIX = ("Linux", "AIX", "SunOS", "Solaris", "HP-UX", "OSF1")
"""Platforms whose notes of FULLSTIMER have counts below the Timestamp."""

LEAST_SCANNED_BYTES = 64 * 1024
"""Smaller logs are read by Python alone: a batch of few notes costs more than it saves."""

_NOTE = b"NOTE:"
_NEEDLES = (b"ERROR", b"PASS HEADER ", b"day, ", b"Elapsed time ", b"INFO: Index ", b"records created in ")
"""What all lines that matter outside a block contain; a log is searched for them, not split into lines."""
_TIMES = (b"real time ", b" cpu ")

Skip = Callable[[int, str, str], None]


class LogReader:
    """Reads one log; ``entries`` may be taken once."""

    def __init__(
        self,
        stream: BinaryIO,
        skip: Skip,
        scanner: Callable[[], Scanner | None] | None = None,
        dates: DateOrder = "month-first",
    ) -> None:
        """``skip`` is told the line (from 1), the reason and the text of what is left out or doubtful.

        ``scanner`` is asked for one when the log is large enough; with it whole notes come in batches.
        ``dates`` is the order of day and month in the timestamps.
        """
        chunks = byte_chunks(stream)
        self._chunks, self._skip = with_month_first(chunks) if dates == "day-first" else chunks, skip
        self._make_scanner = scanner
        self._scanner: Scanner | None = None
        self._above = Above()
        self._details: Details | None = None
        self._detail_lines = 0
        self._block: OpenBlock | None = None
        self._below: list[Entry] = []
        """What heads of pages below a blank line tell: of the next lines, if the block ended there.

        A session's total is the last note, so that a head below it is compared with the session's first."""
        self._between = 0
        self._blank = False
        self._page = False
        self._joined: list[str] = []
        self._joined_line = 0
        self._suspect: tuple[int, str] | None = None
        self._stray = 0
        self._line = 1
        self._unix = False
        self._followed: set[str] = set()

    def entries(self) -> Iterator[Entry]:
        """Notes and facts in the order of the log; only for a reader without a scanner."""
        return cast("Iterator[Entry]", self.parts())

    def parts(self) -> Iterator[Entry | NoteBatch]:
        """Notes and facts in the order of the log, whole notes also in batches."""
        rest, dropping = b"", False
        for chunk in self._chunks:
            if dropping:
                _, newline, chunk = chunk.partition(b"\n")
                if not newline:
                    continue
                self._line, dropping = self._line + 1, False
            if self._make_scanner is not None and len(chunk) >= LEAST_SCANNED_BYTES:
                self._scanner, self._make_scanner = self._make_scanner(), None
            content = rest + chunk
            whole = content.rfind(b"\n") + 1
            too_long = len(content) - whole > LONGEST_LINE_BYTES
            yield from self._content(content, whole, last=too_long)
            rest = content[self._read :]
            if too_long:
                self._skip(self._line, f"longer than {LONGEST_LINE_BYTES} bytes: not read", "")
                rest, dropping = b"", True
        if rest:
            whole = rest.rfind(b"\n") + 1
            yield from self._content(rest, whole, last=True)
            rest = rest[whole:]
        yield from self._waiting_batch()
        if rest:
            yield from self._last_line(text_of(rest))
        yield from self._end()

    def _waiting_batch(self) -> Iterator[NoteBatch]:
        """The batch that waits, if any: it comes before all that is read after it."""
        if self._scanner is not None and self._scanner.holds:
            batch = self._scanner.take()
            if batch.has("ended_at"):
                self._followed.add("OS Memory")
            if batch.has("step_count") or batch.has("page_faults"):
                self._followed |= {"OS Memory", "Timestamp"}
            yield batch

    def _scan(self, scanner: Scanner, content: bytes, length: int, at: int) -> tuple[int, int]:
        """Let the scanner read from ``at``; returns the place where it stopped, and why."""
        before = scanner.notes
        stopped, self._line, reason = scanner.run(content, length, at, self._line)
        if scanner.notes > before:
            self._above = Above()
        return stopped, reason

    def _content(self, content: bytes, length: int, *, last: bool) -> Iterator[Entry | NoteBatch]:
        """Whole lines: jump from needle to needle, and go line by line only inside a block.

        Lines are those of ``content[:length]``.  ``self._read`` is then how much was read: less than
        ``length`` if a note may go on behind it and the content is not the ``last``.
        """
        places = [-1] * (1 + len(_NEEDLES))
        at = counted = 0
        self._read = length
        while at < length:
            if not self._is_within(content, at):
                if self._scanner is not None and self._above.tells_nothing:
                    self._line += content.count(b"\n", counted, at)
                    at, reason = self._scan(self._scanner, content, length, at)
                    counted = at
                    if reason == DONE or (reason == UNFINISHED and not last):
                        self._read = at
                        break
                    yield from self._waiting_batch()
                    if reason == FULL:
                        continue
                elif (at := self._next_line(content, at, places)) >= length:
                    break
                self._line += content.count(b"\n", counted, at)
                counted = at
                if not last and length - at <= MOST_BYTES_OF_A_NOTE:
                    self._read = at
                    break
                known = whole_note(content, at, self._line, self._above)
                if known is not None:
                    self._above = Above()
                    if len(self._followed) < 2:
                        self._remember_endings(known.note)
                    if known.page is not None:
                        yield known.page
                    yield known.note
                    at = known.end
                    continue
                if (after := whole_rows(content, at, self._above)) is not None:
                    at = after
                    continue
            end = content.find(b"\n", at)
            self._line += content.count(b"\n", counted, at)
            counted = at
            yield from self._read_line(text_of(content[at : min(end, at + LONGEST_LINE_BYTES)]))
            at = end + 1
        self._line += content.count(b"\n", counted, self._read)

    def _is_within(self, content: bytes, at: int) -> bool:
        """Whether the line at a place belongs to what is being read, or a WHERE is below its note."""
        if self._details == "where" and not WHERE_BELOW.match(content, at):
            self._details = None
        return bool(self._block or self._joined or self._suspect or self._details)

    def _next_line(self, content: bytes, at: int, places: list[int]) -> int:
        """The beginning of the next line that matters, from ``at`` on; the length of the content if none."""
        if content.startswith(b"NOTE: ", at):
            return at
        found = self._next_needle(content, at, places)
        return content.rfind(b"\n", at, found) + 1 or at if found < len(content) else found

    def _next_needle(self, content: bytes, at: int, places: list[int]) -> int:
        """The next place of a needle at or after ``at``; the length of the content where there is none.

        ``places`` keeps the next one of the notes, of anything else, and of each other needle.
        """
        length = len(content)
        note = content.find(_NOTE, at)
        if places[0] < at:
            for index, needle in enumerate(_NEEDLES, 1):
                if places[index] < at:
                    found = content.find(needle, at)
                    places[index] = length if found < 0 else found
            places[0] = min(places[1:])
        nearest = places[0] if note < 0 else min(note, places[0])
        for needle in _TIMES:
            found = content.find(needle, at, nearest)
            nearest = nearest if found < 0 else found
        return nearest

    def _read_line(self, line: str) -> Iterator[Entry]:
        if self._joined:
            if len(self._joined) < MOST_LINES_OF_A_NOTE and line.startswith("  ") and not names_figure(line):
                self._joined.append(line.strip())
                text = " ".join(self._joined)
                if self._is_whole_note(text):
                    self._joined = []
                    yield from self._note(text, self._joined_line)
                return
            if is_page_header(line, below_blank=False) or (self._page and not line.strip()):
                self._page = True
                yield from self._fact(line)
                return
            yield from self._give_up(line)
        yield from self._below_a_note(line)
        text = line[1:] if line.startswith((" NOTE:", " ERROR", " PASS")) else line
        if text.startswith("NOTE:"):
            if self._blank:
                yield from self._close()
            yield from self._note(text.rstrip(), self._line)
            return
        if self._block is not None:
            yield from self._line_in_block(self._block, line)
        if self._block is None:
            yield from self._line_outside_blocks(text)

    def _below_a_note(self, line: str) -> Iterator[LogFact]:
        if self._suspect is not None:
            number, text = self._suspect
            self._suspect = None
            if like_a_figure(line):
                self._skip(number, look_alike(text), text)
                self._stray = self._line - 1
                if is_time(line):
                    yield LogFact(number, "unread", "")
        if self._details is not None:
            self._detail_lines += 1
            if line.startswith("  ") and self._detail_lines <= MOST_DETAILS:
                self._above.detail(self._details, line)
                if self._details == "libref" and (engine := self._above.engine(line)) is not None:
                    yield LogFact(self._line, "libref", engine)
            elif self._details != "where":  # the head of a page can be above a WHERE
                self._details = None

    def _give_up(self, below: str) -> Iterator[LogFact]:
        """A note that did not become whole: what it would have told is not known, and that is said."""
        text, self._joined = " ".join(self._joined), []
        if " used" in text and names_figure(below):
            self._skip(self._joined_line, "a performance note whose heading cannot be read", text)
            yield LogFact(self._joined_line, "unread", "")
            self._stray = self._line - 1
        elif fields := damaged_rows(text):
            self._skip(self._joined_line, "a note on rows that cannot be read: their number is unknown", text)
            for field in fields:
                self._above.count(field, None)

    def _line_in_block(self, block: OpenBlock, line: str) -> Iterator[Entry]:
        if not line.strip():
            self._blank = self._blank or (bool(block.figures) and not self._page)
            return
        page = is_page_header(line, below_blank=self._blank)
        if self._blank and not page:
            yield from self._close()
            return
        ended, self._page, self._blank = self._blank, page, False
        if page and ended and block.kind != "session":
            self._below.extend(self._fact(line))
        elif page:
            yield from self._fact(line)
        elif block.take(line):
            self._between = 0
            yield from self._below
            self._below.clear()
        elif unreadable_value(line):
            self._skip(self._line, "not a value as SAS writes it", line.strip())
        else:
            yield from self._fact(line)
            self._between += 1
            if self._between > MOST_LINES_BETWEEN:
                yield from self._close()

    def _line_outside_blocks(self, text: str) -> Iterator[Entry]:
        if "NOTE: " in text and HEADING.search(text):
            self._skip(self._line, "quotes a performance note: it does not begin its line", text.strip())
        elif is_time(text):
            yield from self._without_heading()
        elif text.startswith("INFO: Index "):
            self._above.take(text)
        elif "records created in " in text and (table := exported_table(text)) is not None:
            self._above.add(table)
        else:
            yield from self._fact(text)

    def _without_heading(self) -> Iterator[LogFact]:
        """A figure of a step that is not known: it is not the next step's, nor are the rows above it."""
        self._above = Above()
        if self._line > self._stray + 1:
            self._skip(self._line, "figures without a heading: of which step is not known", "")
            yield LogFact(self._line, "unread", "")
        self._stray = self._line

    def _fact(self, text: str) -> Iterator[Entry]:
        text = text[1:] if text.startswith((" ERROR", " PASS")) else text
        told = fact(text)
        if told is not None:
            yield LogFact(self._line, *told)
        elif "day, " in text and page_instant(text) is not None:
            yield LogFact(self._line, "page", text.strip())

    def _is_whole_note(self, text: str) -> bool:
        return bool(
            HEADING.fullmatch(text)
            or MAINFRAME.fullmatch(text)
            or ONE_TIME.fullmatch(text)
            or RESOURCES.fullmatch(text)
            or table_note(text)
            or removal_note(text)
            or fact(text)
        )

    def _note(self, text: str, line: int) -> Iterator[Entry]:
        if heading := (HEADING.fullmatch(text) or RESOURCES.fullmatch(text)):
            yield from self._close()
            self._open(line, heading)
        elif found := (MAINFRAME.fullmatch(text) or ONE_TIME.fullmatch(text)):
            yield from self._close()
            yield note_of_one_line(line, found, self._above)
            self._above = Above()
        elif table := table_note(text):
            self._above.add(table)
            if table.external:
                self._details, self._detail_lines = "records", 0
            elif table.direction == "read":
                self._details, self._detail_lines = "where", 0
        elif told := fact(text):
            yield from self._close()
            self._unix = self._unix or (told[0] == "platform" and told[1].startswith(UNIX))
            yield LogFact(line, *told)
        else:
            self._details, self._detail_lines = self._above.take(text), 0
            if like_a_heading(text):
                yield from self._close()
                self._suspect = (line, text)
            elif may_go_on(text) and not self._joined and removal_note(text) is None:
                self._joined, self._joined_line, self._page = [text], line, False

    def _open(self, line: int, heading: object) -> None:
        self._block = OpenBlock(line, heading, self._above)  # type: ignore[arg-type]
        self._above, self._details = Above(), None
        self._between, self._blank, self._page = 0, False, False

    def _close(self, *, cut: bool = False) -> Iterator[Entry]:
        """End the open block, if any; a heading without a figure is no note, nor is a mixture of several."""
        block, self._block = self._block, None
        if block is None:
            return
        if not block.figures:
            self._skip(block.line, "a heading without figures: cut off, or no performance note", "")
        elif block.mixed:
            self._skip(block.line, "two values for one figure: lines of several notes are mixed", "")
            yield LogFact(block.line, "unread", "")
        else:
            if cut:
                self._skip(block.line, "the file ends within this note: what is absent is not known", "")
            note = block.note(cut=cut)
            self._remember_endings(note)
            yield note
        yield from self._below
        self._below.clear()

    def _last_line(self, text: str) -> Iterator[Entry]:
        """A line without an end may be cut: its figure counts only where that shows it whole.

        The note itself is whole where the line is one with which notes end.
        """
        if self._block is not None and names_figure(text) and not value_is_whole(text):
            self._skip(self._line, "the file ends within this line: its figure is left out", text.strip())
            self._block.ends_with(text)
            self._block.early_end = None
        else:
            yield from self._read_line(text)

    def _end(self) -> Iterator[Entry]:
        if self._joined:
            yield from self._give_up("")
        block = self._block
        if block is None:
            return
        early = block.early_end is not None and not self._has_lines_after(block.early_end)
        if early and not self._blank and block.figures:
            reason = f"the file ends with this {block.early_end}: more lines of the note may be missing"
            self._skip(self._line, reason, "")
        yield from self._close(cut=not (self._blank or block.may_end or early))

    def _has_lines_after(self, line: str) -> bool:
        """Whether notes of this log have more lines after that one: as other notes before, or by platform."""
        return self._unix or line in self._followed

    def _remember_endings(self, note: PerformanceNote) -> None:
        """Remember with which lines the notes of this log do not end."""
        if note.ended_at is not None:
            self._followed.add("OS Memory")
        if note.step_count is not None or note.usage.page_faults is not None:
            self._followed |= {"OS Memory", "Timestamp"}


def read_log(stream: BinaryIO, skip: Skip, dates: DateOrder = "month-first") -> Iterator[Entry]:
    """Notes and facts of a log; ``skip`` is told what was left out.  No log whatever raises anything."""
    return cast("Iterator[Entry]", with_nesting(LogReader(stream, skip, dates=dates).entries()))


def read_parts(stream: BinaryIO, skip: Skip, dates: DateOrder = "month-first") -> Iterator[Entry | NoteBatch]:
    """As ``read_log``, with the whole notes of large logs in batches if the scanner can be built."""
    from mawl.importers.formats.saslog_scan import scanner

    return with_nesting(LogReader(stream, skip, scanner, dates).parts())


def read_notes(lines: Iterable[str]) -> Iterator[PerformanceNote]:
    """The performance notes of a log's lines, in order; a heading without a figure is none.

    Row counts of the notes above a block belong to it.
    """
    content = "".join(line.rstrip("\r\n") + "\n" for line in lines).encode("utf-8", "replace")
    for entry in read_log(io.BytesIO(content), lambda *_: None):
        if isinstance(entry, PerformanceNote):
            yield entry
