"""The record of a new campaign, from the arguments of ``mawl run``; what is wrong is refused first."""

from __future__ import annotations

import argparse
import secrets
import time
import tomllib
from collections.abc import Sequence
from pathlib import Path

import msgspec

from mawl import __version__
from mawl.analysis.comparison.statistics import FEWEST_RUNS
from mawl.campaigns.order import back_and_forth
from mawl.campaigns.series import Series
from mawl.commands.campaign_arguments import RUNS_AT_THE_KNEE, node_counts
from mawl.commands.campaign_place import this_machine
from mawl.errors import UsageError
from mawl.foreign import read_regular
from mawl.model.campaign import Arm, Campaign, CampaignKind, SessionSearch, Slot
from mawl.plan.asked import plan_of
from mawl.plan.mix import FEWEST_SESSIONS, MOST_SESSIONS
from mawl.plan.turns import in_turns, workload_toml
from mawl.plan.workload import Plan, load_workload
from mawl.spec import toml
from mawl.spec.files import load_side
from mawl.spec.record import DEFAULT_WORKLOAD, RunSpec
from mawl.spec.sources import Layer, spec_of

BASE = "workload.toml"
"""In the folder of a search for sessions: the workload whose sessions are taken by turns."""


def new_record(kind: CampaignKind, arguments: argparse.Namespace, layer: Layer) -> Campaign:
    """Identity, arms and order of a campaign; its plans are made once, so that a wrong option fails here.

    ``layer`` is what all arms share.
    """
    runs = str(Path(spec_of(layer).runs).absolute())
    own = Layer(values={"runs": runs, "html": False})
    shared = layer.without(("output",)).under(own)
    arms: list[Arm] = []
    repeats = 0
    search = _search(arguments, spec_of(layer)) if kind == "find-sessions" else None
    if search is not None:
        shared = shared.without(("sessions",)).under(Layer(values={"solo": True}))
        first = sessions_spec(spec_of(shared), search.first)
    else:
        arms, repeats = _arms(kind, arguments, shared)
        first = _spec(arms[0])
    plans = [plan_of(_spec(arm)) for arm in arms] or [plan_of(first)]
    if kind == "ab":
        _alike(arms, plans)
    stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
    return Campaign(
        name=f"{stamp}-{kind}-{plans[0].workload}-{secrets.token_hex(2)}",
        kind=kind,
        created_at=time.time(),
        outcome="running",
        mawl_version=__version__,
        machine=this_machine(),
        directory=str(Path.cwd()),
        spec=spec_of(shared),
        arms=arms,
        slots=back_and_forth(arms, repeats),
        warm_up=Slot(position=0, arm=arms[0].name) if arms and arguments.warm_up != "no" else None,
        search=search,
    )


def _spec(arm: Arm) -> RunSpec:
    assert arm.spec is not None, "arms that are made here have theirs"
    return arm.spec


def _arm(name: str, spec: RunSpec, title: str = "", size: int | None = None) -> Arm:
    return Arm(name=name, workload=spec.workload, spec=spec, title=title, size=size)


def _arms(kind: CampaignKind, arguments: argparse.Namespace, shared: Layer) -> tuple[list[Arm], int]:
    """The arms, and the runs of each."""
    given: int | None = arguments.repeat
    if kind == "repeat":
        return [_arm("run", spec_of(shared))], given or 1
    if kind == "ab":
        return _two(shared, *arguments.ab), given or FEWEST_RUNS
    counts = node_counts(arguments.scaling)
    hosts = shared.values.get("ssh", ())
    if hosts and counts[-1] > len(hosts):
        raise UsageError(
            f"--scaling {arguments.scaling} goes to {counts[-1]} nodes, --ssh names {len(hosts)}"
        )
    arms = []
    for count in counts:
        nodes = Layer(values={"ssh": hosts[:count]} if hosts else {"nodes": count})
        title = "1 node" if count == 1 else f"{count} nodes"
        arms.append(_arm(f"nodes-{count}", spec_of(shared.under(nodes)), title, count))
    return arms, given or 1


def _two(shared: Layer, *files: str) -> list[Arm]:
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
            side = Layer(values={"workload": str(Path(file).absolute())})
        else:
            side, named = load_side(Path(file))
            title = named or title
        arms.append(_arm(name, spec_of(shared.under(side)), title))
    return arms


def _is_workload(path: Path) -> bool:
    """Whether a file lists sessions; one that is no TOML is left to the reader of options to refuse."""
    try:
        text = read_regular(path, toml.LARGEST_FILE_BYTES).decode()
        return isinstance(tomllib.loads(text).get("sessions"), list)
    except (OSError, ValueError, RecursionError):
        return False


def _search(arguments: argparse.Namespace, asked: RunSpec) -> SessionSearch:
    least = FEWEST_SESSIONS if asked.workload == DEFAULT_WORKLOAD else 1
    first = least if asked.sessions is None else asked.sessions
    most = MOST_SESSIONS if arguments.most_sessions is None else arguments.most_sessions
    if not least <= first <= MOST_SESSIONS:
        raise UsageError(f"--sessions {first}: expected {least} to {MOST_SESSIONS}")
    if not first <= most <= MOST_SESSIONS:
        raise UsageError(f"--most-sessions {most}: expected {first} to {MOST_SESSIONS}")
    return SessionSearch(first=first, most=most, runs_each=arguments.repeat or RUNS_AT_THE_KNEE)


def sessions_spec(shared: RunSpec, sessions: int) -> RunSpec:
    """A spec with a number of sessions; refuses a workload that cannot have another number."""
    if shared.workload == DEFAULT_WORKLOAD:
        return msgspec.structs.replace(shared, sessions=sessions)
    spec, where = load_workload(shared.workload)
    in_turns(spec, sessions, where)
    return shared


def keep_base(folder: Path, workload: str) -> None:
    """Keep a copy of the workload whose sessions are taken by turns; mixed20 has a rule instead."""
    if workload != DEFAULT_WORKLOAD:
        spec, where = load_workload(workload)
        (folder / BASE).write_text(workload_toml(spec, Path(where).parent), encoding="utf-8")


def sessions_arm(series: Series, sessions: int) -> Arm:
    """The arm of a number of sessions; a workload by turns is written into the campaign's folder."""
    shared, base = series.record.spec, series.folder / BASE
    assert shared is not None, "a campaign of an older format is not continued"
    name, title = f"sessions-{sessions}", "1 session" if sessions == 1 else f"{sessions} sessions"
    if not base.exists():
        return _arm(name, msgspec.structs.replace(shared, sessions=sessions), title, sessions)
    spec, where = load_workload(str(base))
    file = series.folder / f"{name}.toml"
    file.write_text(workload_toml(in_turns(spec, sessions, where)), encoding="utf-8")
    return _arm(name, msgspec.structs.replace(shared, workload=str(file)), title, sessions)


def _alike(arms: Sequence[Arm], plans: Sequence[Plan]) -> None:
    """Refuse sides that run other jobs: no figure of one would say anything about the other."""
    kinds = [{job.job: (job.program, job.scale) for job in plan.jobs()} for plan in plans]
    if kinds[0] != kinds[1]:
        raise UsageError(
            f"{arms[0].title} and {arms[1].title} run other jobs, or at another scale",
            why="no figure of one would say anything about the other",
            cure="let the files differ in options, places or the order of the same jobs",
        )
