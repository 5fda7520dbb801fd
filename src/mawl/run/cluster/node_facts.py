"""What a node is before a run, and the tokens that nodes put into the directories of their roles.

A token says whose it is: only the machine that wrote it can tell that nobody will take it away any more.
"""

from __future__ import annotations

import contextlib
import os
import platform
import socket
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from mawl.base.foreign import read_regular
from mawl.measure.devices import NETWORK_FILE_SYSTEMS
from mawl.measure.machine import read_machine
from mawl.measure.processes import started_ticks, user_of
from mawl.measure.space import FileSystem, ephemeral_storage, file_systems
from mawl.measure.suitability import SuitabilityCheck, libraries, library_checks, why_cached
from mawl.records.spec.program_options import Role
from mawl.records.volumes import INPUTS
from mawl.version import __version__, source_sha256


class NodeLook(msgspec.Struct, frozen=True, kw_only=True):
    """A node as its own process sees it; ``cached_reason`` is why ``--cache none`` cannot hold there.

    Nodes with the same ``boot_id`` are one machine.  ``libraries`` are names and versions, ``lacking`` says
    what is missing of them, and ``closed`` why this user may not use the inputs of some directories.
    """

    mawl_version: str
    source_sha256: str
    python: str
    host: str
    user: str
    uid: int
    libraries: list[str]
    lacking: list[SuitabilityCheck] = []
    closed: list[str] = []

    cpu_model: str | None
    cores: int
    memory_bytes: int
    boot_id: str | None
    systems: list[FileSystem]
    cached_reason: str | None = None

    def is_shared(self, system: FileSystem) -> bool:
        """Whether a file system is behind a network, so that other nodes may have the same."""
        return system.kind in NETWORK_FILE_SYSTEMS


def look_here(roles: Mapping[Role, Sequence[str]]) -> NodeLook:
    """The look at this machine, for the controller."""
    places = {role: [Path(place) for place in named] for role, named in roles.items()}
    machine = read_machine()
    return NodeLook(
        mawl_version=__version__,
        source_sha256=source_sha256(),
        python=platform.python_version(),
        host=socket.gethostname(),
        user=user_of(Path("/proc/self")).removeprefix("user "),
        uid=os.geteuid(),
        libraries=libraries(),
        lacking=[check for check in library_checks() if check.status != "ok"],
        closed=list(_closed(places.get("data", []))),
        cpu_model=machine.cpu_model,
        cores=machine.available_cores or 1,
        memory_bytes=machine.binding_memory_limit or machine.memory_bytes or 0,
        boot_id=machine.boot_id,
        systems=[*file_systems(places, None), *ephemeral_storage(places, None)],
        cached_reason=why_cached(places, os.environ),
    )


def _closed(data: Sequence[Path]) -> Iterator[str]:
    """Why inputs that lie there already cannot be used, such as those that only another user may."""
    for place in data:
        inputs = place / INPUTS
        try:
            if not os.access(inputs, os.R_OK | os.W_OK | os.X_OK) and inputs.exists():
                yield f"{user_of(Path('/proc/self'))} may not use {inputs} of {user_of(inputs)}"
        except OSError as error:
            yield f"{inputs} cannot be used: {(error.strerror or str(error)).lower()}"


PREFIX = ".mawl-node-"
LARGEST_BYTES = 2**16


class Owner(msgspec.Struct, frozen=True, kw_only=True):
    """The process of a node: its machine's start, its number in which namespace, and when it began."""

    boot_id: str | None
    pid_namespace: str
    pid: int
    started_ticks: int | None


def own_token() -> bytes:
    """What this process writes into its tokens."""
    pid = os.getpid()
    owner = Owner(
        boot_id=read_machine().boot_id,
        pid_namespace=_pid_namespace(),
        pid=pid,
        started_ticks=started_ticks(pid),
    )
    return msgspec.json.encode(owner) + b"\n"


def leftover_tokens(places: Iterable[Path]) -> list[Path]:
    """Tokens in directories whose process was of this start of this machine, and is gone.

    One of another machine, start or container stays: it is not for this one to say.  So does a file that is
    no token.
    """
    found = []
    boot_id, namespace = read_machine().boot_id, _pid_namespace()
    for place in dict.fromkeys(places):
        for token in sorted(place.glob(f"{PREFIX}*")):
            with contextlib.suppress(OSError, ValueError, RecursionError):
                owner = msgspec.json.decode(read_regular(token, LARGEST_BYTES, inside=place), type=Owner)
                here = (owner.boot_id, owner.pid_namespace) == (boot_id, namespace)
                if here and started_ticks(owner.pid) != owner.started_ticks:
                    found.append(token)
    return found


def _pid_namespace() -> str:
    return str(Path("/proc/self/ns/pid").readlink())
