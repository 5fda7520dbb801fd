"""Latencies beside fio's own of the same calls, and what fio's asynchronous engines leave to see."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mawl.measure.preload.counters import CounterFile
from mawl.records.model.role_io import quantile
from tests import needs
from tests.fakes.counted import Counted

pytestmark = [
    pytest.mark.lab,
    needs.marks(needs.program("fio")),
]

SIZE = 64 << 20
REQUEST = 16 << 10


def fio(counted: Counted, engine: str, *more: str) -> tuple[CounterFile, dict[str, object]]:
    """The counters of a run of 16 KiB direct random reads, and what fio itself says of them."""
    with (counted.folder / "data" / "file").open("wb") as file:
        for _ in range(SIZE >> 20):
            file.write(bytes(range(256)) * 4096)
    counters = counted(
        *("fio", "--name=x", "--filename=data/file", f"--size={SIZE}", "--rw=randread", "--bs=16k"),
        *("--direct=1", f"--ioengine={engine}", "--output-format=json", "--output=told", *more),
    )
    told = json.loads(Path(counted.folder, "told").read_text())
    return counters, told["jobs"][0]["read"]


@pytest.mark.measured
def test_mean_and_p99_of_direct_random_reads_are_fios_own(counted: Counted) -> None:
    counters, told = fio(counted, "psync", "--runtime=10")
    data = counters.by_role()["data"]
    assert (data.reads, data.read_bytes) == (told["total_ios"], told["io_bytes"])
    theirs = told["clat_ns"]
    assert isinstance(theirs, dict)
    mean = data.read_seconds / data.reads * 1e9
    p99 = quantile(data.read_nanoseconds_histogram, 0.99)
    assert mean == pytest.approx(theirs["mean"], rel=0.05)
    assert p99 == pytest.approx(theirs["percentile"]["99.000000"], rel=0.10)
    # A device was read: most of the time in calls was waiting, and none of it CPU.
    assert 0.2 * data.read_seconds < data.read_waited_seconds <= data.read_seconds


def test_libaio_is_counted_when_it_is_asked_for(counted: Counted) -> None:
    counters, told = fio(counted, "libaio", "--iodepth=8")
    data = counters.by_role()["data"]
    assert (data.submitted_read_bytes, data.read_bytes) == (told["io_bytes"], 0)


def test_io_uring_is_seen_to_be_used(counted: Counted) -> None:
    counters, _ = fio(counted, "io_uring", "--iodepth=8")
    assert counters.header("io_uring_setups") > 0
    assert counters.by_role()["data"].read_bytes == 0


def test_mapped_files_are_seen_to_be_mapped(counted: Counted) -> None:
    counters, _ = fio(counted, "mmap", "--direct=0")
    data = counters.by_role()["data"]
    assert data.mapped_bytes >= SIZE
    assert data.read_bytes == 0
