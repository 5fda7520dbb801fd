"""Memory's part in what jobs were blocked for: what was read again that twice the memory would have kept."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from mawl.advice.limit.resources import lost_bytes, memory_bytes
from mawl.advice.limit.verdict import limit_of
from mawl.figures.view import RunView
from mawl.records.model.records import JobRecord
from mawl.records.model.run import CacheFacts
from tests.fakes.measured_run import Rate, reading_of
from tests.fakes.stored_run import by_role, facts, job, role_io, usage
from tests.fakes.views import plain

GIB = 2**30

READING: dict[str, Rate] = {
    "jobs.on_cpu_seconds": 1.0,
    "host.cpu_user_seconds": 1.0,
    "host.cpu_idle_seconds": 7.0,
    "role.work.waited_seconds": 3.0,
    "role.work.read_seconds": 2.7,
    "role.work.write_seconds": 0.3,
    "host.cache_reread_bytes": 90e6,
    "host.cache_evicted_bytes": 90e6,
}
"""Four jobs that are blocked in I/O of work, most of it in reads, all of which memory had held before."""


def reading(
    changes: dict[str, Rate] | None = None, memory: int = GIB, jobs: list[JobRecord] | None = None
) -> RunView:
    """Of a run of one minute, on a machine of so much memory, whose jobs read 6.4 GB of work by calls."""
    found = reading_of(READING | (changes or {}), jobs=jobs)
    nodes = [msgspec.structs.replace(node, memory_limit_bytes=memory) for node in found.facts.nodes]
    io = by_role() | {"work": role_io(1_600_000_000, 120_000_000)}
    every = [msgspec.structs.replace(one, io=io) for one in found.jobs]
    return RunView(msgspec.structs.replace(found.facts, nodes=nodes), every, found.samples)


def limit(of: RunView) -> dict[str, Any]:
    return plain(limit_of(of, {}, 0.5))


def test_what_memory_had_held_and_would_keep_is_memory_by_the_time_in_reads() -> None:
    block = limit(reading())
    assert block["verdict"] == "memory"
    assert block["losses"]["memory"] == pytest.approx(0.75 * 0.9)
    assert block["losses"]["storage"] == pytest.approx(0.75 * 0.1)
    told = " ".join(line["sentence"] for line in block["evidence"] if line["kind"] == "evidence")
    assert "90.0 MB/s were read again" in told and "1.00 GiB more memory would have kept it" in told


UNLIMITED = msgspec.structs.replace(facts().nodes[0], memory_bytes=GIB)
NONE = CacheFacts(mode="none", input_bytes=0)
FEW = by_role() | {"work": role_io(500_000_000, 0)}


@pytest.mark.parametrize(
    ("rates", "of_run", "of_jobs"),
    [
        ({}, {"cache": NONE}, {}),
        ({"group.memory_bytes": 0.85 * GIB}, {}, {}),
        ({"host.cpu_user_seconds": 2.0}, {"nodes": [UNLIMITED]}, {}),
        ({"device.sda.read_bytes": 120e6}, {}, {"usage": usage(59.5, 15.0, 100)}),
        ({}, {}, {"io": FEW}),
        ({}, {}, {"direct_read_bytes": 1_500_000_000}),
    ],
    ids=[
        "cache none",
        "memory was free",
        "others used processors",
        "others read",
        "the jobs read less",
        "their reads were direct",
    ],
)
def test_rereads_that_cannot_be_the_jobs_are_no_evidence(
    rates: dict[str, Rate], of_run: dict[str, Any], of_jobs: dict[str, Any]
) -> None:
    found = reading(rates)
    of = msgspec.structs.replace(found.facts, **of_run)
    jobs = [msgspec.structs.replace(one, **of_jobs) for one in found.jobs]
    block = limit(RunView(of, jobs, found.samples))
    assert block["losses"]["memory"] == 0.0 and "memory" not in (block["verdict"], block["second"])
    assert not any("read again" in line["sentence"] for line in block["evidence"])


def test_memory_that_the_page_cache_filled_was_not_free() -> None:
    """Others that use processors cannot make a group give up pages."""
    block = limit(reading({"group.memory_bytes": 0.95 * GIB, "host.cpu_user_seconds": 2.0}))
    assert (block["verdict"], block["headroom"]["memory_ratio"]) == ("memory", 0.0)


def test_a_first_reading_is_storage() -> None:
    block = limit(reading({"host.cache_reread_bytes": 0.0}))
    assert (block["verdict"], block["losses"]["memory"]) == ("storage", 0.0)


def test_files_beyond_twice_the_memory_are_storage_and_the_rereads_support_it() -> None:
    # Each second 200 MB leave memory and only 90 MB come back.
    block = limit(reading({"host.cache_evicted_bytes": 200e6}, memory=100 * 2**20))
    assert (block["verdict"], block["role"]) == ("storage", "work")
    support = [line["sentence"] for line in block["evidence"] if line["kind"] == "support"]
    assert any("need not have kept it" in sentence for sentence in support)


def test_inputs_evicted_before_the_run_are_no_evidence() -> None:
    of_data = {name.replace("work", "data"): rate for name, rate in READING.items() if "work" in name}
    found = limit(reading({**of_data, "role.work.waited_seconds": 0.0, "role.work.read_seconds": 0.0}))
    assert (found["verdict"], found["role"]) == ("storage", "data")


def test_a_kernel_that_does_not_count_rereads_leaves_it_to_pressure() -> None:
    found = limit(reading_of({name: rate for name, rate in READING.items() if "cache" not in name}))
    assert found["verdict"] == "storage"
    without = reading_of(READING, without="host.cache_evicted")
    assert lost_bytes(without.active[0], without) is None


def test_what_is_lost_counts_from_the_first_start_of_the_jobs_that_run() -> None:
    jobs = [job("s1-1", 0.0, 30.0), job("s2-1", 30.0, 60.0), job("s3-1", 30.0, 60.0), job("s4-1", 30.0, 60.0)]
    of = reading({"host.cache_evicted_bytes": 190e6}, jobs=jobs)
    assert lost_bytes(of.moments[5], of) == pytest.approx(30 * 100e6)
    assert lost_bytes(of.moments[7], of) == pytest.approx(10 * 100e6)


def test_memory_is_that_of_the_limit_where_there_is_one() -> None:
    assert memory_bytes(reading(memory=GIB)) == GIB
    found = reading_of()
    assert memory_bytes(found) == found.facts.nodes[0].memory_bytes
