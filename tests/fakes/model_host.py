"""A host whose every byte and second of CPU is known, and the recordings that tools would make of it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import NamedTuple

BEGAN = 1_763_632_800.0  # 2025-11-20T10:00:00Z
STEP = 10.0
Rates = dict[str, tuple[int, int]]
"""KiB per second read and written, by kernel name."""


class Cpu(NamedTuple):
    """Percent of all processors."""

    user: int
    system: int
    iowait: int
    idle: int


class ModelHost(NamedTuple):
    """Intervals of 10 s: what each device that was there moved, and what processors did.

    ``disks`` are the devices whose bytes are nobody else's; ``names`` are those a recorder prints, by kernel
    name.  ``names_tell`` says that these tell what lies on what.
    """

    cpus: int
    disks: frozenset[str]
    moved: tuple[Rates, ...]
    cpu: tuple[Cpu, ...]
    names: dict[str, str]
    names_tell: bool
    links: dict[str, tuple[int, int]]
    """KiB per second that each interface received and sent, the whole time long."""
    own_links: frozenset[str]
    """The interfaces whose bytes are nobody else's."""

    def bytes(self, way: int) -> int:
        """Bytes read (0) or written (1): each once."""
        every = (rates for interval in self.moved for name, rates in interval.items() if name in self.disks)
        return sum(round(rates[way] * 1024 * STEP) for rates in every)

    def network_rate(self, way: int) -> int:
        """Bytes a second received (0) or sent (1): each once."""
        return sum(rates[way] for name, rates in self.links.items() if name in self.own_links) * 1024

    def busy_ratio(self) -> float:
        """User and system time over all."""
        return sum(cpu.user + cpu.system for cpu in self.cpu) / 100 / len(self.cpu)

    def rows(self, number: int) -> list[tuple[str, int, int]]:
        """Names and rates of the devices that a recorder lists in an interval."""
        return [(self.names[name], *rates) for name, rates in self.moved[number].items()]


def stamped(number: int, form: str = "%H:%M:%S", ahead: float = 0.0) -> str:
    """The end of an interval, by a clock that is ``ahead`` of UTC."""
    return datetime.fromtimestamp(BEGAN + number * STEP + ahead, UTC).strftime(form)


def _banner(host: ModelHost, *, count: bool = True) -> str:
    cpus = f"\t({host.cpus} CPU)" if count else ""
    return f"Linux 6.1.0 (model1) \t2025-11-20 \t_x86_64_{cpus}\n\n"


def _device_columns(sectors: bool) -> tuple[str, int]:
    return ("tps rd_sec/s wr_sec/s avgrq-sz", 2) if sectors else ("tps rkB/s wkB/s areq-sz", 1)


def sar(host: ModelHost, *, sectors: bool = False, count: bool = True) -> str:
    """Text of ``sar -u ALL -d``, a table for each activity."""
    columns, factor = _device_columns(sectors)
    intervals = range(len(host.moved))
    text = _banner(host, count=count) + f"{stamped(0)}  CPU %usr %nice %sys %iowait %steal %irq %soft %idle\n"
    for n in intervals:
        text += f"{stamped(n + 1)}  all {_cpu(host.cpu[n])}\n"
    text += f"\n{stamped(0)}  DEV {columns}\n"
    for n in intervals:
        for name, read, written in host.rows(n):
            text += f"{stamped(n + 1)}  {name} 1.00 {read * factor}.00 {written * factor}.00 8.00\n"
    text += f"\n{stamped(0)}  IFACE rxpck/s txpck/s rxkB/s txkB/s\n"
    for n in intervals:
        for name, (received, sent) in host.links.items():
            text += f"{stamped(n + 1)}  {name} 1.00 1.00 {received}.00 {sent}.00\n"
    return text


def _cpu(cpu: Cpu, separator: str = " ") -> str:
    return separator.join(f"{part}.00" for part in (cpu.user, 0, cpu.system, cpu.iowait, 0, 0, 0, cpu.idle))


def sadf_text(host: ModelHost, *, sectors: bool = False) -> str:
    """``sadf -d -- -u ALL -d``: nothing counts the processors."""
    columns, factor = _device_columns(sectors)
    head = "# hostname;interval;timestamp;"
    lines = [f"{head}CPU;%usr;%nice;%sys;%iowait;%steal;%irq;%soft;%idle"]
    stamps = [f"model1;{STEP:.0f};{stamped(n + 1, '%Y-%m-%d %H:%M:%S')} UTC" for n in range(len(host.moved))]
    lines += [f"{stamp};-1;{_cpu(cpu, ';')}" for stamp, cpu in zip(stamps, host.cpu, strict=True)]
    lines.append(f"{head}DEV;{columns.replace(' ', ';')}")
    lines += [
        f"{stamp};{name};1.00;{read * factor}.00;{written * factor}.00;8.00"
        for n, stamp in enumerate(stamps)
        for name, read, written in host.rows(n)
    ]
    lines.append(f"{head}IFACE;rxpck/s;txpck/s;rxkB/s;txkB/s")
    lines += [
        f"{stamp};{name};1.00;1.00;{received}.00;{sent}.00"
        for stamp in stamps
        for name, (received, sent) in host.links.items()
    ]
    return "\n".join(lines) + "\n"


