"""Random programs, caps and thread counts, an outside writer in half of the draws: is the verdict right?

Twenty draws take a quarter of an hour: ``make test-long`` or
``pytest tests/advice/limit/test_random_systems.py -m long``.  One seed gives all of them (MAWL_TEST_SEED).
"""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from mawl.records.spec.program_options import ROLES, Role
from tests.advice.limit.beds import Bed, command
from tests.advice.limit.draws import COMPUTING, generator, scale_for, sessions, slowed_by_rate
from tests.advice.limit.test_ground_truth import HELPS, ample, elapsed, held, made_bed

pytestmark = [pytest.mark.lab, pytest.mark.long(minutes=15), pytest.mark.measured]

DRAWS = 20
OWN_WITHIN = 0.03
SECTOR_BYTES = 512

WRITER = (
    "import os, sys, time\n"
    "file = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT)\n"
    "while True:\n"
    "    os.pwrite(file, bytes(1 << 19), 0); os.fsync(file); time.sleep(0.25)\n"
)


@pytest.fixture
def bed(tmp_path: Path) -> Iterator[Bed]:
    """A volume for each role, with ample devices."""
    yield from made_bed(tmp_path)


@contextmanager
def outside(place: Path, there: bool) -> Iterator[None]:
    """Somebody else who writes 2 MB/s to a device while a run goes on."""
    if not there:
        yield
        return
    process = subprocess.Popen([sys.executable, "-c", WRITER, str(place / "outside")])
    try:
        yield
    finally:
        process.kill()
        process.wait()


def moved(bed: Bed) -> tuple[int, int]:
    """Bytes read and written by the devices of the bed, from their own counters."""
    stats = [Path("/sys/block", bed.volumes[role].device, "stat").read_text().split() for role in ROLES]
    read, written = (sum(int(stat[place]) for stat in stats) * SECTOR_BYTES for place in (2, 6))
    return read, written


def wrong(bed: Bed, draw: random.Random, others: bool) -> list[str]:
    """What one draw got wrong."""
    threads = draw.randint(1, 8)
    options: tuple[str, ...] = ("--option", f"cpucount={threads}")
    role: Role | None = None
    if draw.random() < 0.6:
        drawn = slowed_by_rate(draw)
        role, cap = drawn.role, int(drawn.bytes / draw.uniform(10.0, 12.0))
        bed.generate(drawn.workload)
        bed.volumes[role].cap(cap)
        options = (*options, "--cache", "cold")
    else:
        program = draw.choice(COMPUTING)
        bed.generate(sessions(scale_for(program, draw.uniform(2.0, 2.5)), [program] * 4))
        options = (*options, "--cache", "warm")
    for volume in bed.volumes.values():
        command("sync", "--file-system", str(volume.place))  # new inputs are no bytes of the run
    before = moved(bed)
    with outside(bed.volumes[role or "util"].place, others):
        first = held(bed, *options)
    after = moved(bed)
    found = first["limit"]
    faults = [] if found["verdict"] == ("storage" if role else "cpu") else [f"named {found['verdict']}"]
    if role and found["role"] != role:
        faults.append(f"role {found['role']}, not {role}")
    faults += _shares(first)
    if not others:
        faults += _own(first, (after[0] - before[0], after[1] - before[1]))
    if role:
        bed.volumes[role].cap(2 * cap)
    with outside(bed.volumes[role or "util"].place, others):
        relaxed = held(bed, *options, cores=1 if role else 2)
    if elapsed(relaxed) > HELPS * elapsed(first):
        faults.append(f"twofold it took {elapsed(relaxed):.1f} s, before {elapsed(first):.1f} s")
    ample(bed, but=None)
    sys.stdout.write(f"{role or 'cpu'}, {threads} threads, outside writer {others}: {faults or 'right'}\n")
    return faults


def _shares(summary: dict[str, Any]) -> list[str]:
    """States that do not add up: of the jobs to their real time, of windows to the jobs that ran."""
    wait, faults = summary["wait"], []
    whole = wait["on_cpu_seconds"] + wait["run_queue_seconds"] + sum(wait["blocked_seconds"].values())
    if whole != pytest.approx(summary["time"]["real_time_seconds"], rel=1e-6):
        faults.append(f"waits add up to {whole} s")
    for window in summary["windows"]:
        states = [window["jobs_on_cpu"], window["jobs_in_run_queue"], *window["jobs_blocked"].values()]
        if None not in states and sum(states) != pytest.approx(window["jobs_running"], rel=1e-6):
            faults.append(f"a window adds up to {sum(states)} jobs")
    return faults


def _own(summary: dict[str, Any], devices: tuple[int, int]) -> list[str]:
    own = summary["io"]["own"]
    return [
        f"own {name} {own[name]}, the devices {counted}"
        for name, counted in zip(("read_bytes", "written_bytes"), devices, strict=True)
        if counted > 50_000_000 and own[name] != pytest.approx(counted, rel=OWN_WITHIN)
    ]


def test_the_verdict_is_right_in_nineteen_of_twenty(bed: Bed) -> None:
    seed = generator()
    faults = [wrong(bed, seed, others=bool(number % 2)) for number in range(DRAWS)]
    assert sum(bool(one) for one in faults) <= DRAWS // 20, faults
