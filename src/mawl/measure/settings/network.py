"""Network interfaces (sysfs-class-net, ethtool(8) by its ioctl, read-only commands) and TCP."""

from __future__ import annotations

import ctypes
import fcntl
import socket
import struct
from collections.abc import Iterator
from pathlib import Path

from mawl.measure.settings.reading import Subject, names_in

SIOCETHTOOL = 0x8946
GRINGPARAM = 0x10
OFFLOADS = {
    "receive_checksum_offload": 0x14,
    "transmit_checksum_offload": 0x16,
    "segmentation_offload": 0x1E,
    "generic_receive_offload": 0x2B,
}
"""Read commands of include/uapi/linux/ethtool.h, which need no root."""
MEGABIT = 10**6
FAST_BITS_PER_SECOND = 10**10


def read(proc: Path, sys: Path, ask: bool = True) -> Iterator[Subject]:
    """Interfaces other than the loopback, then TCP; ``ask`` the kernel what sysfs does not tell."""
    for name in names_in(sys / "class/net"):
        directory = sys / "class/net" / name
        if name != "lo" and directory.is_dir():
            yield _interface(name, directory, ask)
    yield _tcp(proc)


def _interface(name: str, directory: Path, ask: bool) -> Subject:
    found = Subject("network", name)
    found.read("speed_bits_per_second", directory / "speed", lambda text: _speed(text))
    speed = found.figures["speed_bits_per_second"]
    found.put(
        "fast",
        speed >= FAST_BITS_PER_SECOND if isinstance(speed, int) else None,
        "its speed is not known",
    )
    found.number("mtu_bytes", directory / "mtu")
    found.text("duplex", directory / "duplex")
    found.number("transmit_queue_length", directory / "tx_queue_len")
    queues = names_in(directory / "queues")
    for figure, start in (("receive_queues", "rx-"), ("transmit_queues", "tx-")):
        found.put(figure, sum(queue.startswith(start) for queue in queues) or None)
    driver = directory / "device/driver"
    found.put("driver", driver.resolve().name if driver.exists() else None, "it has no device")
    _ethtool(found, name, ask)
    return found


def _speed(text: str) -> int | None:
    """-1 stands for unknown: no link, or a virtual interface."""
    return int(text) * MEGABIT if int(text) > 0 else None


def _ethtool(found: Subject, name: str, ask: bool) -> None:
    rings = ("receive_ring_most", "transmit_ring_most", "receive_ring", "transmit_ring")
    if not ask:
        for figure in (*rings, *OFFLOADS):
            found.put(figure, None, "not asked: the folders replace a machine")
        return
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as channel:
        told = _asked(channel, name, struct.pack("=9I", GRINGPARAM, *[0] * 8))
        numbers = struct.unpack("=9I", told) if isinstance(told, bytes) else None
        for figure, place in zip(rings, (1, 4, 5, 8), strict=True):
            found.put(figure, numbers[place] if numbers else None, str(told))
        for figure, command in OFFLOADS.items():
            told = _asked(channel, name, struct.pack("=2I", command, 0))
            value = bool(struct.unpack("=2I", told)[1]) if isinstance(told, bytes) else None
            found.put(figure, value, str(told))


def _asked(channel: socket.socket, name: str, question: bytes) -> bytes | str:
    """The kernel's answer in the question's own form, or why there is none."""
    buffer = ctypes.create_string_buffer(question, len(question))
    request = struct.pack("16sP16x", name.encode()[:15], ctypes.addressof(buffer))
    try:
        fcntl.ioctl(channel, SIOCETHTOOL, request)
    except OSError as error:
        return f"ethtool: {(error.strerror or str(error)).lower()}"
    return buffer.raw


def _tcp(proc: Path) -> Subject:
    found, net = Subject("tcp"), proc / "sys/net"
    for figure, name in (("receive_most_bytes", "tcp_rmem"), ("send_most_bytes", "tcp_wmem")):
        found.read(figure, net / "ipv4" / name, lambda text: int(text.split()[2]))
    found.number("core_receive_most_bytes", net / "core/rmem_max")
    found.number("core_send_most_bytes", net / "core/wmem_max")
    found.text("congestion_control", net / "ipv4/tcp_congestion_control")
    found.text("queueing", net / "core/default_qdisc")
    found.number("backlog", net / "core/netdev_max_backlog")
    found.number("slow_start_after_idle", net / "ipv4/tcp_slow_start_after_idle")
    found.number("window_scaling", net / "ipv4/tcp_window_scaling")
    found.number("selective_acknowledgement", net / "ipv4/tcp_sack")
    found.number("nfs_slots", proc / "sys/sunrpc/tcp_slot_table_entries")
    found.number("nfs_slots_most", proc / "sys/sunrpc/tcp_max_slot_table_entries")
    return found
