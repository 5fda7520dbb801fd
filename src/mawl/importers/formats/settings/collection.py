"""The files of a collection of settings: the outputs of commands in them, and the reader of each output.

``### mawl AIX1 aix: vmo -a`` begins the output of a command (node, platform), ``### mawl exit 0`` ends it.
A file without such lines is one output; its name or its content shows the command.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from mawl.importers.formats.settings import aix, linux, scale
from mawl.importers.formats.settings.aix import read_maps
from mawl.importers.formats.settings.linux import read_block_devices, read_ethtool, read_multipath, read_udev
from mawl.importers.formats.settings.output import IGNORED, NodeSettings, Output
from mawl.importers.formats.text import byte_chunks, text_of

Reader = Callable[[Output, NodeSettings], None]
TUNABLES = ("vmo", "ioo", "no", "schedo", "raso")

_AIX: Mapping[str, Reader] = {
    **dict.fromkeys(TUNABLES, aix.read_tunables),
    "lsattr": aix.read_attributes,
    "smtctl": aix.read_smt,
    "lparstat": aix.read_partition,
    "lspath": aix.read_paths,
}
_VIOS: Mapping[str, Reader] = {"lsmap": read_maps, "lsdev": aix.read_devices}
_SCALE: Mapping[str, Reader] = {
    "mmlsconfig": scale.read_configuration,
    "mmdiag": scale.read_running,
    "mmlsfs": scale.read_file_systems,
    "mmlsdisk": scale.read_disks,
    "mmlsnsd": scale.read_network_disks,
}
_LINUX: Mapping[str, Reader] = {
    "sysctl": linux.read_sysctl,
    "sysfiles": linux.read_sys_files,
    "lsblk": read_block_devices,
    "multipath": read_multipath,
    "tuned-adm": linux.read_tuned,
    "ethtool": read_ethtool,
    "numactl": linux.read_nodes,
    "udevadm": read_udev,
    "ppc64_cpu": linux.read_smt,
    "df": linux.read_space,
}
READERS: Mapping[str, Reader] = {**_AIX, **_VIOS, **_SCALE, **_LINUX}
"""First word of a command to its reader; ``mount`` and ``ulimit`` are of two platforms."""


def reader_of(command: Sequence[str], lines: Sequence[str]) -> Reader | None:
    """The reader of a command's output; None for a command whose output mawl does not read."""
    first = command[0] if command else ""
    if first == "mount":
        on_linux = any(" on /" in line and " type " in line for line in lines)
        return linux.read_mounts if on_linux else aix.read_mounts
    if first == "ulimit":
        return aix.read_limits if "-a" in command else linux.read_limits
    return READERS.get(first)


def words_of(text: str) -> tuple[str, ...]:
    """A command's words, without the folder of its program and the shell of a virtual I/O server."""
    words = linux.words_of(text)
    if words and words[0].rpartition("/")[2] == "ioscli":
        words = words[1:]
    return (words[0].rpartition("/")[2], *words[1:]) if words else ()


_SIGNS: tuple[tuple[str, str], ...] = (
    (r"^\s*(minfree|maxfree)[ =,]", "vmo -a"),
    (r"^\s*j2_(maxPageReadAhead|inodeCacheSize)[ =,]", "ioo -a"),
    (r"^\s*tcp_nodelayack[ =,]", "no -a"),
    (r"^\s*vpm_xvcpus[ =,]", "schedo -a"),
    (r"^\s*kern_heap_noexec[ =,]", "raso -a"),
    (r"^vm\.swappiness = ", "sysctl -a"),
    (r"^Configuration data for cluster ", "mmlsconfig"),
    (r"^=== mmdiag: config ===", "mmdiag --config"),
    (r"^File system attributes for /dev/", "mmlsfs all"),
    (r"^mmlsfs::HEADER:", "mmlsfs all -Y"),
    (r"^Filesystem +\S+ +Used +Available ", "df -P"),
    (r"^This system (is SMT capable|supports up to \d)", "smtctl"),
    (r"^Node Name\s+: ", "lparstat -i"),
    (r"^vfchost\d+\s", "lsmap -all -npiv"),
    (r"^(Enabled|Missing|Failed|Defined|Disabled) hdisk\d+ ", "lspath"),
    (r"^\S+ (\(\S+\) )?dm-\d+ |^[^\s|`].{0,200}? dm-\d+ [^,\n]{1,20},\S", "multipath -ll"),
    (r"^Current active profile: ", "tuned-adm active"),
    (r"^available: \d+ nodes? \(", "numactl --hardware"),
    (r"^/sys/block/\S+:", "sysfiles"),
    (r'^(NAME="[^"]*" )?KNAME="', "lsblk -P"),
    (r"^DEVNAME=/dev/", "udevadm info --query=property"),
    (r"^nofiles\(descriptors\)", "ulimit -a"),
    (r" on / type \w+ \(", "mount"),
    (r"^\s+node\s+mounted\s+mounted over\s+vfs", "mount"),
)
_NEEDS_A_NAME = (
    (r"^\s*(queue_depth|max_xfer_size|fc_err_recov|maxuproc)\s+\S", "lsattr"),
    (r"^disk\s+driver\s+sector", "mmlsdisk"),
    (r"^ -B\s+\d+", "mmlsfs"),
)
"""Outputs that do not say which device they are of."""


def command_in(lines: Sequence[str]) -> tuple[tuple[str, ...], str | None]:
    """The command that printed this, by its content alone; else none, with the reason."""
    text = "\n".join(lines)
    found = {command for sign, command in _SIGNS if re.search(sign, text, re.MULTILINE)}
    if len(found) == 1:
        return words_of(found.pop()), None
    if found:
        return (), f"it looks like the output of several commands: {', '.join(sorted(found))}"
    for sign, command in _NEEDS_A_NAME:
        if re.search(sign, text, re.MULTILINE):
            return (), f"output of {command}, but the device is not in it: name the file as the command"
    return (), "mawl does not know the command that printed this"


def command_named(stem: str) -> tuple[str, ...]:
    """The command in a file's name without its ending: ``lsattr_-El_hdisk4``; none where there is none."""
    words = words_of(stem.replace("_", " ").strip())
    return words if words and (words[0] in READERS or words[0] in ("mount", "ulimit")) else ()


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
    return len(line) <= LONGEST_LINE and not _CONTROLS.search(line)


def _believed(lines: Sequence[str]) -> tuple[str, ...]:
    """The lines, ``IGNORED`` for each that is not credible: it may be the heading of lines below it."""
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
