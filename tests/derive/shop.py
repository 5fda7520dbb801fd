"""A made-up shop: three jobs of a night in two sessions, with names that must not leave it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from mawl.base.units import parse_instant

NIGHT = datetime(2026, 3, 2, 20, 0, tzinfo=UTC)
START = parse_instant("2026-03-02T20:00:00Z")

WORDS = {
    "bank": "zebrafinch", "ledger": "quokkabook", "balance": "wombatsum", "program": "axolotljob",
    "host": "narwhalhost", "procedure": "PROCPANGOLIN", "title": "Marmoset report", "path": "/okapi/files",
}  # fmt: skip
"""What the logs of the shop call things; another shop has other words for the same."""

OTHER_WORDS = {
    "bank": "gold", "ledger": "books", "balance": "totals", "program": "nightly",
    "host": "bigbox", "procedure": "PROCOWN", "title": "Our report", "path": "/srv/in",
}  # fmt: skip

TEMPLATE = """\
1                                    {title}              20:00 Monday, March 2, 2026

NOTE: Copyright (c) 2002-2012 by SAS Institute Inc., Cary, NC, USA.
NOTE: SAS (r) Proprietary Software 9.4 (TS1M6)
      Licensed to {bank} INC, Site 1.
NOTE: This session is executing on the Linux 3.10.0-957.el7.x86_64 (LIN X64) platform.

PASS HEADER host={host}
NOTE: There were 1000000 observations read from the data set {bank}.{ledger}.
NOTE: The data set WORK.{balance} has 1000000 observations and 10 variables.
{copy}
NOTE: There were 1000000 observations read from the data set WORK.{balance}.
      WHERE {ledger}='{bank}';
NOTE: SAS threaded sort was used.
NOTE: The data set WORK.{balance}S has 1000000 observations and 10 variables.
{sort}
NOTE: There were 1000000 observations read from the data set WORK.{balance}S.
{own}
"""


def block(heading: str, seconds: float, cpu: float, ends: datetime, read: int, written: int) -> str:
    """A FULLSTIMER note; ``read`` and ``written`` in bytes."""
    return f"""\
NOTE: {heading} used (Total process time):
      real time           {int(seconds // 60)}:{seconds % 60:05.2f}
      user cpu time       {int(cpu // 60)}:{cpu % 60:05.2f}
      system cpu time     0.00 seconds
      memory              51200.00k
      OS Memory           81200.00k
      Timestamp           {ends:%m/%d/%Y %I:%M:%S %p}
      Step Count                        1  Switch Count  4
      Page Faults                       0
      Page Reclaims                     100
      Page Swaps                        0
      Voluntary Context Switches        4
      Involuntary Context Switches      1
      Block Input Operations            {read // 512}
      Block Output Operations           {written // 512}
      \n"""


def log(words: dict[str, str], minutes: float, *, megabytes: int = 100) -> str:
    """One job that begins so many minutes into the night and lasts six."""
    moved = megabytes * 2**20
    ends = [NIGHT + timedelta(minutes=minutes + more) for more in (2, 4, 6)]
    return TEMPLATE.format(
        **words,
        copy=block("DATA statement", 120, 30, ends[0], moved, moved),
        sort=block("PROCEDURE SORT", 120, 240, ends[1], 2 * moved, 2 * moved),
        own=block(f"PROCEDURE {words['procedure']}", 120, 60, ends[2], moved, 0),
    )


def logs(words: dict[str, str]) -> dict[str, str]:
    """Names and texts: two jobs that follow one another, one that overlaps them both."""
    return {
        f"{words['program']}_20260302.log": log(words, 10),
        f"{words['program']}_20260303.log": log(words, 16.02),
        f"{words['ledger']}.log": log(words, 14, megabytes=50),
    }
