"""Statistics of an array that cover any run."""

from __future__ import annotations

from mawl.records.model.node import ArrayInterval, ArrayRole, ArrayStatistics, ArrayVolume

EVER = 4e9


def array_statistics() -> ArrayStatistics:
    """Volumes of data and work: 300 reads of 2 ms and 100 writes of 6 ms, 100 and 20 MB/s, all the time."""
    steady = ArrayInterval(
        at=EVER,
        seconds=EVER,
        read_bytes_per_second=100e6,
        written_bytes_per_second=20e6,
        reads_per_second=300.0,
        writes_per_second=100.0,
        read_latency_seconds=0.002,
        write_latency_seconds=0.006,
        hit_ratio=0.8,
        saved_ratio=0.66,
    )
    roles: tuple[ArrayRole, ...] = ("data", "work")
    volumes = [ArrayVolume(array="XIV", name=f"sas{role}01", role=role, intervals=[steady]) for role in roles]
    return ArrayStatistics(files=[], volumes=volumes)
