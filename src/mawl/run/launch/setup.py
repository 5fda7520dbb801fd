"""What the launcher is given, and the marks by which its processes are found again."""

from __future__ import annotations

import msgspec

from mawl.measure.processes import kill_marked, marked_processes
from mawl.records.model.messages import LaunchMode

RUN_ID_VARIABLE = "MAWL_RUN_ID"
LAUNCHER_VARIABLE = "MAWL_LAUNCHER"
JOB_VARIABLE = "MAWL_JOB"
THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
ONE_PASSIVE_THREAD = {
    **dict.fromkeys(THREAD_VARIABLES, "1"),
    "OMP_WAIT_POLICY": "passive",
    "OPENBLAS_THREAD_TIMEOUT": "4",  # its shortest: 2^4 looks for work, then sleep
}
"""Environment in which a library computes in one thread, and an idle thread of it sleeps."""
ARROW_POOL_VARIABLE = "ARROW_DEFAULT_MEMORY_POOL"
ARROW_POOLS = ("jemalloc", "system")
"""Arrow's memory pool in every program: the first that this Arrow has (docs/design/memory.md).

Arrow reads the variable when it makes its pool, so it is set before the interpreter starts.
"""


def arrow_pool() -> str:
    """The memory pool that programs shall have with the installed Arrow."""
    import pyarrow as pa  # here: launchers of commands read this module and stay small

    return next(pool for pool in ARROW_POOLS if pool in pa.supported_memory_backends())


EXECUTE = "mawl.programs.execute:execute"
"""What runs a job, as module:function: (assignment, report) -> exit status."""


class Setup(msgspec.Struct, frozen=True, kw_only=True):
    """The launcher's only argument, as JSON.

    ``reports`` is the descriptor of the pipe to the runner, ``name`` the value of
    ``MAWL_LAUNCHER``, by which a launcher knows its own strays from those of another one of the
    same run.
    """

    mode: LaunchMode
    run_id: str
    name: str
    reports: int
    runner: int
    """The process at whose death the launcher ends."""
    notices: int | None = None
    """Where people read what the runner says: one that is stopped (SIGSTOP, Ctrl-Z) cannot say so itself."""
    modules: list[str]
    cpus: list[int] | None
    cgroups: list[str]
    execute: str = EXECUTE
    stdio: list[int] | None = None
    """Descriptors that a job gets as its standard input, output and error instead of its log."""


def kill_run(run_id: str) -> int:
    """Kill all of this user's processes with the run's mark and what hangs below, until none is left.

    Returns how many were killed.  The calling process and its ancestors are spared.
    """
    return kill_marked(RUN_ID_VARIABLE, run_id)


def live_runs() -> dict[str, list[int]]:
    """Run ids that living processes of this user carry, and those processes."""
    return marked_processes(RUN_ID_VARIABLE)
