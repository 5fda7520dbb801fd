"""The verdict on real runs whose limit was made, confirmed by relaxing it, and all else, twofold."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mawl.records.spec.program_options import ROLES, Role
from tests import needs
from tests.advice.limit.beds import AMPLE_BYTES_PER_SECOND, IMAGE_BYTES, Bed, lacking, run
from tests.advice.limit.draws import (
    COMPUTING,
    generator,
    scale_for,
    sessions,
    slowed_by_delay,
    slowed_by_rate,
)

pytestmark = [pytest.mark.lab, pytest.mark.measured, needs.marks(needs.TWO_PROCESSORS)]

WORK_CAP_BYTES_PER_SECOND = 30_000_000
READ_CAP_BYTES_PER_SECOND = 20_000_000

HELPS, HELPS_NOT = 0.8, 0.95
"""What relaxing twofold leaves of the elapsed time: at most so much where it is the limit, else at least."""


@pytest.fixture
def bed(tmp_path: Path) -> Iterator[Bed]:
    """A volume for each role, with ample devices."""
    yield from made_bed(tmp_path)


def made_bed(directory: Path, *programs: str, image_bytes: int = IMAGE_BYTES) -> Iterator[Bed]:
    if why := lacking(*programs):
        needs.skip(why)
    # A time limit ends tests with SIGTERM, of which pytest knows nothing: devices and mounts would stay.
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    made = Bed(directory, image_bytes)
    try:
        for volume in made.volumes.values():
            volume.open()
        ample(made)
        yield made
    finally:
        made.close()
        signal.signal(signal.SIGTERM, before)


@pytest.mark.lab
def test_a_bed_leaves_no_image(tmp_path: Path) -> None:
    for _ in made_bed(tmp_path):
        assert len(list(tmp_path.glob("*.img"))) == len(ROLES)
    assert not list(tmp_path.glob("*.img"))


@pytest.fixture
def slow_bed(tmp_path: Path) -> Iterator[Bed]:
    """The same where a volume can be made slow below its device's queue."""
    yield from made_bed(tmp_path, "nbdkit", "nbdfuse")


@pytest.fixture
def draw() -> random.Random:
    return generator()


def ample(bed: Bed, *, but: Role | None = None, times: int = 1) -> None:
    """Give all devices but one an ample cap."""
    for role in ROLES:
        if role != but:
            bed.volumes[role].cap(times * AMPLE_BYTES_PER_SECOND)


def held(bed: Bed, *arguments: str, cores: int = 1) -> dict[str, Any]:
    """A run on so many processors; a failing test prints how long it took and what was found."""
    summary = bed.run(*arguments, "--cores", str(cores))
    found = {name: summary["limit"][name] for name in ("verdict", "role", "shares", "losses")}
    others = [one["sentence"] for one in summary["validity"]["findings"] if one["rule"] == "competition"]
    sys.stdout.write(f"elapsed {elapsed(summary):.2f} s, {found}, {others}\n")
    return summary


def real_time(summary: dict[str, Any]) -> float:
    return float(summary["time"]["real_time_seconds"])


def elapsed(summary: dict[str, Any]) -> float:
    seconds: float = summary["time"]["elapsed_seconds"]
    return seconds


def check_no_help(bed: Bed, first: dict[str, Any], limit: Role | None, *arguments: str, cores: int) -> None:
    """Twice of everything but the limit (devices other than that of a role, processors) shortens little.

    A first run that something disturbed looks longer than it was, so it gets a second chance.  The same work
    takes 10 % more or less CPU time from run to run of a virtual machine, so that difference is left out.
    """
    ample(bed, but=limit, times=2)
    after = held(bed, *arguments, cores=cores)
    ample(bed, but=limit)
    if shortened(first, after):
        first = min(first, held(bed, *arguments), key=elapsed)
    assert not shortened(first, after)


