"""What a hand-made SAS log is: its text, and the truth of each note in it."""

from __future__ import annotations

import msgspec

Figures = dict[str, float | int | None]


class Note(msgspec.Struct, frozen=True):
    """A note: its kind, name, the figures of its usage, and everything else that it tells."""

    kind: str
    name: str | None
    usage: Figures
    more: Figures = {}


class Layout(msgspec.Struct, frozen=True):
    """A log, its notes in order, the lines of what is skipped, and how many jobs it holds."""

    text: str
    notes: list[Note]
    skipped: list[int] = []
    jobs: int = 1


BANNER = """\
1                                    The SAS System              10:00 Friday, November 20, 2026

NOTE: Copyright (c) 2002-2012 by SAS Institute Inc., Cary, NC, USA.
NOTE: SAS (r) Proprietary Software 9.4 (TS1M6)
      Licensed to A SHOP, Site 1.
NOTE: This session is executing on the Linux 3.10.0-957.el7.x86_64 (LIN X64) platform.

"""
