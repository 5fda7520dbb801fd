"""One run as its spec asks: on this machine or on several nodes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from mawl.base.imports import importing
from mawl.records.model.run import RunFacts
from mawl.records.spec.run_spec import RunSpec


def make_run(spec: RunSpec, command: Sequence[str]) -> tuple[Path, RunFacts]:
    """Make the run; its folder and its facts, whatever became of it.

    ``command`` is what a person typed, or would type.  Raises MawlError where the run cannot begin.
    """
    if spec.nodes is not None:
        from mawl.commands.cluster_run import run_on_nodes

        return run_on_nodes(spec, spec.nodes, command)
    with importing():  # what it takes to run jobs a run on several nodes has in the nodes' processes
        from mawl.commands.local_run import run_here
    return run_here(spec, command)
