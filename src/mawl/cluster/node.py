"""One node as the controller sees it: what it was told, what it said, and what its journal held."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import msgspec

from mawl.cluster.clock import Correction
from mawl.cluster.merge import NodeMachine, NodePart
from mawl.cluster.messages import (
    Ended,
    FromNode,
    GateReady,
    Going,
    Looked,
    Made,
    NodeTask,
    Notice,
    Refused,
    Seen,
    ToNode,
    from_node,
)
from mawl.cluster.mirror import Mirror
from mawl.errors import UnreadableRunError
from mawl.model.cluster import ClockFacts, NodeRun, StorageRun
from mawl.runner.request import Listener, Status
from mawl.store import Run, open_run
from mawl.store.facts import read_facts
from mawl.store.folder import RunWriter
from mawl.store.tail import Fresh


class _Written:
    """What the merged run has of a node: lines by name, since one can be lost, and the number of samples."""

    def __init__(self) -> None:
        self._lines: set[tuple[object, ...]] = set()
        self.samples = 0
        """Rows of samples, which come in their order or not at all."""

    def new(self, fresh: Fresh) -> Fresh:
        """The lines that were not given before, which count as written from now on; all samples."""
        self.samples += fresh.samples.num_rows
        return Fresh(
            events=[
                one
                for one in fresh.events
                if self._add("event", one.happened_at, one.event, one.job, one.detail)
            ],
            jobs=[one for one in fresh.jobs if self._add("job", one.job)],
            steps=[one for one in fresh.steps if self._add("step", one.job, one.number)],
            samples=fresh.samples,
        )

    def _add(self, *key: object) -> bool:
        before = len(self._lines)
        self._lines.add(key)
        return len(self._lines) > before


class RemoteNode:
    """State only; whoever asks the agent hands its answers in."""

    def __init__(self, task: NodeTask, listener: Listener) -> None:
        self.task = task
        self.name = task.node
        self.words: list[tuple[int, bytes]] = []
        self.heard = 0
        self.wake = asyncio.Event()
        """Set when there is a word to pass on."""
        self.looked: Looked | None = None
        self.seen: Seen | None = None
        self.made: Made | None = None
        self.ready: GateReady | None = None
        self.status: Status | None = None
        self.ended: Ended | None = None
        self.refused: str | None = None
        self.exit_status: int | None = None
        self.complaints: list[str] = []
        self.lost: str | None = None
        self.over = False
        """Nothing more will come from it."""
        self.left_behind: str | None = None
        self._stopped: int | None = None
        self.answered = 0.0
        """When it last answered, on the controller's monotonic clock."""
        self.clock: ClockFacts | None = None
        self.correction = Correction(self.name, 0.0)
        self.mirror: Mirror | None = None
        self.run_started_at = 0.0
        """When the merged run began, by the controller's clock."""
        self.gate_after_seconds: float | None = None
        self._listener = listener
        self._written = _Written()

    def tell(self, word: ToNode) -> None:
        """Put a word on the way."""
        self.words.append((len(self.words) + 1, msgspec.json.encode(word)))
        self.wake.set()

    def take(self, answer: dict[str, Any], writer: RunWriter | None) -> None:
        """An answer of ``keep``; what the journal got goes to ``writer`` by the controller's clock."""
        for line in answer["said"]:
            self.heard += 1
            self._hear(from_node(line))
        self.exit_status, self.complaints = answer["exit"], answer["complaints"]
        if answer["stopped"] is not None and answer["stopped"] != self._stopped:
            self._listener.notice(
                f"{self.name}: the node's process {answer['stopped']} was stopped by a signal, and the run "
                f"waits for it; kill -CONT {answer['stopped']} there lets it go on, Ctrl-C ends the run"
            )
        self._stopped = answer["stopped"]
        if self.mirror is not None and answer["journal"]:
            fresh = self.mirror.append(answer["journal"])
            if writer is not None:
                self.keep(fresh, writer)

    def _hear(self, word: FromNode) -> None:
        match word:
            case Looked():
                self.looked = word
            case Seen():
                self.seen = word
            case Made():
                self.made = word
            case GateReady():
                self.ready = word
            case Going(status=status):
                self.status = status
            case Ended():
                self.ended = word
            case Refused(failure=failure):
                self.refused = str(failure.error())
            case Notice(text=text):
                self._listener.notice(f"{self.name}: {text}")

    def keep(self, fresh: Fresh, writer: RunWriter) -> None:
        """Write records that are new, corrected, and show the jobs that ended."""
        fresh = self._written.new(fresh)
        for event in fresh.events:
            corrected = self.correction.event(event)
            if event.event == "gate_released":
                self.gate_after_seconds = corrected.happened_at - self.run_started_at
            writer.event(corrected)
        for step in fresh.steps:
            writer.step(self.correction.step(step))
        for job in fresh.jobs:
            record = self.correction.job(job)
            writer.job(record)
            self._listener.job_ended(record)
        if fresh.samples.num_rows:
            writer.sample_table(self.correction.samples(fresh.samples))

    def part(self) -> NodePart:
        """What is known of the node while it runs."""
        facts = read_facts(self.mirror.path)[0] if self.mirror is not None else None
        run = self._run(self.mirror.path if self.mirror else None)
        if not self.over:
            run = msgspec.structs.replace(run, outcome="running", reason=None)
        return NodePart(run=run, machine=self._machine(), facts=facts)

    def close(self, writer: RunWriter) -> NodePart:
        """Write what the folder holds beyond what came before; the node's part of the merged run.

        Of a folder that is damaged what came before has to do, and the part says so.
        """
        if self.mirror is None:
            return NodePart(run=self._run(None), machine=self._machine())
        self.mirror.close()
        try:
            run = open_run(self.mirror.path)
            rest = self._rest(run)
        except UnreadableRunError as error:
            damaged = msgspec.structs.replace(
                self._run(self.mirror.path), outcome="failed", reason=str(error)
            )
            return NodePart(run=damaged, machine=self._machine())
        self.keep(rest, writer)
        return NodePart(run=self._run(run.path), machine=self._machine(), facts=run.facts)

    def _rest(self, run: Run) -> Fresh:
        """What the node's folder holds; :meth:`keep` leaves out the lines that it wrote before."""
        jobs = run.job_records()
        if self.lost is not None:
            jobs = [
                msgspec.structs.replace(job, reason=f"{self.name} was lost: {self.lost}")
                if job.outcome in ("lost", "not_started")
                else job
                for job in jobs
            ]
        samples = run.samples.slice(self._written.samples)
        return Fresh(events=run.event_records(), jobs=jobs, steps=run.step_records(), samples=samples)

    def close_storage(self, writer: RunWriter) -> StorageRun:
        """The same of a storage server, of which only its samples are kept."""
        return _storage_run(self.close(writer).run, self._devices())

    def storage_run(self) -> StorageRun:
        """What is known of a storage server while it is watched."""
        return _storage_run(self.part().run, self._devices())

    def _devices(self) -> list[str]:
        return self.looked.devices if self.looked else self.task.watch or []

    def _machine(self) -> NodeMachine:
        looked = self.looked
        return NodeMachine(boot_id=looked.boot_id, network=looked.network) if looked else NodeMachine()

    def outcome(self) -> tuple[str, str | None]:
        """How the node went, and why where not well."""
        if self.lost is not None:
            return "lost", self.lost
        if self.ended is not None:
            return self.ended.outcome, self.ended.reason
        if self.refused is not None:
            return "failed", self.refused
        status = self.exit_status
        how = f"killed by signal {-status}" if status is not None and status < 0 else f"exit status {status}"
        last = f": {self.complaints[-1]}" if self.complaints else ""
        return "failed", f"its runner ended without a word ({how}){last}"

    def _run(self, folder: Path | None) -> NodeRun:
        outcome, reason = self.outcome()
        plan = self.task.plan
        return NodeRun(
            node=self.name,
            run_id=self.task.run_id,
            workload=plan.workload,
            sessions=len(plan.sessions),
            jobs=sum(1 for _ in plan.jobs()),
            outcome=outcome,  # type: ignore[arg-type]
            reason=reason,
            folder=None if folder is None else f"{folder.parent.name}/{folder.name}",
            left_behind=self.left_behind,
            clock=self.clock,
            gate_after_seconds=self.gate_after_seconds,
        )


def _storage_run(run: NodeRun, devices: list[str]) -> StorageRun:
    own = {name: getattr(run, name) for name in StorageRun.__struct_fields__ if name != "devices"}
    return StorageRun(devices=devices, **own)
