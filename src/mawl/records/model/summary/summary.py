"""The summary of a run: every figure with its definition."""

from __future__ import annotations

from typing import Annotated

import msgspec

from mawl.records.definitions import (
    CAPS,
    CPU_ACCOUNT,
    FACTS,
    HOST,
    MISSING,
    VOLUME_PAGE,
    WAITS,
    block,
    instant,
    sentence,
    text,
)
from mawl.records.model.compressibility import IN_A_RUN, CompressibilityFigures
from mawl.records.model.run import NodeFacts, OutsideCpu, WorkloadFacts
from mawl.records.model.summary.cluster import CLUSTER_PAGE, Cluster
from mawl.records.model.summary.host import ENERGY_PAGE, Energy, Host
from mawl.records.model.summary.io import Io
from mawl.records.model.summary.judgement import (
    ALONE,
    SMT_MODE,
    VERDICT,
    Answer,
    Guideline,
    Limit,
    SignatureFigure,
    Smt,
    ThresholdUsed,
    TimesAlone,
    Validity,
)
from mawl.records.model.summary.programs import QUEUE_PAGE, ProgramFigures, Queue
from mawl.records.model.summary.storage import (
    ARRAY_PAGE,
    DEMAND_PAGE,
    Arrays,
    CachedInputs,
    Caps,
    Roles,
    Storage,
    VolumeFigures,
)
from mawl.records.model.summary.time import (
    CpuAccount,
    CpuReal,
    JobFailure,
    Jobs,
    OwnCost,
    Recorded,
    Time,
    Wait,
    WindowFigures,
)

RUN_FOLDER = "docs/design/run-folder.md"
LAUNCH = "docs/design/launch.md"
VOLUME_ORDER = "docs/design/volumes.md, Order"


