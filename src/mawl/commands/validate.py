"""Check a pack, a run or a campaign by numbered rules: is it whole, unaltered, and fit to publish?

docs/reference/rules.md says what each rule shows and what it cannot show.
"""

from __future__ import annotations

import sys
import time
from functools import partial
from pathlib import Path

from mawl.archive.bounded_reading import TRUSTED_HELP, read_bounded_by
from mawl.archive.subject import ValidationSubject, campaign_subject, pack_subject, run_subject
from mawl.archive.validation import Validation, checks_of, render, validate
from mawl.base.errors import UsageError
from mawl.base.removal import temporary_directory
from mawl.commands.arguments import JSON, RUNS, settings
from mawl.commands.output import write_text
from mawl.commands.terminal import width_of
from mawl.commands.verbs import Arguments, Verb, operand, option, switch
from mawl.records.store import locate
from mawl.records.store.campaign import campaign_folder
from mawl.reports import json
from mawl.reports.exports import render_junit

EXIT_STATUS = "exit status: 0 accepted, 1 not accepted or no pack, 2 wrong use, 130 interrupted"


class ValidateArguments(Arguments):
    subject: str = operand(
        "PACK|RUN",
        "a file that mawl pack wrote; or a run folder, a run id, latest (default), a campaign",
        default="latest",
    )
    signers: str | None = option(
        "FILE",
        "keys that you trust: allowed signers of ssh-keygen, or a public key of minisign; a pack that "
        "none of them signed is not accepted",
    )
    json: bool = JSON
    junit: str | None = option("FILE", "write a test for each rule there, as JUnit XML")
    trusted: bool = switch(TRUSTED_HELP)
    runs: str | None = RUNS


def run(arguments: ValidateArguments) -> int:
    """Ask the rules and print what they say; 1 where the subject is not accepted."""
    began = time.monotonic()
    signers = None if arguments.signers is None else Path(arguments.signers)
    if signers is not None and not signers.is_file():
        raise UsageError("is no file", where=str(signers), cure="name a file of public keys with --signers")
    name, runs = arguments.subject, settings().runs(arguments.runs)
    # Made here, so that it is removed also if the process that reads is killed.
    with temporary_directory("mawl-validate-") as place:
        read = partial(_validation, name, runs, signers, place)
        validation = read() if arguments.trusted else read_bounded_by(read, Validation, name)
    if arguments.junit is not None:
        seconds = time.monotonic() - began
        checks = checks_of(validation)
        write_text(arguments.junit, lambda: render_junit("mawl validate", checks, seconds), "--junit")
    sys.stdout.write(
        json.render(validation) + "\n" if arguments.json else render(validation, width_of(sys.stdout))
    )
    return 0 if validation.accepted else 1


def _validation(name: str, runs: Path, signers: Path | None, place: Path) -> Validation:
    return validate(_subject(name, runs, signers, place))


def _subject(name: str, runs: Path, signers: Path | None, place: Path) -> ValidationSubject:
    path = Path(name)
    if path.exists() and not path.is_dir():
        return pack_subject(path, place, signers)
    if signers is not None:
        raise UsageError("--signers goes with a pack", cure="name the file that mawl pack wrote")
    campaign = campaign_folder(name, runs)
    if campaign is not None:
        return campaign_subject(campaign.resolve())
    return run_subject(locate(name, runs))


VERBS = {"validate": Verb(ValidateArguments, run, EXIT_STATUS)}
