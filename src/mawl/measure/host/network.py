"""Network interfaces, from ``/proc/net/dev`` (proc_pid_net(5))."""

from __future__ import annotations

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


def parse_network(text: bytes) -> Figures:
    """Cumulative figures of every interface that ever carried a byte."""
    figures: Figures = {}
    for line in text.splitlines()[2:]:
        # Older kernels put no blank between the colon and the first figure.
        name, _, counts = line.rpartition(b":")
        words = counts.split()
        if words[0] == b"0" and words[8] == b"0":
            continue
        interface = name.strip().decode(errors="replace")
        for figure, column in _COLUMNS:
            figures[f"network.{interface}.{figure}"] = int(words[column])
    return figures


def network_source(proc: Path) -> FileSource:
    """The interfaces of this process's network namespace."""
    return FileSource(proc / "net" / "dev", parse_network, ("host.network",))
