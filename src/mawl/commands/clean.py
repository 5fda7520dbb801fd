"""Remove what interrupted runs left: processes, control groups, and marked directories under the roles.

Looks under the roles that the options name, under those that runs in RUNS used, and in directories that
were probed.  The mark in each directory says what it is for: results under data always stay, outputs of
mawl's own programs go.  In the directories that a run folder names, mawl removes only what is marked with the
id of that run.

The run folders that nodes of a run on several kept are named; mawl collect joins them to their runs.
They go only where --node-runs names their directory.
"""

from __future__ import annotations

import os
import shlex
import time
from collections.abc import Callable, Collection, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from mawl.base.errors import MawlError
from mawl.base.removal import Removal, remove_tree
from mawl.base.units import format_bytes
from mawl.commands.arguments import ROLES_OF_RUN, RUNS, spec_of_arguments, volumes_of
from mawl.commands.campaign_settings import undo_left_in
from mawl.commands.verbs import Arguments, Verb, operand, option, switch
from mawl.measure.page_cache import leftover_trial_files
from mawl.records.model.run import RunFacts
from mawl.records.spec.program_options import ROLES, Role
from mawl.records.spec.run_spec import NodesSpec
from mawl.records.store.facts import read_facts
from mawl.records.store.files import FACTS
from mawl.records.store.folder import remove_unbegun, unbegun_folders
from mawl.records.store.reading import is_under_way
from mawl.records.volumes import (
    RUN_PREFIX,
    Volumes,
    kept_under,
    leftovers_under,
    remove_leftover,
    run_of,
    unmarked_under,
    write_tests_under,
)
from mawl.run.cluster.node_facts import leftover_tokens
from mawl.run.launch.setup import kill_run, live_runs
from mawl.run.runner.counting import SHARED_MEMORY, leftover_counters
from mawl.run.runner.restrict import leftover_groups

GROUP_SECONDS, _PAUSE_SECONDS = 1.0, 0.02


class CleanArguments(Arguments):
    directories: list[str] = operand("DIR", "further directories that were probed", nargs="*")
    roles: Any = ROLES_OF_RUN
    runs: str | None = RUNS
    node_runs: str | None = option(
        "DIR",
        "remove the run folders that nodes kept in DIR, too (default: name those in mawl-node-runs here "
        "and in your home directory)",
    )
    dry_run: bool = switch("say what would go, remove nothing")
    yes: bool = switch(
        "run, without asking, the commands that undo a setting which a killed campaign left changed"
    )


def run(arguments: CleanArguments) -> int:
    """Clean up; a run that is alive is left alone.  1 when something could not be removed."""
    spec = spec_of_arguments(arguments, leave=["node_runs"])
    runs = Path(spec.runs)
    named = volumes_of(spec)
    nodes = _node_runs(arguments.node_runs)
    recorded = known_runs(runs) | nodes
    known = list(recorded.values())
    leftovers, kept = _directories(named, [Path(place).absolute() for place in arguments.directories], known)
    leftovers += leftover_counters(
        {run_of(directory) for directory in leftovers} | {facts.run_id for facts in known}, runs
    )
    # A directory that is only half made is of a run that had nothing else yet, or that begins just now.
    abandoned = {run_of(leftover) for leftover in leftovers if leftover.name.startswith(RUN_PREFIX)} - {""}
    done = Doing(arguments.dry_run)
    looked = [place for role in ROLES for place in named.directories[role]]
    looked += [Path(place).absolute() for place in arguments.directories]
    for place in dict.fromkeys([*looked, runs.absolute()]):
        done.look_into(place)
    alive = live_runs()
    ended_now = sorted(abandoned & alive.keys())
    for run_id in ended_now:
        processes = alive.pop(run_id)
        count = len(processes) if arguments.dry_run else kill_run(run_id)
        done.say(f"{count} processes of run {run_id}")
    for directory in leftovers:
        done.remove(str(directory), partial(remove_leftover, directory))
    places = dict.fromkeys(
        place
        for volumes in (named.directories, *(_roles_of(facts) for facts in known))
        for role in ROLES
        for place in volumes[role]
    )
    for file in [
        *leftover_tokens(places),
        *(found for place in places for found in (*write_tests_under(place), *leftover_trial_files(place))),
    ]:
        done.remove(str(file), partial(_unlink, file))
    for folder in unbegun_folders(runs):
        done.remove(f"{folder} (its run was killed before it began)", partial(_unbegun, folder))
    over = {facts.run_id for folder, facts in recorded.items() if not is_under_way(folder)}
    ids = (abandoned | over) - alive.keys()
    for group in _groups(ids, wait=bool(ended_now) and not arguments.dry_run):
        done.remove(f"control group {group}", partial(_rmdir, group))
    for folder, facts in nodes.items():
        _clean_node_run(folder, facts, done, remove=arguments.node_runs is not None)
    undo_left_in(runs, yes=arguments.yes, dry_run=arguments.dry_run, done=done.undone, left=done.left)
    if not _list_left(kept) and not done.found:
        print("nothing to clean")
    return 1 if done.failed else 0


def _node_runs(place: str | None) -> dict[Path, RunFacts]:
    """The run folders that nodes kept in a directory, or in those where they are by default."""
    usual = NodesSpec().node_runs
    places = [Path(usual), Path(os.environ.get("HOME", "."), usual)] if place is None else [Path(place)]
    return {
        folder.absolute(): facts
        for place in places
        for folder, facts in known_runs(place).items()
        if folder.name == facts.run_id and len(facts.nodes) == 1 and _merged_run(facts) != facts.run_id
    }


def _merged_run(facts: RunFacts) -> str:
    """The id of the run that a node's own run is part of."""
    return facts.run_id.removesuffix(f"-{facts.nodes[0].name}")


