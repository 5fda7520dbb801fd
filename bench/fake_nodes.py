"""Agents that answer at once out of one recorded run folder: what is left is the controller's own cost."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import msgspec

from mawl import __version__
from mawl.plan.workload import Plan, load_workload, make_plan
from mawl.records.model.records import EventRecord, JobRecord, StepRecord, Usage
from mawl.records.model.run import RunFacts, WorkloadFacts
from mawl.records.spec.program_options import ROLES, StartMode
from mawl.records.store.files import FACTS, JOURNAL, JOURNAL_FILES, PLAN
from mawl.records.store.folder import RunWriter
from mawl.run.cluster.controller import ClusterRequest, Controller
from mawl.run.cluster.link import Link
from mawl.run.cluster.messages import (
    Ended,
    FromNode,
    GateReady,
    InputShare,
    InputsReady,
    NodeResources,
    NodeTask,
    OpenGate,
    StartPlan,
    TokenSearch,
    VisibleTokens,
    to_node,
)
from mawl.run.runner.loop import Interrupts
from mawl.run.runner.request import Listener, Status

SESSIONS, JOBS_A_SESSION = 20, 4
STEPS_A_JOB = 3
SERIES = 150
ANSWERS = 4
"""Questions over which a node's journal comes."""


class FakeNodes(Link):
    """So many nodes; each ran 80 jobs, and ``seconds`` of samples of 150 series each."""

    def __init__(self, place: Path, count: int, seconds: int) -> None:
        self.place, self.count, self.seconds = place, count, seconds
        place.mkdir(parents=True)
        self.plan = _plan(place)
        self.recorded = _recorded(place / "recorded", self.plan, seconds)
        self.jobs = count * SESSIONS * JOBS_A_SESSION
        self.samples = count * seconds * SERIES
        self._said: dict[str, list[bytes]] = {}
        self._told: dict[str, int] = {}
        self._answers: dict[str, int] = {}

    async def ask(self, node: str, function: str, *arguments: Any, seconds: float) -> Any:  # noqa: ARG002
        """As a real agent would, without a process behind it."""
        return getattr(self, f"_{function}")(node, *arguments)

    def _begin(self, node: str, _: bytes) -> None:
        self._said[node], self._told[node] = [], 0
        room = dict.fromkeys(ROLES, 0)
        looked = NodeResources(folder="", boot_id=node, needed_bytes=room, free_bytes=room)
        self._say(node, looked)

    def _say(self, node: str, word: FromNode) -> None:
        self._said[node].append(msgspec.json.encode(word))

    def _keep(
        self, node: str, _: str, words: list[tuple[int, bytes]], heard: int, offsets: dict[str, int]
    ) -> dict[str, Any]:
        for number, line in words[self._told[node] :]:
            self._told[node] = number
            match to_node(line):
                case TokenSearch():
                    tokens = [f"f-node{one}" for one in range(self.count)]
                    self._say(node, VisibleTokens({role: [tokens] for role in ROLES}))
                case InputShare():
                    self._say(node, InputsReady())
                case StartPlan():
                    self._say(node, GateReady(SESSIONS))
                case OpenGate():
                    self._answers[node] = 0
        journal: dict[str, bytes] = {}
        ended = False
        if node in self._answers and offsets:
            self._answers[node] += 1
            ended = self._answers[node] == ANSWERS
            journal = {name: self._part(name, offsets[name], self._answers[node]) for name in offsets}
            if ended:
                self._say(node, Ended("completed", None))
        return {
            "said": self._said[node][heard:],
            "exit": 0 if ended else None,
            "complaints": [],
            "stopped": None,
            "journal": {name: content for name, content in journal.items() if content},
        }

    def _part(self, name: str, offset: int, answer: int) -> bytes:
        content = (self.recorded / JOURNAL / name).read_bytes()
        return content[offset : len(content) * answer // ANSWERS]

    def _clock(self, _: str) -> float:
        return time.time()

    def _files(self, _: str, run_id: str) -> list[tuple[str, int]]:
        names = [FACTS, PLAN, *(f"{JOURNAL}/{name}" for name in JOURNAL_FILES)]
        return [(name, len(self._content(run_id, name))) for name in names]

    def _pieces(self, _: str, run_id: str, wanted: list[tuple[str, int]]) -> list[bytes]:
        return [self._content(run_id, name)[offset:] for name, offset in wanted]

    def _content(self, run_id: str, name: str) -> bytes:
        """A file of the folder, which is of that run."""
        content = (self.recorded / name).read_bytes()
        return content.replace(b'"recorded"', f'"{run_id}"'.encode()) if name == FACTS else content

    def _finish(self, _: str, __: str, ___: bool) -> None:
        """Nothing to end."""


class Nobody(Listener):
    """Shows nothing."""

    def launching(self, mode: StartMode, jobs: int) -> None:
        """Nothing."""

    def status(self, status: Status) -> None:
        """Nothing."""

    def job_ended(self, record: JobRecord) -> None:
        """Nothing."""

    def notice(self, text: str) -> None:
        """Nothing."""


async def conducted(
    fakes: FakeNodes, listener: Listener | None = None, *, node_timeout_seconds: float = 30.0
) -> float:
    """CPU seconds of this process for a run on the fakes, the merged tables included.

    The run folder is ``run`` in the fakes' place.
    """
    tasks = [
        NodeTask(
            run_id=f"f-node{number}",
            node=f"node{number}",
            plan=fakes.plan,
            folder="",
            lease_seconds=node_timeout_seconds / 2,
        )
        for number in range(fakes.count)
    ]
    request = ClusterRequest(
        run_id="f",
        folder=fakes.place / "run",
        tasks=tasks,
        node_timeout_seconds=node_timeout_seconds,
    )
    before = time.process_time()
    with Interrupts() as interrupts:
        await Controller(request, fakes, listener or Nobody(), interrupts).conduct()
    return time.process_time() - before


def _plan(place: Path) -> Plan:
    """Sessions of commands that never run."""
    stages = ", ".join(['[{ command = ["true"] }]'] * JOBS_A_SESSION)
    sessions = "".join(
        f'[[sessions]]\nname = "s{number}"\nstages = [{stages}]\n' for number in range(1, SESSIONS + 1)
    )
    path = place / "fake.toml"
    path.write_text(f'name = "fake"\n{sessions}')
    spec, where = load_workload(str(path))
    return make_plan(spec, where=where, scale=0.0005)


def _recorded(folder: Path, plan: Plan, seconds: int) -> Path:
    """A node's folder as it is while its run is under way, with everything in its journal."""
    began = time.time()
    facts = RunFacts(
        run_id="recorded", kind="measured", mawl_version=__version__, outcome="completed", started_at=began,
        workload=WorkloadFacts(name="fake", title="", sessions=SESSIONS, jobs=SESSIONS * JOBS_A_SESSION),
    )  # fmt: skip
    writer = RunWriter(folder, facts)
    usage = Usage(real_time_seconds=1.0, user_cpu_seconds=0.5, system_cpu_seconds=0.1)
    writer.event(EventRecord(happened_at=began, event="gate_released"))
    for job in plan.jobs():
        writer.event(EventRecord(happened_at=began, event="job_started", job=job.job))
        for number in range(STEPS_A_JOB):
            writer.step(
                StepRecord(
                    job=job.job, number=number, name="step", kind="data", started_at=began,
                    ended_at=began + 1.0, usage=usage,
                )
            )  # fmt: skip
        writer.job(
            JobRecord(
                job=job.job, program=job.program, program_class="unknown", session=job.session,
                stage=job.stage, node="recorded", replica=1, gate=job.gate, trail_out=False,
                outcome="finished", verified=None, started_at=began, ended_at=began + 1.0, usage=usage,
                startup=Usage(), verify=Usage(), total=usage, steps=STEPS_A_JOB,
            )
        )  # fmt: skip
    for second in range(seconds):
        writer.figures("recorded", began + second, {f"host.s{name}": 1.0 for name in range(SERIES)})
    writer.close()
    return folder
