"""What is set, what is recommended, and how to change it; mawl changes nothing (mawl help tuning).

`show` prints the profiles: settings with their default, what is recommended, why and by whom. `check`
compares them with the settings that a run recorded, with this machine (`--live`), or with the output of
commands of another system (`--from`). `compare` shows what changed between two collections or runs.
`collector` prints a shell script that collects such output on AIX, Linux, Spectrum Scale or a virtual I/O
server. `search` tries run options against the baseline, and says whether there is a gain
(mawl help search).
"""

from __future__ import annotations

import secrets
import sys
import time
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from mawl.advice.bounds import AnswerBounds
from mawl.advice.judge import judged
from mawl.base.errors import MawlError, UsageError
from mawl.commands.arguments import DATA, JSON, RUNS, UTIL, WORK, bounds_of, settings, spec_of_arguments
from mawl.commands.campaign_settings import check_place, note_version, saying_how_to_go_on, this_machine
from mawl.commands.terminal import missing_package, require_programs, width_of
from mawl.commands.verbs import Arguments, Verb, operand, option, options_of_run, repeated, switch
from mawl.figures.view import StoredView
from mawl.importers.formats.settings.collection import PLATFORMS
from mawl.plan.workload import shipped
from mawl.records.model.campaign import Campaign
from mawl.records.spec.forms import Whole
from mawl.records.spec.program_options import ROLES
from mawl.records.spec.run_spec import DEFAULT_WORKLOAD, RunSpec
from mawl.records.store import open_run
from mawl.records.store.campaign import locate_campaign, read_campaign
from mawl.reports.document import terminal
from mawl.reports.json import render
from mawl.tuning import text as tuning
from mawl.tuning.changes import changes, live_inventory, run_reading
from mawl.tuning.check import check, machine_settings
from mawl.tuning.collection import collector, read_collections
from mawl.tuning.profile_files import profile, profiles
from mawl.tuning.records import Profile
from mawl.tuning.search.records import ObjectiveName, SearchAnswer, SearchRecord
from mawl.tuning.search.space import checked_space
from mawl.tuning.text import change_parts
from mawl.version import __version__

if TYPE_CHECKING:
    from mawl.figures.comparison.sides import Side
    from mawl.tuning.search.search import SearchCampaign, SearchResult


DEFAULT_BUDGET = "20min"
DEFAULT_CONFIDENCE = 0.95
DEFAULT_SMALLEST_GAIN = 0.05
UNITS = {"s": 1.0, "min": 60.0, "h": 3600.0}
PROFILE = "profile.toml"


class SearchArguments(Arguments):
    workload: str | None = operand(
        "WORKLOAD",
        f"a shipped workload ({', '.join(shipped())}) or a TOML file (default: {DEFAULT_WORKLOAD})",
        nargs="?",
    )
    space: str | None = option("FILE", "the space: a TOML file with a key per dimension")
    dimension: list[str] | None = repeated(
        "NAME=VALUE,VALUE",
        "a dimension of the space, such as sortsize=16MiB,256MiB or cpucount=1..8 (doublings) or "
        "work=DIR:DIR,DIR; may be repeated",
        default=None,
    )
    objective: ObjectiveName | None = option(None, "the figure to improve (default: response-time)")
    budget: str | None = option("TIME", f"time for all runs, in s, min or h (default: {DEFAULT_BUDGET})")
    confidence: float | None = option(
        "RATIO", f"confidence level for reporting a gain or ruling one out (default: {DEFAULT_CONFIDENCE:g})"
    )
    smallest_gain: float | None = option(
        "RATIO", f"a gain below which none is worth having (default: {DEFAULT_SMALLEST_GAIN:g})"
    )
    seed: int | None = option(
        "SEED", "seed of proposals and of the order of runs (default: 1)", form=Whole(0, 2**32 - 1)
    )
    resumed: str | None = option("FOLDER", "go on with a search", name="continue")
    write_profile: str | None = option(
        "FILE", f"where the profile of a gain is written (default: {PROFILE} in the search's folder)"
    )
    run_options: Any = options_of_run(
        *("sessions", "scale", "cache", "cores", "memory_limit_bytes", *ROLES, "volume_order")
    )
    runs: str | None = option("DIR", "where the search's folder goes (default: ./runs)")
    json: bool = JSON
    option: list[str] = repeated(
        "NAME=VALUE", "a run option of the baseline, as for mawl run; may be repeated"
    )


def run_search(arguments: SearchArguments) -> int:
    """Search, or go on with a search; 0 whatever it found."""
    if find_spec("optuna") is None:
        raise missing_package(ModuleNotFoundError(name="optuna"), "search")
    require_programs()
    from mawl.campaigns.process import MawlRun
    from mawl.campaigns.series import begin, held, resume
    from mawl.tuning.search.records import read_search, write_search
    from mawl.tuning.search.results import parts
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
            result = search.carry_out()
        answer = _answer_of(search, result, bounds)
    print(render(msgspec.to_builtins(answer)) if arguments.json else terminal(parts(answer)))
    return 0


def _answer_of(search: SearchCampaign, result: SearchResult, bounds: AnswerBounds) -> SearchAnswer:
    from mawl.tuning.search.results import search_answer, with_statement, write_profile

    answer = with_statement(search_answer(search, result, _sides(search, bounds), _proposals(search, bounds)))
    if answer.outcome == "gain":
        write_profile(answer, search.record, search.series.record.created_at)
    return answer


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


