"""survey_logistic rejects wrong answers that are planted in its models, its weights and its clusters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import numpy as np
import pytest

from mawl.programs import survey_logistic
from mawl.programs.survey_logistic import ClusterTotals
from mawl.programs.survey_logistic import _SurveyLogistic as Survey
from mawl.programs.tables.arrow import TableWriter
from mawl.programs.toolkit import models
from mawl.programs.toolkit.models import RecombinedFit
from tests.contract.planted_run import without_first_row
from tests.programs.faults import Fault

SCALE = 0.00006


def _of_the_next_row(prepare: Any) -> Any:
    return lambda *arguments: np.roll(prepare(*arguments), 1, axis=1)


def _other_level(levels: Any) -> Any:
    return lambda column: (*levels(column)[1:], levels(column)[0])


def _not_centred(measures: Any) -> Any:
    return tuple(msgspec.structs.replace(measure, less=0) for measure in measures)


def _changed(change: Callable[[Any], None]) -> Callable[[Any], Any]:
    """Change the columns of every batch of the passes."""

    def wrong(columns: Any) -> Any:
        def changed(self: Any) -> Any:
            for batch in columns(self):
                change(batch)
                yield batch

        return changed

    return wrong


def _unweighted(batch: Any) -> None:
    batch[3] = 40.0


def _opposite(batch: Any) -> None:
    batch[4] = 1.0 - batch[4]


def _one_stratum(batch: Any) -> None:
    batch[1] = 0.0


def _every_row_a_cluster(batch: Any) -> None:
    batch[2] = np.arange(batch.shape[1])


def _pairs_of_clusters(batch: Any) -> None:
    batch[2] //= 2


def _without_a_row(blocks: Any) -> Any:
    return lambda *arguments: (block[:, 1:] for block in blocks(*arguments))


FAULTS = {
    "answers of the next respondent": Fault(
        survey_logistic, "prepare", _of_the_next_row, "of uninsured farthest"
    ),
    "indicators of other values": Fault(models, "class_levels", _other_level, "of uninsured farthest"),
    "answers are not centred": Fault(survey_logistic, "_MEASURES", _not_centred, "is wrong"),
    "who is insured": Fault(Survey, "_columns", _changed(_opposite), "of uninsured farthest"),
    "weights are left out": Fault(Survey, "_columns", _changed(_unweighted), "design effect of"),
    "strata are left out": Fault(Survey, "_columns", _changed(_one_stratum), "clusters by stratum"),
    "clusters are left out": Fault(Survey, "_columns", _changed(_every_row_a_cluster), "clusters by stratum"),
    "clusters are put together": Fault(
        Survey, "_columns", _changed(_pairs_of_clusters), "clusters by stratum"
    ),
    "variance of independent rows": Fault(
        ClusterTotals,
        "variance",
        lambda variance: lambda self: variance(self) / 5.0,
        "design effect of areas",
    ),
    "variance of what is no sum": Fault(
        ClusterTotals,
        "variance",
        lambda variance: lambda self: variance(self) * 2.0,
        "design effect of",
    ),
    "a start from nothing": Fault(
        RecombinedFit,
        "coefficients",
        lambda found: property(lambda self: 0.0 * found.fget(self)),
        "last Newton step",
    ),
    "another curve": Fault(
        survey_logistic,
        "chances",
        lambda curve: lambda predictor: curve(1.7 * predictor),
        "last Newton step",
    ),
    "a respondent of each block is not fitted": Fault(
        survey_logistic,
        "even_blocks",
        _without_a_row,
        "number of respondents fitted",
    ),
    "a row is lost": Fault(TableWriter, "write", without_first_row, "is wrong"),
}


@pytest.mark.parametrize("cuts", [[], [5], [8, 9, 10], [1, 40, 41, 100]])
def test_variance_is_that_of_totals_within_strata(cuts: list[int]) -> None:
    random = np.random.default_rng(1)
    sizes = random.integers(1, 9, 30)
    cluster = np.repeat(np.arange(30.0), sizes)
    stratum = cluster % 4
    scores = random.standard_normal((3, len(cluster)))
    totals = ClusterTotals(4, 3)
    for some in np.split(np.arange(len(cluster)), cuts):
        totals.add(scores[:, some], cluster[some], stratum[some])
    totals.finish()
    totals.finish()
    expected = np.zeros((3, 3))
    for number in range(4):
        inside = np.array(
            [scores[:, cluster == name].sum(axis=1) for name in range(30) if name % 4 == number]
        )
        expected += len(inside) * np.cov(inside.T)
    assert totals.clusters.tolist() == [8, 8, 7, 7]
    assert totals.score == pytest.approx(scores.sum(axis=1))
    assert totals.variance() == pytest.approx(expected)
