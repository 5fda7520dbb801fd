"""Options that several verbs share, the ``RunSpec`` that they make, and the exit status of ``--fail-on``."""

from __future__ import annotations

import argparse
import os
import re
import sys
import time
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from mawl.advice.bounds import AnswerBounds
from mawl.base.errors import UsageError
from mawl.base.units import parse_size
from mawl.commands.verbs import Arguments, operand, option, options_of_run, repeated, switch
from mawl.plan.run_plan import with_run_of
from mawl.plan.workload import shipped
from mawl.records.model.published import PriceBook, load_prices, with_prices
from mawl.records.model.summary.summary import Judged
from mawl.records.spec.program_options import ROLES, Role
from mawl.records.spec.run_spec import DEFAULT_WORKLOAD, RunSpec
from mawl.records.spec.sources import Layer, Settings, layer_of_command, load_profile, spec_of
from mawl.records.store.output import OutputFile
from mawl.records.volumes import Volumes

if TYPE_CHECKING:
    from mawl.advice.conditions import Condition, ConditionCheck
    from mawl.commands.reporting import StoredCampaign

MOST_BOUND = 1e6
PLAN_OPTIONS = ("sessions", "scale", "seed", "saving")
ROLE_HELP = {"data": "input tables and results", "work": "temporary tables", "util": "sort and spill files"}


RUN = operand("RUN", "a run folder, a run id, or latest (default)", default="latest")
NAMED_RUN = operand("RUN", "a run folder, a run id, or latest")
RUNS = option("DIR", "where run folders are (default: ./runs)")
JSON = switch("print one JSON object")
PRICE = repeated("NAME=PRICE", "what an hour of a system costs, such as A=1.20/h; may be repeated")
PRICES = option("FILE.toml", "a price book: currency, and per_hour with a price for each name")
OUTPUT = option("FILE", "write there instead of to the terminal")
ROLES_OF_RUN = options_of_run(*ROLE_HELP)
"""Where the roles are that mawl itself puts files on."""
DATA, WORK, UTIL = (
    option("DIR", f"{holds}; one directory or several (default: ./mawl-{role})", nargs="+")
    for role, holds in ROLE_HELP.items()
)
"""Where the roles are of programs that mawl only measures."""


def formats(*names: str, text: str = "default: text") -> Any:
    """--format; the first is the usual."""
    return option(None, text, choices=names, default=names[0])


class WorkloadArguments(Arguments):
    """What decides a plan."""

    workload: str = operand(
        "WORKLOAD",
        f"a shipped workload ({', '.join(shipped())}) or a TOML file (default: {DEFAULT_WORKLOAD})",
        default=DEFAULT_WORKLOAD,
        group="workload",
    )
    plan_options: Any = options_of_run(*PLAN_OPTIONS)
    option: list[str] = repeated(
        "NAME=VALUE",
        "a run option: memsize, sortsize, bufsize, cpucount, queue_depth, fullstimer, or direct (auto, "
        "yes or no: bypass the page cache in random_access and the scan of wide_sort's input); may be "
        "repeated",
        group="workload",
        brief="an option of the programs, such as memsize=512M or cpucount=2; may be repeated",
    )


PROFILE = option(
    "FILE",
    "run options from a file, such as mawl tune search writes; precedence: command line, profile, "
    "environment, mawl.toml",
)
TIMEZONE = repeated(
    "ZONE",
    "zone of the files' wall clocks: Area/City or +HH:MM, for one kind KIND=ZONE; may be repeated "
    "(default: UTC)",
)
SHIFT = repeated(
    "NODE=SECONDS",
    "move the recording of a node, or all files of a kind, by seconds; may be repeated",
)
DATES = option(None, "order in timestamps of logs (default: as they show)")
"""Wall clocks of foreign files, and day and month in the timestamps of SAS logs."""


def patterns_by_role(flag: str, given: Sequence[str], how: int = 0) -> dict[Role, list[re.Pattern[str]]]:
    """``ROLE=PATTERN`` of an option that may be repeated, compiled with ``how`` (flags of ``re``).

    Raises ``UsageError`` for an unknown role and for what is no regular expression.
    """
    patterns: dict[Role, list[re.Pattern[str]]] = {}
    for text in given:
        name, separator, pattern = text.partition("=")
        role = next((role for role in ROLES if role == name), None)
        if not separator or role is None:
            raise UsageError(f"{flag} {text}: expected ROLE=PATTERN with a role of {', '.join(ROLES)}")
        try:
            patterns.setdefault(role, []).append(re.compile(pattern, how))
        except re.error as error:
            raise UsageError(f"{flag} {text}: no regular expression: {error}") from None
    return patterns


