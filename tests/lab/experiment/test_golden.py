"""The text of a lab campaign's report, compared with files under tests/golden (see test_golden.py).

Campaigns are made up, with every part that a report may have, known and not known.
"""

from __future__ import annotations

import msgspec
import pytest

from mawl.lab.experiment.document import document
from mawl.lab.experiment.records import (
    ArmFigures,
    ArmPair,
    ArmRun,
    ClaimResult,
    FindingResult,
    LabReport,
    ProgramResult,
    ProgramsResult,
    SavingResult,
    SeriesResult,
    SeriesStep,
    VerdictResult,
    VolumeCalibration,
    VolumeKept,
)
from mawl.reports.document import rendered
from tests.reports.test_golden import golden


def arm(name: str, busy: float | None, own: float | None, speed: float = 1.0, again: bool = False) -> ArmRun:
    return ArmRun(
        arm=name,
        run_id=f"20260102-030405-bed-{name[:4]}",
        folder=f"../{name}",
        outcome="completed",
        speed_factor=speed,
        cpu_busy_ratio=busy,
        own_cpu_ratio=own,
        repeated=again,
    )


def claim(title: str, figure: str, values: tuple[float | None, ...], agrees: bool | None) -> ClaimResult:
    """Values: published reference and candidate, then those found here."""
    before, after, here_before, here_after = values
    return ClaimResult(
        title=title,
        figure=figure,
        published_figure=figure,
        reference="slow",
        candidate="fast",
        published_reference="then-slow",
        published_candidate="then-fast",
        citation="A Paper, 2020, p. 7",
        published_reference_value=before,
        published_candidate_value=after,
        published_change_ratio=None if before is None or after is None else after / before - 1.0,
        reference_value=here_before,
        candidate_value=here_after,
        change_ratio=None if here_before is None or here_after is None else here_after / here_before - 1.0,
        direction_agrees=agrees,
        reason=None if agrees is not None else "the paper does not give this figure of both systems",
    )


CALIBRATION = [
    VolumeCalibration(
        volume="disk",
        what="direct read",
        unit="bytes per second",
        expected=60e6,
        measured=59.1e6,
        tries=1,
    ),
    VolumeCalibration(
        volume="disk",
        what="direct random read",
        unit="requests per second",
        expected=160.0,
        measured=165.0,
        tries=3,
    ),
]

TWO_ARMS = LabReport(
    campaign_id="20260102-030405-hybrid-1a2b",
    bed="hybrid",
    title="one disk for all, against flash for work and util",
    question="Does it pay to move work and util alone?",
    outcome="completed",
    arms=[arm("slow", 0.41, 0.36), arm("fast", None, None, 0.6), arm("slow", 0.83, 0.79, again=True)],
    calibration=CALIBRATION,
    claims=[
        claim("real time, all jobs", "time.real_time_seconds", (8000.0, 6400.0, 100.0, 60.0), True),
        claim("rate", "io.device.peak.total_bytes_per_second", (4e9, 5e9, 60e6, 59.9e6), False),
        claim("read latency", "io.by_role.data.read_latency_seconds.mean", (None, 0.002, 0.01, 0.001), None),
    ],
    verdicts=[
        VerdictResult(arm="slow", expected="storage", source="one disk", verdict="storage", role="work",
                     device="loop0", agrees=True),
        VerdictResult(arm="fast", expected="not storage", source="flash", verdict=None, role=None,
                     device=None, agrees=None),
    ],
    pairs=[
        ArmPair(reference="slow", candidate="fast", place="work",
                  sentence="40.0 s of 40.0 s less is time blocked in work",
                  blocked_seconds=70.0, work_util_blocked_ratio=0.86, work_util_ratio=0.9),
        ArmPair(reference="slow", candidate="fast", place=None, sentence="nothing differs",
                  blocked_seconds=None, work_util_blocked_ratio=None, work_util_ratio=None),
    ],
    remarks=["others kept the processors busy"],
)  # fmt: skip


def figures(name: str, rate: float | None) -> ArmFigures:
    latency = None if rate is None else 0.0021
    return ArmFigures(
        arm=name,
        real_time_seconds=None if rate is None else 100.0,
        user_cpu_seconds=20.0,
        system_cpu_seconds=5.5,
        application_bytes_per_second=rate,
        device_bytes_per_second=None if rate is None else rate / 2.0,
        read_latency_seconds={"data": latency, "work": latency, "util": None},
        write_latency_seconds={"data": None, "work": latency, "util": None},
        host_cpu_busy_seconds=41.0,
    )


