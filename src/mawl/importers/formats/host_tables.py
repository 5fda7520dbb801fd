"""Which columns of the tables of sar, sadf, iostat, mpstat and vmstat are read, and what they are: data.

A column is known by its name wherever it stands, without ``%``, ``/s``, ``kb`` of memory and JSON's
``-percent``: ``%util``, ``util-percent`` and ``util`` are one.

Sources: the manual pages of sysstat 12.6 and of vmstat(8); titles of other languages as procps 4.0.2 prints
them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from functools import cache

KIB, MIB, SECTOR = 1024.0, 1048576.0, 512.0
WORD = 4.0
"""Bytes of a fibre channel word (Linux, Documentation/ABI/testing/sysfs-class-fc_host)."""

Values = dict[str, float]
Columns = Mapping[str, tuple[str, float]]
"""Name of a column to the figure of the model and what one of its unit is there."""

ITEMS = {"CPU": "CPU", "DEV": "DEV", "Device": "DEV", "IFACE": "IFACE", "FCHOST": "FCHOST"}
"""Columns that name the item of a row, and the kind of their table."""
OTHER_ITEMS = (
    "INTR",
    "TTY",
    "BUS",
    "FILESYSTEM",
    "Filesystem",
    "FAN",
    "TEMP",
    "IN",
    "MOUNTPOINT",
    "NODE",
    "BAT",
)
"""Columns that name items which the model does not have."""

DEVICE: Columns = {
    "r": ("reads", 1.0),
    "w": ("writes", 1.0),
    "tps": ("requests", 1.0),
    "f": ("flushes", 1.0),
    "util": ("busy_seconds", 0.01),
    **dict.fromkeys(("aqu-sz", "avgqu-sz"), ("queue_seconds", 1.0)),
    **{
        name: (figure, factor)
        for figure, names in (
            ("read_bytes", {"rkB": KIB, "kB_read": KIB, "rMB": MIB, "MB_read": MIB, "rsec": SECTOR}),
            ("read_bytes", {"rd_sec": SECTOR, "Blk_read": SECTOR}),
            ("written_bytes", {"wkB": KIB, "kB_wrtn": KIB, "wMB": MIB, "MB_wrtn": MIB, "wsec": SECTOR}),
            ("written_bytes", {"wr_sec": SECTOR, "Blk_wrtn": SECTOR}),
        )
        for name, factor in names.items()
    },
}
AWAITS = ("r_await", "w_await", "f_await", "await")
"""Milliseconds of a request."""
TOTALS = frozenset(("kB_read", "kB_wrtn", "MB_read", "MB_wrtn", "Blk_read", "Blk_wrtn"))
"""Text of iostat has these twice: with ``/s`` the rate, without it a sum; JSON has only the rate so."""

NETWORK: Columns = {
    "rxkB": ("received_bytes", KIB),
    "txkB": ("sent_bytes", KIB),
    "rxbyt": ("received_bytes", 1.0),
    "txbyt": ("sent_bytes", 1.0),
    "rxerr": ("received_errors", 1.0),
    "txerr": ("sent_errors", 1.0),
    "rxdrop": ("received_drops", 1.0),
    "txdrop": ("sent_drops", 1.0),
}
FABRIC: Columns = {"fch_rxw": ("received_bytes", WORD), "fch_txw": ("sent_bytes", WORD)}

HOST_RATES: Columns = {
    "pgpgin": ("page_ins_bytes", KIB),
    "pgpgout": ("page_outs_bytes", KIB),
    "majflt": ("major_faults", 1.0),
    "cswch": ("context_switches", 1.0),
    **{
        name: (f"pressure_{resource}_{kind}_seconds", 0.01)
        for resource, kind, names in (
            ("cpu", "some", ("scpu", "cpu.some_avg")),
            ("io", "some", ("sio", "io.some_avg")),
            ("io", "full", ("fio", "io.full_avg")),
            ("memory", "some", ("smem", "mem.some_avg")),
            ("memory", "full", ("fmem", "mem.full_avg")),
        )
        for name in names
    },
}
HOST_PAGES = {"pswpin": "swap_read_bytes", "pswpout": "swap_written_bytes"}
HOST_GAUGES: Columns = {
    "runq-sz": ("runnable", 1.0),
    "blocked": ("blocked_processes", 1.0),
    "avail": ("memory_available_bytes", KIB),
    "cached": ("memory_cached_bytes", KIB),
    "dirty": ("memory_dirty_bytes", KIB),
    "memfree": ("memory_free_bytes", KIB),
}
PROCESSORS = {
    "user": ("usr", "user", "nice", "guest", "gnice", "us", "gu"),
    "system": ("sys", "system", "sy"),
    "interrupt": ("irq", "soft"),
    "iowait": ("iowait", "wa"),
    "idle": ("idle", "id"),
    "steal": ("steal", "st"),
}
"""Kind of a processor's time to the columns that are added up for it, in percent."""
IDLE = frozenset(PROCESSORS["idle"])

