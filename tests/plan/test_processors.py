"""Processors from text, and the threads that each job gets of them."""

from __future__ import annotations

import os

import msgspec
import pytest

from mawl.base.errors import UsageError
from mawl.plan.output import plan_toml
from mawl.plan.run_plan import parse_cores, plan_of, processors_of, with_threads
from mawl.records.spec.program_options import AUTO, Options, parse_options
from mawl.records.spec.run_spec import NodesSpec, RunSpec
from mawl.records.spec.sources import as_command

USABLE = sorted(os.sched_getaffinity(0))
AUTOMATIC = parse_options({"cpucount": "auto"}, where="here")


def test_cores_by_count_and_by_list() -> None:
    assert parse_cores("1") == (USABLE[0],)
    assert parse_cores(f"{USABLE[-1]},{USABLE[0]}") == tuple(sorted({USABLE[0], USABLE[-1]}))
    assert parse_cores(f"{USABLE[0]}-{USABLE[0]}") == (USABLE[0],)
    assert processors_of(None) == tuple(USABLE)
    assert processors_of("1") == (USABLE[0],)


@pytest.mark.parametrize("bad", ["0", "100000", "a", "1-", "3-1", "-1", "1,,2", "99999-99999", ""])
def test_bad_cores_are_refused_in_one_sentence(bad: str) -> None:
    with pytest.raises(UsageError, match="--cores"):
        parse_cores(bad)


@pytest.mark.parametrize(("processors", "threads"), [(1, 1), (7, 1), (8, 2), (11, 2), (64, 16)])
def test_jobs_get_processors_by_sessions(processors: int, threads: int) -> None:
    """Of four sessions, each job gets a fourth, at least one; a number that was given stays."""
    plan = plan_of(RunSpec(workload="nano", nodes=NodesSpec(cluster="here"), options=AUTOMATIC))
    assert {job.options.cpucount for job in plan.jobs()} == {AUTO}
    assert 'cpucount = "auto"' in plan_toml(plan), "a plan of 0 threads would be refused"
    known = with_threads(plan, processors)
    assert {job.options.cpucount for job in known.jobs()} == {known.options.cpucount} == {threads}
    given = msgspec.structs.replace(plan, options=Options(cpucount=3))
    assert with_threads(given, processors).options.cpucount == 3
    assert with_threads(msgspec.structs.replace(plan, sessions=()), 6).options.cpucount == 6


def test_a_plan_for_this_machine_says_the_number() -> None:
    spec = RunSpec(workload="nano", cores="1", options=AUTOMATIC)
    assert {job.options.cpucount for job in plan_of(spec).jobs()} == {1}
    assert as_command(spec)[-2:] == ["--option", "cpucount=auto"]
