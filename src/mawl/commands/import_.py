"""Import SAS logs, histories of schedulers, recordings of hosts, files of fio: together they are one run.

Kinds are found by what files hold. docs/guides/import.md has examples, and what can and cannot be known.
"""

from __future__ import annotations

import secrets
import sys
import time
from fnmatch import fnmatchcase
from pathlib import Path

import msgspec

from mawl.base.errors import UsageError
from mawl.base.printable import encodable
from mawl.base.units import counted_noun
from mawl.commands.arguments import DATES, JSON, RUNS, SHIFT, TIMEZONE, patterns_by_role, settings
from mawl.commands.attach import attach
from mawl.commands.attach import text as attached_text
from mawl.commands.verbs import Arguments, Verb, operand, option, repeated
from mawl.importers.arrays import load_map
from mawl.importers.clock import Clocks, parse_shifts, parse_untimed, parse_zones
from mawl.importers.formats.saslog_records import DateOrder
from mawl.importers.import_files import IMPORTERS, Imported, ImportRequest, import_files
from mawl.records.store.files import lies_in
from mawl.reports.json import render

MOST_TOLD = 5


class ImportArguments(Arguments):
    paths: list[str] = operand("PATH", "files, or directories with all below them", nargs="+")
    kind: str | None = option(
        None, "all files are of this kind (default: detected)", name="as", choices=tuple(IMPORTERS)
    )
    output: str | None = option("DIR", "the run folder to make (default: in --runs)")
    runs: str | None = RUNS
    timezone: list[str] = TIMEZONE
    shift: list[str] = SHIFT
    dates: DateOrder | None = DATES
    start: str | None = option(
        "TIME",
        "when the first report was written, for recordings without times: 2026-11-21T20:44:30, in the "
        "zone of --timezone or with +HH:MM; needs --interval, too",
    )
    interval: str | None = option("SECONDS", "how far the reports of recordings without times lie apart")
    role: list[str] = repeated(
        "ROLE=PATTERN",
        "devices of a role, as a regular expression of whole names: work='hdisk1[0-9]'; may be repeated",
    )
    array_map: str | None = option(
        "FILE",
        "columns of statistics of a storage array, and which files have them (see mawl attach); the "
        "other files are imported as without it",
    )
    json: bool = JSON


def run(arguments: ImportArguments) -> int:
    runs = settings().runs(arguments.runs)
    run_id = f"{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}-imported-{secrets.token_hex(2)}"
    output = arguments.output
    paths, of_arrays = _split(arguments.paths, arguments.array_map)
    request = ImportRequest(
        paths=paths,
        folder=(runs / run_id if output is None else Path(output)).absolute(),
        run_id=run_id if output is None else Path(output).absolute().name,
        runs=runs if output is None or lies_in(Path(output), runs) else None,
        kind=arguments.kind,
        clocks=Clocks(parse_zones(arguments.timezone, tuple(IMPORTERS)), parse_shifts(arguments.shift)),
        untimed=parse_untimed(arguments.start, arguments.interval),
        dates=arguments.dates,
        roles=patterns_by_role("--role", arguments.role),
        command=["mawl", *map(encodable, sys.argv[1:])],
    )
    imported = import_files(request)
    if of_arrays and arguments.array_map is not None:
        attached = attach(request.folder, of_arrays, Path(arguments.array_map))
        if not arguments.json:
            print(attached_text(attached))
    print(render(msgspec.to_builtins(imported)) if arguments.json else _text(imported))
    return 0


def _split(paths: list[str], array_map: str | None) -> tuple[list[str], list[Path]]:
    """Paths to import, and files of an array: those that were named and fit the pattern of its map."""
    if array_map is None:
        return paths, []
    pattern = load_map(Path(array_map)).files
    of_arrays = [path for path in paths if fnmatchcase(Path(path).name, pattern) and not Path(path).is_dir()]
    if not of_arrays:
        raise UsageError(
            f"no named file fits {pattern}", where=array_map, cure="name them, or set files in it"
        )
    rest = [path for path in paths if path not in of_arrays]
    if not rest:
        raise UsageError(
            "only files of an array are named", cure="name logs or recordings, too; or mawl attach"
        )
    return rest, [Path(path) for path in of_arrays]


def _text(imported: Imported) -> str:
    lines = [
        f"run       {imported.run}",
        f"folder    {imported.folder}",
        f"files     {imported.files}, with {counted_noun(imported.blocks, 'performance note')}",
        f"jobs      {imported.jobs} in {counted_noun(imported.sessions, 'session')}, "
        f"{counted_noun(imported.steps, 'step')}",
        f"samples   {imported.samples} of the host",
        *(f"warning   {warning}" for warning in imported.warnings),
        *(f"remark    {remark}" for remark in imported.remarks),
    ]
    for skipped in imported.skipped[:MOST_TOLD]:
        where = skipped.file if skipped.line is None else f"{skipped.file}, line {skipped.line}"
        lines.append(f"skipped   {where}: {skipped.reason}")
    if len(imported.skipped) > MOST_TOLD:
        lines.append(
            f"skipped   and {len(imported.skipped) - MOST_TOLD} more (--json, or sources in run.json)"
        )
    return "\n".join(lines)


VERBS = {"import": Verb(ImportArguments, run)}
