"""``mawl simulate``: seconds and memory for a cluster's jobs, by jobs and by nodes."""

from __future__ import annotations

import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.harness import Result, at_most, sized
from mawl.base.errors import RunFailedError
from mawl.plan.workload import JobPlan, Plan, SessionPlan
from mawl.records.model.run import NodeFacts, RunFacts, WorkloadFacts
from mawl.records.spec.program_options import ROLES, Options
from mawl.simulation.activity import Calibration
from mawl.simulation.demand import Flow, JobDemand, StepDemand
from mawl.simulation.scenario import Scenario
from mawl.simulation.scenario import run_scenario as simulated
from mawl.simulation.system import Device, NodeKind, System
from mawl.whatif.folder import Label, write_folder

NAME = "simulation"

BOUNDS = {4: 2.0, 1000: 10.0}
"""Nodes to the seconds that their simulation may take, run folder included."""

MANY_BYTES = 2e9
JOBS, SESSIONS, STEPS = sized((101, 30, 4), (10, 3, 2))
GROWTH = sized((1, 4, 16, 64, 250, 1000), (1, 4))
"""Numbers of alike nodes, each with as many jobs."""

CODE = """
import json, sys
from pathlib import Path
from bench.simulation import timed
print(json.dumps(timed(int(sys.argv[1]), sys.argv[2] == "alike", Path(sys.argv[3]))))
"""


def timed(nodes: int, alike: bool, folder: Path) -> dict[str, float]:
    """Seconds of simulating and of writing the run folder, events, elapsed seconds and peak memory."""
    system, plan, jobs = scene(nodes)
    plans = [plan]
    for number in range(1, 1 if alike else nodes):
        _, other, own = scene(nodes, f"n{number}-", number + 1)
        plans.append(other)
        jobs |= own
    scenario = Scenario(system=system, plans=tuple(plans), jobs=jobs)
    began = time.perf_counter()
    outcome = simulated(scenario, Calibration(system, 0.5))
    done = time.perf_counter()
    write_folder(folder, scenario, outcome, label())
    return {
        "simulating_seconds": done - began,
        "writing_seconds": time.perf_counter() - done,
        "events": outcome.events,
        "elapsed_seconds": outcome.elapsed_seconds,
        "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    }


def label() -> Label:
    """What a folder of the simulated run says of itself."""
    source = RunFacts(
        run_id="bench",
        kind="measured",
        mawl_version="0",
        workload=WorkloadFacts(name="bench", title="", sessions=SESSIONS, jobs=JOBS),
        outcome="completed",
        started_at=1.7e9,
        nodes=[NodeFacts(name="node1", cores=16, core_basis="physical core")],
    )
    return Label(run_id="bench", source=source)


def scene(nodes: int, prefix: str = "", seed: int = 1) -> tuple[System, Plan, dict[str, JobDemand]]:
    """Nodes on one array, and the plan of each: 101 jobs of four steps in 30 sessions, no two jobs alike."""
    draw = random.Random(seed)
    array = Device(name="array", read_bytes_per_second=4e9 * nodes, write_bytes_per_second=3e9 * nodes)
    kind = NodeKind(
        count=nodes,
        cores=16,
        memory_bytes=2.0**38,
        link_bytes_per_second=3.5e9,
        roles=dict.fromkeys(ROLES, ("array",)),
    )
    jobs: dict[str, JobDemand] = {}
    sessions: list[list[tuple[JobPlan, ...]]] = [[] for _ in range(SESSIONS)]
    for number in range(JOBS):
        stages, name = sessions[number % SESSIONS], f"{prefix}job{number}"
        stages.append((_job(name, f"s{number % SESSIONS}", len(stages) + 1),))
        jobs[name] = JobDemand(
            job=name,
            program="wide_sort",
            program_class="io",
            steps=tuple(_step(draw) for _ in range(STEPS)),
            memory_bytes=1e9,
        )
    plan = Plan(
        workload="bench",
        title="",
        scale=1.0,
        seed=1,
        saving=0.9,
        options=Options(),
        sessions=tuple(SessionPlan(name=f"s{n}", stages=tuple(of)) for n, of in enumerate(sessions)),
    )
    return System(name="bench", nodes=(kind,), devices=(array,)), plan, jobs


def _job(name: str, session: str, stage: int) -> JobPlan:
    return JobPlan(
        job=name,
        program="wide_sort",
        session=session,
        stage=stage,
        replica=1,
        scale=1.0,
        options=Options(),
    )


def _step(draw: random.Random) -> StepDemand:
    read, written = draw.uniform(1e9, 2e10), draw.uniform(1e9, 2e10)
    flows = [
        Flow(role="data", direction="read", application_bytes=read, device_bytes=read),
        Flow(role="work", direction="write", application_bytes=written, device_bytes=written),
    ]
    return StepDemand(
        name="step",
        kind="data",
        cpu_seconds=draw.uniform(1.0, 60.0),
        flows=tuple(flows),
        blocked_seconds={"data": 1.0, "work": 2.0, "util": 0.0},
    )


def run() -> list[Result]:
    """Jobs of four nodes that differ; as many jobs on each of more and more alike nodes."""
    rows = []
    differing = _measured(4, "differing")
    seconds = differing["simulating_seconds"] + differing["writing_seconds"]
    rows.append(Result(f"{4 * JOBS} jobs on 4 nodes that differ", seconds, "s", "", None, _detail(differing)))
    for nodes in GROWTH:
        found = _measured(nodes, "alike")
        seconds = found["simulating_seconds"] + found["writing_seconds"]
        name = f"{nodes * JOBS} jobs on {nodes} alike nodes"
        if nodes not in BOUNDS:
            rows.append(Result(name, seconds, "s", "", None, _detail(found)))
            continue
        rows.append(at_most(name, seconds, "s", BOUNDS[nodes], _detail(found)))
    peak = found["peak_bytes"]
    rows.append(at_most(f"{name}, memory", peak, "bytes", MANY_BYTES, "peak resident size"))
    return rows


def _detail(found: dict[str, float]) -> str:
    return (
        f"simulating {found['simulating_seconds']:.2f} s in {found['events']:.0f} events, "
        f"run folder {found['writing_seconds']:.2f} s, peak {found['peak_bytes'] / 1e6:.0f} MB"
    )


def _measured(nodes: int, kind: str) -> dict[str, float]:
    with tempfile.TemporaryDirectory(prefix="mawl-bench-") as folder:
        argv = [sys.executable, "-c", CODE, str(nodes), kind, str(Path(folder) / "run")]
        done = subprocess.run(argv, capture_output=True, text=True)
    if done.returncode:
        raise RunFailedError("the simulation failed", why=done.stderr.strip().rpartition("\n")[2])
    found: dict[str, float] = json.loads(done.stdout)
    return found
