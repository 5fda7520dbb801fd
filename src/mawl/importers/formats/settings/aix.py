"""What commands of AIX and of a virtual I/O server print of settings.

Sources: IBM, AIX commands reference: vmo, ioo, no, schedo and raso (output of ``-a``, ``-x`` and ``-L``),
lsattr (``-E -l``), ulimit, smtctl, lparstat (``-i``), lspath, mount; IBM, Virtual I/O Server commands: lsmap
(``-all``, ``-all -npiv``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from mawl.importers.formats.settings.output import NOT_WHOLE, NodeSettings, Output
from mawl.records.model.series_metrics import MACHINE

_NAME = r"(?P<name>[A-Za-z_][\w.%]{0,63})"
_ASSIGNED = re.compile(rf"\s*{_NAME}\s*=\s*(?P<value>\S{{1,60}})\s*")
_COLUMNS = r"(?P<value>\S{1,20})(?:\s+\S{1,20}){1,6}?(?:\s+[SDBRCMId])?\s*"
_LISTED = re.compile(rf"{_NAME}\s+{_COLUMNS}")
_COMMA = re.compile(rf"{_NAME},(?P<value>[^,\s]{{1,60}}),.*")
_WRAPPED_NAME = re.compile(rf"{_NAME}\s*")
_WRAPPED_VALUES = re.compile(rf"\s{{10,}}{_COLUMNS}")
_VALUE = re.compile(r"-?[0-9]+[KMGTPE]?(?:-1)?|0x[0-9a-fA-F]+|n/a|[a-z]\w*")
_ATTRIBUTE = re.compile(r"(?P<name>[A-Za-z_][\w.]{0,63})\s+(?P<value>\S{1,200})(?:\s+.*)?")
_LIMIT = re.compile(r"(?P<name>[a-z][a-z ]{1,30}?)\s*\([^)]*\)\s+(?P<value>unlimited|[0-9]{1,20})\s*")

_NUMBER = re.compile(r"(0[xX][0-9a-fA-F]{1,15}|[0-9]{1,18})([KMGT]?)")
_POWERS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


def tunables(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Name and current value of what a tunables command printed; heads and rules are no settings.

    ``NAME = VALUE`` of ``-a``, ``NAME,CURRENT,...`` of ``-x``, and the columns NAME CUR DEF ... of ``-L``,
    which puts the values of a long name on a line of their own.
    """
    for number_, line in enumerate(lines):
        match = _ASSIGNED.fullmatch(line) or _COMMA.fullmatch(line) or _LISTED.fullmatch(line)
        if match and match["name"] != "NAME" and _VALUE.fullmatch(match["value"]):
            yield match["name"], match["value"]
        before, following, after = (_line(lines, number_ + step) for step in (-1, 1, 2))
        name, values = _WRAPPED_NAME.fullmatch(line), _WRAPPED_VALUES.fullmatch(following)
        alone = not _WRAPPED_NAME.fullmatch(before) and not _WRAPPED_VALUES.fullmatch(after)
        if name and values and alone and _VALUE.fullmatch(values["value"]):
            yield name["name"], values["value"]


def _line(lines: Sequence[str], place: int) -> str:
    return lines[place] if 0 <= place < len(lines) else ""


