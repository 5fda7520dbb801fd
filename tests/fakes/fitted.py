"""Runs that the model itself made: of any scenario, and a small one brought to a measured slowdown."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from mawl.advice.judge import judged
from mawl.figures.view import StoredView
from mawl.records.model.run import RunFacts
from mawl.records.store import Run, open_run
from mawl.simulation.activity import Calibration
from mawl.simulation.demand import Logged, StepDemand
from mawl.simulation.engine import SimulationOutcome
from mawl.simulation.forecast import Base, Fitting, base_of
from mawl.simulation.scenario import Scenario, run_scenario
from mawl.simulation.system import System
from mawl.whatif.folder import Label, write_folder
from tests.fakes.stored_run import referred
from tests.simulation.scenes import demands, device, flow, plan, scenario, step, system

SESSIONS, REFERENCE_SECONDS = 6, 1.7

MOSTLY_COMPUTING = step(1.5, flow(20, direction="read"), blocked=0.1)


def written(
    folder: Path, of: Scenario, source: RunFacts, alone_ratio: float = 1.0
) -> tuple[Run, SimulationOutcome]:
    """The scenario, simulated on its own system and written; ``source`` is the run that its demand is of."""
    outcome = run_scenario(of, Calibration(of.system, alone_ratio))
    write_folder(folder, of, outcome, Label(run_id=folder.name, source=source))
    return open_run(folder), outcome


def based_on(run: Run, own: System | None = None, steps: Logged | None = None) -> Base:
    """The run as a base of forecasts."""
    view = StoredView(run)
    return base_of(view, judged(view), own, steps)


def write(folder: Path, steps: Sequence[StepDemand], reference_seconds: float = REFERENCE_SECONDS) -> None:
    """The folder of a run with sessions of a job of one step each, on two cores."""
    own = system(device(), cores=2)
    names = [f"s{number}-1" for number in range(1, len(steps) + 1)]
    jobs = {name: [one] for name, one in zip(names, steps, strict=True)}
    of = scenario(own, plan([[[name]] for name in names]), demands(jobs))
    source = referred(dict.fromkeys(names, reference_seconds), scale=1.0)
    written(folder, of, source)


def fitted(folder: Path, steps: Sequence[StepDemand] = (MOSTLY_COMPUTING,) * SESSIONS) -> Fitting:
    """The same, measured as three times their reference time."""
    write(folder, steps)
    base = based_on(open_run(folder), system(device(), cores=2))
    return Fitting(base=base, sessions=len(steps), measured=3.0, fewest=5, most=500)
