"""SAS logs, histories of schedulers and recordings of hosts: a run of them, or a workload."""

from __future__ import annotations

import contextlib
import re
import secrets
import sys
import time
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal

import msgspec

from mawl.base.errors import UsageError
from mawl.base.printable import encodable
from mawl.base.process import importing
from mawl.base.removal import temporary_directory
from mawl.base.units import counted_noun
from mawl.commands.arguments import DATES, JSON, RUNS, SHIFT, TIMEZONE, patterns_by_role, settings
from mawl.commands.join import attach
from mawl.commands.join import text as attached_text
from mawl.commands.verbs import Arguments, Verb, operand, option, repeated, switch
from mawl.importers.clock import Clocks, parse_shifts, parse_untimed, parse_zones
from mawl.importers.formats.saslog_records import DateOrder
from mawl.importers.hosts import parse_cores, parse_hosts
from mawl.importers.import_files import IMPORTERS, Imported, ImportRequest, import_files
from mawl.importers.interface import Importer
from mawl.importers.scheduler_jobs import sentence_of
from mawl.importers.tables import HostTables, load_map, prometheus_query
from mawl.records.model.derived import FASTEST_CORE, SLOWEST_CORE
from mawl.records.spec.forms import Number
from mawl.records.store import Run, open_run
from mawl.records.store.files import FACTS, lies_in
from mawl.reports.json import render

MOST_SHOWN = 5


class ImportArguments(Arguments):
    """Import SAS logs, histories of schedulers, recordings of hosts, files of fio: together they are one run.

    Kinds are found by what files hold. mawl help import has examples, and what can and cannot be known.
    """

    paths: list[str] = operand("PATH", "files, or directories with all below them", nargs="*")
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
    node: str | None = option("NAME", "the host of recordings that do not name it (default: the file's name)")
    host: list[str] = repeated(
        "NAME[=PATTERN]",
        "recordings of hosts whose whole names fit this regular expression (without it: all recordings) are "
        "of one host, NAME; may be repeated",
    )
    cores: list[str] = repeated(
        "[NODE=]NUMBER", "processors of hosts whose recordings do not give their number; may be repeated"
    )
    role: list[str] = repeated(
        "ROLE=PATTERN",
        "devices of a role, as a regular expression of whole names: work='hdisk1[0-9]'; may be repeated",
    )
    array_map: str | None = option(
        "FILE",
        "TOML file that says what the columns of tables are, of a host or of a storage array (see mawl "
        "attach), and which files have them; the other files are imported as without it",
    )
    prometheus: list[str] = repeated(
        "FILE", "what Prometheus answered to the query of --prometheus-query; may be repeated"
    )
    prometheus_query: bool = switch("print the query for Prometheus, and do nothing else")
    json: bool = JSON


def run_import(arguments: ImportArguments) -> int:
    runs = settings().runs(arguments.runs)
    run_id = f"{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}-imported-{secrets.token_hex(2)}"
    output = arguments.output
    if arguments.prometheus_query:
        print(prometheus_query(), end="")
        return 0
    named = [*arguments.paths, *arguments.prometheus]
    if not named:
        raise UsageError("nothing is named", cure="name files or directories: mawl import PATH...")
    paths, of_arrays, of_hosts = _split(named, arguments.array_map)
    request = ImportRequest(
        paths=paths,
        folder=(runs / run_id if output is None else Path(output)).absolute(),
        run_id=run_id if output is None else Path(output).absolute().name,
        runs=runs if output is None or lies_in(Path(output), runs) else None,
        kind=arguments.kind,
        kinds={**of_hosts, **{str(Path(name)): IMPORTERS["prometheus"] for name in arguments.prometheus}},
        clocks=Clocks(parse_zones(arguments.timezone, tuple(IMPORTERS)), parse_shifts(arguments.shift)),
        untimed=parse_untimed(arguments.start, arguments.interval),
        dates=arguments.dates,
        roles=patterns_by_role("--role", arguments.role),
        cores=parse_cores(arguments.cores),
        hosts=parse_hosts(arguments.node, arguments.host),
        command=["mawl", *map(encodable, sys.argv[1:])],
    )
    imported = import_files(request)
    if of_arrays and arguments.array_map is not None:
        attached = attach(request.folder, of_arrays, Path(arguments.array_map))
        if not arguments.json:
            print(attached_text(attached))
    print(render(msgspec.to_builtins(imported)) if arguments.json else _text_of_import(imported))
    return 0


