"""Make a workload from SAS logs: the jobs of a night, which mawl runs without SAS and without their names.

LOGS are SAS logs, with or without recordings of their hosts, or one run folder. docs/guides/derive.md shows
it; evidence.html says of each number whether the logs tell it, or whether mawl infers or assumes it.
"""

from __future__ import annotations

import argparse
import contextlib
import re
import secrets
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from mawl.commands.arguments import settings
from mawl.derive.derive import DeriveRequest, derive
from mawl.derive.folder import make_derived_folder, write_derived, write_nights
from mawl.derive.nights import derive_nights, parse_daily
from mawl.derive.shown import text_of, text_of_nights
from mawl.derive.window import parse_night
from mawl.errors import UsageError
from mawl.importers.build import ImportRequest, import_files
from mawl.importers.clock import Clocks, parse_shifts, parse_zones
from mawl.importers.registry import IMPORTERS
from mawl.model.derived import FASTEST_CORE, SLOWEST_CORE
from mawl.spec.program_options import ROLES, Role
from mawl.store import Run, open_run
from mawl.store.layout import FACTS

NAME = "derive"
HELP = "make a workload from SAS logs, to run it without SAS"
LEAST, MOST = 0.001, 1000.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """``mawl derive LOGS...``."""
    parser.add_argument(
        "logs", nargs="+", metavar="LOGS", help="logs, recordings, directories of them; or one run folder"
    )
    parser.add_argument("--output", required=True, metavar="DIR", help="the folder to make")
    parser.add_argument(
        "--night",
        metavar="START/END",
        help="jobs that started in this window only: 2026-03-02T20:00/06:00, in the zone of --timezone",
    )
    parser.add_argument(
        "--nights",
        type=int,
        metavar="N",
        help="choose N nights that represent all, each in its own folder; --night is then the window of "
        "every day: 20:00/06:00",
    )
    parser.add_argument(
        "--arrivals",
        choices=("clock", "closed"),
        default="clock",
        help="clock: jobs start at their time of the night, or when the job ends that they followed in the "
        "logs; closed: each starts when the one before it in its session has ended (default: clock)",
    )
    parser.add_argument(
        "--scale",
        type=_factor,
        default=1.0,
        metavar="FACTOR",
        help="multiply bytes, CPU time, memory and times of the clock by this (default: 1)",
    )
    parser.add_argument(
        "--growth", type=_factor, default=1.0, metavar="FACTOR", help="factor of rows: 1.3 for 30 %% more"
    )
    for option, what in (("--only", "derive these programs only"), ("--without", "leave these programs out")):
        parser.add_argument(
            option,
            action="append",
            default=[],
            metavar="PATTERN",
            help=f"{what}: name of a log without its date, with * and ?; may be repeated",
        )
    parser.add_argument(
        "--names",
        choices=("hash", "keep"),
        default="hash",
        help="hash: the folder has no names from the logs but those of SAS procedures; keep: programs and "
        "tables keep their names (default: hash)",
    )
    parser.add_argument(
        "--library",
        action="append",
        default=[],
        metavar="ROLE=PATTERN",
        help="a regular expression for whole librefs of a role: work='SCRATCH[0-9]'; may be repeated",
    )
    parser.add_argument(
        "--timezone",
        action="append",
        default=[],
        metavar="ZONE",
        help="zone of the files' wall clocks: Area/City or +HH:MM, for one kind KIND=ZONE (default: UTC)",
    )
    parser.add_argument(
        "--shift",
        action="append",
        default=[],
        metavar="NODE=SECONDS",
        help="move the recording of a node, or all files of a kind, by seconds; may be repeated",
    )
    parser.add_argument(
        "--core-speed",
        type=_core_speed,
        metavar="NUMBER",
        help="speed of a core where the logs were written, as mawl doctor measures it there; jobs then need "
        "less CPU time on faster cores (default: not known, the same CPU time everywhere)",
    )
    parser.add_argument("--runs", metavar="DIR", help="where run folders are (default: ./runs)")


def run(arguments: argparse.Namespace) -> int:
    """Derive, and print how sure the numbers are."""
    clocks = Clocks(parse_zones(arguments.timezone, tuple(IMPORTERS)), parse_shifts(arguments.shift))
    zone = clocks.zone_of("saslog")
    daily = None
    if arguments.nights is not None:
        if arguments.nights < 1 or arguments.night is None:
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
        libraries=_libraries(arguments.library),
        core_speed=arguments.core_speed,
    )
    output = Path(arguments.output)
    make_derived_folder(output)
    with _opened(arguments.logs, clocks, settings().runs(arguments.runs)) as stored:
        if daily is not None:
            thinning, nights = derive_nights(stored, request, daily, arguments.nights)
            write_nights(output, thinning, nights)
            print(text_of_nights(thinning, str(output)))
            return 0
        derived = derive(stored, request)
    write_derived(output, derived)
    print(text_of(derived.evidence, str(output)))
    return 0


@contextlib.contextmanager
def _opened(paths: list[str], clocks: Clocks, runs: Path) -> Iterator[Run]:
    """The run folder that is named, or a run of the files for as long as it is read."""
    if len(paths) == 1 and ((Path(paths[0]) / FACTS).exists() or not Path(paths[0]).exists()):
        yield open_run(paths[0], runs)
        return
    with tempfile.TemporaryDirectory(prefix="mawl-derive-") as temporary:
        folder = Path(temporary) / "run"
        import_files(
            ImportRequest(
                paths=paths,
                folder=folder,
                run_id=f"derive-{secrets.token_hex(2)}",
                clocks=clocks,
                command=["mawl", *sys.argv[1:]],
            )
        )
        yield open_run(folder)


def _factor(text: str) -> float:
    try:
        factor = float(text)
    except ValueError:
        factor = 0.0
    if not LEAST <= factor <= MOST:
        raise argparse.ArgumentTypeError(f"expected a factor from {LEAST:g} to {MOST:g}, found {text}")
    return factor


def _core_speed(text: str) -> float:
    try:
        speed = float(text)
    except ValueError:
        speed = 0.0
    if not SLOWEST_CORE <= speed <= FASTEST_CORE:
        expected = f"expected a speed from {SLOWEST_CORE:g} to {FASTEST_CORE:g}"
        raise argparse.ArgumentTypeError(f"{expected}, found {text}")
    return speed


def _libraries(given: list[str]) -> dict[Role, list[re.Pattern[str]]]:
    patterns: dict[Role, list[re.Pattern[str]]] = {}
    for text in given:
        name, separator, pattern = text.partition("=")
        role = next((role for role in ROLES if role == name), None)
        if not separator or role is None:
            raise UsageError(f"--library {text}: expected ROLE=PATTERN with a role of {', '.join(ROLES)}")
        try:
            patterns.setdefault(role, []).append(re.compile(pattern, re.IGNORECASE))
        except re.error as error:
            raise UsageError(f"--library {text}: no regular expression: {error}") from None
    return patterns
