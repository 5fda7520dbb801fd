"""What is set, what is recommended, and how to change it; mawl changes nothing (docs/guides/tuning.md).

`show` prints the profiles: settings with their default, what is recommended, why and by whom. `check`
compares them with the settings that a run recorded, with this machine (`--live`), or with the output of
commands of another system (`--from`). `compare` shows what changed between two collections or runs.
`collector` prints a shell script that collects such output on AIX, Linux, Spectrum Scale or a virtual I/O
server. `search` tries run options against the baseline, and says whether there is a gain
(docs/guides/search.md).
"""

from __future__ import annotations

import argparse
import secrets
import sys
import time
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from mawl.advice.bounds import AnswerBounds
from mawl.advice.judge import judged
from mawl.base.errors import MawlError, UsageError
from mawl.commands.arguments import add_options, add_role_arguments, bounds_of, settings, spec_of_arguments
from mawl.commands.campaign_continue import check_place, note_version, saying_how_to_go_on, this_machine
from mawl.commands.terminal import missing_package, require_programs, width_of
from mawl.figures.view import StoredView
from mawl.importers.formats.settings.collection import PLATFORMS
from mawl.plan.workload import shipped
from mawl.records.model.campaign import Campaign
from mawl.records.spec.run_spec import DEFAULT_WORKLOAD, RunSpec
from mawl.records.store import open_run
from mawl.records.store.campaign import locate_campaign, read_campaign
from mawl.reports.json import render
from mawl.tuning import text as tuning
from mawl.tuning.changes import changes
from mawl.tuning.check import check, machine_settings
from mawl.tuning.collection import collector, read_collections
from mawl.tuning.inventory import live_inventory, run_reading
from mawl.tuning.profile_files import profile, profiles
from mawl.tuning.records import Profile
from mawl.tuning.search import text as reporter
from mawl.tuning.search.records import OBJECTIVES, SearchAnswer, SearchRecord
from mawl.tuning.search.space import checked_space
from mawl.tuning.text import render_changes
from mawl.version import __version__

if TYPE_CHECKING:
    from mawl.figures.comparison.sides import Side
    from mawl.tuning.search.search import SearchCampaign, SearchResult


DEFAULT_BUDGET = "20min"
DEFAULT_CONFIDENCE = 0.95
DEFAULT_SMALLEST_GAIN = 0.05
UNITS = {"s": 1.0, "min": 60.0, "h": 3600.0}
PROFILE = "profile.toml"


def add_search_arguments(parser: argparse.ArgumentParser) -> None:
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
    from mawl.campaigns.process import MawlRun
    from mawl.campaigns.series import begin, held, resume
    from mawl.tuning.search.records import read_search, write_search
    from mawl.tuning.search.search import SearchCampaign

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
        own = spec_of_arguments(arguments, leave=("seed",))
        baseline = msgspec.structs.replace(own, runs=str(runs.absolute()), html=False)
        kept = _search_record(arguments, baseline)
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
        told = _search_found(search, found, bounds)
    print(render(msgspec.to_builtins(told)) if arguments.json else reporter.render(told))
    return 0


def _search_found(search: SearchCampaign, found: SearchResult, bounds: AnswerBounds) -> SearchAnswer:
    from mawl.tuning.search.results import search_answer, write_profile

    told = reporter.with_statement(
        search_answer(search, found, _sides(search, bounds), _proposals(search, bounds))
    )
    if told.outcome == "gain":
        write_profile(told, search.record, search.series.record.created_at)
    return told


def _sides(search: SearchCampaign, bounds: AnswerBounds) -> tuple[Side, Side] | None:
    from mawl.figures.comparison.sides import compared_run, side_of
    from mawl.tuning.search.search import CANDIDATE, REFERENCE

    def side(arm: str) -> Side:
        views = (StoredView(open_run(search.series.path(slot))) for slot in search.series.runs_of(arm))
        return side_of(arm, [compared_run(view, judged(view, bounds)) for view in views])

    if not all(search.series.runs_of(arm) for arm in (REFERENCE, CANDIDATE)):
        return None
    return side(REFERENCE), side(CANDIDATE)


def _proposals(search: SearchCampaign, bounds: AnswerBounds) -> Any:
    from mawl.tuning.search.results import Proposals
    from mawl.tuning.search.search import BASELINE, REFERENCE

    made = [*search.series.runs_of(BASELINE), *search.series.runs_of(REFERENCE)]
    if not made:
        return Proposals(rows=[], reason="no run of the baseline")
    last = search.series.path(made[-1])
    try:
        reading = machine_settings(run_reading(str(last), last.parent, bounds))
        rows = check(reading, None, profiles()).settings
    except MawlError as error:
        return Proposals(rows=[], reason=str(error))
    return Proposals(rows=[row for row in rows if row.state == "differs"])


def _search_record(arguments: argparse.Namespace, baseline: RunSpec) -> SearchRecord:
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


NAME = "tune"
HELP = "settings: what is set, what is recommended, why, and the commands that change it"


