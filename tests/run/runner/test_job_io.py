"""A job's own I/O and waits out of its counters: less start-up, less verify."""

from __future__ import annotations

import msgspec
import pytest

from mawl.measure.preload.job import START, Entry
from mawl.records.model.messages import Reaped, Started
from mawl.records.model.records import StepRecord, Usage
from mawl.records.model.role_io import IoByRole, RoleIo, Waits
from mawl.run.runner.counting import JobCount
from mawl.run.runner.job_io import own_io, run_delay_of, with_own_peak

MIB = 2**20
USAGE = Usage(
    real_time_seconds=10.0,
    user_cpu_seconds=3.0,
    system_cpu_seconds=1.0,
    application_read_bytes=5_000_000,
    application_written_bytes=1_000_000,
)


def reads(count: int, **more: float) -> IoByRole:
    """So many reads of 100 bytes in data."""
    return {"data": RoleIo(reads=count, read_bytes=100 * count, **more)}  # type: ignore[arg-type]


def count(**changes: object) -> JobCount:
    """A job that read 50 times before its release, 600 times itself, and 350 times in verify."""
    entries = {
        START: Entry(number=START, io=reads(50), moved_read_bytes=400_000, moved_written_bytes=10),
        2: Entry(number=2, io=reads(350), moved_read_bytes=600_000, moved_written_bytes=20),
    }
    values: dict[str, object] = {
        "io": reads(1000, read_waited_seconds=2.0),
        "moved_bytes": (6_000_000, 1_000_030),
        "run_delay_seconds": 0.5,
        "first_waited_seconds": {"data": 2.0},
        "images": 1,
        "io_uring_setups": 0,
        "stdio_unseen": 0,
        "silenced": 0,
        "entries": entries,
    }
    return JobCount(**{**values, **changes})  # type: ignore[arg-type]


def verify(number: int, kind: str = "verify") -> StepRecord:
    """A step that waited 0.25 s for a CPU."""
    return StepRecord(
        job="j",
        number=number,
        name="check",
        kind=kind,  # type: ignore[arg-type]
        started_at=0.0,
        ended_at=1.0,
        usage=Usage(),
        waits=Waits(run_queue_seconds=0.25),
    )


def reaped(**changes: object) -> Reaped:
    """The end of a job whose keeper saw a run delay of two seconds."""
    values = {
        "job": "j",
        "ended_at": 1.0,
        "exit_code": 0,
        "signal": None,
        "usage": Usage(),
        "leftover_processes": 0,
        "run_delay_seconds": 2.0,
    }
    return Reaped(**{**values, **changes})  # type: ignore[arg-type]


def test_bytes_by_volume_are_the_jobs_own_as_all_others() -> None:
    entries = count().entries
    start = msgspec.structs.replace(entries[START], volumes={1: (100, 0), 2: (50, 5)})
    checked = msgspec.structs.replace(entries[2], volumes={2: (200, 0)})
    whole = count(volumes={1: (100, 0), 2: (1000, 80), 4: (0, 7)}, entries={START: start, 2: checked})
    own = own_io(whole, [verify(2)], USAGE, run_delay_seconds=2.5, started_delay_seconds=0.75)
    assert own.volume_bytes == {2: (750, 75), 4: (0, 7)}
    unknown = own_io(count(), [verify(2)], USAGE, run_delay_seconds=2.5, started_delay_seconds=0.75)
    assert unknown.volume_bytes is None


def test_start_up_and_verify_are_no_part_of_the_job() -> None:
    first = (4.0, 1.75)
    own = own_io(count(), [verify(2)], USAGE, run_delay_seconds=2.5, started_delay_seconds=0.75, first=first)
    assert own.io is not None
    assert (own.io["data"].reads, own.io["data"].read_bytes) == (600, 60_000)
    assert (own.counted_read_bytes, own.counted_written_bytes) == (5_000_000, 1_000_000)
    assert own.io_remark is None
    assert own.waits == Waits(
        on_cpu_seconds=4.0,
        run_queue_seconds=1.5,
        blocked_data_seconds=2.0,
        blocked_work_seconds=0.0,
        blocked_util_seconds=0.0,
        blocked_other_seconds=2.5,
    )


