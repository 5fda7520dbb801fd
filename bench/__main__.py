"""``python -m bench [NAME...]``: run bench rows and print them with their targets."""

from __future__ import annotations

import argparse
import compileall
import dataclasses
import importlib
import json
import os
import shutil
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import mawl
from bench.harness import SMALL, Result
from mawl.base.errors import MawlError, UnsuitableMachineError
from mawl.base.units import format_memory, format_plain
from mawl.measure.machine import Machine, read_machine
from tools.markdown import table as markdown_table

ROWS: dict[str, tuple[str, ...]] = {
    "generator": (),
    "launch": (),
    "programs": (),
    "threads": (),
    "runner": (),
    "host_sampler": ("nmon", "iostat"),
    "preload": ("cc", "strace"),
    "direct": ("fio",),
    "uncached": ("cc", "fio"),
    "compare": (),
    "report": (),
    "drawing": ("chromium",),
    "library": (),
    "publish": ("chromium",),
    "compressibility": (),
    "saslog": (),
    "derive": (),
    "nmon": (),
    "cluster": (),
    "simulation": (),
    "size": (),
    "growth": (),
}
"""Modules of this package, each with ``NAME`` and ``run() -> list[Result]``, and the programs that they need.

The package of iostat also brings sadc, which is not on the PATH.  Python packages are those of .venv.
"""

PACKAGES = Path(__file__).parents[1] / "tools" / "packages.txt"


def main(arguments: Sequence[str]) -> int:
    """Run the rows named, or all; 1 when a target is missed or a row has no figure."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(ROWS))
    parser.add_argument(
        "--json", type=Path, metavar="FILE", help="also keep the rows there; those of other benches stay"
    )
    parser.add_argument(
        "--page", type=Path, metavar="FILE", help="run nothing, but print the rows kept in FILE as FILE.md"
    )
    parser.add_argument(
        "--small", action="store_true", help="only show that rows work: tiny data, no targets"
    )
    given = parser.parse_args(arguments)
    if given.page:
        given.page.with_suffix(".md").write_text(page(json.loads(given.page.read_text())["rows"]))
        return 0
    unknown = [name for name in given.names if name not in ROWS]
    if unknown:
        parser.error(f"no row is called {unknown[0]!r}; the rows are {', '.join(ROWS)}")
    if given.json:
        # A path that cannot be written should say so before minutes of runs, not after.
        try:
            given.json.touch()
        except OSError as error:
            parser.error(f"--json {given.json}: {(error.strerror or str(error)).lower()}")
    if given.small:
        os.environ[SMALL] = "1"  # before a row is imported
    names = given.names or list(ROWS)
    try:
        provide({program for name in names for program in ROWS[name]})
    except UnsuitableMachineError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    compileall.compile_dir(Path(mawl.__file__).parent, quiet=2)  # as it is where it is installed
    machine = read_machine()
    print(machine_line(machine))
    results: list[Result] = []
    for name in names:
        found = measured(name)
        results += found
        print(table(found), flush=True)
        if given.json:
            keep(given.json, name, found, machine_line(machine))
    missed = [result.name for result in results if result.met is False]
    if missed:
        print(f"missed: {', '.join(missed)}", file=sys.stderr)
    return 1 if missed else 0


def provide(programs: Iterable[str]) -> None:
    """Install the packages of programs that are missing, as root where there is apt-get.

    Raises ``UnsuitableMachineError``, which names them and the command, where that is not possible.
    """
    absent = _missing(programs)
    listed = dict(line.split() for line in PACKAGES.read_text().splitlines())
    packages = sorted({listed[program] for program in absent})
    install = ["apt-get", "install", "-q", "-y", "--no-install-recommends", *packages]
    if absent and os.geteuid() == 0 and shutil.which("apt-get"):
        for command in (["apt-get", "update", "-q"], install):
            subprocess.run(
                ["timeout", "--kill-after=30", "8m", *command],
                env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
                stdin=subprocess.DEVNULL,
            )
        absent = _missing(absent)
    if absent:
        raise UnsuitableMachineError(
            f"the bench needs {', '.join(absent)} (packages {', '.join(packages)})",
            why="not installed",
            cure=f"run this as root: {' '.join(install)}",
        )


def _missing(programs: Iterable[str]) -> list[str]:
    return sorted(program for program in programs if shutil.which(program) is None)


def measured(name: str) -> list[Result]:
    """The results of a row; if it fails, one without a figure, so that the bench goes on."""
    try:
        run = cast(Callable[[], list[Result]], importlib.import_module(f"bench.{name}").run)
        return run()
    except Exception as error:
        if not isinstance(error, MawlError):
            traceback.print_exc()
        why = " ".join(str(error).split()) or type(error).__name__
        return [Result(name, None, "", "", False, why)]


def keep(file: Path, name: str, found: Sequence[Result], machine: str) -> None:
    """Put the results of a bench into the file in place of its earlier ones, in the order of ``ROWS``."""
    rows = json.loads(file.read_text() or '{"rows": []}')["rows"]
    made = {"bench": name, "date": f"{datetime.now(UTC):%Y-%m-%d}", "machine": machine}
    rows = [row for row in rows if row.get("bench") in ROWS and row["bench"] != name]
    rows += [{**made, **dataclasses.asdict(result)} for result in found]
    rows.sort(key=lambda row: [*ROWS].index(row["bench"]))
    file.write_text(json.dumps({"rows": rows}, indent=1) + "\n")


def page(rows: Sequence[Mapping[str, Any]]) -> str:
    """The page of kept rows."""
    machines = [line.partition(", load")[0] for line in dict.fromkeys(row["machine"] for row in rows)]
    lines = [
        "# What mawl costs",
        "",
        "Printed by `python -m bench --page docs/reference/speed.json` from rows of `make bench`.",
        "A figure is the median of five runs or more, unless *how* says otherwise; "
        "of `threads`, `derive` and `nmon` of three runs, of `growth` of three or one.",
        "Where there is a peer, its runs and ours took turns, and *how* has both and their range.",
        "What was tried where a bound is missed: [a look at the host](../design/host.md), [55 jobs]"
        "(../design/launch.md), [the generator](../design/input-tables.md), "
        "[direct I/O and threads](../design/programs.md), [a counted sort](../design/io-by-role.md), "
        "[reports](../design/html-report.md), [the site](../design/archive.md), "
        "[imports](../design/importers.md), [Dask](../design/cluster.md).",
        f"Bounds met: {sum(row['met'] is True for row in rows)} of "
        f"{sum(row['met'] is not None for row in rows)}.",
        *(f"Machine: {machine}." for machine in dict.fromkeys(machines)),
        "",
        *markdown_table(
            ("bench", "what", "measured", "bound", "met", "how", "date"),
            [
                (
                    row["bench"],
                    row["name"],
                    _figure(row["value"], row["unit"]),
                    row["target"] or "-",
                    {True: "yes", False: "**no**", None: "-"}[row["met"]],
                    row["detail"],
                    row["date"],
                )
                for row in rows
            ],
        ),
    ]
    return "\n".join(lines)


def _figure(value: float | None, unit: str) -> str:
    return "not known" if value is None else f"{format_plain(value, 4)} {unit}".rstrip()


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
        (
            row.name,
            _figure(row.value, row.unit),
            row.target,
            verdicts[row.met],
            row.detail,
        )
        for row in results
    ]
    widths = [max((len(row[column]) for row in rows), default=0) for column in range(4)]
    return "\n".join(
        "  ".join((*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[4])).rstrip()
        for row in rows
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
