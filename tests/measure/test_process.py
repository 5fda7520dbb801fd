"""Readers of /proc/PID against a folder of files and against real processes.

Usage records from the kernel's accounts of real processes.

What threads waited for a CPU, and what the kernel only takes for waiting.

What belongs to one process in /proc.
"""

from __future__ import annotations

import itertools
import os
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from mawl.measure.accounting import (
    OwnIo,
    ProcessSampler,
    TreeSample,
    io_between,
    own_usage,
    resident_bytes,
    shared_bytes,
    usage_of,
    usage_of_process,
)
from mawl.measure.processes import (
    LONGEST_TURN_NANOSECONDS,
    PROC,
    WatchedProcess,
    children,
    own_run_delay_seconds,
    plausible_run_delay,
)
from tests import needs


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


PAGE = os.sysconf("SC_PAGE_SIZE")
TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


def add_process(
    proc: Path,
    pid: int,
    *,
    below: str = "",
    io: int | None = 0,
    ticks: int = 0,
    reaped: int = 0,
    threads: int = 1,
    state: str = "S",
) -> None:
    """A process in a fake /proc: its I/O counters, its ticks, and those of the children it reaped."""
    folder = proc / str(pid)
    for thread in range(threads):
        (folder / "task" / str(pid + thread)).mkdir(parents=True, exist_ok=True)
        (folder / "task" / str(pid + thread) / "children").write_text(below if thread == threads - 1 else "")
    fields = ["0"] * 49
    fields[0], fields[17], fields[21] = state, str(threads), "10"
    fields[11], fields[12], fields[13], fields[14] = str(ticks), str(ticks), str(reaped), "0"
    (folder / "stat").write_text(f"{pid} (a ) (b) {' '.join(fields)}\n")
    if io is not None:
        names = ("rchar", "wchar", "syscr", "syscw", "read_bytes", "write_bytes", "cancelled_write_bytes")
        (folder / "io").write_text(
            "".join(f"{name}: {io * (place + 1)}\n" for place, name in enumerate(names))
        )


def test_sums_of_a_fake_tree(tmp_path: Path) -> None:
    add_process(tmp_path, 100, below="200", io=1000, ticks=1, reaped=5)
    add_process(tmp_path, 200, below="300 400", io=10)
    add_process(tmp_path, 300, io=1, ticks=100)
    add_process(tmp_path, 400, io=1)
    sample = ProcessSampler(tmp_path).sample({"job": 100})
    assert sample["job"].read_at is not None
    assert sample == {
        "job": TreeSample(
            application_read_bytes=1012,
            application_written_bytes=2024,
            own_read_bytes=5060,
            charged_written_bytes=6072,
            user_cpu_seconds=106 / TICKS_PER_SECOND,
            system_cpu_seconds=101 / TICKS_PER_SECOND,
            resident_bytes=3 * 10 * PAGE,
            processes=3,
            run_delay_seconds=0.0,
            read_at=sample["job"].read_at,
        )
    }


def test_the_run_delay_of_what_lives_falls_when_a_process_ends(tmp_path: Path) -> None:
    def wait(pid: int, seconds: float) -> None:
        (tmp_path / str(pid) / "schedstat").write_text(f"1 {seconds * 1e9:.0f} 1000000\n")

    add_process(tmp_path, 100, below="200")
    add_process(tmp_path, 200, below="300")
    add_process(tmp_path, 300)
    wait(200, 2.0)
    wait(300, 3.0)
    sampler = ProcessSampler(tmp_path)
    first = sampler.sample({"job": 100})["job"]
    assert (first.run_delay_seconds, first.living_run_delay_seconds) == (5.0, 5.0)
    add_process(tmp_path, 200)
    for file in ("stat", "io"):
        (tmp_path / "300" / file).write_text("")  # as the kernel shows a process that is gone
    shutil.rmtree(tmp_path / "300")
    wait(200, 2.5)
    then = sampler.sample({"job": 100})["job"]
    assert (then.run_delay_seconds, then.living_run_delay_seconds) == (5.0, 2.5)


