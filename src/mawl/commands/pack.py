"""One file of a run or campaign that others can check: its data, what mawl printed from it, and a manifest.

mawl validate checks such a pack, docs/guides/pack-and-validate.md shows it, and docs/design/archive.md says
what a pack can prove.
"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Literal, cast, get_args

from mawl.archive.container import SUFFIX
from mawl.archive.manifest import Redaction, SubmitterStatement
from mawl.archive.packing import MOST_NAMED, PackRequest, pack, read_statement
from mawl.base.errors import UsageError
from mawl.base.printable import printable
from mawl.base.units import counted_noun, format_bytes
from mawl.commands.arguments import RUNS, settings
from mawl.commands.reporting import short_path
from mawl.commands.verbs import Arguments, Verb, operand, option, switch
from mawl.records.store import locate
from mawl.records.store.campaign import campaign_folder


class PackArguments(Arguments):
    run: str = operand(
        "RUN",
        "a run folder, a run id, or latest (default); or the folder or name of a campaign, for all its runs",
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


def run(arguments: PackArguments) -> int:
    wanted = [word.strip() for word in (arguments.redact or "").split(",") if word.strip()]
    unknown = [word for word in wanted if word not in get_args(Redaction)]
    if unknown:
        raise UsageError(
            f"--redact does not know {unknown[0]!r}", cure=f"choose from {','.join(get_args(Redaction))}"
        )
    runs = settings().runs(arguments.runs)
    campaign = campaign_folder(arguments.run, runs)
    folder = locate(arguments.run, runs) if campaign is None else campaign.resolve()
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
            campaign=campaign is not None,
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
    for member, words in packed.left.items():
        some = ", ".join(printable(word) for word in words[:MOST_NAMED])
        more = f" and {len(words) - MOST_NAMED} more" if len(words) > MOST_NAMED else ""
        print(f"looks private: {some}{more} in {member}")
    if packed.left and not wanted:
        print("--redact host,user,paths takes such names out")
    print(f"check it with: mawl validate {shlex.quote(short_path(output.absolute()))}")
    return 0


VERBS = {"pack": Verb(PackArguments, run)}
