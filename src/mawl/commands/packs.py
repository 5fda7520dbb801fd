"""Packs: one file of a run, campaign or qualification, its check by rules, and a static site of several."""

from __future__ import annotations

import shlex
import sys
import time
from functools import partial
from pathlib import Path
from typing import Literal, cast, get_args

from mawl.archive.bounded_reading import TRUSTED_HELP, read_bounded_by
from mawl.archive.container import RECORDS, SUFFIX, PackKind
from mawl.archive.difference import named
from mawl.archive.manifest import Redaction, SubmitterStatement
from mawl.archive.packing import MOST_NAMED, PackRequest, pack, read_statement
from mawl.archive.publication import Validation, checks_of, render, validate
from mawl.archive.subject import ValidationSubject, pack_subject, record_subject, run_subject
from mawl.base.errors import UsageError
from mawl.base.printable import printable
from mawl.base.removal import temporary_directory
from mawl.base.units import counted_noun, format_bytes
from mawl.commands.arguments import JSON, PRICE, PRICES, RUNS, prices_of, settings
from mawl.commands.reporting import short_path
from mawl.commands.terminal import width_of, write_text
from mawl.commands.verbs import Arguments, Verb, operand, option, switch
from mawl.records.store import locate
from mawl.records.store.files import folder_with
from mawl.reports import json
from mawl.reports.exports import render_junit


class PackArguments(Arguments):
    """One file of a run, campaign or qualification that others can check: its data, what mawl printed from
    it, and a manifest.

    mawl validate checks such a pack, mawl help pack-and-validate says what a pack can prove.
    """

    run: str = operand(
        "RUN",
        "a run folder, a run id, or latest (default); or the folder or name of a campaign or qualification",
        default="latest",
    )
    output: str | None = option("FILE", f"write there (default: NAME{SUFFIX} in this directory)")
    redact: str | None = option(
        "LIST", "remove private names from facts, plan, tables and logs: any of host,user,paths"
    )
    yes: bool = switch("replace words that look like secrets, without asking")
    division: Literal["closed", "open"] = option(
        None,
        "closed (default): a workload that mawl ships, unchanged; open: any other",
        default="closed",
    )
    statement: str | None = option(
        "FILE.toml", "your own words: submitter, contact, system, storage, tuning, notes"
    )
    sign: str | None = option("KEY", "sign the manifest with this SSH key (ssh-keygen) or minisign key")
    runs: str | None = RUNS


def run_pack(arguments: PackArguments) -> int:
    wanted = [word.strip() for word in (arguments.redact or "").split(",") if word.strip()]
    unknown = [word for word in wanted if word not in get_args(Redaction)]
    if unknown:
        raise UsageError(
            f"--redact does not know {unknown[0]!r}", cure=f"choose from {','.join(get_args(Redaction))}"
        )
    runs = settings().runs(arguments.runs)
    kind, folder = _found(arguments.run, runs)
    output = Path(arguments.output or f"{folder.name}{SUFFIX}")
    if output.exists() and not output.is_file():
        why = "a directory" if output.is_dir() else "not a regular file"
        raise UsageError(f"is {why}", where=str(output), cure="name a file with --output")
    statement = (
        SubmitterStatement() if arguments.statement is None else read_statement(Path(arguments.statement))
    )
    packed = pack(
        PackRequest(
            folder=folder,
            kind=kind,
            division=arguments.division,
            redact=[cast(Redaction, word) for word in wanted],
            replace_secrets=arguments.yes,
            statement=statement,
            key=None if arguments.sign is None else Path(arguments.sign),
        ),
        output.absolute(),
    )
    size = format_bytes(output.stat().st_size)
    count = counted_noun(len(packed.manifest.runs), "run")
    print(f"pack: {shlex.quote(short_path(output.absolute()))} ({count}, {size})")
    if packed.renewed:
        print(f"notice: the pack has the answer of the runs, not that of the folder: {named(packed.renewed)}")
    for member, words in packed.left.items():
        some = ", ".join(printable(word) for word in words[:MOST_NAMED])
        more = f" and {len(words) - MOST_NAMED} more" if len(words) > MOST_NAMED else ""
        print(f"looks private: {some}{more} in {member}")
    if packed.left and not wanted:
        print("--redact host,user,paths takes such names out")
    print(f"check it with: mawl validate {shlex.quote(short_path(output.absolute()))}")
    return 0


VALIDATE_STATUS = "exit status: 0 accepted, 1 not accepted or no pack, 2 wrong use, 130 interrupted"


class ValidateArguments(Arguments):
    """Check a pack, a run, a campaign or a qualification by numbered rules: is it whole, unaltered, and fit
    to publish?

    mawl help pack-and-validate says what the rules show.
    """

    subject: str = operand(
        "PACK|RUN",
        "a file that mawl pack wrote; or a run folder, a run id, latest (default), the folder or name of a "
        "campaign or qualification",
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


def run_validate(arguments: ValidateArguments) -> int:
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
    kind, folder = _found(name, runs)
    return run_subject(folder) if kind == "run" else record_subject(folder, kind)


def _found(name: str, runs: Path) -> tuple[PackKind, Path]:
    """The kind and the folder of what a path, or a name in ``runs``, means."""
    for kind, record in RECORDS.items():
        if record and (folder := folder_with(record, name, runs)) is not None:
            return kind, folder.resolve()
    return "run", locate(name, runs)


class PublishArguments(Arguments):
    """A static site of packs: a table, a page for each with its rules, the data to download, and a feed.

    The pages work without a web server. Only filters and the page of two results need scripts. mawl checks
    every pack first, and refuses one whose figures cannot be relied on. mawl help publish shows it.
    """

    packs: list[str] = operand("PACK", "files that mawl pack wrote", nargs="+")
    output: str = option("DIR", "the site's directory (default: site)", default="site")
    address: str = option(
        "URL",
        "where the site will be, with a slash at its end, for the names in its feed",
        default="urn:mawl:site:",
    )
    price: list[str] = PRICE
    prices: str | None = PRICES
    trusted: bool = switch(TRUSTED_HELP)


def run_publish(arguments: PublishArguments) -> int:
    output = Path(arguments.output)
    packs = [Path(name) for name in arguments.packs]
    # It loads the library of templates.
    from mawl.archive.site.build import build_site
    from mawl.archive.site.entries import slug_of

    slugs = [slug_of(path) for path in packs]
    book = prices_of(arguments, slugs)
    entries = build_site(packs, output, arguments.address, trusted=arguments.trusted, prices=book)
    accepted = sum(entry.validation.accepted for entry in entries)
    page = shlex.quote(str(output / "index.html"))
    print(f"site: {page} ({counted_noun(len(entries), 'pack')}, {accepted} accepted)")
    return 0


VERBS = {
    "pack": Verb(PackArguments, run_pack),
    "validate": Verb(ValidateArguments, run_validate, VALIDATE_STATUS),
    "publish": Verb(PublishArguments, run_publish),
}
