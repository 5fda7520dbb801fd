"""`mawl tune search`: run options tried against the baseline, a gain established or excluded, and a profile.

docs/guides/search.md says how to use it, docs/design/search.md what its confidence means.
"""

from __future__ import annotations

import argparse
import secrets
import sys
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from mawl.advice.capacity.bounds import CapacityBounds
from mawl.advice.judge import judged
from mawl.analysis.view import StoredView
from mawl.commands.arguments import add_options, add_role_arguments, asked, bounds_of, settings
from mawl.commands.campaign_place import (
    check_place,
    note_version,
    saying_how_to_go_on,
    this_machine,
)
from mawl.commands.extras import missing_package, require_programs
from mawl.errors import MawlError, UsageError
from mawl.model.campaign import Campaign
from mawl.plan.workload import shipped
from mawl.reporters.json import render
from mawl.spec.record import DEFAULT_WORKLOAD, RunSpec
from mawl.store import open_run
from mawl.store.campaign import locate_campaign, read_campaign
from mawl.tuning.check import check, of_the_machine
from mawl.tuning.inventory import run_reading
from mawl.tuning.profile_files import profiles
from mawl.tuning.search import text as reporter
from mawl.tuning.search.baseline import checked_space
from mawl.tuning.search.records import OBJECTIVES, SearchFound, SearchRecord
from mawl.version import __version__

if TYPE_CHECKING:
    from mawl.analysis.comparison.sides import Side
    from mawl.tuning.search.conduct import SearchCampaign
    from mawl.tuning.search.search import SearchResult

DEFAULT_BUDGET = "20min"
DEFAULT_CONFIDENCE = 0.95
DEFAULT_SMALLEST_GAIN = 0.05
UNITS = {"s": 1.0, "min": 60.0, "h": 3600.0}
PROFILE = "profile.toml"


