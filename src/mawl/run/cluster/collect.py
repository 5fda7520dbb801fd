"""What nodes left behind joins the run that they were lost from (``mawl collect``).

The run is made again from the folders of its nodes, so each job is there once.  The new tables are written
beside the old ones; one rename makes them the run's, and ``run.json`` follows.  A host keeps its folder until
then, so whoever is killed before collects again.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from mawl.base.errors import MawlError, UnsuitableMachineError, UsageError
from mawl.base.removal import remove_tree, temporary_directory
from mawl.records.model.node import NodeRun, StorageRun
from mawl.records.model.run import RunFacts
from mawl.records.store import Run, open_run
from mawl.records.store.facts import read_facts
from mawl.records.store.files import JOURNAL, NODES, sync_directory, try_lock
from mawl.records.store.folder import RunWriter
from mawl.records.store.journal import compact
from mawl.records.store.reading import runner_lives
from mawl.run.cluster import agent
from mawl.run.cluster.link import NONSENSE, Asking, Link, check_copy, copy_whole, path_in_copy, quoted
from mawl.run.cluster.merge import (
    TOOK_NO_PART,
    NodePart,
    OwnSeries,
    merged,
    outcome_of,
    own_series,
    with_reasons,
)
from mawl.run.cluster.messages import Correction

Part = TypeVar("Part", NodeRun, StorageRun)
Reach = Callable[[str], AbstractAsyncContextManager[Link]]
"""A link to a node, by its name."""
ANSWER_SECONDS = 30.0
MOST_SAID = 500
DRAFTS, COPIES, BEFORE = ".mawl-collect-", "copies", "before"


class Collection(msgspec.Struct):
    """The nodes whose folders joined the run, and for others why theirs did not.

    ``stayed`` are those that joined, and whose host could not remove its folder.
    """

    joined: list[str] = []
    failed: dict[str, str] = {}
    stayed: list[str] = []


class HereLink(Link):
    """The agent's functions in this process, for folders that were copied by hand."""

    async def ask(self, node: str, function: str, *arguments: Any, seconds: float) -> Any:  # noqa: ARG002
        return agent.QUESTIONS[function](*arguments)


def on_hosts(facts: RunFacts) -> list[NodeRun | StorageRun]:
    """The nodes of a run on several, and its storage servers."""
    return [*facts.node_runs, *facts.storage_runs]


def collect(folder: Path, reach: Reach, given: Mapping[str, Path]) -> Collection:
    """Fetch what the nodes of a run left behind, or take folders that are here (``given``), and join it.

    Nothing changes where no folder came.  Raises UsageError for a node that the run does not have, other
    MawlErrors where the run is under way or cannot be read, and OSError where it cannot be written.
    """
    open_run(folder)  # what was killed becomes tables
    with _held(folder):
        _tidy(folder)
        facts = read_facts(folder)
        every = {run.node: run for run in on_hosts(facts)}
        unknown = next((node for node in given if node not in every), None)
        if unknown is not None:
            raise UsageError(
                f"the run has no node {unknown}", cure=f"it has {', '.join(every) or 'run on one machine'}"
            )
        left = [run for run in every.values() if run.left_behind is not None]
        found = Collection()
        if not left:
            return found
        with temporary_directory(DRAFTS, folder) as drafts:
            copies = asyncio.run(_fetch(left, reach, given, folder, drafts, found))
            try:
                if copies:
                    _rebuild(folder, facts, copies, drafts)
            finally:
                _restore(drafts, folder)
    for run in left:
        if run.node in copies and run.node not in given:
            asyncio.run(_forget(run, reach, found))
    return found


@contextlib.contextmanager
def _held(folder: Path) -> Iterator[None]:
    """Hold a run that is over; UnsuitableMachineError where it is not, or another collects."""
    at = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        if not try_lock(at) or runner_lives(folder):
            raise UnsuitableMachineError(
                "the run is still under way, or somebody collects it",
                where=str(folder),
                cure="collect it again once that has ended",
            )
        yield
    finally:
        os.close(at)


def _tidy(folder: Path) -> None:
    """Remove what a killed collection left."""
    for marked in folder.glob(f"{DRAFTS}*"):
        for drafts in marked.iterdir():
            _restore(drafts, folder)
        remove_tree(marked)


def _restore(drafts: Path, folder: Path) -> None:
    """A node's folder that was moved comes back where nothing took its place."""
    for before in (drafts / BEFORE).glob("*"):
        if not (folder / NODES / before.name).exists():
            before.rename(folder / NODES / before.name)


# -- the folders ----------------------------------------------------------------------------------