def sadf_json(host: ModelHost, *, every: str = "all") -> str:
    """``sadf -j``; sysstat 12.0 calls all processors together -1."""
    statistics = [
        {
            "timestamp": {
                "date": stamped(n + 1, "%Y-%m-%d"), "time": stamped(n + 1), "utc": 1, "interval": int(STEP)
            },
            "cpu-load": [
                {"cpu": every, "user": cpu.user, "nice": 0, "system": cpu.system, "iowait": cpu.iowait,
                 "steal": 0, "idle": cpu.idle}
            ],
            "disk": [
                {"disk-device": name, "tps": 1.0, "rkB": read, "wkB": written}
                for name, read, written in host.rows(n)
            ],
            "network": {
                "net-dev": [
                    {"iface": name, "rxpck": 1.0, "txpck": 1.0, "rxkB": received, "txkB": sent}
                    for name, (received, sent) in host.links.items()
                ]
            },
        }
        for n, cpu in enumerate(host.cpu)
    ]  # fmt: skip
    return _json(host, {"file-date": "2025-11-20", "file-utc-time": stamped(0)}, statistics)


def _json(host: ModelHost, head: dict[str, str], statistics: Sequence[object]) -> str:
    machine = {"nodename": "model1", "sysname": "Linux", "release": "6.1.0", "machine": "x86_64"}
    hosts = [{**machine, "number-of-cpus": host.cpus, **head, "statistics": statistics}]
    return json.dumps({"sysstat": {"hosts": hosts}}, indent=1)


_IOSTAT = {
    "plain": ("Device tps kB_read/s kB_wrtn/s kB_read kB_wrtn", "1.00 {r}.00 {w}.00 9 9", 1),
    "extended": ("Device r/s w/s rkB/s wkB/s aqu-sz %util", "1.00 1.00 {r}.00 {w}.00 0.10 5.00", 1),
    "pretty": ("tps kB_read/s kB_wrtn/s Device", "1.00 {r}.00 {w}.00 {name}", 1),
    "sectors": ("Device: rrqm/s wrqm/s r/s w/s rsec/s wsec/s %util", "0 0 1 1 {r}.00 {w}.00 5.00", 2),
}


def iostat(host: ModelHost, *, layout: str = "plain", cpu: bool = True, timed: bool = True) -> str:
    """Text of ``iostat``: its first report is of the time since the machine started."""
    heading, row, factor = _IOSTAT[layout]
    text = _banner(host)
    for n in range(len(host.moved) + 1):
        before = host.rows(n - 1) if n else [(name, 777, 777) for name, _, _ in host.rows(0)]
        text += f"{stamped(n, '%Y-%m-%dT%H:%M:%SZ')}\n" if timed else ""
        if cpu:
            own = host.cpu[n - 1] if n else Cpu(97, 1, 1, 1)
            text += "avg-cpu: %user %nice %system %iowait %steal %idle\n"
            text += f"   {own.user}.00 0.00 {own.system}.00 {own.iowait}.00 0.00 {own.idle}.00\n\n"
        named = row if "{name}" in row else "{name} " + row
        rows = (named.format(name=name, r=read * factor, w=wrote * factor) for name, read, wrote in before)
        text += "\n".join((heading, *rows)) + "\n\n"
    return text


def iostat_json(host: ModelHost) -> str:
    """``iostat -t -o JSON``."""
    statistics = []
    for n in range(len(host.moved) + 1):
        own = host.cpu[n - 1] if n else Cpu(97, 1, 1, 1)
        rows = host.rows(n - 1) if n else [(name, 777, 777) for name, _, _ in host.rows(0)]
        statistics.append(
            {
                "timestamp": stamped(n, "%Y-%m-%dT%H:%M:%SZ"),
                "avg-cpu": {"user": own.user, "nice": 0, "system": own.system, "iowait": own.iowait,
                            "steal": 0, "idle": own.idle},
                "disk": [{"disk_device": name, "rkB/s": read, "wkB/s": wrote} for name, read, wrote in rows],
            }
        )  # fmt: skip
    return _json(host, {"date": "2025-11-20"}, statistics)


