"""Campaigns whose runs are the synthetic run: made in no time, killed wherever a test wants."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from mawl.campaigns.series import back_and_forth
from mawl.records.model.campaign import Arm, Campaign, CampaignMachine
from mawl.records.store.facts import read_facts, write_facts
from tests.fakes.compared_runs import COMPLETED
from tests.fakes.stored_run import START, facts, write_run

ARMS = [Arm(name="a", workload="tiny", title="before"), Arm(name="b", workload="tiny", title="after")]


def campaign(repeats: int = 2, **changes: Any) -> Campaign:
    """A against B, nothing made yet."""
    values: dict[str, Any] = {
        "name": "20260101-080000-ab-tiny",
        "kind": "ab",
        "created_at": START,
        "outcome": "running",
        "mawl_version": "0.1.0",
        "machine": CampaignMachine(name="bench1", cpu_model="model", cores=4),
        "directory": "/",
        "arms": ARMS,
        "slots": back_and_forth(ARMS, repeats),
    }
    return Campaign(**(values | changes))


class Killed(BaseException):
    """Stands for SIGKILL: nobody handles it."""


class FakeRuns:
    """Makes runs; ``cut`` holds numbers of runs (from 1, over all attempts) that are killed half way."""

    def __init__(self, cut: tuple[int, ...] = ()) -> None:
        self.made: list[str] = []
        self.cut = cut

    def __call__(self, arm: Arm, folder: Path, lock: int) -> None:
        self.made.append(folder.name)
        writer = write_run(folder)
        if len(self.made) in self.cut:
            writer.close()
            raise Killed
        run_id = f"{folder.parent.name}-{folder.name}"
        writer.finish(facts(run_id=run_id, started_at=START + 100 * len(self.made), **COMPLETED))


def set_outcome(folder: Path, outcome: str) -> None:
    """Change the outcome of a stored run."""
    found = read_facts(folder)
    write_facts(folder, msgspec.structs.replace(found, outcome=outcome))
