"""Steps: what they measure, and what they report when they raise."""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np
import pytest

from mawl.measure.step import Snapshots, StepRecorder, reset_peak, usage_between
from mawl.records.model.records import StepRecord

MB = 10**6


def recorder() -> tuple[StepRecorder, list[StepRecord]]:
    records: list[StepRecord] = []
    return StepRecorder("job-1", records.append), records


def test_a_step_reports_its_name_kind_number_and_rows() -> None:
    steps, records = recorder()
    with steps.step("load", "data") as step:
        step.rows_read = 7
    with steps.step("sort"):
        pass
    assert [(record.number, record.name, record.kind) for record in records] == [
        (1, "load", "data"),
        (2, "sort", "procedure"),
    ]
    assert (records[0].rows_read, records[0].rows_written, records[1].rows_read) == (7, None, None)
    points = [records[0].started_at, records[0].ended_at, records[1].started_at]
    times = [point for point in points if point is not None]
    assert (len(times), times) == (3, sorted(times))


def test_a_step_counts_exactly_the_bytes_that_calls_moved(tmp_path: Path) -> None:
    steps, records = recorder()
    path = tmp_path / "file"
    with steps.step("write"):
        path.write_bytes(bytes(3 * MB))
    descriptor = os.open(path, os.O_RDONLY)
    with steps.step("read"):
        os.read(descriptor, 2 * MB)
    with steps.step("nothing"):
        pass
    os.close(descriptor)
    written, read, nothing = (record.usage for record in records)
    assert (written.application_written_bytes, read.application_read_bytes) == (3 * MB, 2 * MB)
    assert (nothing.application_read_bytes, nothing.application_written_bytes) == (0, 0)


def test_cpu_of_a_step_is_what_the_process_clock_says() -> None:
    steps, records = recorder()
    before = time.process_time()
    with steps.step("spin"):
        while time.process_time() - before < 0.1:
            pass
    spent = time.process_time() - before
    assert records[0].usage.cpu_seconds == pytest.approx(spent, rel=0.02, abs=0.002)


def test_peak_memory_is_of_the_step_and_the_largest_is_kept_for_the_job() -> None:
    steps, records = recorder()
    with steps.step("large"):
        block = np.ones(200 * MB // 8)
        del block
    with steps.step("small"):
        pass
    large, small = (record.usage.memory_bytes for record in records)
    assert large == pytest.approx(200 * MB, rel=0.05)
    assert small is not None
    assert small < 20 * MB
    assert steps.memory_bytes == large
    assert steps.peak_bytes == records[0].usage.os_memory_bytes


def test_a_peak_between_steps_counts_for_the_job_only() -> None:
    steps, records = recorder()
    block = np.ones(100 * MB // 8)
    del block
    with steps.step("small"):
        pass
    assert (records[0].usage.memory_bytes or 0) < 20 * MB
    assert (steps.memory_bytes or 0) > 90 * MB


def test_the_resident_size_when_ready_may_be_given() -> None:
    records: list[StepRecord] = []
    steps = StepRecorder("job-1", records.append, resident_bytes=0)
    with steps.step("any"):
        pass
    assert records[0].usage.memory_bytes == records[0].usage.os_memory_bytes


def test_a_step_that_raises_is_reported_and_stays_the_current_one() -> None:
    steps, records = recorder()
    with pytest.raises(ValueError, match="broken"), steps.step("bad"):
        raise ValueError("broken")
    assert [record.name for record in records] == ["bad"]
    assert steps.current == "bad"


def test_steps_do_not_nest() -> None:
    steps, _ = recorder()
    with (
        pytest.raises(RuntimeError, match="cannot begin inside step 'outer'"),
        steps.step("outer"),
        steps.step("inner"),
    ):
        pass


def test_no_step_is_current_between_steps() -> None:
    steps, _ = recorder()
    with steps.step("one"):
        assert steps.current == "one"
    assert steps.current is None


def test_a_forked_child_measures_itself() -> None:
    snapshots = Snapshots()
    before = snapshots.take()
    out, into = os.pipe()
    child = os.fork()
    if child == 0:
        start = snapshots.take()
        os.write(into, bytes(60_000))
        usage = usage_between(start, snapshots.take())
        os.write(into, f"{usage.application_written_bytes}".encode())
        os._exit(0)
    os.close(into)
    with open(out, "rb") as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    assert text[60_000:] == b"60000"
    # The parent's own files still work, and the reaped child counts as the parent's.
    usage = usage_between(before, snapshots.take())
    assert (usage.application_written_bytes or 0) >= 60_000
    snapshots.close()


def test_resetting_the_peak_brings_it_down_to_the_present_size() -> None:
    snapshots = Snapshots()
    block = np.ones(100 * MB // 8)
    del block
    high, _ = snapshots.memory()
    assert reset_peak()
    low, resident = snapshots.memory()
    snapshots.close()
    assert high is not None
    assert low is not None
    assert resident is not None
    assert high - low > 90 * MB
    assert low <= resident + 4 * MB