class Summary(msgspec.Struct, kw_only=True):
    """The summary of a run."""

    run_id: Annotated[str, text("Name of the run.", FACTS)]
    format_version: Annotated[str, text("Version of the run folder's format, MAJOR.MINOR.", RUN_FOLDER)]
    mawl_version: Annotated[str, text("The mawl that wrote the run.", FACTS)]
    kind: Annotated[str, text("measured, imported or simulated.", FACTS)]
    workload: WorkloadFacts
    outcome: Annotated[str, text("running, completed, failed (a job failed), aborted or interrupted.", FACTS)]
    outcome_reason: Annotated[
        str | None,
        text("Why the run did not complete well.", FACTS, absent="nothing to explain", null_answers=True),
    ]
    started_at: Annotated[str, instant("When the run began (UTC, ISO 8601).", FACTS)]
    ended_at: Annotated[
        str | None, instant("When the run ended (UTC, ISO 8601).", FACTS, absent="the run has not ended")
    ]
    start_mode: Annotated[str | None, text("How jobs were started: zygote or spawn.", LAUNCH)]
    nodes: Annotated[
        list[NodeFacts],
        block(
            within="the kernel does not say, or the run is older than format 1.1",
            null_answers=True,
            member="node",
        ),
    ]
    recorded: Recorded
    jobs: Jobs
    time: Time
    cpu_real_ratio: CpuReal
    io: Io
    wait: Annotated[
        Wait | None,
        block(
            "Where the time of the jobs that count went; adds up to their real time.",
            WAITS,
            absent="the jobs' waits were not measured (a run of format 1.0, or a kernel without schedstat)",
        ),
    ]
    queue: Annotated[
        Queue | None,
        block(
            "How long jobs waited in the queue of the scheduler that started them.",
            QUEUE_PAGE,
            absent="no history of a scheduler was imported with the jobs",
            null_answers=True,
        ),
    ]
    programs: Annotated[
        dict[str, ProgramFigures],
        block(within="no job of this program counts, or one of them lacks the figure", member="program"),
    ]
    cpu_account: CpuAccount
    outside_cpu: Annotated[
        OutsideCpu | None,
        block(
            "The total of cpu_account by an account that is not mawl's.",
            CPU_ACCOUNT,
            absent="no account outside mawl was at hand (a control group that mawl may use)",
        ),
    ]
    overhead: OwnCost
    cluster: Annotated[
        Cluster | None,
        block(
            "The nodes of a run on several; null for a run on one.",
            CLUSTER_PAGE,
            absent="the run was on one node",
            within="no job of the node ended, its clock was not read, or no sample covers its jobs",
            null_answers=True,
        ),
    ]
    windows: Annotated[
        list[WindowFigures],
        block(within="no sample covers that window, or this run did not measure it", null_answers=True),
    ]
    failures: list[JobFailure]
    remarks: list[Annotated[str, sentence("What a reader found wrong with the folder and left out.", FACTS)]]
    host: Annotated[
        Host | None,
        block(
            "CPU, memory, devices and network of the nodes.",
            HOST,
            within="the kernel or the imported file does not contain it, nothing of the kind happened, or "
            "samples do not cover half of the run",
        ),
    ]
    energy: Annotated[
        Energy | None,
        block(
            "Energy of the machines while the jobs ran, if they report it.",
            ENERGY_PAGE,
            within="samples cover less than half of the run",
        ),
    ]
    storage: Annotated[
        Storage | None,
        block("What each role asked of its devices, and what a probe found.", DEMAND_PAGE),
    ]
    caps: Annotated[
        Caps,
        block(
            "What control groups let the run move at most at the devices of the roles.",
            CAPS,
            null_answers=True,
        ),
    ]
    arrays: Annotated[
        Arrays | None,
        block(
            "Each role at the storage array and at the host.",
            ARRAY_PAGE,
            absent="no statistics of an array joined the run (mawl attach)",
            within="the array or the host does not say, or their figures cover too little of the run",
            null_answers=True,
        ),
    ]
    volume_order: Annotated[
        str | None,
        text(
            "How files went to volumes: rotation or free-space.",
            VOLUME_ORDER,
            absent="a run of format 1.1 or older, or imported",
            null_answers=True,
        ),
    ]
    volumes: Annotated[
        list[VolumeFigures], block(within="no mount above the directory is known", null_answers=True)
    ]
    roles: Annotated[Roles, block("How the volumes of each role were used.", VOLUME_PAGE, null_answers=True)]
    inputs: CachedInputs | None
    compressibility: Annotated[
        CompressibilityFigures | None,
        block(
            "What compression would save on data, work and util, and what it saves.",
            IN_A_RUN,
            absent="not asked for (mawl run --compressibility yes)",
            within="its own reason says why, or it does not apply here",
            null_answers=True,
        ),
    ]
    answer: Annotated[Answer | None, block(absent="the summary alone does not judge; mawl report does")] = (
        None
    )
    guideline: Annotated[
        Guideline | None, block(absent="the summary alone does not judge; mawl report does")
    ] = None
    times_alone: Annotated[
        TimesAlone | None,
        block(
            "Jobs in the mix and alone on the same system.",
            ALONE,
            absent="no program was run alone (mawl run --solo)",
            null_answers=True,
        ),
    ]
    limit: Annotated[
        Limit | None,
        block(
            "What limits the system; null if no window is known.",
            VERDICT,
            absent="the summary alone does not judge; mawl report does",
        ),
    ]
    smt: Annotated[
        Smt | None,
        block(
            "Hardware threads of the cores; null where the run names no node.",
            SMT_MODE,
            absent="the summary alone does not judge; mawl report does",
            within="the kernel or the recording does not say",
            null_answers=True,
        ),
    ]
    validity: Annotated[
        Validity | None, block(absent="the summary alone does not judge; mawl report does")
    ] = None
    thresholds: Annotated[
        list[ThresholdUsed] | None,
        block(absent="the summary alone does not judge; mawl report does", member="threshold"),
    ] = None
    signature: Annotated[dict[str, SignatureFigure], block(null_answers=True)]
    missing: dict[str, Annotated[str, sentence("Path of a null to the reason.", MISSING)]]


class Judged(Summary, kw_only=True):
    """A summary with its judgement (``judged``)."""

    answer: Answer
    guideline: Guideline
    validity: Validity
    thresholds: list[ThresholdUsed]
