"""Workloads and beds drawn at random, for campaigns of forecasts."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

import msgspec

from mawl.plan.catalogue import CATALOGUE
from mawl.records.spec.program_options import ROLES, Role
from tools.drawn_forecasts import Arm, Kind

PROGRAMS = tuple(sorted(name for name, program in CATALOGUE.items() if program.is_declared))
UNCACHED: tuple[Kind, ...] = ("rates", "one device", "hybrid", "cores", "latency")
ARMS = 3
"""So many beds of other kinds are forecast from each campaign's first run."""
CACHED_OF = (1, 4)
"""One campaign of four has a page cache and other memories."""
CPU_SECONDS = 10.0
LONGER = (1.5, 3.0)
"""Runs on a bed with fewer devices are drawn to take so many times their CPU seconds: figures are
sampled once a second, and a run of a few seconds tells no limit."""
LEAST_SCALE, CACHED_SCALE = 0.002, 0.012
LEAST_CAP, MOST_CAP = 4_000_000, 390_000_000
MILLISECONDS = (2, 5, 10)
MEMORIES = (1.0, 1.3, 1.6, 2.0, 4.0)
"""GiB: from little more than the jobs of a campaign need to more than all of their files."""
REREADING = ("customer_profile", "census_load", "dimension_load", "segmentation", "wide_sort")
"""Programs that read tables of theirs again, which memory may keep."""


class DrawnCampaign(msgspec.Struct, frozen=True, kw_only=True):
    """Programs by session and stage, the first bed, and the others by kind."""

    sessions: list[list[str]]
    scale: float
    cached: bool
    base: Arm
    arms: list[tuple[Kind, Arm]]

    def workload(self) -> str:
        """As a workload file."""
        lines = [f'name = "drawn"\nscale = {self.scale}\n']
        for number, stages in enumerate(self.sessions, 1):
            made = ", ".join(f'["{program}"]' for program in stages)
            lines.append(f'[[sessions]]\nname = "s{number}"\nstages = [{made}]\n')
        return "\n".join(lines)


def drawn_campaign(seed: int, number: int) -> DrawnCampaign:
    """A campaign by its number: the same again with the same seed."""
    draw = random.Random(f"{seed} {number}")
    if number % CACHED_OF[1] < CACHED_OF[0]:
        return _cached(draw)
    names = [[draw.choice(PROGRAMS) for _ in range(draw.randint(1, 2))] for _ in range(draw.randint(2, 4))]
    kinds = sorted(draw.sample(UNCACHED, ARMS))
    if "latency" in kinds:
        # Requests at random are what latency is about.
        names.append(["random_access"])
    computing = _cpu_seconds(names, 1.0)
    scale = max(LEAST_SCALE, round(CPU_SECONDS / computing, 5))
    moved = _moved(names, scale)
    caps = {role: _cap(moved[role], draw.uniform(0.3, 1.5) * _cpu_seconds(names, scale)) for role in ROLES}
    base = Arm(volumes={role: role for role in ROLES}, caps=caps)
    arms = [(kind, _arm(draw, kind, base, moved, _cpu_seconds(names, scale))) for kind in kinds]
    return DrawnCampaign(sessions=names, scale=scale, cached=False, base=base, arms=arms)


def _arm(draw: random.Random, kind: Kind, base: Arm, moved: Mapping[Role, int], cpu_seconds: float) -> Arm:
    if kind == "rates":
        caps = {role: _within(base.caps[role] * draw.choice((0.25, 0.5, 2.0, 4.0))) for role in ROLES}
        return msgspec.structs.replace(base, caps=caps)
    if kind == "cores":
        return msgspec.structs.replace(base, processors=1)
    if kind == "latency":
        role: Role = draw.choice(("data", "work"))
        rest = {of: cap for of, cap in base.caps.items() if of != role}
        return msgspec.structs.replace(base, caps=rest, milliseconds={role: draw.choice(MILLISECONDS)})
    slow = _cap(sum(moved.values()), draw.uniform(*LONGER) * cpu_seconds)
    if kind == "one device":
        return msgspec.structs.replace(base, volumes=dict.fromkeys(ROLES, "data"), caps={"data": slow})
    return msgspec.structs.replace(
        base,
        volumes={"data": "data", "work": "work", "util": "work"},
        caps={"data": slow, "work": _within(slow * draw.uniform(2.0, 4.0))},
    )


def _cached(draw: random.Random) -> DrawnCampaign:
    names = [[draw.choice(REREADING)] for _ in range(draw.randint(2, 3))]
    computing, moved = _cpu_seconds(names, CACHED_SCALE), _moved(names, CACHED_SCALE)
    memories = [int(gib * 2**30) for gib in draw.sample(MEMORIES, ARMS + 1)]
    base = Arm(
        volumes={role: role for role in ROLES},
        caps={role: _cap(moved[role], draw.uniform(0.7, 2.0) * computing) for role in ROLES},
        memory_bytes=memories[0],
    )
    arms: list[tuple[Kind, Arm]] = [
        ("memory", msgspec.structs.replace(base, memory_bytes=memory)) for memory in memories[1:]
    ]
    return DrawnCampaign(sessions=names, scale=CACHED_SCALE, cached=True, base=base, arms=arms)


def _cpu_seconds(names: Sequence[Sequence[str]], scale: float) -> float:
    return sum(CATALOGUE[name].cpu_seconds(scale) for stages in names for name in stages)


def _moved(names: Sequence[Sequence[str]], scale: float) -> dict[Role, int]:
    """Bytes of the busier direction of each role."""
    every = [CATALOGUE[name].bytes_by_role(scale) for stages in names for name in stages]
    return {role: max(sum(of[role][way] for of in every) for way in ("read", "written")) for role in ROLES}


def _cap(moved: int, seconds: float) -> int:
    return _within(moved / seconds)


def _within(cap: float) -> int:
    return int(min(max(cap, LEAST_CAP), MOST_CAP))
