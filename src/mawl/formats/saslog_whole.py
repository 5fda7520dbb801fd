"""A whole FULLSTIMER or STIMER note of SAS 9 in one look: what nearly all notes of a long log are.

Whatever is not exactly this shape is left to :mod:`mawl.formats.saslog_block`, which takes it line by line.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from mawl.formats.decoding import text_of
from mawl.formats.saslog_records import (
    STAMP,
    LogFact,
    PerformanceNote,
    clock_seconds,
    is_page_header,
    page_instant,
    stamp_instant,
)
from mawl.formats.saslog_tables import Above
from mawl.model.step_notes import TableNote
from mawl.model.usage import Usage

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

_ROWS = re.compile(_READ + rb"|" + _WRITTEN)


def whole_rows(content: bytes, start: int, above: Above) -> int | None:
    """Add what a note on observations tells to ``above``; where its line ends, None for any other line."""
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
        rows, columns = above.rows_written(int(written)), int(variables)
        before = counts.get("rows_written", 0)
        counts["rows_written"] = None if before is None else before + rows
        before = counts.get("variables_written", 0)
        counts["variables_written"] = None if before is None else before + columns
        above.keep(TableNote(direction="written", name=written_name.decode(), rows=rows, variables=columns))


class FoundNote(NamedTuple):
    """A note, where the line of blanks after it ends, and the date in the head of a page within it."""

    note: PerformanceNote
    end: int
    page: LogFact | None


def whole_note(content: bytes, start: int, line: int, above: Above) -> FoundNote | None:
    """The note whose heading, or whose notes on observations, begin at ``start``; else None.

    ``line`` is that at ``start``; ``above`` is what the notes before have told.
    """
    match = _WHOLE.match(content, start)
    if match is not None:
        note = _note(match, line, above)
        return None if note is None else FoundNote(note, match.end(), None)
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
    return FoundNote(note, start + match.end() + header.end() - header.start(1), page)


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
