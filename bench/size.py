"""``mawl size``: CPU seconds for longer and longer price lists, and compared with one simulated run."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from bench.harness import Result, alternate, at_most, sized, spread
from bench.simulation import JOBS, label, scene
from mawl.advice.judge import judged
from mawl.figures.view import StoredView
from mawl.records.store import open_run
from mawl.simulation.activity import Calibration
from mawl.simulation.forecast import base_of
from mawl.simulation.scenario import Scenario
from mawl.simulation.scenario import run_scenario as simulated
from mawl.whatif.folder import write_folder
from mawl.whatif.size.answer import size
from mawl.whatif.size.candidates import load_catalogue
from mawl.whatif.size.question import SizedRun, SizeQuestion

NAME = "size"
RUNS = sized(5, 1)

GROWTH = sized((1, 4, 16), (1, 2))
"""Numbers of candidates; they differ in cores and price."""

MOST_SECONDS = 20.0
"""For the longest of these lists."""

QUESTION = SizeQuestion(sessions=None, answer_bound=2.0, within_seconds=None, probability=0.5)


def run() -> list[Result]:
    """Lists for one run of 101 jobs; mawl simulates each candidate at several numbers of sessions."""
    with tempfile.TemporaryDirectory(prefix="mawl-bench-") as directory:
        folder = Path(directory)
        system, plan, jobs = scene(1)
        scenario, calibration = Scenario(system=system, plans=(plan,), jobs=jobs), Calibration(system, 0.5)
        write_folder(folder / "run", scenario, simulated(scenario, calibration), label())
        view = StoredView(open_run(folder / "run"))
        base = base_of(view, judged(view), system)
        start = SizedRun(base=base, slowdown=2.5, doubt=None)
        rows = []
        for count in GROWTH:
            catalogue = load_catalogue(_catalogue(folder, count))
            ours, one = alternate(
                partial(_seconds, size, start, QUESTION, catalogue),
                partial(_seconds, simulated, scenario, calibration),
                RUNS,
            )
            middle = statistics.median(ours)
            title = f"size with {count} candidate{'' if count == 1 else 's'}"
            each = middle / count / statistics.median(one)
            beside = f"a candidate takes {each:.0f} times as long as one simulated run"
            detail = f"{JOBS} jobs; {beside}; {spread(ours, 's')}"
            rows.append(
                at_most(title, middle, "CPU s", MOST_SECONDS, detail)
                if count == GROWTH[-1]
                else Result(title, middle, "CPU s", "", None, detail)
            )
        return rows


def _seconds(work: Callable[..., object], *arguments: object) -> float:
    began = time.process_time()
    work(*arguments)
    return time.process_time() - began


def _catalogue(folder: Path, count: int) -> Path:
    """Candidates with 8 cores and more, each dearer than the one before."""
    candidates = "".join(
        f'[[candidate]]\nname = "{number}"\nprice = {100 + number}\ncores = {8 + 2 * number}\n'
        for number in range(count)
    )
    path = folder / f"offers-{count}.toml"
    path.write_text(f'currency = "EUR"\nperiod = "a month"\n{candidates}')
    return path