def nmon(host: ModelHost) -> str:
    """``nmon -f``: kernel names, each device in each snapshot; the first is of a time that nobody tells."""
    names = sorted({name for interval in host.moved for name in interval})
    text = "AAA,progname,nmon\nAAA,host,model1\nAAA,OS,Linux,6.1.0,#1 SMP,x86_64\nAAA,date,20-NOV-2025\n"
    text += f"AAA,interval,{STEP:.0f}\nAAA,cpus,{host.cpus}\n"
    text += "CPU_ALL,CPU Total model1,User%,Sys%,Wait%,Idle%,Steal%,Busy,CPUs\n"
    for section, title in (("DISKREAD", "Disk Read KB/s"), ("DISKWRITE", "Disk Write KB/s")):
        text += f"{section},{title} model1,{','.join(names)}\n"
    columns = [f"{name}-{way}-KB/s" for way in ("read", "write") for name in host.links]
    text += f"NET,Network I/O model1,{','.join(columns)}\n"
    for n in range(len(host.moved) + 1):
        moved = host.moved[n - 1] if n else dict.fromkeys(names, (777, 777))
        own = host.cpu[n - 1] if n else Cpu(97, 1, 1, 1)
        tag = f"T{n + 1:04d}"
        text += f"ZZZZ,{tag},{stamped(n)},20-NOV-2025\n"
        text += f"CPU_ALL,{tag},{own.user}.0,{own.system}.0,{own.iowait}.0,{own.idle}.0,0.0,,{host.cpus}\n"
        for way, section in enumerate(("DISKREAD", "DISKWRITE")):
            values = (f"{moved.get(name, (0, 0))[way]}.0" for name in names)
            text += f"{section},{tag},{','.join(values)}\n"
        carried = (f"{rates[way]}.0" for way in (0, 1) for rates in host.links.values())
        text += f"NET,{tag},{','.join(carried)}\n"
    return text


def mpstat(host: ModelHost, *, count: bool = True) -> str:
    """Text of ``mpstat -P ALL``: processors alone, each with a row."""
    text = _banner(host, count=count)
    for n, cpu in enumerate(host.cpu):
        text += f"{stamped(n)}  CPU %usr %nice %sys %iowait %irq %soft %steal %idle\n"
        values = " ".join(f"{part}.00" for part in (cpu.user, 0, cpu.system, cpu.iowait, 0, 0, 0, cpu.idle))
        text += "".join(f"{stamped(n + 1)}  {item} {values}\n" for item in ("all", *range(host.cpus))) + "\n"
    return text


VMSTAT = "r b swpd free buff cache si so bi bo in cs us sy id wa st"
_VMSTAT_OF = {
    "de": "r b swpd frei buff Cache si so bi bo in cs us sy id wa st",
    "ko": "r b 스왑 가용 버퍼 캐시 입 출 입 출 in cs us sy id wa st",
    "sv": "k b växl fritt buff cache vi vu bi bu avb ktxb an sy ia vä st gä",
    "zh": "r b 交换 空闲 缓冲 缓存 si so bi bo in cs us sy id wa st gu",
}


def vmstat(host: ModelHost, *, heading: str = VMSTAT, zone: str | None = "UTC") -> str:
    """``vmstat -t``, or without a ``zone`` each report below the time of day: nothing counts processors."""
    top = "procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----\n"
    text = top + heading + (f" {zone}" if zone else "") + "\n"
    last = " 0" * (len(heading.split()) - 16)
    for n in range(len(host.cpu) + 1):
        own = host.cpu[n - 1] if n else Cpu(97, 1, 1, 1)
        text += "" if zone else datetime.fromtimestamp(BEGAN + n * STEP, UTC).strftime("%a %b %e %T UTC %Y\n")
        text += f" 1 0 0 99 1 99 0 0 5 5 1 1 {own.user} {own.system} {own.idle} {own.iowait}{last}"
        text += (" " + stamped(n, "%Y-%m-%d %H:%M:%S") if zone else "") + "\n"
    return text


def item_last(text: str) -> str:
    """``sar -p`` of sysstat 12: the item stands last in its table."""
    lines = []
    moved = False
    for line in text.splitlines():
        words = line.split()
        if len(words) > 1 and not words[1][0].isdigit():
            moved = words[1] in ("DEV", "IFACE") or (moved and "%" not in line and words[1] != "all")
        lines.append(" ".join((words[0], *words[2:], words[1])) if moved and len(words) > 2 else line)
    return "\n".join(lines) + "\n"


