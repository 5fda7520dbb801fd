"""What ``qualify.json`` holds: what was asked, phases, decisions with reasons, runs and the answer.

Points in time are seconds since the epoch here and ISO 8601 (UTC) in the file.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from mawl.records.model.campaign import CampaignMachine
from mawl.records.model.records import RunOutcome
from mawl.records.model.run import Reference
from mawl.records.model.summary.judgement import Cause, Parts
from mawl.records.spec.program_options import Role, VolumeOrder
from mawl.records.spec.run_spec import NodesSpec

QUALIFICATION_FORMAT_VERSION = "3.0"
"""1.1: several nodes (``asked.nodes``, ``nodes``, ``answer.nodes``, runs of purpose ``one-node``);
1.2: energy (``answer.figures.joules_per_job``, ``energy_scope``); 1.3: runs of state ``left out``;
2.0: the slowdown is by reference times, with parts, and there are no runs alone but the calibration;
3.0: limits by what they cost; a calibration of the mix, ``asked.anyway``, outcome ``busy``; the search is in
the phase ``runs``; the range of the delivered cores, and ``answer.outside``."""

PhaseName = Literal["doctor", "probe", "calibration", "choice", "inputs", "runs"]
PHASES: tuple[PhaseName, ...] = (
    "doctor",
    "probe",
    "calibration",
    "choice",
    "inputs",
    "runs",
)
PhaseState = Literal["waiting", "running", "done", "skipped", "failed"]
RunPurpose = Literal["calibration", "calibration-mix", "one-node", "measured", "search"]
RunState = Literal["running", "finished", "refused", "interrupted", "disturbed", "left out"]
ENDED_STATES: tuple[RunState, ...] = ("finished", "disturbed", "left out")
"""Those of runs that came to their end."""
QualificationOutcome = Literal["running", "planned", "finished", "failed", "interrupted", "busy"]
CacheMode = Literal["none", "cold"]
AnswerWord = Literal["carried", "not carried", "not known"]
Basis = Literal["measured", "forecast"]
NodesLimit = Literal["nodes", "shared storage", "neither", "not known"]


MOST_MINUTES = 48 * 60.0
"""The longest that a qualification may be asked to take."""


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """What the user asked for; ``roles`` are the directories that mawl uses, as absolute paths.

    ``repeat`` is the number of measured runs, None where mawl chooses it.  ``nodes`` says how to reach the
    nodes, None for this machine.  With ``anyway`` it goes on beside other programs.
    """

    roles: dict[Role, list[str]]
    minutes: float
    sessions: int | None = None
    repeat: int | None = None
    scale: float | None = None
    answer_bound: float = 2.0
    volume_order: VolumeOrder = "rotation"
    workload: str = "mixed20"
    nodes: NodesSpec | None = None
    anyway: bool = False


class QualifyNode(msgspec.Struct, frozen=True, kw_only=True):
    """A node that is qualified, as it was seen before the first run; nodes of one ``machine`` share it."""

    name: str
    cpu_model: str | None
    cores: int
    memory_bytes: int
    machine: str | None = None


class Phase(msgspec.Struct, frozen=True, kw_only=True):
    """One phase; ``seconds`` is what it took, over all attempts, and ``detail`` says what it found."""

    name: PhaseName
    state: PhaseState = "waiting"
    began_at: float | None = None
    seconds: float = 0.0
    forecast_seconds: float | None = None
    detail: str = ""


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that qualify decided by itself, and the reason."""

    what: str
    value: str
    why: str


class Expected(msgspec.Struct, frozen=True, kw_only=True):
    """The answer that is expected before the runs; ``probability`` is how sure it is.

    It is not known, with ``reason``, where the calibration was disturbed: ``probability`` counts for nothing.
    """

    answer: AnswerWord
    probability: float
    slowdown: float
    slowdown_low: float
    slowdown_high: float
    reason: str | None = None


class QualificationChoice(msgspec.Struct, frozen=True, kw_only=True):
    """How the runs will be made, and what they are forecast to take and to show.

    ``core_speed`` is this machine's over that of the one of the reference times, ``mutual_slowing_ratio`` the
    CPU seconds of jobs in the mix over those of the same jobs alone.
    ``phase_seconds`` is the forecast of each phase, ``run_seconds`` that of one measured run, of which
    ``active_seconds`` are its active phase.  ``proofs`` are the runs kept for the search.  ``load_seconds``
    are those of load in all runs, and ``minutes_to_publish`` what a load fit to publish takes, None where
    this one is (or another is not forecast).  Bytes are those of
    one measured run, by the programs' calls; ``asked_bytes_per_cpu_second`` are these by role over the CPU
    seconds that its jobs are forecast to take on this machine.  Where there are ``nodes``, sessions, jobs,
    bytes and memory are those of each node, and ``one_node_runs`` are the measured runs with one of them.
    """

    sessions: int
    jobs: int
    cores: int
    core_speed: float
    mutual_slowing_ratio: float | None = None
    scale: float
    cache: CacheMode
    repeats: int
    proofs: int = 0
    nodes: int = 1
    one_node_runs: int = 0
    input_bytes: int
    space_bytes: int
    memory_bytes: int
    moved_bytes: int
    asked_bytes_per_cpu_second: dict[Role, dict[Literal["read", "written"], float]] = {}
    phase_seconds: dict[PhaseName, float]
    run_seconds: float
    active_seconds: float
    load_seconds: float | None = None
    minutes_to_publish: int | None = None
    read_reach_ratio: float | None
    write_reach_ratio: float | None
    expected: Expected
    decisions: list[Decision] = []

    @property
    def total_seconds(self) -> float:
        return sum(self.phase_seconds.values())


