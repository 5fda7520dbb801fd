"""Every figure is defined once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from mawl.figures.job_sums import generalised
from mawl.lab.experiment.records import LabReport
from mawl.measure.accounting import ProcessSampler
from mawl.records.model.fields import metrics_of, places
from mawl.records.model.metrics import (
    METRICS,
    ROLE_COLUMNS,
    ROLE_SERIES,
    SAMPLE_METRICS,
    USAGE_METRICS,
    VOLUME_SERIES,
)
from mawl.records.model.records import FIELDS, Usage
from mawl.records.model.role_io import IO_FIELDS, WAIT_FIELDS, Waits
from mawl.records.model.run import Alone
from mawl.records.model.signature import SIGNATURE
from mawl.run.runner.sampling import Sampling
from mawl.tuning.changes import Changes
from mawl.tuning.records import SettingsCheck
from mawl.tuning.search.records import SearchAnswer
from mawl.whatif.placement.demand import PlacementAdvice
from mawl.whatif.records import SimulationAnswer
from mawl.whatif.size.question import PrintedSize
from tests.advice.test_smt import judged
from tests.fakes.altered_runs import CAP, array_statistics, capped_run, on_nodes, sampled
from tests.fakes.host_run import PARTS, apart_facts, host_facts
from tests.fakes.measured_run import IDLE, samples
from tests.fakes.probes import disk, probe
from tests.fakes.stored_run import facts, jobs
from tests.fakes.views import judge, plain, summary_of

ROOT = Path(__file__).parents[3]
SPREAD = ("real_time", "await", "latency", "blocked")
"""Durations whose mean, peak, median and so on have names of their own."""
NAMES = [metric.name for metric in METRICS]


def leaves(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The paths of everything in a summary that holds no more of it."""
    records = isinstance(value, list) and any(isinstance(member, dict) for member in value)
    members = value.items() if isinstance(value, dict) else enumerate(value) if records else ()
    if not members:
        yield path
    for name, member in members:
        yield from leaves(member, (*path, str(name)))


def judged_summary() -> dict[str, Any]:
    """The whole summary of a run with samples of everything, and a time alone."""
    alone = [Alone(program="wide_sort", jobs=["s1-1"], real_time_seconds=10.0, run_id="solo")]
    of = msgspec.structs.replace(host_facts(), compressibility=sampled(), alone=alone)
    some = samples(60, IDLE | PARTS)
    found = summary_of(of, jobs(), samples=some, probe=probe(disk()), arrays=array_statistics())
    return judge(of, jobs(), found, some)


def test_every_usage_field_has_an_entry_and_none_is_made_up() -> None:
    assert [metric.name for metric in USAGE_METRICS] == list(FIELDS)


def test_every_figure_of_a_role_and_every_wait_has_an_entry() -> None:
    found = {metric.name for metric in ROLE_COLUMNS}
    assert found >= {f"ROLE_{name}" for name in IO_FIELDS} | set(WAIT_FIELDS)


def test_every_leaf_of_the_summary_has_an_entry() -> None:
    summary = judged_summary()
    named = {
        f"{path[0]}.*" if path[0] in ("missing", "remarks") else ".".join(generalised(path))
        for path in leaves(summary)
    }
    assert named - set(NAMES) == set()


