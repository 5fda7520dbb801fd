"""What a summary concludes: answer, limit, validity, threads, thresholds and signature."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from mawl.records.definitions import (
    CAPS,
    SIGNATURE_PAGE,
    Number,
    Unit,
    block,
    count,
    flag,
    listing,
    rate,
    seconds,
    share,
    text,
    unitless,
)
from mawl.records.model.node import Direction
from mawl.records.spec.program_options import Role

ANSWERS = "docs/design/answer.md, The answer"
SLOWDOWN = "docs/design/answer.md, The slowdown"
PARTS = "docs/design/answer.md, Its parts"
INTERVAL = "docs/design/answer.md, The range"
REFERENCE = "docs/design/answer.md, Reference times"
ALONE = "docs/design/answer.md, Times alone"
GUIDELINE = "docs/design/answer.md, The guideline"
VERDICT = "docs/design/verdict.md, The verdict"
WINDOWS = "docs/design/verdict.md, Windows"
LOSSES = "docs/design/verdict.md, What a resource cost"
KINDS = "docs/design/verdict.md, Bandwidth or latency"
EVIDENCE = "docs/design/verdict.md, Evidence"
NEAR_CAP = f"{CAPS}, Near a cap"
STATUS = "docs/design/validity.md, Status"
SMT_MODE = "docs/design/threads.md, The mode"
NEXT_SMT_MODE = "docs/design/threads.md, The next mode"
THRESHOLD_PAGE = "docs/reference/thresholds.md"

AnswerWord = Literal["carried", "not carried", "not known"]

Severity = Literal["invalid", "preliminary", "remark"]
"""What a finding makes of a run: not to be used, not to be published, or nothing (to be known)."""


class Parts(msgspec.Struct, kw_only=True):
    """What W is the sum of: seconds of the jobs by what they did, over the reference time."""

    on_cpu: Annotated[Number | None, share("Of W, on a processor.", PARTS)]
    run_queue: Annotated[Number | None, share("Of W, waiting for a processor.", PARTS)]
    data: Annotated[Number | None, share("Of W, blocked in I/O of data.", PARTS)]
    work: Annotated[Number | None, share("Of W, blocked in I/O of work.", PARTS)]
    util: Annotated[Number | None, share("Of W, blocked in I/O of util.", PARTS)]
    other: Annotated[
        Number | None, share("Of W, in other waits: locks, sleep, page faults of mapped files.", PARTS)
    ]
    unknown: Annotated[Number | None, share("Of W, in jobs whose waits are not known.", PARTS)]


COST_ABSENT = {
    "direction": "the cause is not storage, or neither direction took the jobs twice as long as the other",
    "place": "the cause is not storage, or the role has several directories",
    "kind": "the cause has no kinds, or the figures do not show which it is",
    "slowdown": "the run has no W (answer.slowdown)",
}
CauseResource = Literal["storage", "cpu", "memory", "network", "others", "other"]
RESOURCES: dict[str, str] = {
    "storage": "storage",
    "cpu": "processors",
    "memory": "memory",
    "network": "the network",
    "others": "other programs",
    "other": "other waits",
    "none": "no shared resource",
}
"""What a limit is called in every sentence."""


class Cause(msgspec.Struct, frozen=True, kw_only=True):
    """A cause and what it cost the jobs: relieving it altogether cannot save more."""

    resource: Annotated[
        CauseResource,
        text(
            "storage, cpu, memory, network, others (other programs), or other (locks, sleep, page faults of "
            "mapped files).",
            LOSSES,
        ),
    ]
    roles: Annotated[
        list[Role], listing("Roles on the same devices that jobs waited for, the costliest first.", LOSSES)
    ] = []
    devices: Annotated[list[str], listing("These devices.", LOSSES)] = []
    direction: Annotated[
        Direction | None,
        text(
            "read or write: the direction on whose calls jobs spent at least twice the time.",
            LOSSES,
            absent=COST_ABSENT["direction"],
        ),
    ] = None
    place: Annotated[
        str | None,
        text(
            "The directory of the first role.",
            LOSSES,
            absent=COST_ABSENT["place"],
        ),
    ] = None
    kind: Annotated[
        Literal["bandwidth", "latency", "queue", "speed"] | None,
        text(
            "Of storage: bandwidth where its devices gave all they can, latency where requests took long; "
            "of processors: queue where jobs waited for one, speed where a core takes longer than the "
            "reference.",
            KINDS,
            absent=COST_ABSENT["kind"],
        ),
    ] = None
    share_ratio: Annotated[Number, share("Share of the jobs' real time.", LOSSES)]
    slowdown: Annotated[Number | None, share("What it is of W.", LOSSES, absent=COST_ABSENT["slowdown"])] = (
        None
    )


class AnswerReference(msgspec.Struct, kw_only=True):
    """The reference times that W is measured by."""

    version: Annotated[int | None, count("The version of mawl's table of reference times.", REFERENCE)]
    file: Annotated[str | None, text("The file of the user's that gives them.", REFERENCE)]
    seconds: Annotated[Number | None, seconds("Reference time of the jobs of W together.", REFERENCE)]
    covered_ratio: Annotated[
        Number | None, share("Share of the real time of all jobs whose reference time is known.", REFERENCE)
    ]
    provisional: Annotated[
        list[str], listing("Programs that changed since their times were measured.", REFERENCE)
    ]
    outside: Annotated[
        list[str], listing("What sets the run apart from those it may be ranked with.", REFERENCE)
    ]


class Answer(msgspec.Struct, kw_only=True):
    """Whether the system carries the load: W, the slowdown, within its bound."""

    answer: Annotated[AnswerWord, text("carried, not carried or not known.", ANSWERS)]
    carried: Annotated[bool | None, flag("The same: true, false, or null where it is not known.", ANSWERS)]
    preliminary: Annotated[bool | None, flag("Whether the answer is not fit to be published.", ANSWERS)]
    slowdown: Annotated[
        Number | None, share("W: real time of the jobs together over their reference time.", SLOWDOWN)
    ]
    low: Annotated[Number | None, share("Lower end of its range.", INTERVAL)]
    high: Annotated[Number | None, share("Upper end of its range.", INTERVAL)]
    bound: Annotated[
        Number, share("The bound of W: mawl's own, unless mawl.toml has another answer_bound.", ANSWERS)
    ]
    parts: Parts
    reference: AnswerReference
    delivered_cores: Annotated[
        Number | None, unitless("Reference seconds of the jobs over the elapsed seconds.", SLOWDOWN)
    ]
    reason: Annotated[str | None, text("Why the answer is not known, or which jobs failed.", ANSWERS)]
    reasons: Annotated[list[str], listing("The answer in sentences.", ANSWERS)]
    next_step: Annotated[str | None, text("The one thing to do where the answer is not known.", ANSWERS)]


class ProgramAlone(msgspec.Struct, frozen=True, kw_only=True):
    """A program in the mix and alone on the same system."""

    seconds: Annotated[Number, seconds("Real time of the middle run alone.", ALONE)]
    runs: Annotated[int, count("Runs alone.", ALONE)]
    spread_ratio: Annotated[
        Number | None,
        share("Longest less shortest run alone, over the middle one.", ALONE, absent="there is one run"),
    ] = None
    ratio: Annotated[
        Number | None,
        share("Mean real time in the mix over alone.", ALONE, absent="no job of it in the mix counts"),
    ] = None


class TimesAlone(msgspec.Struct, kw_only=True):
    """How much longer jobs took in the mix than alone on the same system (--solo); it decides nothing."""

    ratio: Annotated[
        Number | None,
        share(
            "Real time in the mix of all jobs with a time alone, over these times.",
            ALONE,
            absent="no job counts",
        ),
    ]
    age_seconds: Annotated[
        Number | None,
        seconds(
            "From the oldest run alone to the start of this run.",
            ALONE,
            absent="folders of format 2.6 and before do not say it",
        ),
    ]
    places: Annotated[list[str], listing("Storage of the roles in the runs alone, with caps.", ALONE)]
    programs: Annotated[dict[str, ProgramAlone], block(member="program")]


Standing = Literal["good", "warn", "below"]
"""Where a throughput per core stands between the two bounds of the guideline."""


class Guideline(msgspec.Struct, kw_only=True):
    """Throughput of a file system per core beside the guideline."""

    bytes_per_second_per_core: Annotated[
        Number | None,
        rate("Throughput of that file system per core: of a probe, else sustained in this run.", GUIDELINE),
    ]
    basis: Annotated[
        Literal["probe", "run"] | None,
        text("probe, or run where the storage limited it; null: not judged.", GUIDELINE),
    ]
    role: Annotated[
        Role | None,
        text(
            "A role on the file system: of a probe the one with the lowest rate, else the role that limited "
            "the run; of a run that is not judged the one whose devices moved most.",
            GUIDELINE,
        ),
    ]
    file_system: Annotated[str | None, text("Its type and its block devices.", GUIDELINE)]
    warn_bytes_per_second_per_core: Annotated[Number, rate("Below it the guideline is not met.", GUIDELINE)]
    good_bytes_per_second_per_core: Annotated[Number, rate("From it on it is good.", GUIDELINE)]
    core_basis: Annotated[str | None, text("What the cores are: physical core or vCPU.", GUIDELINE)]
    standing: Annotated[Standing | None, text("good, warn or below.", GUIDELINE)]
    met: Annotated[bool | None, flag("Whether the throughput is at least the lower bound.", GUIDELINE)]

    @property
    def place(self) -> str:
        """Role and file system in words."""
        return f"{self.role} ({self.file_system})"


class Shares(msgspec.Struct, kw_only=True):
    """Shares of the active time by what cost the jobs most in each window."""

    storage: Annotated[
        Number,
        share("Share of the known active time in windows in which storage cost the jobs most.", WINDOWS),
    ]
    cpu: Annotated[
        Number,
        share("Share of the known active time in windows in which cpu cost the jobs most.", WINDOWS),
    ]
    memory: Annotated[
        Number,
        share("Share of the known active time in windows in which memory cost the jobs most.", WINDOWS),
    ]
    network: Annotated[
        Number,
        share("Share of the known active time in windows in which network cost the jobs most.", WINDOWS),
    ]
    none: Annotated[
        Number,
        share("Share of the known active time in windows in which no resource cost them a fifth.", WINDOWS),
    ]


class Losses(msgspec.Struct, kw_only=True):
    """What each resource cost."""

    storage: Annotated[
        Number | None,
        share("Share of the jobs' time lost to storage; of an import at most that share.", LOSSES),
    ]
    cpu: Annotated[
        Number | None,
        share(
            "Share of the jobs' time in the run queue and, where W is known, on a processor beyond the "
            "reference time; of an import at most that share.",
            LOSSES,
        ),
    ]
    memory: Annotated[
        Number | None,
        share("Share of the jobs' time lost to memory; of an import at most that share.", LOSSES),
    ]
    network: Annotated[
        Number | None,
        share("Share of the jobs' time lost to the network; of an import at most that share.", LOSSES),
    ]
    others: Annotated[
        Number | None,
        share("Share of the jobs' time lost to other programs; of an import at most that share.", LOSSES),
    ]


class Headroom(msgspec.Struct, kw_only=True):
    """What the run left of each resource."""

    cpu_ratio: Annotated[
        Number | None,
        share(
            "0 where the verdict is cpu; else the mean share of processor time that was idle; of jobs held "
            "to some processors or a CPU quota the share of what they may use that they did not use, as far "
            "as processors were idle.",
            VERDICT,
        ),
    ]
    storage_ratio: Annotated[
        Number | None,
        share(
            "0 where the verdict is storage; else 1 less the highest of demand over the probe's capability "
            "or the cap of a control group (0 from 95 % of the cap on), of any role and direction; for roles "
            "without them 1 less the busy share of their busiest device.",
            VERDICT,
        ),
    ]
    storage_source: Annotated[str | None, text("Which of these it is, with role and direction.", VERDICT)]
    memory_ratio: Annotated[
        Number | None,
        share(
            "0 where the verdict is memory; else the least memory that was available over all; below a "
            "memory limit 1 less the most that the jobs held over that limit; the page cache counts as used "
            "where memory cost the jobs time.",
            VERDICT,
        ),
    ]
    memory_source: Annotated[
        str | None, text("The limit in force, and whether the page cache counts.", VERDICT)
    ]
    network_ratio: Annotated[
        Number | None,
        share(
            "0 where the verdict is network; else 1 less the highest window of any interface, one way, over "
            "its speed.",
            VERDICT,
        ),
    ]
    network_source: Annotated[str | None, text("The interface.", VERDICT)]


class ReachedCap(msgspec.Struct, kw_only=True):
    """A cap of a control group that a role came near while jobs waited for it."""

    direction: Annotated[Direction, text("read or write.", NEAR_CAP)]
    bytes_per_second: Annotated[int, rate("The cap of the role's devices.", NEAR_CAP)]
    devices: Annotated[list[str], listing("The devices that the cap applies to.", NEAR_CAP)]
    near_windows: Annotated[
        int,
        count("Of waited_windows, those in which the devices moved at least 95 % of the cap.", NEAR_CAP),
    ]
    waited_windows: Annotated[
        int, count("Windows in which waiting for the role cost jobs at least 20 % of their time.", NEAR_CAP)
    ]


class EvidenceLine(msgspec.Struct, kw_only=True):
    """A line of evidence."""

    kind: Annotated[str, text("evidence, or support, which never decides.", EVIDENCE)]
    sentence: Annotated[str, text("The line, with the figures it used.", EVIDENCE)]


class Limit(msgspec.Struct, kw_only=True):
    """What limits the system."""

    verdict: Annotated[
        str,
        text("storage, cpu, memory, network or others: the resource of the largest cost; or none.", VERDICT),
    ]
    second: Annotated[
        str | None, text("The resource of the second cost, where that limits the run as well.", VERDICT)
    ]
    named: Annotated[
        bool | None,
        flag("Whether W lies above its bound; below it reports say largest cost and not limit.", VERDICT),
    ]
    costs: list[Cause]
    """The largest first, from 2 % of the jobs' time on."""
    role: Annotated[Role | None, text("The role whose I/O cost most, where storage limits.", VERDICT)]
    device: Annotated[str | None, text("The device that holds that role, where it is one.", VERDICT)]
    device_peak_bytes_per_second: Annotated[
        Number | None,
        rate("What that device read and wrote in its highest window of the active phase.", VERDICT),
    ]
    device_read_peak_bytes_per_second: Annotated[
        Number | None, rate("What that device read in its highest window of the active phase.", VERDICT)
    ]
    device_write_peak_bytes_per_second: Annotated[
        Number | None, rate("What that device wrote in its highest window of the active phase.", VERDICT)
    ]
    shares: Shares
    losses: Losses
    told_ratio: Annotated[
        Number | None,
        share("Share of the active time in windows whose largest cost is known.", WINDOWS),
    ]
    headroom: Headroom
    evidence: list[EvidenceLine]
    caps_reached: Annotated[
        list[ReachedCap],
        block("Caps that the named role came near while jobs waited for it.", NEAR_CAP),
    ] = []

    def is_of(self, resource: str) -> bool:
        """Whether a resource is the first or the second cause."""
        return resource in (self.verdict, self.second)

    def limits_by(self, resource: str) -> bool:
        """The same, but of a run whose W is within its bound: nothing limits that."""
        within_bound = self.named is False
        return self.is_of(resource) and not within_bound


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """What a rule found: a sentence with the figures it used, and what to do about it."""

    rule: Annotated[str, text("The rule that found it.", STATUS)]
    severity: Annotated[Severity, text("invalid, preliminary or remark.", STATUS)]
    sentence: Annotated[str, text("What it found, with the figures it used.", STATUS)]
    cure: Annotated[str, text("What to do about it.", STATUS)]


