"""The recordings of the model host that other tools write as tables, and services as documents."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence

from tests.fakes.model_host import BEGAN, STEP, Cpu, Format, ModelHost, stamped

BEFORE = Cpu(97, 1, 1, 1)
"""Shares of the time since boot, which no interval has."""


def _names(host: ModelHost) -> list[str]:
    return sorted({name for interval in host.moved for name in interval})


def _quoted(cells: Sequence[object]) -> str:
    return ",".join(f'"{cell}"' for cell in cells) + "\n"


def dool(
    host: ModelHost,
    *,
    tool: str = "dool 1.3.4",
    options: str = "-tcdn",
    unit: int = 8,
    epoch: bool = False,
    total: bool = False,
) -> str:
    """``dool -tcdn --output``; the first row is of the time since boot, and there are 8 bits in a byte."""
    devices = _names(host)
    groups = ["epoch" if epoch else "system", "total cpu usage", "", "", "", ""]
    names = ["epoch" if epoch else "time", "usr", "sys", "idl", "wai", "stl"]
    for device in (["total"] if total else []) + devices:
        own = host.names.get(device, device)
        groups += [f"dsk/{own}", ""]
        names += [f"dsk/{own}:read", f"dsk/{own}:writ"]
    for link in host.links:
        groups += [f"net/{link}", ""]
        names += [f"net/{link}:recv", f"net/{link}:send"]
    text = f'"{tool} CSV output"\n"Author:","A. B.",,,,"URL:","https://example.org/"\n'
    text += '"Host:","model1",,,,"User:","u"\n'
    text += (
        f'"Cmdline:","dool {options}",,,,"Date:","20 Nov 2025 10:00:00 UTC"\n'
        + _quoted(groups)
        + _quoted(names)
    )
    for n in range(len(host.moved) + 1):
        cpu = host.cpu[n - 1] if n else BEFORE
        moved = host.moved[n - 1] if n else dict.fromkeys(devices, (777, 777))
        at = BEGAN + n * STEP
        rates = [moved.get(device, (0, 0)) for device in devices]
        every = [(sum(own[0] for own in rates), sum(own[1] for own in rates))] if total else []
        row: list[object] = [f"{at:.3f}" if epoch else stamped(n, "%b-%d %H:%M:%S")]
        row += [f"{part}.000" for part in (cpu.user, cpu.system, cpu.idle, cpu.iowait, 0)]
        row += [value * 1024 * unit for pair in (*every, *rates) for value in pair]
        row += [value * 1024 * unit for pair in host.links.values() for value in pair]
        text += ",".join(map(str, row)) + "\n"
    return text


def pmrep(host: ModelHost, *, joined: str = "[{}]", extended: bool = False) -> str:
    """``pmrep -o csv``: the first row has no rates, and a device that is gone has empty cells."""
    devices = _names(host)
    names = [
        f"disk.dev.{way}_bytes{joined.format(host.names.get(device, device))}"
        for device in devices
        for way in ("read", "write")
    ]
    names += [
        f"network.interface.{way}.bytes{joined.format(link)}" for link in host.links for way in ("in", "out")
    ]
    names += [f"kernel.all.cpu.{kind}" for kind in ("user", "nice", "sys", "wait.total", "idle")]
    text = ("Host,Interval,Time," if extended else "Time,") + _quoted([*names, "hinv.ncpu"])
    for n in range(len(host.moved) + 1):
        stamp = stamped(n, "%Y-%m-%d %H:%M:%S")
        row: list[object] = ["model1", int(STEP) if n else 0, f"{stamp} UTC+0"] if extended else [stamp]
        if n:
            for device in devices:
                row += host.moved[n - 1].get(device, ("", ""))
            row += [value * 1024 for pair in host.links.values() for value in pair]
            cpu = host.cpu[n - 1]
            shares = (cpu.user, 0, cpu.system, cpu.iowait, cpu.idle)
            row += [f"{share * 10 * host.cpus}.000" for share in shares]
        else:
            row += [""] * len(names)
        text += ",".join(map(str, [*row, host.cpus])) + "\n"
    return text


ENGLISH = {
    **{f"PhysicalDisk/{way}": f"Disk {way} Bytes/sec" for way in ("Read", "Write")},
    **{f"Network Interface/{way}": f"Bytes {way}/sec" for way in ("Received", "Sent")},
    **{f"Processor/{kind}": f"% {kind} Time" for kind in ("User", "Privileged", "Idle")},
}


def perfmon(
    host: ModelHost,
    *,
    words: dict[str, str] | None = None,
    zone: str = " (W. Europe Standard Time)(-60)",
    separator: str = ",",
    instances: bool = True,
) -> str:
    """``typeperf -o``, ``relog -f csv``: month first, an hour ahead, disks alone, with their sum."""
    said = words or {}
    disks = [*sorted(host.disks), "_Total"]
    counters = [("PhysicalDisk", disk, way) for disk in disks for way in ("Read", "Write")]
    counters += [("Network Interface", link, way) for link in host.links for way in ("Received", "Sent")]
    numbers = [*map(str, range(host.cpus))] if instances else []
    counters += [
        ("Processor", item, kind) for item in (*numbers, "_Total") for kind in ("User", "Privileged", "Idle")
    ]
    names = [
        rf"\\MODEL1\{said.get(part, part)}({item})\{said.get(f'{part}/{way}', ENGLISH[f'{part}/{way}'])}"
        for part, item, way in counters
    ]
    text = separator.join(f'"{name}"' for name in (f"(PDH-CSV 4.0){zone}", *names)) + "\n"
    for n in range(len(host.moved) + 1):
        row = [stamped(n, "%m/%d/%Y %H:%M:%S.123", ahead=3600 if zone else 0)]
        row += [_counted(host, n, *counter) for counter in counters]
        text += separator.join(f'"{cell}"' for cell in row) + "\n"
    return text


def _counted(host: ModelHost, n: int, part: str, item: str, way: str) -> str:
    if n == 0:
        return " "
    if part == "Processor":
        cpu = host.cpu[n - 1]
        share = {"User": cpu.user, "Privileged": cpu.system, "Idle": cpu.idle + cpu.iowait}[way]
        return f"{share}.000000000000001"
    place = int(way in ("Write", "Sent"))
    rates = host.links if part == "Network Interface" else host.moved[n - 1]
    if item == "_Total":
        return str(sum(rates[disk][place] for disk in host.disks if disk in rates) * 1024)
    return str(rates[item][place] * 1024) if item in rates else "0"


def prometheus(host: ModelHost) -> str:
    """An answer to ``query_range``: counters since boot, without points of devices that are not there."""
    result: list[dict[str, object]] = []

    def add(name: str, values: Iterator[tuple[float, float | None]], **labels: str) -> None:
        points = [[at, repr(value)] for at, value in values if value is not None]
        metric = {"__name__": name, "instance": "model1:9100", "job": "node", **labels}
        result.append({"metric": metric, "values": points})

    for device in _names(host):
        for way, name in enumerate(("read", "written")):
            own = host.names.get(device, device)
            add(f"node_disk_{name}_bytes_total", _counter(host, device, way), device=own)
    for link, rates in host.links.items():
        for way, name in enumerate(("receive", "transmit")):
            values = (
                (BEGAN + n * STEP, 1e9 + rates[way] * 1024 * STEP * n) for n in range(len(host.moved) + 1)
            )
            add(f"node_network_{name}_bytes_total", values, device=link)
    for number in range(host.cpus):
        for mode in ("user", "system", "iowait", "idle"):
            shares = [getattr(cpu, mode) / 100 * STEP for cpu in host.cpu]
            values = ((BEGAN + n * STEP, 500.0 + sum(shares[:n])) for n in range(len(host.moved) + 1))
            add("node_cpu_seconds_total", values, cpu=str(number), mode=mode)
    return json.dumps({"status": "success", "data": {"resultType": "matrix", "result": result}})


def _counter(host: ModelHost, device: str, way: int) -> Iterator[tuple[float, float | None]]:
    """Growth of a device that is there before and after an interval in which it moved something."""
    total = 1e12
    yield BEGAN, total
    for n, moved in enumerate(host.moved, 1):
        total += moved.get(device, (0, 0))[way] * 1024 * STEP
        yield BEGAN + n * STEP, total


def cloudwatch(host: ModelHost) -> str:
    """``aws cloudwatch get-metric-data``: sums of periods that begin at their time, the latest first."""
    results = []
    for disk in sorted(host.disks):
        for way, name in enumerate(("Read", "Write")):
            amounts = [moved.get(disk, (0, 0))[way] * 1024 * STEP for moved in host.moved]
            times = [stamped(n, "%Y-%m-%dT%H:%M:%S+00:00") for n in range(len(amounts))]
            label = f"{disk} Volume{name}Bytes Sum"
            results.append({"Id": f"m{way}{disk}", "Label": label, "Timestamps": times[::-1],
                            "Values": amounts[::-1], "StatusCode": "Complete"})  # fmt: skip
    return json.dumps({"MetricDataResults": results, "Messages": []}, indent=4)


def azure(host: ModelHost) -> str:
    """``az monitor metrics list``: means of data disks by LUN."""
    value = []
    for way, name in enumerate(("Read", "Write")):
        series = []
        for disk in sorted(host.disks):
            data = [
                {
                    "timeStamp": stamped(n, "%Y-%m-%dT%H:%M:%SZ"),
                    "average": moved.get(disk, (0, 0))[way] * 1024,
                }
                for n, moved in enumerate(host.moved)
            ]
            series.append({"data": data, "metadatavalues": [{"name": {"value": "lun"}, "value": disk}]})
        place = "/subscriptions/x/resourceGroups/y/providers/Microsoft.Compute/virtualMachines/model1"
        metric = f"Data Disk {name} Bytes/sec"
        value.append({"id": f"{place}/providers/Microsoft.Insights/metrics/{metric}",
                      "name": {"value": metric}, "unit": "BytesPerSecond", "timeseries": series})  # fmt: skip
    return json.dumps({"cost": 0, "interval": "PT1M", "resourceregion": "x", "value": value}, indent=2)


def collectl(host: ModelHost, *, separator: str = " ", head: bool = True, utc: bool = False) -> str:
    """``collectl -P -scD``: a column for each figure of a device, its name in the first of them."""
    devices = _names(host)
    text = ""
    if head:
        text = (
            "#" * 80 + "\n# Collectl:   V4.3.1-1  HiRes: 1  Options: -P\n# Host:       model1  DaemonOpts: \n"
        )
        text += "# Date:       20251120-100000  Secs: 1763632800 TZ: +0100\n"
        text += (
            f"# SubSys:     cD Options:  Interval: {STEP:g} NumCPUs: {host.cpus}  NumBud: 0 Flags: i\n"
            + "#" * 80
            + "\n"
        )
    names = ["#UTC"] if utc else ["#Date", "Time"]
    names += [f"[CPU]{kind}%" for kind in ("User", "Nice", "Sys", "Wait", "Irq", "Soft", "Steal", "Idle")]
    for device in devices:
        own = host.names.get(device, device)
        names += [f"[DSK:{own}]{name}" for name in ("Name", "RKBytes", "WKBytes")]
    for link in host.links:
        names += [f"[NET:{link}]{name}" for name in ("Name", "RxKB", "TxKB")]
    text += separator.join(names) + "\n"
    first = 1 if head else 0
    for n in range(first, len(host.moved) + 1):
        cpu = host.cpu[n - 1] if n else BEFORE
        moved = host.moved[n - 1] if n else dict.fromkeys(devices, (777, 777))
        ahead = 3600 if head else 0
        row: list[object] = (
            [f"{BEGAN + n * STEP:.0f}"] if utc else [*stamped(n, "%Y%m%d %H:%M:%S", ahead).split()]
        )
        row += [cpu.user, 0, cpu.system, cpu.iowait, 0, 0, 0, cpu.idle]
        for device in devices:
            row += [host.names.get(device, device), *moved.get(device, (0, 0))]
        for link, rates in host.links.items():
            row += [link, *rates]
        text += separator.join(map(str, row)) + "\n"
    return text


def atop(host: ModelHost, *, fields: str = "") -> str:
    """``atop -P``: after RESET a sample of the time since boot; ``fields`` are those of later versions."""
    text = "RESET\n"
    for n in range(len(host.moved) + 1):
        cpu = host.cpu[n - 1] if n else BEFORE
        moved = host.moved[n - 1] if n else dict.fromkeys(_names(host), (777, 777))
        begin = f"model1 {BEGAN + n * STEP:.0f} {stamped(n, '%Y/%m/%d %H:%M:%S')} {STEP if n else 42702:.0f}"
        ticks = [share * STEP * host.cpus for share in (cpu.system, cpu.user, 0, cpu.idle, cpu.iowait)]
        text += (
            f"CPU {begin} 100 {host.cpus} {' '.join(f'{tick:.0f}' for tick in ticks)} 0 0 0 0 2599 100 0 0\n"
        )
        for device, rates in moved.items():
            kind = "MDD" if device.startswith("md") else "LVM" if device.startswith("dm") else "DSK"
            sectors = [int(rate * 2 * STEP) for rate in rates]
            text += (
                f"{kind} {begin} {host.names.get(device, device)} 5 1 {sectors[0]} 1 {sectors[1]}{fields}\n"
            )
        text += f"NET {begin} upper 1 1 1 1 1 1 1 0 0 0 0 0 0 0 0 0\n"
        for link, own in host.links.items():
            text += f"NET {begin} {link} 1 {own[0] * 1024 * STEP:.0f} 1 {own[1] * 1024 * STEP:.0f} 0 0\n"
        text += "SEP\n"
    return text


GERMAN = {
    "PhysicalDisk": "Physikalischer Datenträger",
    "PhysicalDisk/Read": "Bytes gelesen/s",
    "PhysicalDisk/Write": "Bytes geschrieben/s",
    "Processor": "Prozessor",
    "Processor/User": "Benutzerzeit (%)",
    "Processor/Privileged": "Privilegierte Zeit (%)",
    "Processor/Idle": "Leerlaufzeit (%)",
    "Network Interface": "Netzwerkschnittstelle",
    "Network Interface/Received": "Empfangene Bytes/s",
    "Network Interface/Sent": "Bytes gesendet/s",
}


def _as(write: Callable[..., str], **options: object) -> Callable[[ModelHost], str]:
    return lambda host: write(host, **options)


TABLES: dict[str, Format] = {
    "dool -t": Format("dstat", dool, processors=False, network=True),
    "dool --bytes": Format(
        "dstat", _as(dool, options="-tcdn --bytes", unit=1), processors=False, network=True
    ),
    "dool 1.2": Format("dstat", _as(dool, tool="dool 1.2.0", unit=1), processors=False, network=True),
    "dstat -T with totals": Format(
        "dstat", _as(dool, tool="Dstat 0.7.4", unit=1, epoch=True, total=True), processors=False, network=True
    ),
    "pmrep": Format("pmrep", pmrep, network=True),
    "pmrep -k of 6.0": Format("pmrep", _as(pmrep, joined="-{}", extended=True), network=True),
    "perfmon": Format("perfmon", perfmon, network=True, kernel_names=True),
    "perfmon in German, with semicolons": Format(
        "perfmon", _as(perfmon, words=GERMAN, zone="", separator=";"), network=True, kernel_names=True
    ),
    "prometheus": Format("prometheus", prometheus, network=True),
    "cloudwatch": Format("cloudwatch", cloudwatch, processors=False, shares=False, kernel_names=True),
    "azure": Format("azure", azure, processors=False, shares=False, kernel_names=True),
    "collectl": Format("collectl", collectl, network=True),
    "collectl -oU --sep": Format(
        "collectl", _as(collectl, separator=",", head=False, utc=True), processors=False, network=True
    ),
    "atop": Format("atop", atop, network=True),
    "atop of later versions": Format("atop", _as(atop, fields=" 1 2 0 0.50 7"), network=True),
}
"""Every table, by a name for messages."""
