"""Real threads and processes whose waiting is made: a file in work gives a byte when a test says so.

The named pipe is the slow device.  Twice its speed is the intervention: a job whose time is waiting for
it takes half as long, and one whose time is not takes as long as before (docs/design/waits.md).
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time

import pytest

from mawl.measure.preload.counters import CounterFile
from mawl.measure.processes import first_thread_seconds
from mawl.records.model.records import spent, waits_of
from mawl.records.model.role_io import WAIT_FIELDS, Waits
from tests.fakes.counted import Counted

REQUESTS = 40

COMMON = (
    "import hashlib, os, sys, threading, time, subprocess\n"
    "from concurrent.futures import ThreadPoolExecutor\n"
    "pipe = os.open('work/pipe', os.O_RDONLY)\n"
    "def wait(n=40):\n"
    "    for _ in range(n): os.read(pipe, 1)\n"
    "def compute(seconds=0.2):\n"
    "    while time.thread_time() < seconds: pass\n"
    "def spin():\n"
    # Outside of Python's lock: a first thread that waits for that lock is not at the device.
    "    block = bytes(1 << 22)\n"
    "    while not over: hashlib.sha256(block)\n"
    "def sleep():\n"
    "    while not over: time.sleep(0.05)\n"
    "over = False\n"
    "def beside(n, what):\n"
    "    made = [threading.Thread(target=what, daemon=True) for _ in range(n)]\n"
    "    for one in made: one.start()\n"
    "    return made\n"
)

WAITING = {
    "alone": "wait()",
    "beside one that spins": "beside(1, spin); wait(); over = True",
    "beside seven that sleep": "beside(7, sleep); wait(); over = True",
    "a helper reads ahead": "[one.join() for one in beside(1, wait)]",
    "a pool of one": "ThreadPoolExecutor(1).submit(wait).result()",
    "a child waits": "pid = os.fork()\nif not pid: wait(); os._exit(0)\nos.waitpid(pid, 0)",
    "a shell waits": "subprocess.run(['sh', '-c', 'head -c 40 >/dev/null; true'], stdin=pipe)",
}
COMPUTING = {
    "beside a reader": "beside(1, wait); compute(0.6)",
    "beside four readers": "beside(4, lambda: wait(10)); compute(0.6)",
    "in a pool": "ThreadPoolExecutor(4).submit(compute, 0.6).result()",
    "in a child": "pid = os.fork()\nif not pid: compute(0.6); os._exit(0)\nos.waitpid(pid, 0)",
}


def ran(counted: Counted, code: str, every_seconds: float) -> tuple[float, Waits]:
    """Real time and waits of a program of several threads whose device gives a byte so often."""
    pipe = counted.folder / "work" / "pipe"
    if not pipe.exists():
        os.mkfifo(pipe)
    path = counted.new()
    began = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", COMMON + code],
        cwd=counted.folder,
        env=counted.environment(path),
        stdin=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    device = os.open(pipe, os.O_WRONLY)

    def serve() -> None:
        for _ in range(REQUESTS):
            time.sleep(every_seconds)
            try:
                os.write(device, b"x")
            except BrokenPipeError:
                break
        os.close(device)

    server = threading.Thread(target=serve)
    server.start()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    real = time.monotonic() - began
    first = first_thread_seconds(process.pid)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = status
    server.join()
    assert status == 0 and first is not None
    counters = CounterFile(path)
    delay = first[1] + counters.run_delay_seconds
    tree = spent(usage.ru_utime + usage.ru_stime, delay, counters.waited_seconds)
    return real, waits_of(real, spent(*first, counters.first_waited_seconds), tree)


def blocked(waits: Waits) -> float:
    assert waits.blocked_work_seconds is not None
    return waits.blocked_work_seconds


@pytest.mark.lab
@pytest.mark.measured
@pytest.mark.parametrize("code", WAITING.values(), ids=WAITING.keys())
def test_what_waits_for_the_device_is_blocked_by_it(code: str, counted: Counted) -> None:
    real, waits = ran(counted, code, 0.015)
    assert sum(getattr(waits, name) for name in WAIT_FIELDS) == pytest.approx(real)
    assert waits.run_queue_seconds is not None
    # The device goes on while the job waits for a CPU, so that wait hides as much of the device's.
    assert blocked(waits) + waits.run_queue_seconds > 0.8 * REQUESTS * 0.015
    assert blocked(waits) > 0.0


@pytest.mark.lab
@pytest.mark.measured
@pytest.mark.parametrize("code", COMPUTING.values(), ids=COMPUTING.keys())
def test_what_computes_is_not_blocked_by_those_that_read_beside_it(code: str, counted: Counted) -> None:
    real, waits = ran(counted, code, 0.01)
    assert sum(getattr(waits, name) for name in WAIT_FIELDS) == pytest.approx(real)
    assert blocked(waits) < 0.1 * real
    assert waits.on_cpu_seconds is not None and waits.on_cpu_seconds > 0.55


@pytest.mark.lab
@pytest.mark.measured
@pytest.mark.parametrize("helpers", [0, 3, 15])
@pytest.mark.parametrize("what", ["spin", "sleep"])
def test_a_device_twice_as_fast_saves_half_of_what_was_blocked(
    what: str, helpers: int, counted: Counted
) -> None:
    # Helpers that hash do without the interpreter's lock.
    code = f"beside({helpers}, {'sleep' if what == 'sleep' else 'hash_without_lock'}); wait(); over = True"
    spinning = (
        "import hashlib\n"
        "block = bytes(1 << 22)\n"
        "def hash_without_lock():\n"
        "    while not over: hashlib.sha256(block)\n"
    )
    slow, waits = ran(counted, spinning + code, 0.05)
    fast, _ = ran(counted, spinning + code, 0.025)
    assert blocked(waits) / 2 == pytest.approx(slow - fast, rel=0.1)
