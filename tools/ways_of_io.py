"""``python -m tools.ways_of_io FILE...``: print the page of ways in which programs do I/O.

Each file holds lines of JSON that ``tests/cli/test_ways_of_io.py`` wrote, one for a run.  They are added to
docs/reference/ways-of-io.jsonl, and docs/reference/ways-of-io.md is printed from that file.  The newest run
of a way and a device counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import msgspec

from tools.kept_lines import print_page

PAGE = Path("docs/reference/ways-of-io.md")


class WayRun(msgspec.Struct, frozen=True, kw_only=True):
    """One run: four jobs that do I/O in one way; ``verdict`` is None, with its reason, where it is withheld.

    ``seen_ratio`` is the share of the bytes whose calls mawl counted.
    """

    measured_at: str
    machine: str
    way: str
    device: Literal["capped", "free"]
    verdict: str | None
    reason: str | None
    seen_ratio: float | None


def right(run: WayRun) -> bool:
    """At a cap the storage limits; on a free device jobs that compute wait for processors, or for nothing."""
    if run.verdict is None:
        return bool(run.reason)
    return run.verdict == "storage" if run.device == "capped" else run.verdict in ("cpu", "none")


def page(runs: Sequence[WayRun]) -> str:
    """The page, in Markdown."""
    by_way: dict[str, dict[str, WayRun]] = {}
    for run in runs:
        by_way.setdefault(run.way, {})[run.device] = run
    reasons = sorted({run.reason for run in runs if run.reason})
    rows = [
        f"| {way} | {_share(found['capped'])} | {_said(found['capped'], reasons)} | "
        f"{_said(found['free'], reasons)} |"
        for way, found in by_way.items()
        if len(found) == 2
    ]
    lines = [
        "# Ways of doing I/O",
        "",
        "Printed by `python -m tools.ways_of_io` from runs of `tests/cli/test_ways_of_io.py`.",
        "Four jobs do I/O in one way, on a loop device with a cap of 40 MB/s each way and on the same "
        "device without a cap, where they also compute for 4 s each, on two processors.",
        "At the cap, storage limits the run; without it, the processors do.",
        f"A verdict is right, or mawl withholds it and says why: {sum(map(right, runs))} of {len(runs)} are.",
        *(f"Machine: {machine}." for machine in sorted({run.machine for run in runs})),
        "",
        "| way | bytes whose calls mawl counted | limit at the cap | limit without a cap |",
        "|---|---|---|---|",
        *rows,
        "",
        *(f"{number}. {reason}" for number, reason in enumerate(reasons, 1)),
    ]
    return "\n".join([*lines, ""])


def _share(run: WayRun) -> str:
    return "-" if run.seen_ratio is None else f"{100 * run.seen_ratio:.0f} %"


def _said(run: WayRun, reasons: Sequence[str]) -> str:
    said = run.verdict or f"withheld ({reasons.index(run.reason or '') + 1})"
    return said if right(run) else f"**wrong: {said}**"


def stored(lines: Sequence[bytes]) -> list[WayRun]:
    """The newest run of each way and device."""
    runs = [msgspec.json.decode(line, type=WayRun) for line in lines]
    return list({(run.way, run.device): run for run in runs}.values())


if __name__ == "__main__":
    print_page(__doc__, PAGE, stored, page)
