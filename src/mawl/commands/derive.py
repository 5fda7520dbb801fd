"""Make a workload from SAS logs: the jobs of a night, as records that mawl runs without SAS.

LOGS are SAS logs, with or without the history of their scheduler and recordings of their hosts, or one run
folder. docs/guides/derive.md has examples. evidence.html shows for each number whether it is in the logs,
inferred from them, or assumed.
"""

from __future__ import annotations

import argparse
import contextlib
import math
import re
import secrets
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

from mawl.base.errors import UsageError
from mawl.base.printable import encodable
from mawl.base.removal import temporary_directory
from mawl.commands.arguments import DATES, RUNS, SHIFT, TIMEZONE, patterns_by_role, settings
from mawl.commands.verbs import Arguments, Verb, operand, option, repeated
from mawl.derive.derive import DeriveRequest, derive
from mawl.derive.evidence import parse_night
from mawl.derive.folder import make_derived_folder, write_derived, write_nights
from mawl.derive.nights import derive_nights, parse_daily
from mawl.derive.text import text_of, text_of_nights
from mawl.importers.clock import Clocks, parse_shifts, parse_zones
from mawl.importers.formats.saslog_records import DateOrder
from mawl.importers.import_files import IMPORTERS, ImportRequest, import_files
from mawl.importers.scheduler_jobs import sentence_of
from mawl.records.model.derived import FASTEST_CORE, SLOWEST_CORE
from mawl.records.spec.forms import Number
from mawl.records.store import Run, open_run
from mawl.records.store.files import FACTS

PATTERN_HELP = "name of a log without its date, with * and ?; may be repeated"
FACTOR = Number(0.001, 1000.0, expected="a factor from 0.001 to 1000")


class DeriveArguments(Arguments):
    logs: list[str] = operand(
        "LOGS", "logs, histories of schedulers, recordings, directories of them; or one run folder", nargs="+"
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


def run(arguments: DeriveArguments) -> int:
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
            print(text_of_nights(thinning, str(output)))
            return 0
        derived = derive(stored, request)
    write_derived(output, derived)
    print(text_of(derived.evidence, str(output)))
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


def _number(what: str, least: float, most: float) -> Callable[[str], float]:
    def parsed(text: str) -> float:
        try:
            number = float(text)
        except ValueError:
            number = math.nan
        if not least <= number <= most:
            raise argparse.ArgumentTypeError(f"expected a {what} from {least:g} to {most:g}, found {text}")
        return number

    return parsed


VERBS = {"derive": Verb(DeriveArguments, run)}
