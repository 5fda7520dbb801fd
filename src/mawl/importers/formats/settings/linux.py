"""What Linux commands print of settings, block devices and network interfaces, as figures of the inventory.

Sources: sysctl(8), tuned-adm(8), numactl(8), mount(8), lsblk(8), multipath(8), udevadm(8), ethtool(8), the
kernel's Documentation/ABI/stable/sysfs-block, and Documentation/admin-guide of the files below /proc/sys.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping
from functools import partial

from mawl.importers.formats.settings.output import IGNORED, NodeSettings, Output
from mawl.records.model.node import Value
from mawl.records.model.series_metrics import MACHINE

KIB = 1024

Convert = Callable[[str], Value]


def _scaled(factor: int) -> Convert:
    return lambda text: int(text) * factor


def _parts(per_second: int) -> Convert:
    return lambda text: int(text) / per_second


def _third(text: str) -> int:
    low, start, most = (int(word) for word in text.split())
    if not low <= start <= most:
        raise ValueError("a least, a first and a largest size are in order")
    return most


def chosen(text: str) -> str | None:
    """The word in brackets of a list of choices, or the only word."""
    words = text.split()
    marked = [word[1:-1] for word in words if word.startswith("[") and word.endswith("]")]
    return marked[0] if len(marked) == 1 else words[0] if len(words) == 1 and not marked else None


def _flag(text: str) -> bool | None:
    return {"0": False, "1": True}.get(text)


def _word(text: str) -> str | None:
    return text or None


SYSCTLS: Mapping[str, tuple[str, str, Convert]] = {
    "vm.swappiness": ("memory", "swappiness", int),
    "vm.dirty_ratio": ("memory", "dirty_ratio", int),
    "vm.dirty_background_ratio": ("memory", "dirty_background_ratio", int),
    "vm.dirty_bytes": ("memory", "dirty_bytes", int),
    "vm.dirty_background_bytes": ("memory", "dirty_background_bytes", int),
    "vm.dirty_expire_centisecs": ("memory", "dirty_expire_seconds", _parts(100)),
    "vm.dirty_writeback_centisecs": ("memory", "dirty_writeback_seconds", _parts(100)),
    "vm.vfs_cache_pressure": ("memory", "vfs_cache_pressure", int),
    "vm.min_free_kbytes": ("memory", "min_free_bytes", _scaled(KIB)),
    "vm.watermark_scale_factor": ("memory", "watermark_scale_factor", int),
    "vm.overcommit_memory": ("memory", "overcommit_memory", int),
    "vm.zone_reclaim_mode": ("memory", "zone_reclaim_mode", int),
    "vm.max_map_count": ("memory", "max_map_count", int),
    "vm.nr_hugepages": ("memory", "huge_pages", int),
    "kernel.numa_balancing": ("memory", "numa_balancing", int),
    "kernel.sched_autogroup_enabled": ("kernel", "sched_autogroup_enabled", int),
    "kernel.sched_min_granularity_ns": ("kernel", "sched_min_granularity_seconds", _parts(10**9)),
    "kernel.sched_wakeup_granularity_ns": ("kernel", "sched_wakeup_granularity_seconds", _parts(10**9)),
    "kernel.sched_migration_cost_ns": ("kernel", "sched_migration_cost_seconds", _parts(10**9)),
    "kernel.pid_max": ("kernel", "pid_max", int),
    "kernel.threads-max": ("kernel", "threads_max", int),
    "fs.file-max": ("limits", "file_max", int),
    "fs.aio-max-nr": ("limits", "aio_max_requests", int),
    "net.ipv4.tcp_rmem": ("tcp", "receive_most_bytes", _third),
    "net.ipv4.tcp_wmem": ("tcp", "send_most_bytes", _third),
    "net.core.rmem_max": ("tcp", "core_receive_most_bytes", int),
    "net.core.wmem_max": ("tcp", "core_send_most_bytes", int),
    "net.ipv4.tcp_congestion_control": ("tcp", "congestion_control", _word),
    "net.core.default_qdisc": ("tcp", "queueing", _word),
    "net.core.netdev_max_backlog": ("tcp", "backlog", int),
    "net.ipv4.tcp_slow_start_after_idle": ("tcp", "slow_start_after_idle", int),
    "net.ipv4.tcp_window_scaling": ("tcp", "window_scaling", int),
    "net.ipv4.tcp_sack": ("tcp", "selective_acknowledgement", int),
    "sunrpc.tcp_slot_table_entries": ("tcp", "nfs_slots", int),
    "sunrpc.tcp_max_slot_table_entries": ("tcp", "nfs_slots_most", int),
}
"""Name of a file below /proc/sys, with points, to family, figure, and what its text means."""
QUEUE_FILES: Mapping[str, tuple[str, Convert]] = {
    "scheduler": ("scheduler", chosen),
    "read_ahead_kb": ("read_ahead_bytes", _scaled(KIB)),
    "nr_requests": ("requests", int),
    "max_sectors_kb": ("max_request_bytes", _scaled(KIB)),
    "max_hw_sectors_kb": ("max_hardware_request_bytes", _scaled(KIB)),
    "optimal_io_size": ("optimal_request_bytes", int),
    "logical_block_size": ("logical_block_bytes", int),
    "physical_block_size": ("physical_block_bytes", int),
    "rotational": ("rotational", _flag),
    "write_cache": ("write_cache", _word),
    "nomerges": ("no_merges", int),
    "rq_affinity": ("request_affinity", int),
}
"""File in the folder ``queue`` of a block device to figure, and what its text means."""
_SYSCTL = re.compile(r"(?P<name>[a-z][\w.-]{2,100})\s*=\s*(?P<value>\S.{0,199}?)\s*")

_Q = r"/sys/block/(?P<subject>[\w!.-]{1,60})/queue/"
_PATTERNS: tuple[tuple[str, str, str, Convert], ...] = (
    *((_Q + name, "block", figure, convert) for name, (figure, convert) in QUEUE_FILES.items()),
    ("/sys/kernel/mm/transparent_hugepage/enabled", "memory", "transparent_huge_pages", chosen),
    ("/sys/kernel/mm/transparent_hugepage/defrag", "memory", "transparent_huge_page_defrag", chosen),
    ("/sys/kernel/mm/ksm/run", "memory", "ksm", int),
    (r"/sys/devices/system/cpu/cpu\d{1,5}/cpufreq/scaling_governor", "cpu", "governor", str),
    (r"/sys/class/nvme-subsystem/(?P<subject>[\w-]{1,60})/iopolicy", "multipath", "policy", str),
    (r"/sys/module/iomemory_vsl\d?/parameters/(?P<figure>\w{1,60})", "iomemory_vsl", "", int),
)
_SYS_FILES = tuple(
    (re.compile(pattern), family, figure, convert) for pattern, family, figure, convert in _PATTERNS
)
_FILE = re.compile(r"(?P<path>/sys/[\w!/.:-]{1,200}):(?P<value>\S.{0,199}?)\s*")
NOT_DISKS = ("loop", "ram", "zram", "sr", "fd", "nbd")


def _noted(
    settings: NodeSettings, family: str, subject: str, figure: str, text: str, convert: Convert
) -> None:
    """What ``convert`` makes of a text; what it cannot read is absent with its reason."""
    try:
        value = convert(text)
    except (ValueError, KeyError):
        value = None
    if value is None or (isinstance(value, int | float) and not -(2**63) <= value < 2**63):
        settings.lack(family, subject, figure, f"printed in a form that mawl does not know: {text[:40]}")
    else:
        settings.put(family, subject, figure, value)


def read_sysctl(output: Output, settings: NodeSettings) -> None:
    """Settings of the kernel that ``sysctl -a`` prints."""
    for match in output.matches(_SYSCTL):
        if match["name"] in SYSCTLS:
            family, figure, convert = SYSCTLS[match["name"]]
            _noted(settings, family, MACHINE, figure, match["value"], convert)


def read_sys_files(output: Output, settings: NodeSettings) -> None:
    """Files below /sys as ``PATH:VALUE``, as ``grep . FILES`` and the collector print them."""
    for line in output.matches(_FILE):
        for pattern, family, figure, convert in _SYS_FILES:
            match = pattern.fullmatch(line["path"])
            if match is None:
                continue
            groups = match.groupdict()
            subject = groups.get("subject", MACHINE)
            if family != "block" or not subject.startswith(NOT_DISKS):
                _noted(settings, family, subject, groups.get("figure", figure), line["value"], convert)

    if output.whole:
        _idle(output, settings)


_IDLE = re.compile(
    r"/sys/devices/system/cpu/cpu0/cpuidle/(?P<state>state\d{1,2})/(?P<what>latency|disable):(?P<value>\d{1,9})\s*"
)


def _idle(output: Output, settings: NodeSettings) -> None:
    """The longest exit latency (microseconds in the files) of the idle states of the first processor that
    are not disabled; nothing where a file of a state is not there."""
    states: dict[str, dict[str, int]] = {}
    for line in output.matches(_IDLE):
        states.setdefault(line["state"], {})[line["what"]] = int(line["value"])
    if not states or any(len(files) < 2 for files in states.values()):
        return
    exits = [files["latency"] for files in states.values() if files["disable"] == 0]
    if exits:
        settings.machine("cpu", "idle_exit_seconds", max(exits) / 10**6)


_SPACE_HEAD = re.compile(
    r"Filesystem +(?:1024-blocks|1K-blocks|512-blocks) +Used +Available +(?:Capacity|Use%) +Mounted on ?"
)
_SPACE = re.compile(
    r"\S{1,200} +\d{1,18} +(?P<used>\d{1,18}) +(?P<available>\d{1,18}) +\d{1,3}% +(?P<over>/.{0,200}?) *"
)


def read_space(output: Output, settings: NodeSettings) -> None:
    """``df -P``: used space over used and available, as the inventory of a run has it.

    Family ``df`` until the mount points are known (``tuning.collection.reading``).
    """
    if not any(output.matches(_SPACE_HEAD)):
        return
    for line in output.matches(_SPACE):
        used, usable = int(line["used"]), int(line["used"]) + int(line["available"])
        if usable:
            settings.put("df", line["over"], "used_ratio", used / usable)


_PROFILE = re.compile(r"Current active profile: (\S{1,100})\s*")
_NODES = re.compile(r"available: ([0-9]{1,4}) nodes? \([\d,-]+\)\s*")
_SMT = re.compile(r"SMT=([1-8])\s*|SMT is (off)\s*")


def read_tuned(output: Output, settings: NodeSettings) -> None:
    """``tuned-adm active``."""
    for match in output.matches(_PROFILE):
        settings.machine("kernel", "tuned_profile", match[1])


def read_nodes(output: Output, settings: NodeSettings) -> None:
    """``numactl --hardware``."""
    for match in output.matches(_NODES):
        settings.machine("memory", "nodes", int(match[1]))


_MOUNTED = re.compile(
    r"\S+ on (?P<over>/.{0,200}?) type (?P<kind>[\w.]{2,30}) \((?P<options>\S{2,2000})\)\s*"
)
_NETWORK = ("nfs", "nfs4", "cifs", "lustre", "gpfs", "glusterfs", "fuse.glusterfs", "ceph", "beegfs")
_LOCAL = ("ext2", "ext3", "ext4", "xfs", "btrfs", "zfs", "f2fs")


def read_mounts(output: Output, settings: NodeSettings) -> None:
    """``mount`` of Linux: file systems that hold data, with the options that the inventory has."""
    for match in output.matches(_MOUNTED):
        if match["kind"] not in _NETWORK + _LOCAL or not match["options"].isascii():
            continue
        over, options = match["over"], match["options"].split(",")
        put = partial(settings.put, "file_system", over)
        put("type", match["kind"])
        put("network", match["kind"] in _NETWORK)
        put("mount_options", match["options"][:400])
        times = [word for word in ("noatime", "relatime", "strictatime") if word in options]
        put("access_times", times[0] if times else "strictatime")
        values = dict(word.split("=", 1) for word in options if "=" in word)
        for option, figure in (
            ("rsize", "read_bytes"),
            ("wsize", "write_bytes"),
            ("nconnect", "connections"),
        ):
            if values.get(option, "").isdecimal():
                put(figure, int(values[option]))
        if match["kind"].startswith("nfs") and "nconnect" not in values:
            put("connections", 1)


def read_smt(output: Output, settings: NodeSettings) -> None:
    """``ppc64_cpu --smt`` of Linux on Power."""
    for match in output.matches(_SMT):
        settings.machine("cpu", "threads_per_core", int(match[1] or 1))


def read_limits(output: Output, settings: NodeSettings) -> None:
    """``ulimit -n`` (soft) and ``ulimit -Hn`` (hard): one number, or unlimited."""
    figure = "open_files_most" if "-Hn" in output.command else "open_files"
    words = [line.strip() for line in output.lines if line.strip()]
    if len(words) == 1 and re.fullmatch(r"unlimited|[0-9]{1,18}", words[0]):
        settings.machine("limits", figure, words[0] if words[0] == "unlimited" else int(words[0]))


def words_of(command: str) -> tuple[str, ...]:
    """A command's words; one whose quotes do not close is split at its blanks."""
    try:
        return tuple(shlex.split(command))
    except ValueError:
        return tuple(command.split())