def shortened(before: dict[str, Any], after: dict[str, Any]) -> bool:
    """Whether a run took clearly less time than another, beyond the CPU time that its jobs took less."""
    faster: float = before["time"]["cpu_seconds"] - after["time"]["cpu_seconds"]
    return elapsed(after) + max(faster, 0.0) < HELPS_NOT * elapsed(before)


def test_a_capped_device_is_storage_and_its_peak_is_the_cap(bed: Bed, draw: random.Random) -> None:
    drawn = slowed_by_rate(draw)
    cap = int(drawn.bytes / draw.uniform(12.0, 14.0))
    capped = bed.volumes[drawn.role]
    bed.generate(drawn.workload)
    capped.cap(cap)
    first = held(bed, "--cache", "cold")
    found = first["limit"]
    assert (found["verdict"], found["role"], found["device"]) == ("storage", drawn.role, capped.device)
    assert found["costs"][0]["kind"] == "bandwidth"
    assert found["evidence"][0]["sentence"].startswith("jobs were blocked in I/O")
    # Reads and writes each have the cap for themselves, so the busier direction is compared with it.
    peak = max(found[f"device_{direction}_peak_bytes_per_second"] for direction in ("read", "write"))
    assert peak == pytest.approx(cap, rel=0.05)
    check_no_help(bed, first, drawn.role, "--cache", "cold", cores=2)
    capped.cap(2 * cap)
    assert elapsed(held(bed, "--cache", "cold")) <= HELPS * elapsed(first)


