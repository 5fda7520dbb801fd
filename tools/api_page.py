"""The page of mawl's Python interface, printed from the signatures and docstrings of ``open_run``."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from functools import cached_property

import mawl
from mawl.commands.notebook import OpenedRun
from tools.markdown import plain

_EXAMPLE = """```python
import mawl

run = mawl.open_run("latest")
print(run.summary.time.cpu_seconds, run.jobs.num_rows)
run.plot("device")
```"""


def api_page() -> list[str]:
    """``mawl.open_run()`` and the members of the object that it returns."""
    lines = [
        "# Python interface",
        "",
        "`mawl.open_run()` is the interface for programs and notebooks; other modules of mawl may change.",
        "[A notebook](../../examples/open-run.ipynb) shows it in use.",
        "",
        _EXAMPLE,
        "",
        f"## `mawl.open_run{_signature(mawl.open_run)}`",
        "",
        plain(mawl.open_run.__doc__),
        "",
        f"## `{OpenedRun.__name__}`",
        "",
        plain(OpenedRun.__doc__),
        "",
    ]
    for name, call, text in _members():
        lines += [f"### `{name}{call}`", "", plain(text), ""]
    lines += [
        "## Where the names come from",
        "",
        "- Columns of the tables: [the run folder](../design/run-folder.md).",
        "- Fields of `summary`: [metrics](metrics.md), with unit and definition of each.",
        "- A figure that is not known is None, and `summary.missing` has its reason by its path.",
    ]
    return lines


def _members() -> Iterator[tuple[str, str, str]]:
    """Name, signature and docstring of each public member, in the order of the class."""
    for name, member in vars(OpenedRun).items():
        if name.startswith("_"):
            continue
        if isinstance(member, property):
            yield name, _returned(member.fget), str(member.__doc__)
        elif isinstance(member, cached_property):
            yield name, _returned(member.func), str(member.__doc__)
        else:
            yield name, _signature(member), str(member.__doc__)


def _returned(function: object) -> str:
    return f": {inspect.signature(function).return_annotation}"  # type: ignore[arg-type]


def _signature(function: object) -> str:
    signature = inspect.signature(function)  # type: ignore[arg-type]
    shown = ", ".join(
        f"{one.name}: {one.annotation}" + ("" if one.default is one.empty else f" = {one.default!r}")
        for one in signature.parameters.values()
        if one.name != "self"
    )
    return f"({shown}) -> {signature.return_annotation}"