VMSTAT_RATES: Columns = {
    "bi": ("page_ins_bytes", KIB),
    "bo": ("page_outs_bytes", KIB),
    "si": ("swap_read_bytes", KIB),
    "so": ("swap_written_bytes", KIB),
    "cs": ("context_switches", 1.0),
}
VMSTAT_GAUGES: Columns = {
    "r": ("runnable", 1.0),
    "b": ("blocked_processes", 1.0),
    "cache": ("memory_cached_bytes", KIB),
    "free": ("memory_free_bytes", KIB),
}

_TIMES = {name for names in PROCESSORS.values() for name in names}
USED: Mapping[str, frozenset[str]] = {
    "CPU": frozenset(_TIMES),
    "DEV": frozenset((*DEVICE, *AWAITS)),
    "IFACE": frozenset(NETWORK),
    "FCHOST": frozenset(FABRIC),
    "VM": frozenset((*VMSTAT_RATES, *VMSTAT_GAUGES, *_TIMES)),
    "": frozenset((*HOST_RATES, *HOST_PAGES, *HOST_GAUGES)),
}
"""The columns that are read, by the kind of their table; the machine's own tables have none."""

_FACTORS: Mapping[str, float] = {
    name: factor
    for columns in (DEVICE, NETWORK, HOST_RATES, HOST_GAUGES)
    for name, (figure, factor) in columns.items()
    if figure.endswith("_bytes")
}


def factor_of(name: str) -> float:
    """The bytes of one of a column's unit; 1 for a column that is not of bytes."""
    return _FACTORS.get(name, 1.0)


@cache
def plain(column: str) -> str:
    """A column's name without what versions and forms of output put around it."""
    if column.startswith("kb"):
        column = column[2:]
    return column.removeprefix("%").removesuffix("/s").removesuffix("-percent").removeprefix("psi-")


_TITLES = {
    "r": "k dz",
    "b": "bl",
    "swpd": "스왑 swap växl 交换",
    "free": "frei libre fritt livre liber trống wolna თავისუფალია 가용 空闲",
    "buff": "búf tampon bufor 버퍼 缓冲",
    "cache": "Cache caché кеш nhớtạm 캐시 缓存",
    "inact": "inakt inativ nieakt 비활 不活动",
    "active": "aktiv aktivt activo actif ativo activă активно აქტიური hđộng akt 활성 活动",
    "si": "sin vi 입",
    "so": "vu 출",
    "bi": "bin 입",
    "bo": "bu 출",
    "in": "avb",
    "cs": "ktxb",
    "us": "uż an",
    "id": "be ia",
    "wa": "io vä",
    "st": "sk",
    "gu": "go gä",
}
_ORDER = [
    "r",
    "b",
    "swpd",
    "free",
    "buff",
    "cache",
    "si",
    "so",
    "bi",
    "bo",
    "in",
    "cs",
    "us",
    "sy",
    "id",
    "wa",
    "st",
    "gu",
]
"""The columns of vmstat, whose titles are of the user's language; with ``-a`` two are others."""
_INSTEAD = {"buff": "inact", "cache": "active"}


def vmstat_columns(words: list[str]) -> list[str] | None:
    """The English names of a heading of vmstat in any language of procps; None for what is none.

    Old versions have a column ``w`` behind ``b``, and lack those behind ``id``.
    """
    order = [*_ORDER[:2], "w", *_ORDER[2:]] if words[2:3] == ["w"] else _ORDER
    found: list[str] = []
    for word, name in zip(words, order, strict=False):
        title = next(
            (
                one
                for one in (name, _INSTEAD.get(name, name))
                if word == one or word in _TITLES.get(one, "").split()
            ),
            None,
        )
        if title is None:
            break
        found.append(title)
    return found if "id" in found and len(words) - len(found) <= 1 else None


