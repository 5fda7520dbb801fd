"""The advice on placement as text for a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mawl.base.units import (
    format_bytes,
    format_latency,
    format_memory,
    format_percent,
    format_rate,
    format_ratio,
    format_seconds,
)
from mawl.importers.formats.text import one_line
from mawl.records.spec.program_options import Role
from mawl.reports.layout import ABSENT, LINE_WIDTH, figure, figures, stacked, wrapped
from mawl.whatif.placement.demand import Move, PlacementAdvice, PlacementTarget, RolePlaced

MOST_MOVES = 12


def render(advice: PlacementAdvice, width: int = LINE_WIDTH) -> str:
    """The advice of ``advise`` in lines of ``width``; what is not known is ``-``.

    Commands to copy stay in one line.
    """
    parts = (
        _head(advice, width),
        _roles(advice.roles, width),
        _targets(advice.targets, width),
        _moves(advice.moves, width),
        _best(advice, width),
        _unknown(advice.unknown, width),
    )
    return "\n\n".join("\n".join(part) for part in parts if part)


def _head(advice: PlacementAdvice, width: int) -> list[str]:
    real, blocked, share, other, most = figures(
        (advice.real_time_seconds, format_seconds),
        (advice.blocked_seconds, format_seconds),
        (advice.blocked_ratio, format_percent),
        (advice.other_blocked_seconds, format_seconds),
        (advice.blocked_seconds + advice.other_blocked_seconds, format_seconds),
    )
    text = (
        f"run {advice.run_id}: largest cost {advice.verdict or 'not known'}; summed real time {real}, "
        f"blocked in I/O of the roles {blocked} ({share}), elsewhere {other}: "
        f"moving files can save at most {most}"
    )
    return wrapped(one_line(text), width, "  ")


def _roles(roles: Mapping[Role, RolePlaced], width: int) -> list[str]:
    rows: list[Sequence[str]] = [
        ("role", "on", "read", "written", "read share", "random", "request", "read mean", "write mean",
         "blocked", "space")
    ]  # fmt: skip
    for name, role in roles.items():
        sequential = role.sequential_read_ratio
        rows.append(
            (
                name,
                one_line(", ".join(dict.fromkeys(target or "not probed" for target in role.targets)))
                or ABSENT,
                *figures(
                    (role.read_bytes, format_bytes),
                    (role.written_bytes, format_bytes),
                    (role.read_ratio, format_percent),
                    (None if sequential is None else 1.0 - sequential, format_percent),
                    (role.read_request_bytes, format_bytes),
                    (role.read_latency_seconds, format_latency),
                    (role.write_latency_seconds, format_latency),
                    (role.blocked_seconds, format_seconds),
                    (role.peak_used_bytes, format_memory),
                ),
            )
        )
    return stacked(rows, width)


def _targets(targets: Sequence[PlacementTarget], width: int) -> list[str]:
    rows: list[Sequence[str]] = [
        ("target", "holds", "free", "read 256 KiB", "write 256 KiB", "read/write", "seeks")
    ]
    for target in targets:
        cells = figures(
            (target.free_bytes, format_memory),
            (target.read_bytes_per_second, format_rate),
            (target.write_bytes_per_second, format_rate),
            (target.read_write_ratio, format_ratio),
        )
        seeks = {True: "cost little", False: "cost much", None: ABSENT}[target.flash_like]
        rows.append((one_line(target.name), " ".join(target.holds) or ABSENT, *cells, seeks))
    return stacked(rows, width)


def _moves(moves: Sequence[Move], width: int) -> list[str]:
    rows: list[Sequence[str]] = [
        ("move", "to", "its rate there", "blocked after", "real time: expected", "least", "most", "fits")
    ]
    for move in moves[:MOST_MOVES]:
        change = move.change
        changes = (
            (change.expected_seconds, change.low_seconds, change.high_seconds) if change else (None,) * 3
        )
        rows.append(
            (
                move.role,
                one_line(move.target),
                figure(move.bytes_per_second, format_rate),
                figure(move.blocked_seconds, format_seconds),
                *map(signed, changes),
                {True: "yes", False: "no", None: ABSENT}[move.fits],
            )
        )
    lines = stacked(rows, width) if len(rows) > 1 else []
    if len(moves) > MOST_MOVES:
        lines.append(f"and {len(moves) - MOST_MOVES} more (--json lists all)")
    return lines


def _best(advice: PlacementAdvice, width: int) -> list[str]:
    best, real = advice.best, advice.real_time_seconds
    if best is None:
        return ["best: not known, because of what is listed below"]
    if not best.moves:
        return wrapped(
            "best: where they are; no placement that fits is expected to save 1 % or more", width, "  "
        )
    moves = ", then ".join(f"{role} to {', '.join(best.placement.of(role))}" for role in best.moves)
    change = best.change
    low, expected, high = map(signed, (change.low_seconds, change.expected_seconds, change.high_seconds))
    text = (
        f"best: move {moves}; summed real time {expected} of {figure(real, format_seconds)} "
        f"({change.expected_ratio or 0.0:+.0%}), between {low} and {high}"
    )
    lines = wrapped(one_line(text), width, "  ")
    if best.fits is None:
        lines.append("  whether that fits is not known")
    proof = advice.proof
    assert proof is not None, "a placement that moves a role has its proof"
    anew = ["  it makes the input tables again in its new data directory"] if "data" in best.moves else []
    return [
        *lines,
        "a run proves it:",
        *anew,
        f"  {one_line(proof.run)}",
        f"  {one_line(proof.compare)}",
    ]


def _unknown(sentences: Sequence[str], width: int) -> list[str]:
    return [
        line for sentence in sentences for line in wrapped(one_line(f"not known: {sentence}"), width, "  ")
    ]


def signed(seconds: float | None) -> str:
    """A change with its sign; ``-`` alone where it is not known."""
    if seconds is None:
        return ABSENT
    return f"{'+' if seconds > 0 else '-' if seconds < 0 else ''}{format_seconds(abs(seconds))}"
