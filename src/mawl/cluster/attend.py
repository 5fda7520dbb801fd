"""Attending to one node: asking its agent again and again, reading its clock, copying its run folder."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path

import msgspec

from mawl.cluster.clock import clock_of
from mawl.cluster.link import Link, NoAnswerError, NodeGoneError
from mawl.cluster.mirror import Mirror, append_to, place_of
from mawl.cluster.node import RemoteNode
from mawl.errors import MawlError
from mawl.model.cluster import ClockFacts
from mawl.store.folder import RunWriter
from mawl.store.layout import FACTS, PLAN

ASK_SECONDS = 5.0
"""How long one question may take; a node that hangs is asked again until its time is up.  A node that was
silent for so long is said to be."""
FEW_EXCHANGES = 8
FORGET_SECONDS = 15.0


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
        """Start the node's process."""
        node.answered = self.monotonic()
        await self.link.ask(node.name, "begin", msgspec.json.encode(node.task), seconds=ASK_SECONDS)

    async def ask(self, node: RemoteNode, writer: RunWriter | None) -> None:
        """One question; no answer for too long, or a worker that is gone, makes the node lost."""
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
        self._silent.pop(node.name, None)
        node.answered = self.monotonic()
        node.take(answer, writer)

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
            try:
                await self._copy(node, node.mirror)
            except (NoAnswerError, NodeGoneError) as error:
                node.left_behind = f"{node.looked.folder if node.looked else node.task.folder} ({error})"
        elif node.ready is not None:
            node.left_behind = node.looked.folder if node.looked else node.task.folder
        await self.forget(node, copied=node.mirror is not None and node.left_behind is None)
        node.over = True

    async def _copy(self, node: RemoteNode, mirror: Mirror) -> None:
        run_id, seconds = node.task.run_id, max(self.timeout_seconds, ASK_SECONDS)
        copy = mirror.begin_copy()
        sizes = dict(await self.link.ask(node.name, "files", run_id, seconds=seconds))
        for name in sizes:
            place_of(copy, name).touch(mode=0o600)
        wanted = [(name, 0) for name, size in sizes.items() if size]
        while wanted:
            contents = await self.link.ask(node.name, "pieces", run_id, wanted, seconds=seconds)
            rest = wanted[len(contents) :]
            for (name, done), content in zip(wanted, contents, strict=False):
                if not content:
                    raise NoAnswerError(f"{name} ended after {done} of {sizes[name]} bytes")
                append_to(place_of(copy, name), content)
                if done + len(content) < sizes[name]:
                    rest.insert(0, (name, done + len(content)))
            wanted = rest
        mirror.replace(copy)

    async def forget(self, node: RemoteNode, *, copied: bool = False) -> None:
        """End what is left of the node's process; its folder goes where it was copied."""
        with contextlib.suppress(MawlError):
            await self.link.ask(node.name, "finish", node.task.run_id, copied, seconds=FORGET_SECONDS)

    async def copy_head(self, node: RemoteNode, place: Path) -> None:
        """The beginning of the node's folder, so that its journal may follow."""
        with contextlib.suppress(NoAnswerError, NodeGoneError):  # the next question meets that, too
            head = [(FACTS, 0), (PLAN, 0)]
            facts, plan = await self.link.ask(
                node.name, "pieces", node.task.run_id, head, seconds=ASK_SECONDS
            )
            node.mirror = Mirror(place, facts, plan)

    async def clock(self, node: RemoteNode, exchanges: int) -> ClockFacts | None:
        """The node's clock beside the controller's; None where nobody answered."""
        found = []
        for _ in range(exchanges):
            sent = self.now()
            try:
                theirs = await self.link.ask(node.name, "clock", seconds=ASK_SECONDS)
            except (NoAnswerError, NodeGoneError):
                break
            found.append((sent, theirs, self.now()))
        return clock_of(found) if found else None
