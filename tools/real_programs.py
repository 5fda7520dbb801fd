"""``python -m tools.real_programs RESULTS...``: print the page of real programs under the counting library.

Each file holds lines of JSON that ``tests/measure/preload/test_real_programs.py`` wrote, one for a program.
They are added to docs/reference/real-programs.jsonl, from which docs/reference/real-programs.md is printed.
The newest result of a program counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from tools.kept_lines import print_page

PAGE = Path("docs/reference/real-programs.md")


class ProgramResult(msgspec.Struct, frozen=True, kw_only=True):
    """A program's runs: plain twice, measured, and counted under strace.

    ``calls`` are those on the roles that strace saw; ``varying`` are files that differ between the two plain
    runs and are not compared; ``differences`` are counts that are not strace's, ``unseen`` what mawl says
    that it could not count.
    """

    program: str
    machine: str
    made_at: str
    calls: int
    varying: list[str] = []
    differences: list[str] = []
    unseen: list[str] = []
    faults: list[str] = []


def page(results: Sequence[ProgramResult]) -> str:
    """The page, in Markdown."""
    machines = sorted({f"{one.machine}, {one.made_at}" for one in results})
    right = sum(not one.faults for one in results)
    lines = [
        "# Real programs under the counting library",
        "Printed by `python -m tools.real_programs` from the results of "
        "`tests/measure/preload/test_real_programs.py`.",
        "Each program ran four times in equal folders: twice without mawl, under `mawl measure`, and counted "
        "under strace.",
        "*Same* means: exit status, both outputs, and names, modes and content of all files are equal.",
        "*Equal* means: calls and bytes of data, work and util are those of strace in the same run.",
        "What mawl cannot count, its report must say.",
        f"Right: {right} of {len(results)}.",
        "",
        *(f"Machine: {machine}." for machine in machines),
        "",
        "| program | exit status, outputs, files | calls on the roles | counts |",
        "|---|---|---|---|",
        *(f"| {one.program} | {_ending(one)} | {one.calls:,} | {_counts(one)} |" for one in results),
    ]
    return "\n".join(lines) + "\n"


def _ending(one: ProgramResult) -> str:
    said = [fault for fault in one.faults if not fault.startswith("counts")]
    names = one.varying[:2] + (["..."] if len(one.varying) > 2 else [])
    varies = f" ({', '.join(names)} varies without mawl)" if names else ""
    return ("; ".join(said) or "same") + varies


def _counts(one: ProgramResult) -> str:
    if not one.differences:
        return "equal"
    if one.unseen:
        return f"not seen, and said: {'; '.join(one.unseen)}"
    return f"different: {'; '.join(one.differences)}"


def stored(lines: Sequence[bytes]) -> list[ProgramResult]:
    """The newest result of each program, by name."""
    newest = {one.program: one for one in (msgspec.json.decode(line, type=ProgramResult) for line in lines)}
    return [newest[name] for name in sorted(newest)]


if __name__ == "__main__":
    print_page(__doc__, PAGE, stored, page)