def number(text: str) -> float | None:
    """A figure, also with a decimal comma; None for what is none, not finite, or below 0."""
    try:
        value = float(text.replace(",", ".") if "," in text else text)
    except ValueError:
        return None
    return value if math.isfinite(value) and value >= 0 and "_" not in text else None


_AMOUNT = re.compile(r"([0-9]{1,15}(?:[.,][0-9]{1,4})?)([%BskMGTP])")
_UNITS = {"B": 1.0, "s": 512.0, **{unit: 1024.0**power for power, unit in enumerate("kMGTP", start=1)}}
"""Bytes of the units that ``--human`` writes."""


def amount(text: str, factor: float = 1.0) -> float | None:
    """A figure, also with a percent sign or with a unit of bytes, of which the column counts ``factor``."""
    if text[-1:].isdigit() or (match := _AMOUNT.fullmatch(text)) is None:
        return number(text)
    value = float(match[1].replace(",", "."))
    return value if match[2] == "%" else value * _UNITS[match[2]] / factor


class HeadedTable:
    """The table below a heading: its kind, where its item and its figures stand."""

    def __init__(self, words: Sequence[str], line: str, *, kind: str | None = None) -> None:
        """``words`` are the names of the columns; ``kind`` is given where no column names the item."""
        self.columns = tuple(words)
        bare = [word.rstrip(":") for word in words]
        self.place = (
            None if kind is not None else next((at for at, word in enumerate(bare) if word in ITEMS), None)
        )
        self.kind = kind or ("" if self.place is None else ITEMS[bare[self.place]])
        names = ["" if word in TOTALS else plain(word) for word in words]
        used = USED[self.kind]
        self.used = [(name, at) for at, name in enumerate(names) if name in used and at != self.place]
        known = {name for name, _ in self.used}
        self.is_read = bool(known) and (self.kind not in ("CPU", "VM") or not IDLE.isdisjoint(known))
        if self.place is None and any(word in OTHER_ITEMS for word in bare):
            self.is_read = False
        self.ends = {match.end(): at for at, match in enumerate(re.finditer(r"\S+", line.rstrip()))}
        self.title = bare[self.place] if self.place is not None else " ".join(words[:3])
        if not self.is_read and self.place is not None:
            self.title = " ".join(
                (bare[self.place], *(word for word in words if word != words[self.place]))[:3]
            )

    def skip(self, count: int) -> None:
        """The first words of the line were the time."""
        self.ends = {end: at - count for end, at in self.ends.items()}

    def values(self, words: Sequence[str]) -> Values | None:
        """The figures of a row by the names of their columns; None where one is no number."""
        place = self.place
        figures = [*words[:place], "0", *words[place + 1 :]] if place is not None else words
        try:
            found = list(map(float, figures))
        except ValueError:
            return self._amounts(figures)
        if not min(found, default=0.0) >= 0.0 or not sum(found) < float("inf") or "_" in " ".join(figures):
            return None
        return {name: found[at] for name, at in self.used}

    def _amounts(self, figures: Sequence[str]) -> Values | None:
        """The figures where some have a decimal comma or a unit (``--human``)."""
        units = {at: factor_of(name) for name, at in self.used}
        found = [amount(word, units.get(at, 1.0)) for at, word in enumerate(figures)]
        if None in found:
            return None
        return {name: value for name, at in self.used if (value := found[at]) is not None}

    def aligned(self, line: str) -> list[str] | None:
        """The words of a row by the columns that they stand below, for a row with empty cells; None where
        one stands below none, or where a figure that is read has none."""
        cells = [""] * len(self.columns)
        for match in re.finditer(r"\S+", line.rstrip()):
            at = self.ends.get(match.end())
            if at is None:
                return None
            if at >= 0:
                cells[at] = match.group()
        needed = [at for _, at in self.used] + ([] if self.place is None else [self.place])
        return [cell or "0" for cell in cells] if all(cells[at] for at in needed) else None
