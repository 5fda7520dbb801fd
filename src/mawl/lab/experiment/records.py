"""Records of a campaign: what a bed asks for, what ran, and what was found (docs/design/lab.md).

``LabRecord`` is the content of ``lab.json`` in the campaign folder.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from mawl.records.definitions import Metric, count, flag, listing, rate, seconds, share, size, unitless
from mawl.records.model.compressibility import CodecName
from mawl.records.model.fields import metrics_of
from mawl.records.spec.program_options import Role

PAGE = "docs/design/lab.md"
AGREES = f"{PAGE}, Figures of a report"
CALIBRATED = f"{PAGE}, Calibration"
PROCESSORS = f"{PAGE}, Processors"
BEDS = "docs/design/lab-beds.md"
ARMS = f"{BEDS}, Figures of the arms"
KNEE = f"{BEDS}, The knee"
WORDS = f"{BEDS}, What papers say in words"
PROGRAMS = f"{BEDS}, As found against profile"
SAVINGS = f"{BEDS}, Savings"

LEAST_PART_RATIO = 0.25
"""A volume with less than this share of the mean of its role's bytes is left out of the spread."""

MOST_OFF_RATIO = 0.03
"""An estimate and a real saving that differ by more do not agree."""


class SavingSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An arm whose volumes compress, and how: the codec, as the storage keeps its blocks."""

    arm: str
    storage: Literal["btrfs", "zram"]
    codec: CodecName
    level: int | None = None
    published: str | None = None
    """A published result with savings by role."""


class VolumeKept(msgspec.Struct, frozen=True, kw_only=True):
    """A role's bytes on one volume, before and after compression, as the storage says."""

    volume: str
    original_bytes: Annotated[int, size("Before compression, on this volume.", SAVINGS)]
    stored_bytes: Annotated[int, size("What the storage keeps for them.", SAVINGS)]

    @property
    def saving_ratio(self) -> float | None:
        """1 - stored/original; None where nothing is there."""
        return 1.0 - self.stored_bytes / self.original_bytes if self.original_bytes else None


class RoleKept(msgspec.Struct, frozen=True, kw_only=True):
    """A role of an arm: real by volume, and the estimate of the same bytes.

    ``reason`` says why a figure is None.
    """

    arm: str
    role: Role
    codec: str
    """``zstd-1``, ``lz4``."""
    storage: str
    source: str | None
    """What told the real figures: compsize, mm_stat."""
    volumes: list[VolumeKept]
    estimated_saving_ratio: float | None
    half_width_ratio: float | None
    block_bytes: int | None
    reason: str | None = None


class SavingResult(msgspec.Struct, frozen=True, kw_only=True):
    """A role of an arm, judged: real beside estimated and beside the paper's.

    ``spread_ratio`` is the largest saving of a volume less the smallest, of those that hold at least
    ``LEAST_PART_RATIO`` of the mean.
    """

    arm: str
    role: Role
    codec: str
    storage: str
    source: str | None
    volumes: list[VolumeKept]
    original_bytes: Annotated[int, size("Bytes of the role before compression.", SAVINGS)]
    stored_bytes: Annotated[int, size("What the storage keeps for them.", SAVINGS)]
    saving_ratio: Annotated[float | None, share("Real saving of the role: 1 - stored/original.", SAVINGS)]
    spread_ratio: Annotated[float | None, share("Largest saving of a volume less the smallest.", SAVINGS)]
    estimated_saving_ratio: Annotated[float | None, share("Estimated saving of the same bytes.", SAVINGS)]
    half_width_ratio: Annotated[
        float | None, share("Half-width of the estimate, 0 where all was read.", SAVINGS)
    ]
    block_bytes: Annotated[int | None, size("Block of the estimate.", SAVINGS)]
    off_ratio: Annotated[float | None, share("Real less estimated.", SAVINGS)]
    agrees: Annotated[bool | None, flag("Whether they differ by at most 3 points; else false.", SAVINGS)]
    published: str | None
    citation: str | None
    published_saving_ratio: Annotated[float | None, share("The paper's saving of this role.", SAVINGS)]
    reason: str | None


Direction = Literal["higher", "lower", "alike"]


class SeriesSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Arms with more and more volumes, in this order, of the same roles."""

    title: str
    arms: list[str]
    roles: list[Role]


class FindingSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a paper says in words, and the arms and the figure that stand for it here."""

    source: str
    """Key of the paper."""
    text: str
    """One of its findings, word for word as ``mawl published`` has it."""
    figure: str
    """A name of the summary, such as ``time.real_time_seconds``."""
    reference: str
    candidate: str
    direction: Direction
    """What the words say of the candidate's figure beside the reference's."""


class ProgramsSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Two arms that are compared with each other program by program, as `mawl compare` does."""

    reference: str
    candidate: str


class ProgramsResult(msgspec.Struct, frozen=True, kw_only=True):
    """What `mawl compare` says of the programs of two arms, and of all their jobs.

    ``faster``, ``slower`` and ``not_told_apart`` are judged and need five runs an arm; ``ran_shorter`` and
    ``ran_longer`` count plain changes, whatever they are worth.
    """

    reference: str
    candidate: str
    runs: Annotated[list[int], listing("Runs of the reference, and of the candidate.", PROGRAMS)]
    judged: Annotated[bool, flag("Whether both arms have five runs or more.", PROGRAMS)]
    verdict: str
    """On all jobs: slower, faster, not told apart, not judged."""
    change_ratio: Annotated[
        float | None, share("Real time per job, candidate over reference, less 1, all jobs.", PROGRAMS)
    ]
    low_ratio: Annotated[float | None, share("Lower end of its 95 % interval.", PROGRAMS)]
    high_ratio: Annotated[float | None, share("Upper end.", PROGRAMS)]
    faster: Annotated[int, count("Programs judged faster in the candidate.", PROGRAMS)]
    slower: Annotated[int, count("Programs judged slower.", PROGRAMS)]
    not_told_apart: Annotated[int, count("Programs of which neither is known.", PROGRAMS)]
    ran_shorter: Annotated[int, count("Programs that took less time, judged or not.", PROGRAMS)]
    ran_longer: Annotated[int, count("Programs that took more.", PROGRAMS)]
    changes: list[ProgramResult]


class ProgramResult(msgspec.Struct, frozen=True, kw_only=True):
    """One program: its real time per job in the candidate over the reference, less 1."""

    program: str
    verdict: str
    change_ratio: Annotated[float, share("The same change of one program.", PROGRAMS)]
    low_ratio: Annotated[float | None, share("Lower end of its interval, among all programs.", PROGRAMS)]
    high_ratio: Annotated[float | None, share("Upper end.", PROGRAMS)]


class ArmFigures(msgspec.Struct, frozen=True, kw_only=True):
    """Figures of an arm's run, each as the summary of a run defines it; None where that has none."""

    arm: str
    real_time_seconds: Annotated[float | None, seconds("Real time of the arm's run, all jobs.", ARMS)]
    user_cpu_seconds: Annotated[float | None, seconds("User CPU time of the arm's run, all jobs.", ARMS)]
    system_cpu_seconds: Annotated[float | None, seconds("System CPU time of the arm's run, all jobs.", ARMS)]
    application_bytes_per_second: Annotated[
        float | None, rate("Application bytes both ways over the run.", ARMS)
    ]
    device_bytes_per_second: Annotated[
        float | None, rate("Bytes both ways at the volumes' devices over the run.", ARMS)
    ]
    read_latency_seconds: dict[
        Role, Annotated[float | None, seconds("Mean read latency of a role at the application.", ARMS)]
    ]
    write_latency_seconds: dict[
        Role, Annotated[float | None, seconds("Mean write latency of a role at the application.", ARMS)]
    ]
    host_cpu_busy_seconds: Annotated[
        float | None, seconds("Busy CPU time of the machine, for all programs.", ARMS)
    ]