MEGABIT = 10**6
FAST_BITS_PER_SECOND = 10**10

_PAIR = re.compile(r'([A-Z:_%-]{2,20})="([^"]{0,200})"')
_TRANSPORTS = (("nvme", "nvme"), ("dm-", "device mapper"), ("md", "md"), ("vd", "virtio"))


def read_block_devices(output: Output, settings: NodeSettings) -> None:
    """``lsblk -b -P -o KNAME,TYPE,SIZE,MODEL,TRAN``: what a device is, and by which bus it is attached."""
    for line in output.lines:
        pairs = dict(_PAIR.findall(line))
        name = pairs.get("KNAME", "")
        if not name or pairs.get("TYPE") in ("part", "rom", "loop") or name.startswith(NOT_DISKS):
            continue
        if pairs.get("SIZE", "").isdecimal():
            settings.put("block", name, "size_bytes", int(pairs["SIZE"]))
        kind = next((kind for start, kind in _TRANSPORTS if name.startswith(start)), None)
        kind = kind or ("scsi" if name.startswith("sd") else None)
        if kind is not None:
            settings.put("block", name, "transport", kind)
        if pairs.get("MODEL"):
            settings.put("block", name, "model", pairs["MODEL"].strip())


_MAP = re.compile(r"[^\s|`\\\[].{0,200}? ?\b(?P<device>dm-[0-9]{1,5})\b.*")
"""``NAME (WWID) dm-2 VENDOR,PRODUCT``, or a WWID alone; a WWID may hold blanks (SCSI identifiers of text)."""
_POLICY = re.compile(r"\W*policy='(?P<policy>[\w -]{1,40})' prio=\S+ status=\w+\s*")
_OLD_POLICY = re.compile(r"\\_ (?P<policy>[\w-]{1,30} [0-9]+) \[prio=\S+\]\s?\[\w+\]\s*")
_PATH = re.compile(
    r"[\W_]*[0-9#]+:[0-9#]+:[0-9#]+:[0-9#]+\s+\S+\s+[0-9#]+:[0-9#]+\s+\[?(?P<map>active|failed|undef)[\]\s]\s*"
    r"\[?(?P<path>ready|faulty|shaky|ghost|delayed|undef)(?:[\s\]].*)?",
    re.ASCII,
)


