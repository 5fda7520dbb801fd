"""Files that mawl knows and does not read, and what to give instead: one sentence each.

Sources: sysstat's ``sa.h`` (SYSSTAT_MAGIC 0xd596, in the byte order of the machine that wrote the file);
the headings that ``sar``, ``iostat`` and ``vmstat`` of AIX print (IBM, *AIX commands reference*); the magic
numbers of the compression formats (RFC 8878, the XZ and ZIP file formats, bzip2).
"""

from __future__ import annotations

import re

BINARY_SAR = (
    "binary data of sar, which only sadf of the same version reads: give what `sadf -j FILE -- -A` prints"
)
_PACKED = "compressed with {}, which mawl does not read: unpack it, or compress it with gzip"
_NOT_LINUX = (
    "text of {}'s {}, which mawl does not read: give a recording of nmon of that host (nmon -f, topas_nmon)"
)

_MAGIC: tuple[tuple[bytes, str], ...] = (
    (b"\x96\xd5", BINARY_SAR),
    (b"\xd5\x96", BINARY_SAR),
    (b"\xfd7zXZ\0", _PACKED.format("xz")),
    (b"\x28\xb5\x2f\xfd", _PACKED.format("zstd")),
    (b"BZh", _PACKED.format("bzip2")),
    (b"PK\x03\x04", _PACKED.format("zip")),
)
_OTHER_UNIX = re.compile(
    rb"\A\s{0,99}(AIX|SunOS|HP-UX) \S{1,255} [^\n]{1,255}\s[0-9]{1,4}[/.-][0-9]{1,2}[/.-][0-9]{1,4}\s"
)
_AIX_HEAD = re.compile(rb"\A\s{0,99}System configuration: lcpu=[^\n]{0,255}\n")
_AIX_DISKS = re.compile(rb"\n(?:tty:|Disks:|hdisk[0-9]+ )")


def refusal(first: bytes) -> str | None:
    """Why a file that begins so is not read, and what is; None for all others."""
    for magic, why in _MAGIC:
        if first.startswith(magic):
            return why
    if found := _OTHER_UNIX.match(first):
        return _NOT_LINUX.format(found[1].decode(), "sar")
    if _AIX_HEAD.match(first):
        return _NOT_LINUX.format("AIX", "iostat" if _AIX_DISKS.search(first) else "vmstat or mpstat")
    return None
