"""The controller: one run on several nodes, from their first answers to the merged run folder."""

from __future__ import annotations

import asyncio
import contextlib
import resource
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from mawl.base.errors import InterruptedRunError, UnsuitableMachineError
from mawl.base.units import format_bytes
from mawl.plan.needs import TableNeed, tables_of
from mawl.plan.output import nodes_toml
from mawl.plan.run_plan import reference_of
from mawl.records.model.run import Overhead, RunFacts
from mawl.records.spec.program_options import OnLostNode, Role
from mawl.records.store import open_run
from mawl.records.store.files import NODES, PLAN
from mawl.records.store.folder import RunWriter
from mawl.run.cluster.link import Link
from mawl.run.cluster.merge import (
    TOOK_NO_PART,
    NodePart,
    OwnSeries,
    merged,
    outcome_of,
    own_series,
    workload_of,
)
from mawl.run.cluster.messages import (
    EXCHANGES,
    Correction,
    Halt,
    InputShare,
    NodeResources,
    NodeTask,
    OpenGate,
    StartPlan,
    TokenSearch,
    VisibleTokens,
)
from mawl.run.cluster.remote_node import Attendant, RemoteNode
from mawl.run.runner.facts import planned_jobs
from mawl.run.runner.loop import Interrupts
from mawl.run.runner.request import Listener, Status
from mawl.version import __version__, source_sha256

Tokens = Mapping[str, str]
"""Node to the token that it left in its directories."""


def require_shared(
    role: Role, directories: Sequence[str], tokens: Tokens, visible: Mapping[str, VisibleTokens]
) -> None:
    """Refuse where a node does not see what another one wrote into a directory that must be one."""
    for node, places in visible.items():
        for directory, tokens_there in zip(directories, places.places[role], strict=True):
            lacking = [other for other, token in tokens.items() if token not in tokens_there]
            if lacking:
                raise UnsuitableMachineError(
                    f"{node} does not see what {lacking[0]} wrote there, so {role} is not one file system",
                    where=directory,
                    cure=f"mount the same one on all nodes, or leave {role} out of --shared",
                )


def groups(role: Role, tokens: Tokens, visible: Mapping[str, VisibleTokens]) -> list[list[str]]:
    """The nodes by what they see under a role: those of a group see each other in every directory."""
    found: dict[tuple[tuple[str, ...], ...], list[str]] = {}
    known = set(tokens.values())
    for node, places in visible.items():
        view = tuple(tuple(token for token in place if token in known) for place in places.places[role])
        found.setdefault(view, []).append(node)
    return list(found.values())


def check_shared_space(role: Role, nodes: Sequence[str], resources: Mapping[str, NodeResources]) -> None:
    """Refuse where the temporary tables of nodes that share a role do not fit there together."""
    needed = sum(resources[node].needed_bytes[role] for node in nodes)
    free = min(resources[node].free_bytes[role] for node in nodes)
    if needed > free:
        raise UnsuitableMachineError(
            f"the run would not fit: {role} of {', '.join(nodes)} needs {format_bytes(needed)} "
            f"and {format_bytes(free)} are free on the file system that they share",
            cure=f"free space, choose a smaller --scale, or give --{role} larger directories",
        )


def share_out(nodes: Sequence[str], tables: Mapping[str, Sequence[TableNeed]]) -> dict[str, list[TableNeed]]:
    """Each table once, to the node that has least so far of those that read it, the largest first."""
    wanted = {
        need: [node for node in nodes if need in tables[node]] for node in nodes for need in tables[node]
    }
    load = dict.fromkeys(nodes, 0)
    parts: dict[str, list[TableNeed]] = {node: [] for node in nodes}
    for need in sorted(wanted, key=lambda one: (-one.bytes, one)):
        node = min(wanted[need], key=lambda one: load[one])
        parts[node].append(need)
        load[node] += need.bytes
    return {node: part for node, part in parts.items() if part}


EARLY_SECONDS, LATE_SECONDS = 0.25, 2.0
"""Between two questions to a node: until the gate opens, and while jobs run."""
LEAD_SECONDS = 1.0
"""From the word to the nodes until the moment at which their gates open."""
ASKED_IN_TIMEOUT = 8
"""So often at least a node is asked in its timeout, half of which is its lease."""
CLOCKS_AT_ONCE = 4
WORD_SECONDS = 10.0
"""Between two words on the screen about nodes for which a run waits."""
GATE_TIMEOUTS, LEAST_GATE_SECONDS = 10, 300.0
"""How long nodes wait for another at the gate: so many timeouts, and at least so many seconds."""


class ClusterRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What a run on several nodes is asked to be; ``shared`` are the roles that must be one file system.

    ``absent`` are nodes that it goes on without, and why.
    ``storage`` are servers that are watched (their tasks have ``watch``), ``link_bytes_per_second`` what a
    node's link to them carries each way.
    """

    run_id: str
    folder: Path
    tasks: list[NodeTask]
    storage: list[NodeTask] = []
    link_bytes_per_second: float | None = None
    shared: tuple[Role, ...] = ("data",)
    on_lost_node: OnLostNode = "continue"
    node_timeout_seconds: float = 30.0
    command: list[str] = []
    runs: Path | None = None
    absent: dict[str, str] = {}


class Controller:
    """Conducts one request over a link; ``now`` and ``monotonic`` are its clocks."""

    def __init__(
        self,
        request: ClusterRequest,
        link: Link,
        listener: Listener,
        interrupts: Interrupts,
        *,
        now: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self.request, self.listener, self.interrupts = request, listener, interrupts
        self.now = now
        self.attendant = Attendant(
            link, request.node_timeout_seconds, listener.notice, now=now, monotonic=monotonic
        )
        self.nodes = [RemoteNode(task, listener) for task in request.tasks]
        self.by_name = {node.name: node for node in self.nodes}
        self.storage = [RemoteNode(task, listener) for task in request.storage]
        self.every = [*self.nodes, *self.storage]
        self.writer: RunWriter | None = None
        self._changed = asyncio.Event()
        self._level = 0
        self._pause_seconds = EARLY_SECONDS
        self._startup_cpu_seconds: float | None = None
        self._trouble: BaseException | None = None

    async def conduct(self) -> RunFacts:
        """The final facts, which are in the folder, too.

        Raises MawlError where the nodes cannot begin (nothing is left on them then), and OSError where the
        run folder cannot be written any more; the nodes are stopped first.
        """
        loop = asyncio.get_running_loop()
        loop.add_reader(self.interrupts.fileno(), self._interrupted)
        attending: list[asyncio.Task[None]] = []
        try:
            for node in self.every:
                await self.attendant.begin(node)
            attending = [asyncio.create_task(self._attend(node)) for node in self.every]
            await self._prepare()
            facts = self._facts()
            self.writer = RunWriter(
                self.request.folder,
                facts,
                plan=nodes_toml({node.name: f"{NODES}/{node.name}/{PLAN}" for node in self.nodes}),
                runs=self.request.runs,
            )
            with self.writer:
                (self.request.folder / NODES).mkdir(mode=0o700)
                return await self._run(self.writer, facts)
        finally:
            loop.remove_reader(self.interrupts.fileno())
            for task in attending:
                task.cancel()
            await asyncio.gather(*attending, return_exceptions=True)
            await asyncio.gather(*(self.attendant.forget(node) for node in self.every if not node.over))

    # -- before the gate ------------------------------------------------------------------------

    async def _prepare(self) -> None:
        self.listener.notice(f"{len(self.nodes)} nodes: {', '.join(self.by_name)}")
        if self.storage:
            self.listener.notice(f"storage: {', '.join(node.name for node in self.storage)}")
        await self._all(lambda node: node.resources is not None, "it makes its directories", self.every)
        for node in self.every:
            if node.resources is not None and node.resources.warning is not None:
                self.listener.notice(f"warning: {node.name}: {node.resources.warning}")
        for node in self.nodes:
            node.tell(TokenSearch())
        await self._all(lambda node: node.visible is not None, "it looks for the files of the other nodes")
        visible = {node.name: node.visible for node in self.nodes if node.visible is not None}
        resources = {node.name: node.resources for node in self.nodes if node.resources is not None}
        tokens = {node.name: node.task.run_id for node in self.nodes}
        for role in self.request.shared:
            require_shared(role, self.nodes[0].task.spec.directories()[role], tokens, visible)
        for role in ("work", "util"):
            for group in groups(role, tokens, visible):
                check_shared_space(role, group, resources)
        await self._make_inputs(groups("data", tokens, visible))

    async def _make_inputs(self, by_data: Iterable[list[str]]) -> None:
        """Nodes that share data make each table once, all of them together."""
        tables = {node.name: tables_of(node.task.plan) for node in self.nodes}
        parts = {name: part for group in by_data for name, part in share_out(group, tables).items()}
        for name, part in parts.items():
            self.by_name[name].tell(InputShare(part))
        await self._all(
            lambda node: node.inputs_ready is not None or node.name not in parts, "it makes inputs"
        )

    async def _all(
        self, so: Callable[[RemoteNode], bool], doing: str, nodes: Sequence[RemoteNode] | None = None
    ) -> None:
        """Wait until it is so on every node; a node that refuses or is lost before the run ends it."""
        spoke = self.attendant.monotonic()
        while waiting := [node for node in nodes or self.nodes if not so(node)]:
            for node in waiting:
                if node.over:
                    raise UnsuitableMachineError(f"{node.name}: {node.outcome()[1]}")
            if self._level:
                raise InterruptedRunError("interrupted before the jobs began")
            spoke = self._say_waiting(waiting, doing, spoke)
            await self._change()

    def _say_waiting(self, nodes: Sequence[RemoteNode], doing: str, spoke: float) -> float:
        """Say every ``WORD_SECONDS`` for which nodes the run waits; when it spoke last."""
        now = self.attendant.monotonic()
        if now - spoke < WORD_SECONDS:
            return spoke
        self.listener.notice(f"waiting for {', '.join(node.name for node in nodes)}: {doing}")
        return now

    def _facts(self) -> RunFacts:
        plans = {node.name: node.task.plan for node in self.nodes}
        first = self.nodes[0].task
        file = None if first.spec.reference is None else Path(first.spec.reference)
        references = {name: reference_of(plan, file) for name, plan in plans.items()}
        return RunFacts(
            run_id=self.request.run_id,
            kind="measured",
            mawl_version=__version__,
            source_sha256=source_sha256(),
            workload=workload_of(plans),
            outcome="running",
            started_at=self.now(),
            command=self.request.command,
            spec=first.spec,
            start_mode=first.spec.start,
            on_failure=first.spec.on_failure,
            planned_jobs=[
                msgspec.structs.replace(job, job=Correction(name, 0.0).name(job.job))
                for name, plan in plans.items()
                for job in planned_jobs(plan, name, references[name][1])
            ],
            reference=references[self.nodes[0].name][0],
            roles={role: list(places) for role, places in first.spec.directories().items()},
            remarks=[f"{name} {TOOK_NO_PART}: {why}" for name, why in self.request.absent.items()],
            link_bytes_per_second=self.request.link_bytes_per_second,
        )

    # -- the run --------------------------------------------------------------------------------

    async def _run(self, writer: RunWriter, facts: RunFacts) -> RunFacts:
        for node in self.every:
            node.run_started_at = facts.started_at
            node.tell(StartPlan())
        first = self.nodes[0].task
        self.listener.launching(first.spec.start, facts.workload.gate_jobs or 0)
        await self._gate()
        await self._copy_heads()
        await self._read_clocks()
        parts = self._parts()
        waiting = [node for node in self.every if not node.over]
        for node in waiting:
            assert node.clock is not None, "a node is asked for its clock until it is lost"
            offset = node.clock.offset_seconds
            own = own_series(parts, node.name) if node in self.nodes else OwnSeries()
            node.correction = Correction(node.name, offset, own.left_out, own.kept)
        facts = msgspec.structs.replace(facts, storage_runs=[node.storage_run() for node in self.storage])
        writer.update(merged(facts, parts, Overhead()))
        self._startup_cpu_seconds = time.process_time()
        moment = self.now() + LEAD_SECONDS
        for node in waiting:
            node.tell(OpenGate(moment + node.correction.offset_seconds))
        self._pause_seconds = min(LATE_SECONDS, self.request.node_timeout_seconds / ASKED_IN_TIMEOUT)
        while not all(node.over for node in self.nodes):
            await self._change()
            self._show()
        for node in self.storage:
            node.tell(Halt(1))
        while not all(node.over for node in self.storage):
            await self._change()
        return self._finish(writer, facts)

    async def _gate(self) -> None:
        """Wait until the jobs of every node are ready; one that is not long after the first is lost."""
        spoke, first = self.attendant.monotonic(), None
        limit = max(GATE_TIMEOUTS * self.request.node_timeout_seconds, LEAST_GATE_SECONDS)
        while waiting := [node for node in self.every if node.ready is None and not node.over]:
            now = self.attendant.monotonic()
            if first is None and any(node.ready is not None for node in self.nodes):
                first = now
            if first is not None and now - first >= limit:
                for node in waiting:
                    node.lost = f"its jobs were not ready {limit:.0f} s after those of the first node"
            spoke = self._say_waiting(waiting, "its jobs are not ready", spoke)
            await self._change()

    async def _copy_heads(self) -> None:
        """The beginnings of the nodes' folders; a node that does not answer is asked until it is lost."""
        for node in self.every:
            while node.mirror is None and not node.over:
                await self.attendant.copy_head(node, self.request.folder / NODES / node.name)
                if node.mirror is None:
                    await asyncio.sleep(EARLY_SECONDS)

    async def _read_clocks(self) -> None:
        few = asyncio.Semaphore(CLOCKS_AT_ONCE)

        async def read(node: RemoteNode) -> None:
            while node.clock is None and not node.over:
                async with few:
                    node.clock = await self.attendant.clock(node, EXCHANGES)
                if node.clock is None:
                    await asyncio.sleep(EARLY_SECONDS)

        await asyncio.gather(*(read(node) for node in self.every))

    def _parts(self) -> list[NodePart]:
        return [node.part() for node in self.nodes]

    async def _attend(self, node: RemoteNode) -> None:
        try:
            while not node.over:
                node.wake.clear()  # a word that is told during the question is for the next, which it wakes
                await self.attendant.ask(node, self.writer)
                node.over = node.over or node.lost is not None
                if node.exit_status is not None and not node.over:
                    await self.attendant.take_over(node)
                self._judge(node)
                self._changed.set()
                if not node.over:
                    with contextlib.suppress(TimeoutError):
                        await asyncio.wait_for(node.wake.wait(), self._pause_seconds)
        except Exception as error:  # whatever it is, the run must not wait for this node for ever
            self._trouble = error
            self._changed.set()

    def _judge(self, node: RemoteNode) -> None:
        if not node.over or self.writer is None:
            return
        outcome, reason = node.outcome()
        if outcome == "lost":
            self.listener.notice(f"{node.name} was lost: {reason}")
        elif outcome == "failed" and node.ended is None:
            self.listener.notice(f"{node.name}: {reason}")
        if node in self.storage:
            return
        if outcome == "aborted" or (self.request.on_lost_node == "stop" and node.ended is None):
            for other in self.nodes:
                if not other.over and other is not node:
                    other.tell(Halt(2))

    async def _change(self) -> None:
        """Wait for something new; raises what kept a node from being attended to."""
        await self._changed.wait()
        self._changed.clear()
        if self._trouble is not None:
            raise self._trouble

    def _interrupted(self) -> None:
        self.interrupts.drain()
        if self.interrupts.level > self._level:
            self._level = self.interrupts.level
            for node in self.nodes:
                if not node.over:
                    node.tell(Halt(self._level))
            self._changed.set()

    def _show(self) -> None:
        known = [node.status for node in self.nodes if node.status is not None]
        if known:
            totals = {
                name: sum(getattr(status, name) for status in known)
                for name in Status.__struct_fields__
                if name != "elapsed_seconds"
            }
            self.listener.status(
                Status(elapsed_seconds=max(status.elapsed_seconds for status in known), **totals)
            )

    # -- the end --------------------------------------------------------------------------------

    def _finish(self, writer: RunWriter, facts: RunFacts) -> RunFacts:
        parts = [node.close(writer) for node in self.nodes]
        watched = [node.close_storage(writer) for node in self.storage]
        own = resource.getrusage(resource.RUSAGE_SELF)
        facts = merged(
            msgspec.structs.replace(facts, storage_runs=watched),
            parts,
            Overhead(
                cpu_seconds=own.ru_utime + own.ru_stime,
                startup_cpu_seconds=self._startup_cpu_seconds,
                peak_memory_bytes=own.ru_maxrss * 1024,
            ),
        )
        outcome, reason = outcome_of([part.run for part in parts])
        if self.interrupts.level:
            outcome, reason = "interrupted", f"stopped by {self.interrupts.name}"
        facts = msgspec.structs.replace(facts, outcome=outcome, outcome_reason=reason, ended_at=self.now())
        writer.finish(facts)
        return open_run(self.request.folder).facts
