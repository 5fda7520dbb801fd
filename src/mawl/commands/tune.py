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
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec

from mawl.commands.arguments import add_role_arguments, bounds_of, settings
from mawl.commands.terminal import width_of
from mawl.commands.tune_search import add_search_arguments, run_search
from mawl.errors import UsageError
from mawl.formats.settings.collected import PLATFORMS
from mawl.reporters.json import render
from mawl.tuning import changes_text
from mawl.tuning import text as tuning
from mawl.tuning.changes import changes
from mawl.tuning.check import check
from mawl.tuning.collection.reading import collected
from mawl.tuning.collection.script import collector
from mawl.tuning.inventory import live_inventory, run_reading
from mawl.tuning.profile_files import profile, profiles
from mawl.tuning.records import Profile

NAME = "tune"
HELP = "settings: what is set, what is recommended, why, and the commands that change it"


class ProfilesShown(msgspec.Struct, frozen=True, kw_only=True):
    """The profiles that ``mawl tune show --json`` prints."""

    profiles: list[Profile]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """``mawl tune show|check|compare|collector|search``."""
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
    """Options of `check` and of `compare`."""
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
    """Print the profiles or the comparison."""
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
        reading = collected([Path(name) for name in arguments.collected], _storages(arguments.storage))
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
    """Pattern of names to storage system, as ``--storage`` gives them."""
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
        collected([Path(name)], storages) if files else run_reading(name, runs, bounds)
        for name, files in zip(names, of_files, strict=True)
    )
    found = changes(before, after, names, wanted, profiles())
    print(render(found) if arguments.json else changes_text.render(found, whole=arguments.all))
    return 0


def _is_collection(path: Path) -> bool:
    """Whether a side is files; a folder with run.json is a run."""
    return path.exists() and not (path / "run.json").exists()


def _collector(arguments: argparse.Namespace) -> int:
    print(collector(arguments.platform), end="")
    return 0
