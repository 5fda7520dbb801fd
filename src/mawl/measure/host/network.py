"""Network interfaces, from ``/proc/net/dev`` (proc_pid_net(5))."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from mawl.measure.host.files import Figures, FileSource

_COLUMNS = (
    ("received_bytes", 0),
    ("received_errors", 2),
    ("received_drops", 3),
    ("sent_bytes", 8),
    ("sent_errors", 10),
    ("sent_drops", 11),
)


@lru_cache(maxsize=1024)
def _series(interface: bytes) -> list[tuple[str, int]]:
    """Series of an interface and their columns; names are the same for as long as a run lasts."""
    name = interface.strip().decode(errors="replace")
    return [(f"network.{name}.{figure}", column) for figure, column in _COLUMNS]


def parse_network(text: bytes) -> Figures:
    """Cumulative figures of every interface that ever carried a byte."""
    figures: Figures = {}
    for line in text.splitlines()[2:]:
        # Older kernels put no blank between the colon and the first figure.
        name, _, counts = line.rpartition(b":")
        words = counts.split()
        if words[0] == b"0" and words[8] == b"0":
            continue
        for series, column in _series(name):
            figures[series] = int(words[column])
    return figures


def network_source(proc: Path) -> FileSource:
    """The interfaces of this process's network namespace."""
    return FileSource(proc / "net" / "dev", parse_network, ("host.network",))
