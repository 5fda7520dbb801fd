"""Messages between controller and nodes (JSON lines), and the correction of a node's times and names.

The controller's messages reach the node's process through its agent (``run.cluster.agent``); an empty
line between them says that the controller lives.

One clock exchange: the controller's time, the node's, the controller's again.  The node's clock was read at
some moment of the round trip, so the middle of it errs by at most half of it (RFC 5905 section 8 has the
same bound); the shortest of several exchanges is kept.
"""

from __future__ import annotations

import contextlib
import functools
import os
import queue
import select
import signal
import threading
import time
from collections.abc import Callable, Sequence

import msgspec
import pyarrow as pa
from pyarrow import compute

from mawl.plan.needs import TableNeed
from mawl.plan.workload import Plan
from mawl.records.model.node import ClockFacts
from mawl.records.model.records import EventRecord, JobRecord, RunOutcome, StepRecord
from mawl.records.spec.program_options import Role
from mawl.records.spec.run_spec import RunSpec
from mawl.records.spec.task import TaskFailure
from mawl.run.runner.request import Opening, Status


class NodeTask(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that decides what a node does: ``spec`` is that of the whole run, its places absolute;
    ``run_id`` is the node's own, ``folder`` absolute or below the directory that its agent runs in.  Without
    a word for ``lease_seconds`` the node stops by itself."""

    run_id: str
    node: str
    plan: Plan
    spec: RunSpec = RunSpec()
    folder: str
    lease_seconds: float
    command: list[str] = []
    workload: str = ""
    """Whose values of variables the plan lacks: where the node sees that file it takes them from there."""
    watch: list[str] | None = None
    """Not None: a storage server, which runs nothing; its collectors watch these block devices, and all."""


class TokenSearch(msgspec.Struct, frozen=True, tag="seek"):
    """Every node has put its token into the directories of its roles: which ones are to be seen?"""


class InputShare(msgspec.Struct, frozen=True, tag="make"):
    """Make these input tables, the node's part of what all nodes read."""

    tables: list[TableNeed]


class StartPlan(msgspec.Struct, frozen=True, tag="carry"):
    """The inputs are there: carry the plan out, up to the gate."""


class OpenGate(msgspec.Struct, frozen=True, tag="open"):
    """Open the gate at this moment of the node's own clock (seconds since the epoch)."""

    at: float


class Halt(msgspec.Struct, frozen=True, tag="halt"):
    """Level 1: start nothing more; level 2: stop the jobs now."""

    level: int


ToNode = TokenSearch | InputShare | StartPlan | OpenGate | Halt


class NodeResources(msgspec.Struct, frozen=True, kw_only=True, tag="looked"):
    """The node has what it needs; ``boot_id`` and ``network`` (the namespace) tell nodes of one machine.

    ``needed_bytes`` and ``free_bytes`` are of its roles; ``devices`` what a storage server watches, by the
    kernel's names.
    """

    folder: str
    boot_id: str | None = None
    network: str | None = None
    warning: str | None = None
    needed_bytes: dict[Role, int] = {}
    free_bytes: dict[Role, int] = {}
    devices: list[str] = []


class VisibleTokens(msgspec.Struct, frozen=True, tag="seen"):
    """The nodes whose tokens lie in each directory of each role, in the order of the directories."""

    places: dict[Role, list[list[str]]]


class InputsReady(msgspec.Struct, frozen=True, tag="made"):
    """The node's part of the inputs is made."""


class GateReady(msgspec.Struct, frozen=True, tag="ready"):
    """The jobs of the gate are ready and wait."""

    jobs: int


class NodeProgress(msgspec.Struct, frozen=True, tag="going"):
    """How far the node is."""

    status: Status


class Notice(msgspec.Struct, frozen=True, tag="notice"):
    """Something the user should read."""

    text: str


class Ended(msgspec.Struct, frozen=True, tag="ended"):
    """The node's run is over and its folder whole."""

    outcome: RunOutcome
    reason: str | None


class Refused(msgspec.Struct, frozen=True, tag="refused"):
    """The node cannot go on, and its error says why."""

    failure: TaskFailure


FromNode = NodeResources | VisibleTokens | InputsReady | GateReady | NodeProgress | Notice | Ended | Refused

_TO_NODE: msgspec.json.Decoder[ToNode] = msgspec.json.Decoder(ToNode)
_FROM_NODE: msgspec.json.Decoder[FromNode] = msgspec.json.Decoder(FromNode)


def to_node(line: bytes) -> ToNode:
    """A word of the controller; ValueError for anything else."""
    return _TO_NODE.decode(line)


def from_node(line: bytes) -> FromNode:
    """A word of a node; ValueError for anything else."""
    return _FROM_NODE.decode(line)


Exchange = tuple[float, float, float]
"""Sent and answered by the controller's clock, with the node's between them; seconds."""

EXCHANGES = 16


def clock_of(exchanges: Sequence[Exchange]) -> ClockFacts:
    """Offset and error of the shortest round trip."""
    sent, node, answered = min(exchanges, key=lambda exchange: exchange[2] - exchange[0])
    return ClockFacts(
        offset_seconds=node - (sent + answered) / 2,
        error_seconds=(answered - sent) / 2,
        exchanges=len(exchanges),
    )


class Correction:
    """One node's records as the merged run has them: by the controller's clock, jobs under the node's name.

    ``left_out`` and ``kept`` are those of ``OwnSeries``.
    """

    def __init__(
        self, node: str, offset_seconds: float, left_out: Sequence[str] = (), kept: Sequence[str] = ()
    ) -> None:
        self.node, self.offset_seconds = node, offset_seconds
        self.left_out, self.kept = tuple(left_out), tuple(kept)

    def name(self, job: str) -> str:
        return f"{self.node}.{job}"

    def at(self, moment: float | None) -> float | None:
        return None if moment is None else moment - self.offset_seconds

    def job(self, record: JobRecord) -> JobRecord:
        return msgspec.structs.replace(
            record,
            job=self.name(record.job),
            node=self.node,
            ready_at=self.at(record.ready_at),
            started_at=self.at(record.started_at),
            ended_at=self.at(record.ended_at),
        )

    def step(self, record: StepRecord) -> StepRecord:
        return msgspec.structs.replace(
            record,
            job=self.name(record.job),
            started_at=self.at(record.started_at),
            ended_at=self.at(record.ended_at),
        )

    def event(self, record: EventRecord) -> EventRecord:
        """An event; one of the node as a whole names it in its detail."""
        detail = record.detail
        if record.job is None:
            detail = f"{self.node}: {detail}" if detail else self.node
        return msgspec.structs.replace(
            record,
            happened_at=record.happened_at - self.offset_seconds,
            job=None if record.job is None else self.name(record.job),
            detail=detail,
        )

    def samples(self, table: pa.Table) -> pa.Table:
        """Samples, without those that the merged run takes from another node."""
        if self.left_out and table.num_rows:
            series = table.column("series")
            drop = _starts_with_any(series, self.left_out)
            if self.kept:
                drop = compute.and_not(drop, _starts_with_any(series, self.kept))
            table = table.filter(compute.invert(drop))
        moments = table.column("sampled_at")
        shift = pa.scalar(round(self.offset_seconds * 1e6), pa.duration("us"))
        place = table.schema.get_field_index("sampled_at")
        return table.set_column(place, table.schema.field(place), compute.subtract(moments, shift))


def _starts_with_any(series: pa.ChunkedArray, beginnings: Sequence[str]) -> pa.ChunkedArray:
    return functools.reduce(compute.or_, (compute.starts_with(series, one) for one in beginnings))


LAST_RESORT_SECONDS = 20.0
"""After a stop that nobody could carry out (a file system that hangs) everything is killed."""


class AgentConnection:
    """Two descriptors of pipes; a thread reads one of them and keeps the lease.

    When the controller has not been heard for ``lease_seconds``, or the agent is gone (end of file), the
    process tells itself SIGTERM, which stops its jobs, and after ``LAST_RESORT_SECONDS`` more
    ``last_resort`` is called.
    """

    def __init__(self, read: int, write: int, last_resort: Callable[[], None]) -> None:
        self._read, self._write = read, write
        self._last_resort = last_resort
        self._buffer = b""
        self.words: queue.Queue[ToNode] = queue.Queue()
        self.open_at: float | None = None
        os.set_blocking(write, False)
        # Not select(2), which takes no descriptor from 1024 on.
        self._readable, self._writable = select.poll(), select.poll()
        self._readable.register(read, select.POLLIN)
        self._writable.register(write, select.POLLOUT)

    def first(self) -> bytes:
        """The first line, which is the task; empty where the agent was gone before it."""
        while b"\n" not in self._buffer:
            chunk = os.read(self._read, 65536)
            if not chunk:
                return b""
            self._buffer += chunk
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line

    def listen(self, lease_seconds: float) -> None:
        threading.Thread(target=self._listen, args=(lease_seconds,), daemon=True).start()

    def word(self) -> ToNode:
        """The next word but gates and halts; waits for it, and lets signals in."""
        while True:
            with contextlib.suppress(queue.Empty):
                return self.words.get(timeout=0.5)

    def say(self, word: FromNode) -> None:
        """Say a word; a status that finds the pipe full is dropped, since the next is as good."""
        line = memoryview(msgspec.json.encode(word) + b"\n")
        with contextlib.suppress(BrokenPipeError):
            while line:
                try:
                    line = line[os.write(self._write, line) :]
                except BlockingIOError:
                    if isinstance(word, NodeProgress):
                        return
                    self._writable.poll(1000.0)

    def _listen(self, lease_seconds: float) -> None:
        heard = time.monotonic()
        while True:
            left = heard + lease_seconds - time.monotonic()
            if left <= 0 or not self._take(left):
                break
            heard = time.monotonic()
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(LAST_RESORT_SECONDS)
        self._last_resort()

    def _take(self, seconds: float) -> bool:
        """Take what comes within so many seconds; False when nothing did, or the agent is gone."""
        if b"\n" not in self._buffer:
            if not self._readable.poll(seconds * 1000.0):
                return False
            chunk = os.read(self._read, 65536)
            if not chunk:
                return False
            self._buffer += chunk
        *lines, self._buffer = self._buffer.split(b"\n")
        for line in lines:
            if line:
                self._obey(to_node(line))
        return True

    def _obey(self, word: ToNode) -> None:
        if isinstance(word, Halt):
            os.kill(os.getpid(), signal.SIGINT if word.level == 1 else signal.SIGTERM)
        elif isinstance(word, OpenGate):
            self.open_at = word.at
        else:
            self.words.put(word)


class AgreedOpening(Opening):
    """The gate of a node: it says that it is ready, and opens at the moment it is told."""

    def __init__(self, line: AgentConnection, now: Callable[[], float]) -> None:
        self._line, self._now = line, now

    def ready(self, jobs: int) -> None:
        self._line.say(GateReady(jobs))

    def pause_seconds(self) -> float | None:
        at = self._line.open_at
        return None if at is None else max(at - self._now(), 0.0)
