"""SAS logs inside something else, as plain logs: a server's logging facility, HTML, JSON, notebooks.

The logging facility puts a prefix before each line.  Sites choose its pattern, so mawl goes by its shape: a
date and time first, then words, then the message.  Lines of several sessions lie between each other.  A
workspace server runs each step of a session in another thread, one after another: such threads are one log,
and threads whose lines alternate are a log each (``_Threads``).  Lines of all plain logs lie in temporary
files, so that memory does not grow with the file.
"""

from __future__ import annotations

import io
import re
import struct
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from functools import lru_cache
from html.parser import HTMLParser
from itertools import chain
from tempfile import SpooledTemporaryFile
from typing import IO, Any, BinaryIO, NamedTuple, Protocol, cast

from mawl.base.foreign import json_record
from mawl.importers.formats.saslog_languages import in_english, language_of
from mawl.importers.formats.text import (
    CHUNK_BYTES,
    byte_chunks,
    encoding_of,
    moment,
    numbered_lines,
    text_of,
    whole_of,
)


class Skip(Protocol):
    """Told the line of the file (None: all of it) and the reason why something was left out."""

    def __call__(self, line: int | None, reason: str, text: str = "", /) -> None: ...


HEAD_BYTES = 64 * 1024
SPOOLED_BYTES = 64 * 1024
"""What of a plain log is kept in memory."""
MOST_LOGS = 200
"""Of one file: each has two temporary files."""
MOST_DOCUMENT_BYTES = 64 * 2**20
"""A larger JSON document is not read, since all of it must be in memory.  JSON lines are read one by one."""
MOST_DOCUMENT_PARTS = 8_000_000
MOST_TAG_CHARACTERS = 1 << 20
DEEPEST = 40

_PLACE = struct.Struct("<qd")
_HEAD = struct.Struct("<qqdi")
"""Of a line that waits for its log: its thread, its line of the file, its clock and how long its text is."""
_UNKNOWN = float("-inf")


class PlainLog(NamedTuple):
    """A log as SAS writes it to a file.

    ``place`` gives the line of the file for a line of ``stream`` (both from 1) and the wall clock when it was
    written, in seconds as if it were UTC; None without one.  ``zoned``: the file names the zone of its clock.
    ``wrapped``: its lines are not those of the file.
    """

    stream: BinaryIO
    place: Callable[[int], tuple[int, float | None]]
    zoned: bool = False
    wrapped: bool = True


def decoded(head: bytes) -> str:
    """The beginning of a file as text."""
    return head.decode(encoding_of(head), "replace").removeprefix("\ufeff").replace("\r\n", "\n")


def is_notebook(text: str) -> bool:
    """Whether a file is a notebook; its first log can lie far behind pictures."""
    return _NOTEBOOK.match(text) is not None


def plain_logs(head: bytes, stream: BinaryIO, skip: Skip) -> Iterator[PlainLog]:
    """The plain logs that a file holds: one, or one for each thread of a server.

    ``head`` is what was read of the stream.  A log is closed when the next one is asked for.
    """
    whole = _stream(_rejoined(head, stream))
    text = decoded(head)
    shape = prefix_of(text)
    if shape is not None:
        yield from _sessions(whole, shape, skip)
    elif _HTML.match(text) or (text.lstrip()[:1] == "{" and _HTML_BELOW.search(text)):
        yield from _logs(lambda logs: _read_html(whole, logs, skip), skip)
    elif text.lstrip()[:1] in ("{", "["):
        yield from _logs(lambda logs: _read_json(whole, logs, skip), skip)
    elif (language := language_of(text)) is not None:
        yield PlainLog(_stream(in_english(byte_chunks(whole), language)), _as_it_is, wrapped=False)
    else:
        yield PlainLog(whole, _as_it_is, wrapped=False)


def _as_it_is(line: int) -> tuple[int, None]:
    return line, None


def _stream(chunks: Iterable[bytes]) -> BinaryIO:
    return cast("BinaryIO", _Chunks(chunks))


