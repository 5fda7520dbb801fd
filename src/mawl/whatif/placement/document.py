"""The advice on placement as a document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mawl.base.units import (
    format_bytes,
    format_change,
    format_latency,
    format_memory,
    format_percent,
    format_rate,
    format_ratio,
    format_seconds,
)
from mawl.records.spec.program_options import Role
from mawl.reports.document import Block, Commands, Document, Headline, Part, Sentences, Table, capital
from mawl.reports.layout import ABSENT, figure, figures
from mawl.whatif.placement.demand import Move, PlacementAdvice, PlacementTarget, RolePlacement

MOST_MOVES = 12


def document(advice: PlacementAdvice) -> Document:
    """The advice of ``advise``; what is not known is ``-``."""
    moves = advice.moves[MOST_MOVES:]
    more = [f"and {len(moves)} more (--json lists all)"] if moves else []
    unknown = [f"not known: {sentence}" for sentence in advice.unknown]
    best = _best(advice)
    return Document(
        headline=Headline(sign="measured" if advice.best else "undecided", sentence=capital(best[0])),
        parts=[
            Part([Sentences([_head(advice)])]),
            Part([_roles(advice.roles)]),
            Part([_targets(advice.targets)]),
            Part([_moves(advice.moves[:MOST_MOVES]), Sentences(more)]),
            Part([Sentences(best[:1]), Sentences(best[1:], indent="  "), *_proof(advice)]),
            Part([Sentences(unknown)]),
        ],
    )


def _head(advice: PlacementAdvice) -> str:
    real, blocked, share, other, most = figures(
        (advice.real_time_seconds, format_seconds),
        (advice.blocked_seconds, format_seconds),
        (advice.blocked_ratio, format_percent),
        (advice.other_blocked_seconds, format_seconds),
        (advice.blocked_seconds + advice.other_blocked_seconds, format_seconds),
    )
    return (
        f"run {advice.run_id}: largest cost {advice.verdict or 'not known'}; summed real time {real}, "
        f"blocked in I/O of the roles {blocked} ({share}), elsewhere {other}: "
        f"moving files can save at most {most}"
    )


def _roles(roles: Mapping[Role, RolePlacement]) -> Table:
    head = ("role", "on", "read", "written", "read share", "random", "request", "read mean", "write mean")
    rows = []
    for name, role in roles.items():
        sequential = role.sequential_read_ratio
        cells = figures(
            (role.read_bytes, format_bytes),
            (role.written_bytes, format_bytes),
            (role.read_ratio, format_percent),
            (None if sequential is None else 1.0 - sequential, format_percent),
            (role.read_request_bytes, format_bytes),
            (role.read_latency_seconds, format_latency),
            (role.write_latency_seconds, format_latency),
            (role.blocked_seconds, format_seconds),
            (role.peak_used_bytes, format_memory),
        )
        on = ", ".join(dict.fromkeys(target or "not probed" for target in role.targets))
        rows.append((name, on or ABSENT, *cells))
    return Table(title="roles", head=(*head, "blocked", "space"), rows=rows)


def _targets(targets: Sequence[PlacementTarget]) -> Table:
    rows = []
    for target in targets:
        cells = figures(
            (target.free_bytes, format_memory),
            (target.read_bytes_per_second, format_rate),
            (target.write_bytes_per_second, format_rate),
            (target.read_write_ratio, format_ratio),
        )
        seeks = {True: "cost little", False: "cost much", None: ABSENT}[target.flash_like]
        rows.append((target.name, " ".join(target.holds) or ABSENT, *cells, seeks))
    head = ("target", "holds", "free", "read 256 KiB", "write 256 KiB", "read/write", "seeks")
    return Table(title="targets", head=head, rows=rows)


def _moves(moves: Sequence[Move]) -> Table:
    head = ("move", "to", "its rate there", "blocked after", "real time: expected", "least", "most", "fits")
    rows = []
    for move in moves:
        change = move.change
        changes = (
            (change.expected_seconds, change.low_seconds, change.high_seconds) if change else (None,) * 3
        )
        rows.append(
            (
                move.role,
                move.target,
                figure(move.bytes_per_second, format_rate),
                figure(move.blocked_seconds, format_seconds),
                *map(signed, changes),
                {True: "yes", False: "no", None: ABSENT}[move.fits],
            )
        )
    return Table(title="moves", head=head, rows=rows)


def _best(advice: PlacementAdvice) -> list[str]:
    """The best placement, and whether its room is known."""
    best, real = advice.best, advice.real_time_seconds
    if best is None:
        return ["best: not known, because of what is listed below"]
    if not best.moves:
        return ["best: where they are; no placement that fits is expected to save 1 % or more"]
    moves = ", then ".join(f"{role} to {', '.join(best.placement.of(role))}" for role in best.moves)
    change = best.change
    low, expected, high = map(signed, (change.low_seconds, change.expected_seconds, change.high_seconds))
    sentence = (
        f"best: move {moves}; summed real time {expected} of {figure(real, format_seconds)} "
        f"({figure(change.expected_ratio, format_change)}), between {low} and {high}"
    )
    return [sentence, *(["whether that fits is not known"] if best.fits is None else [])]


def _proof(advice: PlacementAdvice) -> list[Block]:
    """The commands to copy that prove a move."""
    if advice.best is None or not advice.best.moves:
        return []
    proof = advice.proof
    assert proof is not None, "a placement that moves a role has its proof"
    again = ["it makes the input tables again in its new data directory"]
    return [
        Sentences(["a run proves it:"]),
        Sentences(again if "data" in advice.best.moves else [], indent="  "),
        Commands([proof.run, proof.compare]),
    ]


def signed(seconds: float | None) -> str:
    """A change with its sign; ``-`` alone where it is not known."""
    if seconds is None:
        return ABSENT
    return f"{'+' if seconds > 0 else '-' if seconds < 0 else ''}{format_seconds(abs(seconds))}"
