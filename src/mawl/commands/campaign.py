"""``mawl run`` as a campaign: several runs made to answer one question, and their report."""

from __future__ import annotations

import secrets
import shlex
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from mawl.base.errors import InterruptedRunError, MawlError, UsageError
from mawl.base.foreign import LARGEST_TOML_BYTES, read_regular, toml_tree
from mawl.campaigns.process import MawlRun
from mawl.campaigns.series import (
    Execute,
    Following,
    Series,
    back_and_forth,
    begin,
    conduct,
    following,
    held,
    resume,
    smt_arms,
)
from mawl.commands.arguments import Failing, bounds_of, check_campaign, layer_of, refuse_question, settings
from mawl.commands.campaign_settings import (
    agree,
    check_place,
    note_version,
    saying_how_to_go_on,
    settings_of,
    this_machine,
)
from mawl.commands.reporting import (
    campaign_name,
    leave_campaign_page,
    read_run,
    render_campaign,
    short_path,
    stored_campaign,
)
from mawl.commands.terminal import require_programs, width_of
from mawl.commands.verbs import Arguments
from mawl.figures.campaign import session_run
from mawl.measure.machine import read_smt
from mawl.plan.mix import FEWEST_FULL_SESSIONS, MIX_CHANGES, in_turns, mix_range, workload_toml
from mawl.plan.run_plan import plan_of, with_run_of
from mawl.plan.workload import Plan, load_workload
from mawl.records.model.campaign import Arm, Campaign, SessionSearch, Slot
from mawl.records.spec.campaign import AskedKind, CampaignSpec
from mawl.records.spec.run_spec import DEFAULT_WORKLOAD, MOST_SESSIONS, RunSpec
from mawl.records.spec.sources import Layer, Settings, load_side, spec_of
from mawl.records.store.campaign import is_conducted, locate_campaign, read_campaign
from mawl.records.store.files import LATEST, replace_link
from mawl.records.store.folder import make_folder
from mawl.version import __version__

BASE = "workload.toml"
"""In the folder of a search for sessions: the workload whose sessions are taken by turns."""


def new_record(asked: CampaignSpec, kind: AskedKind, layer: Layer) -> Campaign:
    """Identity, arms and order of a campaign; its plans are made once, so that a wrong option fails here.

    ``layer`` is what all arms share.
    """
    runs = str(Path(spec_of(layer).runs).absolute())
    own = Layer(values={"runs": runs, "html": False})
    shared = layer.without(("output",)).under(own)
    arms: list[Arm] = []
    repeats = 0
    search = _search(asked, spec_of(layer)) if kind == "find-sessions" else None
    if search is not None:
        shared = shared.without(("sessions",))
        first = sessions_spec(spec_of(shared), search.first)
    else:
        arms, repeats = _arms(asked, kind, shared)
        first = _spec(arms[0])
    plans = [plan_of(_spec(arm)) for arm in arms] or [plan_of(first)]
    if kind == "ab":
        _check_alike(arms, plans)
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
        warm_up=Slot(position=0, arm=arms[0].name) if arms and asked.warm_up is not False else None,
        search=search,
    )


def _spec(arm: Arm) -> RunSpec:
    assert arm.spec is not None, "arms that are made here have theirs"
    return arm.spec


def _arm(name: str, spec: RunSpec, title: str = "", size: int | None = None) -> Arm:
    return Arm(name=name, workload=spec.workload, spec=spec, title=title, size=size)


def _arms(asked: CampaignSpec, kind: AskedKind, shared: Layer) -> tuple[list[Arm], int]:
    runs = asked.runs_of_an_arm(kind)
    if kind == "repeat":
        return [_arm("run", spec_of(shared))], runs
    if kind == "smt":
        return smt_arms(read_smt(), spec_of(shared)), runs
    if asked.ab is not None:
        return _ab_arms(shared, *asked.ab), runs
    counts = asked.scaling
    hosts = shared.values.get("ssh", ())
    if hosts and counts[-1] > len(hosts):
        raise UsageError(
            f"--scaling {','.join(map(str, counts))} goes to {counts[-1]} nodes, --ssh names {len(hosts)}"
        )
    arms = []
    for count in counts:
        nodes = Layer(values={"ssh": hosts[:count]} if hosts else {"nodes": count})
        title = "1 node" if count == 1 else f"{count} nodes"
        arms.append(_arm(f"nodes-{count}", spec_of(shared.under(nodes)), title, count))
    return arms, runs


