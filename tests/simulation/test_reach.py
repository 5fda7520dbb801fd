"""What reaches the devices at a memory: laws, and the figures of a run that was made."""

from __future__ import annotations

import re
import statistics

import pytest

from mawl.plan.catalogue import CATALOGUE
from mawl.plan.workload import Plan, load_workload, make_plan
from mawl.records.spec.program_options import MIB, Options
from mawl.simulation.page_cache import WriteBack
from mawl.simulation.reach import DeviceReach, reach_of
from tools import mix

GIB = 2.0**30


def plan(workload: str = "mixed20", scale: float = 0.02, options: Options | None = None) -> Plan:
    spec, where = load_workload(workload)
    return make_plan(spec, where=where, catalogue=CATALOGUE, scale=scale, options=options)


def ratios(found: DeviceReach) -> tuple[float, float]:
    assert found.read_ratio is not None and found.write_ratio is not None
    return found.read_ratio, found.write_ratio


def test_the_mean_of_runs_that_were_made_is_predicted_within_a_tenth() -> None:
    """The runs of docs/reference/mix.json that were limited to 3 GiB: mixed20 at 0.02, started cold."""
    runs = [run for run in mix.load() if "--memory-limit" in run.command]
    assert len(runs) == 3 and all("3GiB" in run.command for run in runs)
    lines = [next(line for line in run.head if line.startswith("reach ")) for run in runs]
    ratios_ = [[int(figure) / 100 for figure in re.findall(r"(\d+) %", line)] for line in lines]
    measured = [statistics.fmean(ways) for ways in zip(*ratios_, strict=True)]
    options = Options(memsize_bytes=320 * MIB, sortsize_bytes=32 * MIB)
    predicted = ratios(reach_of(plan(options=options), 3 * GIB, stretch=10.0))
    assert predicted == pytest.approx(measured, abs=0.1)
    for ways in ratios_:
        assert predicted == pytest.approx(ways, abs=0.12)


def test_more_memory_never_lets_more_through_and_all_of_it_only_the_first_touch() -> None:
    steps = [ratios(reach_of(plan(), gib * GIB)) for gib in (2, 8, 32, 256)]
    reads = [read for read, _ in steps]
    assert reads == sorted(reads, reverse=True)
    assert reads[0] > 0.9
    assert reads[-1] < 0.3


def test_slower_jobs_write_more_back_and_writing_through_writes_all() -> None:
    quick, slow = (ratios(reach_of(plan(), 256 * GIB, stretch=stretch))[1] for stretch in (1.0, 10.0))
    assert quick < slow < 1.0
    assert ratios(reach_of(plan(), 256 * GIB, write_back=WriteBack(through=True)))[1] == 1.0


def test_direct_requests_pass_the_cache_by() -> None:
    def reads(direct: str) -> float:
        options = Options(direct=direct)  # type: ignore[arg-type]
        return ratios(reach_of(plan(options=options), 256 * GIB))[0]

    assert reads("auto") > reads("no") + 0.05


def test_programs_that_declare_no_bytes_have_no_reach_and_are_named() -> None:
    catalogue = {name: program for name, program in CATALOGUE.items() if name != "wide_sort"}
    found = reach_of(plan(), GIB, catalogue=catalogue)
    assert found == DeviceReach(
        read_ratio=None, write_ratio=None, reason="the bytes of wide_sort are not declared"
    )


def test_requests_one_at_a_time_take_longer_so_more_is_written_back() -> None:
    def written(queue_depth: int) -> float:
        options = Options(direct="no", queue_depth=queue_depth)
        return ratios(reach_of(plan(options=options), 256 * GIB, stretch=10.0))[1]

    assert written(1) > written(8)
