"""Workloads, caps and delays drawn at random, in a way that a failure can be repeated."""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Sequence

import msgspec

from mawl.plan.catalogue import CATALOGUE
from mawl.records.spec.program_options import ROLES, Role

SEED = "MAWL_TEST_SEED"

READING = ("census_load", "dimension_load", "segmentation", "survey_logistic")
"""Programs whose inputs are most of what they read from a device that nothing was cached of."""

COMPUTING = ("segmentation", "survey_logistic", "stepwise_selection", "text_topics", "factorial_design")


_BY_RATE: dict[Role, tuple[float, Sequence[str]]] = {
    "data": (0.004, READING),
    "work": (0.002, ("random_access", "customer_profile")),
    "util": (0.002, ("customer_profile", "census_load")),
}
_BY_DELAY: dict[Role, tuple[float, Sequence[str], Sequence[int]]] = {
    # Read ahead: several requests wait at a time.
    "data": (0.003, READING, (80, 100, 120)),
    # Some 10,000 requests of a job, one after another, at the smallest size.
    "work": (0.0004, ("random_access",), (2,)),
}


class Bound(msgspec.Struct, frozen=True):
    """A workload that one device holds up: the role, two sessions, and bytes that must pass the device."""

    role: Role
    workload: str
    bytes: int


def generator() -> random.Random:
    """Random numbers of a seed that a failing test prints; set MAWL_TEST_SEED to draw the same again."""
    seed = os.environ.get(SEED) or os.urandom(4).hex()
    sys.stdout.write(f"drawn with {SEED}={seed}\n")
    return random.Random(seed)


def slowed_by_rate(draw: random.Random) -> Bound:
    """Two programs that move many bytes in one role; scale by role, since they move more in some."""
    role = draw.choice(ROLES)
    return _bound(draw, role, *_BY_RATE[role])


def slowed_by_delay(draw: random.Random) -> tuple[Bound, int]:
    """Two programs that wait for one request after another in one role, and milliseconds for each (even)."""
    role = draw.choice(tuple(_BY_DELAY))
    scale, names, milliseconds = _BY_DELAY[role]
    return _bound(draw, role, scale, names), draw.choice(milliseconds)


def _bound(draw: random.Random, role: Role, scale: float, names: Sequence[str]) -> Bound:
    programs = [draw.choice(names) for _ in range(2)]
    moved = [reaching(name, role, scale) for name in programs]
    return Bound(role, sessions(scale, programs), sum(moved))


def reaching(program: str, role: Role, scale: float) -> int:
    """Bytes of one job that must pass the role's device: of buffered temporary files only what is written."""
    moved = CATALOGUE[program].bytes_by_role(scale)[role]
    if role == "data":
        return moved["read"]
    return moved["written"] + (moved["read"] if program == "random_access" else 0)


def sessions(scale: float, programs: Sequence[str]) -> str:
    """A workload file with a session of one job for each program."""
    return _file(scale, [f'["{name}"]' for name in programs])


def _file(scale: float, stages: Sequence[str]) -> str:
    lines = [
        f'[[sessions]]\nname = "s{number}"\nstages = [{of_session}]\n'
        for number, of_session in enumerate(stages, 1)
    ]
    return f'name = "drawn"\nscale = {scale}\n' + "".join(lines)


def scale_for(program: str, cpu_seconds: float) -> float:
    """The scale at which a program is declared to take so many CPU seconds."""
    return cpu_seconds / CATALOGUE[program].cpu_seconds(1.0)
