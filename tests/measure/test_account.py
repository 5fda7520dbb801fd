"""Usage records from the kernel's accounts of real processes."""

from __future__ import annotations

import os
import resource
from pathlib import Path

from mawl.measure.account import (
    OwnIo,
    io_between,
    own_usage,
    resident_bytes,
    shared_bytes,
    usage_of,
    usage_of_process,
)


def test_reading_the_own_counters_adds_nothing() -> None:
    io = OwnIo()
    before = io.read()
    after = io.read()
    assert io_between(before, after) == [0] * 7
    before = io.read()
    with open("/dev/zero", "rb", buffering=0) as file:
        file.read(12345)
    assert io_between(before, io.read()) == [12345, 0, 1, 0, 0, 0, 0]
    io.close()
    assert io.read() is None
    assert io_between(None, before) is None


def test_usage_has_base_units_and_no_invented_zero() -> None:
    usage = usage_of(resource.getrusage(resource.RUSAGE_SELF))
    assert usage.page_swaps is None
    assert usage.application_read_bytes is None
    assert usage.os_memory_bytes is not None
    assert usage.os_memory_bytes >= resident_bytes() * 0.5
    own = own_usage(1.5)
    assert own.real_time_seconds == 1.5
    assert own.application_read_bytes is not None
    assert own.application_read_bytes > 0


def test_usage_of_another_process_and_of_none() -> None:
    usage = usage_of_process(os.getpid())
    own = own_usage()
    assert usage is not None and usage.cpu_seconds is not None and own.cpu_seconds is not None
    assert abs(usage.cpu_seconds - own.cpu_seconds) < 0.1
    assert usage_of_process(2**22 + 1) is None


def test_peak_memory_of_a_process_is_in_bytes_as_the_kernel_tells_it_in_kib(tmp_path: Path) -> None:
    (tmp_path / "7").mkdir()
    fields = ["S", *map(str, range(1, 50))]
    (tmp_path / "7" / "stat").write_text(f"7 (a) b) {' '.join(fields)}\n")
    (tmp_path / "7" / "status").write_text("Name:\ta\nVmHWM:\t    1000 kB\nVmRSS:\t 900 kB\n")
    usage = usage_of_process(7, tmp_path)
    assert usage is not None and usage.os_memory_bytes == 1_024_000
    assert (usage.page_reclaims, usage.page_faults) == (7, 9)


def test_pages_that_this_process_alone_has_written_are_not_shared() -> None:
    before = shared_bytes()
    held = bytearray(64 * 2**20)
    after = shared_bytes()
    assert before is not None and after is not None and before > 0
    assert abs(after - before) < 16 * 2**20 and len(held) == 64 * 2**20
