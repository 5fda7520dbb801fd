"""A run of two clients over links of 10 MB/s, and a watched storage server with one device."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from mawl.figures.comparison.sides import ComparedRun
from mawl.figures.series import RunSamples
from mawl.records.model.node import StorageRun
from mawl.records.model.records import JobRecord
from mawl.records.model.run import RunFacts, VolumeFacts, WorkloadFacts
from mawl.records.spec.program_options import ROLES
from mawl.records.store.columns import to_table
from tests.fakes.clustered_run import node_run
from tests.fakes.measured_run import AT_REFERENCE, IDLE, Rate, sample_rows, waiting
from tests.fakes.stored_run import facts, job
from tests.fakes.views import judge, summary_of, typed

SECONDS = 60
LINK = 10e6
NODES = ("n1", "n2")
SERVER = "sto"


def client(received: Rate, *, waited: float = 1.8, sent: Rate = 0.5e6) -> dict[str, Rate]:
    """A node of two jobs that are blocked nearly always, in data, and what its link carries."""
    return {
        **IDLE,
        "jobs_running": 2.0,
        "jobs.on_cpu_seconds": 2.0 - waited,
        "role.data.waited_seconds": waited,
        "network.eth0.received_bytes": received,
        "network.eth0.sent_bytes": sent,
        "network.lo.received_bytes": 1e9,
    }


def server(read: Rate, *, busy: float = 0.02, written: Rate = 0.1e6) -> dict[str, Rate]:
    """A storage server's device, which a throttle below its queue lets look idle."""
    return {
        "device.sdb.reads": 100.0,
        "device.sdb.writes": 1.0,
        "device.sdb.read_bytes": read,
        "device.sdb.written_bytes": written,
        "device.sdb.read_seconds": 0.2,
        "device.sdb.write_seconds": 0.0,
        "device.sdb.busy_seconds": busy,
        "network.eth0.received_bytes": 1e6,
        "network.eth0.sent_bytes": read,
        "host.cpu_user_seconds": 2.0,
        "host.cpu_idle_seconds": 2.0,
    }


def fabric_facts(**changes: Any) -> RunFacts:
    volumes = [
        VolumeFacts(role=role, node=node, directory=f"/{role}", file_system="fuse.glusterfs", network=True)
        for node in NODES
        for role in ROLES
    ]
    watched = StorageRun(node=SERVER, run_id="c-sto", devices=["sdb"], outcome="completed")
    runs = [node_run(name, 0.0) for name in NODES]
    some = {
        "planned_jobs": AT_REFERENCE,
        "volumes": volumes,
        "node_runs": runs,
        "storage_runs": [watched],
        "link_bytes_per_second": LINK,
    }
    workload = WorkloadFacts(name="2xfour", title="", sessions=4, jobs=4, scale=0.05, scale_name="standard")
    return facts(**{"outcome": "completed", "outcome_reason": None, "workload": workload, **some, **changes})


def fabric_samples(of: RunFacts, rates: Mapping[str, Mapping[str, Rate]]) -> RunSamples:
    """Rates by node, the server among them."""
    rows = [row for node, own in rates.items() for row in sample_rows(SECONDS, own, node=node)]
    return RunSamples(to_table("samples", rows), [run.node for run in of.storage_runs])


def fabric_jobs() -> list[JobRecord]:
    """Two jobs a node, over the whole run."""
    return [
        msgspec.structs.replace(job(f"s{number}-1", 0.0, float(SECONDS)), node=NODES[number % 2])
        for number in range(1, 5)
    ]


def fabric_summary(rates: Mapping[str, Mapping[str, Rate]], **changes: Any) -> dict[str, Any]:
    """The judged summary of such a run."""
    of = fabric_facts(**changes)
    jobs, some = waiting(fabric_jobs(), *rates.values()), fabric_samples(of, rates)
    return judge(of, jobs, summary_of(of, jobs, samples=some), some)


def fabric_compared(
    rates: Mapping[str, Mapping[str, Rate]], *, slower: float = 1.0, **changes: Any
) -> ComparedRun:
    """The same as a comparison reads it; jobs were blocked in data ``slower`` times half of their time."""
    summary = fabric_summary(rates, **changes)
    half = summary["time"]["real_time_seconds"] / 2.0
    summary["wait"]["blocked_seconds"] = {"data": slower * half, "work": 0.0, "util": 0.0, "other": 0.0}
    return ComparedRun(facts=fabric_facts(**changes), summary=typed(summary), jobs={})
