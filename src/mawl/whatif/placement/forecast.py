"""How a placement of the roles would change the time blocked in I/O, and the commands that test it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from mawl.base.units import format_plain
from mawl.figures.demand import targets_of
from mawl.records.model.probe import Probe, ProbeTarget
from mawl.records.model.run import RunFacts, VolumeFacts
from mawl.records.spec.program_options import ROLES, Role
from mawl.whatif.placement.demand import PlacementDemand, Proof, Service, service

Placement = Mapping[Role, Sequence[int]]
"""The targets that hold a role, by their place in the list; its bytes lie evenly on them."""


class ForecastChange(msgspec.Struct, frozen=True, kw_only=True):
    """Change of the summed real time of the jobs in seconds, below zero where they get faster."""

    low: float
    expected: float
    high: float


class ForecastTimes(msgspec.Struct, frozen=True, kw_only=True):
    """What else of a run a forecast needs; all in seconds summed over jobs.

    ``other_seconds`` were blocked outside calls on files of a role (removing files, directories, mapped
    files: storage, or not), ``own_seconds`` on a processor or waiting for one.  ``jobs`` ran at a time, on
    average.  ``storage``: storage was the limit; else waits saved in I/O may come back as waits for a
    processor.  ``most_saved_seconds`` is what the processors leave to be saved, None where it is not known.
    """

    other_seconds: float = 0.0
    own_seconds: float = 0.0
    jobs: float = 1.0
    storage: bool = True
    most_saved_seconds: float | None = None


class PlacementForecast:
    """Works placements out for one run and its targets.

    ``now`` is None where the run's own places were not probed: then ratios are not known.
    """

    def __init__(
        self,
        demands: Mapping[Role, PlacementDemand],
        targets: Sequence[ProbeTarget],
        times: ForecastTimes,
        *,
        ordered: bool = True,
    ) -> None:
        self.demands, self.targets = demands, targets
        self.times = times
        self.groups = [group(target) for target in targets]
        self.services: dict[Role, list[Service | None]] = {
            role: [service(target, demands[role], ordered=ordered) for target in targets] for role in ROLES
        }
        self.places = {role: [place_of(v, targets) for v in demands[role].volumes] for role in ROLES}
        """The target of each volume of each role; None for one that was not probed."""
        self.now = self._now()
        self._as_asked = PlacementForecast(demands, targets, times, ordered=False) if ordered else None
        self.blocked_seconds = sum(demand.blocked_seconds for demand in demands.values())

    def _now(self) -> Placement | None:
        found: dict[Role, list[int]] = {}
        for role, places in self.places.items():
            known = [place for place in places if place is not None]
            if not known or len(known) < len(places) or not self.known({role: known}):
                return None
            found[role] = known
        return found

    def known(self, placement: Placement) -> bool:
        return all(self.services[role][place] is not None for role, on in placement.items() for place in on)

    def loads(self, placement: Placement) -> dict[object, float]:
        """Seconds of device time by group of targets on the same devices."""
        found: dict[object, float] = {}
        for role, on in placement.items():
            for place in on:
                one = self.services[role][place]
                assert one is not None, "only known placements are worked out"
                group_ = self.groups[place]
                found[group_] = found.get(group_, 0.0) + one.seconds / len(on)
        return found

    def change(self, placement: Placement) -> ForecastChange | None:
        """What a placement changes; None where it, or the present one, was not probed.

        Expected is with writes as write-back orders them; the bounds hold also for writes as they were asked.
        """
        found = self._change(placement)
        other = None if found is None or self._as_asked is None else self._as_asked.change(placement)
        if found is None or other is None:
            return found
        return ForecastChange(
            low=min(found.low, other.low), expected=found.expected, high=max(found.high, other.high)
        )

    def _change(self, placement: Placement) -> ForecastChange | None:
        """The same for one way of looking at writes.

        What stays blocked, four ways (docs/design/volumes.md, The model): each role's time goes with the
        device time of its own bytes (nobody queues), with that of all bytes on its target, or all of it
        with the device time of the busiest target (everybody queues there), or with what of that time
        the jobs' own does not cover (the device works beside them).  The least and the most of them
        are the bounds; expected is between the first and the last by how much of the blocked time was
        queueing.
        """
        if self.now is None or not self.known(placement):
            return None
        before, after = self.loads(self.now), self.loads(placement)
        busiest = max(before.values())
        if not busiest:
            return ForecastChange(low=0.0, expected=0.0, high=0.0)
        alone = shared = 0.0
        for role, demand in self.demands.items():
            alone += demand.blocked_seconds * (self._slower(role, self.now[role], placement[role]) - 1.0)
            old, new = self._on(self.now[role], before), self._on(placement[role], after)
            shared += demand.blocked_seconds * (new / old - 1.0 if old else 0.0)
        queued = self.blocked_seconds * (max(after.values()) / busiest - 1.0)
        beside = self._beside(busiest, max(after.values()))
        ways = [alone, shared, queued, queued if beside is None else beside]
        share = self.queueing_ratio(before)
        return self._held(min(ways), share * ways[-1] + (1.0 - share) * alone, max(ways))

    def _beside(self, before: float, after: float) -> float | None:
        """The change where the busiest device works beside the jobs' own time (write-behind, read-ahead).

        Then only what of its time they do not cover is blocked, also outside of calls.  None where they
        covered all of it before: there it does not explain why jobs were blocked.
        """
        uncovered = [
            max(self.times.jobs * seconds - self.times.own_seconds, 0.0) for seconds in (before, after)
        ]
        if not uncovered[0]:
            return None
        return (self.blocked_seconds + self.times.other_seconds) * (uncovered[1] / uncovered[0] - 1.0)

    def queueing_ratio(self, loads: Mapping[object, float]) -> float:
        """Share of the blocked time that was waiting for others' bytes: what the devices' own time leaves."""
        if not self.blocked_seconds:
            return 0.0
        return min(max(1.0 - sum(loads.values()) / self.blocked_seconds, 0.0), 1.0)

    def _slower(self, role: Role, before: Sequence[int], after: Sequence[int]) -> float:
        """Device time of a role's own bytes in one place over that in another; 1 where there is none."""

        def seconds(places: Sequence[int]) -> float:
            each = [one.seconds for place in places if (one := self.services[role][place]) is not None]
            return sum(each) / len(places)

        old = seconds(before)
        return seconds(after) / old if old else 1.0

    def blocked_in(self, role: Role, placement: Placement) -> float | None:
        if self.now is None or not self.known(placement):
            return None
        before, after = self.loads(self.now), self.loads(placement)
        old, new = self._on(self.now[role], before), self._on(placement[role], after)
        return self.demands[role].blocked_seconds * (new / old if old else 1.0)

    def _on(self, places: Sequence[int], loads: Mapping[object, float]) -> float:
        return sum(loads[self.groups[place]] for place in places) / len(places)

    def _held(self, low: float, expected: float, high: float) -> ForecastChange:
        """No more is saved than was blocked, nor than the processors leave."""
        most, left = self.blocked_seconds + self.times.other_seconds, self.times.most_saved_seconds
        least = -most if left is None else -min(most, left)
        if not self.times.storage:
            high = max(high, 0.0)
        low, expected, high = (max(value, least) for value in (low, expected, high))
        return ForecastChange(low=low, expected=expected, high=high)


