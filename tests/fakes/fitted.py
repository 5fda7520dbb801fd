"""A small run that the model itself made, brought to a measured slowdown."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from mawl.advice.judge import judged
from mawl.figures.view import StoredView
from mawl.records.model.run import NodeFacts
from mawl.records.store import open_run
from mawl.simulation.activity import Calibration
from mawl.simulation.demand import StepDemand
from mawl.simulation.forecast import Fitting, base_of
from mawl.simulation.scenario import run_scenario
from mawl.whatif.folder import Label, write_folder
from tests.fakes.stored_run import facts
from tests.simulation.scenes import demands, device, flow, plan, scenario, step, system

SESSIONS, ALONE_SECONDS = 6, 1.7


MOSTLY_COMPUTING = step(1.5, flow(20, direction="read"), blocked=0.1)


def fitted(folder: Path, steps: Sequence[StepDemand] = (MOSTLY_COMPUTING,) * SESSIONS) -> Fitting:
    """Sessions of a job of one step each, on two cores: measured as three times slower than alone."""
    own = system(device(), cores=2)
    names = [f"s{number}-1" for number in range(1, len(steps) + 1)]
    jobs = {name: [one] for name, one in zip(names, steps, strict=True)}
    of = scenario(own, plan([[[name]] for name in names]), demands(jobs))
    source = facts(nodes=[NodeFacts(name="node1", cores=2, core_basis="vCPU")], planned_jobs=[])
    write_folder(folder, of, run_scenario(of, Calibration(own, 1.0)), Label(run_id="first", source=source))
    view = StoredView(open_run(folder))
    base = base_of(view, judged(view), own)
    alone = {job.program: ALONE_SECONDS for job in view.jobs}
    return Fitting(base=base, alone=alone, sessions=len(steps), measured=3.0, fewest=5, most=500)
