"""What a launcher does to itself before its first job."""

from __future__ import annotations

import errno
import gc
import importlib
import os
from pathlib import Path

from mawl.errors import LIMITS, UnsuitableMachineError
from mawl.launch.setup import Setup
from mawl.measure.account import address_space_limit
from mawl.measure.kernel import become_subreaper


def prepare(setup: Setup) -> None:
    """Join the control groups, take the CPUs, and import (never call) what programs need."""
    for group in setup.cgroups:
        try:
            Path(group, "cgroup.procs").write_text(str(os.getpid()))
        except OSError as error:
            raise UnsuitableMachineError(
                "the launcher cannot join the control group",
                where=group,
                why=error.strerror,
                cure="run without a memory limit, or with the rights to make control groups",
            ) from error
    if setup.cpus is not None:
        os.sched_setaffinity(0, setup.cpus)
    become_subreaper()
    if setup.mode == "zygote":
        for module in (*setup.modules, setup.execute.partition(":")[0]):
            _import(module)
        gc.collect()
        gc.freeze()  # what is here now is never looked at again, so its pages stay shared


def _import(module: str) -> None:
    try:
        importlib.import_module(module)
    except ImportError as error:
        # Under a limit of address space a library that is there cannot be mapped.
        there = address_space_limit() is not None and not isinstance(error, ModuleNotFoundError)
        raise UnsuitableMachineError(
            f"the zygote cannot import {module}",
            why=str(error),
            cure=LIMITS[errno.ENOMEM]
            if there
            else 'install what the programs need (pip install "mawl[programs]")',
        ) from error
