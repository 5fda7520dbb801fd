"""A campaign of the lab, judged: direction, verdict, and where the difference lies."""

from __future__ import annotations

import msgspec
import pytest

from mawl.figures.comparison.sides import Side, published_side
from mawl.figures.published import published_block
from mawl.lab.experiment.document import document
from mawl.lab.experiment.figures import lab_report
from mawl.lab.experiment.records import (
    ArmRun,
    ClaimSpec,
    LabRecord,
    LabReport,
    VerdictSpec,
    VolumeCalibration,
)
from mawl.records.model.published import Citation, Paper, PaperTimes, PublishedResult
from mawl.reports.document import rendered
from tests.fakes.lab_campaign import arm_side

CLAIM = ClaimSpec(
    title="real time, all jobs",
    figure="time.real_time_seconds",
    reference="slow",
    candidate="fast",
    published_reference="then-slow",
    published_candidate="then-fast",
)


def published(name: str, seconds: float | None) -> Side:
    paper = Paper(source=Citation(key="paper", title="A Paper", publisher="Nowhere"))
    result = PublishedResult(
        id=name, title=name, source="paper", nodes=1, time=PaperTimes(real_time_seconds=seconds)
    )
    figures = published_block(result, paper)
    cited = msgspec.structs.replace(figures.source, citation="A Paper")
    return published_side(msgspec.structs.replace(figures, source=cited))


PAPERS = {"then-slow": published("then-slow", 100.0), "then-fast": published("then-fast", 90.0)}


def record(*verdicts: VerdictSpec) -> LabRecord:
    return LabRecord(
        campaign_id="c",
        bed="b",
        title="t",
        question="q",
        created_at=0.0,
        outcome="completed",
        workload="nano",
        scale=None,
        description={},
        claims=[CLAIM],
        verdicts=list(verdicts),
        calibration=[
            VolumeCalibration(
                volume="disk",
                what="direct read",
                unit="bytes per second",
                expected=100e6,
                measured=98e6,
                tries=1,
            )
        ],
        arms=[
            ArmRun(
                arm="slow",
                run_id="r",
                folder="../r",
                outcome="completed",
                speed_factor=1.0,
                cpu_busy_ratio=0.4,
                own_cpu_ratio=None,
            )
        ],
    )


@pytest.mark.parametrize(("seconds", "agrees"), [(60.0, True), (140.0, False), (99.0, False)])
def test_direction_agrees_where_both_changes_have_the_same_sign_and_there_is_one(
    seconds: float, agrees: bool
) -> None:
    judged = lab_report(
        record(), {"slow": arm_side("slow", 100.0), "fast": arm_side("fast", seconds)}, PAPERS
    )
    assert judged.claims[0].direction_agrees is agrees
    assert judged.claims[0].published_change_ratio == pytest.approx(-0.1)
    assert judged.claims[0].change_ratio == pytest.approx(seconds / 100.0 - 1.0)


def test_what_is_not_known_is_null_with_a_reason() -> None:
    judged = lab_report(record(), {"slow": arm_side("slow", 100.0)}, PAPERS)
    claim = judged.claims[0]
    assert (claim.direction_agrees, claim.candidate_value) == (None, None)
    assert claim.reason == "the figure is not known of both arms"
    silent = {**PAPERS, "then-fast": published("then-fast", None)}
    both = {"slow": arm_side("slow", 100.0), "fast": arm_side("fast", 60.0)}
    assert (
        lab_report(record(), both, silent).claims[0].reason
        == "the paper does not give this figure of both systems"
    )


def test_a_verdict_may_be_expected_or_excluded() -> None:
    specs = [
        VerdictSpec(arm="slow", verdict="storage", source="s"),
        VerdictSpec(arm="fast", verdict="storage", holds=False, source="s"),
        VerdictSpec(arm="absent", verdict="cpu", source="s"),
    ]
    arms = {"slow": arm_side("slow", 100.0, "storage"), "fast": arm_side("fast", 60.0, "none")}
    judged = lab_report(record(*specs), arms, PAPERS)
    assert [(one.expected, one.agrees) for one in judged.verdicts] == [
        ("storage", True),
        ("not storage", True),
        ("cpu", None),
    ]


def test_the_pair_says_where_the_time_went_and_whose_share_it_was() -> None:
    arms = {"slow": arm_side("slow", 100.0, work=60.0), "fast": arm_side("fast", 60.0, work=20.0)}
    pair = lab_report(record(), arms, PAPERS).pairs[0]
    assert pair.place == "work"
    assert pair.blocked_seconds == pytest.approx(70.0)
    assert pair.work_util_blocked_ratio == pytest.approx(60.0 / 70.0)
    assert pair.work_util_ratio == pytest.approx(0.9)


def text_of(found: LabReport) -> str:
    return " ".join(rendered(document(found), "text").split())


def test_the_text_holds_paper_finding_and_agreement() -> None:
    arms = {"slow": arm_side("slow", 100.0, work=60.0), "fast": arm_side("fast", 60.0, work=20.0)}
    spec = VerdictSpec(arm="slow", verdict="storage", source="one disk")
    text = text_of(lab_report(msgspec.structs.replace(record(spec), remarks=["said"]), arms, PAPERS))
    assert "real time, all jobs 100.0 s -> 90.0 s (-10 %) 100.0 s -> 60.0 s (-40 %) agrees" in text
    assert "published: then-slow -> then-fast; here: slow -> fast" in text
    assert "A Paper" in text
    assert "completed 40 % - 1.00" in text
    assert "86 % of it in work and util, which have 90 % of the bytes" in text
    assert "the worst -2.0 % off (disk, direct read)" in text
    assert "slow not known storage not known slow: one disk" in text
    assert "Remark: said" in text


def test_unlike_figures_are_named_and_defined_in_the_text() -> None:
    unlike = msgspec.structs.replace(
        CLAIM, figure="cpu_real_ratio.without_run_queue", published_figure="cpu_real_ratio.mean"
    )
    arms = {"slow": arm_side("slow", 100.0), "fast": arm_side("fast", 60.0)}
    text = text_of(lab_report(msgspec.structs.replace(record(), claims=[unlike]), arms, PAPERS))
    assert "published is cpu_real_ratio.mean: Mean of the jobs' own ratios." in text
    assert "here is cpu_real_ratio.without_run_queue: Summed CPU time over" in text
    assert "cpu_real_ratio" not in text_of(lab_report(record(), arms, PAPERS))


def test_a_median_of_several_measurements_is_told_in_the_text() -> None:
    once = record().calibration[0]
    again = msgspec.structs.replace(once, what="buffered write", measured=104e6, tries=3)
    text = text_of(lab_report(msgspec.structs.replace(record(), calibration=[once, again]), {}, PAPERS))
    assert "disk, buffered write: the first was too far off, this is the median of 3 (+4.0 %)" in text
    assert "the median" not in text_of(lab_report(record(), {}, PAPERS))
