"""Time inside calls that was neither CPU nor waiting for a CPU."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from mawl.measure.preload.counters import CounterFile
from tests.fakes.counted import Counted

CACHED = (
    "import os\n"
    "d = os.open('data/f', os.O_RDWR | os.O_CREAT); os.pwrite(d, bytes(4 << 20), 0)\n"
    "b = bytearray(1 << 18)\n"
    "for i in range(1500): os.preadv(d, [b], (i % 16) << 18)\n"
)


def test_a_call_that_sleeps_has_waited(counted: Counted) -> None:
    # A named pipe among the files of a role: a read of it lasts until somebody writes.
    os.mkfifo(counted.folder / "work" / "pipe")
    counters = counted.python(
        "import os, time\n"
        "if os.fork() == 0:\n"
        "    w = os.open('work/pipe', os.O_WRONLY)\n"
        "    for _ in range(3): time.sleep(0.1); os.write(w, b'x')\n"
        "    os._exit(0)\n"
        "r = os.open('work/pipe', os.O_RDONLY)\n"
        "d = os.open('data/f', os.O_RDWR | os.O_CREAT); os.pwrite(d, bytes(4096), 0)\n"
        "for _ in range(3):\n"
        "    os.read(r, 1)\n"
        "    for _ in range(100): os.pread(d, 4096, 0)\n"
        "os.wait()\n"
    )
    work, data = (counters.by_role()[role] for role in ("work", "data"))
    assert work.read_seconds > 0.25
    assert 0.25 < work.read_waited_seconds <= work.read_seconds
    # What was read from the cache in between has no part in it.
    assert data.read_waited_seconds < 0.01


def test_twelve_readers_of_cached_blocks_wait_for_a_cpu_and_for_nothing_else(counted: Counted) -> None:
    path = counted.new()
    cpus = sorted(os.sched_getaffinity(0))[:2]
    command = f"import os\nos.sched_setaffinity(0, {cpus})\n{CACHED}"
    running = [
        subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", command], cwd=counted.folder, env=counted.environment(path)
        )
        for _ in range(12)
    ]
    assert [process.wait() for process in running] == [0] * 12
    counters = CounterFile(path)
    data = counters.by_role()["data"]
    # The calls lasted long, since others had the CPUs; none of that is waiting for data.
    assert data.read_seconds > 0
    assert counters.run_delay_seconds > 0.5 * data.read_seconds
    assert data.read_waited_seconds < 0.03 * data.read_seconds


def test_many_short_processes_wait_for_a_cpu_and_for_nothing_else(counted: Counted) -> None:
    # Each loses its CPU in the middle of something: also while its clocks are read for the first time.
    cpu = sorted(os.sched_getaffinity(0))[0]
    counters = counted.python(
        "import os\n"
        f"os.sched_setaffinity(0, [{cpu}])\n"
        "for i in range(8): os.pwrite(os.open('data/f', os.O_RDWR | os.O_CREAT), bytes(4 << 20), 0)\n"
        "for child in range(200):\n"
        "    if os.fork() == 0:\n"
        "        sum(range(20000))\n"
        "        d = os.open('data/f', os.O_RDONLY)\n"
        "        for i in range(20): os.pread(d, 65536, i << 16)\n"
        "        os._exit(0)\n"
        "for child in range(200): os.wait()\n"
    )
    data = counters.by_role()["data"]
    assert data.reads == 200 * 20
    assert counters.run_delay_seconds > 0.1, "they waited at all; how long depends on the machine"
    assert data.read_waited_seconds + data.open_waited_seconds < 0.02 * counters.run_delay_seconds


def test_a_thread_s_run_delay_is_written_down_when_it_ends(counted: Counted) -> None:
    cpu = sorted(os.sched_getaffinity(0))[0]
    counters = counted.python(
        "import os, subprocess, sys, threading, time\n"
        f"os.sched_setaffinity(0, [{cpu}])\n"
        "rival = subprocess.Popen([sys.executable, '-I', '-S', '-c', 'while True: pass'])\n"
        "def spin():\n"
        "    while time.thread_time() < 0.1: sum(range(1000))\n"
        "thread = threading.Thread(target=spin); thread.start(); thread.join()\n"
        "rival.kill(); rival.wait()\n"
    )
    # The rival was killed and wrote nothing down: what is here is the thread's, and the first one's.
    assert counters.run_delay_seconds > 0.05


@pytest.mark.parametrize("ending", ["sys.exit(0)", "os._exit(0)", "pass"])
def test_a_process_writes_it_down_however_it_ends_by_itself(ending: str, counted: Counted) -> None:
    cpu = sorted(os.sched_getaffinity(0))[0]
    counters = counted.python(
        "import os, subprocess, sys, time\n"
        f"os.sched_setaffinity(0, [{cpu}])\n"
        "rival = subprocess.Popen([sys.executable, '-I', '-S', '-c', 'while True: pass'])\n"
        "while time.process_time() < 0.3: pass\n"
        f"rival.kill(); rival.wait()\n{ending}\n"
    )
    assert counters.run_delay_seconds > 0.03
