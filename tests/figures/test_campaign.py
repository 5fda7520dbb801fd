"""What campaigns of synthetic runs say together, and that every figure of it is defined."""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from mawl.campaigns.series import back_and_forth
from mawl.figures.campaign import CampaignFound, campaign_figures, session_run, spread
from mawl.figures.knee import knee_of
from mawl.records.model.campaign import Arm
from mawl.records.model.fields import metrics_of
from mawl.reports.campaign_document import document, head
from mawl.reports.document import rendered
from tests.fakes.campaign_runs import campaign
from tests.fakes.compared_runs import compared
from tests.fakes.found_campaigns import (
    EVERY,
    SEARCH,
    all_runs,
    comparison,
    finished,
    scaling,
    search_for_sessions,
)


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for name, member in value.items():
            yield from leaves(member, f"{path}.{name}" if path else name)
    elif isinstance(value, list) and value and isinstance(value[0], dict):
        for member in value:
            yield from leaves(member, f"{path}.*")
    elif isinstance(value, list) and value and isinstance(value[0], int | float):
        yield f"{path}.*", value[0]
    else:
        yield path, value


def test_every_figure_has_a_definition_and_every_definition_a_figure() -> None:
    names = {metric.name for metric in metrics_of(CampaignFound) if "comparison." not in metric.name}
    seen = set()
    for make in EVERY.values():
        plain = json.loads(msgspec.json.encode(msgspec.structs.replace(make(), comparison=None)))
        seen |= {path for path, value in leaves(plain) if isinstance(value, int | float)}
    assert seen == names


def test_a_b_says_what_a_comparison_of_the_sides_says() -> None:
    said = comparison().comparison
    assert said is not None and said.statement is not None
    assert (said.reference.label, said.candidate.label) == ("before", "after")
    assert said.statement.verdict == "slower"
    assert said.statement.change_ratio == pytest.approx(1.0)


def test_repeats_have_median_range_and_interval() -> None:
    values = [10.0, 11.0, 9.0, 10.5, 9.5]
    one = spread("elapsed", "time.elapsed_seconds", "seconds", values)
    assert (one.median, one.lowest, one.highest) == (10.0, 9.0, 11.0)
    assert one.mean == pytest.approx(statistics.geometric_mean(values))
    # Student's t with 4 degrees of freedom: 2.776 (Abramowitz and Stegun, table 26.10).
    reach = 2.776 * statistics.stdev(map(math.log, values)) / math.sqrt(5)
    assert one.low is not None and one.high is not None
    assert one.high / one.mean == pytest.approx(math.exp(reach), rel=1e-3)
    assert one.low / one.mean == pytest.approx(math.exp(-reach), rel=1e-3)
    few = spread("elapsed", "time.elapsed_seconds", "seconds", values[:4])
    assert few.low is None and few.high is None and few.deviation_ratio is not None


def test_scaling_is_of_throughput_against_the_fewest_nodes() -> None:
    rows = scaling().scaling
    assert [row.nodes for row in rows] == [1, 2, 4]
    assert rows[0].bytes_per_second is not None and rows[2].bytes_per_second is not None
    assert rows[2].speedup == rows[2].bytes_per_second / rows[0].bytes_per_second
    assert [row.efficiency_ratio for row in rows[:2]] == [1.0, 0.5]
    assert rows[2].efficiency_ratio == rows[2].speedup / 4


def test_nodes_with_one_boot_id_are_one_machine() -> None:
    arms = [Arm(name=f"nodes-{count}", workload="tiny", size=count) for count in (1, 2)]
    record = finished(campaign(kind="scaling", arms=arms, slots=back_and_forth(arms, 1)))
    runs = all_runs(record, {"nodes-1": 1.0, "nodes-2": 1.0})
    (node,) = runs[2].facts.nodes
    nodes = [node, msgspec.structs.replace(node, name="node2", same_machine_as=node.name)]
    runs[2] = msgspec.structs.replace(runs[2], facts=msgspec.structs.replace(runs[2].facts, nodes=nodes))
    assert [row.machines for row in campaign_figures(record, runs).scaling] == [1, 1]
    assert [row.machines for row in campaign_figures(record, {1: runs[1]}).scaling] == [1, None]


def test_sessions_are_judged_by_the_runs_stretch() -> None:
    said = search_for_sessions()
    assert said.knee is not None
    assert (said.knee.sessions, said.knee.beyond) == (3, "")
    assert said.knee.low is not None and said.knee.high is not None
    assert said.knee.low <= 3 <= said.knee.high
    lines = dict(head(said))
    assert lines["finding"].startswith("Measured: 3 sessions fit this machine (the 95 % interval holds no ")
    assert lines["limit"] == "with 4: slowdown 2.60 is above 2.00"


def test_jobs_that_failed_are_too_many_whatever_the_stretch() -> None:
    run = compared(1)
    run.summary.jobs.counted = 4
    one = session_run(8, run)
    assert one.verdict == "too many"
    assert one.reasons == ["2 of 6 jobs did not finish with a right answer"]


@pytest.mark.parametrize("kind", EVERY)
def test_every_kind_is_rendered_in_every_form(kind: str) -> None:
    said = EVERY[kind]()
    assert said.kind == kind
    lines = rendered(document(said), "text").splitlines()
    assert lines[0].startswith("campaign   20260101-080000-ab-tiny: ")
    (outcome,) = (line for line in lines if line.startswith("outcome    "))
    assert outcome.startswith("outcome    completed: ") and str(said.finished) in outcome
    assert lines[1].startswith("finding    ")
    assert "## Runs" in rendered(document(said), "markdown")
    page = rendered(document(said), "html")
    assert page.startswith("<!DOCTYPE html>") and "20260101-080000-ab-tiny" in page


def test_a_knee_without_runs_is_not_known() -> None:
    assert knee_of([], SEARCH) is None
    bare = msgspec.structs.replace(search_for_sessions(), session_runs=[], knee=None)
    assert dict(head(bare))["finding"] == "Undecided: no run is finished"