def test_no_entry_is_about_nothing() -> None:
    series = {metric.name for metric in (*ROLE_SERIES, *VOLUME_SERIES)}
    in_summary = {name for name in NAMES if "." in name} - series
    whole = judged_summary()
    bare = {name: rate for name, rate in IDLE.items() if not name.startswith("device.")}
    few = summary_of(facts(), jobs(), samples=samples(60, bare))
    uncounted = [msgspec.structs.replace(job, io=None, waits=Waits()) for job in jobs()]
    some_waits = Waits(on_cpu_seconds=1.0)
    unseen = summary_of(facts(), [msgspec.structs.replace(job, waits=some_waits) for job in uncounted])
    nothing = summary_of(facts(outside_cpu=None), uncounted)
    apart = summary_of(apart_facts(), jobs(), samples=samples(60, IDLE))
    several = summary_of(*on_nodes())
    first, *others = jobs()
    earlier = msgspec.structs.replace(first, started_at=1e9, ended_at=1e9 + 60)
    busy = judged({}, smt="off")
    nights = summary_of(facts(kind="imported"), [earlier, *others], samples=samples(60, IDLE))
    powered = summary_of(facts(), jobs(), samples=samples(60, IDLE | {"energy.package-0.joules": 50.0}))
    capped = plain(capped_run(CAP))
    waited, untold = (
        summary_of(
            facts(),
            [
                msgspec.structs.replace(job, submitted_at=job.started_at, queue_seconds=queue)
                for job in jobs()
                if job.started_at is not None
            ],
        )
        for queue in (60.0, None)
    )
    unwaited = judge(facts(), uncounted, nothing)
    every = (whole, few, nothing, unwaited, unseen, apart, several, nights, busy, powered, capped)
    known = {
        f"{path[0]}.*" if path[0] in ("missing", "remarks") else ".".join(generalised(path))
        for summary in (*every, waited, untold)
        for path in leaves(summary)
    }
    rows = {f"signature.{row.name}" for row in SIGNATURE}
    assert in_summary - known == rows


def test_names_are_unique_and_carry_their_unit() -> None:
    assert len(NAMES) == len(set(NAMES))
    for metric in METRICS:
        last = metric.name.split(".")[-1]
        seconds = last in ("seconds", "seconds_near_peak") or last.endswith("_seconds")
        of_seconds = any(f"{part}_seconds." in metric.name for part in SPREAD)
        assert (metric.unit == "seconds") == (seconds or of_seconds)
        if metric.unit == "bytes":
            assert last.endswith("_bytes") or "_request_bytes." in metric.name


def test_every_series_of_the_samples_has_an_entry() -> None:
    class Kept:
        def __init__(self) -> None:
            self.series: set[str] = set()

        def figures(self, _node: str, _at: float, figures: Mapping[str, float]) -> None:
            self.series |= figures.keys()

    kept = Kept()
    Sampling("bench1", ProcessSampler()).tick(0.0, 0.0, Usage(), kept)  # type: ignore[arg-type]
    assert kept.series - set(NAMES) == set()
    assert {metric.name for metric in SAMPLE_METRICS} <= kept.series
    for metric in USAGE_METRICS:
        assert ("in samples cumulative, the sum over all jobs so far" in metric.definition) == (
            metric.name in kept.series
        )


ANSWERS = (Changes, SettingsCheck, LabReport, PlacementAdvice, PrintedSize, SearchAnswer, SimulationAnswer)
ANSWER_METRICS = tuple(metric for answer in ANSWERS for metric in metrics_of(answer))


@pytest.mark.parametrize("answer", ANSWERS)
def test_every_figure_of_an_answer_is_defined_once(answer: type) -> None:
    every = list(places(answer))
    names = [one.name for one in every if one.figure.definition]
    assert len(set(names)) == len(names)
    figures = [one for one in every if one.kind in (int, float, bool)]
    assert figures and not [
        one.name for one in figures if not one.figure.definition and one.name.removesuffix(".*") not in names
    ]


@pytest.mark.parametrize("answer", [answer for answer in ANSWERS if answer is not LabReport])
def test_every_word_of_an_answer_is_defined(answer: type) -> None:
    every = {one.name: one for one in places(answer)}
    words = [name for name, one in every.items() if one.kind is str and not one.figure.definition]
    # Members of lists and records that have a definition as a whole need none.
    assert not [name for name in words if not every[name.rpartition(".")[0]].figure.definition]


def test_a_source_in_the_documents_is_there_with_its_heading() -> None:
    for metric in (*METRICS, *ANSWER_METRICS):
        for source in metric.source.split("; "):
            page, _, heading = source.partition(", ")
            assert "DESIGN.md" not in source
            if page.startswith("docs/"):
                text = (ROOT / page).read_text()
                assert not heading or f"## {heading}\n" in text, source


def test_definitions_are_one_sentence_with_a_source() -> None:
    for metric in (*METRICS, *ANSWER_METRICS):
        assert metric.definition.endswith(".") or metric.definition.endswith(".)"), metric.name
        assert metric.source