def settings() -> Settings:
    """Settings of the environment and of ``mawl.toml`` in the current directory."""
    return Settings(os.environ, Path.cwd())


def layer_of(arguments: argparse.Namespace, *, leave: Sequence[str] = ()) -> Layer:
    """What settings, plan, profile and command line set; ``leave``: options with another meaning to the
    verb.

    Bounds of what is said of a run are checked, too, because mawl reads them only after the run.
    """
    chosen = settings()
    bounds_of(chosen)
    layer = chosen.layer()
    if getattr(arguments, "workload", None) is not None:
        layer = with_run_of(arguments.workload, layer)
    if getattr(arguments, "profile", None) is not None:
        layer = layer.under(load_profile(Path(arguments.profile)))
    return layer.under(layer_of_command(vars(arguments), leave))


def spec_of_arguments(arguments: argparse.Namespace, *, leave: Sequence[str] = ()) -> RunSpec:
    """The spec that ``layer_of`` makes."""
    return spec_of(layer_of(arguments, leave=leave))


def volumes_of(spec: RunSpec) -> Volumes:
    """The volumes of a spec."""
    return Volumes({role: [Path(place) for place in places] for role, places in spec.directories().items()})


def bounds_of(chosen: Settings) -> AnswerBounds:
    """What a system must keep to carry its sessions, from the settings."""
    if getattr(chosen.file, "most_slowdown", None) is not None or "MAWL_MOST_SLOWDOWN" in chosen.environment:
        raise UsageError(
            "most_slowdown is not known any more",
            where="mawl.toml or MAWL_MOST_SLOWDOWN",
            why="the slowdown is now real time over reference time, so the same number is another bound",
            cure="name the bound answer_bound (default: 2)",
        )
    defaults = AnswerBounds()
    answer_bound = chosen.number("answer_bound", None, defaults.answer_bound)
    if not 1.0 < answer_bound <= MOST_BOUND:
        raise UsageError(
            f"answer_bound {answer_bound:g}: expected a number above 1 and up to {MOST_BOUND:,.0f}",
            why="it says how many times their reference time jobs may take",
            cure="mend it in mawl.toml or MAWL_ANSWER_BOUND",
        )
    return AnswerBounds(
        answer_bound=answer_bound,
        warn_bytes_per_second_per_core=_rate(
            chosen, "guideline_warn", defaults.warn_bytes_per_second_per_core
        ),
        good_bytes_per_second_per_core=_rate(
            chosen, "guideline_good", defaults.good_bytes_per_second_per_core
        ),
    )


def _rate(chosen: Settings, name: str, default: float) -> float:
    text = chosen.optional_text(name, None)
    return default if text is None else float(parse_size(text))


FAILING_EXIT_STATUS = (
    "exit status: 0 all well, 1 a run or a check failed, 2 wrong use, 3 a condition of --fail-on is met, "
    "4 none is met and one is not known, 130 interrupted"
)
MEANT = {
    "not-carried": "the system does not carry the load",
    "below-guideline": "the storage is below the guideline per core",
    "slower": "the candidate is slower than the reference",
    "regression": "the last change of the level made jobs slower",
}
STATUS = {"failed": 1, "met": 3, "not known": 4}
"""Exit status of a check, the gravest first."""


def fail_on(*conditions: Condition) -> Any:
    """--fail-on, with the conditions that the verb can meet."""
    meanings = "; ".join(f"{name}: {MEANT[name]}" for name in conditions)
    return repeated(
        None,
        f"exit with 3 where this is so, with 4 where it is not known; may be repeated. {meanings}",
        choices=conditions,
    )


WITHIN = repeated(
    "LEVEL",
    "exit with 3 where calls took longer, with 4 where that is not known: [ROLE:]FIGURE=TIME, such as "
    "p99=5ms or work:mean=800us; FIGURE is mean, p50 or p99 of the time inside read calls and write calls, "
    "page-cache hits included; may be repeated",
)
JUNIT = option("FILE", "with --fail-on or --within: write what was checked there, as JUnit XML")


