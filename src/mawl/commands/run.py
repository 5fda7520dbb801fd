"""Run a workload: make its inputs, run its sessions over the three roles, write a run folder, report it."""

from __future__ import annotations

import argparse
import sys

from mawl.base.errors import UsageError
from mawl.base.imports import importing
from mawl.commands.arguments import (
    PLAN_OPTIONS,
    add_options,
    add_profile_argument,
    add_workload_arguments,
    settings,
    spec_of_arguments,
)
from mawl.commands.fail_on import FAILING_EXIT_CODES, Failing, add_fail_on_arguments, check_run, refuse_slower
from mawl.commands.make_run import make_run
from mawl.commands.run_report import EXIT_OF_OUTCOME, show
from mawl.commands.terminal import Groups, groups_of, require_programs
from mawl.records.spec.campaign import CAMPAIGN_OPTIONS, CampaignSpec
from mawl.records.spec.run_spec import RunSpec
from mawl.records.spec.sources import OPTIONS, campaign_of_command
from mawl.records.store.files import FACTS

NAME = "run"
HELP = "run a workload and write a run folder"
EXIT_CODES = FAILING_EXIT_CODES
GROUPS: Groups = groups_of(
    (*OPTIONS.values(), *CAMPAIGN_OPTIONS.values()),
    {
        "workload": {
            "WORKLOAD": None,
            "--option": "an option of the programs, such as memsize=512M or cpucount=2; may be repeated",
        },
        "places": {},
        "limits": {},
        "start": {"--dry-run": None},
        "campaign": {"--continue": "go on with a campaign that was cut short"},
        "nodes": {},
    },
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_workload_arguments(parser)
    add_profile_argument(parser)
    add_options(
        parser,
        *(field for field, option in OPTIONS.items() if option.help and field not in PLAN_OPTIONS),
    )
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="check workload, options and memory, print the plan, start nothing",
    )
    parser.add_argument(
        "--json",
        action="store_true",
        help="with --dry-run: print the plan as JSON; with a campaign: its report",
    )
    add_fail_on_arguments(parser, "not-carried", "below-guideline", "slower")
    add_options(parser, *CAMPAIGN_OPTIONS)
    parser.add_argument(
        "--continue",
        dest="continue_campaign",
        metavar="FOLDER",
        help="go on with a campaign that was cut short: what is finished is kept, the rest is made; alone",
    )
    parser.add_argument(
        "--yes",
        action="store_true",
        help="with --ab, --smt or --continue: do not ask before running the commands that change an arm's "
        "setting (mawl prints them in any case, and asks only at a terminal)",
    )


def run(arguments: argparse.Namespace) -> int:
    failing = Failing(NAME, arguments)
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
