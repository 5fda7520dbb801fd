"""kill -9 at random moments of every verb that writes: nothing recorded is lost, one clean leaves nothing.

``MAWL_TEST_KILLS`` is how many of each (50); ``MAWL_TEST_SEED`` gives the same moments again.
"""

from __future__ import annotations

import json
import os
import random
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from mawl.records.store import open_run
from mawl.records.store.campaign import CAMPAIGN, read_campaign, read_qualification
from mawl.records.store.files import FACTS
from mawl.records.store.reading import runner_lives
from mawl.records.volumes import leftovers_under
from mawl.run.launch.setup import live_runs
from tests.cli.conftest import Command
from tests.cli.test_death import recorded_jobs
from tests.run.cluster.conftest import Cluster, clustered

pytestmark = [pytest.mark.lab, pytest.mark.long(minutes=25)]

KILLS = int(os.environ.get("MAWL_TEST_KILLS", "50"))
SEED = int(os.environ.get("MAWL_TEST_SEED", "0"), 16) or random.SystemRandom().randrange(2**32)
QUALIFICATION_SECONDS = 40.0
"""Each kill of a qualification comes within this time; the next one goes on where it was."""

PATIENCE_SECONDS = 40.0
"""Nodes stop their jobs once they have heard nothing for 15 s."""


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    yield from clustered(tmp_path / "cluster", "node1")


def kill(mawl: Command, seconds: float, *arguments: str) -> dict[Path, set[str]]:
    """Start, kill after a time; the jobs that each run folder had recorded by then."""
    process = mawl.start(*arguments)
    time.sleep(seconds)
    process.kill()
    process.communicate()
    folders = [facts.parent for facts in (mawl.directory / "runs").rglob(FACTS)]
    return {folder: recorded_jobs(folder) for folder in folders if "nodes" not in folder.parts}


def _alive(mawl: Command, recorded: dict[Path, set[str]]) -> list[str]:
    """Runs with a process left: of their jobs, of their own, or of a node that holds its directories."""
    ids = tuple(json.loads((folder / FACTS).read_text())["run_id"] for folder in recorded)
    found = [one for one in live_runs() if one.startswith(ids)] if ids else []
    found += [folder.name for folder in recorded if runner_lives(folder)]
    roles = {Path(place).parent for place in mawl.leftovers()}
    free = {str(place) for role in roles for place in leftovers_under(role)}
    return [*found, *(place for place in mawl.leftovers() if place not in free)]


def check(mawl: Command, recorded: dict[Path, set[str]], when: str) -> None:
    """Nothing survives for long, every recorded job is there, one clean leaves nothing."""
    ends = time.monotonic() + PATIENCE_SECONDS
    while (alive := _alive(mawl, recorded)) and time.monotonic() < ends:
        time.sleep(0.1)
    assert not alive, f"{alive} {when}"
    for folder, jobs in recorded.items():
        run = open_run(folder)
        assert run.facts.outcome in ("interrupted", "completed", "failed"), when
        assert {record.job for record in run.job_records()} >= jobs, when
    cleaned = mawl("clean")
    assert cleaned.returncode == 0 and "Traceback" not in cleaned.stderr, when
    assert mawl("clean").stdout == "nothing to clean\n", f"{when}; the first said {cleaned.stdout}"
    assert mawl.leftovers() == [], when


def moments(mawl: Command, *arguments: str) -> Iterator[tuple[float, str]]:
    """When to kill, over the time that the whole takes here, and how to say so."""
    began = time.monotonic()
    assert mawl(*arguments).returncode == 0
    whole = time.monotonic() - began
    draw = random.Random(SEED)
    for number in range(KILLS):
        seconds = draw.uniform(0.0, whole)
        yield (
            seconds,
            f"kill {number} of {' '.join(arguments)} after {seconds:.3f} s (MAWL_TEST_SEED={SEED:x})",
        )


def test_runs(mawl: Command) -> None:
    for seconds, when in moments(mawl, "run", "nano"):
        check(mawl, kill(mawl, seconds, "run", "nano"), when)
    assert mawl("run", "nano").returncode == 0


def test_inputs_that_are_being_made(mawl: Command) -> None:
    arguments = ("generate", "--scale", "0.001", "--data", str(mawl.directory / "own"))
    for seconds, when in moments(mawl, *arguments):
        for part in (mawl.directory / "own").rglob("part-00000.arrow"):
            part.unlink()  # so that there is something to make again
        check(mawl, kill(mawl, seconds, *arguments), when)
        assert not list((mawl.directory / "own").rglob(".*.tmp")), when
    assert mawl(*arguments).returncode == 0
    assert mawl("run", "nano", "--data", str(mawl.directory / "own")).returncode == 0


def test_campaigns(mawl: Command) -> None:
    campaign = ("run", "nano", "--repeat", "2")
    for seconds, when in moments(mawl, *campaign):
        check(mawl, kill(mawl, seconds, *campaign), when)
        records = [record.parent for record in (mawl.directory / "runs").glob(f"*/{CAMPAIGN}")]
        assert all(read_campaign(folder).slots for folder in records), when
    newest = max(records, key=lambda folder: folder.stat().st_mtime_ns)
    done = mawl("run", "--continue", str(newest))
    assert done.returncode == 0 or "is finished" in done.stderr, done.stderr


def test_qualifications(mawl: Command) -> None:
    """Kills in its first minutes, of which each one goes on; the last one is finished."""
    roles = [f"--{role}={mawl.environment[f'MAWL_{role.upper()}']}" for role in ("data", "work", "util")]
    draw = random.Random(SEED)
    more = [*roles, "--minutes=10"]
    for number in range(KILLS):
        seconds = draw.uniform(0.0, QUALIFICATION_SECONDS)
        when = f"kill {number} of qualify {' '.join(more)} after {seconds:.3f} s (MAWL_TEST_SEED={SEED:x})"
        check(mawl, kill(mawl, seconds, "qualify", "--yes", "--anyway", *more), when)
        for record in (mawl.directory / "runs").glob("*/qualify.json"):
            assert read_qualification(record.parent).outcome == "interrupted", when
            more = [f"--continue={record.parent}"]
    mawl.ok("run", "nano")


def test_runs_on_a_node(mawl: Command, cluster: Cluster) -> None:
    arguments = ("run", "nano", "--cluster", cluster.address, "--node-timeout", "30")
    for seconds, when in moments(mawl, *arguments):
        check(mawl, kill(mawl, seconds, *arguments), when)
    assert mawl(*arguments).returncode == 0