def attributes(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Attribute and value of ``lsattr -El DEVICE``.

    An attribute may have no value; the word after its name is then the first of the description.  So mawl
    must know the column of the values and the column of the descriptions.  A line shows both if its value has
    two or more blanks after it, then a description, then True or False.  Most lines must fit these columns;
    otherwise there is no attribute.
    """
    rows = [match for line in lines if (match := _ATTRIBUTE.fullmatch(line.rstrip()))]
    starts = [_columns(row) for row in rows]
    shown = {
        columns
        for row, columns in zip(rows, starts, strict=True)
        if columns[1] - row.end("value") > 1 and len(row.string[columns[1] :].split()) > 1
    }

    def having(columns: tuple[int, int]) -> int:
        return sum(start == columns or start[0] == columns[1] for start in starts)

    held = max(shown, key=having, default=None)
    if held is None or 2 * having(held) <= len(rows):
        return
    for row, columns in zip(rows, starts, strict=True):
        if columns == held:
            yield row["name"], row["value"]


def _columns(row: re.Match[str]) -> tuple[int, int]:
    """Where the word after the name begins, and the word after that one (or where the line ends)."""
    rest = row.string[row.end("value") :]
    return row.start("value"), len(row.string) - len(rest.lstrip())


def limits(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Limit and value of ``ulimit -a``."""
    matches = (_LIMIT.fullmatch(line.strip()) for line in lines)
    return ((match["name"], match["value"]) for match in matches if match)


def number(text: str) -> int | None:
    """``0x200000``, ``73728``, ``72K`` (1024-based, as the tunables commands print); None for a word."""
    match = _NUMBER.fullmatch(text)
    if match is None:
        return None
    return int(match[1], 0 if match[1][:2] in ("0x", "0X") else 10) * _POWERS[match[2]]


def read_tunables(output: Output, settings: NodeSettings) -> None:
    """``vmo``, ``ioo``, ``no``, ``schedo`` and ``raso``."""
    for name, value in tunables(output.lines):
        _put_number(settings, output.command[0], MACHINE, name, value)


def _put_number(settings: NodeSettings, family: str, subject: str, name: str, value: str) -> None:
    """``72K`` and ``73728`` of two listings are one value: the first text stays."""
    held = settings.subjects(family).get(subject, {}).get(name)
    if not (isinstance(held, str) and number(held) is not None and number(held) == number(value)):
        settings.put(family, subject, name, value)


DEVICE = re.compile(r"(?P<family>sys|hdisk|fcs|fscsi|entstat|ent|en)[0-9]{1,5}")
_STORAGES = (
    ("2810XIV", "XIV"),
    ("FlashSystem-9840", "FlashSystem 840"),
    ("FlashSystem", "FlashSystem"),
    ("2145", "Spectrum Virtualize"),
)
"""Product of a disk's inquiry data, which is part of the attribute unique_id."""


def read_attributes(output: Output, settings: NodeSettings) -> None:
    """``lsattr -El DEVICE``, and ``lsdev -dev DEVICE -attr`` of a virtual I/O server."""
    match = next((match for word in output.command[1:] if (match := DEVICE.fullmatch(word))), None)
    if match is None:
        return
    family = "sys0" if match["family"] == "sys" else match["family"]
    for name, value in attributes(output.lines):
        if (name, value) == ("attribute", "value"):
            continue
        settings.put(family, match[0], name, value)
        if family == "hdisk" and name == "unique_id" and value.isascii():
            kinds = [kind for product, kind in _STORAGES if product in value]
            settings.put(family, match[0], "storage", kinds[0] if kinds else "other")


def read_limits(output: Output, settings: NodeSettings) -> None:
    """``ulimit -a``; ``every`` is unlimited where each limit is, and limited where one is not."""
    known = dict(limits(output.lines))
    for name, value in known.items():
        settings.machine("ulimit", name, value)
    lines = [line for line in output.lines if line.strip()]
    if set(known.values()) - {"unlimited"}:
        settings.machine("ulimit", "every", "limited")
    elif doubt := output.doubt(strange=not known or len(known) != len(lines)):
        settings.lack("ulimit", MACHINE, "every", doubt)
    else:
        settings.machine("ulimit", "every", "unlimited")


_THREADS = re.compile(r"proc[0-9]{1,5} has ([0-9]{1,2}) SMT threads?\.?")


def read_smt(output: Output, settings: NodeSettings) -> None:
    """``smtctl``: hardware threads of a processor; the processors must agree."""
    text = "\n".join(output.lines)
    if "SMT is currently disabled" in text:
        return settings.machine("smtctl", "threads", 1)
    found = {int(count) for count in _THREADS.findall(text)}
    if len(found) > 1:
        reason = f"processors differ: {', '.join(map(str, sorted(found)))} threads"
    elif "SMT is currently enabled" not in text or not found:
        reason = "smtctl did not print the sentences that mawl knows (set LC_ALL=C)"
    elif not output.whole:
        reason = NOT_WHOLE
    else:
        return settings.machine("smtctl", "threads", found.pop())
    return settings.lack("smtctl", MACHINE, "threads", reason)


_LABELLED = re.compile(r"(?P<label>[A-Z][A-Za-z][\w ()/%-]{0,60}?)\s*:\s*(?P<value>\S.{0,100}?)\s*")


def read_partition(output: Output, settings: NodeSettings) -> None:
    """``lparstat -i``, label by label."""
    for match in output.matches(_LABELLED):
        if match["value"] != "-":
            settings.machine("lparstat", match["label"], match["value"])


_PARENT = re.compile(r"(?P<name>[a-z]+[0-9]{1,5}) (?P<parent>[a-z]+[0-9]{1,5})\s*")


def read_devices(output: Output, settings: NodeSettings) -> None:
    """``lsdev -C -F 'name parent'``; ``lsdev -dev DEVICE -attr`` is read as lsattr."""
    if "-attr" in output.command:
        return read_attributes(output, settings)
    for match in output.matches(_PARENT):
        settings.put("lsdev", match["name"], "parent", match["parent"])
    return None


_PATH = re.compile(
    r"(?P<state>[A-Z][A-Za-z]{2,15})\s+(?P<disk>hdisk[0-9]{1,5})\s+(?P<parent>[a-z]+[0-9]{1,5})"
)


def read_paths(output: Output, settings: NodeSettings) -> None:
    """``lspath``: state, disk and parent of each path, one line a path."""
    lines = [line.strip() for line in output.lines if line.strip()]
    rows = [match for line in lines if (match := _PATH.match(line))]
    for disk in dict.fromkeys(row["disk"] for row in rows):
        own = [row for row in rows if row["disk"] == disk]
        if doubt := output.doubt(strange=len(rows) < len(lines)):
            settings.lack("lspath", disk, "paths", doubt)
            continue
        settings.put("lspath", disk, "paths", len(own))
        settings.put("lspath", disk, "paths_enabled", sum(row["state"] == "Enabled" for row in own))
        settings.put("lspath", disk, "parents", " ".join(sorted({row["parent"] for row in own})))


_MOUNTED = re.compile(
    r"\s*(?:(?P<node>\S+)\s+)?(?P<what>\S+)\s+(?P<over>/\S*)\s+(?P<kind>[a-z]\w{1,15})\s+"
    r"(?P<date>\S+\s+[0-9]{1,2}\s+[0-9]{2}:[0-9]{2})(?:\s+(?P<options>\S+))?\s*"
)


def read_mounts(output: Output, settings: NodeSettings) -> None:
    """``mount`` of AIX: type and options of each mount point."""
    for match in output.matches(_MOUNTED):
        settings.put("mount", match["over"], "type", match["kind"])
        settings.put("mount", match["over"], "options", match["options"] or "none")


_HOST = re.compile(
    r"(?P<host>vfchost[0-9]{1,5})\s+(?P<place>U\S{5,60})\s+(?P<id>[0-9]{1,6})(?:\s+(?P<client>\S{1,60}))?(?:\s+\S+)?\s*"
)
_PORT = re.compile(r"FC name:(?P<adapter>fcs[0-9]{1,5})(?:\s.*)?")
_CLIENT = re.compile(r"VFC client name:(?P<adapter>fcs[0-9]{1,5})(?:\s.*)?")
_SERVER = re.compile(r"(?P<host>vhost[0-9]{1,5})\s+(?P<place>U\S{5,60})\s+(?P<id>0x[0-9a-fA-F]{8})\s*")


_HEADS = ("Name ", "---", "Status:", "FC name:", "Ports logged in:", "Flags:", "VFC client name:")


def read_maps(output: Output, settings: NodeSettings) -> None:
    """Virtual adapter to the adapter behind it and the partition's own name for it (``-npiv``).

    ``vfchosts`` is the number of these virtual adapters.
    """
    hosts = 0
    for host, figures in _mapped(output.lines):
        hosts += host.startswith("vfchost")
        for name, value in figures.items():
            settings.put("lsmap", host, name, value)
    if not {"-all", "-npiv"} <= {*output.command}:
        return
    strange = any(
        line.strip() and not line.lstrip().startswith(_HEADS) and not _HOST.fullmatch(line)
        for line in output.lines
    )
    if doubt := output.doubt(strange=strange):
        settings.lack("lsmap", MACHINE, "vfchosts", doubt)
    else:
        settings.machine("lsmap", "vfchosts", hosts)


def _mapped(lines: tuple[str, ...]) -> Iterator[tuple[str, dict[str, str]]]:
    """Each virtual adapter once its lines are read; a line of no adapter is left out."""
    host, figures = "", dict[str, str]()
    for line in lines:
        head, server = _HOST.fullmatch(line), _SERVER.fullmatch(line)
        port, client = _PORT.fullmatch(line.strip()), _CLIENT.fullmatch(line.strip())
        if head or server:
            if host:
                yield host, figures
            match = head or server
            assert match is not None
            host, figures = match["host"], {"client_id": match["id"]}
            if head and head["client"]:
                figures["client"] = head["client"]
        elif line.startswith(("---", "Name ")):
            if host:
                yield host, figures
            host = ""
        elif host and port:
            figures["adapter"] = port["adapter"]
        elif host and client:
            figures["client_adapter"] = client["adapter"]
    if host:
        yield host, figures
