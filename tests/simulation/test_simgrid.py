"""The same scenario in SimGrid, where python3-simgrid is installed: the makespan agrees within 2 %."""

from __future__ import annotations

import json
import random
import subprocess
from pathlib import Path

import pytest

from tests import needs
from tests.simulation.scenes import MB, device, flow, side_by_side, simulated, step, system

PYTHON = Path("/usr/bin/python3")
SCENARIO = Path(__file__).with_name("simgrid_scenario.py")
CLOSE_RATIO = 0.02
LACKING = "no SimGrid for /usr/bin/python3: install Debian's package python3-simgrid"


def has_simgrid() -> bool:
    """Whether the system's Python has it."""
    if not PYTHON.exists():
        return False
    return (
        subprocess.run([str(PYTHON), "-c", "import simgrid"], capture_output=True, timeout=60).returncode == 0
    )


@pytest.mark.parametrize(("nodes", "cores", "rate"), [(1, 4, 400.0), (4, 4, 300.0), (4, 16, 2000.0)])
def test_the_makespan_is_that_of_simgrid(nodes: int, cores: int, rate: float) -> None:
    if not has_simgrid():
        needs.skip(LACKING)
    draw = random.Random(7)
    jobs = [[(draw.uniform(0.1, 2.0), draw.randint(10, 200)) for _ in range(5)] for _ in range(12)]
    theirs = subprocess.run(
        [
            str(PYTHON),
            str(SCENARIO),
            str(nodes),
            str(cores),
            str(rate * MB),
            json.dumps([[[seconds, size * MB] for seconds, size in job] for job in jobs]),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    makespan = float(theirs.stdout.split("makespan")[1])
    steps = [
        [part for seconds, size in job for part in (step(seconds), step(0.0, flow(size)))] for job in jobs
    ]
    shared = device("array", rate, local=False)
    ours = simulated(system(shared, count=nodes, cores=cores), *side_by_side(steps))
    assert ours.elapsed_seconds == pytest.approx(makespan, rel=CLOSE_RATIO)