def add_search_arguments(parser: argparse.ArgumentParser) -> None:
    """``mawl tune search [WORKLOAD]``, or ``--continue FOLDER``."""
    parser.add_argument(
        "workload",
        nargs="?",
        metavar="WORKLOAD",
        help=f"a shipped workload ({', '.join(shipped())}) or a TOML file (default: {DEFAULT_WORKLOAD})",
    )
    parser.add_argument("--space", metavar="FILE", help="the space: a TOML file with a key per dimension")
    parser.add_argument(
        "--dimension",
        action="append",
        metavar="NAME=VALUE,VALUE",
        help="a dimension of the space, such as sortsize=16MiB,256MiB or cpucount=1..8 (doublings) or "
        "work=DIR:DIR,DIR; may be repeated",
    )
    parser.add_argument(
        "--objective", choices=tuple(OBJECTIVES), help="the figure to improve (default: response-time)"
    )
    parser.add_argument(
        "--budget", metavar="TIME", help=f"time for all runs, in s, min or h (default: {DEFAULT_BUDGET})"
    )
    parser.add_argument(
        "--confidence",
        type=float,
        metavar="RATIO",
        help=f"confidence level for reporting a gain or ruling one out (default: {DEFAULT_CONFIDENCE:g})",
    )
    parser.add_argument(
        "--smallest-gain",
        type=float,
        metavar="RATIO",
        help=f"a gain below which none is worth having (default: {DEFAULT_SMALLEST_GAIN:g})",
    )
    parser.add_argument("--seed", type=int, help="seed of proposals and of the order of runs (default: 1)")
    parser.add_argument("--continue", dest="resumed", metavar="FOLDER", help="go on with a search")
    parser.add_argument(
        "--write-profile",
        metavar="FILE",
        help=f"where the profile of a gain is written (default: {PROFILE} in the search's folder)",
    )
    add_options(parser, "sessions", "scale")
    parser.add_argument(
        "--option",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a run option of the baseline, as for mawl run; may be repeated",
    )
    add_options(parser, "cache", "cores", "memory_limit_bytes")
    add_role_arguments(parser)
    add_options(parser, "volume_order")
    parser.add_argument("--runs", metavar="DIR", help="where the search's folder goes (default: ./runs)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run_search(arguments: argparse.Namespace) -> int:
    """Search, or go on with a search; 0 whatever it found."""
    if find_spec("optuna") is None:
        raise missing_package(ModuleNotFoundError(name="optuna"), "search")
    require_programs()
    from mawl.campaigns.command import MawlRun
    from mawl.campaigns.series import begin, held, resume
    from mawl.tuning.search.conduct import SearchCampaign
    from mawl.tuning.search.file import read_search, write_search

    chosen = settings()
    runs = chosen.runs(arguments.runs)
    if arguments.resumed is not None:
        _refuse_others(arguments)
        folder = locate_campaign(arguments.resumed, runs)
        kept = read_search(folder)
        campaign = read_campaign(folder)
        check_place(campaign, folder)
    else:
        arguments.workload = arguments.workload or DEFAULT_WORKLOAD
        own = asked(arguments, leave=("seed",))
        baseline = msgspec.structs.replace(own, runs=str(runs.absolute()), html=False)
        kept = _asked(arguments, baseline)
        campaign = _campaign(baseline)
        folder = (runs / campaign.name).absolute()
        folder.mkdir(parents=True, mode=0o700)
        kept = msgspec.structs.replace(
            kept, profile=str(Path(arguments.write_profile or folder / PROFILE).absolute())
        )
        write_search(folder, kept)
    bounds = bounds_of(chosen)
    _say(f"search folder: {folder}")
    with held(folder) as lock:
        execute = MawlRun(campaign, _keep_quiet)
        if arguments.resumed is None:
            series = begin(folder, campaign, execute, lock)
        else:
            series = resume(folder, execute, lock)
            note_version(series)
        search = SearchCampaign(series, kept, lambda path: judged(StoredView(open_run(path)), bounds), _say)
        with saying_how_to_go_on(series, "mawl tune search"):
            found = search.carry_out()
        told = _told(search, found, bounds)
    print(render(msgspec.to_builtins(told)) if arguments.json else reporter.render(told))
    return 0


def _told(search: SearchCampaign, found: SearchResult, bounds: CapacityBounds) -> SearchFound:
    """What was found, with its statement; the profile of a gain is written."""
    from mawl.tuning.search.results import as_found, write_profile

    told = reporter.stated(as_found(search, found, _sides(search, bounds), _proposals(search, bounds)))
    if told.outcome == "gain":
        write_profile(told, search.record, search.series.record.created_at)
    return told


def _sides(search: SearchCampaign, bounds: CapacityBounds) -> tuple[Side, Side] | None:
    """The confirming runs."""
    from mawl.analysis.comparison.sides import compared_run, side_of
    from mawl.tuning.search.conduct import CANDIDATE, REFERENCE

    def side(arm: str) -> Side:
        views = (StoredView(open_run(search.series.path(slot))) for slot in search.series.runs_of(arm))
        return side_of(arm, [compared_run(view, judged(view, bounds)) for view in views])

    if not all(search.series.runs_of(arm) for arm in (REFERENCE, CANDIDATE)):
        return None
    return side(REFERENCE), side(CANDIDATE)


def _proposals(search: SearchCampaign, bounds: CapacityBounds) -> Any:
    """Settings of kernel and devices that differ, by the last run of the baseline."""
    from mawl.tuning.search.conduct import BASELINE, REFERENCE
    from mawl.tuning.search.results import Proposals

    made = [*search.series.runs_of(BASELINE), *search.series.runs_of(REFERENCE)]
    if not made:
        return Proposals(rows=[], reason="no run of the baseline")
    last = search.series.path(made[-1])
    try:
        reading = of_the_machine(run_reading(str(last), last.parent, bounds))
        rows = check(reading, None, profiles()).settings
    except MawlError as error:
        return Proposals(rows=[], reason=str(error))
    return Proposals(rows=[row for row in rows if row.state == "differs"])


def _asked(arguments: argparse.Namespace, baseline: RunSpec) -> SearchRecord:
    """What the command line asks, checked whole before anything runs."""
    confidence = DEFAULT_CONFIDENCE if arguments.confidence is None else arguments.confidence
    if not 0.5 <= confidence < 1.0:
        raise UsageError(f"--confidence {confidence:g}: expected a ratio from 0.5 to below 1")
    gain = DEFAULT_SMALLEST_GAIN if arguments.smallest_gain is None else arguments.smallest_gain
    if not 0.0 < gain < 1.0:
        raise UsageError(f"--smallest-gain {gain:g}: expected a ratio above 0 and below 1")
    seed = 1 if arguments.seed is None else arguments.seed
    if not 0 <= seed < 2**32:
        raise UsageError(f"--seed {seed}: expected a whole number from 0 to {2**32 - 1}")
    objective = arguments.objective or next(iter(OBJECTIVES))
    space, unchanged, directories = checked_space(arguments, baseline, objective)
    return SearchRecord(
        workload=baseline.workload,
        objective=objective,
        seed=seed,
        budget_seconds=parse_budget(arguments.budget or DEFAULT_BUDGET),
        confidence_ratio=confidence,
        smallest_gain_ratio=gain,
        dimensions=space.dimensions,
        unchanged=unchanged,
        directories=directories,
        profile="",
    )


def parse_budget(text: str) -> float:
    """Seconds of ``20min``, ``90s``, ``1.5h``."""
    unit = next((unit for unit in ("min", "s", "h") if text.endswith(unit)), "")
    try:
        seconds = float(text.removesuffix(unit)) * UNITS[unit]
    except (ValueError, KeyError):
        seconds = 0.0
    if not 0.0 < seconds < 1e9:
        raise UsageError(f"--budget {text}: expected a time such as 20min, 90s or 2h")
    return seconds


def _campaign(baseline: RunSpec) -> Campaign:
    now = time.time()
    stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime(now))
    return Campaign(
        name=f"{stamp}-search-{secrets.token_hex(2)}",
        kind="search",
        created_at=now,
        outcome="running",
        mawl_version=__version__,
        machine=this_machine(),
        directory=str(Path.cwd()),
        arms=[],
        slots=[],
        spec=baseline,
    )


def _refuse_others(arguments: argparse.Namespace) -> None:
    """What a search was asked stands in its record."""
    for name in _other_names(arguments):
        raise UsageError(f"{name} does not go with --continue", why="the search's own record has it")


def _other_names(arguments: argparse.Namespace) -> Iterator[str]:
    if arguments.workload is not None:
        yield "WORKLOAD"
    for name in (
        *("space", "dimension", "objective", "budget", "confidence", "smallest_gain", "seed"),
        *("sessions", "scale", "option", "cache", "cores", "memory_limit", "data", "work", "util"),
        *("volume_order", "write_profile"),
    ):
        if getattr(arguments, name) not in (None, []):
            yield f"--{name.replace('_', '-')}"


def _keep_quiet(_: str) -> None:
    """What a run says of its progress stands in its log."""


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