def _split(paths: list[str], array_map: str | None) -> tuple[list[str], list[Path], dict[str, Importer]]:
    """Paths to import, files of an array, and by path the reader of the tables of hosts.

    Tables are the files that were named and fit the pattern of the map.
    """
    if array_map is None:
        return paths, [], {}
    held = load_map(Path(array_map))
    mapped = [path for path in paths if fnmatchcase(Path(path).name, held.files) and not Path(path).is_dir()]
    if not mapped:
        raise UsageError(
            f"no named file fits {held.files}", where=array_map, cure="name them, or set files in it"
        )
    if held.of == "host":
        return paths, [], {str(Path(path)): HostTables("table", held) for path in mapped}
    rest = [path for path in paths if path not in mapped]
    if not rest:
        raise UsageError(
            "only files of an array are named", cure="name logs or recordings, too; or mawl attach"
        )
    return rest, [Path(path) for path in mapped], {}


def _text_of_import(imported: Imported) -> str:
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
    for skipped in imported.skipped[:MOST_SHOWN]:
        where = skipped.file if skipped.line is None else f"{skipped.file}, line {skipped.line}"
        lines.append(f"skipped   {where}: {skipped.reason}")
    if len(imported.skipped) > MOST_SHOWN:
        lines.append(
            f"skipped   and {len(imported.skipped) - MOST_SHOWN} more (--json, or sources in run.json)"
        )
    return "\n".join(lines)


PATTERN_HELP = "name of a log without its date, with * and ?; may be repeated"
FACTOR = Number(0.001, 1000.0, expected="a factor from 0.001 to 1000")


class DeriveArguments(Arguments):
    """Make a workload from SAS logs: the jobs of a night, as records that mawl runs without SAS.

    LOGS are SAS logs, with or without the history of their scheduler and recordings of their hosts, or one
    run folder. mawl help derive has examples. evidence.html shows for each number whether it is in the
    logs, inferred from them, or assumed.
    """

    logs: list[str] = operand(
        "LOGS",
        "logs, histories of schedulers, recordings, directories of them; or one run folder",
        nargs="+",
    )
    output: str = option("DIR", "the folder to make", required=True)
    night: str | None = option(
        "START/END",
        "jobs that started in this window only: 2026-03-02T20:00/06:00, in the zone of --timezone",
    )
    nights: int | None = option(
        "N",
        "choose N nights that represent all, each in its own folder; --night is then the window of "
        "every day: 20:00/06:00",
    )
    arrivals: Literal["clock", "closed"] = option(
        None,
        "clock: jobs start at their time of the night, or when the job ends that they followed in the "
        "logs; closed: each starts when the one before it in its session has ended (default: clock)",
        default="clock",
    )
    scale: float = option(
        "FACTOR",
        "multiply rows, bytes, CPU time, memory and times of the clock by this (default: 1)",
        form=FACTOR,
        default=1.0,
    )
    growth: float = option(
        "FACTOR",
        "multiply rows, bytes and CPU time by this: 1.3 for 30 %% more (default: 1)",
        form=FACTOR,
        default=1.0,
    )
    only: list[str] = repeated("PATTERN", f"derive these programs only: {PATTERN_HELP}")
    without: list[str] = repeated("PATTERN", f"leave these programs out: {PATTERN_HELP}")
    names: Literal["hash", "keep"] = option(
        None,
        "hash: the folder has no names from the logs but those of SAS procedures; keep: programs and "
        "tables keep their names (default: hash)",
        default="hash",
    )
    library: list[str] = repeated(
        "ROLE=PATTERN",
        "a regular expression for whole librefs of a role: work='SCRATCH[0-9]'; may be repeated",
    )
    timezone: list[str] = TIMEZONE
    shift: list[str] = SHIFT
    dates: DateOrder | None = DATES
    core_speed: float | None = option(
        "NUMBER",
        "speed of a core where the logs were written, as mawl doctor measures it there; jobs then need "
        "less CPU time on faster cores (default: not known, the same CPU time everywhere)",
        form=Number(
            SLOWEST_CORE, FASTEST_CORE, expected=f"a speed from {SLOWEST_CORE:g} to {FASTEST_CORE:g}"
        ),
    )
    runs: str | None = RUNS