def step(name: str, volumes: int, rate: float | None, gain: float | None) -> SeriesStep:
    return SeriesStep(
        arm=name,
        volumes=volumes,
        bytes_per_second=rate,
        elapsed_seconds=30.0,
        gain_ratio=gain,
        ideal_gain_ratio=None if gain is None else 1.0,
        cap_bytes_per_second=volumes * 40e6,
        cap_share_ratio=None if rate is None else rate / (volumes * 40e6),
        even_ratio=None if volumes == 1 else 0.9,
        concurrent_jobs=3.5,
        own_cpu_ratio=None if rate is None else 0.3,
    )


def saving(role: str, kept: list[VolumeKept], estimated: float | None, agrees: bool | None) -> SavingResult:
    original, stored = (
        sum(getattr(one, name) for one in kept) for name in ("original_bytes", "stored_bytes")
    )
    real = 1.0 - stored / original if original else None
    return SavingResult(
        arm="fast",
        role=role,  # type: ignore[arg-type]
        codec="zstd-1",
        storage="btrfs",
        source="compsize" if kept else None,
        volumes=kept,
        original_bytes=original,
        stored_bytes=stored,
        saving_ratio=real,
        spread_ratio=None if real is None else 0.01,
        estimated_saving_ratio=estimated,
        half_width_ratio=None if estimated is None else 0.02,
        block_bytes=131072,
        off_ratio=None if real is None or estimated is None else estimated - real,
        agrees=agrees,
        published="then-fast" if kept else None,
        citation="A Paper, 2020, p. 9" if kept else None,
        published_saving_ratio=0.8 if kept else None,
        reason=None if kept else "nothing lay there",
    )


KEPT = [VolumeKept(volume=f"v{number}", original_bytes=10**9, stored_bytes=2 * 10**8) for number in (1, 2)]
EVERYTHING = msgspec.structs.replace(
    TWO_ARMS,
    figures=[figures("slow", 60e6), figures("fast", None)],
    series=[
        SeriesResult(
            title="volumes of work",
            roles=["work", "util"],
            steps=[step("one", 1, 39e6, None), step("two", 2, 70e6, 0.79), step("four", 4, None, None)],
            knee="two",
            knee_volumes=2,
            sentence="more volumes help up to 2",
            reasons=["the processors were busy"],
        )
    ],
    findings=[
        FindingResult(text="compression makes it slower", citation="A Paper, 2020, p. 8",
                     figure="time.real_time_seconds", reference="slow", candidate="fast", expected="higher",
                     found=None, reference_value=100.0, candidate_value=None, change_ratio=None, agrees=None),
        FindingResult(text="compression makes it slower", citation="A Paper, 2020, p. 8",
                     figure="time.real_time_seconds", reference="slow", candidate="fast", expected="higher",
                     found="lower", reference_value=100.0, candidate_value=70.0, change_ratio=-0.3,
                     agrees=False, reasons=["fewer bytes reached the devices"]),
    ],
    programs=[
        ProgramsResult(
            reference="slow", candidate="fast", runs=[5, 5], judged=True, verdict="faster",
            change_ratio=-0.4, low_ratio=-0.5, high_ratio=-0.3, faster=1, slower=0, not_told_apart=1,
            ran_shorter=2, ran_longer=0,
            changes=[
                ProgramResult(program="wide_sort", verdict="faster", change_ratio=-0.6,
                             low_ratio=-0.7, high_ratio=-0.5),
                ProgramResult(program="text_topics", verdict="not told apart", change_ratio=-0.01,
                             low_ratio=-0.04, high_ratio=0.02),
            ],
        ),
        ProgramsResult(
            reference="slow", candidate="fast", runs=[1, 1], judged=False, verdict="not judged",
            change_ratio=None, low_ratio=None, high_ratio=None, faster=0, slower=0, not_told_apart=0,
            ran_shorter=1, ran_longer=0,
            changes=[
                ProgramResult(program="wide_sort", verdict="not judged", change_ratio=-0.6, low_ratio=None,
                             high_ratio=None),
            ],
        ),
    ],
    savings=[
        saving("data", KEPT, 0.81, True),
        saving("work", KEPT, 0.7, False),
        saving("util", [], None, None),
    ],
)  # fmt: skip


@pytest.mark.parametrize(("name", "found"), [("lab.txt", TWO_ARMS), ("lab-everything.txt", EVERYTHING)])
def test_the_text_of_a_campaign_is_its_golden_file(name: str, found: LabReport) -> None:
    made = rendered(document(found), "text")
    assert made == golden(name, made)
