"""The record of a new campaign, from the arguments of ``mawl run``; what is wrong is refused first."""

from __future__ import annotations

import argparse
import secrets
import time
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path

from mawl import __version__
from mawl.analysis.comparison.statistics import FEWEST_RUNS
from mawl.campaigns.order import back_and_forth
from mawl.commands.arguments import DEFAULT_WORKLOAD, plan_of, settings, volumes_of
from mawl.commands.campaign_arguments import RUNS_AT_THE_KNEE, node_counts, words_of
from mawl.commands.campaign_place import kept_settings, this_machine
from mawl.commands.cluster_arguments import on_nodes
from mawl.commands.run_profile import apply_profile
from mawl.config import toml
from mawl.config.run_options import load_run_options
from mawl.config.run_options import words_of as option_words
from mawl.errors import UsageError
from mawl.foreign import read_regular
from mawl.model.campaign import Arm, Campaign, CampaignKind, SessionSearch, Slot
from mawl.plan.mix import FEWEST_SESSIONS, MOST_SESSIONS
from mawl.plan.turns import in_turns, workload_toml
from mawl.plan.workload import Plan, load_workload

Parse = Callable[[Sequence[str]], argparse.Namespace]
"""Arguments of ``mawl run`` from words."""

BASE = "workload.toml"
"""In the folder of a search for sessions: the workload whose sessions are taken by turns."""


def new_record(kind: CampaignKind, arguments: argparse.Namespace, parse: Parse, runs: Path) -> Campaign:
    """Identity, arms and order of a campaign; its plans are made once, so that a wrong option fails here."""
    arms, repeats, search = _arms(kind, arguments)
    leave = ("sessions",) if search is not None else ("ssh",) if kind == "scaling" else ()
    words = [*words_of(arguments, vars(parse([])), leave), f"--runs={runs.absolute()}"]
    if search is not None and "--solo" not in words:
        words.append("--solo")
    plans = [_planned(parse([arm.workload, *words, *arm.words])) for arm in arms]
    if kind == "ab":
        _alike(arms, plans)
    if search is not None:
        plans = [_planned(parse([*sessions_words(arguments.workload, search.first), *words]))]
    stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
    return Campaign(
        name=f"{stamp}-{kind}-{plans[0].workload}-{secrets.token_hex(2)}",
        kind=kind,
        created_at=time.time(),
        outcome="running",
        mawl_version=__version__,
        machine=this_machine(),
        directory=str(Path.cwd()),
        environment=kept_settings(),
        words=words,
        arms=arms,
        slots=back_and_forth(arms, repeats),
        warm_up=Slot(position=0, arm=arms[0].name) if arms and arguments.warm_up != "no" else None,
        search=search,
    )


def _arms(kind: CampaignKind, arguments: argparse.Namespace) -> tuple[list[Arm], int, SessionSearch | None]:
    """The arms that are known from the start, runs of each, and the bounds of a search."""
    workload, given = arguments.workload, arguments.repeat
    if kind == "repeat":
        return [Arm(name="run", workload=workload)], given, None
    if kind == "ab":
        return _two(workload, *arguments.ab), given or FEWEST_RUNS, None
    if kind == "find-sessions":
        return [], 0, _search(arguments)
    counts = node_counts(arguments.scaling)
    hosts = [host for host in (arguments.ssh or "").split(",") if host]
    if arguments.ssh is not None and counts[-1] > len(hosts):
        raise UsageError(
            f"--scaling {arguments.scaling} goes to {counts[-1]} nodes, --ssh names {len(hosts)}"
        )
    arms = [
        Arm(
            name=f"nodes-{count}",
            title="1 node" if count == 1 else f"{count} nodes",
            workload=workload,
            size=count,
            words=[f"--ssh={','.join(hosts[:count])}"] if hosts else [f"--nodes={count}"],
        )
        for count in counts
    ]
    return arms, given or 1, None