def clocked(text: str, form: str) -> str:
    """The recording on another clock: of 12 hours, or as far-eastern locales print it."""
    day = {"zh": "2025年11月20日", "ko": "2025년 11월 20일"}.get(form)

    def written(match: re.Match[str]) -> str:
        hours, minutes, seconds = match.groups()
        if form == "12":
            return f"{(int(hours) + 11) % 12 + 1:02d}:{minutes}:{seconds} {'AM' if int(hours) < 12 else 'PM'}"
        marks = ("时", "分", "秒") if form == "zh" else ("시 ", "분 ", "초")
        return f"{hours}{marks[0]}{minutes}{marks[1]}{seconds}{marks[2]}"

    text = re.sub(r"(?m)^([0-9]{2}):([0-9]{2}):([0-9]{2})", written, text)
    return re.sub(r"2025-11-20", day, text) if day else text


def human(text: str) -> str:
    """``--human``: percent signs, and a decimal and a unit for bytes; the columns' names stay."""

    def written(word: str) -> str:
        value = float(word)
        units = [
            (unit, 1024.0**power) for power, unit in enumerate("kMG") if value >= 1024.0**power or not power
        ]
        unit, size = units[-1]
        return f"{value / size:.1f}{unit}"

    lines, columns = [], list[str]()
    for line in text.splitlines():
        words = line.split()
        if any(word.startswith("%") or word.endswith("/s") for word in words):
            columns = words[1:] if words[0] == "avg-cpu:" else words
        elif len(words) == len(columns) and len(words) > 2:
            words = [
                written(word) if "kB" in name else f"{float(word):.1f}%" if name.startswith("%") else word
                for name, word in zip(columns, words, strict=True)
            ]
        lines.append(" ".join(words))
    return "\n".join(lines) + "\n"


class Format(NamedTuple):
    """How a recording is written, and what it can tell: devices, shares of processors and their number.

    ``within`` is how far its figures are from the host's, where the recorder rounds them.
    """

    kind: str
    write: Callable[[ModelHost], str]
    devices: bool = True
    processors: bool = True
    network: bool = False
    kernel_names: bool = False
    untimed: bool = False
    shares: bool = True
    within: float = 1e-6


FORMATS: dict[str, Format] = {
    "sar": Format("sar", sar, network=True),
    "sar of sectors": Format("sar", lambda host: sar(host, sectors=True), network=True),
    "sar without a count": Format("sar", lambda host: sar(host, count=False), processors=False, network=True),
    "sar -p": Format("sar", lambda host: item_last(sar(host)), network=True),
    "sar of 12 hours": Format("sar", lambda host: clocked(sar(host), "12"), network=True),
    "sar in Chinese": Format("sar", lambda host: clocked(sar(host), "zh"), network=True),
    "sar in Korean": Format("sar", lambda host: clocked(item_last(sar(host)), "ko"), network=True),
    "sar with commas": Format(
        "sar", lambda host: re.sub(r"(?<=[0-9])\.(?=[0-9]{2}\b)", ",", sar(host)), network=True
    ),
    "sar -h": Format("sar", lambda host: human(item_last(sar(host))), network=True, within=0.06),
    "sar without a last line end": Format("sar", lambda host: sar(host).rstrip(), network=True),
    "sadf -d": Format("sadf", sadf_text, processors=False, network=True),
    "sadf -d of sectors": Format(
        "sadf", lambda host: sadf_text(host, sectors=True), processors=False, network=True
    ),
    "sadf -j": Format("sadf", sadf_json, network=True),
    "sadf -j of 12.0": Format("sadf", lambda host: sadf_json(host, every="-1"), network=True),
    "iostat": Format("iostat", iostat),
    "iostat -x": Format("iostat", lambda host: iostat(host, layout="extended")),
    "iostat --pretty": Format("iostat", lambda host: iostat(host, layout="pretty")),
    "iostat -h": Format("iostat", lambda host: human(iostat(host, layout="pretty")), within=0.06),
    "iostat of sectors": Format("iostat", lambda host: iostat(host, layout="sectors")),
    "iostat -d": Format("iostat", lambda host: iostat(host, cpu=False), processors=False, shares=False),
    "iostat without times": Format("iostat", lambda host: iostat(host, timed=False), untimed=True),
    "iostat -o JSON": Format("iostat", iostat_json),
    "nmon": Format("nmon", nmon, network=True, kernel_names=True),
    "mpstat": Format("mpstat", mpstat, devices=False),
    "mpstat without a count": Format("mpstat", lambda host: mpstat(host, count=False), devices=False),
    "vmstat": Format("vmstat", vmstat, devices=False, processors=False),
    "vmstat below times": Format(
        "vmstat", lambda host: vmstat(host, zone=None), devices=False, processors=False
    ),
    **{
        f"vmstat in {name}": Format("vmstat", partial(vmstat, heading=own), devices=False, processors=False)
        for name, own in _VMSTAT_OF.items()
    },
}
"""Every format and layout that is read, by a name for messages."""
