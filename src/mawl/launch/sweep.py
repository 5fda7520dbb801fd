"""Find and end all processes of a run, which carry its id in their environment."""

from __future__ import annotations

from mawl.launch.setup import RUN_ID_VARIABLE
from mawl.measure.processes import kill_marked, marked_processes


def kill_run(run_id: str) -> int:
    """Kill all of this user's processes with the run's mark and what hangs below, until none is left.

    Returns how many were killed.  The calling process and its ancestors are spared.
    """
    return kill_marked(RUN_ID_VARIABLE, run_id)


def live_runs() -> dict[str, list[int]]:
    """Run ids that living processes of this user carry, and those processes."""
    return marked_processes(RUN_ID_VARIABLE)
