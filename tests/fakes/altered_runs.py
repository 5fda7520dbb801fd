"""Statistics of an array that cover any run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from mawl.advice.bounds import AnswerBounds
from mawl.advice.judge import judged
from mawl.figures.comparison.sides import ComparedRun
from mawl.figures.series import RunSamples
from mawl.figures.view import RunView
from mawl.records.model.compressibility import (
    Compressibility,
    Estimate,
    FilesLeftOut,
    RealSaving,
    RoleEstimate,
    RoleSaving,
    SampledShare,
    SamplingCost,
    VolumeSaving,
)
from mawl.records.model.node import (
    ArrayInterval,
    ArrayRole,
    ArrayStatistics,
    ArrayVolume,
    ClockFacts,
    Direction,
    IoCap,
    NodeRun,
    StorageRun,
)
from mawl.records.model.records import JobRecord
from mawl.records.model.role_io import RoleIo, Waits
from mawl.records.model.run import RunFacts, VolumeFacts, WorkloadFacts
from mawl.records.model.summary.summary import Judged
from mawl.records.spec.program_options import ROLES, Role
from mawl.records.store.columns import to_table
from tests.fakes.measured_run import (
    AT_REFERENCE,
    IDLE,
    WORKLOAD,
    Rate,
    reading_of,
    sample_rows,
    samples,
    waiting,
)
from tests.fakes.stored_run import START, by_role, facts, job, role_io
from tests.fakes.views import judge, summary_of, typed

EVER = 4e9


def array_statistics() -> ArrayStatistics:
    """Volumes of data and work: 300 reads of 2 ms and 100 writes of 6 ms, 100 and 20 MB/s, all the time."""
    steady = ArrayInterval(
        at=EVER,
        seconds=EVER,
        read_bytes_per_second=100e6,
        written_bytes_per_second=20e6,
        reads_per_second=300.0,
        writes_per_second=100.0,
        read_latency_seconds=0.002,
        write_latency_seconds=0.006,
        hit_ratio=0.8,
        saved_ratio=0.66,
    )
    roles: tuple[ArrayRole, ...] = ("data", "work")
    volumes = [ArrayVolume(array="XIV", name=f"sas{role}01", role=role, intervals=[steady]) for role in roles]
    return ArrayStatistics(files=[], volumes=volumes)


CAP = 40_000_000
WAITS: dict[str, Rate] = {"jobs.on_cpu_seconds": 1.0, "role.work.waited_seconds": 2.5}

DISKS: dict[Role, str] = {"data": "sda", "work": "sdb", "util": "sda"}


def calls_of(record: JobRecord) -> RoleIo:
    """All bytes of a job as calls in one role."""
    own = record.usage
    return role_io(own.own_read_bytes or 0, own.charged_written_bytes or 0)


def capped_run(
    moved: Rate,
    direction: Direction = "write",
    figure: str = "written",
    waits: Mapping[str, Rate] = WAITS,
    *,
    elsewhere: Mapping[str, Rate] | None = None,
    others: Mapping[str, Rate] | None = None,
    unseen: int = 0,
    moves: float = 1.0,
) -> Judged:
    """Judged by a bound that it does not keep: work is on sdb, which has a cap in one direction and moved so
    many bytes per second.

    ``elsewhere`` is what the jobs moved at other devices; ``others`` what other programs moved, at a device
    where the jobs moved nothing, or instead of them; of the four jobs as many are ``unseen`` as it says,
    which moved a part of what the others did (``moves``).
    """
    cap = IoCap(device="sdb", direction=direction, bytes_per_second=CAP, file="/groups/cap", carries=["sdb"])
    volumes = [
        VolumeFacts(
            role=role,
            node="bench1",
            directory=f"/{role}",
            file_system="ext4",
            devices=[disk],
            layers=[disk],
            disks=[disk],
            caps=[cap] if disk == "sdb" else [],
            caps_reason=None if disk == "sdb" else "no cap: none",
        )
        for role, disk in DISKS.items()
    ]
    devices = {f"device.{name}.{way}_bytes": 0.0 for name in ("sda", "sdb") for way in ("read", "written")}
    calls = {f"role.work.{kind}_seconds": float(kind == direction) for kind in ("read", "write", "sync")}
    rates: dict[str, Rate] = {**waits, **calls, **devices, f"device.sdb.{figure}_bytes": moved}
    rates |= elsewhere or {}
    of = facts(workload=WORKLOAD, outcome="completed", volumes=volumes, planned_jobs=AT_REFERENCE)
    alone = reading_of({**rates, **dict.fromkeys(others or {}, 0.0)}, of=of)
    jobs = (
        [replace(one, io=by_role() | {"work": calls_of(one)}) for one in alone.jobs] if others else alone.jobs
    )
    own = Waits(on_cpu_seconds=1.0, run_queue_seconds=1.0)
    for at in range(unseen):
        charged = round((jobs[at].usage.charged_written_bytes or 0) * moves)
        usage = replace(jobs[at].usage, charged_written_bytes=charged)
        jobs[at] = replace(jobs[at], io_remark="static", waits=own, usage=usage)
    if moves < 1.0:
        whole = round(4.0 * (alone.jobs[-1].usage.charged_written_bytes or 0))
        jobs[-1] = replace(jobs[-1], usage=replace(jobs[-1].usage, charged_written_bytes=whole))
    view = RunView(of, jobs, samples(60, {**IDLE, **rates, **(others or {})}))
    return judged(view, AnswerBounds(answer_bound=0.5))


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


def sampled() -> Compressibility:
    """One volume under data and one under work; the estimate for lz4 is missing."""
    return Compressibility(
        created_at=START + 60.0,
        confidence_ratio=0.95,
        half_width_ratio=None,
        seed=7,
        volumes=[_volume("data", 0.9, 0.0, engine=0.0), _volume("work", 0.6, 0.12, engine=0.25)],
        roles=[_role("data", 0.9, 0.0), _role("work", 0.6, 0.12)],
    )


def _estimates(saving: float, half_width: float) -> list[Estimate]:
    return [
        Estimate(
            codec="zstd",
            level=1,
            block_bytes=2**20,
            storage="plain",
            original_bytes=10**9,
            saving_ratio=saving,
            half_width_ratio=half_width,
            confidence_ratio=0.95,
            draws=40,
        ),
        Estimate(
            codec="lz4",
            level=None,
            block_bytes=2**17,
            storage="plain",
            original_bytes=10**9,
            saving_ratio=None,
            half_width_ratio=None,
            confidence_ratio=0.95,
            draws=0,
            reason="needs the package lz4",
        ),
    ]


def _volume(role: Role, saving: float, half_width: float, *, engine: float) -> VolumeSaving:
    return VolumeSaving(
        name=f"/mnt/{role}",
        role=role,
        kind="folder",
        file_system="btrfs",
        size_bytes=10**12,
        used_bytes=4 * 10**11,
        files=12,
        data_bytes=10**9,
        hole_bytes=4096,
        zero_share=SampledShare(ratio=0.01, half_width_ratio=0.02),
        engine_share=SampledShare(ratio=engine, half_width_ratio=0.0),
        estimates=_estimates(saving, half_width),
        real=RealSaving(
            source="btrfs (compsize)", of="/mnt/data", original_bytes=10**9, stored_bytes=2 * 10**8
        )
        if role == "data"
        else None,
        real_reason=None if role == "data" else "not asked while the run went on",
        left_out=FilesLeftOut(links=1, lost_files=1, lost_bytes=100, remarks=["/mnt/data/x: gone"]),
        cost=SamplingCost(read_bytes=10**8, read_ratio=0.1, cpu_seconds=0.5, elapsed_seconds=1.0, draws=40),
    )


def _role(role: Role, saving: float, half_width: float) -> RoleSaving:
    estimates = [
        RoleEstimate(
            codec=one.codec,
            level=one.level,
            block_bytes=one.block_bytes,
            storage=one.storage,
            original_bytes=one.original_bytes,
            saving_ratio=one.saving_ratio,
            half_width_ratio=one.half_width_ratio,
            confidence_ratio=one.confidence_ratio,
            draws=one.draws,
            reason=one.reason,
            spread_ratio=None if one.saving_ratio is None else 0.0,
        )
        for one in _estimates(saving, half_width)
    ]
    return RoleSaving(role=role, volumes=[f"/mnt/{role}"], data_bytes=10**9, estimates=estimates)


def node_run(name: str, gate_after_seconds: float, **fields: object) -> NodeRun:
    clock = ClockFacts(offset_seconds=2.0, error_seconds=0.001, exchanges=16)
    run = NodeRun(
        node=name, run_id=name, workload="nano", sessions=1, jobs=2, outcome="completed", clock=clock,
        gate_after_seconds=gate_after_seconds,
    )  # fmt: skip
    return msgspec.structs.replace(run, **fields)


def on_nodes() -> tuple[RunFacts, list[JobRecord]]:
    runs = [node_run("n1", 0.0), node_run("n2", 0.02)]
    ends = {"n1": 10.0, "n2": 30.0}
    jobs = [
        msgspec.structs.replace(
            job(f"{name.replace('n', 's')}-{number}", 1.0, 5.0),
            node=name,
            started_at=START,
            ended_at=START + end,
        )
        for name, end in ends.items()
        for number in (1, 2)
    ]
    server = StorageRun(node="sto", run_id="sto", devices=["sdb", "sdc"], outcome="completed")
    return facts(node_runs=runs, storage_runs=[server], started_at=START), jobs