def _two(workload: str, *files: str) -> list[Arm]:
    """The two sides of --ab; each file holds options, or is a workload."""
    if Path(files[0]).exists() and Path(files[1]).exists() and Path(files[0]).samefile(files[1]):
        raise UsageError(
            f"--ab names {files[0]} twice",
            why="a file against itself shows no difference but noise",
            cure="name two files; for the noise alone: --repeat",
        )
    arms = []
    stems = [Path(file).stem for file in files]
    for name, file, stem in zip(("a", "b"), files, stems, strict=True):
        title = stem if stems[0] != stems[1] else f"{name.upper()} ({file})"
        if _is_workload(Path(file)):
            arms.append(Arm(name=name, title=title, workload=str(Path(file).absolute())))
            continue
        options = load_run_options(Path(file))
        arms.append(
            Arm(
                name=name,
                title=options.title or title,
                workload=options.workload or workload,
                words=option_words(options),
            )
        )
    return arms


def _is_workload(path: Path) -> bool:
    """Whether a file lists sessions; one that is no TOML is left to the reader of options to refuse."""
    try:
        text = read_regular(path, toml.LARGEST_FILE_BYTES).decode()
        return isinstance(tomllib.loads(text).get("sessions"), list)
    except (OSError, ValueError, RecursionError):
        return False


def _search(arguments: argparse.Namespace) -> SessionSearch:
    by_rule = arguments.workload == DEFAULT_WORKLOAD
    least = FEWEST_SESSIONS if by_rule else 1
    first = least if arguments.sessions is None else arguments.sessions
    most = MOST_SESSIONS if arguments.most_sessions is None else arguments.most_sessions
    if not least <= first <= MOST_SESSIONS:
        raise UsageError(f"--sessions {first}: expected {least} to {MOST_SESSIONS}")
    if not first <= most <= MOST_SESSIONS:
        raise UsageError(f"--most-sessions {most}: expected {first} to {MOST_SESSIONS}")
    return SessionSearch(first=first, most=most, runs_each=arguments.repeat or RUNS_AT_THE_KNEE)


def sessions_words(workload: str, sessions: int) -> list[str]:
    """How a number of sessions is asked for; refuses a workload that cannot have another number."""
    if workload == DEFAULT_WORKLOAD:
        return [workload, f"--sessions={sessions}"]
    spec, where = load_workload(workload)
    in_turns(spec, sessions, where)
    return [workload]


def keep_base(folder: Path, workload: str) -> None:
    """Keep a copy of the workload whose sessions are taken by turns; mixed20 has a rule instead."""
    if workload != DEFAULT_WORKLOAD:
        spec, where = load_workload(workload)
        (folder / BASE).write_text(workload_toml(spec, Path(where).parent), encoding="utf-8")


def sessions_arm(folder: Path, sessions: int) -> Arm:
    """The arm of a number of sessions; a workload by turns is written into the campaign's folder."""
    name, title = f"sessions-{sessions}", "1 session" if sessions == 1 else f"{sessions} sessions"
    base = folder / BASE
    if not base.exists():
        words = [f"--sessions={sessions}"]
        return Arm(name=name, title=title, workload=DEFAULT_WORKLOAD, words=words, size=sessions)
    spec, where = load_workload(str(base))
    file = folder / f"{name}.toml"
    file.write_text(workload_toml(in_turns(spec, sessions, where)), encoding="utf-8")
    return Arm(name=name, title=title, workload=str(file), size=sessions)


def _planned(arguments: argparse.Namespace) -> Plan:
    """The plan of one arm, with its places, so that what is wrong with them is said before any run."""
    apply_profile(arguments)
    on_nodes(arguments)
    chosen = settings()
    volumes_of(arguments, chosen)
    return plan_of(arguments, chosen)


def _alike(arms: Sequence[Arm], plans: Sequence[Plan]) -> None:
    """Refuse sides that run other jobs: no figure of one would say anything about the other."""
    kinds = [{job.job: (job.program, job.scale) for job in plan.jobs()} for plan in plans]
    if kinds[0] != kinds[1]:
        raise UsageError(
            f"{arms[0].title} and {arms[1].title} run other jobs, or at another scale",
            why="no figure of one would say anything about the other",
            cure="let the files differ in options, places or the order of the same jobs",
        )