def _ab_arms(shared: Layer, *files: str) -> list[Arm]:
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
        setting = None
        if _is_workload(Path(file)):
            workload = str(Path(file).absolute())
            side = with_run_of(workload, Layer()).under(Layer(values={"workload": workload}))
        else:
            side, named, setting = load_side(Path(file))
            title = named or title
        arm = _arm(name, spec_of(shared.under(side)), title)
        arms.append(msgspec.structs.replace(arm, setting=setting))
    return arms


def _is_workload(path: Path) -> bool:
    """Whether a file lists sessions; one that is no TOML is left to the reader of options to refuse."""
    try:
        text = read_regular(path, LARGEST_TOML_BYTES).decode()
        return isinstance(toml_tree(text).get("sessions"), list)
    except (OSError, ValueError):
        return False


def _search(asked: CampaignSpec, spec: RunSpec) -> SessionSearch:
    ruled = spec.workload == DEFAULT_WORKLOAD
    first = spec.sessions or (FEWEST_FULL_SESSIONS if ruled else 1)
    limit = mix_range(first).most if ruled else MOST_SESSIONS
    most = asked.most_sessions or limit
    if limit < most:
        raise UsageError(
            f"--most-sessions {most}: expected {first} to {limit}",
            why=MIX_CHANGES,
            cure=f"search on one side of the change: begin with --sessions {FEWEST_FULL_SESSIONS}",
        )
    if not first <= most <= MOST_SESSIONS:
        raise UsageError(f"--most-sessions {most}: expected {first} to {MOST_SESSIONS}")
    return SessionSearch(first=first, most=most, runs_each=asked.runs_of_an_arm("find-sessions"))


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


def _check_alike(arms: Sequence[Arm], plans: Sequence[Plan]) -> None:
    """Refuse sides that run other jobs: no figure of one would say anything about the other."""
    kinds = [{job.job: (job.program, job.scale) for job in plan.jobs()} for plan in plans]
    if kinds[0] != kinds[1]:
        raise UsageError(
            f"{arms[0].title} and {arms[1].title} run other jobs, or at another scale",
            why="no figure of one would say anything about the other",
            cure="let the files differ in options, places or the order of the same jobs",
        )


def run_campaign(arguments: Arguments, asked: CampaignSpec, failing: Failing) -> int:
    """Make or continue a campaign and report it; exit status."""
    if arguments.continue_campaign is not None:
        _only_continues(arguments)
        return _continue(arguments, failing)
    layer = layer_of(arguments)
    asked.check(layer.values)
    kind = asked.kind
    assert kind is not None, "a single run is no campaign"
    if arguments.dry_run:
        raise UsageError(
            f"--{kind} does not go with --dry-run", cure="leave one out: a dry run is the same each time"
        )
    refuse_question(failing, kind)
    spec = spec_of(layer)
    if spec.nodes is None:
        require_programs()
    record = new_record(asked, kind, layer)
    agree(record, yes=arguments.yes)
    folder = (Path(spec.output) if spec.output else Path(spec.runs) / record.name).absolute()
    make_folder(folder)
    if kind == "find-sessions":
        keep_base(folder, spec.workload)
    with held(folder, patience=0.0) as lock:
        with settings_of(folder, record) as changing:
            series = begin(folder, record, _execute(record, folder), lock, changing)
            campaign = _conduct(series, settings())
        return _report(campaign, folder, settings(), failing, html=spec.html, as_json=arguments.json)


