"""What a node is before a run: its mawl and user, processors, memory and the file systems of the roles."""

from __future__ import annotations

import os
import platform
import socket
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from mawl.measure.devices import NETWORK_FILE_SYSTEMS
from mawl.measure.machine import read_machine
from mawl.measure.processes import user_of
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