def test_another_step_is_part_of_it() -> None:
    own = own_io(
        count(),
        [verify(2, "data")],
        USAGE,
        run_delay_seconds=2.5,
        started_delay_seconds=0.75,
        first=(4.0, 1.75),
    )
    assert own.io is not None
    assert own.io["data"].reads == 950
    assert own.waits.run_queue_seconds == 1.75


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"io_uring_setups": 1}, "it used io_uring"),
        ({"io": {"work": RoleIo(mapped_bytes=5_000_000)}}, "5.00 MB were mapped"),
        ({"io": {"util": RoleIo(submitted_read_bytes=3000)}}, "3.00 kB were asked of asynchronous I/O"),
        ({"stdio_unseen": 2}, "streams of 2 programs"),
        ({"silenced": 2}, "2 programs entered a seccomp filter"),
        ({"moved_bytes": (5_000_000, 1_000_030)}, "1.00 MB of the 6.00 MB that the kernel counted"),
        ({"moved_bytes": (5_000_000, 1_000_030), "images": 200}, "1.00 MB are the loading of 200 programs"),
        (
            {"moved_bytes": (5_000_000, 1_000_030), "images": 100},
            "1.00 MB of the 6.00 MB that the kernel counted",
        ),
    ],
)
def test_what_could_not_be_counted_is_said(changes: dict[str, object], said: str) -> None:
    own = own_io(count(**changes), [verify(2)], USAGE, run_delay_seconds=2.5, started_delay_seconds=0.0)
    assert own.io_remark is not None
    assert said in own.io_remark
    assert ";" not in own.io_remark


def test_a_job_that_no_program_of_could_be_counted_has_no_split() -> None:
    own = own_io(
        count(images=0, moved_bytes=(0, 0)),
        [],
        USAGE,
        run_delay_seconds=2.5,
        started_delay_seconds=0.0,
        first=(4.0, 2.5),
    )
    assert own.io is None
    assert "static" in (own.io_remark or "")
    assert own.waits == Waits(on_cpu_seconds=4.0, run_queue_seconds=2.5)


@pytest.mark.parametrize(
    ("kernel", "noted", "orphans", "own"),
    [
        (MIB * 200, None, 0, MIB * 200),
        (MIB * 16, MIB, 0, MIB),
        (MIB * 16, MIB, 2 * MIB, 2 * MIB),
        (MIB * 16, None, 2 * MIB, None),
    ],
)
def test_what_was_held_before_exec_is_no_peak_of_a_command(
    kernel: int, noted: int | None, orphans: int, own: int | None
) -> None:
    ended = reaped(usage=Usage(os_memory_bytes=kernel), orphan_memory_bytes=orphans)
    started = Started(job="j", at=0.0, used=Usage(os_memory_bytes=16 * MIB))
    assert with_own_peak(ended, started, count(first_peak_bytes=noted)).usage.os_memory_bytes == own
    if own is None:
        assert with_own_peak(ended, None, None).usage.os_memory_bytes is None


def test_run_delay_is_the_keepers_and_what_was_written_down() -> None:
    assert run_delay_of(reaped(), count(), 0.0) == 2.5
    # The last look at a job's tree counts where threads could not write it down.
    assert run_delay_of(reaped(), count(), 7.0) == 2.5
    assert run_delay_of(reaped(signal=9, exit_code=None), count(), 7.0) == 7.0
    assert run_delay_of(reaped(), None, 7.0) == 7.0
    assert run_delay_of(reaped(run_delay_seconds=None), count(), 7.0) is None


def test_a_process_that_ended_before_its_job_was_killed_waited_once() -> None:
    # The last look saw 5 s: 3 s of a helper, which then ended and wrote them down, and 2 s of the killed one.
    killed = reaped(signal=9, exit_code=None, run_delay_seconds=2.0)
    assert run_delay_of(killed, count(run_delay_seconds=3.0), 5.0) == 5.0


UNSEEN_IO = {"data": RoleIo(submitted_read_bytes=1_000_000)}


@pytest.mark.parametrize(
    ("changes", "seen"),
    [
        ({"images": 0, "moved_bytes": (0, 0)}, False),
        ({"moved_bytes": (3_000_000, 30)}, False),
        ({"io_uring_setups": 1}, False),
        ({"silenced": 1}, False),
        ({"io": UNSEEN_IO, "entries": {}}, False),
        ({}, True),
        ({"moved_bytes": (5_900_000, 1_000_030)}, True),
    ],
)
def test_waits_by_role_are_not_known_where_calls_were_not_timed(
    changes: dict[str, object], seen: bool
) -> None:
    usage = msgspec.structs.replace(USAGE, real_time_seconds=9.0)
    own = own_io(
        count(**changes), [], usage, run_delay_seconds=2.5, started_delay_seconds=0.0, first=(4.0, 2.5)
    )
    assert (own.waits.blocked_data_seconds is not None) == seen and own.waits.on_cpu_seconds is not None


def test_a_job_that_moved_nothing_waited_for_no_device() -> None:
    """A static program that sleeps: nothing of it is unseen."""
    usage = Usage(
        real_time_seconds=9.0, user_cpu_seconds=3.0, system_cpu_seconds=1.0, application_read_bytes=900
    )
    nothing = count(images=0, moved_bytes=(0, 0), io={}, first_waited_seconds={}, entries={})
    own = own_io(nothing, [], usage, run_delay_seconds=2.5, started_delay_seconds=0.0, first=(4.0, 2.5))
    assert (own.waits.blocked_data_seconds, own.waits.blocked_other_seconds) == (0.0, 2.5)