class _Chunks(io.RawIOBase):
    """A stream whose reads give one chunk each, however many bytes were asked for."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = iter(chunks)

    def read(self, _: int = -1) -> bytes:
        return next((chunk for chunk in self._chunks if chunk), b"")


def _rejoined(head: bytes, stream: BinaryIO) -> Iterator[bytes]:
    yield head
    while chunk := stream.read(CHUNK_BYTES):
        yield chunk


def _spooled(stack: ExitStack) -> SpooledTemporaryFile[bytes]:
    return stack.enter_context(SpooledTemporaryFile(max_size=SPOOLED_BYTES))


class _Lines:
    """A plain log that is being collected: its lines, and the place of each."""

    def __init__(self, stack: ExitStack) -> None:
        self.text, self.places = _spooled(stack), _spooled(stack)
        self.zoned = False
        self._count = 0

    def add(self, text: str, line: int | None, instant: float | None) -> None:
        """Add a line; one without a number of the file's gets that of the plain log."""
        self._count += 1
        self.text.write(text.replace("\n", " ").encode("utf-8", "replace") + b"\n")
        self.places.write(
            _PLACE.pack(self._count if line is None else line, _UNKNOWN if instant is None else instant)
        )

    def add_text(self, text: str, instant: float | None) -> None:
        """Add the lines of a text that the file does not have as lines."""
        for line in text.split("\n"):
            self.add(line, None, instant)

    def log(self) -> PlainLog:
        self.text.seek(0)
        head = self.text.read(HEAD_BYTES).decode("utf-8", "replace")
        self.text.seek(0)
        language = language_of(head)
        stream: Any = self.text
        if language is not None:
            stream = _stream(in_english(byte_chunks(stream), language))
        return PlainLog(stream, self._place, self.zoned)

    def _place(self, line: int) -> tuple[int, float | None]:
        self.places.seek((line - 1) * _PLACE.size)
        packed = self.places.read(_PLACE.size)
        if len(packed) < _PLACE.size:
            return line, None
        place, instant = _PLACE.unpack(packed)
        return place, None if instant == _UNKNOWN else instant


def _logs(read: Callable[[_Lines], None], skip: Skip) -> Iterator[PlainLog]:
    """The one log of a file that ``read`` collects."""
    with ExitStack() as stack:
        lines = _Lines(stack)
        _collected(lambda: read(lines), skip)
        yield lines.log()


def _collected(collect: Callable[[], None], skip: Skip) -> None:
    try:
        collect()
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        skip(None, f"its lines cannot be kept in a temporary file ({reason}): the rest is not read")


_DATE = (
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T -][0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]{1,9})?"
    r"(?:Z|[+-][0-9]{2}:?[0-9]{2})?"
)
_FINER = re.compile(r"(\.[0-9]{6})[0-9]+")
"""Digits of a time beyond microseconds."""
_DATED = re.compile(rf"({_DATE})([^\n]*?)(?=(?:NOTE|WARNING): )", re.MULTILINE)
_LEVEL = re.compile(r"TRACE|DEBUG|INFO|WARN|WARNING|ERROR|FATAL")
_NUMBERED = re.compile(r"[\[(]?[0-9A-Fa-f]*[0-9][0-9A-Fa-f]*[\])]?")
_WORD = re.compile(r"[^\s;,|]+")
_CLIENT = re.compile(r"[\w.-]*:[^\s;,|()]+")
_BANNER = re.compile(r"NOTE: (?:SAS \([rR]\) |This session is executing on )")
FEWEST_DATED = 2


def prefix_of(text: str) -> re.Pattern[str] | None:
    """The pattern of the prefix that most dated notes of a text have; None where a log has no prefixes.

    Groups: ``date``, ``message``, ``number1`` and so on (process, thread), and ``client`` (``7:sasdemo``).
    """
    shapes = Counter(
        shape
        for line in text.split("\n")
        if line[:4].isdigit() and (match := _DATED.match(line)) and (shape := _shape(match[2])) is not None
    )
    if not shapes:
        return None
    shape, count = shapes.most_common(1)[0]
    return re.compile(rf"(?P<date>{_DATE}){shape}(?P<message>.*)") if count >= FEWEST_DATED else None


def _shape(between: str) -> str | None:
    """A pattern of what stands between date and message; None where nothing does."""
    words = list(_WORD.finditer(between))
    pattern, numbers = r"[\s;,|]*", 0
    for word in words:
        if _LEVEL.fullmatch(word[0]):
            pattern += f"(?:{_LEVEL.pattern})"
        elif _NUMBERED.fullmatch(word[0]):
            numbers += 1
            pattern += rf"(?P<number{numbers}>{_NUMBERED.pattern})"
        elif _CLIENT.fullmatch(word[0]) and "P<client>" not in pattern:
            pattern += r"(?P<client>[^\s;,|]+)"
        elif any(letter.isalnum() for letter in word[0]):
            pattern += r"[^\s;,|]+"
        else:
            pattern += re.escape(word[0])
        pattern += r"[\s;,|]+" if word is not words[-1] else ""
    end = between[words[-1].end() :] if words else ""
    blanks = len(end) - len(end.rstrip(" "))
    return pattern + rf"[\s;,|]{{{len(end) - blanks}}}" + " " * blanks if words else None


def _sessions(stream: BinaryIO, prefix: re.Pattern[str], skip: Skip) -> Iterator[PlainLog]:
    """A log for each session; a line without the prefix goes on with the message above it."""
    with ExitStack() as stack:
        logs: dict[int, _Lines] = {}
        _collected(lambda: _split(stream, prefix, logs, stack, skip), skip)
        for lines in logs.values():
            yield lines.log()


