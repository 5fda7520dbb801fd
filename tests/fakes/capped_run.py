"""A run with the role work on a device that a control group caps."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from mawl.advice.judge import judged
from mawl.records.model.node import Direction, IoCap
from mawl.records.model.role_io import Waits
from mawl.records.model.run import VolumeFacts
from mawl.records.model.summary.summary import Judged
from mawl.records.spec.program_options import Role
from tests.fakes.measured_run import WORKLOAD, Rate, four_jobs, reading_of
from tests.fakes.stored_run import facts

CAP = 40_000_000
WAITS: dict[str, Rate] = {"jobs.on_cpu_seconds": 1.0, "role.work.waited_seconds": 2.5}

DISKS: dict[Role, str] = {"data": "sda", "work": "sdb", "util": "sda"}


def capped_run(
    moved: Rate,
    direction: Direction = "write",
    figure: str = "written",
    waits: Mapping[str, Rate] = WAITS,
    unseen: int = 0,
) -> Judged:
    """Judged: work is on sdb, which has a cap in one direction and moved so many bytes per second.

    Of the four jobs as many are ``unseen`` as it says.
    """
    cap = IoCap(device="sdb", direction=direction, bytes_per_second=CAP, file="/groups/cap", carries=["sdb"])
    volumes = [
        VolumeFacts(
            role=role,
            node="bench1",
            directory=f"/{role}",
            devices=[disk],
            layers=[disk],
            disks=[disk],
            caps=[cap] if disk == "sdb" else [],
            caps_reason=None if disk == "sdb" else "no cap: none",
        )
        for role, disk in DISKS.items()
    ]
    devices = {f"device.{name}.{way}_bytes": 0.0 for name in ("sda", "sdb") for way in ("read", "written")}
    rates: dict[str, Rate] = {**waits, **devices, f"device.sdb.{figure}_bytes": moved}
    of = facts(workload=WORKLOAD, outcome="completed", volumes=volumes)
    jobs, own = four_jobs(60.0), Waits(on_cpu_seconds=1.0, run_queue_seconds=1.0)
    for at in range(unseen):
        jobs[at] = replace(jobs[at], io_remark="static", waits=own)
    return judged(reading_of(rates, of=of, jobs=jobs))
