"""What controller and nodes say to each other: JSON lines, one word each.

The controller's words reach the node's process through its agent (:mod:`mawl.cluster.agent`); an empty
line between them says that the controller lives.
"""

from __future__ import annotations

import msgspec

from mawl.model.records import RunOutcome
from mawl.plan.needs import TableNeed
from mawl.plan.workload import Plan
from mawl.runner.request import Status
from mawl.spec.answer import TaskFailure
from mawl.spec.program_options import Role
from mawl.spec.record import RunSpec


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
    watch: list[str] | None = None
    """Not None: a storage server, which runs nothing; its collectors watch these block devices, and all."""


class Seek(msgspec.Struct, frozen=True, tag="seek"):
    """Every node has put its token into the directories of its roles: which ones are to be seen?"""


class Make(msgspec.Struct, frozen=True, tag="make"):
    """Make these input tables, the node's part of what all nodes read."""

    tables: list[TableNeed]


class Carry(msgspec.Struct, frozen=True, tag="carry"):
    """The inputs are there: carry the plan out, up to the gate."""


class Open(msgspec.Struct, frozen=True, tag="open"):
    """Open the gate at this moment of the node's own clock (seconds since the epoch)."""

    at: float


class Halt(msgspec.Struct, frozen=True, tag="halt"):
    """Level 1: start nothing more; level 2: stop the jobs now."""

    level: int


ToNode = Seek | Make | Carry | Open | Halt


class Looked(msgspec.Struct, frozen=True, kw_only=True, tag="looked"):
    """The node has what it needs; ``boot_id`` and ``network`` (the namespace) tell nodes of one machine.

    ``needed_bytes`` and ``free_bytes`` are of its roles; ``devices`` what a storage server watches, by the
    kernel's names.
    """

    mawl_version: str
    folder: str
    boot_id: str | None = None
    network: str | None = None
    warning: str | None = None
    needed_bytes: dict[Role, int] = {}
    free_bytes: dict[Role, int] = {}
    devices: list[str] = []


class Seen(msgspec.Struct, frozen=True, tag="seen"):
    """The nodes whose tokens lie in each directory of each role, in the order of the directories."""

    places: dict[Role, list[list[str]]]


class Made(msgspec.Struct, frozen=True, tag="made"):
    """The node's part of the inputs is made."""


class GateReady(msgspec.Struct, frozen=True, tag="ready"):
    """The jobs of the gate are ready and wait."""

    jobs: int


class Going(msgspec.Struct, frozen=True, tag="going"):
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


FromNode = Looked | Seen | Made | GateReady | Going | Notice | Ended | Refused

_TO_NODE: msgspec.json.Decoder[ToNode] = msgspec.json.Decoder(ToNode)
_FROM_NODE: msgspec.json.Decoder[FromNode] = msgspec.json.Decoder(FromNode)


def to_node(line: bytes) -> ToNode:
    """A word of the controller; ValueError for anything else."""
    return _TO_NODE.decode(line)


def from_node(line: bytes) -> FromNode:
    """A word of a node; ValueError for anything else."""
    return _FROM_NODE.decode(line)
