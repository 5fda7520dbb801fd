"""``python -m tools.filtered_reads FILE...``: print the page of what logs tell of steps with filters.

Each file holds lines of JSON that ``tests/cli/test_derive_loop.py`` and ``tests/cli/test_derive_transfer.py``
wrote.  They are added to docs/reference/filtered-reads.jsonl, and docs/reference/filtered-reads.md is printed
from that file.  The newest line of a seed and a kind of log, and of a bed, counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import msgspec

from tools.kept_lines import print_page

PAGE = Path("docs/reference/filtered-reads.md")
LEAST_INSIDE = 0.9
"""Of the steps."""


Scarce = Literal["data", "work", "processors"]


class LogsOfRun(msgspec.Struct, frozen=True, kw_only=True, tag="logs"):
    """Steps of a drawn run whose counted bytes are inside the range that its logs give.

    ``roles_inside`` counts steps of which each role is inside, in both directions; ``median_error`` is the
    larger of ratio and inverse of a step's bytes.
    """

    measured_at: str
    machine: str
    seed: int
    log: Literal["FULLSTIMER", "STIMER"]
    steps: int
    filtered_steps: int
    bytes_inside: int
    roles_inside: int
    median_error: float


class BedRuns(msgspec.Struct, frozen=True, kw_only=True, tag="bed"):
    """The limit of a drawn run and of the run derived from its logs, on one bed.

    ``bed`` names what is scarce; a limit is a verdict and a role, and None, with a reason, if withheld.
    """

    measured_at: str
    machine: str
    seed: int
    bed: Scarce
    original: str | None
    derived: str | None
    original_seconds: float
    derived_seconds: float


Kept = LogsOfRun | BedRuns


def holds(one: Kept) -> bool:
    """Nine of ten steps are inside their ranges by role; the limit of both runs is the same."""
    if isinstance(one, LogsOfRun):
        return one.roles_inside >= LEAST_INSIDE * one.steps
    return one.original is not None and one.original == one.derived


def page(kept: Sequence[Kept]) -> str:
    """The page, in Markdown."""
    logs = [one for one in kept if isinstance(one, LogsOfRun)]
    beds = [one for one in kept if isinstance(one, BedRuns)]
    lines = [
        "# Steps with filters",
        "",
        "Printed by `python -m tools.filtered_reads` from runs of `tests/cli/test_derive_loop.py` and "
        "`tests/cli/test_derive_transfer.py`.",
        "Drawn jobs read Parquet tables with PyArrow and DuckDB as SAS steps do: whole, or with WHERE, OBS=, "
        "FIRSTOBS= and an index. Their logs have the rows that passed, in SAS's layout.",
        "mawl derived the bytes of each step by role from these logs alone, and compared them with the bytes "
        "that it had counted in the run (page cache: none).",
        *(f"Machine: {machine}." for machine in sorted({one.machine for one in kept})),
        "",
        "| date | seed | log | steps (with a WHERE) | bytes inside the range | by role | median error |",
        "|---|---|---|---|---|---|---|",
        *(
            f"| {one.measured_at[:10]} | {one.seed} | {one.log} | {one.steps} ({one.filtered_steps}) "
            f"| {one.bytes_inside} | {one.roles_inside} | {one.median_error:.3f} |"
            for one in logs
        ),
    ]
    return "\n".join([*lines, *_of_beds(beds), ""])


def _of_beds(beds: Sequence[BedRuns]) -> list[str]:
    if not beds:
        return []
    return [
        "",
        "Then the jobs and the jobs derived from their logs ran on beds where one thing is scarce.",
        "",
        "| date | scarce | limit of the jobs | limit of the derived jobs | seconds | derived |",
        "|---|---|---|---|---|---|",
        *(
            f"| {one.measured_at[:10]} | {one.bed} | {one.original or 'withheld'} "
            f"| {one.derived or 'withheld'} | {one.original_seconds:.1f} | {one.derived_seconds:.1f} |"
            for one in beds
        ),
    ]


def stored(lines: Sequence[bytes]) -> list[Kept]:
    """The newest line of each seed and kind of log, and of each bed."""
    found: list[Kept] = [msgspec.json.decode(line, type=Kept) for line in lines]
    return list({_key(one): one for one in found}.values())


def _key(one: Kept) -> tuple[str, int, str]:
    return ("logs", one.seed, one.log) if isinstance(one, LogsOfRun) else ("bed", 0, one.bed)


if __name__ == "__main__":
    print_page(__doc__, PAGE, stored, page)
