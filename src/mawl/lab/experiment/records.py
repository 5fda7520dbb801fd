"""What `mawl lab run` keeps of an experiment: ``lab.json`` in its campaign folder (docs/design/lab.md)."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from mawl.lab.experiment.saving_records import RoleKept, SavingFound
from mawl.lab.experiment.series_records import ArmFigures, FindingFound, ProgramsFound, SeriesFound

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
