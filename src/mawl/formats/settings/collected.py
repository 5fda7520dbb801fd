"""The files of a collection: each holds what commands printed, between lines that the collector wrote.

``### mawl AIX1 aix: vmo -a`` begins the output of a command (node, platform), ``### mawl exit 0`` ends it.
A file without such lines is one output; its name or its content shows the command.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence

from mawl.formats.decoding import byte_chunks, text_of
from mawl.formats.settings.commands import command_in, command_named, words_of
from mawl.formats.settings.told import IGNORED, Output

PLATFORMS = ("aix", "linux", "scale", "vios")
MOST_LINES = 200_000
LONGEST_LINE = 4096
"""In characters; no command prints a longer line of settings, so a longer line is ignored."""
_BEGIN = re.compile(
    r"### mawl (?P<node>[\w.-]{1,100}) (?P<platform>aix|linux|scale|vios): (?P<command>\S.{0,200})"
)
_END = re.compile(r"### mawl exit (?P<status>[0-9]{1,3})")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ufffd]")
"""A line with one of these is ignored."""
NOT_FOUND = 127


class Section(Output, frozen=True, kw_only=True):
    """An output with where it is from; None where the file does not say."""

    node: str | None
    platform: str | None
    status: int | None


class UnreadOutput(Output, frozen=True, kw_only=True):
    """A file or a part of one that nothing was read from, and why."""

    reason: str


def lines_of(content: bytes) -> tuple[list[str], bool]:
    """Lines of text in any usual encoding, and whether the last one has an end."""
    whole = b"".join(byte_chunks(io.BytesIO(content)))
    *lines, rest = whole.split(b"\n")
    texts = [text_of(line) for line in lines[:MOST_LINES]]
    return texts + ([text_of(rest)] if rest and len(texts) < MOST_LINES else []), not rest


def sections(name: str, content: bytes) -> Iterator[Section | UnreadOutput]:
    """Outputs of a file; a last line without an end may be cut and counts for nothing."""
    lines, ended = lines_of(content)
    if not ended:
        lines = lines[:-1]
    marks = [place for place, line in enumerate(lines) if line.startswith("###") and _BEGIN.fullmatch(line)]
    if not marks:
        yield _unmarked(name, lines)
        return
    for begin, end in zip(marks, [*marks[1:], len(lines)], strict=True):
        yield _marked(name, lines[begin:end])


def _credible(line: str) -> bool:
    """A line without control characters, and of a length that commands print."""
    return len(line) <= LONGEST_LINE and not _CONTROLS.search(line)


def _believed(lines: Sequence[str]) -> tuple[str, ...]:
    """The lines, :data:`IGNORED` for each that is not credible: it may be the heading of lines below it."""
    return tuple(line if _credible(line) else IGNORED for line in lines)


def _marked(name: str, lines: list[str]) -> Section | UnreadOutput:
    head = _BEGIN.fullmatch(lines[0])
    assert head is not None
    ends = [place for place, line in enumerate(lines) if _END.fullmatch(line)]
    last = _END.fullmatch(lines[ends[0]]) if ends else None
    status = int(last["status"]) if last else None
    command, body = words_of(head["command"]), lines[1 : ends[0] if ends else len(lines)]
    printed = _believed(body)
    if status == NOT_FOUND or not command:
        return UnreadOutput(
            command=command,
            lines=(),
            whole=False,
            file=name,
            reason=f"{head['command']}: no such command there",
        )
    return Section(
        command=command,
        lines=printed,
        whole=status == 0 and IGNORED not in printed,
        file=name,
        node=head["node"],
        platform=head["platform"],
        status=status,
    )


def _unmarked(name: str, lines: list[str]) -> Section | UnreadOutput:
    command, reason = command_named(name.rpartition(".")[0] or name), None
    if not command:
        command, reason = command_in([line for line in lines if _credible(line)])
    if not command:
        return UnreadOutput(command=(), lines=(), whole=False, file=name, reason=reason or "empty")
    return Section(
        command=command,
        lines=_believed(lines),
        whole=False,
        file=name,
        node=None,
        platform=None,
        status=None,
    )