async def _fetch(
    left: list[NodeRun | StorageRun],
    reach: Reach,
    given: Mapping[str, Path],
    folder: Path,
    drafts: Path,
    found: Collection,
) -> dict[str, Run]:
    """The copies that came whole, each the run that it holds; ``found`` has why others did not come."""
    jobs = open_run(folder, compacting=False).job_records()
    copies = {}
    for run in left:
        ended = {
            (job.job.removeprefix(f"{run.node}."), job.outcome)
            for job in jobs
            if job.node == run.node and job.outcome not in ("lost", "not_started")
        }
        copy = path_in_copy(drafts / COPIES, run.node)
        try:
            if run.node in given:
                await _copy(HereLink(), run, str(given[run.node]), copy)
            else:
                async with reach(run.node) as link:
                    await _copy(link, run, str(run.left_behind), copy)
            check_copy(copy, run.run_id, None, {job for job, _ in ended})
            own = open_run(copy)
            if ended - {(job.job, job.outcome) for job in own.job_records()}:
                raise MawlError("jobs ended otherwise there than the run has it")
            copies[run.node] = own
        except (MawlError, OSError, *NONSENSE) as error:
            found.failed[run.node] = quoted(error, MOST_SAID)
    found.joined = list(copies)
    return copies


async def _copy(link: Link, run: NodeRun | StorageRun, there: str, copy: Path) -> None:
    asking = Asking(link, run.node, ANSWER_SECONDS)
    await _adopt(asking, run.run_id, there)
    await copy_whole(asking, run.run_id, copy)


async def _adopt(asking: Asking, run_id: str, there: str) -> None:
    why = msgspec.convert(await asking.answer("adopt", run_id, there), str | None)
    if why is not None:
        raise MawlError(quoted(why))


async def _forget(run: NodeRun | StorageRun, reach: Reach, found: Collection) -> None:
    """Remove the folder there, which was copied."""
    try:
        async with reach(run.node) as link:
            asking = Asking(link, run.node, ANSWER_SECONDS)
            await _adopt(asking, run.run_id, str(run.left_behind))
            await asking.answer("finish", run.run_id, True)
    except (MawlError, *NONSENSE):
        found.stayed.append(run.node)


# -- the merged run -------------------------------------------------------------------------------


def _rebuild(folder: Path, facts: RunFacts, copies: Mapping[str, Run], drafts: Path) -> None:
    """Make the run again from the folders of all nodes, those in ``copies`` among them."""
    runs = dict(copies)
    for one in on_hosts(facts):
        if one.node not in copies and one.folder is not None:
            runs[one.node] = open_run(path_in_copy(folder, one.folder))
    nodes = [_joined(node_run, copies.get(node_run.node)) for node_run in facts.node_runs]
    servers = [_joined(storage_run, copies.get(storage_run.node)) for storage_run in facts.storage_runs]
    parts = [NodePart(run=node, facts=runs[node.node].facts if node.node in runs else None) for node in nodes]
    kept = [remark for remark in facts.remarks if TOOK_NO_PART in remark]
    base = msgspec.structs.replace(facts, remarks=kept, storage_runs=servers)
    new = merged(base, parts, facts.controller_overhead)
    if facts.outcome != "interrupted":
        outcome, reason = outcome_of(nodes)
        new = msgspec.structs.replace(new, outcome=outcome, outcome_reason=reason)
    with RunWriter(drafts / "merged", new) as writer:
        for one in on_hosts(new):
            if one.node in runs:
                series = own_series(parts, one.node) if isinstance(one, NodeRun) else OwnSeries()
                _write(writer, one, runs[one.node], series)
        _move(copies, folder, drafts)
        (writer.path / JOURNAL).rename(folder / JOURNAL)
        compact(folder, new)


def _joined(part: Part, own: Run | None) -> Part:
    """What a node ran, by its own folder where that came now."""
    if own is None:
        return part
    return msgspec.structs.replace(
        part,
        outcome=own.facts.outcome,
        reason=own.facts.outcome_reason,
        folder=f"{NODES}/{part.node}",
        left_behind=None,
        collected=part.reason,
        **({"whole": True} if isinstance(part, NodeRun) else {}),
    )


def _write(writer: RunWriter, one: NodeRun | StorageRun, own: Run, series: OwnSeries) -> None:
    """Write what a node's folder holds as the merged run has it."""
    offset = one.clock.offset_seconds if one.clock is not None else 0.0
    correction = Correction(one.node, offset, series.left_out, series.kept)
    for event in own.event_records():
        writer.event(correction.event(event))
    for step in own.step_records():
        writer.step(correction.step(step))
    if isinstance(one, NodeRun):
        for job in with_reasons(own.job_records(), one):
            writer.job(correction.job(job))
    for table in own.sample_parts():
        writer.sample_table(correction.samples(table))


def _move(copies: Mapping[str, Run], folder: Path, drafts: Path) -> None:
    """Put copies in the place of what the run had of their nodes."""
    for node, own in copies.items():
        place = path_in_copy(folder / NODES, node)
        if place.exists():
            place.rename(path_in_copy(drafts / BEFORE, node))
        own.path.rename(place)
    sync_directory(folder / NODES)
