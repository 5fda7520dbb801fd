"""Searches over runs that are made in no time, each with a planted cost; also as a process to be killed.

``python -m tests.fakes.search_runs FOLDER`` begins the search in a folder, or goes on with it.
"""

from __future__ import annotations

import sys
import time
from math import exp, log
from pathlib import Path
from random import Random
from typing import Any

from mawl.campaigns.series import begin, held, resume
from mawl.records.model.campaign import Arm, Campaign, CampaignMachine
from mawl.records.model.summary.summary import Judged
from mawl.records.spec.run_spec import RunSpec
from mawl.records.store.campaign import CAMPAIGN
from mawl.tuning.search.records import OBJECTIVES, SearchAnswer, SearchRecord, read_search, write_search
from mawl.tuning.search.results import Proposals, search_answer, with_statement
from mawl.tuning.search.search import SearchCampaign
from tests.fakes.compared_runs import COMPLETED
from tests.fakes.stored_run import START, facts, write_run
from tests.fakes.views import partly

EFFECTS = {"cpucount=2": log(0.8), "sortsize=64MiB": log(0.97), "sortsize=16MiB": log(1.3)}
NOISE = 0.03


class SearchRuns:
    """Makes runs whose figures ``summary_of`` reads; costs follow from the run's place and its words.

    Its clock goes on only while a run is made, for as long as the run's place says.
    """

    def __init__(self, pause_seconds: float = 0.0, effects: dict[str, float] | None = None) -> None:
        self._pause = pause_seconds
        self._effects = EFFECTS if effects is None else effects
        self._words: dict[str, list[str]] = {}
        self.made: list[str] = []
        self._now = START

    def __call__(self, arm: Arm, folder: Path, lock: int) -> None:
        """A run like the synthetic one; the pause is where it is killed."""
        self.made.append(folder.name)
        writer = write_run(folder)
        time.sleep(self._pause)
        (folder / "words").write_text(arm.title.replace(",", ""))
        run_id = f"{folder.parent.name}-{folder.name}"
        began = self._now
        self._now += Random(f"time of run {folder.name[:3]}").randint(2, 6) / 4  # exact in any sum
        writer.finish(facts(run_id=run_id, started_at=began, **{**COMPLETED, "ended_at": self._now}))

    def summary_of(self, folder: Path) -> Judged:
        """The figures of the objectives, and no other."""
        position = folder.name[:3]
        words = (folder / "words").read_text().split()
        effect = sum(self._effects.get(word, 0.0) for word in words)
        seconds = 100.0 * exp(effect + Random(f"run {position}").gauss(0.0, NOISE))
        summary: dict[str, Any] = {}
        for objective in OBJECTIVES.values():
            *blocks, name = objective.figure.split(".")
            block = summary
            for one in blocks:
                block = block.setdefault(one, {})
            block[name] = 100.0 / seconds if objective.more_is_better else seconds
        return partly(summary)


def asked(**changes: Any) -> SearchRecord:
    """A search of six points."""
    values: dict[str, Any] = {
        "workload": "tiny",
        "objective": "response-time",
        "seed": 7,
        "budget_seconds": 200.0,
        "confidence_ratio": 0.95,
        "smallest_gain_ratio": 0.05,
        "dimensions": {"sortsize": ["16MiB", "64MiB", "256MiB"], "cpucount": [1, 2]},
        "unchanged": {"sortsize": ["256MiB"], "cpucount": [1]},
        "directories": {"data": ["d"], "work": ["w"], "util": ["u"]},
        "profile": "profile.toml",
    }
    return SearchRecord(**{**values, **changes})


def campaign() -> Campaign:
    """The record of a search before its first run."""
    return Campaign(
        name="20260101-080000-search-tiny",
        kind="search",
        created_at=START,
        outcome="running",
        mawl_version="0.1.0",
        machine=CampaignMachine(name="bench1", cpu_model="model", cores=4),
        directory="/",
        spec=RunSpec(workload="tiny", data=("d",), work=("w",), util=("u",)),
        arms=[],
        slots=[],
    )


def carried_out(folder: Path, execute: SearchRuns, record: SearchRecord | None = None) -> SearchAnswer:
    """Begin or go on, whichever fits."""
    folder.mkdir(exist_ok=True)
    with held(folder) as lock:
        if (folder / CAMPAIGN).exists():
            series, kept = resume(folder, execute, lock), read_search(folder)
        else:
            kept = record or asked()
            write_search(folder, kept)
            series = begin(folder, campaign(), execute, lock)
        search = SearchCampaign(series, kept, execute.summary_of, lambda _: None)
        found = search.carry_out()
        return with_statement(search_answer(search, found, None, Proposals(rows=[])))


if __name__ == "__main__":
    sys.stdout.write(carried_out(Path(sys.argv[1]), SearchRuns(0.02)).statement + "\n")
