"""V05 figures: every printed figure follows from the tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from mawl.archive.layout import PRINTED, SUMMARY
from mawl.archive.rules.rule import Fault, ValidationRule
from mawl.archive.subject import ValidationSubject
from mawl.version import source_sha256

_CURE = "ask for the pack as its maker has it; mawl report prints the figures of the tables"
MOST_NAMED = 5
_JUDGED = frozenset({"mawl_version", "thresholds", "missing", "validity", "capacity", "limit", "smt"})
"""Blocks that another version of mawl may word or judge in another way."""
_RELATIVE = 1e-9
"""Two versions may add the same numbers in another order."""


def _check(subject: ValidationSubject) -> Iterator[Fault] | None:
    return None if subject.pack is None else _compared(subject)


def _compared(subject: ValidationSubject) -> Iterator[Fault]:
    assert subject.pack is not None
    same_code = subject.pack.manifest.source_sha256 == source_sha256()
    for name, run in subject.runs.items():
        stated = subject.printed(name).get(SUMMARY)
        now = run.pages[SUMMARY].encode()
        if stated is None or stated == now:
            continue
        where = f"{PRINTED}/{name}/{SUMMARY}"
        try:
            paths = list(differences(msgspec.json.decode(stated), msgspec.json.decode(now), exact=same_code))
        except (ValueError, RecursionError):
            yield Fault(where=where, sentence="is no summary", cure=_CURE)
            continue
        if paths:
            shown = "; ".join(paths[:MOST_NAMED])
            more = f" and {len(paths) - MOST_NAMED} more" if len(paths) > MOST_NAMED else ""
            yield Fault(where=where, sentence=f"does not agree with the tables: {shown}{more}", cure=_CURE)
        elif same_code:
            yield Fault(where=where, sentence="is not written as mawl writes it", cure=_CURE)


def differences(stated: Any, now: Any, *, exact: bool, path: str = "") -> Iterator[str]:
    """What two summaries disagree about, by path.

    Unless ``exact``, figures are compared that both have, and judgements are left out.
    """
    if isinstance(stated, dict) and isinstance(now, dict):
        keys = set(stated) | set(now) if exact else (set(stated) & set(now))
        keys -= frozenset() if exact or path else _JUDGED
        for key in sorted(keys):
            place = f"{path}.{key}" if path else key
            if key not in stated or key not in now:
                yield f"{place} is only in {'the tables' if key in now else 'what was printed'}"
            else:
                yield from differences(stated[key], now[key], exact=exact, path=place)
    elif isinstance(stated, list) and isinstance(now, list) and len(stated) == len(now):
        for number, (one, other) in enumerate(zip(stated, now, strict=True)):
            yield from differences(one, other, exact=exact, path=f"{path}[{number}]")
    elif not _equal(stated, now, exact=exact):
        yield f"{path} is printed as {_short(stated)}, the tables give {_short(now)}"


def _equal(stated: Any, now: Any, *, exact: bool) -> bool:
    numbers = (int, float)
    if not exact and isinstance(stated, numbers) and isinstance(now, numbers):
        return abs(stated - now) <= _RELATIVE * max(abs(stated), abs(now))
    return bool(stated == now) and type(stated) is type(now)


def _short(value: Any) -> str:
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= 60 else f"{text[:60]}..."


RULE = ValidationRule(
    number=5,
    name="figures",
    title="Every printed figure follows from the tables",
    shows="mawl computed each figure of summary.json again from jobs, steps, events, samples and facts, and "
    "it is equal. If another version of mawl printed it, mawl compares the figures that both versions have; "
    "their relative difference is at most 1e-9.",
    limits="Whether the tables were measured.",
    check=_check,
)