@pytest.mark.long(minutes=3)
def test_a_device_that_is_slow_below_its_queue_is_storage(slow_bed: Bed, draw: random.Random) -> None:
    drawn, milliseconds = slowed_by_delay(draw)
    slow = slow_bed.volumes[drawn.role]
    slow_bed.generate(drawn.workload)
    slow.open(milliseconds)
    first = held(slow_bed, "--cache", "cold")
    found = first["limit"]
    assert (found["verdict"], found["role"], found["device"]) == ("storage", drawn.role, slow.device)
    assert found["costs"][0]["kind"] in ("latency", None)
    check_no_help(slow_bed, first, drawn.role, "--cache", "cold", cores=2)
    slow.open(milliseconds // 2)
    assert elapsed(held(slow_bed, "--cache", "cold")) <= HELPS * elapsed(first)


@pytest.mark.long(minutes=2)
def test_many_jobs_on_one_processor_are_cpu(bed: Bed, draw: random.Random) -> None:
    program = draw.choice(COMPUTING)
    bed.generate(sessions(scale_for(program, draw.uniform(2.0, 2.5)), [program] * 4))
    first = held(bed, "--cache", "warm")
    assert first["limit"]["verdict"] == "cpu"
    check_no_help(bed, first, None, "--cache", "warm", cores=1)
    # Twice the processors can make the run too short for a verdict: only its time is asked.
    assert elapsed(bed.run("--cache", "warm", "--cores", "2")) <= HELPS * elapsed(first)


@pytest.mark.long(minutes=3)
def test_files_that_twice_the_memory_would_keep_are_memory(bed: Bed, draw: random.Random) -> None:
    memory = draw.randrange(350, 380)
    small = ("--option", "memsize=192MiB", "--option", "sortsize=32MiB", "--cache", "cold")
    limited = (*small, "--memory-limit", f"{memory}MiB")
    bed.generate(sessions(0.010, ["census_query"]))
    bed.volumes["work"].cap(draw.randrange(90, 120) * 10**6)
    first = held(bed, *limited)
    assert first["limit"]["verdict"] == "memory"
    check_no_help(bed, first, "work", *limited, cores=2)
    twice = held(bed, *small, "--memory-limit", f"{2 * memory}MiB")
    assert elapsed(twice) <= HELPS * elapsed(first)


@pytest.mark.parametrize(
    ("blocks", "seconds", "first", "second"),
    [(7, 0.22, "storage", "cpu"), (6, 0.38, "cpu", "storage"), (6, 0.0, "storage", None)],
)
def test_the_larger_cost_helps_more(
    bed: Bed, blocks: int, seconds: float, first: str, second: str | None
) -> None:
    """Eight jobs at a time that read blocks of 1 MiB at a cap, and then compute on one core.

    The second cost is 0.7 to 0.8 of the first where both limit: far from a tie and from no cost.
    """
    bed.write_readers(blocks, seconds)
    bed.volumes["data"].cap(READ_CAP_BYTES_PER_SECOND, directions=["read"])
    before = bed.run("--cores", "1")
    limit = before["limit"]
    assert (limit["verdict"], limit["second"]) == (first, second), limit
    found = {cost["resource"]: cost for cost in limit["costs"]}
    assert next(iter(found)) == first, limit
    # Where jobs compute in between, the device may be full for a part of each window: then it is not known.
    kinds = {"storage": ("bandwidth",) if second is None else ("bandwidth", None), "cpu": ("queue",)}
    assert found[first]["kind"] in kinds[first], limit
    assert (found["storage"]["roles"], found["storage"]["direction"]) == (["data"], "read"), limit
    left = {"cpu": real_time(bed.run("--cores", "2")) / real_time(before)}
    bed.volumes["data"].cap(2 * READ_CAP_BYTES_PER_SECOND, directions=["read"])
    left["storage"] = real_time(bed.run("--cores", "1")) / real_time(before)
    better, other = sorted(left, key=lambda name: left[name])
    assert (better, left[other] < HELPS_NOT) == (first, second is not None), left
    assert left[better] <= HELPS, left


def test_one_light_job_waits_for_nothing(tmp_path: Path) -> None:
    """Only cores slower than the reference can limit it: where they take a fifth of its time."""
    (tmp_path / "light.toml").write_text(sessions(0.02, ["segmentation"]))
    found = run(tmp_path, "light.toml", "--cache", "warm")
    beyond = (found["answer"]["parts"]["on_cpu"] - 1.0) / found["answer"]["slowdown"]
    assert found["limit"]["verdict"] == ("cpu" if beyond >= 0.2 else "none"), found["answer"]
    waited = [cost for cost in found["limit"]["costs"] if cost["kind"] != "speed"]
    assert all(cost["share_ratio"] < 0.2 for cost in waited), waited


def test_a_competitor_and_a_run_from_cache_are_flagged(tmp_path: Path) -> None:
    (tmp_path / "light.toml").write_text(sessions(0.005, ["segmentation"]))
    burning = [sys.executable, "-c", "while True: pass"]
    competitors = [subprocess.Popen(burning) for _ in range(2)]
    try:
        validity = run(tmp_path, "light.toml", "--cache", "warm")["validity"]
    finally:
        for competitor in competitors:
            competitor.kill()
            competitor.wait()
    assert validity["status"] == "preliminary"
    assert {"competition", "reach"} <= {finding["rule"] for finding in validity["findings"]}


@pytest.mark.long(minutes=4)
def test_a_cap_shows_at_smoke_scale_once_the_page_cache_is_denied(bed: Bed) -> None:
    """mixed20 at smoke moves 2 GB at its work: with a cap that is the limit, without it is not."""
    places = [word for role in ROLES for word in (f"--{role}", str(bed.volumes[role].place / "mawl"))]
    arguments = ("mixed20", "--cache", "none", *places)
    free = run(bed.directory, *arguments)
    assert free["limit"]["verdict"] == "cpu", free["limit"]
    bed.volumes["work"].cap(WORK_CAP_BYTES_PER_SECOND)
    capped = run(bed.directory, *arguments)
    assert (capped["limit"]["verdict"], capped["limit"]["role"]) == ("storage", "work"), capped["limit"]
    assert elapsed(capped) > elapsed(free) / HELPS
    for summary in (free, capped):
        assert min(summary["io"]["reach"].values()) > 0.9