def _clean_node_run(folder: Path, facts: RunFacts, done: Doing, *, remove: bool) -> None:
    """Remove the run folder that a node kept, or say what to do with it; one that is under way stays."""
    if is_under_way(folder):
        return
    what = f"{folder} (run folder of {facts.nodes[0].name} of the run {_merged_run(facts)})"
    if remove:
        done.remove(what, partial(remove_tree, folder, FACTS))
        return
    size = sum(file.lstat().st_size for file in folder.rglob("*") if file.is_file())
    done.keep(
        f"kept {what}, {format_bytes(size)}: mawl collect {_merged_run(facts)} on the controller joins it to "
        f"the run; mawl clean --node-runs {shlex.quote(str(folder.parent))} removes it"
    )


def _list_left(paths: Sequence[Path]) -> bool:
    """Say what stays because mawl does not know what it holds; whether there is any."""
    unmarked = unmarked_under(SHARED_MEMORY)
    for directory in paths:
        print(
            f"kept {directory}: its mark does not say whether it holds results; "
            "remove it yourself if you do not need it"
        )
    for directory in unmarked:
        print(
            f"kept {directory}: it has no mark of mawl, so mawl does not know whose files it holds; "
            f"if you do not need them, remove it with rm -r {shlex.quote(str(directory))}"
        )
    return bool(paths or unmarked)


class Doing:
    """Removes one thing after the other and prints what became of it; with ``dry_run`` it only prints."""

    def __init__(self, dry_run: bool) -> None:
        self.found = self.failed = False
        self._dry_run = dry_run
        self._verb = "would remove" if dry_run else "removed"

    def say(self, what: str) -> None:
        self.found = True
        print(f"{self._verb} {what}")

    def keep(self, sentence: str) -> None:
        self.found = True
        print(sentence)

    def undone(self, what: str) -> None:
        self.found = True
        print(f"undid {what}")

    def left(self, sentence: str) -> None:
        self.found, self.failed = True, self.failed or not self._dry_run
        print(sentence)

    def look_into(self, place: Path) -> None:
        """Say of a directory that is there, and cannot be read, that nobody looked into it."""
        try:
            os.scandir(place).close()
        except FileNotFoundError:
            return
        except OSError as error:
            self.found = self.failed = True
            print(f"could not look into {place}: {(error.strerror or str(error)).lower()}")

    def remove(self, what: str, removal: Callable[[], Removal | None]) -> None:
        """Remove it, unless a run came to hold it or somebody removed it meanwhile (None)."""
        try:
            gone = Removal() if self._dry_run else removal()
        except (OSError, MawlError) as error:
            self.found = self.failed = True
            print(f"could not remove {what}: {getattr(error, 'strerror', None) or error}")
            return
        if gone is None:
            return
        if not gone.kept:
            self.say(what + (f" ({format_bytes(gone.size_bytes)})" if gone.size_bytes else ""))
            return
        self.found = self.failed = True
        print(f"could not remove all of {what}:", *gone.remarks(), sep="\n  ")


def _directories(
    named: Volumes, places: Sequence[Path], known: Sequence[RunFacts]
) -> tuple[list[Path], list[Path]]:
    """What may go, and what stays because its mark does not say what it is for.

    In a place that the user named, all that may.  In one that only a run folder names, only
    what carries that run's own id: the folder may come from elsewhere.
    """
    leftovers: dict[Path, None] = dict.fromkeys(named.leftovers())
    kept: dict[Path, None] = {}
    for place in [*(place for role in ROLES for place in named.directories[role]), *places]:
        leftovers |= dict.fromkeys(leftovers_under(place))
        kept |= dict.fromkeys(kept_under(place))
    for facts in known:
        for volumes in _roles_of(facts).values():
            for place in volumes:
                leftovers |= dict.fromkeys(d for d in leftovers_under(place) if _is_of(d, facts.run_id))
                kept |= dict.fromkeys(d for d in kept_under(place) if _is_of(d, facts.run_id))
    return list(leftovers), list(kept)


def _is_of(directory: Path, run_id: str) -> bool:
    """Whether a directory is of this run, or of one of its nodes."""
    return run_of(directory) == run_id or run_of(directory).startswith(f"{run_id}-")


def _roles_of(facts: RunFacts) -> dict[Role, list[Path]]:
    return {role: [Path(place).absolute() for place in facts.roles.get(role, [])] for role in ROLES}


def _groups(run_ids: Collection[str], *, wait: bool) -> list[Path]:
    """Control groups of these runs; what was just killed stays in them for a moment."""
    deadline = time.monotonic() + (GROUP_SECONDS if wait else 0.0)
    while not (groups := leftover_groups(run_ids)) and time.monotonic() < deadline:
        time.sleep(_PAUSE_SECONDS)
    return groups


def _unlink(file: Path) -> Removal:
    file.unlink(missing_ok=True)
    return Removal()


def _rmdir(directory: Path) -> Removal | None:
    try:
        directory.rmdir()
    except FileNotFoundError:
        return None
    return Removal()


def _unbegun(folder: Path) -> Removal | None:
    return Removal() if remove_unbegun(folder) else None


def known_runs(runs: Path) -> dict[Path, RunFacts]:
    """Folders of the runs in a directory, and of its campaigns and qualifications, that were measured here.

    A run whose facts cannot be read is left out.
    """
    folders = {}
    places = (f"*/{FACTS}", f"*/*/{FACTS}", f"*/runs/*/{FACTS}")
    for file in sorted({file for place in places for file in runs.glob(place)}):
        try:
            facts = read_facts(file.parent)
        except MawlError:
            continue
        if facts.kind == "measured":
            folders[file.parent] = facts
    return folders


VERBS = {"clean": Verb(CleanArguments, run)}