def read_multipath(output: Output, settings: NodeSettings) -> None:
    """``multipath -ll``: paths of each map, those that are ready, and how one is chosen."""
    device, rows, policies = "", dict[str, list[str]](), dict[str, set[str]]()
    strange = False
    for line in filter(str.strip, output.lines):
        head, path = _MAP.fullmatch(line), _PATH.fullmatch(line)
        policy = _POLICY.fullmatch(line) or _OLD_POLICY.fullmatch(line)
        if head:
            device = head["device"]
            rows.setdefault(device, [])
        elif policy and device:
            policies.setdefault(device, set()).add(policy["policy"])
        elif path and device:
            rows[device].append(f"{path['map']} {path['path']}")
        elif not line.startswith(("size=", "[size=")):
            strange = True
    for name, paths in rows.items():
        if doubt := output.doubt(strange=strange):
            for figure in ("paths", "paths_usable", "policy"):
                settings.lack("multipath", name, figure, doubt)
            continue
        if len(policies.get(name, ())) == 1:
            settings.put("multipath", name, "policy", next(iter(policies[name])))
        settings.put("multipath", name, "paths", len(paths))
        if any(path.endswith(" undef") for path in paths):
            settings.lack("multipath", name, "paths_usable", "multipath did not check one of the paths")
        else:
            settings.put("multipath", name, "paths_usable", paths.count("active ready"))


