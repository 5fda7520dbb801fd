"""``python -m bench [NAME...] [--json FILE]``: run bench rows and print them beside their targets."""

from __future__ import annotations

import argparse
import compileall
import dataclasses
import importlib
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import cast

import mawl
from bench.harness import Result
from mawl.base.units import format_memory
from mawl.measure.machine import Machine, read_machine

ROWS = (
    "generator",
    "launch",
    "programs",
    "threads",
    "runner",
    "host_sampler",
    "preload",
    "direct",
    "uncached",
    "compare",
    "report",
    "drawing",
    "library",
    "publish",
    "compressibility",
    "saslog",
    "derive",
    "nmon",
    "cluster",
    "simulation",
    "size",
)
"""Modules of this package; each offers ``NAME`` and ``run() -> list[Result]``."""


def main(arguments: Sequence[str]) -> int:
    """Run the rows named, or all; 1 when a target is missed."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(ROWS))
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the rows there as JSON")
    given = parser.parse_args(arguments)
    unknown = [name for name in given.names if name not in ROWS]
    if unknown:
        parser.error(f"no row is called {unknown[0]!r}; the rows are {', '.join(ROWS)}")
    if given.json:
        # A path that cannot be written should say so before minutes of runs, not after.
        try:
            given.json.touch()
        except OSError as error:
            parser.error(f"--json {given.json}: {(error.strerror or str(error)).lower()}")
    compileall.compile_dir(Path(mawl.__file__).parent, quiet=2)  # as it is where it is installed
    machine = read_machine()
    print(machine_line(machine))
    results: list[Result] = []
    for name in given.names or ROWS:
        run = cast(Callable[[], list[Result]], importlib.import_module(f"bench.{name}").run)
        found = run()
        results += found
        print(table(found), flush=True)
    if given.json:
        given.json.write_text(
            json.dumps(
                {"machine": machine_line(machine), "rows": [dataclasses.asdict(r) for r in results]}, indent=2
            )
            + "\n"
        )
    missed = [result.name for result in results if result.met is False]
    if missed:
        print(f"missed: {', '.join(missed)}", file=sys.stderr)
    return 1 if missed else 0


def machine_line(machine: Machine) -> str:
    """The machine in one line, for the top of a table."""
    load = machine.load_average[0] if machine.load_average else None
    return (
        f"{machine.cpu_model or 'unknown CPU'}, {machine.cores} x {machine.core_basis}, "
        f"{format_memory(machine.memory_bytes or 0)}, Linux {machine.kernel}, load {load}"
    )


def table(results: Sequence[Result]) -> str:
    """Rows as aligned columns: name, value with unit, target, met, detail."""
    verdicts = {True: "met", False: "MISSED", None: ""}
    rows = [
        (row.name, f"{row.value:.4g} {row.unit}".rstrip(), row.target, verdicts[row.met], row.detail)
        for row in results
    ]
    widths = [max((len(row[column]) for row in rows), default=0) for column in range(4)]
    return "\n".join(
        "  ".join((*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[4])).rstrip()
        for row in rows
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
