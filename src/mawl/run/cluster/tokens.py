"""Tokens that nodes put into the directories of their roles, and those that a killed node left there.

A token says whose it is: only the machine that wrote it can tell that nobody will take it away any more.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from pathlib import Path

import msgspec

from mawl.base.foreign import read_regular
from mawl.measure.machine import read_machine
from mawl.measure.processes import started_ticks

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
