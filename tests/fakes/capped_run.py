"""A run with the role work on a device that a control group caps."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from mawl.advice.bounds import AnswerBounds
from mawl.advice.judge import judged
from mawl.figures.view import RunView
from mawl.records.model.node import Direction, IoCap
from mawl.records.model.records import JobRecord
from mawl.records.model.role_io import RoleIo, Waits
from mawl.records.model.run import VolumeFacts
from mawl.records.model.summary.summary import Judged
from mawl.records.spec.program_options import Role
from tests.fakes.measured_run import AT_REFERENCE, IDLE, WORKLOAD, Rate, reading_of, samples
from tests.fakes.stored_run import by_role, facts, role_io

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
