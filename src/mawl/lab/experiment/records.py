"""Records of a campaign: what a bed asks for, what ran, and what was found (docs/design/lab.md).

``LabRecord`` is the content of ``lab.json`` in the campaign folder.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from mawl.records.model.compressibility import CodecName
from mawl.records.spec.program_options import Role

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
    original_bytes: int
    stored_bytes: int

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


class SavingFound(msgspec.Struct, frozen=True, kw_only=True):
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
    original_bytes: int
    stored_bytes: int
    saving_ratio: float | None
    spread_ratio: float | None
    estimated_saving_ratio: float | None
    half_width_ratio: float | None
    block_bytes: int | None
    off_ratio: float | None
    """Real less estimated."""
    agrees: bool | None
    """Off by at most ``MOST_OFF_RATIO``; None where one is missing."""
    published: str | None
    citation: str | None
    published_saving_ratio: float | None
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


class ProgramsFound(msgspec.Struct, frozen=True, kw_only=True):
    """What `mawl compare` says of the programs of two arms, and of all their jobs.

    ``faster``, ``slower`` and ``not_told_apart`` are judged and need five runs an arm; ``ran_shorter`` and
    ``ran_longer`` count plain changes, whatever they are worth.
    """

    reference: str
    candidate: str
    runs: list[int]
    """Of the reference, and of the candidate."""
    judged: bool
    verdict: str
    """On all jobs: slower, faster, not told apart, not judged."""
    change_ratio: float | None
    low_ratio: float | None
    high_ratio: float | None
    faster: int
    slower: int
    not_told_apart: int
    ran_shorter: int
    ran_longer: int
    changes: list[ProgramFound]


class ProgramFound(msgspec.Struct, frozen=True, kw_only=True):
    """One program: its real time per job in the candidate over the reference, less 1."""

    program: str
    verdict: str
    change_ratio: float
    low_ratio: float | None
    high_ratio: float | None


class ArmFigures(msgspec.Struct, frozen=True, kw_only=True):
    """Figures of an arm's run, each as the summary of a run defines it; None where that has none."""

    arm: str
    real_time_seconds: float | None
    user_cpu_seconds: float | None
    system_cpu_seconds: float | None
    application_bytes_per_second: float | None
    """Both ways, mean over the run."""
    device_bytes_per_second: float | None
    read_latency_seconds: dict[Role, float | None]
    """Means, at the application."""
    write_latency_seconds: dict[Role, float | None]
    host_cpu_busy_seconds: float | None
    """Of the whole machine: the kernel's own compression is only here, and so are others."""


class StepFound(msgspec.Struct, frozen=True, kw_only=True):
    """One step of a series; ``gain_ratio`` is over the step before, less 1.

    ``bytes_per_second`` are both ways at the devices of its volumes, over the elapsed time of the run.
    """

    arm: str
    volumes: int
    bytes_per_second: float | None
    elapsed_seconds: float | None
    gain_ratio: float | None
    ideal_gain_ratio: float | None
    """That of the number of volumes."""
    cap_bytes_per_second: float | None
    """Sum over the volumes, of one direction; None where one of them has no cap."""
    cap_share_ratio: float | None
    """What the busier direction used of it."""
    even_ratio: float | None
    """Mean over largest of the bytes of its volumes: 1 where all moved as many."""
    concurrent_jobs: float | None
    own_cpu_ratio: float | None
    """What the run used of all CPU time."""


class SeriesFound(msgspec.Struct, frozen=True, kw_only=True):
    """A series and its knee: the step before the first that gained less than half of the ideal.

    ``sentence`` says it with the figures, ``reasons`` what held the step after the knee.
    """

    title: str
    roles: list[Role]
    steps: list[StepFound]
    knee: str | None
    """The arm; None where no step gained so little, or one is not known."""
    knee_volumes: int | None
    sentence: str
    reasons: list[str]


class FindingFound(msgspec.Struct, frozen=True, kw_only=True):
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
    reference_value: float | None
    candidate_value: float | None
    change_ratio: float | None
    agrees: bool | None
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
    expected: float
    measured: float
    tries: int
    path_seconds: float | None = None
    """Of a disk with a head: what a request's way to the model takes, taken off each seek."""

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
    speed_factor: float
    """All volumes ran at this factor of the speed that the bed says."""
    cpu_busy_ratio: float | None
    own_cpu_ratio: float | None
    """What its jobs and mawl used of all CPU time from the first start to the last end."""
    repeated: bool = False
    """True: the processors were too busy, and all arms ran again at a lower speed."""


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


class ClaimFound(msgspec.Struct, frozen=True, kw_only=True):
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
    published_reference_value: float | None
    published_candidate_value: float | None
    published_change_ratio: float | None
    reference_value: float | None
    candidate_value: float | None
    change_ratio: float | None
    direction_agrees: bool | None
    reason: str | None = None


class VerdictFound(msgspec.Struct, frozen=True, kw_only=True):
    """What an arm's limit is by its construction, beside the verdict of its run."""

    arm: str
    expected: str
    """``storage``, or ``not storage``."""
    source: str
    verdict: str | None
    role: str | None
    device: str | None
    agrees: bool | None
    """None where the run has no verdict."""


class PairFound(msgspec.Struct, frozen=True, kw_only=True):
    """Two arms side by side: where the difference lies."""

    reference: str
    candidate: str
    place: str | None
    """The place of the jobs' time that changed most (docs/design/comparison.md); None where none did."""
    sentence: str | None
    blocked_seconds: float | None
    """Blocked in I/O of all roles, in the reference."""
    work_util_blocked_ratio: float | None
    """Of it, the share of work and util."""
    work_util_ratio: float | None
    """Share of work and util in the reference's application bytes, as in a run's signature."""


class LabFound(msgspec.Struct, frozen=True, kw_only=True):
    """A campaign of the lab, judged: what papers found, what was found here, and whether they agree."""

    campaign_id: str
    bed: str
    title: str
    question: str
    outcome: str
    arms: list[ArmRun]
    calibration: list[VolumeCalibration]
    claims: list[ClaimFound]
    verdicts: list[VerdictFound]
    pairs: list[PairFound]
    remarks: list[str]
    figures: list[ArmFigures] = []
    series: list[SeriesFound] = []
    findings: list[FindingFound] = []
    savings: list[SavingFound] = []
    programs: list[ProgramsFound] = []
