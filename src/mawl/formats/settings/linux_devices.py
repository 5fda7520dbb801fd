"""What Linux commands print of block devices, their paths and network interfaces.

Sources: lsblk(8), multipath(8), udevadm(8), ethtool(8) and the output of their current and older versions.
"""

from __future__ import annotations

import re

from mawl.formats.settings.linux import NOT_DISKS
from mawl.formats.settings.told import IGNORED, NOT_WHOLE, STRANGE_LINE, Output, Told

MEGABIT = 10**6
FAST_BITS_PER_SECOND = 10**10

_PAIR = re.compile(r'([A-Z:_%-]{2,20})="([^"]{0,200})"')
_TRANSPORTS = (("nvme", "nvme"), ("dm-", "device mapper"), ("md", "md"), ("vd", "virtio"))


def read_block_devices(output: Output, told: Told) -> None:
    """``lsblk -b -P -o KNAME,TYPE,SIZE,MODEL,TRAN``: what a device is, and by which bus it is attached."""
    for line in output.lines:
        pairs = dict(_PAIR.findall(line))
        name = pairs.get("KNAME", "")
        if not name or pairs.get("TYPE") in ("part", "rom", "loop") or name.startswith(NOT_DISKS):
            continue
        if pairs.get("SIZE", "").isdecimal():
            told.put("block", name, "size_bytes", int(pairs["SIZE"]))
        kind = next((kind for start, kind in _TRANSPORTS if name.startswith(start)), None)
        kind = kind or ("scsi" if name.startswith("sd") else None)
        if kind is not None:
            told.put("block", name, "transport", kind)
        if pairs.get("MODEL"):
            told.put("block", name, "model", pairs["MODEL"].strip())


_MAP = re.compile(r"\S+ (?:\([\w.-]{1,80}\) )?(?P<device>dm-[0-9]{1,5})\b.*")
_POLICY = re.compile(r"\W*policy='(?P<policy>[\w -]{1,40})' prio=\S+ status=\w+\s*")
_OLD_POLICY = re.compile(r"\\_ (?P<policy>[\w-]{1,30} [0-9]+) \[prio=\S+\]\s?\[\w+\]\s*")
_PATH = re.compile(
    r"[\W_]*[0-9#]+:[0-9#]+:[0-9#]+:[0-9#]+\s+\S+\s+[0-9#]+:[0-9#]+\s+\[?(?P<map>active|failed|undef)[\]\s]\s*"
    r"\[?(?P<path>ready|faulty|shaky|ghost|delayed|undef)(?:[\s\]].*)?",
    re.ASCII,
)


def read_multipath(output: Output, told: Told) -> None:
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
        if strange or not output.whole:
            for figure in ("paths", "paths_usable", "policy"):
                told.lack("multipath", name, figure, NOT_WHOLE if not output.whole else STRANGE_LINE)
            continue
        if len(policies.get(name, ())) == 1:
            told.put("multipath", name, "policy", next(iter(policies[name])))
        told.put("multipath", name, "paths", len(paths))
        if any(path.endswith(" undef") for path in paths):
            told.lack("multipath", name, "paths_usable", "multipath did not check one of the paths")
        else:
            told.put("multipath", name, "paths_usable", paths.count("active ready"))


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


def read_ethtool(output: Output, told: Told) -> None:
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
            told.put("network", device, "speed_bits_per_second", bits)
            told.put("network", device, "fast", bits >= FAST_BITS_PER_SECOND)
        elif duplex:
            told.put("network", device, "duplex", duplex[1].lower())
        elif ring and "-g" in output.command and most is not None:
            way = "receive" if ring[1] == "RX" else "transmit"
            told.put("network", device, f"{way}_ring{'_most' if most else ''}", int(ring[2]))
        elif feature and feature["name"] in _OFFLOADS:
            told.put("network", device, _OFFLOADS[feature["name"]], feature["value"] == "on")


def read_udev(output: Output, told: Told) -> None:
    """``udevadm info --query=property --name=DEVICE``: model and bus."""
    pairs = dict(line.split("=", 1) for line in output.lines if "=" in line)
    name = pairs.get("DEVNAME", "").removeprefix("/dev/")
    if name and pairs.get("DEVTYPE") == "disk" and pairs.get("ID_MODEL"):
        told.put("block", name, "model", pairs["ID_MODEL"].strip())
