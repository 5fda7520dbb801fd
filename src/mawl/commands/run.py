"""Run a workload: make its inputs, run its sessions over the three roles, write a run folder, report it."""

from __future__ import annotations

import sys
from typing import Any

from mawl.base.errors import UsageError
from mawl.base.process import importing
from mawl.commands.arguments import PLAN_OPTIONS, PROFILE, WorkloadArguments, settings, spec_of_arguments
from mawl.commands.fail_on import FAILING_EXIT_STATUS, JUNIT, Failing, check_run, fail_on, refuse_slower
from mawl.commands.single_run import EXIT_OF_OUTCOME, make_run, show
from mawl.commands.terminal import require_programs
from mawl.commands.verbs import Verb, option, options_of_run, switch
from mawl.records.spec.campaign import CAMPAIGN_OPTIONS, CampaignSpec
from mawl.records.spec.run_spec import RunSpec
from mawl.records.spec.sources import OPTIONS, campaign_of_command
from mawl.records.store.files import FACTS


class RunArguments(WorkloadArguments):
    profile: str | None = PROFILE
    run_options: Any = options_of_run(
        *(field for field, option in OPTIONS.items() if option.help and field not in PLAN_OPTIONS)
    )
    dry_run: bool = switch("check workload, options and memory, print the plan, start nothing", group="start")
    json: bool = switch("with --dry-run: print the plan as JSON; with a campaign: its report")
    fail_on: list[str] = fail_on("not-carried", "below-guideline", "slower")
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


VERBS = {"run": Verb(RunArguments, run, FAILING_EXIT_STATUS, grouped=True)}