def _search_record(arguments: SearchArguments, baseline: RunSpec) -> SearchRecord:
    confidence = DEFAULT_CONFIDENCE if arguments.confidence is None else arguments.confidence
    if not 0.5 <= confidence < 1.0:
        raise UsageError(f"--confidence {confidence:g}: expected a ratio from 0.5 to below 1")
    gain = DEFAULT_SMALLEST_GAIN if arguments.smallest_gain is None else arguments.smallest_gain
    if not 0.0 < gain < 1.0:
        raise UsageError(f"--smallest-gain {gain:g}: expected a ratio above 0 and below 1")
    seed = 1 if arguments.seed is None else arguments.seed
    objective: ObjectiveName = arguments.objective or "response-time"
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


def _refuse_others(arguments: SearchArguments) -> None:
    for name, given in arguments.changed().items():
        if name not in ("resumed", "runs", "json"):
            raise UsageError(f"{given} does not go with --continue", why="the search's own record has it")


def _keep_quiet(_: str) -> None:
    """What a run says of its progress stands in its log."""


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


class ProfileList(msgspec.Struct, frozen=True, kw_only=True):
    """The profiles that ``mawl tune show --json`` prints."""

    profiles: list[Profile]


STORAGE = repeated(
    "NAMES=SYSTEM",
    "for files: the storage system that disks, adapters or file systems are on, such as "
    "'sasdata=ESS GL4' or 'hdisk*=XIV'; may be repeated (default: what the files say)",
    default=None,
)
PROFILES = repeated(
    "PROFILE",
    "a profile or a TOML file; may be repeated (default: those for the platform that `mawl tune show` "
    "marks with *)",
    default=None,
)


class ShowArguments(Arguments):
    profile: str | None = operand("PROFILE", "a name, or a TOML file of your own", nargs="?")
    all: bool = switch("every setting of every profile")
    json: bool = JSON


class CheckArguments(Arguments):
    run: str | None = operand(
        "RUN", "a run folder, a run id, or latest (default, without --live and --from)", nargs="?"
    )
    live: bool = switch("this machine as it is set now")
    collected: list[str] | None = option(
        "PATH",
        "files with the output of commands of another system, or folders that its collector wrote",
        name="from",
        nargs="+",
    )
    data: list[str] | None = DATA
    work: list[str] | None = WORK
    util: list[str] | None = UTIL
    storage: list[str] | None = STORAGE
    runs: str | None = RUNS
    profile: list[str] | None = PROFILES
    json: bool = JSON
    all: bool = switch("every setting, also those that do not differ")


class ChangesArguments(Arguments):
    before: str = operand("BEFORE", "the older collection, or a run")
    after: str = operand("AFTER", "the newer collection, or a run")
    storage: list[str] | None = STORAGE
    runs: str | None = RUNS
    profile: list[str] | None = PROFILES
    json: bool = JSON
    all: bool = switch("also what was left as it was, or not checked")


class CollectorArguments(Arguments):
    platform: str = operand(None, "what the script runs on", choices=PLATFORMS)


def _show(arguments: ShowArguments) -> int:
    if arguments.all and arguments.profile is not None:
        raise UsageError("--all does not go with a profile", cure="leave one of them out")
    chosen = [profile(arguments.profile)] if arguments.profile is not None else list(profiles().values())
    whole = arguments.all or arguments.profile is not None
    if arguments.json:
        print(render(ProfileList(profiles=chosen)))
    else:
        print(
            "\n\n".join(terminal(tuning.profile_parts(one)) for one in chosen)
            if whole
            else tuning.listing(chosen)
        )
    return 0


def _check(arguments: CheckArguments) -> int:
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
    checked = check(reading, wanted, profiles())
    print(
        render(checked)
        if arguments.json
        else terminal(tuning.parts(checked, whole=arguments.all), width_of(sys.stdout))
    )
    return 0


def _storages(given: Sequence[str] | None) -> dict[str, str]:
    storages = {}
    for text in given or ():
        names, equals, system = text.partition("=")
        if not (names and equals and system.strip()):
            raise UsageError(f"--storage {text}: expected NAMES=SYSTEM", cure="such as 'sasdata=ESS GL4'")
        storages[names] = system.strip()
    return storages


def _compare(arguments: ChangesArguments) -> int:
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
    changed = changes(before, after, names, wanted, profiles())
    print(render(changed) if arguments.json else terminal(change_parts(changed, whole=arguments.all)))
    return 0


def _is_collection(path: Path) -> bool:
    return path.exists() and not (path / "run.json").exists()


def _collector(arguments: CollectorArguments) -> int:
    print(collector(arguments.platform), end="")
    return 0


VERBS = {
    "tune show": Verb(ShowArguments, _show, help="the profiles, or one of them"),
    "tune check": Verb(CheckArguments, _check, help="compare what is set with what is recommended"),
    "tune compare": Verb(
        ChangesArguments, _compare, help="settings before and after: changed, left as they were, not checked"
    ),
    "tune collector": Verb(
        CollectorArguments, _collector, help="print a script that collects settings; it only reads"
    ),
    "tune search": Verb(
        SearchArguments, run_search, help="run options that are better than the baseline, if there are any"
    ),
}
