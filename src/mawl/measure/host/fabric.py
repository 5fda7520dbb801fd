"""Storage fabrics: fibre channel host ports and InfiniBand ports, from sysfs.

Sources: Linux drivers/scsi/scsi_transport_fc.c (statistics of fc_host: hexadecimal
counters, words of 4 bytes, all ones where a driver does not count) and
Documentation/ABI/stable/sysfs-class-infiniband (port_*_data counts octets divided by 4).
"""

from __future__ import annotations

from pathlib import Path

from mawl.measure.host.files import Figures, KeptFile

WORD_BYTES = 4
LOOKS_BETWEEN_SEARCHES = 30
"""Ports come and go seldom; looking for them costs more than reading them."""

Counters = tuple[tuple[str, str, int], ...]
"""Figure, file, and the bytes that one of it is worth (1 for counts)."""

_FIBRE_CHANNEL: Counters = (
    ("received_bytes", "rx_words", WORD_BYTES),
    ("sent_bytes", "tx_words", WORD_BYTES),
    ("reads", "fcp_input_requests", 1),
    ("writes", "fcp_output_requests", 1),
    ("error_frames", "error_frames", 1),
    ("link_failures", "link_failure_count", 1),
)
_INFINIBAND: Counters = (
    ("received_bytes", "port_rcv_data", WORD_BYTES),
    ("sent_bytes", "port_xmit_data", WORD_BYTES),
    ("received_errors", "port_rcv_errors", 1),
    ("sent_drops", "port_xmit_discards", 1),
    ("link_failures", "link_downed", 1),
)
_UNCOUNTED = (2**32 - 1, 2**64 - 1)


def parse_counter(text: bytes) -> int | None:
    """A counter in hexadecimal (``0x1f``) or decimal; None where the driver does not count it."""
    words = text.split()
    if not words:
        return None
    value = int(words[0], 16 if words[0].lower().startswith(b"0x") else 10)
    return None if value in _UNCOUNTED and words[0].lower().startswith(b"0x") else value


class Fabric:
    """The source; without such ports it costs a look at two directories now and then."""

    def __init__(self, sys: Path) -> None:
        self._sys = sys
        self._ports: dict[str, list[tuple[str, KeptFile, int]]] = {}
        self._looks = 0

    def read(self, into: Figures) -> None:
        """Read every counter of every port; one that is not readable is left out."""
        if self._looks % LOOKS_BETWEEN_SEARCHES == 0:
            self._search()
        self._looks += 1
        for counters in self._ports.values():
            for series, file, unit in counters:
                text = file.read()
                try:
                    value = None if text is None else parse_counter(text)
                except ValueError:
                    continue
                if value is not None:
                    into[series] = value * unit

    def _search(self) -> None:
        found: dict[str, tuple[Path, Counters]] = {
            host.name: (host / "statistics", _FIBRE_CHANNEL)
            for host in sorted((self._sys / "class/fc_host").glob("*"))
        }
        for port in sorted((self._sys / "class/infiniband").glob("*/ports/*")):
            found[f"{port.parent.parent.name}-{port.name}"] = (port / "counters", _INFINIBAND)
        for gone in self._ports.keys() - found.keys():
            _close(self._ports.pop(gone))
        for name, (directory, counters) in found.items():
            if name in self._ports and all(file.reason is None for _, file, _ in self._ports[name]):
                continue
            _close(self._ports.get(name, []))
            self._ports[name] = [
                (f"fabric.{name}.{figure}", KeptFile(directory / file), unit)
                for figure, file, unit in counters
                if (directory / file).exists()
            ]

    def reasons(self) -> dict[str, str]:
        """No port is nothing missing."""
        return {}

    def close(self) -> None:
        """Give the descriptors back."""
        for counters in self._ports.values():
            _close(counters)
        self._ports.clear()


def _close(counters: list[tuple[str, KeptFile, int]]) -> None:
    for _, file, _ in counters:
        file.close()