class Unmeasured(msgspec.Struct, frozen=True, kw_only=True):
    """A rule that is neither met nor broken, since the run lacks its figure.

    ``severity`` is what that makes of a run: no pass (preliminary), or a remark.
    """

    rule: Annotated[str, text("A rule whose figure the run does not have.", STATUS)]
    severity: Annotated[Severity, text("What that makes of the run: preliminary or remark.", STATUS)]
    reason: Annotated[str, text("Why the run does not have it.", STATUS)]


class Validity(msgspec.Struct, kw_only=True):
    """Whether the run can be believed."""

    status: Annotated[
        str,
        text(
            "publishable: every check passed; preliminary: a check failed or could not be made, so the"
            " figures are not fit to publish; invalid: the figures cannot be used.",
            STATUS,
        ),
    ]
    findings: list[Finding]
    unmeasured: list[Unmeasured]


class ThreadMode(msgspec.Struct, kw_only=True):
    """Hardware threads of a node."""

    threads_per_core: Annotated[
        int | None,
        count("Hardware threads of a core that are on; where cores differ the most of one.", SMT_MODE),
    ]
    hardware_threads: Annotated[int | None, count("Those of the node: its logical processors.", SMT_MODE)]
    mode: Annotated[str | None, text("As the system reports it: on, off, 4, SMT-8 ...", SMT_MODE)]
    busy_ratio: Annotated[
        Number | None, share("Share of the active phase's processor time that was busy.", NEXT_SMT_MODE)
    ]
    runnable: Annotated[Number | None, share("Mean runnable threads in the active phase.", NEXT_SMT_MODE)]