def test_the_run_delay_of_a_zombie_is_not_of_what_lives(tmp_path: Path) -> None:
    """It wrote its own down when it ended, so it would count twice until its parent reaps it."""
    add_process(tmp_path, 100, below="200")
    add_process(tmp_path, 200, below="300")
    add_process(tmp_path, 300, state="Z")
    for pid, seconds in ((200, 2), (300, 3)):
        (tmp_path / str(pid) / "schedstat").write_text(f"1 {seconds}000000000 1\n")
    sample = ProcessSampler(tmp_path).sample({"job": 100})["job"]
    assert (sample.run_delay_seconds, sample.living_run_delay_seconds) == (5.0, 2.0)


def test_a_kernel_without_io_accounting_gives_none_not_zero(tmp_path: Path) -> None:
    add_process(tmp_path, 100, io=None, ticks=3)
    sample = ProcessSampler(tmp_path).sample({"job": 100})["job"]
    assert sample.application_read_bytes is sample.charged_written_bytes is None
    assert sample.user_cpu_seconds == 3 / TICKS_PER_SECOND


def test_counters_never_fall_and_new_children_are_found(tmp_path: Path) -> None:
    add_process(tmp_path, 100, io=50, ticks=5)
    sampler = ProcessSampler(tmp_path)
    assert sampler.sample({"job": 100})["job"].application_read_bytes == 50
    add_process(tmp_path, 100, below="200", io=20, ticks=1)
    add_process(tmp_path, 200, io=10)
    after = sampler.sample({"job": 100})["job"]
    assert (after.application_read_bytes, after.processes) == (50, 1)
    assert after.user_cpu_seconds == 5 / TICKS_PER_SECOND
    add_process(tmp_path, 100, below="200", io=70, ticks=9)
    assert sampler.sample({"job": 100})["job"].application_read_bytes == 80


def test_children_of_other_threads_are_found_within_twenty_samples(tmp_path: Path) -> None:
    add_process(tmp_path, 100, threads=3)
    sampler = ProcessSampler(tmp_path)
    assert sampler.sample({"job": 100})["job"].processes == 0
    add_process(tmp_path, 100, below="200", threads=3)
    add_process(tmp_path, 200)
    assert [sampler.sample({"job": 100})["job"].processes for _ in range(20)] == [0] * 19 + [1]


def test_a_job_that_is_gone_has_no_sums(tmp_path: Path) -> None:
    add_process(tmp_path, 100)
    sampler = ProcessSampler(tmp_path)
    assert set(sampler.sample({"job": 100, "never": 999})) == {"job"}
    assert sampler.sample({}) == {}


def test_descriptors_are_given_back(tmp_path: Path) -> None:
    add_process(tmp_path, 100)
    before = os.listdir("/proc/self/fd")
    sampler = ProcessSampler(tmp_path)
    sampler.sample({"job": 100})
    assert len(os.listdir("/proc/self/fd")) == len(before) + 3
    sampler.close()
    assert len(os.listdir("/proc/self/fd")) == len(before)


def test_with_many_jobs_cpu_is_read_in_turns_and_io_in_every_sample(tmp_path: Path) -> None:
    jobs = {f"job{number}": 100 + 10 * number for number in range(10)}

    def write(io: int, ticks: int) -> None:
        for pid in jobs.values():
            add_process(tmp_path, pid, below=str(pid + 1))
            add_process(tmp_path, pid + 1, io=io, ticks=ticks)

    sampler = ProcessSampler(tmp_path)
    for look in range(7):
        write(look, look)
        samples = sampler.sample(jobs)
    assert {sample.application_read_bytes for sample in samples.values()} == {6}
    ticks = [round(sample.user_cpu_seconds * TICKS_PER_SECOND) for sample in samples.values()]
    assert sorted(ticks) == [5] * 5 + [6] * 5
    write(7, 7)
    samples = sampler.sample(jobs)
    assert sorted(round(s.user_cpu_seconds * TICKS_PER_SECOND) for s in samples.values()) == [6] * 5 + [7] * 5
    assert {sample.resident_bytes for sample in samples.values()} == {10 * PAGE}
    sampler.close()


def test_a_walk_out_of_turn_finds_children_and_leaves_cpu_to_the_next_turn(tmp_path: Path) -> None:
    jobs = {f"job{number}": 100 + 10 * number for number in range(10)}
    sampler = ProcessSampler(tmp_path)
    seen: list[list[int]] = []
    for look in range(12):
        for pid in jobs.values():
            add_process(tmp_path, pid, below=str(pid + 1))
            add_process(tmp_path, pid + 1, io=look, ticks=look)
        samples = sampler.sample(jobs)
        seen.append(sorted(round(s.user_cpu_seconds * TICKS_PER_SECOND) for s in samples.values()))
    # Each tree is walked at its first looks and at every fifth, in turn or not.
    assert seen == [[max(look - 1, 0)] * 5 + [look] * 5 for look in range(12)]
    sampler.close()


