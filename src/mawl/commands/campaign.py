"""``mawl run`` as a campaign: several runs made to answer one question, and their report."""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path

from mawl.analysis.campaign.session_run import session_run
from mawl.campaigns.command import MawlRun
from mawl.campaigns.series import Execute, Following, Series, begin, conduct, held, resume
from mawl.campaigns.sessions import following
from mawl.commands.arguments import bounds_of, layer_of, settings
from mawl.commands.called import called_campaign
from mawl.commands.campaign_making import keep_base, new_record, sessions_arm
from mawl.commands.campaign_place import check_place, note_version, saying_how_to_go_on
from mawl.commands.campaign_report import campaign_found, leave_page, read_run, rendered
from mawl.commands.campaign_settings import agree, settings_of
from mawl.commands.extras import require_programs
from mawl.commands.failing import Failing, check_campaign, refuse_question
from mawl.commands.html import named
from mawl.commands.terminal import width_of
from mawl.errors import InterruptedRunError, MawlError, UsageError
from mawl.model.campaign import Arm, Campaign
from mawl.spec.campaign import CampaignSpec
from mawl.spec.record import DEFAULT_WORKLOAD
from mawl.spec.settings import Settings
from mawl.spec.sources import spec_of
from mawl.store.campaign import is_conducted, locate_campaign, read_campaign
from mawl.store.files import replace_link
from mawl.store.folder import make_folder
from mawl.store.layout import LATEST


def run_campaign(arguments: argparse.Namespace, asked: CampaignSpec, failing: Failing) -> int:
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
            made = _conducted(series, settings())
        return _reported(made, folder, settings(), failing, html=spec.html, as_json=arguments.json)


def _only_continues(arguments: argparse.Namespace) -> None:
    """UsageError where --continue is given with more than how to report: the campaign knows its options."""
    for name, value in vars(arguments).items():
        known = name in ("continue_campaign", "json", "yes", "fail_on", "junit", "debug", "verb", "run_verb")
        if known or value in (None, False, []) or (name, value) == ("workload", DEFAULT_WORKLOAD):
            continue
        given = "a workload" if name == "workload" else f"--{name.replace('_', '-')}"
        raise UsageError(
            f"--continue does not go with {given}",
            why="a campaign continues with the options it began with",
            cure="leave everything else out",
        )


def _continue(arguments: argparse.Namespace, failing: Failing) -> int:
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
            made = _conducted(series, chosen)
        html = spec_of(chosen.layer()).html
        return _reported(made, folder, chosen, failing, html=html, as_json=arguments.json)


def _check_continues(record: Campaign, folder: Path) -> None:
    """UsageError where a campaign does not go on: by its kind, its end, its machine, its directory."""
    if record.kind == "search":
        raise UsageError("is a search", where=str(folder), cure="mawl tune search continues it")
    if is_over(record):
        cure = f"mawl report {shlex.quote(named(folder))} shows it"
        raise UsageError("is finished: there is nothing to continue", where=str(folder), cure=cure)
    check_place(record, folder)


def is_over(record: Campaign) -> bool:
    """Whether every run of a campaign is made; one that stopped on an error or an interrupt is not over."""
    made = all(slot.state in ("finished", "refused") for slot in record.slots)
    return record.outcome == "completed" or (
        record.outcome == "failed" and made and record.kind != "find-sessions"
    )


def _conducted(series: Series, chosen: Settings) -> Campaign:
    """Make the runs; an error or an interrupt says how to go on."""
    with saying_how_to_go_on(series, "mawl run") as again:
        try:
            return conduct(series, _following(series, chosen))
        except InterruptedRunError:
            raise
        except MawlError:
            _say(f"the campaign stopped; once that is mended, {again} goes on")
            raise


def _reported(
    record: Campaign, folder: Path, chosen: Settings, failing: Failing, *, html: bool, as_json: bool
) -> int:
    """Print the report of a campaign whose runs are made; exit status."""
    bounds = bounds_of(chosen)
    found = campaign_found(folder, bounds, called=called_campaign(folder))
    page = leave_page(folder, found) if html else None
    print(rendered(found, "json" if as_json else "text", width_of(sys.stdout)))
    _say(f"\ncampaign folder: {shlex.quote(named(folder))}")
    if page is not None:
        _say(f"report: {shlex.quote(named(page))}")
    return check_campaign(failing, folder, found, bounds, 0 if record.outcome == "completed" else 1)


def _execute(record: Campaign, folder: Path) -> Execute:
    """One run as a process; the link to the newest run follows it where the campaign lies among runs."""
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
