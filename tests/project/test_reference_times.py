"""The table of reference times: made of runs of each program alone, kept as it is read."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from mawl.plan.catalogue import CATALOGUE
from mawl.plan.programs import TABLE, CpuSeconds, Knot, ReferenceTimes, reference_times
from mawl.records.model.records import Usage
from mawl.records.model.run import CacheFacts
from tests.fakes.stored_run import facts, job
from tools import reference_times as tool
from tools.measured import machine_of

START = facts().started_at


def run(
    seconds: float, *, scale: float = 0.02, seed: int = 1, leave: str = "", peak: int = 1, **changes: object
) -> Any:
    """A run of each program alone; all take so many CPU seconds, a fifth of them in the kernel."""
    usage = Usage(user_cpu_seconds=0.8 * seconds, system_cpu_seconds=0.2 * seconds)
    jobs = [
        msgspec.structs.replace(job("s1-1", 0.0, 20.5), program=name, usage=usage)
        for name in CATALOGUE
        if name != leave
    ]
    workload = msgspec.structs.replace(facts().workload, scale=scale, seed=seed, planned_peak_concurrent=peak)
    own = {"cache": CacheFacts(mode="none", input_bytes=1), "workload": workload, **changes}
    return SimpleNamespace(facts=facts(**own), path=Path("runs/one"), job_records=lambda: jobs)


def test_a_knot_has_median_and_range_over_the_seeds() -> None:
    runs = [run(seconds, seed=seed) for seed, seconds in enumerate((3.0, 1.0, 2.00049), 1)]
    found = tool.knot_of([*runs[:2], run(2.00049, seed=3, started_at=START + 60.0)])
    assert (found.scale, found.seeds) == (0.02, 3)
    assert found.programs == dict.fromkeys(CATALOGUE, CpuSeconds(median=2.0, low=1.0, high=3.0))
    assert found.measured_at.startswith("2026-01-01T08:0")
    assert found.measured_at > tool.knot_of(runs).measured_at, "the last of them"


@pytest.mark.parametrize(
    "others", [{"scale": 0.05, "seed": 2}, {"scale": 0.02, "seed": 1}], ids=["scale", "seed"]
)
def test_runs_of_a_knot_have_one_scale_and_different_seeds(others: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="one scale and different seeds"):
        tool.knot_of([run(1.0), run(1.0, **others)])


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"leave": "wide_sort"}, "lacks wide_sort, or"),
        ({"seconds": 0.0}, "lacks census_load, census_load_single, "),
        ({"cache": None}, "lacks nothing, or jobs alone with --cache none"),
        ({"cache": CacheFacts(mode="cold", input_bytes=1)}, "lacks nothing, or jobs alone with --cache none"),
        ({"peak": 2}, "lacks nothing, or jobs alone with --cache none"),
    ],
)
def test_another_run_than_one_of_each_program_alone_is_refused(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=f"runs/one: {said}"):
        tool.seconds_of(run(**{"seconds": 1.0, **changes}))


def test_a_table_has_the_knots_in_order_and_one_machine() -> None:
    runs = [run(2.0, scale=0.05), run(1.0), run(3.0, seed=2)]
    table = tool.table_of(runs, 7, ["wide_sort"])
    assert [(knot.scale, knot.seeds) for knot in table.knots] == [(0.02, 2), (0.05, 1)]
    assert table.knots[0].programs["wide_sort"].median == 2.0
    assert (table.version, table.cache, table.provisional) == (7, "none", ["wide_sort"])
    other = msgspec.structs.replace(facts().nodes[0], cores=99)
    with pytest.raises(ValueError, match=r"several machines: .*99 cores"):
        tool.table_of([*runs, run(1.0, seed=3, nodes=[other])], 7)


def small(*scales: float, seconds: float = 1.0, machine: str = "one", version: int = 1) -> ReferenceTimes:
    """A table of one program."""
    of = CpuSeconds(median=seconds, low=seconds, high=seconds)
    return msgspec.structs.replace(
        reference_times(),
        version=version,
        machine=machine,
        knots=[Knot(scale=scale, measured_at="monday", seeds=1, programs={"a": of}) for scale in scales],
    )


def test_a_knot_that_is_measured_again_takes_the_place_of_its_own() -> None:
    stored = msgspec.structs.replace(small(0.02, 0.05), provisional=["wide_sort"])
    found = tool.merged(stored, small(0.01, 0.05, seconds=2.0, version=2))
    medians = [(knot.scale, knot.programs["a"].median) for knot in found.knots]
    assert medians == [(0.01, 2.0), (0.02, 1.0), (0.05, 2.0)]
    assert found.version == 2
    assert found.provisional == ["wide_sort"], "at the other knots it is still to be measured"
    with pytest.raises(ValueError, match="the table is of one, these runs are of two"):
        tool.merged(stored, small(0.01, machine="two"))


def test_the_kept_table_is_as_it_is_written_and_read_as_it_was() -> None:
    assert TABLE.read_text() == tool.written(reference_times())
    hostile = msgspec.structs.replace(small(0.02, 0.05), machine='a ":," b')
    assert msgspec.json.decode(tool.written(hostile), type=ReferenceTimes) == hostile


def test_programs_that_changed_are_named_in_the_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "table.json"
    own.write_text(TABLE.read_text())
    monkeypatch.setattr(tool, "TABLE", own)
    for names in (["wide_sort", "forecasting"], []):
        assert tool.main(["--provisional", *names]) == 0
        kept = msgspec.json.decode(own.read_bytes(), type=ReferenceTimes)
        assert kept == msgspec.structs.replace(reference_times(), provisional=names)


def test_runs_of_one_knot_are_merged_into_the_table_as_its_next_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "table.json"
    own.write_text(tool.written(small(*tool.SCALES, machine=machine_of(facts()))))
    monkeypatch.setattr(tool, "TABLE", own)
    monkeypatch.setattr(tool, "open_run", lambda path: run(5.0))
    assert tool.main(["--runs", "one"]) == 0
    kept = msgspec.json.decode(own.read_bytes(), type=ReferenceTimes)
    assert (kept.version, [knot.scale for knot in kept.knots]) == (2, list(tool.SCALES))
    assert kept.knots[2].programs["wide_sort"].median == 5.0
    assert kept.knots[3].programs == {"a": CpuSeconds(median=1.0, low=1.0, high=1.0)}
