"""One node as the controller sees it: its state, and the questions to its agent that keep it current."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
from collections.abc import Callable
from pathlib import Path

import msgspec

from mawl.base.errors import MawlError, UnreadableRunError
from mawl.base.removal import remove_tree
from mawl.records.model.node import ClockFacts, NodeRun, StorageRun
from mawl.records.store import Run, open_run
from mawl.records.store.facts import read_facts
from mawl.records.store.files import FACTS, PLAN
from mawl.records.store.folder import RunWriter
from mawl.records.store.tail import Fresh
from mawl.run.cluster.link import (
    NONSENSE,
    Asking,
    Link,
    NoAnswerError,
    NodeGoneError,
    check_copy,
    copy_whole,
    quoted,
)
from mawl.run.cluster.merge import Mirror, NodePart, with_reasons
from mawl.run.cluster.messages import (
    Correction,
    Ended,
    FromNode,
    GateReady,
    InputsReady,
    NodeProgress,
    NodeResources,
    NodeTask,
    Notice,
    Refused,
    ToNode,
    VisibleTokens,
    clock_of,
    from_node,
)
from mawl.run.runner.request import Listener, Status


class _WrittenRecords:
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
                event
                for event in fresh.events
                if self._add("event", event.happened_at, event.event, event.job, event.detail)
            ],
            jobs=[job for job in fresh.jobs if self._add("job", job.job)],
            steps=[step for step in fresh.steps if self._add("step", step.job, step.number)],
            samples=fresh.samples,
        )

    @property
    def jobs(self) -> set[object]:
        return {key[1] for key in self._lines if key[0] == "job"}

    def _add(self, *key: object) -> bool:
        before = len(self._lines)
        self._lines.add(key)
        return len(self._lines) > before


class RemoteNode:
    """The state of a node; ``Attendant`` asks its agent and hands the answers in."""

    def __init__(self, task: NodeTask, listener: Listener) -> None:
        self.task = task
        self.name = task.node
        self.words: list[tuple[int, bytes]] = []
        self.heard = 0
        self.wake = asyncio.Event()
        """Set when there is a word to pass on."""
        self.resources: NodeResources | None = None
        self.visible: VisibleTokens | None = None
        self.inputs_ready: InputsReady | None = None
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
        self.not_copied = ""
        """Why its folder was not copied, in brackets."""
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
        self._written = _WrittenRecords()

    def tell(self, word: ToNode) -> None:
        self.words.append((len(self.words) + 1, msgspec.json.encode(word)))
        self.wake.set()

    def take(self, answer: object, writer: RunWriter | None) -> None:
        """An answer of ``keep``; what the journal got goes to ``writer`` by the controller's clock.

        Raises one of ``NONSENSE`` where it is none that an agent gives.
        """
        kept = msgspec.convert(answer, KeepAnswer)
        for line in kept.said:
            self.heard += 1
            self._hear(from_node(line))
        self.exit_status, self.complaints = kept.exit, kept.complaints
        if kept.stopped is not None and kept.stopped != self._stopped:
            self._listener.notice(
                f"{self.name}: the node's process {kept.stopped} was stopped by a signal, and the run "
                f"waits for it; kill -CONT {kept.stopped} there lets it go on, Ctrl-C ends the run"
            )
        self._stopped = kept.stopped
        if self.mirror is not None and kept.journal:
            fresh = self.mirror.append(kept.journal)
            if writer is not None:
                self.keep(fresh, writer)

    def _hear(self, word: FromNode) -> None:
        match word:
            case NodeResources():
                self.resources = word
            case VisibleTokens():
                self.visible = word
            case InputsReady():
                self.inputs_ready = word
            case GateReady():
                self.ready = word
            case NodeProgress(status=status):
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
        facts = read_facts(self.mirror.path) if self.mirror is not None else None
        run = self._run(self.mirror.path if self.mirror else None)
        if not self.over:
            run = msgspec.structs.replace(run, outcome="running", reason=None)
        return NodePart(run=run, facts=facts)

    @property
    def jobs_written(self) -> set[object]:
        """The jobs, by their names there, that the merged run has."""
        return self._written.jobs

    @property
    def whole(self) -> bool:
        """Whether its run went to its end, and its folder came over."""
        return self.lost is None and self.ended is not None and self.left_behind is None

    def close(self, writer: RunWriter) -> NodePart:
        """Write what the folder holds beyond what came before; the node's part of the merged run.

        Of a folder that is damaged what came before has to do, and the part says so.
        """
        if self.mirror is None:
            return NodePart(run=self._run(None))
        self.mirror.close()
        try:
            run = open_run(self.mirror.path)
            rest = self._rest(run)
        except UnreadableRunError as error:
            damaged = msgspec.structs.replace(
                self._run(self.mirror.path), outcome="failed", reason=str(error)
            )
            return NodePart(run=damaged)
        self.keep(rest, writer)
        return NodePart(run=self._run(run.path), facts=run.facts)

    def _rest(self, run: Run) -> Fresh:
        """What the node's folder holds; ``keep`` leaves out the lines that it wrote before."""
        jobs = run.job_records()
        samples = run.samples.slice(self._written.samples)
        return Fresh(
            events=run.event_records(),
            jobs=with_reasons(jobs, self._run(run.path)),
            steps=run.step_records(),
            samples=samples,
        )

    def close_storage(self, writer: RunWriter) -> StorageRun:
        return _storage_run(self.close(writer).run, self._devices())

    def storage_run(self) -> StorageRun:
        return _storage_run(self.part().run, self._devices())

    def _devices(self) -> list[str]:
        return self.resources.devices if self.resources else self.task.watch or []

    @property
    def _machine(self) -> str | None:
        boot_id = self.resources.boot_id if self.resources else None
        return None if boot_id is None else hashlib.sha256(boot_id.encode()).hexdigest()[:16]

    def outcome(self) -> tuple[str, str | None]:
        if self.lost is not None:
            return "lost", self.lost
        if self.ended is not None and self.left_behind is not None:
            return "failed", f"its run folder was not copied whole: {self.left_behind}{self.not_copied}"
        if self.ended is not None:
            return self.ended.outcome, self.ended.reason
        if self.refused is not None:
            return "failed", self.refused
        status = self.exit_status
        how = f"killed by signal {-status}" if status is not None and status < 0 else f"exit status {status}"
        last = f": {self.complaints[-1]}" if self.complaints else ""
        return "failed", f"its runner ended without a word ({how}){last}"

    def _folder_left(self) -> str | None:
        """The folder that a lost node has kept, as far as it made one."""
        return self.resources.folder if self.lost is not None and self.resources and self.ready else None

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
            whole=self.whole or not self.over,
            folder=None if folder is None else f"{folder.parent.name}/{folder.name}",
            left_behind=self.left_behind or self._folder_left(),
            machine=self._machine,
            network=self.resources.network if self.resources else None,
            clock=self.clock,
            gate_after_seconds=self.gate_after_seconds,
        )


