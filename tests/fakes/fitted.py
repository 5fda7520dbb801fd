"""A small run that the model itself made, brought to a measured slowdown."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from mawl.advice.judge import judged
from mawl.figures.view import StoredView
from mawl.records.store import open_run
from mawl.simulation.activity import Calibration
from mawl.simulation.demand import StepDemand
from mawl.simulation.forecast import Fitting, base_of
from mawl.simulation.scenario import run_scenario
from mawl.whatif.folder import Label, write_folder
from tests.fakes.stored_run import referred
from tests.simulation.scenes import demands, device, flow, plan, scenario, step, system

SESSIONS, REFERENCE_SECONDS = 6, 1.7

MOSTLY_COMPUTING = step(1.5, flow(20, direction="read"), blocked=0.1)


def write(folder: Path, steps: Sequence[StepDemand], reference_seconds: float = REFERENCE_SECONDS) -> None:
    """The folder of a run with sessions of a job of one step each, on two cores."""
    own = system(device(), cores=2)
    names = [f"s{number}-1" for number in range(1, len(steps) + 1)]
    jobs = {name: [one] for name, one in zip(names, steps, strict=True)}
    of = scenario(own, plan([[[name]] for name in names]), demands(jobs))
    source = referred(dict.fromkeys(names, reference_seconds), scale=1.0)
    write_folder(
        folder, of, run_scenario(of, Calibration(own, 1.0)), Label(run_id=folder.name, source=source)
    )


def fitted(folder: Path, steps: Sequence[StepDemand] = (MOSTLY_COMPUTING,) * SESSIONS) -> Fitting:
    """The same, measured as three times their reference time."""
    write(folder, steps)
    view = StoredView(open_run(folder))
    base = base_of(view, judged(view), system(device(), cores=2))
    return Fitting(base=base, sessions=len(steps), measured=3.0, fewest=5, most=500)
