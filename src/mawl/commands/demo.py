"""A first look: one small run, what it did here, and the command that gives a real answer on this machine.

Runs 71 jobs of twenty programs in 20 sessions at scale smoke, without the page cache: about a minute.
"""

from __future__ import annotations

import contextlib
import secrets
import shlex
import shutil
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from mawl.advice.judge import judged
from mawl.advice.limit.verdict import costs_words
from mawl.advice.next_step import MINUTES_OF_QUALIFY, qualify_command
from mawl.base.errors import MawlError, RunFailedError
from mawl.base.units import format_bytes, format_percent, format_seconds
from mawl.campaigns.qualify.choice import Chooser
from mawl.campaigns.qualify.machine import QualifyMachine, do_task
from mawl.campaigns.qualify.model import CalibratedModel
from mawl.commands.arguments import ROLES_OF_RUN, bounds_of, settings, spec_of_arguments, volumes_of
from mawl.commands.qualify import ProgressLines
from mawl.commands.reporting import leave_html
from mawl.commands.terminal import require_programs
from mawl.commands.verbs import Arguments, Verb, options_of_run
from mawl.figures.view import StoredView
from mawl.records.model.qualification import Asked, QualificationChoice
from mawl.records.model.summary.summary import Judged
from mawl.records.spec.program_options import ROLES, Role
from mawl.records.spec.task import Task
from mawl.records.store import open_run
from mawl.records.store.files import LATEST, replace_link


class DemoArguments(Arguments):
    roles: Any = ROLES_OF_RUN
    runs: Any = options_of_run("runs")


def run(arguments: DemoArguments) -> int:
    require_programs()
    chosen = settings()
    spec = spec_of_arguments(arguments)
    roles = volumes_of(spec).directories
    runs = Path(spec.runs).absolute()
    runs.mkdir(parents=True, exist_ok=True)
    folder = runs / f"demo-{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}-{secrets.token_hex(2)}"
    progress = ProgressLines(sys.stderr)
    wanted = Asked(
        roles={role: [str(place) for place in roles[role]] for role in ROLES}, minutes=MINUTES_OF_QUALIFY
    )
    work = QualifyMachine(folder, wanted, str(Path.cwd()), None, progress.rewrite)
    seen = work.look()
    progress.say("demo: making small inputs and running 71 jobs in 20 sessions, about a minute")
    spec = msgspec.structs.replace(
        spec, sessions=None, scale="smoke", cache="none" if seen.uncached else None, output=str(folder)
    )
    log = runs / f"{folder.name}.log"
    do_task(
        Task(spec=msgspec.structs.replace(spec, html=False)), log, str(Path.cwd()), None, progress.rewrite
    )
    log.unlink(missing_ok=True)
    replace_link(runs / LATEST, folder)
    view = StoredView(open_run(folder))
    summary = judged(view, bounds_of(chosen))
    page = leave_html(view, summary)
    choice = _forecast(wanted, work, folder)
    progress.clear()
    program = started_as(sys.argv[0])
    print(first_screen(summary, choice, roles=wanted.roles, folder=folder, page=page, program=program))
    if summary.outcome != "completed":
        raise RunFailedError(
            "some jobs failed", cure=f"{program} report {shlex.quote(str(folder))} --all names them"
        )
    return 0


def started_as(script: str) -> str:
    """How a reader starts mawl from anywhere, whose ``script`` this process runs."""
    if shutil.which("mawl"):
        return "mawl"
    if Path(script).name == "mawl":
        return shlex.quote(str(Path(script).absolute()))
    return f"{shlex.quote(sys.executable)} -m mawl"


def _forecast(wanted: Asked, work: QualifyMachine, folder: Path) -> QualificationChoice | None:
    """What a qualification would choose, by the same function as ``mawl qualify --plan``."""
    with contextlib.suppress(MawlError):
        model = CalibratedModel(open_run(folder), None)
        return Chooser(wanted, work.look(), model, 60.0 * wanted.minutes).choose({})
    return None


def first_screen(
    summary: Judged,
    choice: QualificationChoice | None,
    *,
    roles: Mapping[Role, list[str]],
    folder: Path,
    page: Path | None,
    program: str = "mawl",
) -> str:
    jobs, io = summary.jobs, summary.io
    elapsed = format_seconds(summary.time.elapsed_seconds or 0.0)
    moved = (io.application.read_bytes or 0) + (io.application.written_bytes or 0)
    reach = [
        f"{format_percent(min(ratio, 1.0))} of the bytes {name}"
        for ratio, name in ((io.reach.read_ratio, "read"), (io.reach.write_ratio, "written"))
        if ratio is not None
    ]
    lines = [
        "This is a first look at how mawl works. It is too short to answer for this machine.",
        "",
        f"what ran     {jobs.total} jobs of twenty programs in {summary.workload.sessions} "
        f"sessions; {jobs.counted} gave the right answer",
        f"what it did  {elapsed}; the programs moved {format_bytes(moved)}, and "
        f"{' and '.join(reach) or 'an unknown part'} reached the storage",
        _limit_line(summary),
        "",
        "for a real answer: does this machine carry its load, what limits it, how many sessions fit?",
        f"  {qualify_command(roles, program)}",
    ]
    if choice is not None:
        lines.append(
            f"  forecast: {format_seconds(choice.total_seconds)}, {format_bytes(choice.space_bytes)} disk, "
            f"{choice.sessions} sessions; it shows its plan and asks first"
        )
    shown = "" if page is None else f"{page.absolute()}, or "
    place = shlex.quote(str(folder.absolute()))
    return "\n".join([*lines, "", f"every figure: {shown}{program} report {place}"])


def _limit_line(summary: Judged) -> str:
    limit = summary.limit
    if limit is None:
        return f"limit        not known: {summary.missing.get('limit', 'the run shows no limit')}"
    if not limit.costs:
        return "limit        nothing that this short run could show"
    return f"{'limited by' if limit.named else 'largest cost':<13}{costs_words(limit)}"


VERBS = {"demo": Verb(DemoArguments, run)}