class QualifyRun(msgspec.Struct, frozen=True, kw_only=True):
    """One run; ``folder`` is below the qualification's, ``position`` counts within its purpose from 1.

    A run is ``disturbed`` where other work used too much of the processors and it was made again.  A further
    run, which was made because time was left, is ``left out`` where it was not made again.  The figures of
    both count in nothing.  ``disturbance`` says what other work did, where that was too much.  A calibration
    beside which it stopped the qualification is ``interrupted``.
    """

    folder: str
    purpose: RunPurpose
    position: int
    sessions: int
    state: RunState
    run_id: str | None = None
    outcome: RunOutcome | None = None
    seconds: float | None = None
    reason: str | None = None
    others_cpu_ratio: float | None = None
    disturbance: str | None = None

    @property
    def name(self) -> str:
        """That of its folder among the runs of the qualification."""
        return self.folder.partition("/")[2]


class AnswerPart(msgspec.Struct, frozen=True, kw_only=True):
    """An answer with its slowdown (W) and the range of that."""

    answer: AnswerWord
    sentence: str
    slowdown: float | None = None
    slowdown_low: float | None = None
    slowdown_high: float | None = None


class QualificationFigures(msgspec.Struct, frozen=True, kw_only=True):
    """The three figures below the sentence, with their bounds.

    ``device_basis`` says what the rate per core is of: what a probe found, or a run that the storage
    limited (both are judged by the guideline), or a run that asked for no more (``demand``; not judged).
    ``calibration_others_cpu_ratio`` and ``measured_others_cpu_ratio`` are the shares of all processor time
    that other work used in the calibration, and in the busiest of the measured runs.  ``delivered_cores``
    are reference seconds over elapsed seconds, with the 95 % interval of the runs' mean.
    ``joules_per_job`` is the median of the measured runs, of what ``energy_scope`` names
    (docs/design/energy.md).
    """

    slowdown: float | None = None
    slowdown_low: float | None = None
    slowdown_high: float | None = None
    answer_bound: float
    parts: Parts | None = None
    delivered_cores: float | None = None
    delivered_cores_low: float | None = None
    delivered_cores_high: float | None = None
    device_bytes_per_second_per_core: float | None = None
    device_basis: Literal["probe", "run", "demand"] | None = None
    guideline_bytes_per_second_per_core: float
    guideline_met: bool | None = None
    jobs_per_hour: float | None = None
    calibration_others_cpu_ratio: float | None = None
    measured_others_cpu_ratio: float | None = None
    joules_per_job: float | None = None
    energy_scope: str | None = None


class AnswerLimit(msgspec.Struct, frozen=True, kw_only=True):
    """What the runs lost their time to, as ``limit`` of a run's summary: costs over all of them."""

    verdict: str
    second: str | None = None
    named: bool | None = None
    costs: list[Cause] = []


class Fits(msgspec.Struct, frozen=True, kw_only=True):
    """The most sessions that are carried; None with ``reason`` where it is not known.

    ``low`` and ``high`` are its range.  Where only an upper bound is known, ``high`` alone is given, and
    ``low`` without ``high`` means at least.  ``reason`` also says where the range is assumed, or where runs
    refute the forecast.
    """

    sessions: int | None
    low: int | None = None
    high: int | None = None
    basis: Basis = "forecast"
    reason: str | None = None

    @property
    def is_at_least(self) -> bool:
        """Whether so many sessions fit, and no run shows that more are too many."""
        return self.sessions is not None and self.high is None and self.low == self.sessions

    def says_fewer_than(self, sessions: int) -> bool:
        """Whether there is no number, but an upper bound below so many sessions."""
        return self.sessions is None and self.high is not None and self.high < sessions


class QualificationChange(msgspec.Struct, frozen=True, kw_only=True):
    """One change of the system, with the sessions that would then fit; ``reason`` says why a number is null.

    ``gain_ratio`` is the part by which the simulated mix of the measured sessions gets shorter.
    ``range_basis`` names the systems on which forecasts were compared with measured times: the range is as
    wide as those were off.  A null ``sessions`` or ``sessions_low`` of a range is fewer than the mix has.
    """

    text: str
    sessions: int | None = None
    sessions_low: int | None = None
    sessions_high: int | None = None
    gain_ratio: float | None = None
    range_basis: Literal["lab beds", "published systems"] | None = None
    reason: str | None = None


