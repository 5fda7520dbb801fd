"""Packages that only some verbs need: what to say where they are not installed."""

from __future__ import annotations

from importlib.util import find_spec

from mawl.errors import UnsuitableMachineError

PROGRAMS = ("duckdb", "scipy", "sklearn", "statsmodels", "threadpoolctl")
"""What the programs are written with: the extra ``programs``."""

CLUSTER = ("dask", "distributed")
"""What reaches other nodes: the extra ``cluster``."""


def installing(extra: str) -> str:
    """The command that installs an extra."""
    return f"pip install 'mawl[{extra}]'"


def missing_package(error: ModuleNotFoundError, extra: str) -> UnsuitableMachineError:
    """The error of a verb whose package is missing, with its cure."""
    return UnsuitableMachineError(
        f"needs the package {(error.name or str(error)).partition('.')[0]}, which is not installed",
        cure=f"install it with: {installing(extra)}",
    )


def require_programs() -> None:
    """Raise where a package of the programs is missing, too old or too new: jobs would fail one by one."""
    for name in PROGRAMS:
        if find_spec(name) is None:
            raise missing_package(ModuleNotFoundError(name=name), "programs")
    from mawl.measure.suitability import unfit_libraries  # reading verbs do without it

    for check in unfit_libraries():
        raise UnsuitableMachineError(check.text, cure=check.cure)


def require_cluster() -> None:
    """Raise where a package that reaches other nodes is not installed."""
    for name in CLUSTER:
        if find_spec(name) is None:
            raise missing_package(ModuleNotFoundError(name=name), "cluster")
