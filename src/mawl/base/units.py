"""Conversion between base units and text for people.

Stored values are always base units (bytes, seconds).  This module alone knows that KiB and MiB
are powers of 1024 and kB and MB powers of 1000.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime

from mawl.base.errors import UsageError

_BINARY = {"k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40, "p": 2**50}
_DECIMAL = {"k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "p": 10**15}
_MOST_OF_A_SIZE = 1e300
"""Beyond it the number or its bytes would be infinite."""
_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([kmgtp]?)(i?b?)\s*", re.IGNORECASE)


def parse_size(text: str | int) -> int:
    """Bytes from ``512MiB`` (1024-based), ``512MB`` (1000-based), ``512M`` or plain bytes.

    A bare letter is 1024-based, as in SAS (``MEMSIZE=2G``) and GNU coreutils.
    Raises ``UsageError`` for anything else.
    """
    if isinstance(text, int):
        if text < 0:
            raise UsageError(f"a size cannot be negative, found {text}")
        return text
    match = _SIZE.fullmatch(text)
    if match is None or (match[3].lower() == "i"):
        raise UsageError(f"expected a size such as 256KiB, 2GB or 4096, found {text!r}")
    number, letter, suffix = float(match[1]), match[2].lower(), match[3].lower()
    if number > _MOST_OF_A_SIZE:
        raise UsageError(f"a size of {len(match[1])} digits is more than any machine has: check its unit")
    if not letter:
        if suffix == "ib":
            raise UsageError(f"expected a size such as 256KiB, 2GB or 4096, found {text!r}")
        return int(number)
    return int(number * (_DECIMAL if suffix == "b" else _BINARY)[letter])


def format_bytes(count: float) -> str:
    """A decimal size for people: ``1.21 GB``; three significant digits."""
    return _scaled(count, 1000.0, ("B", "kB", "MB", "GB", "TB", "PB"))


def format_memory(count: float) -> str:
    """A binary size for people, as memory is sold: ``23.4 GiB``."""
    return _scaled(count, 1024.0, ("B", "KiB", "MiB", "GiB", "TiB", "PiB"))


def format_request(count: int) -> str:
    """The size of a request for people, in the largest unit that it is whole in: ``256 KiB``."""
    for power, name in ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB")):
        if count and count % power == 0:
            return f"{count // power} {name}"
    return f"{count} B"


def format_rate(bytes_per_second: float) -> str:
    """A throughput for people: ``310 MB/s``."""
    return format_bytes(bytes_per_second) + "/s"


def format_bits(bits_per_second: float) -> str:
    """The speed of a port for people, as it is sold: ``40 Gb/s``."""
    return f"{bits_per_second / 1e9:g} Gb/s"


def _scaled(count: float, base: float, names: tuple[str, ...]) -> str:
    value = float(count)
    for name in names:
        if abs(value) < 999.5 or name == names[-1]:
            if name == names[0]:
                return f"{value:.0f} {name}"
            digits = 2 if abs(value) < 9.995 else 1 if abs(value) < 99.95 else 0
            return f"{value:.{digits}f} {name}"
        value /= base
    raise AssertionError("unreachable")


def format_joules(joules: float) -> str:
    """An energy for people: ``12.3 kJ``."""
    return _scaled(joules * 1000.0, 1000.0, ("mJ", "J", "kJ", "MJ", "GJ"))


def format_watts(watts: float) -> str:
    """A power for people: ``205 W``."""
    return _scaled(watts * 1000.0, 1000.0, ("mW", "W", "kW", "MW"))


def format_seconds(seconds: float) -> str:
    """A duration for people: ``0.42 s``, ``31.2 s``, ``4 min 07 s``, ``1 h 53 min``."""
    if seconds < 9.995:
        return f"{seconds:.2f} s"
    if seconds < 119.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def format_latency(seconds: float) -> str:
    """A time of one request for people: ``432 ns``, ``64 us``, ``2.05 ms``, and seconds from one on.

    ``0 us`` is a measured zero alone.
    """
    if 0 < seconds < 0.9995e-6:
        return f"{max(seconds * 1e9, 1.0):.0f} ns"
    if seconds < 0.9995e-3:
        return f"{seconds * 1e6:.0f} us"
    if seconds < 0.9995:
        return f"{format_ratio(seconds * 1e3)} ms"
    return format_seconds(seconds)


def format_ratio(value: float) -> str:
    """A ratio or a mean count for people: ``0.83``, ``14.2``; three digits at most, 0 without a sign."""
    if abs(value) < 0.005:
        return "0.00"
    return f"{value:.2f}" if abs(value) < 9.995 else f"{value:.1f}" if abs(value) < 99.95 else f"{value:.0f}"


def format_plain(value: float, digits: int = 3) -> str:
    """A number in plain decimals, so many significant digits at most: ``0.00005``, never ``5e-05``."""
    text = f"{value:.{digits}g}"
    if "e" in text:
        text = f"{float(text):.20f}".rstrip("0").rstrip(".")
    return text


def format_change(ratio: float) -> str:
    """A change for people, of new over old less 1: ``+12 %``, ``-7.7 %``, and ``x 13`` from tenfold on."""
    if ratio >= 9.0:
        return f"x {ratio + 1.0:.0f}"
    percent = 100.0 * ratio
    text = f"{percent:+.1f}" if abs(percent) < 9.95 else f"{percent:+.0f}"
    return f"{'0.0' if float(text) == 0.0 else text} %"


def format_percent(ratio: float) -> str:
    """A share for people: ``12 %``, ``0.3 %``."""
    percent = 100.0 * ratio
    if abs(percent) < 0.05:
        return "0 %"
    digits = 0 if abs(percent) >= 9.95 else 1
    return f"{percent:.{digits}f} %"


def format_instant(at: float) -> str:
    """UTC in ISO 8601 with microseconds from seconds since the epoch."""
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def parse_instant(text: str) -> float:
    """Seconds since the epoch from what ``format_instant`` wrote."""
    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def counted_noun(count: int, noun: str) -> str:
    """``1 CPU``, ``2 CPUs``."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def whole_mib(size_bytes: int) -> str:
    """The smallest size in whole MiB that holds so many bytes, as ``parse_size`` reads it."""
    return f"{-(-size_bytes // 2**20)}MiB"