class ProfilesShown(msgspec.Struct, frozen=True, kw_only=True):
    """The profiles that ``mawl tune show --json`` prints."""

    profiles: list[Profile]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    names = "show|check|compare|collector|search"
    verbs = parser.add_subparsers(dest="tune_verb", metavar=names, required=True)
    show = verbs.add_parser("show", help="the profiles, or one of them")
    show.add_argument("profile", nargs="?", metavar="PROFILE", help="a name, or a TOML file of your own")
    show.add_argument("--all", action="store_true", help="every setting of every profile")
    show.add_argument("--json", action="store_true", help="print one JSON object")
    show.set_defaults(run_tune=_show)
    compare = verbs.add_parser("check", help="compare what is set with what is recommended")
    compare.add_argument(
        "run",
        nargs="?",
        metavar="RUN",
        help="a run folder, a run id, or latest (default, without --live and --from)",
    )
    compare.add_argument("--live", action="store_true", help="this machine as it is set now")
    compare.add_argument(
        "--from",
        nargs="+",
        dest="collected",
        metavar="PATH",
        help="files with the output of commands of another system, or folders that its collector wrote",
    )
    add_role_arguments(compare, own=False)
    _add_common(compare)
    compare.add_argument("--all", action="store_true", help="every setting, also those that do not differ")
    compare.set_defaults(run_tune=_check)
    sides = verbs.add_parser(
        "compare", help="settings before and after: changed, left as they were, not checked"
    )
    for side, what in (("before", "older"), ("after", "newer")):
        sides.add_argument(side, metavar=side.upper(), help=f"the {what} collection, or a run")
    _add_common(sides)
    sides.add_argument("--all", action="store_true", help="also what was left as it was, or not checked")
    sides.set_defaults(run_tune=_compare)
    collect = verbs.add_parser("collector", help="print a script that collects settings; it only reads")
    collect.add_argument("platform", choices=PLATFORMS, help="what the script runs on")
    collect.set_defaults(run_tune=_collector)
    search = verbs.add_parser(
        "search", help="run options that are better than the baseline, if there are any"
    )
    add_search_arguments(search)
    search.set_defaults(run_tune=run_search)


def _add_common(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--storage",
        action="append",
        metavar="NAMES=SYSTEM",
        help="for files: the storage system that disks, adapters or file systems are on, such as "
        "'sasdata=ESS GL4' or 'hdisk*=XIV'; may be repeated (default: what the files say)",
    )
    parser.add_argument("--runs", metavar="DIR", help="where run folders are (default: ./runs)")
    parser.add_argument(
        "--profile",
        action="append",
        metavar="PROFILE",
        help="a profile or a TOML file; may be repeated (default: those for the "
        "platform that `mawl tune show` marks with *)",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> int:
    status: int = arguments.run_tune(arguments)
    return status


def _show(arguments: argparse.Namespace) -> int:
    if arguments.all and arguments.profile is not None:
        raise UsageError("--all does not go with a profile", cure="leave one of them out")
    chosen = [profile(arguments.profile)] if arguments.profile is not None else list(profiles().values())
    whole = arguments.all or arguments.profile is not None
    if arguments.json:
        print(render(ProfilesShown(profiles=chosen)))
    else:
        print("\n\n".join(tuning.page(one) for one in chosen) if whole else tuning.listing(chosen))
    return 0


def _check(arguments: argparse.Namespace) -> int:
    asked = {"--live": arguments.live, "--from": arguments.collected, "a run": arguments.run is not None}
    given = [name for name, there in asked.items() if there]
    if len(given) > 1:
        raise UsageError(f"{given[0]} does not go with {given[1]}", cure="leave one of them out")
    if arguments.storage and not arguments.collected:
        raise UsageError(
            "--storage is only for files", cure="name the files with --from, or leave --storage out"
        )
    chosen = settings()
    wanted = [profile(name) for name in arguments.profile] if arguments.profile else None
    if arguments.collected:
        reading = read_collections([Path(name) for name in arguments.collected], _storages(arguments.storage))
    elif arguments.live:
        reading = live_inventory(arguments, chosen)
    else:
        reading = run_reading(arguments.run or "latest", chosen.runs(arguments.runs), bounds_of(chosen))
    found = check(reading, wanted, profiles())
    print(
        render(found)
        if arguments.json
        else tuning.render(found, whole=arguments.all, width=width_of(sys.stdout))
    )
    return 0


def _storages(given: Sequence[str] | None) -> dict[str, str]:
    found = {}
    for text in given or ():
        names, equals, system = text.partition("=")
        if not (names and equals and system.strip()):
            raise UsageError(f"--storage {text}: expected NAMES=SYSTEM", cure="such as 'sasdata=ESS GL4'")
        found[names] = system.strip()
    return found


def _compare(arguments: argparse.Namespace) -> int:
    chosen = settings()
    wanted = [profile(name) for name in arguments.profile] if arguments.profile else None
    names = (arguments.before, arguments.after)
    runs, bounds = chosen.runs(arguments.runs), bounds_of(chosen)
    storages, of_files = _storages(arguments.storage), [_is_collection(Path(name)) for name in names]
    if storages and not any(of_files):
        raise UsageError("--storage is only for files", cure="leave it out: both sides are runs")
    before, after = (
        read_collections([Path(name)], storages) if files else run_reading(name, runs, bounds)
        for name, files in zip(names, of_files, strict=True)
    )
    found = changes(before, after, names, wanted, profiles())
    print(render(found) if arguments.json else render_changes(found, whole=arguments.all))
    return 0


def _is_collection(path: Path) -> bool:
    return path.exists() and not (path / "run.json").exists()


def _collector(arguments: argparse.Namespace) -> int:
    print(collector(arguments.platform), end="")
    return 0
