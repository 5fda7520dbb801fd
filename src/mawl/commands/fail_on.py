"""``--fail-on`` and ``--junit``: the exit status that CI asks for, and a file that it can show."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mawl.base.errors import UsageError
from mawl.commands.verbs import option, repeated
from mawl.records.model.summary.summary import Judged
from mawl.records.store.output import OutputFile

if TYPE_CHECKING:
    from mawl.advice.bounds import AnswerBounds
    from mawl.advice.conditions import Condition, ConditionCheck
    from mawl.commands.reporting import StoredCampaign


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


JUNIT = option("FILE", "with --fail-on: write what was checked there, as JUnit XML")


class Failing:
    """What the exit status depends on; made before the work, so that a bad file fails first.

    Raises ``UsageError`` where --junit cannot be written, or has nothing to hold.
    """

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.conditions: list[Condition] = list(dict.fromkeys(arguments.fail_on))
        self._verb = arguments.verb
        self._file: OutputFile | None = None
        self._began = time.monotonic()
        for name in ("dry_run", "plan"):
            if self.conditions and getattr(arguments, name, False):
                option = f"--{name.replace('_', '-')}"
                raise UsageError(f"--fail-on does not go with {option}", cure="leave one out")
        if arguments.junit is not None:
            if not self.conditions:
                raise UsageError("--junit goes with --fail-on", cure="name a condition, or leave --junit out")
            self._file = OutputFile(arguments.junit, "--junit")

    @property
    def asked(self) -> bool:
        return bool(self.conditions)

    def status(self, checks: Sequence[ConditionCheck], otherwise: int = 0) -> int:
        """Write the file; ``otherwise`` is the status without conditions, which stays where it is not 0."""
        if self._file is not None:
            from mawl.reports.exports import render_junit

            seconds = time.monotonic() - self._began
            with self._file as file:
                file.write(render_junit(f"mawl {self._verb}", checks, seconds).encode())
        states = {check.state for check in checks}
        return otherwise or next((status for state, status in STATUS.items() if state in states), 0)


def check_run(failing: Failing, summary: Judged, otherwise: int) -> int:
    """The exit status of one run; without a condition it is ``otherwise``."""
    from mawl.advice.conditions import checks_of_run

    if not failing.asked:
        return otherwise
    refuse_slower(failing)
    return failing.status(checks_of_run(summary, failing.conditions), otherwise)


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
        for check in checks_of_run(run.summary, failing.conditions)
    ]
    if "slower" in failing.conditions:
        titles = " against ".join(arm.title for arm in reversed(figures.arms))
        checks.append(check_of_comparison(titles, figures.comparison, figures.comparison_reason))
    return failing.status(checks, otherwise)