class SeriesStep(msgspec.Struct, frozen=True, kw_only=True):
    """One step of a series; ``gain_ratio`` is over the step before, less 1.

    ``bytes_per_second`` are both ways at the devices of its volumes, over the elapsed time of the run.
    """

    arm: str
    volumes: Annotated[int, count("Devices of the series' roles in this arm.", KNEE)]
    bytes_per_second: Annotated[
        float | None, rate("Bytes both ways at these devices over the elapsed time.", KNEE)
    ]
    elapsed_seconds: Annotated[float | None, seconds("Elapsed time of the arm's run.", KNEE)]
    gain_ratio: Annotated[float | None, share("Its rate over that of the step before, less 1.", KNEE)]
    ideal_gain_ratio: Annotated[float | None, share("Its volumes over those before, less 1.", KNEE)]
    cap_bytes_per_second: Annotated[
        float | None, rate("Sum of their caps, of one direction; null where one of them has no cap.", KNEE)
    ]
    cap_share_ratio: Annotated[float | None, share("Rate of the busier direction over that sum.", KNEE)]
    even_ratio: Annotated[float | None, share("Mean over largest of the bytes of these devices.", KNEE)]
    concurrent_jobs: Annotated[float | None, unitless("Mean number of jobs side by side.", KNEE)]
    own_cpu_ratio: Annotated[float | None, share("Share of all CPU time that the run used.", KNEE)]


class SeriesResult(msgspec.Struct, frozen=True, kw_only=True):
    """A series and its knee: the step before the first that gained less than half of the ideal.

    ``sentence`` says it with the figures, ``reasons`` what held the step after the knee.
    """

    title: str
    roles: list[Role]
    steps: list[SeriesStep]
    knee: str | None
    """The arm; None where no step gained so little, or one is not known."""
    knee_volumes: Annotated[int | None, count("Volumes at the knee; null without one.", KNEE)]
    sentence: str
    reasons: list[str]


class FindingResult(msgspec.Struct, frozen=True, kw_only=True):
    """A paper's words beside what was found here; ``agrees`` is None where a figure is missing.

    ``reasons`` say what differs between the arms where it does not agree.
    """

    text: str
    citation: str
    figure: str
    reference: str
    candidate: str
    expected: Direction
    found: Direction | None
    reference_value: Annotated[float | None, unitless("The figure of the reference arm.", WORDS)]
    candidate_value: Annotated[float | None, unitless("The figure of the candidate arm.", WORDS)]
    change_ratio: Annotated[float | None, share("Candidate over reference, less 1.", WORDS)]
    agrees: Annotated[
        bool | None,
        flag("Whether the direction is what the paper's words say; null where a figure is missing.", WORDS),
    ]
    reasons: list[str] = []


LAB_FORMAT_VERSION = "1.0"

CalibrationUnit = Literal["bytes per second", "requests per second"]


class ClaimSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a paper found between two of its systems, and which arms stand for them here."""

    title: str
    figure: str
    """A name of the summary, such as ``time.real_time_seconds``."""
    published_figure: str | None = None
    """Its name in the published result, where that is another."""
    reference: str
    candidate: str
    published_reference: str
    published_candidate: str


class VerdictSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What limits an arm by the way it is built; ``source`` tells how that is known."""

    arm: str
    verdict: str
    holds: bool = True
    """False: this must not be the verdict."""
    source: str


class VolumeCalibration(msgspec.Struct, frozen=True, kw_only=True):
    """A volume against what its bed says; ``measured`` is the median of ``tries`` measurements."""

    volume: str
    what: str
    unit: CalibrationUnit
    expected: Annotated[
        float,
        unitless("What the bed says, in the measurement's unit: bytes or requests per second.", CALIBRATED),
    ]
    measured: Annotated[
        float, unitless("What was measured, in the same unit; the median where it took several.", CALIBRATED)
    ]
    tries: Annotated[int, count("Measurements it took.", CALIBRATED)]
    path_seconds: Annotated[
        float | None,
        seconds(
            "What a request's way to a modelled disk and back took, which the model takes off each of its "
            "seeks; null for other measurements.",
            CALIBRATED,
        ),
    ] = None

    @property
    def off_ratio(self) -> float:
        """How far off it is, as a share of what was expected; above 0 is too fast."""
        return self.measured / self.expected - 1.0


class ArmRun(msgspec.Struct, frozen=True, kw_only=True):
    """One arm's run; ``folder`` is relative to that of the campaign."""

    arm: str
    run_id: str
    folder: str
    outcome: str
    speed_factor: Annotated[
        float, share("Speed of all volumes in this run over what the bed says.", PROCESSORS)
    ]
    cpu_busy_ratio: Annotated[
        float | None,
        share("Share of all CPU time over the run that was not idle, for all programs.", PROCESSORS),
    ]
    own_cpu_ratio: Annotated[
        float | None,
        share(
            "Share of all CPU time from the first start to the last end that its jobs and mawl used.",
            PROCESSORS,
        ),
    ]
    repeated: Annotated[
        bool, flag("Whether all arms ran again, slower, and this run is not judged.", PROCESSORS)
    ] = False


class LabRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One ``mawl lab run``."""

    format_version: str = LAB_FORMAT_VERSION
    campaign_id: str
    bed: str
    title: str
    question: str
    created_at: float
    """Seconds since the epoch, UTC."""
    outcome: Literal["running", "completed", "failed", "interrupted"]
    workload: str
    scale: float | None
    description: dict[str, Any]
    """The bed file's content."""
    claims: list[ClaimSpec]
    verdicts: list[VerdictSpec]
    calibration: list[VolumeCalibration] = []
    """Before the first arm, at the speed of the arms that count."""
    arms: list[ArmRun] = []
    savings: list[RoleKept] = []
    """What compressing volumes saved, by arm and role."""
    remarks: list[str] = []
    """What was done otherwise than the bed says, in sentences."""

    def run_of(self, arm: str) -> ArmRun | None:
        """The run of an arm that counts; None where it has none."""
        return next((run for run in self.arms if run.arm == arm and not run.repeated), None)


class ClaimResult(msgspec.Struct, frozen=True, kw_only=True):
    """A claim of a paper beside what was found here; changes are candidate over reference, less 1.

    ``direction_agrees`` is None where either side has no change, and ``reason`` says why.
    """

    title: str
    figure: str
    published_figure: str
    """The same figure, or what the paper gives in its place."""
    reference: str
    candidate: str
    published_reference: str
    published_candidate: str
    citation: str
    published_reference_value: Annotated[
        float | None, unitless("The figure in the paper's reference, in base units.", AGREES)
    ]
    published_candidate_value: Annotated[
        float | None, unitless("The figure in the paper's candidate, in base units.", AGREES)
    ]
    published_change_ratio: Annotated[
        float | None, share("The paper's candidate over its reference, less 1.", AGREES)
    ]
    reference_value: Annotated[
        float | None, unitless("The figure in the reference arm, in base units.", AGREES)
    ]
    candidate_value: Annotated[
        float | None, unitless("The figure in the candidate arm, in base units.", AGREES)
    ]
    change_ratio: Annotated[float | None, share("The candidate arm over the reference arm, less 1.", AGREES)]
    direction_agrees: Annotated[
        bool | None,
        flag(
            "Whether both changes have the same sign, that here 2 % or more; null where one is not known.",
            AGREES,
        ),
    ]
    reason: str | None = None


class VerdictResult(msgspec.Struct, frozen=True, kw_only=True):
    """What an arm's limit is by its construction, beside the verdict of its run."""

    arm: str
    expected: str
    """``storage``, or ``not storage``."""
    source: str
    verdict: str | None
    role: str | None
    device: str | None
    agrees: Annotated[
        bool | None,
        flag(
            "Whether the run's verdict is what the arm's construction makes it; null without a verdict.",
            AGREES,
        ),
    ]


class ArmPair(msgspec.Struct, frozen=True, kw_only=True):
    """Two arms side by side: where the difference lies."""

    reference: str
    candidate: str
    place: str | None
    """The place of the jobs' time that changed most (docs/design/comparison.md); None where none did."""
    sentence: str | None
    blocked_seconds: Annotated[
        float | None, seconds("Thread-seconds blocked in I/O of all roles, in the reference arm.", AGREES)
    ]
    work_util_blocked_ratio: Annotated[float | None, share("Of these, the share of work and util.", AGREES)]
    work_util_ratio: Annotated[
        float | None, share("Share of work and util in the application bytes of the reference arm.", AGREES)
    ]


class LabReport(msgspec.Struct, frozen=True, kw_only=True):
    """A campaign of the lab, judged: what papers found, what was found here, and whether they agree."""

    campaign_id: str
    bed: str
    title: str
    question: str
    outcome: str
    arms: list[ArmRun]
    calibration: list[VolumeCalibration]
    claims: list[ClaimResult]
    verdicts: list[VerdictResult]
    pairs: list[ArmPair]
    remarks: list[str]
    figures: list[ArmFigures] = []
    series: list[SeriesResult] = []
    findings: list[FindingResult] = []
    savings: list[SavingResult] = []
    programs: list[ProgramsResult] = []


LAB_METRICS: tuple[Metric, ...] = metrics_of(LabReport)