class _Threads:
    """Which threads of a server write one log, as far as the order of their lines shows.

    A thread that begins while another is silent is within it until that one goes on: so are the steps of a
    session, and steps that these run.  A thread that goes on after one around it did is of another session.
    Clients (``%X{Client.ID}:%u`` in SAS's own patterns) have logs of their own.
    """

    def __init__(self) -> None:
        self.numbers: dict[tuple[str | None, ...], int] = {}
        self.apart: set[int] = set()
        """Threads whose lines alternate with those of another."""
        self._open: dict[str | None, list[int]] = {}
        self._ended: set[int] = set()

    def of(self, client: str | None, words: Iterable[str]) -> int:
        """The number of the thread that writes the next line."""
        number = self.numbers.setdefault((client, *words), len(self.numbers))
        opened = self._open.setdefault(client, [])
        if opened and opened[-1] == number:
            return number
        if number in self._ended:
            self.apart.add(number)
        elif number in opened:
            place = opened.index(number) + 1
            self._ended.update(opened[place:])
            del opened[place:]
        elif number not in self.apart:
            opened.append(number)
        return number

    def clients(self) -> list[str | None]:
        """The client of each thread, by its number."""
        return [client for client, *_ in self.numbers]


def _split(
    stream: BinaryIO, prefix: re.Pattern[str], logs: dict[int, _Lines], stack: ExitStack, skip: Skip
) -> None:
    """Collect the lines of each session; first all lines with their threads, then each line into its log."""
    threads, waiting = _Threads(), _spooled(stack)
    numbers = [name for name in prefix.groupindex if name.startswith("number")]
    with_client = "client" in prefix.groupindex
    zoned = False
    thread = -1
    instant: float | None = None
    for line, text in numbered_lines(stream, skip):
        match = prefix.match(text)
        if match is not None:
            instant, zoned = _instant(match["date"])
            thread = threads.of(match["client"] if with_client else None, [match[name] for name in numbers])
            text = match["message"]
        if thread >= 0:
            encoded = text.encode("utf-8", "replace")
            at = _UNKNOWN if instant is None else instant
            waiting.write(_HEAD.pack(thread, line, at, len(encoded)) + encoded)
    waiting.seek(0)
    _distribute(waiting, threads, _Logs(logs, stack, skip, zoned))


class _Logs:
    """The logs of a file's sessions; a new one begins with the banner that the file has had so far."""

    def __init__(self, logs: dict[int, _Lines], stack: ExitStack, skip: Skip, zoned: bool) -> None:
        self._logs, self._stack, self._skip, self._zoned = logs, stack, skip, zoned
        self._banner: list[tuple[str, int]] = []
        self._refused = False

    def add(self, log: int, text: str, line: int, instant: float | None) -> None:
        found = self._logs.get(log)
        if found is None:
            if len(self._logs) >= MOST_LOGS:
                if not self._refused:
                    self._skip(line, f"more than {MOST_LOGS} sessions: those from here on are not read")
                self._refused = True
                return
            found = self._logs[log] = _Lines(self._stack)
            found.zoned = self._zoned
            for banner, place in self._banner:
                found.add(banner, place, None)
        found.add(text, line, instant)
        if _BANNER.match(text) and len(self._banner) < 8:
            self._banner.append((text, line))


def _distribute(waiting: IO[bytes], threads: _Threads, logs: _Logs) -> None:
    """Put each line into the log of its session: that of the line before it, unless its thread is apart."""
    clients = threads.clients()
    log_of: dict[int, int] = {}
    last: dict[str | None, int] = {}
    while head := waiting.read(_HEAD.size):
        thread, line, at, size = _HEAD.unpack(head)
        client = clients[thread]
        if thread not in log_of:
            log_of[thread] = thread if thread in threads.apart else last.get(client, thread)
        last[client] = log_of[thread]
        text = waiting.read(size).decode("utf-8", "replace")
        logs.add(log_of[thread], text, line, None if at == _UNKNOWN else at)


@lru_cache(maxsize=256)
def _instant(date: str) -> tuple[float | None, bool]:
    """The wall clock of a prefix, UTC where it names a zone, and whether it does."""
    clock = _FINER.sub(r"\1", date[11:].replace(",", "."))
    read = moment(f"{date[:10]} {clock}")
    if read is None:
        return None, False
    at, ahead, _ = read
    return (at, False) if ahead is None else (at - ahead, True)


_HTML = re.compile(r"\s*<(?:!doctype html|html|head|body|pre|div|\?xml)", re.IGNORECASE)
_HTML_BELOW = re.compile(r"^<(?:h[1-6]|hr|pre|div|html|!doctype)\b", re.IGNORECASE | re.MULTILINE)
"""A stored process that failed sends its log as HTML below what it had sent until then, such as JSON."""
_NOTEBOOK = re.compile(r'\s*\{.*"cell_type"\s*:', re.DOTALL)
_BLOCKS = frozenset(("div", "p", "li", "tr", "pre", "h1", "h2", "h3", "td", "br", "body"))
_NO_TEXT = frozenset(("script", "style", "title"))


