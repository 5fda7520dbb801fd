"""What other programs cost the jobs, on systems whose answer is known."""

from __future__ import annotations

import pytest

from mawl.figures.others import (
    CONFINED,
    SEVERAL,
    other_programs_of,
    waiting_for_foreign_bytes,
    waiting_for_others,
)
from mawl.records.model.node import OtherProgram
from mawl.records.model.run import NodeFacts, RunFacts
from tests.fakes.host_run import host_facts
from tests.fakes.measured_run import Rate, four_jobs, reading_of
from tests.fakes.stored_run import facts


def shared(jobs: float, others: float, processors: float) -> dict[str, Rate]:
    """Jobs and tasks of others that all want a processor all the time, and get equal parts of them."""
    part = min(processors / (jobs + others), 1.0)
    busy = part * (jobs + others)
    return {
        "jobs_running": jobs,
        "jobs.on_cpu_seconds": jobs * part,
        "jobs.run_queue_seconds": jobs * (1.0 - part),
        "mawl_cpu_seconds": 0.0,
        "host.cpu_user_seconds": busy,
        "host.cpu_idle_seconds": processors - busy,
    }


@pytest.mark.parametrize("jobs", [1, 2, 4, 9])
@pytest.mark.parametrize("others", [0, 1, 2, 7])
@pytest.mark.parametrize("processors", [1, 2, 8])
def test_the_cost_is_the_time_that_the_jobs_would_not_take_alone(
    jobs: int, others: int, processors: int
) -> None:
    found, reason = waiting_for_others(reading_of(shared(jobs, others, processors)))
    seconds_with = max((jobs + others) / processors, 1.0)
    seconds_without = max(jobs / processors, 1.0)
    lost = jobs * (1.0 - seconds_without / seconds_with)
    assert reason is None and found == pytest.approx([lost] * len(found), abs=1e-9)


def test_where_processors_idle_others_delay_nobody() -> None:
    rates = shared(2, 2, 8) | {"jobs.run_queue_seconds": 0.5, "jobs_running": 2.5}
    assert set(waiting_for_others(reading_of(rates))[0]) == {0.0}


NODE = facts().nodes[0]


@pytest.mark.parametrize(
    ("nodes", "without", "reason"),
    [
        ([NodeFacts(name="bench1", logical_cpus=8, cpus_used=[0])], " ", CONFINED),
        ([NodeFacts(name="bench1", logical_cpus=8, cpu_quota=1.5)], " ", CONFINED),
        ([NODE, NodeFacts(name="bench2")], " ", SEVERAL),
        ([NODE], "mawl_cpu", "the samples do not say who used the processors"),
        ([NODE], "jobs.on_cpu", "the samples do not say who used the processors"),
    ],
)
def test_where_the_cost_is_not_known_it_is_not_0(nodes: list[NodeFacts], without: str, reason: str) -> None:
    reading = reading_of(shared(4, 2, 2), of=facts(nodes=nodes), without=without)
    found, why = waiting_for_others(reading)
    assert (set(found), why) == ({None}, reason)


def at_device(read: float, written: float) -> dict[str, Rate]:
    return {"device.sda.read_bytes": read, "device.sda.written_bytes": written}


@pytest.mark.parametrize(
    ("moved", "own", "part"),
    [
        ((20e6, 10e6), (20e6, 10e6), 0.0),
        ((20e6, 10e6), (18e6, 10e6), 0.0),
        ((20e6, 80e6), (20e6, 10e6), 0.7),
        ((2e6, 4e6), (2e6, 0.0), 0.0),
    ],
    ids=["all is the jobs'", "as much as journals make", "others wrote", "too little to matter"],
)
def test_the_part_of_waiting_that_is_for_others_is_their_part_of_the_bytes(
    moved: tuple[float, float], own: tuple[float, float], part: float
) -> None:
    jobs = reading_of(at_device(*own), of=host_facts()).jobs
    reading = reading_of(at_device(*moved), of=host_facts(), jobs=jobs, alone=False)
    assert waiting_for_foreign_bytes(reading, "work") == pytest.approx(part, abs=0.001)


def test_bytes_that_are_not_known_are_no_cost_of_0() -> None:
    reading = reading_of(of=host_facts(), jobs=four_jobs(60.0), without="device.", alone=False)
    assert waiting_for_foreign_bytes(reading, "work") is None


def program(pid: int, seconds: float, **more: object) -> OtherProgram:
    values: dict[str, object] = {"node": "n", "pid": pid, "name": "a", "cpu_seconds": seconds, **more}
    return OtherProgram(**values)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("of", "pids", "reason"),
    [
        (facts(other_programs=[]), [], None),
        (
            facts(
                other_programs=[
                    program(1, 30.0, kernel_thread=True),
                    program(2, 1.0),
                    program(3, 0.0, read_bytes=2 * 10**8),
                ],
                missing={"other_programs": "hidden"},
            ),
            [3, 2, 1],
            "hidden",
        ),
        (facts(missing={"other_programs": "hidden"}), [], "hidden"),
        (
            facts(format_version="2.7"),
            [],
            "format 2.7 does not record other programs (mawl before format 2.8)",
        ),
        (facts(format_version="2.10"), [], "the run ended before it recorded them"),
        (facts(kind="imported"), [], "only measured runs know which other programs ran"),
    ],
)
def test_the_largest_come_first_and_what_was_not_seen_has_its_reason(
    of: RunFacts, pids: list[int], reason: str | None
) -> None:
    programs, why = other_programs_of(of)
    assert ([one.pid for one in programs], why) == (pids, reason)
