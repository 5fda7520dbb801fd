"""What two printed records of figures disagree about, by path."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from mawl.records.model.qualification import QualificationAnswer

MOST_FIGURES_NAMED = 5
_JUDGED = frozenset(
    {"mawl_version", "thresholds", "missing", "validity", "answer", "guideline", "limit", "smt"}
)
"""Blocks that another version of mawl may word or judge in another way."""
_RELATIVE_TOLERANCE = 1e-9
"""Two versions may add the same numbers in another order."""


def named(paths: Sequence[str]) -> str:
    """The first differences, and how many more there are."""
    more = len(paths) - MOST_FIGURES_NAMED
    return "; ".join(paths[:MOST_FIGURES_NAMED]) + (f" and {more} more" if more > 0 else "")


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
        yield f"{path} is printed as {_shortened(stated)}, the tables give {_shortened(now)}"


def _equal(stated: Any, now: Any, *, exact: bool) -> bool:
    numbers = (int, float)
    if not exact and isinstance(stated, numbers) and isinstance(now, numbers):
        return abs(stated - now) <= _RELATIVE_TOLERANCE * max(abs(stated), abs(now))
    return bool(stated == now) and type(stated) is type(now)


def _shortened(value: Any) -> str:
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= 60 else f"{text[:60]}..."


def differing_claims(stated: QualificationAnswer, now: QualificationAnswer, *, exact: bool) -> Iterator[str]:
    """What two answers of a qualification disagree about: in its claims and, where ``exact``, anywhere."""
    yield from differences(_claims(stated), _claims(now), exact=exact)
    if exact and _claims(stated) == _claims(now):
        yield from differences(msgspec.to_builtins(stated), msgspec.to_builtins(now), exact=True)


def _claims(answer: QualificationAnswer) -> dict[str, Any]:
    """The answer without its words: what is carried, how many sessions fit, the slowdown, what limits."""
    plain = msgspec.to_builtins(answer)
    return {
        "answer": plain["carried"]["answer"],
        **{name: plain[name] for name in ("preliminary", "outside", "sessions", "figures")},
        "fits": {name: value for name, value in plain["fits"].items() if name != "reason"},
        "limit of the answer": None if answer.limit is None else answer.limit.verdict,
    }
