"""The interface between the controller and its nodes, over ssh or Dask, and copies of run folders over it."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Collection
from pathlib import Path, PurePosixPath
from typing import Any, Protocol

import msgspec

from mawl.base.errors import MawlError, UnsuitableMachineError
from mawl.base.printable import printable
from mawl.base.units import counted_noun
from mawl.records.store import Run, open_run


class NodeGoneError(MawlError):
    """The node's agent has ended; no later question can be answered."""


class NoAnswerError(MawlError):
    """The node's agent did not answer this time; it may answer the next."""


class Certificates(msgspec.Struct, frozen=True, kw_only=True):
    """TLS files in PEM form: the authority, this end's certificate and its key."""

    authority: Path
    certificate: Path
    key: Path


class Link(Protocol):
    """Calls functions of ``run.cluster.agent`` by their names on a node."""

    async def ask(self, node: str, function: str, *arguments: Any, seconds: float) -> Any:
        """What the function returned.

        Raises ``NodeGoneError``, ``NoAnswerError`` (also after so many ``seconds``), and MawlError
        with the sentence of what the agent raised.
        """


def failed_agent(node: str, kind: str, text: str, module: str | None = None) -> MawlError:
    """The sentence for what the agent raised: the ``kind`` of error, and the ``module`` it did not find."""
    if module is not None:
        return UnsuitableMachineError(
            f"{node} has no module {module}",
            cure="install this version of mawl there, with the extra 'programs', for the Python of the node",
        )
    return MawlError(f"{node}: the agent failed", why=f"{kind}: {text}")


AGAIN_SECONDS = 0.25
PART_OF_TIMEOUT = 1 / 3
"""How long a question may take while a folder is copied; it is asked again until the timeout."""
MOST_QUOTED = 200
NONSENSE = (msgspec.MsgspecError, ValueError, TypeError, KeyError, ArithmeticError)
"""What an answer raises that no agent gives."""


class Asking:
    """Questions about one node's run folder, each asked again for ``seconds`` where no answer comes."""

    def __init__(
        self, link: Link, node: str, seconds: float, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self.node, self.seconds = node, seconds
        self._link, self._monotonic = link, monotonic

    async def answer(self, function: str, *arguments: Any) -> Any:
        """What the agent's function returned; raises as ``Link.ask``."""
        begun = self._monotonic()
        while True:
            try:
                return await self._link.ask(
                    self.node, function, *arguments, seconds=self.seconds * PART_OF_TIMEOUT
                )
            except NoAnswerError:
                if self._monotonic() - begun >= self.seconds:
                    raise
                await asyncio.sleep(AGAIN_SECONDS)


async def copy_whole(asking: Asking, run_id: str, copy: Path) -> None:
    """Copy every file of a node's run folder.

    Raises MawlError where it does not come, or ends early, and one of ``NONSENSE`` for other answers.
    """
    sizes = msgspec.convert(dict(await asking.answer("files", run_id)), dict[str, int])
    for name in sizes:
        path_in_copy(copy, name).touch(mode=0o600)
    wanted = [(name, 0) for name, size in sizes.items() if size]
    while wanted:
        contents = msgspec.convert(await asking.answer("pieces", run_id, wanted), list[bytes])
        if not contents:
            raise MawlError("no piece of its folder came", where=wanted[0][0])
        rest = wanted[len(contents) :]
        for (name, done), content in zip(wanted, contents, strict=False):
            if not content or done + len(content) > sizes[name]:
                raise MawlError(f"{name} ended after {done + len(content)} of {sizes[name]} bytes")
            append_piece(path_in_copy(copy, name), content)
            if done + len(content) < sizes[name]:
                rest.insert(0, (name, done + len(content)))
        wanted = rest


def check_copy(copy: Path, run_id: str, outcome: str | None, jobs: Collection[object]) -> Run:
    """The run in a copy; MawlError where it is not this one, ended otherwise or lacks one of the jobs.

    ``outcome`` is None where the node did not say how it ended.
    """
    try:
        run = open_run(copy, compacting=False)
        own = {job.job for job in run.job_records()}
    except OSError as error:
        raise MawlError(f"the copy cannot be read: {error}") from None
    if run.facts.run_id != run_id or outcome not in (None, run.facts.outcome):
        raise MawlError(f"the copy is of the run {run.facts.run_id}, which {run.facts.outcome}")
    lacking = set(jobs) - own
    if lacking:
        raise MawlError(f"the copy lacks {counted_noun(len(lacking), 'job')}")
    return run


def path_in_copy(folder: Path, name: str) -> Path:
    """Where a file of a node's folder goes in its copy; MawlError for a name that leads out of it."""
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or not path.parts:
        raise MawlError("a node names a file outside its run folder", where=name[:200])
    place = folder.joinpath(*path.parts)
    place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    return place


def append_piece(place: Path, content: bytes) -> None:
    """Add a piece to a file of the copy (0600)."""
    descriptor = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "ab") as file:
        file.write(content)


def quoted(said: object, most: int = MOST_QUOTED) -> str:
    """What a node said, as much as a sentence can hold."""
    return printable(str(said))[:most]