def _only_continues(arguments: Arguments) -> None:
    """UsageError where --continue is given with more than how to report: the campaign knows its options."""
    for name, given in arguments.changed().items():
        if name not in ("continue_campaign", "json", "yes", "fail_on", "within", "junit"):
            raise UsageError(
                f"--continue does not go with {'a workload' if name == 'workload' else given}",
                why="a campaign continues with the options it began with",
                cure="leave everything else out",
            )


def _continue(arguments: Arguments, failing: Failing) -> int:
    chosen = settings()
    folder = locate_campaign(arguments.continue_campaign, chosen.runs(None))
    before = read_campaign(folder)
    refuse_question(failing, before.kind)
    _check_continues(before, folder)
    agree(before, yes=arguments.yes)
    if is_conducted(folder):
        _say("waiting for the campaign process, or its last run, to end")
    with held(folder) as lock:
        record = read_campaign(folder)
        _check_continues(record, folder)
        with settings_of(folder, record) as changing:
            series = resume(folder, _execute(record, folder), lock, changing)
            note_version(series)
            campaign = _conduct(series, chosen)
        html = spec_of(chosen.layer()).html
        return _report(campaign, folder, chosen, failing, html=html, as_json=arguments.json)


def _check_continues(record: Campaign, folder: Path) -> None:
    if record.kind == "search":
        raise UsageError("is a search", where=str(folder), cure="mawl tune search continues it")
    if is_over(record):
        cure = f"mawl report {shlex.quote(short_path(folder))} shows it"
        raise UsageError("is finished: there is nothing to continue", where=str(folder), cure=cure)
    check_place(record, folder)


def is_over(record: Campaign) -> bool:
    """Whether every run of a campaign is made; one that stopped on an error or an interrupt is not over."""
    made = all(slot.state in ("finished", "refused") for slot in record.slots)
    return record.outcome == "completed" or (
        record.outcome == "failed" and made and record.kind != "find-sessions"
    )


def _conduct(series: Series, chosen: Settings) -> Campaign:
    with saying_how_to_go_on(series, "mawl run") as again:
        try:
            return conduct(series, _following(series, chosen))
        except InterruptedRunError:
            raise
        except MawlError:
            _say(f"the campaign stopped; once that is mended, {again} goes on")
            raise


def _report(
    record: Campaign, folder: Path, chosen: Settings, failing: Failing, *, html: bool, as_json: bool
) -> int:
    bounds = bounds_of(chosen)
    campaign = stored_campaign(folder, bounds, called=campaign_name(folder))
    page = leave_campaign_page(folder, campaign.figures) if html else None
    print(render_campaign(campaign.figures, "json" if as_json else "text", width_of(sys.stdout)))
    _say(f"\ncampaign folder: {shlex.quote(short_path(folder))}")
    if page is not None:
        _say(f"report: {shlex.quote(short_path(page))}")
    return check_campaign(failing, folder, campaign, bounds, 0 if record.outcome == "completed" else 1)


def _execute(record: Campaign, folder: Path) -> Execute:
    make, runs = MawlRun(record, _say), folder.parent
    latest = runs / LATEST if record.spec is not None and record.spec.runs == str(runs) else None

    def execute(arm: Arm, folder: Path, lock: int) -> None:
        planned = f" of {len(record.slots)}" if record.slots else ""
        number = int(folder.name.partition("-")[0])
        made = f"run {number}{planned}" if number else "warm-up run, which counts in no figure"
        _say(f"{made}: {arm.title or arm.workload}")
        make(arm, folder, lock)
        if latest is not None:
            replace_link(latest, folder)

    return execute


def _following(series: Series, chosen: Settings) -> Following | None:
    """What a search for sessions makes next; None for campaigns that know all their runs."""
    search, bounds = series.record.search, bounds_of(chosen)
    if search is None:
        return None
    return following(
        search,
        lambda sessions: sessions_arm(series, sessions),
        lambda own, slot: session_run(own.record.arm(slot.arm).size or 0, read_run(own.path(slot), bounds)),
    )


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