def _storage_run(run: NodeRun, devices: list[str]) -> StorageRun:
    own = {name: getattr(run, name) for name in StorageRun.__struct_fields__ if name != "devices"}
    return StorageRun(devices=devices, **own)


ASK_SECONDS = 5.0
"""How long one question may take; a node that hangs is asked again until its time is up.  A node that was
silent for so long is said to be."""
FEW_EXCHANGES = 8
FORGET_SECONDS = 15.0
MOST_OFFSET_SECONDS = 86_400.0
"""A clock that is off by more is none."""


class KeepAnswer(msgspec.Struct, frozen=True):
    """What ``agent.keep`` gives."""

    said: list[bytes]
    exit: int | None
    complaints: list[str]
    stopped: int | None
    journal: dict[str, bytes]


class Attendant:
    """Asks over a link, by the controller's clocks; after ``timeout_seconds`` of silence a node is lost.

    ``notice`` takes a sentence for people as soon as a node is silent.
    """

    def __init__(
        self,
        link: Link,
        timeout_seconds: float,
        notice: Callable[[str], None],
        *,
        now: Callable[[], float],
        monotonic: Callable[[], float],
    ) -> None:
        self.link, self.timeout_seconds = link, timeout_seconds
        self.now, self.monotonic = now, monotonic
        self._notice = notice
        self._silent: dict[str, str] = {}

    async def begin(self, node: RemoteNode) -> None:
        node.answered = self.monotonic()
        await self.link.ask(node.name, "begin", msgspec.json.encode(node.task), seconds=ASK_SECONDS)

    async def ask(self, node: RemoteNode, writer: RunWriter | None) -> None:
        """One question; no answer for too long, or an agent that is gone, makes the node lost."""
        offsets = node.mirror.offsets if node.mirror is not None else {}
        try:
            answer = await self.link.ask(
                node.name, "keep", node.task.run_id, node.words, node.heard, offsets, seconds=ASK_SECONDS
            )
        except NodeGoneError as error:
            node.lost = str(error)
            return
        except NoAnswerError as error:
            silent = self.monotonic() - node.answered
            if silent >= self.timeout_seconds:
                node.lost = f"no answer for {silent:.0f} s ({error})"
            elif silent >= ASK_SECONDS:
                self._say_silence(node.name, str(error))
            return
        except MawlError as error:
            node.lost = str(error)
            return
        self._silent.pop(node.name, None)
        node.answered = self.monotonic()
        try:
            node.take(answer, writer)
        except NONSENSE as error:
            node.lost = f"it answered what no mawl answers: {quoted(error)}"

    def _say_silence(self, name: str, why: str) -> None:
        """Say once why a node is silent; a scheduler that is stopped silences all nodes, and is said once."""
        if name not in self._silent and why not in self._silent.values():
            self._notice(
                f"{why}; a node stops its jobs after {self.timeout_seconds / 2:g} s of silence and counts as "
                f"lost after {self.timeout_seconds:g} s"
            )
        self._silent[name] = why

    async def take_over(self, node: RemoteNode) -> None:
        """The node's process has ended: the rest of its journal, its clock again, its whole folder."""
        if node.mirror is not None:
            again = await self.clock(node, FEW_EXCHANGES)
            if node.clock is not None and again is not None:
                drift = again.offset_seconds - node.clock.offset_seconds
                node.clock = msgspec.structs.replace(node.clock, drift_seconds=drift)
            copy = node.mirror.begin_copy()
            try:
                asking = Asking(self.link, node.name, max(self.timeout_seconds, ASK_SECONDS), self.monotonic)
                await copy_whole(asking, node.task.run_id, copy)
                ended = node.ended.outcome if node.ended is not None else None
                check_copy(copy, node.task.run_id, ended, node.jobs_written)
                node.mirror.replace(copy)
            except (MawlError, *NONSENSE) as error:
                remove_tree(copy, FACTS)
                node.left_behind = node.resources.folder if node.resources else node.task.folder
                node.not_copied = f" ({quoted(error)})"
        elif node.ready is not None:
            node.left_behind = node.resources.folder if node.resources else node.task.folder
        await self.forget(node, copied=node.mirror is not None and node.left_behind is None)
        node.over = True

    async def forget(self, node: RemoteNode, *, copied: bool = False) -> None:
        """End what is left of the node's process; its folder goes where it was copied."""
        with contextlib.suppress(MawlError):
            await self.link.ask(node.name, "finish", node.task.run_id, copied, seconds=FORGET_SECONDS)

    async def copy_head(self, node: RemoteNode, place: Path) -> None:
        """The beginning of the node's folder, so that its journal may follow."""
        head = [(FACTS, 0), (PLAN, 0)]
        try:
            answer = await self.link.ask(node.name, "pieces", node.task.run_id, head, seconds=ASK_SECONDS)
            facts, plan = msgspec.convert(answer, tuple[bytes, bytes])
            mirror = Mirror(place, facts, plan)
            read_facts(place)
            node.mirror = mirror
        except (NoAnswerError, NodeGoneError):
            pass  # the next question meets that, too
        except (MawlError, *NONSENSE) as error:
            remove_tree(place, FACTS)
            node.lost = f"the beginning of its run folder is none: {quoted(error)}"

    async def clock(self, node: RemoteNode, exchanges: int) -> ClockFacts | None:
        """The node's clock beside the controller's; None where nobody answered."""
        found = []
        for _ in range(exchanges):
            sent = self.now()
            try:
                theirs = await self.link.ask(node.name, "clock", seconds=ASK_SECONDS)
            except (NoAnswerError, NodeGoneError):
                break
            except MawlError as error:
                node.lost = str(error)
                break
            if not isinstance(theirs, float) or not abs(theirs - sent) <= MOST_OFFSET_SECONDS:
                node.lost = f"its clock says {quoted(theirs)}, and the controller's {sent:.0f}"
                return None
            found.append((sent, theirs, self.now()))
        return clock_of(found) if found else None
