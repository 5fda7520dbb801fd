"""Qualifications with answers of every kind, made from evidence."""

from __future__ import annotations

import msgspec

from mawl.advice.qualification.answer import answer_from
from mawl.advice.qualification.evidence import LONG_RUN, Evidence, NodesEvidence, Others, small_mix
from mawl.advice.qualification.fits import MORE_MEMORY
from mawl.advice.qualification.machine import NO_PROBE, limit_by
from mawl.figures.statistics import Interval
from mawl.records.model.qualification import (
    AnswerStorage,
    AnswerSystem,
    Fits,
    Qualification,
    QualificationChange,
    QualifyNode,
)
from mawl.records.model.run import Reference
from mawl.records.model.summary.judgement import Cause, Parts
from mawl.records.spec.program_options import ROLES
from mawl.records.spec.run_spec import NodesSpec
from tests.fakes.qualifications import choice, qualification

AGAIN = "mawl qualify --data /mnt/a --work /mnt/b --util /mnt/b --minutes"
WORK = Cause(
    resource="storage",
    roles=["work"],
    devices=["sdb"],
    direction="write",
    place="/mnt/b",
    kind="bandwidth",
    share_ratio=0.25,
    slowdown=0.4,
)
QUEUE = Cause(resource="cpu", kind="queue", share_ratio=0.6, slowdown=1.7)
YES = Evidence(
    sessions=20,
    answer_bound=2.0,
    guideline_bytes_per_second_per_core=100e6,
    slowdown=Interval(middle=1.6, low=1.51, high=1.7),
    parts=Parts(on_cpu=1.05, run_queue=0.1, data=0.03, work=0.4, util=0.01, other=0.01, unknown=0.0),
    reference=Reference(version=1),
    delivered_cores=Interval(middle=11.2, low=10.5, high=11.9),
    runs=3,
    active_seconds=1400.0,
    device_bytes_per_second_per_core=132e6,
    device_basis="probe",
    guideline_met=True,
    jobs_per_hour=8520.0,
    limit=limit_by([WORK], is_named=False),
    fits=Fits(sessions=26, low=24, high=28, basis="measured"),
    changes=[
        QualificationChange(
            text="Twice the devices under work",
            sessions=33,
            sessions_low=29,
            sessions_high=38,
            gain_ratio=0.21,
            range_basis="lab beds",
        ),
        QualificationChange(
            text="Processors twice as fast",
            sessions=30,
            sessions_low=26,
            sessions_high=43,
            gain_ratio=0.12,
            range_basis="published systems",
        ),
    ],
    others_calibration=Others(ratio=0.014),
    others_measured=Others(ratio=0.017),
    foreign_bytes_known=True,
    system=AnswerSystem(
        cores=16,
        core_basis="vCPU",
        logical_cpus=16,
        memory_bytes=64 * 2**30,
        virtual="hypervisor flag in /proc/cpuinfo",
        kernel="6.1.0-18-amd64",
    ),
    during=[
        AnswerStorage(
            roles=["data"],
            devices=["dm-0"],
            file_systems=["xfs"],
            disks=[
                "sda (ARRAY A, scsi, 4.00 TB)",
                "sdb (ARRAY A, scsi, 4.00 TB)",
            ],
            read_bytes_per_second=812e6,
            write_bytes_per_second=41e6,
            read_latency_seconds=0.0021,
            write_latency_seconds=0.0013,
            queue_length=4.12,
        ),
        AnswerStorage(
            roles=["work", "util"],
            devices=["nvme0n1p1"],
            file_systems=["xfs"],
            disks=["nvme0n1 (FAST MODEL, nvme, 1.92 TB)"],
            read_bytes_per_second=610e6,
            write_bytes_per_second=702e6,
            read_latency_seconds=0.00021,
            write_latency_seconds=0.0046,
            queue_length=9.4,
        ),
    ],
    again=f"{AGAIN} 30",
    longer=f"{AGAIN} 120",
)
NO = msgspec.structs.replace(
    YES,
    slowdown=Interval(middle=2.9, low=2.7, high=3.1),
    parts=Parts(on_cpu=1.05, run_queue=0.1, data=0.03, work=1.7, util=0.01, other=0.01, unknown=0.0),
    limit=limit_by([msgspec.structs.replace(WORK, slowdown=1.7, share_ratio=0.61)], is_named=True),
    fits=Fits(sessions=11, low=10, high=13),
    changes=[
        QualificationChange(
            text="Twice the devices under work",
            sessions=22,
            sessions_low=17,
            sessions_high=25,
            gain_ratio=0.4,
            range_basis="lab beds",
        )
    ],
)
NOT_KNOWN = msgspec.structs.replace(
    YES,
    slowdown=Interval(middle=2.02, low=1.87, high=2.19),
    runs=2,
    active_seconds=130.0,
    fits=Fits(sessions=19, low=17, high=23),
    changes=[],
    cautions=[
        "The storage is of a virtual machine: a cache or a burst credit that is not visible from here "
        f"may have served the whole load: the longest run took 65.0 s. {LONG_RUN}"
    ],
)
COMPUTE_NO = msgspec.structs.replace(
    NO,
    parts=Parts(on_cpu=1.3, run_queue=1.4, data=0.03, work=0.15, util=0.01, other=0.01, unknown=0.0),
    limit=limit_by([QUEUE], is_named=True),
    device_bytes_per_second_per_core=20.2e6,
    device_basis="demand",
    guideline_met=None,
    changes=[
        QualificationChange(
            text="Twice the processors",
            sessions=21,
            sessions_low=13,
            sessions_high=31,
            gain_ratio=0.47,
            range_basis="published systems",
        ),
        MORE_MEMORY,
    ],
)
FULL = msgspec.structs.replace(
    NOT_KNOWN,
    changes=[
        msgspec.structs.replace(change, reason="the model is 25 % too slow for this run", range_basis=None)
        for change in (*YES.changes, COMPUTE_NO.changes[0])
    ],
    cautions=[
        *NOT_KNOWN.cautions,
        *small_mix(4),
    ],
    during=[
        msgspec.structs.replace(YES.during[number > 0], roles=[role]) for number, role in enumerate(ROLES)
    ],
)
"""Of everything as much as an answer can have."""