def group(target: ProbeTarget) -> object:
    """What targets on the same devices have in common; a file system without devices counts by its source."""
    if target.devices:
        return target.node, tuple(sorted(target.devices))
    return (target.node, target.source) if target.source else (target.node, target.name)


def place_of(volume: VolumeFacts, targets: Sequence[ProbeTarget]) -> int | None:
    """The place in the list of the target that a volume lies on, in its directory if there is one."""
    fitting = [target for target in targets_of(volume, targets) if target.tests]
    found = max(fitting, key=lambda target: target.directory == volume.directory, default=None)
    return None if found is None else targets.index(found)


ROLE_OPTIONS = tuple(f"--{role}" for role in ROLES)
OWN_OPTIONS = ("--output", "--probe")
"""Options of the measured run that must not be given again: the new run has its own folder and volumes."""


def proof(
    facts: RunFacts,
    targets: Sequence[ProbeTarget],
    best: Placement | None,
    now: Placement | None,
    files: Mapping[str, Probe],
    called: str,
) -> Proof | None:
    """``run`` and ``compare`` as command lines; None where there is no placement to prove.

    ``called`` is how a command finds the measured run.
    """
    if best is None or now is None or all(tuple(best[role]) == tuple(now[role]) for role in ROLES):
        return None
    words = ["mawl", "run", *_given(facts)]
    for role in ROLES:
        words += [f"--{role}", *_directories(role, facts, targets, best, now)]
    reached = [targets[place] for role in ROLES for place in best[role]]
    moved = [
        targets[place] for role in ROLES if tuple(best[role]) != tuple(now[role]) for place in best[role]
    ]
    # A run holds one probe: the file with all places, else the one with all that are new.
    for wanted in (reached, moved):
        found = [name for name, probe in files.items() if all(one in probe.targets for one in wanted)]
        if found:
            words += ["--probe", str(Path(found[-1]).resolve())]
            break
    return Proof(run=shlex.join(words), compare=shlex.join(["mawl", "compare", called, "latest"]))


def _directories(
    role: Role, facts: RunFacts, targets: Sequence[ProbeTarget], best: Placement, now: Placement
) -> list[str]:
    """Where it lies, for a role that stays; else a directory of the role's own on each target."""
    if tuple(best[role]) == tuple(now[role]):
        return facts.roles[role]
    return [str(Path(targets[place].directory) / f"mawl-{role}") for place in best[role]]


def _given(facts: RunFacts) -> list[str]:
    """The measured run's arguments without its roles and its folder; from its facts where none were kept."""
    words = facts.command[facts.command.index("run") + 1 :] if "run" in facts.command else []
    if not words:
        workload = facts.workload
        scale = (
            []
            if workload.scale is None
            else ["--scale", workload.scale_name or format_plain(workload.scale, 6)]
        )
        return [workload.name, *scale]
    kept: list[str] = []
    leaving_out = 0
    for word in words:
        name, _, value = word.partition("=")
        if name in ROLE_OPTIONS or name in OWN_OPTIONS:
            # --data takes all words up to the next option, --output one.
            leaving_out = 0 if value else len(words) if name in ROLE_OPTIONS else 1
        elif leaving_out and not word.startswith("-"):
            leaving_out -= 1
        else:
            leaving_out = 0
            kept.append(word)
    return kept
