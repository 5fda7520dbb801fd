"""A first look: one small run, what it did here, and the command that gives a real answer on this machine.

Runs 71 jobs of twenty programs in 20 sessions at scale smoke, without the page cache: about a minute.
"""

from __future__ import annotations

import argparse
import contextlib
import secrets
import shlex
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mawl.advice.judge import judged
from mawl.analysis.view import StoredView
from mawl.campaigns.qualify.child import carried
from mawl.campaigns.qualify.choice import Chooser
from mawl.campaigns.qualify.machine import Machine
from mawl.campaigns.qualify.model import CalibratedModel
from mawl.commands.arguments import add_role_arguments, bounds_of, settings
from mawl.commands.extras import require_programs
from mawl.commands.html import leave_html, named
from mawl.commands.qualify_shown import Progress
from mawl.errors import MawlError, RunFailedError
from mawl.model.options import ROLES, Role
from mawl.model.qualification import Asked, Choice
from mawl.store import open_run
from mawl.store.files import replace_link
from mawl.store.layout import FACTS, LATEST
from mawl.units import format_bytes, format_percent, format_seconds

NAME = "demo"
HELP = "a first look: one small run, what it did here, and which command gives a real answer"

WORKLOAD = "mixed20"
MINUTES = 30.0
"""Of the qualification that the last lines forecast."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """``mawl demo``."""
    add_role_arguments(parser)
    parser.add_argument("--runs", metavar="DIR", help="where its run folder goes (default: ./runs)")


def run(arguments: argparse.Namespace) -> int:
    """Run the mix once at smoke and say what it shows, and what it does not."""
    require_programs()
    chosen = settings()
    roles = chosen.roles({"data": arguments.data, "work": arguments.work, "util": arguments.util})
    runs = chosen.runs(arguments.runs).absolute()
    runs.mkdir(parents=True, exist_ok=True)
    folder = runs / f"demo-{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}-{secrets.token_hex(2)}"
    progress = Progress(sys.stderr)
    asked = Asked(
        roles={role: [str(place.absolute()) for place in roles[role]] for role in ROLES}, minutes=MINUTES
    )
    work = Machine(folder, asked, str(Path.cwd()), None, progress.rewrite)
    seen = work.look()
    progress.say("demo: making small inputs and running 71 jobs in 20 sessions, about a minute")
    words = ["run", WORKLOAD, "--scale=smoke", "--html=no", f"--output={folder}"]
    words += [word for role in ROLES for word in (f"--{role}", *asked.roles[role])]
    if seen.uncached:
        words.append("--cache=none")
    log = runs / f"{folder.name}.log"
    try:
        carried(words, log, str(Path.cwd()), None, progress.rewrite)
    except MawlError:
        if not (folder / FACTS).exists():
            raise
    log.unlink(missing_ok=True)
    replace_link(runs / LATEST, folder)
    view = StoredView(open_run(folder))
    summary = judged(view, bounds_of(chosen))
    page = leave_html(view, summary)
    choice = _forecast(asked, work, folder)
    progress.clear()
    print(
        first_screen(
            summary, choice, roles={role: asked.roles[role] for role in ROLES}, page=page and named(page)
        )
    )
    if summary["outcome"] != "completed":
        raise RunFailedError("some jobs failed", cure="mawl report latest --all names them")
    return 0


def _forecast(asked: Asked, work: Machine, folder: Path) -> Choice | None:
    """What a qualification would choose, by the same function as ``mawl qualify --plan``."""
    with contextlib.suppress(MawlError):
        model = CalibratedModel(open_run(folder), None)
        return Chooser(asked, work.look(), model, 60.0 * asked.minutes).choose({})
    return None


def first_screen(
    summary: Mapping[str, Any], choice: Choice | None, *, roles: Mapping[Role, list[str]], page: str | None
) -> str:
    """What the run shows, in words for a first reader."""
    jobs, time_, io = summary["jobs"], summary["time"], summary["io"]
    limit = summary["limit"]
    elapsed = format_seconds(time_["elapsed_seconds"] or 0.0)
    moved = sum(io["application"][f"{way}_bytes"] or 0 for way in ("read", "written"))
    reach = [
        f"{format_percent(min(io['reach'][f'{way}_ratio'], 1.0))} of the bytes {name}"
        for way, name in (("read", "read"), ("write", "written"))
        if io["reach"][f"{way}_ratio"] is not None
    ]
    lines = [
        "This is a first look at how mawl works. It is too short to answer for this machine.",
        "",
        f"what ran     {jobs['total']} jobs of twenty programs in {summary['workload']['sessions']} "
        f"sessions; {jobs['counted']} gave the right answer",
        f"what it did  {elapsed}; the programs moved {format_bytes(moved)}, and "
        f"{' and '.join(reach) or 'an unknown part'} reached the storage",
        f"limited by   {_limit_words(limit)}",
        "",
        "for a real answer: does this machine carry its load, what limits it, how many sessions fit?",
        f"  {qualify_command(roles)}",
    ]
    if choice is not None:
        lines.append(
            f"  forecast: {format_seconds(choice.total_seconds)}, {format_bytes(choice.space_bytes)} disk, "
            f"{choice.sessions} sessions; it shows its plan and asks first"
        )
    return "\n".join([*lines, "", f"every figure: {f'{page}, or ' if page else ''}mawl report latest"])


def qualify_command(roles: Mapping[Role, list[str]]) -> str:
    """The command that qualifies these directories."""
    places = " ".join(
        f"--{role} {' '.join(shlex.quote(named(Path(place))) for place in roles[role])}" for role in ROLES
    )
    return f"mawl qualify {places} --minutes {MINUTES:g}"


def _limit_words(limit: Mapping[str, Any] | None) -> str:
    verdict = None if limit is None else limit["verdict"]
    if limit is None or verdict in (None, "none", "not known"):
        return "nothing that this short run could tell"
    names = {"cpu": "the processors"}
    share = (limit.get("shares") or {}).get(verdict)
    part = f", {format_percent(share)} of the time" if share is not None else ""
    return f"{names.get(verdict, verdict)}{part}"
