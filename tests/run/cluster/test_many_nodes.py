"""A real controller and 256 nodes, of them 64 that fail: it counts each job once and names each failure."""

from __future__ import annotations

import asyncio
import logging
import random
import resource
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from bench.fake_nodes import JOBS_A_SESSION, SESSIONS, FakeNodes, conducted
from mawl.records.store import open_run
from mawl.run.cluster.link import NoAnswerError, NodeGoneError
from tests.fakes.watcher import Watcher

_LOG = logging.getLogger(__name__)
JOBS = SESSIONS * JOBS_A_SESSION
FAULTS = (
    "gone",
    "silent",
    "silent for a while",
    "slow",
    "killed",
    "damaged",
    "says nothing new",
    "copy fails",
)
LOST = ("gone", "silent")
FAILED = (*LOST, "killed", "copy fails")
TIMEOUT_SECONDS = 30.0


class FaultyNodes(FakeNodes):
    """Some nodes have a fault from a question on that is drawn; ``faults`` by node."""

    def __init__(self, place: Path, count: int, seconds: int, faults: dict[str, str], seed: int) -> None:
        super().__init__(place, count, seconds)
        self.faults = faults
        draw = random.Random(seed)
        self._begins = {node: draw.randint(1, 3) for node in faults}
        """After how many answers the fault begins."""
        self._failed: Counter[str] = Counter()

    async def ask(self, node: str, function: str, *arguments: Any, seconds: float) -> Any:
        fault = self.faults.get(node)
        if fault is None or self._answers.get(node, -1) < self._begins[node]:
            return await super().ask(node, function, *arguments, seconds=seconds)
        self._failed[node] += 1
        if fault == "gone":
            raise NodeGoneError(f"the worker of {node} is gone")
        if fault == "silent" or (fault == "silent for a while" and self._failed[node] <= 2):
            raise NoAnswerError(f"{node} did not answer")
        if fault == "slow":
            await asyncio.sleep(0.5)
        if fault == "copy fails" and function in ("files", "pieces"):
            raise NoAnswerError(f"{node} did not answer")
        if function != "keep":
            return await super().ask(node, function, *arguments, seconds=seconds)
        if fault == "killed":
            return {"said": [], "exit": -9, "complaints": [], "stopped": None, "journal": {}}
        if fault == "says nothing new" and self._failed[node] <= 5:
            return {"said": [], "exit": None, "complaints": [], "stopped": None, "journal": {}}
        answer = await super().ask(node, function, *arguments, seconds=seconds)
        if fault == "damaged" and "jobs.jsonl" in answer["journal"]:
            damaged = bytearray(answer["journal"]["jobs.jsonl"])
            damaged[len(damaged) // 2] = 0xFF
            answer["journal"]["jobs.jsonl"] = bytes(damaged)
        return answer


@pytest.mark.long(minutes=5)
@pytest.mark.parametrize("seed", [1, 2])
def test_256_nodes_of_which_64_fail(tmp_path: Path, seed: int) -> None:
    draw = random.Random(seed)
    failing = draw.sample([f"node{number}" for number in range(256)], 64)
    faults = {node: FAULTS[number % len(FAULTS)] for number, node in enumerate(failing)}
    nodes = FaultyNodes(tmp_path / "fakes", 256, 20, faults, seed)
    watcher = Watcher()
    began = time.monotonic()
    cpu = asyncio.run(conducted(nodes, watcher, node_timeout_seconds=TIMEOUT_SECONDS))
    run = open_run(nodes.place / "run")
    by_node = {part.node: part for part in run.facts.node_runs}
    _LOG.info(
        "256 nodes, 64 of them failing: %.1f CPU s, %.0f s, %.0f MB; outcomes %s",
        cpu,
        time.monotonic() - began,
        resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000,
        sorted(Counter((faults.get(node, "well"), part.outcome) for node, part in by_node.items()).items()),
    )
    assert len(by_node) == 256
    jobs = Counter(zip(run.jobs["node"].to_pylist(), run.jobs["job"].to_pylist(), strict=True))
    twice = [job for job, count in jobs.items() if count > 1]
    assert not twice, f"{len(twice)} jobs are counted twice, first {twice[0]}"
    for node, part in by_node.items():
        mine = [name for (owner, name) in jobs if owner == node]
        fault = faults.get(node)
        if fault in LOST:
            assert part.outcome == "lost"
            assert f"{node} was lost: {part.reason}" in watcher.notices
        elif fault in ("killed", "copy fails"):
            assert part.outcome == "failed"
            why = {"killed": "killed by signal 9", "copy fails": "was not copied whole: "}[fault]
            assert why in (part.reason or "")
        else:
            assert part.outcome == "completed", (node, fault, part.reason)
            assert len(mine) == JOBS, (node, fault)
    assert run.facts.outcome == "failed"
    reason = run.facts.outcome_reason or ""
    assert all(f"{node}: " in reason for node, why in faults.items() if why in FAILED)