class AnswerNodes(msgspec.Struct, frozen=True, kw_only=True):
    """What one node does alone, beside all together, and which of both limits (docs/design/qualify.md).

    ``node`` is the one that was measured alone, in ``runs`` runs.  ``ratio`` is the slowdown of all nodes
    over that of one.  ``scaling_ratio`` is the jobs per hour of all nodes over those of one, over the number
    of nodes: 1 where each node does as much as one alone.
    """

    names: list[str]
    node: str
    runs: int
    one: AnswerPart
    ratio: float | None = None
    ratio_low: float | None = None
    ratio_high: float | None = None
    limit: NodesLimit
    reason: str
    one_jobs_per_hour: float | None = None
    scaling_ratio: float | None = None


class AnswerSystem(msgspec.Struct, frozen=True, kw_only=True):
    """The machine that was measured, as its first measured run saw it.

    ``cores`` counts what ``core_basis`` names; ``virtual`` is what shows that it is a virtual machine.  CPU
    quota (CPU seconds a second) and memory limit are those that the jobs were held to.
    """

    cores: int | None = None
    core_basis: Literal["physical core", "vCPU"] | None = None
    logical_cpus: int | None = None
    cpu_quota: float | None = None
    memory_bytes: int | None = None
    memory_limit_bytes: int | None = None
    virtual: str | None = None
    kernel: str | None = None


class AnswerStorage(msgspec.Struct, frozen=True, kw_only=True):
    """What the storage of roles did during the mix, from the first job to the last: medians of the runs.

    One entry for all roles on the same devices.  ``devices`` are those of the file systems, or mount points
    of network ones; ``disks`` those at the bottom with what is known of them.  A latency is the mean time of
    a request from the queue to its end, the queue the mean number of requests waiting or in service.
    """

    roles: list[Role]
    devices: list[str]
    file_systems: list[str] = []
    disks: list[str] = []
    read_bytes_per_second: float | None = None
    write_bytes_per_second: float | None = None
    read_latency_seconds: float | None = None
    write_latency_seconds: float | None = None
    queue_length: float | None = None


class AnswerRule(msgspec.Struct, frozen=True, kw_only=True):
    """One rule of the disclosure: what was found, what is required, and whether that is met."""

    name: str
    value: str
    bound: str
    met: bool | None


class QualificationAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The answer, from the sentence for everybody to what to do next.

    ``outside`` is what sets it apart from answers that it may be ranked with (docs/design/answer.md).
    ``missing`` has the reason of every figure that is null, by its path.  Only an answer for several nodes
    has ``nodes``; then ``sessions`` and what ``fits`` are those of each.
    """

    sentence: str
    carried: AnswerPart
    preliminary: bool
    reference: Reference | None = None
    outside: list[str] = []
    sessions: int
    figures: QualificationFigures
    limit: AnswerLimit | None = None
    fits: Fits
    changes: list[QualificationChange] = []
    next_step: str
    cautions: list[str] = []
    rules: list[AnswerRule] = []
    system: AnswerSystem | None = None
    during: list[AnswerStorage] = []
    nodes: AnswerNodes | msgspec.UnsetType = msgspec.UNSET
    missing: dict[str, str] = {}


class Qualification(msgspec.Struct, frozen=True, kw_only=True):
    """One qualification: it goes on from its record on the machine and in the directory where it began.

    ``machine`` is that of the process that conducts it; where ``nodes`` are named, they are what is
    qualified.
    """

    name: str
    created_at: float
    outcome: QualificationOutcome
    mawl_version: str
    machine: CampaignMachine
    directory: str
    asked: Asked
    phases: list[Phase] = msgspec.field(default_factory=lambda: [Phase(name=name) for name in PHASES])
    environment: dict[str, str] = {}
    nodes: list[QualifyNode] = []
    load_version: int = 1
    """``plan.mix.LOAD_VERSION``; records without it are of version 1."""
    choice: QualificationChoice | None = None
    runs: list[QualifyRun] = []
    search_forecast: Fits | None = None
    """The number of sessions that fits by the forecast from the measured runs, before any run proved it."""
    answer: QualificationAnswer | None = None
    reason: str | None = None
    """Why it did not finish."""
    format_version: str = QUALIFICATION_FORMAT_VERSION

    def phase(self, name: PhaseName) -> Phase:
        return next(phase for phase in self.phases if phase.name == name)

    def runs_for(self, purpose: RunPurpose) -> list[QualifyRun]:
        """The finished runs of a purpose, in order."""
        return [run for run in self.runs if run.purpose == purpose and run.state == "finished"]
