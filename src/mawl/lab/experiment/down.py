"""Take beds down: stop whoever uses one, clean up after its runs, and remove what was built."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from mawl.errors import MawlError, UsageError
from mawl.lab.command import BED_VARIABLE
from mawl.lab.state import BedState, abandoned_trials, forget, held, read_state, state_file
from mawl.lab.teardown import tear_down
from mawl.measure.processes import kill_marked, started_ticks
from mawl.runner.counting import leftover_counters
from mawl.runner.restrict import leftover_groups
from mawl.store.facts import read_facts
from mawl.volumes import remove_leftover, run_of

PATIENCE_SECONDS = 120.0
GROUP_SECONDS = 2.0
_PAUSE_SECONDS = 0.2


def take_down(directory: Path, bed: str) -> list[str]:
    """Remove a bed, whatever of it there is; what was removed, in words.  Idempotent.

    A living ``mawl lab run`` or ``up`` of it is asked to stop first, and takes its bed down itself.
    """
    remove_trials(directory)
    deadline = time.monotonic() + PATIENCE_SECONDS
    asked = False
    while True:
        try:
            with held(directory, bed):
                state = read_state(directory, bed)
                if state is None:
                    forget(directory, bed)
                    return []
                return take_away(directory, state)
        except UsageError:
            state = read_state(directory, bed)
            if time.monotonic() > deadline:
                raise
            if state is not None and not asked:
                asked = _ask_to_stop(state)
            time.sleep(_PAUSE_SECONDS)


def remove_trials(directory: Path) -> None:
    """Remove what trials of needs left whose process died."""
    for trial in abandoned_trials(directory):
        tear_down(directory, trial)


def take_away(directory: Path, state: BedState) -> list[str]:
    """Clean up after the runs of a bed that the caller holds, and remove the bed."""
    return [*_after_runs(directory, state), *tear_down(directory, state)]


def _ask_to_stop(state: BedState) -> bool:
    """SIGTERM to the bed's owner, if that is still the process which wrote the state."""
    if state.owner_pid == os.getpid() or started_ticks(state.owner_pid) != state.owner_started_ticks:
        return False
    os.kill(state.owner_pid, signal.SIGTERM)
    return True


def _after_runs(directory: Path, state: BedState) -> list[str]:
    """End the processes of runs that were cut short, and remove their control groups and counters.

    Their directories under the roles go with the volumes.  A run may die after it wrote that it was
    completed, so its outcome says nothing about what it left.
    """
    mark = str(state_file(directory, state.bed))
    killed = kill_marked(BED_VARIABLE, mark)
    done = [f"{killed} processes"] if killed else []
    for folder in (Path(name) for name in state.run_folders):
        try:
            run_id = read_facts(folder)[0].run_id
        except MawlError:
            continue  # it died before it had an id, so nothing is named by one
        for group in _groups(run_id, just_killed=bool(killed)):
            group.rmdir()
            done.append(f"control group {group}")
        for counters in leftover_counters([run_id], folder.parent):
            if run_of(counters) == run_id:
                remove_leftover(counters)
                done.append(f"counters {counters}")
    return done


def _groups(run_id: str, *, just_killed: bool) -> list[Path]:
    """Control groups of a run; what was just killed stays in them for a moment."""
    deadline = time.monotonic() + (GROUP_SECONDS if just_killed else 0.0)
    while not (found := leftover_groups([run_id])) and time.monotonic() < deadline:
        time.sleep(_PAUSE_SECONDS)
    return found