def run_derive(arguments: DeriveArguments) -> int:
    with importing():  # import does without
        from mawl.derive.derive import DeriveRequest, derive
        from mawl.derive.document import (
            document,
            make_derived_folder,
            nights_parts,
            write_derived,
            write_nights,
        )
        from mawl.derive.evidence import parse_night
        from mawl.derive.nights import derive_nights, parse_daily
        from mawl.reports.document import rendered, terminal

    clocks = Clocks(parse_zones(arguments.timezone, tuple(IMPORTERS)), parse_shifts(arguments.shift))
    zone = clocks.zone_of("saslog")
    daily = None
    nights = arguments.nights
    if nights is not None:
        if nights < 1 or arguments.night is None:
            raise UsageError("--nights takes at least 1, and the window of every day: --night 20:00/06:00")
        daily = parse_daily(arguments.night, zone)
    request = DeriveRequest(
        night=parse_night(arguments.night, zone) if arguments.night and daily is None else None,
        arrivals=arguments.arrivals,
        growth=arguments.growth,
        scale=arguments.scale,
        only=arguments.only,
        without=arguments.without,
        keep_names=arguments.names == "keep",
        libraries=patterns_by_role("--library", arguments.library, re.IGNORECASE),
        core_speed=arguments.core_speed,
    )
    output = Path(arguments.output)
    make_derived_folder(output)
    runs = settings().runs(arguments.runs)
    with _open_logs(arguments.logs, clocks, arguments.dates, runs) as stored:
        if nights is not None and daily is not None:
            thinning, chosen = derive_nights(stored, request, daily, nights)
            write_nights(output, thinning, chosen)
            print(terminal(nights_parts(thinning, str(output))))
            return 0
        derived = derive(stored, request)
    write_derived(output, derived)
    print(rendered(document(derived.evidence, str(output)), "text"))
    return 0


@contextlib.contextmanager
def _open_logs(paths: list[str], clocks: Clocks, dates: DateOrder | None, runs: Path) -> Iterator[Run]:
    """The run folder that is named, or a run of the files for as long as it is read."""
    if len(paths) == 1 and ((Path(paths[0]) / FACTS).exists() or not Path(paths[0]).exists()):
        yield open_run(paths[0], runs)
        return
    with temporary_directory("mawl-derive-") as temporary:
        folder = temporary / "run"
        made = import_files(
            ImportRequest(
                paths=paths,
                folder=folder,
                run_id=f"derive-{secrets.token_hex(2)}",
                clocks=clocks,
                dates=dates,
                command=["mawl", *map(encodable, sys.argv[1:])],
            )
        )
        for warning in made.warnings:
            print(f"warning   {warning}")
        for remark in made.dates:
            print(f"remark    {remark}")
        if made.schedulers is not None:
            print(f"remark    {sentence_of(made.schedulers)}")
        yield open_run(folder)


VERBS = {
    "import": Verb(ImportArguments, run_import),
    "derive": Verb(DeriveArguments, run_derive),
}