def test_between_turns_only_io_that_changed_makes_a_new_sample(tmp_path: Path) -> None:
    jobs = {f"job{number}": 100 + 10 * number for number in range(10)}
    for pid in jobs.values():
        add_process(tmp_path, pid, below=str(pid + 1))
        add_process(tmp_path, pid + 1, io=1)
    sampler = ProcessSampler(tmp_path)
    looks = [sampler.sample(jobs) for _ in range(8)]
    assert any(one["job0"] is two["job0"] for one, two in itertools.pairwise(looks))
    for pid in jobs.values():
        add_process(tmp_path, pid + 1, io=3)
    assert {sample.application_written_bytes for sample in sampler.sample(jobs).values()} == {6}
    sampler.close()


TREE = """
import os, sys
sys.stdin.readline()
for _ in range(3):
    if os.fork() == 0:
        open(sys.argv[1], "wb", buffering=0).write(b"x" * 1_000_000)
        os._exit(0)
    os.wait()
print("written", flush=True)
sys.stdin.readline()
"""


def test_what_a_real_grandchild_wrote_stays_in_the_sums_after_its_end(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-S", "-c", TREE, str(tmp_path / "file")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        bufsize=1,
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        sampler = ProcessSampler()
        before = _sample(sampler, process.pid, lambda sample: sample.processes == 0)
        process.stdin.write("go\n")
        process.stdout.readline()
        after = _sample(sampler, process.pid, lambda sample: True)
        assert 0 <= _written(after) - _written(before) - 3_000_000 < 1000
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        assert sampler.sample({"job": process.pid}) == {}
        sampler.close()


def _sample(sampler: ProcessSampler, pid: int, enough: Callable[[TreeSample], bool]) -> TreeSample:
    while not enough(sample := sampler.sample({"job": pid})["job"]):
        time.sleep(0.01)
    return sample


def _written(sample: TreeSample) -> int:
    assert sample.application_written_bytes is not None
    return sample.application_written_bytes


@pytest.mark.parametrize(
    ("schedstat", "nanoseconds"),
    [
        (b"31029634 1785984952 361\n", 1_785_984_952),
        # Slept for 9 s in between, which the kernel took for waiting.
        (b"2845121 9174790473 3\n", 3 * LONGEST_TURN_NANOSECONDS),
        (b"0 0 0\n", 0),
    ],
)
def test_a_thread_is_believed_so_much_for_each_turn(schedstat: bytes, nanoseconds: int) -> None:
    assert plausible_run_delay(schedstat) == nanoseconds


@pytest.mark.parametrize("text", [b"", b"1 2"])
def test_what_is_no_schedstat_is_an_error(text: bytes) -> None:
    with pytest.raises(IndexError):
        plausible_run_delay(text)


def test_own_threads_are_added_up() -> None:
    done = threading.Event()
    other = threading.Thread(target=done.wait)
    other.start()
    try:
        found = own_run_delay_seconds()
    finally:
        done.set()
        other.join()
    assert found is not None
    assert found >= 0.0


def test_children_of_a_process_and_of_none() -> None:
    with subprocess.Popen(["sleep", "60"]) as process:
        assert process.pid in children(os.getpid())
        process.kill()
    assert children(2**22 + 1) == []


@pytest.mark.parametrize(
    ("command", "place", "on_timer"), [("sleep 60", "sleep", True), ("cat", "read", False)]
)
def test_a_sleep_that_only_a_timer_ends_is_told_apart(command: str, place: str, on_timer: bool) -> None:
    with subprocess.Popen(command.split(), stdin=subprocess.PIPE) as process:
        watched, deadline = WatchedProcess(process.pid, PROC), time.monotonic() + 20.0
        while place not in (PROC / str(process.pid) / "wchan").read_text() and time.monotonic() < deadline:
            time.sleep(0.02)
        there, found = place in (PROC / str(process.pid) / "wchan").read_text(), watched.sleeps_on_timer()
        watched.close()
        process.kill()
    if not there:
        needs.skip("the kernel does not say where a process sleeps")
    assert found == on_timer