class Smt(msgspec.Struct, kw_only=True):
    """Hardware threads of the cores."""

    nodes: Annotated[dict[str, ThreadMode], block(member="node")]
    findings: Annotated[
        list[Finding],
        listing(
            "For each node whose next mode is worth a try: rule, severity (remark), sentence and fix.",
            NEXT_SMT_MODE,
        ),
    ]


class ThresholdUsed(msgspec.Struct, kw_only=True):
    """A threshold that decided something in this run."""

    name: Annotated[str, text("A threshold that decided something in this run.", THRESHOLD_PAGE)]
    bound: Annotated[Number, unitless("Its value, in its base unit.", THRESHOLD_PAGE)]
    unit: Annotated[Unit, text("That unit.", THRESHOLD_PAGE)]
    meaning: Annotated[str, text("What it decides.", THRESHOLD_PAGE)]
    source: Annotated[str, text("Where it comes from, or what was measured to choose it.", THRESHOLD_PAGE)]


class SignatureFigure(msgspec.Struct, frozen=True, kw_only=True):
    """A row of the signature beside the published range."""

    value: Annotated[Number | None, unitless("The row's figure, in the row's unit.", SIGNATURE_PAGE)]
    low: Annotated[Number | None, unitless("Lower end of the published range.", SIGNATURE_PAGE)]
    high: Annotated[Number | None, unitless("Upper end of the published range.", SIGNATURE_PAGE)]
    inside: Annotated[bool | None, flag("Whether the value is in the range.", SIGNATURE_PAGE)]
    meaningful: Annotated[bool, flag("Whether the value may be compared with the range.", SIGNATURE_PAGE)]
    reason: Annotated[str | None, text("Why there is no value, or why it is not meaningful.", SIGNATURE_PAGE)]
    source: Annotated[str, text("Where the range comes from.", SIGNATURE_PAGE)]