class _HtmlText(HTMLParser):
    """Gives the text of a page line by line: an element that is a block begins and ends a line."""

    def __init__(self, logs: _Lines) -> None:
        super().__init__(convert_charrefs=True)
        self._logs, self._line, self._number, self._hidden = logs, "", 1, 0
        self._opened = self._closed = False

    def handle_starttag(self, tag: str, _: object) -> None:
        if tag in _NO_TEXT:
            self._hidden += 1
        elif tag == "br":
            self.end_line()
        elif tag in _BLOCKS:
            if self._line:
                self.end_line()
            self._opened = True

    def handle_endtag(self, tag: str) -> None:
        if tag in _NO_TEXT:
            self._hidden = max(self._hidden - 1, 0)
        elif tag in _BLOCKS and (self._line or self._opened):
            self.end_line()
            self._closed = True

    def handle_data(self, data: str) -> None:
        if self._hidden:
            return
        between, self._closed = self._closed, False
        for place, line in enumerate(data.replace("\xa0", " ").split("\n")):
            if place > 1 or (place == 1 and (self._line or not between)):
                self.end_line()
            if not self._line:
                self._number = self.getpos()[0] + place
            self._line += line

    def end_line(self) -> None:
        self._logs.add(self._line, self._number, None)
        self._line, self._opened = "", False


def _read_html(stream: BinaryIO, logs: _Lines, skip: Skip) -> None:
    parser = _HtmlText(logs)
    for chunk in byte_chunks(stream):
        parser.feed(text_of(chunk))
        if len(parser.rawdata) > MOST_TAG_CHARACTERS:
            skip(parser.getpos()[0], "an element of more than a million characters: the rest is not read")
            return
    parser.close()
    parser.end_line()


def _read_json(stream: BinaryIO, logs: _Lines, skip: Skip) -> None:
    """Lines of Viya's compute service (collections, lists, a JSON text a line) and the logs of notebooks."""
    chunks = byte_chunks(stream)
    first = next(chunks, b"")
    line, newline, rest = first.lstrip().partition(b"\n")
    if newline and rest[:1] in (b"{", b"[") and _decoded(line) is not None:
        for number, text in numbered_lines(_stream(chain([first], chunks)), skip):
            node = _decoded(text)
            if node is not None:
                _walk(node, logs, DEEPEST)
            elif text.strip():
                skip(number, "no JSON text")
        return
    content = whole_of(chain([first], chunks), MOST_DOCUMENT_BYTES)
    if content is None:
        skip(None, f"a JSON document of more than {MOST_DOCUMENT_BYTES >> 20} MiB: save the log as text")
    elif (document := _decoded(content)) is None:
        skip(None, "a JSON document that is cut short or damaged, or has more parts than mawl reads")
    else:
        _walk(document, logs, DEEPEST)


def _decoded(text: bytes | bytearray | str) -> Any:
    """A JSON text as plain data; None where it is none, or beyond the bounds of foreign text."""
    try:
        return json_record(text, object, most_bytes=MOST_DOCUMENT_BYTES, most_parts=MOST_DOCUMENT_PARTS)
    except ValueError:
        return None


def _walk(node: object, logs: _Lines, depth: int) -> None:
    """Collect the lines of a log wherever they lie in a document, in its order."""
    if depth == 0:
        return
    if isinstance(node, dict):
        line = node.get("line", node.get("message"))
        if isinstance(line, str):
            at = node.get("timeStamp", node.get("@timestamp"))
            instant, zoned = _instant(at) if isinstance(at, str) else (None, False)
            logs.zoned = logs.zoned or zoned
            logs.add_text(line, instant)
            return
        for value in node.values():
            _walk(value, logs, depth - 1)
    elif isinstance(node, list):
        if node and all(isinstance(part, str) for part in node):
            _walk_text("".join(node), logs, depth)
            return
        for value in node:
            _walk(value, logs, depth - 1)
    elif isinstance(node, str):
        _walk_text(node, logs, depth)


def _walk_text(text: str, logs: _Lines, depth: int) -> None:
    """The log that a text holds: plain, as HTML, or as JSON once more; most texts hold none."""
    if "NOTE" not in text or "used" not in text:
        return
    if text.lstrip()[:1] in ("[", "{") and (node := _decoded(text)) is not None:
        _walk(node, logs, depth - 1)
    elif text.lstrip().startswith("<"):
        parser = _HtmlText(logs)
        parser.feed(text)
        parser.close()
        parser.end_line()
    else:
        logs.add_text(text, None)