NODES = [
    QualifyNode(name=f"node{number}", cpu_model="a CPU", cores=16, memory_bytes=64 * 2**30)
    for number in range(1, 5)
]
ONE_NODE = NodesEvidence(
    names=[node.name for node in NODES],
    runs=3,
    one=Interval(middle=1.4, low=1.33, high=1.48),
    ratio=Interval(middle=1.6 / 1.4, low=1.1, high=1.24),
    one_jobs_per_hour=8520.0,
)
CLUSTER_YES = msgspec.structs.replace(
    YES,
    device_basis="demand",
    guideline_met=None,
    jobs_per_hour=30_672.0,
    fits=Fits(
        sessions=20,
        low=20,
        basis="measured",
        reason="on several nodes mawl does not search the number that fits",
    ),
    changes=[],
    nodes=ONE_NODE,
    cautions=[f"{NO_PROBE}."],
    missing={"changes": "changes of a cluster are not simulated"},
)
CLUSTER_NO = msgspec.structs.replace(
    CLUSTER_YES,
    slowdown=NO.slowdown,
    parts=NO.parts,
    limit=NO.limit,
    fits=Fits(sessions=None, reason="on several nodes mawl does not search the number that fits"),
    nodes=msgspec.structs.replace(ONE_NODE, ratio=Interval(middle=2.9 / 1.4, low=1.9, high=2.3)),
    jobs_per_hour=13_300.0,
)
"""One node carries the load, all four do not, and wait for storage."""

EVERY = {"yes": YES, "no": NO, "not-known": NOT_KNOWN, "compute-no": COMPUTE_NO, "full": FULL}


def answered(evidence: Evidence, **changes: object) -> Qualification:
    """A finished record with the answer that its evidence gives."""
    record = qualification(choice=choice(sessions=evidence.sessions, jobs=71), answer=answer_from(evidence))
    return msgspec.structs.replace(record, **changes)


def clustered(evidence: Evidence) -> Qualification:
    """The same of four nodes."""
    record = answered(evidence)
    asked = msgspec.structs.replace(record.asked, nodes=NodesSpec(cluster="tcp://10.0.0.1:8786"))
    made = choice(sessions=evidence.sessions, jobs=71, nodes=4, one_node_runs=3)
    return msgspec.structs.replace(record, nodes=NODES, asked=asked, choice=made)


def every_record() -> dict[str, Qualification]:
    """One of each kind, and one that has only a forecast."""
    return {
        **{name: answered(evidence) for name, evidence in EVERY.items()},
        "cluster-yes": clustered(CLUSTER_YES),
        "cluster-no": clustered(CLUSTER_NO),
        "forecast-only": msgspec.structs.replace(qualification(), runs=[], outcome="planned"),
    }