_SPEED = re.compile(r"\s+Speed: ([0-9]{2,7})Mb/s\s*")
_DUPLEX = re.compile(r"\s+Duplex: (Full|Half)\s*")
_RING = re.compile(r"(RX|TX):\s+([0-9]{1,7})\s*")
_OFFLOADS = {
    "rx-checksumming": "receive_checksum_offload",
    "tx-checksumming": "transmit_checksum_offload",
    "tcp-segmentation-offload": "segmentation_offload",
    "generic-receive-offload": "generic_receive_offload",
}
_FEATURE = re.compile(r"(?P<name>[a-z][a-z-]{3,60}): (?P<value>on|off)(?: \[[a-z ]+\])?\s*")


def read_ethtool(output: Output, settings: NodeSettings) -> None:
    """``ethtool DEVICE``, ``-g``, ``-k`` and ``-i``."""
    device = output.command[-1] if len(output.command) > 1 else ""
    if not device or device.startswith("-"):
        return
    most: bool | None = None
    for line in output.lines:
        speed, duplex, ring, feature = (
            pattern.fullmatch(line) for pattern in (_SPEED, _DUPLEX, _RING, _FEATURE)
        )
        if line.startswith(("Pre-set maximums", "Current hardware settings")):
            most = line.startswith("Pre-set")
        elif line == IGNORED or line.endswith(":"):
            most = None
        if speed:
            bits = int(speed[1]) * MEGABIT
            settings.put("network", device, "speed_bits_per_second", bits)
            settings.put("network", device, "fast", bits >= FAST_BITS_PER_SECOND)
        elif duplex:
            settings.put("network", device, "duplex", duplex[1].lower())
        elif ring and "-g" in output.command and most is not None:
            way = "receive" if ring[1] == "RX" else "transmit"
            settings.put("network", device, f"{way}_ring{'_most' if most else ''}", int(ring[2]))
        elif feature and feature["name"] in _OFFLOADS:
            settings.put("network", device, _OFFLOADS[feature["name"]], feature["value"] == "on")


def read_udev(output: Output, settings: NodeSettings) -> None:
    """``udevadm info --query=property --name=DEVICE``: model and bus."""
    pairs = dict(line.split("=", 1) for line in output.lines if "=" in line)
    name = pairs.get("DEVNAME", "").removeprefix("/dev/")
    if name and pairs.get("DEVTYPE") == "disk" and pairs.get("ID_MODEL"):
        settings.put("block", name, "model", pairs["ID_MODEL"].strip())