def prices_of(arguments: Any, known: Collection[str]) -> PriceBook:
    """``--prices`` and ``--price`` of systems with these names, and whatever else ``--price`` names.

    Raises ``UsageError`` where the file has no price of theirs.
    """
    file, given = arguments.prices, arguments.price
    book = with_prices(load_prices(Path(file)) if file else PriceBook(), given)
    named = {text.rpartition("=")[0] for text in given}
    prices = {name: price for name, price in book.per_hour.items() if name in known or name in named}
    if file and not prices:
        raise UsageError(
            f"has no price for {' or '.join(known)}",
            where=file,
            cure="give per_hour the names of the systems as keys",
        )
    return msgspec.structs.replace(book, per_hour=prices)


class Failing:
    """What the exit status depends on; made before the work, so that a bad file fails first.

    Raises ``UsageError`` where --junit cannot be written, or has nothing to hold.
    """

    def __init__(self, arguments: argparse.Namespace) -> None:
        from mawl.advice.conditions import parse_level

        self.conditions: list[Condition] = list(dict.fromkeys(arguments.fail_on))
        self.levels = [parse_level(text) for text in getattr(arguments, "within", [])]
        self._verb = arguments.verb
        self._file: OutputFile | None = None
        self._began = time.monotonic()
        for name in ("dry_run", "plan"):
            if self.asked and getattr(arguments, name, False):
                option = f"--{name.replace('_', '-')}"
                own = "--fail-on" if self.conditions else "--within"
                raise UsageError(f"{own} does not go with {option}", cure="leave one out")
        if arguments.junit is not None:
            if not self.asked:
                raise UsageError("--junit goes with --fail-on", cure="name a condition, or leave --junit out")
            self._file = OutputFile(arguments.junit, "--junit")

    @property
    def asked(self) -> bool:
        return bool(self.conditions or self.levels)

    def status(self, checks: Sequence[ConditionCheck], otherwise: int = 0) -> int:
        """Write the file; ``otherwise`` is the status without conditions, which stays where it is not 0."""
        if self._file is not None:
            from mawl.reports.exports import render_junit

            seconds = time.monotonic() - self._began
            with self._file as file:
                file.write(render_junit(f"mawl {self._verb}", checks, seconds).encode())
        states = {check.state for check in checks}
        state = next((state for state in STATUS if state in states), None)
        if otherwise or state is None:
            return otherwise
        for check in checks:
            if check.state == state:
                print(f"exit status {STATUS[state]}: {check.sentence}", file=sys.stderr)
        return STATUS[state]


def check_run(failing: Failing, summary: Judged, otherwise: int) -> int:
    """The exit status of one run; without a condition it is ``otherwise``."""
    from mawl.advice.conditions import checks_of_run

    if not failing.asked:
        return otherwise
    refuse_slower(failing)
    return failing.status(checks_of_run(summary, failing.conditions, failing.levels), otherwise)


def refuse_slower(failing: Failing) -> None:
    """UsageError where a single run is asked whether it is slower."""
    if "slower" in failing.conditions:
        raise UsageError(
            "--fail-on slower needs two sides",
            cure="use mawl run --ab A.toml B.toml, or mawl compare REFERENCE CANDIDATE",
        )


def refuse_question(failing: Failing, kind: str) -> None:
    """UsageError where a campaign of a kind cannot meet a condition."""
    if failing.asked and kind not in ("repeat", "ab", "smt"):
        raise UsageError(
            f"--fail-on does not go with a campaign of the kind {kind}",
            why="its runs go beyond what the system carries, to find where that is",
            cure="leave it out, or use --repeat or --ab",
        )
    if kind != "ab":
        refuse_slower(failing)


def check_campaign(
    failing: Failing, folder: Path, campaign: StoredCampaign, bounds: AnswerBounds, otherwise: int
) -> int:
    """The exit status of a campaign: every finished run is checked, and the second arm against the first."""
    from mawl.advice.conditions import check_of_comparison, checks_of_run
    from mawl.commands.reporting import read_run

    if not failing.asked:
        return otherwise
    figures = campaign.figures
    refuse_question(failing, figures.kind)
    checks = [
        check
        for slot in figures.slots
        if slot.state == "finished" and slot.folder is not None
        for run in [campaign.runs.get(slot.position) or read_run(folder / slot.folder, bounds)]
        for check in checks_of_run(run.summary, failing.conditions, failing.levels)
    ]
    if "slower" in failing.conditions:
        titles = " against ".join(arm.title for arm in reversed(figures.arms))
        checks.append(check_of_comparison(titles, figures.comparison, figures.comparison_reason))
    return failing.status(checks, otherwise)
