"""What compression would save on a run's roles: work and util while it has them, data when it is over."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from random import Random

from mawl.compressibility.look import CONFIDENCE, HALF_WIDTH, by_role, volume_saving
from mawl.compressibility.population import Population
from mawl.compressibility.watch import RUN_FIGURES, Watch
from mawl.model.compressibility import Compressibility
from mawl.plan.needs import needs
from mawl.plan.programs import Program
from mawl.plan.workload import Plan
from mawl.spec.program_options import Role
from mawl.volumes import MARK, Volumes

TEMPORARY: tuple[Role, ...] = ("work", "util")
MEAN_OF_PEAK_RATIO: dict[Role, float] = {"work": 0.07, "util": 0.02}
"""What of the space that jobs declare is likely to lie there in the mean: mixed20 at smoke scale had a
fourteenth to a quarter of work, of util a two-hundredth to a twenty-fifth.  Of work it is the least: taken
for more, a machine on which tables live shortly left two thirds of the CPU share unused."""


class RunCompressibility:
    """From the first job to the facts of a run; begins to look when it is made.

    ``inputs`` are the directories of the run's input tables.
    """

    def __init__(
        self, volumes: Volumes, plan: Plan, catalogue: Mapping[str, Program], inputs: Iterable[Path]
    ) -> None:
        self._volumes = volumes
        self._inputs = sorted(set(inputs))
        self._seed = plan.seed
        places = {role: volumes.run_directories(role) for role in TEMPORARY}
        space = needs(plan, catalogue).space_bytes
        self._watch = Watch(
            places,
            confidence=CONFIDENCE,
            seed=self._seed,
            likely_bytes={role: MEAN_OF_PEAK_RATIO[role] * space.get(role, 0) for role in TEMPORARY},
            without=frozenset(str(place / MARK) for own in places.values() for place in own),
        )
        volumes.before_removal = self._watch.job_ends
        self._watch.start()

    def close(self) -> None:
        """End looking, whatever became of the run."""
        self._watch.stop()

    def finish(self) -> Compressibility:
        """Work and util as they were; then data: the input tables of this run, and its results."""
        seen = self._watch.stop()
        random = Random(self._seed)
        data = []
        places = self._volumes.directories["data"]
        for volume, results in zip(places, self._volumes.run_directories("data"), strict=True):
            population = Population(without=frozenset({str(results / MARK)}))
            for path in [*(path for path in self._inputs if path.is_relative_to(volume)), results]:
                if path.is_dir():
                    population.add(path)
            data.append(
                volume_saving(
                    volume,
                    "data",
                    population,
                    "folder",
                    figures=RUN_FIGURES,
                    confidence=CONFIDENCE,
                    shared=len(places),
                    half_width=HALF_WIDTH,
                    random=random,
                )
            )
        volumes = [*data, *seen]
        return Compressibility(
            created_at=time.time(),
            confidence_ratio=CONFIDENCE,
            half_width_ratio=None,
            seed=self._seed,
            volumes=volumes,
            roles=by_role(volumes),
        )
