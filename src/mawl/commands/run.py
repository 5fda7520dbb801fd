"""Run a workload: make its inputs, run its sessions over the three roles, write a run folder, report it."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mawl.advice.judge import judged
from mawl.base.errors import UsageError
from mawl.base.process import importing
from mawl.commands.arguments import (
    FAILING_EXIT_STATUS,
    JUNIT,
    PLAN_OPTIONS,
    PROFILE,
    WITHIN,
    Failing,
    WorkloadArguments,
    bounds_of,
    check_run,
    fail_on,
    refuse_slower,
    settings,
    spec_of_arguments,
)
from mawl.commands.report import screen_of
from mawl.commands.reporting import leave_html, short_path
from mawl.commands.terminal import require_programs, style_of
from mawl.commands.verbs import Verb, option, options_of_run, switch
from mawl.figures.view import StoredView
from mawl.records.model.run import RunFacts
from mawl.records.model.summary.summary import Judged
from mawl.records.spec.campaign import CAMPAIGN_OPTIONS, CampaignSpec
from mawl.records.spec.run_spec import RunSpec
from mawl.records.spec.sources import OPTIONS, Settings, campaign_of_command
from mawl.records.store import open_run
from mawl.records.store.files import FACTS


class RunArguments(WorkloadArguments):
    profile: str | None = PROFILE
    run_options: Any = options_of_run(
        *(field for field, option in OPTIONS.items() if option.help and field not in PLAN_OPTIONS)
    )
    dry_run: bool = switch("check workload, options and memory, print the plan, start nothing", group="start")
    json: bool = switch("with --dry-run: print the plan as JSON; with a campaign: its report")
    fail_on: list[str] = fail_on("not-carried", "below-guideline", "slower")
    within: list[str] = WITHIN
    junit: str | None = JUNIT
    campaign_options: Any = options_of_run(*CAMPAIGN_OPTIONS)
    continue_campaign: str | None = option(
        "FOLDER",
        "go on with a campaign that was cut short: what is finished is kept, the rest is made; alone",
        name="continue",
        group="campaign",
        brief="go on with a campaign that was cut short",
    )
    yes: bool = switch(
        "with --ab, --smt or --continue: do not ask before running the commands that change an arm's "
        "setting (mawl prints them in any case, and asks only at a terminal)"
    )


def run(arguments: RunArguments) -> int:
    failing = Failing(arguments)
    campaign = campaign_of_command(vars(arguments))
    if arguments.yes and arguments.continue_campaign is None and campaign.kind not in ("ab", "smt"):
        raise UsageError("--yes goes with --ab, --smt or --continue", cure="leave it out")
    if arguments.continue_campaign is not None or campaign != CampaignSpec():
        with importing():
            from mawl.commands.campaign import run_campaign
        return run_campaign(arguments, campaign, failing)
    refuse_slower(failing)
    spec = spec_of_arguments(arguments)
    if arguments.json and not arguments.dry_run:
        raise UsageError("--json goes with --dry-run", cure="for a finished run: mawl report --format json")
    if arguments.dry_run:
        return _dry_run(spec, for_scripts=arguments.json)
    return _show(spec, failing)


def _dry_run(spec: RunSpec, *, for_scripts: bool) -> int:
    with importing():
        from mawl.commands.local_run import show_plan
    show_plan(spec, for_scripts=for_scripts)
    if spec.nodes is None or for_scripts:
        return 0
    with importing():
        from mawl.commands.cluster_run import show_check
    print()
    return show_check(spec, spec.nodes)


def _show(spec: RunSpec, failing: Failing) -> int:
    if spec.nodes is None:
        require_programs()
    folder, facts = make_run(spec, sys.argv)
    status = EXIT_OF_OUTCOME[facts.outcome]
    if not (folder / FACTS).exists():  # stopped while the programs ran alone
        return status
    try:
        summary = show(folder, settings(), html=spec.html)
        sys.stdout.flush()
    except OSError:
        if facts.outcome == "completed":
            raise
        # The terminal may be gone, and with it who stopped the run: its outcome is what counts.
        return status
    return check_run(failing, summary, status)


def make_run(spec: RunSpec, command: Sequence[str]) -> tuple[Path, RunFacts]:
    """Make the run; its folder and its facts, whatever became of it.

    ``command`` is what a person typed, or would type.  Raises MawlError where the run cannot begin.
    """
    if spec.nodes is not None:
        from mawl.commands.cluster_run import run_on_nodes

        return run_on_nodes(spec, spec.nodes, command)
    with importing():  # what it takes to run jobs a run on several nodes has in the nodes' processes
        from mawl.commands.local_run import run_here
    return run_here(spec, command)


EXIT_OF_OUTCOME = {"completed": 0, "failed": 1, "aborted": 1, "interrupted": 130}


def show(folder: Path, chosen: Settings, *, html: bool) -> Judged:
    """Report a run on one screen, leave the HTML report in its folder where wanted; the judged summary."""
    view = StoredView(open_run(folder))
    summary = judged(view, bounds_of(chosen))
    # The page first: whoever reads this text may leave early (`| head`).
    page = leave_html(view, summary) if html else None
    print(screen_of(view, summary, style_of(sys.stdout)))
    print(f"\nrun folder: {shlex.quote(str(folder))}")
    if page is not None:
        print(f"report: {shlex.quote(short_path(page))}")
    return summary


def leave_page(folder: Path) -> None:
    """Leave the HTML report in the folder of a run that nobody watches."""
    view = StoredView(open_run(folder))
    leave_html(view, judged(view, bounds_of(settings())))


VERBS = {
    "run": Verb(RunArguments, run, FAILING_EXIT_STATUS, grouped=True),
}
