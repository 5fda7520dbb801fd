"""A run with what follows from its records, derived once for all who read it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

from mawl.base.errors import UnreadableRunError
from mawl.figures.caps import at_cap
from mawl.figures.io import DeviceBytes
from mawl.figures.missing import counted
from mawl.figures.open_jobs import CUT, even_out_turns, run_timeline
from mawl.figures.series import RunSamples
from mawl.figures.sessions import Timeline, Windows, windows_of
from mawl.figures.summary import summary_of
from mawl.figures.throughput import Counters, device_counters
from mawl.figures.window_states import Moment, moments
from mawl.records.model.node import ArrayStatistics, Direction
from mawl.records.model.probe import Probe
from mawl.records.model.records import EventRecord, JobRecord
from mawl.records.model.run import RunFacts, VolumeFacts
from mawl.records.model.summary.summary import Summary
from mawl.records.spec.program_options import ROLES, Role
from mawl.records.store import Run

TABLES = ("steps", "samples", "events")


class RunView:
    """A run as rules, comparisons, simulation and reports read it.

    Everything beyond the facts and the records of the jobs is derived when it is first asked for, and kept
    with the object.  ``rows`` is how many steps, samples and events the folder holds, ``damage`` why one of
    them is not known, by its path in the summary.  ``probe`` is what the storage can do, or why that cannot
    be read; ``moved`` what the devices of the roles moved, where that is known without samples; ``arrays``
    what storage arrays did, or why that cannot be read.  ``stride`` is that of the
    ``Run``: how many samples stand behind each.  ``called`` is the name by which commands
    find the run: its id, or a path.
    """

    def __init__(
        self,
        facts: RunFacts,
        jobs: Sequence[JobRecord],
        samples: RunSamples | None = None,
        *,
        events: Sequence[EventRecord] = (),
        rows: Mapping[str, int] | None = None,
        damage: Mapping[str, str] | None = None,
        probe: Probe | str | None = None,
        moved: DeviceBytes | None = None,
        arrays: ArrayStatistics | str | None = None,
        stride: int = 1,
        called: str | None = None,
    ) -> None:
        self.facts, self.jobs, self.samples = facts, list(jobs), samples
        self.rows, self.damage = dict(rows or {}), dict(damage or {})
        self.probe, self.moved, self.arrays, self.stride = probe, moved, arrays, stride
        self.called = facts.run_id if called is None else called
        self._events = events

    @property
    def events(self) -> Sequence[EventRecord]:
        """The events of the run; none where they cannot be read."""
        return self._events

    @cached_property
    def counted(self) -> list[JobRecord]:
        return counted(self.jobs)

    @cached_property
    def line(self) -> Timeline | None:
        happened = self.events if self.facts.outcome in CUT else ()
        return run_timeline(self.facts, self.jobs, happened, self.samples)

    @cached_property
    def windows(self) -> Windows | None:
        return windows_of(self.line) if self.line else None

    @property
    def over_time(self) -> tuple[RunSamples, Windows] | None:
        return None if self.samples is None or self.windows is None else (self.samples, self.windows)

    @cached_property
    def device(self) -> Counters:
        return device_counters(self.facts, self.samples)

    @cached_property
    def moments(self) -> list[Moment]:
        if self.over_time is None:
            return []
        return moments(*self.over_time, self.device, self.facts, self.jobs)

    @cached_property
    def summary(self) -> Summary:
        """Its figures, without the judgement that ``judged`` adds."""
        return summary_of(self)

    @cached_property
    def at_cap(self) -> dict[float, frozenset[tuple[Role, Direction]]]:
        """By the start of a window of the active phase."""
        return at_cap(self)

    @property
    def active(self) -> list[Moment]:
        return [moment for moment in self.moments if moment.active]

    @property
    def why_not_drawn(self) -> str | None:
        if self.samples is None:
            return self.samples_damage or "the run holds no samples"
        return None if self.windows is not None else "no job has a start and an end"

    @property
    def samples_damage(self) -> str | None:
        why = self.damage.get("recorded.samples")
        return None if why is None else f"the samples are damaged: {why}"

    def volumes(self, role: Role) -> list[VolumeFacts]:
        return self._volumes[role]

    def network_roles(self) -> frozenset[Role]:
        """Roles of which the storage is another machine's."""
        return self._network_roles

    @cached_property
    def _volumes(self) -> dict[Role, list[VolumeFacts]]:
        return {role: [volume for volume in self.facts.volumes if volume.role == role] for role in ROLES}

    @cached_property
    def _network_roles(self) -> frozenset[Role]:
        return frozenset(role for role in ROLES if any(volume.network for volume in self._volumes[role]))

    def mean(self, figure: Callable[[Moment], float | None]) -> float | None:
        """The mean of a figure over the active phase, windows by their length; None where none has it."""
        return weighted_mean([(figure(moment), moment.seconds) for moment in self.active])


class StoredView(RunView):
    """The view of a run folder: ``run`` has its tables."""

    def __init__(self, run: Run, *, called: str | None = None) -> None:
        # First, since this also counts the rows of the samples: _rows would read the table for that.
        samples = _samples(run)
        rows, damage = _rows(run)
        super().__init__(
            run.facts,
            run.job_records(),
            samples,
            rows=rows,
            damage=damage,
            probe=_probe(run),
            arrays=_arrays(run),
            stride=run.stride,
            called=called,
        )
        self.run = run

    @cached_property
    def events(self) -> Sequence[EventRecord]:
        try:
            return self.run.event_records()
        except UnreadableRunError:
            return []


def weighted_mean(values: Sequence[tuple[float | None, float]]) -> float | None:
    """The mean of what is known, by weight."""
    known = [(value, weight) for value, weight in values if value is not None and weight > 0]
    total = sum(weight for _, weight in known)
    return sum(value * weight for value, weight in known) / total if total else None


def _rows(run: Run) -> tuple[dict[str, int], dict[str, str]]:
    rows: dict[str, int] = {}
    damage: dict[str, str] = {}
    for name in TABLES:
        try:
            rows[name] = run.rows(name)
        except UnreadableRunError as error:
            damage[f"recorded.{name}"] = str(error)
    return rows, damage


def _samples(run: Run) -> RunSamples | None:
    """The samples; None where the run has no figure of any node, or none that can be read.

    What was read in turns is evened out here, so that windows and charts agree.
    """
    apart = [one.node for one in run.facts.storage_runs]
    try:
        stored = RunSamples.of_parts(run.sample_parts(), apart)
        if "host.cpu_busy_ratio" in run.facts.missing:
            stored.leave_out("host.cpu_")  # of hosts whose processors nobody counted
        return even_out_turns(stored) if stored.nodes else None
    except UnreadableRunError:
        return None


def _arrays(run: Run) -> ArrayStatistics | str | None:
    """Statistics of arrays, or why they cannot be read: a report goes on without them."""
    try:
        return run.arrays
    except UnreadableRunError as error:
        return str(error)


def _probe(run: Run) -> Probe | str | None:
    try:
        return run.probe
    except UnreadableRunError as error:
        return str(error)
