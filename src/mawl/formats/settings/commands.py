"""Which reader is for the output of which command, and which command a text without a name is of."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from mawl.formats.settings import aix, linux, linux_devices, scale, vios
from mawl.formats.settings.told import Output, Told

Reader = Callable[[Output, Told], None]
TUNABLES = ("vmo", "ioo", "no", "schedo", "raso")

_AIX: Mapping[str, Reader] = {
    **dict.fromkeys(TUNABLES, aix.read_tunables),
    "lsattr": aix.read_attributes,
    "smtctl": aix.read_smt,
    "lparstat": aix.read_partition,
    "lspath": aix.read_paths,
}
_VIOS: Mapping[str, Reader] = {"lsmap": vios.read_maps, "lsdev": aix.read_devices}
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
    "lsblk": linux_devices.read_block_devices,
    "multipath": linux_devices.read_multipath,
    "tuned-adm": linux.read_tuned,
    "ethtool": linux_devices.read_ethtool,
    "numactl": linux.read_nodes,
    "udevadm": linux_devices.read_udev,
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
    (r"^\S+ (\(\S+\) )?dm-\d+ ", "multipath -ll"),
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
