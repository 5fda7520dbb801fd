"""The facts of a run: what ``run.json`` holds (docs/design/run-folder.md).

Points in time are seconds since the epoch here and ISO 8601 (UTC) in the file.  ``None`` means
not known; ``RunFacts.missing`` has the reason under the dotted path of the field.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from mawl.records.definitions import (
    CAPS,
    CLOUD,
    CPU_ACCOUNT,
    FACTS,
    HOST_ROLES,
    LOSSES,
    OPTIONS,
    PLAN,
    VOLUME_SPACE,
    block,
    count,
    flag,
    listing,
    seconds,
    share,
    size,
    text,
    unitless,
)
from mawl.records.model.campaign import CampaignPart
from mawl.records.model.compressibility import Compressibility
from mawl.records.model.node import CacheFacts as CacheFacts
from mawl.records.model.node import (
    DirtyPages,
    Inventory,
    IoCap,
    LoadBefore,
    NodeRun,
    OtherProgram,
    Port,
    StorageRun,
    Transport,
)
from mawl.records.model.records import JobRecord, ProgramClass, RunOutcome, Usage
from mawl.records.spec.program_options import OnFailure, Options, Role, StartMode, VolumeOrder
from mawl.records.spec.run_spec import RunSpec

RunKind = Literal["measured", "imported", "simulated"]
CoreBasis = Literal["physical core", "vCPU"]
Setting = str | int | float | bool | None


class WorkloadFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What was to run.  ``gate_jobs`` are released together at the start."""

    name: Annotated[str, text("Name of the workload.", PLAN)]
    title: Annotated[str, text("What the workload is, in words.", PLAN)]
    sessions: Annotated[int, count("Sessions of the workload.", PLAN)]
    jobs: Annotated[int, count("Jobs of the workload.", PLAN)]
    scale: Annotated[float | None, share("Size of the inputs relative to scale full (1.0).", PLAN)] = None
    scale_name: Annotated[str | None, text("Name of the scale.", PLAN)] = None
    seed: Annotated[int | None, count("Seed of the input tables.", PLAN)] = None
    options: Annotated[Options | None, block("The options a run carries.", OPTIONS)] = None
    planned_peak_concurrent: Annotated[
        int | None, count("Most jobs that the plan runs side by side.", PLAN)
    ] = None
    gate_jobs: Annotated[int | None, count("Jobs that are released together at the start.", PLAN)] = None
    load_version: Annotated[int, count("Version of what mawl's programs do (1 before format 2.6).", PLAN)] = 1


PLATFORM_SEPARATOR = "; "
"""Between the platforms in ``kernel`` of a node if its logs name several: all logs without a host are one
node."""
PLATFORM_NOT_NAMED = "platform of some logs not known"
"""The last of them if some logs name neither host nor platform: they may be of any machine."""


class NodeFacts(msgspec.Struct, frozen=True, kw_only=True):
    """A machine that ran sessions.

    ``cores`` counts what ``core_basis`` names; runs of unlike bases are not compared.
    ``cpus_used`` (logical CPU numbers), ``cpu_quota`` and ``memory_limit_bytes`` are None for the whole
    machine.  The quota is that of the control group that mawl runs in, the memory limit that of this group
    or of the option, whichever leaves less.
    ``smt`` is the kernel's word (on, off, forceoff, notsupported, notimplemented), ``virtual`` what
    shows that it is a virtual machine."""

    name: Annotated[str, text("Name of the node.", FACTS)]
    kernel: Annotated[str | None, text("Its kernel.", "uname(2)")] = None
    python: Annotated[str | None, text("Its Python.", FACTS)] = None
    cpu_model: Annotated[str | None, text("Its processor.", "proc_cpuinfo(5)")] = None
    cores: Annotated[int | None, count("Its cores, counted in core_basis.", FACTS)] = None
    core_basis: Annotated[CoreBasis | None, text("physical core, or vCPU on a virtual machine.", FACTS)] = (
        None
    )
    memory_bytes: Annotated[int | None, size("Its memory.", "proc_meminfo(5)")] = None
    cpus_used: Annotated[
        list[int] | None,
        listing(
            "Logical CPUs that the jobs were confined to, by an option, taskset or a cpuset; null for all.",
            FACTS,
            absent="not restricted: all processors",
        ),
    ] = None
    cpu_quota: Annotated[
        float | None,
        unitless(
            "CPU seconds a second that mawl's control group may use; null without a quota that binds.",
            FACTS,
            absent="no quota: all processors",
        ),
    ] = None
    memory_limit_bytes: Annotated[
        int | None,
        size("Memory the jobs were held to; null for all.", FACTS, absent="not restricted: all memory"),
    ] = None
    sockets: Annotated[int | None, count("Its processor sockets.", FACTS)] = None
    physical_cores: Annotated[int | None, count("Its physical cores, as the kernel sees them.", FACTS)] = None
    logical_cpus: Annotated[int | None, count("Its logical processors.", FACTS)] = None
    smt: Annotated[
        str | None, text("Threads of a core: on, off, forceoff, notsupported, notimplemented.", FACTS)
    ] = None
    virtual: Annotated[
        str | None,
        text(
            "What shows that it is a virtual machine; null on bare metal.",
            FACTS,
            absent="nothing shows that it is a virtual machine",
        ),
    ] = None
    cloud: Annotated[
        str | None,
        text(
            "The cloud whose machine it is, as firmware or cloud-init tell: aws, azure, gcp, oci, alibaba.",
            CLOUD,
            absent="neither firmware nor cloud-init tell of a cloud",
        ),
    ] = None
    instance_type: Annotated[
        str | None,
        text("Its instance type.", CLOUD, absent="neither firmware nor cloud-init tell it"),
    ] = None
    same_machine_as: Annotated[
        str | None,
        text(
            "The node before it that is the same machine; null for others.",
            FACTS,
            absent="it is a separate machine by its boot id",
        ),
    ] = None
    """The node before it that is the same machine (namespaces, say): what is the machine's counts there."""

    @property
    def granted_cpus(self) -> float | None:
        """Logical CPUs that the jobs could keep busy, by confinement and quota; None for all."""
        bounds: list[float] = []
        if self.cpus_used is not None:
            bounds.append(float(len(self.cpus_used)))
        if self.cpu_quota is not None:
            bounds.append(self.cpu_quota)
        return min(bounds, default=None)


class VolumeFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What holds one directory of a role.

    ``devices`` are the block devices that the file system names as its own (several for btrfs),
    ``disks`` those at the bottom, ``layers`` all from the former to the latter, top first: names as in
    the series ``device.NAME.*``.  ``network``: the file system's storage is another machine's.
    ``shared_with`` are the other roles in the same file system or on one of the same disks.
    ``caps`` is empty if no cap applies, and None if the caps are not known; ``caps_reason`` says why.
    ``reason`` says why there is no device.  Sizes are of the file system (statvfs(3), as df shows
    them), so that directories on one file system have the same; ``before`` is after the inputs were made
    and before the first job, ``after`` when the last one had ended and its temporary files were gone.
    """

    role: Annotated[Role, text("A role: data, work or util.", HOST_ROLES)]
    node: Annotated[str, text("The node whose directory it is.", HOST_ROLES)]
    directory: Annotated[str, text("One of its directories.", HOST_ROLES)]
    mount_point: Annotated[str | None, text("The mount that holds it.", HOST_ROLES)] = None
    file_system: Annotated[str | None, text("Type of the file system.", HOST_ROLES)] = None
    source: Annotated[str | None, text("What is mounted there.", HOST_ROLES)] = None
    network: Annotated[bool, flag("Whether its storage is another machine's.", HOST_ROLES)] = False
    devices: Annotated[
        list[str], listing("Block devices that the file system names as its own.", HOST_ROLES)
    ] = []
    layers: Annotated[
        list[str], listing("Block devices from there to the disks, top first.", HOST_ROLES)
    ] = []
    disks: Annotated[list[str], listing("Block devices at the bottom.", HOST_ROLES)] = []
    models: Annotated[
        list[str], listing("Models of its disks, as the kernel names them; empty: it does not.", CLOUD)
    ] = []
    shared_with: Annotated[
        list[Role], listing("Other roles in the same file system or on one of its disks.", HOST_ROLES)
    ] = []
    transport: Annotated[
        Transport | None,
        text(
            "How its disks are attached over a network or fabric: fc, iscsi, nvme-tcp, nvme-rdma or nvme-fc.",
            LOSSES,
            absent="its disks are not known to be reached over a network or fabric",
        ),
    ] = None
    reason: Annotated[
        str | None, text("Why no device is known.", HOST_ROLES, absent="its devices are known")
    ] = None
    counted_at: Annotated[
        str | None, text("Node of its machine that counts its devices.", HOST_ROLES, absent="they count here")
    ] = None
    caps: Annotated[
        list[IoCap] | None,
        block("Caps of the run's control group on its devices, at the start; empty if there are none.", CAPS),
    ] = None
    caps_reason: Annotated[
        str | None,
        text("Why no cap is listed.", CAPS, absent="a cap is listed, or the run did not look for caps"),
    ] = None
    size_bytes: Annotated[int | None, size("Size of its file system.", VOLUME_SPACE)] = None
    used_before_bytes: Annotated[
        int | None, size("Bytes used there before the jobs, inputs made.", VOLUME_SPACE)
    ] = None
    used_after_bytes: Annotated[int | None, size("Bytes used there after the jobs.", VOLUME_SPACE)] = None
    free_before_bytes: Annotated[
        int | None, size("Bytes free there before the jobs, inputs made.", VOLUME_SPACE)
    ] = None
    free_after_bytes: Annotated[int | None, size("Bytes free there after the jobs.", VOLUME_SPACE)] = None


class PlannedJob(msgspec.Struct, frozen=True, kw_only=True):
    """A job of the plan: what a reader needs to name a job that left no record (killed run)."""

    job: str
    program: str
    program_class: ProgramClass
    session: str
    stage: int
    node: str
    replica: int
    gate: str | None = None
    trail_out: bool = False
    reference_seconds: Annotated[float, msgspec.Meta(gt=0.0)] | None = None
    """CPU seconds of such a job alone on a core of speed 1, None if not known, since format 2.7."""


PLANNED_FIELDS = tuple(name for name in PlannedJob.__struct_fields__ if name in JobRecord.__struct_fields__)
"""What a job record has of its plan."""


class Reference(msgspec.Struct, frozen=True, kw_only=True):
    """Where the reference times of the planned jobs come from.

    ``version`` is that of mawl's own table, None where a ``file`` of the user's gives them (its name and
    digest); both are None in the runs of ``--solo``, which only time programs.  ``provisional`` are programs
    that changed since the table was made, ``remarks`` what the times leave out.
    """

    version: int | None
    file: str | None = None
    provisional: list[str] = []
    remarks: list[str] = []


class AloneRun(msgspec.Struct, frozen=True, kw_only=True):
    """One job that ran alone, in the run ``run_id``; ``started_at`` is since format 2.7."""

    run_id: str
    real_time_seconds: float
    started_at: float | None = None


class Alone(msgspec.Struct, frozen=True, kw_only=True):
    """What a job of a program took alone on this system (``mawl run --solo``), at the same scale and options.

    ``jobs`` are the jobs of this run that it is the baseline of.  ``runs`` are all that were measured;
    ``real_time_seconds`` and ``run_id`` are those of the middle one (the lower middle of an even number).
    ``runs`` is empty in folders of formats before 1.5, which measured one run.  ``places`` are the file
    systems of the roles then, with their caps, since format 2.7.
    """

    program: str
    jobs: list[str]
    real_time_seconds: Annotated[float, msgspec.Meta(gt=0.0)]
    run_id: str
    runs: list[AloneRun] = []
    places: list[str] = []


class FreeSpace(msgspec.Struct, frozen=True, kw_only=True):
    """A file system under the roles before the jobs; ``needed_bytes`` the plan would put there."""

    roles: list[Role]
    size_bytes: int
    free_bytes: int
    needed_bytes: int | None = None


class Phases(msgspec.Struct, frozen=True, kw_only=True):
    """Wall seconds: making inputs; starting the launcher until jobs could start; running jobs."""

    generate_seconds: float | None = None
    startup_seconds: float | None = None
    run_seconds: float | None = None


class Overhead(msgspec.Struct, frozen=True, kw_only=True):
    """What mawl itself (runner, collectors, launcher) used; ``startup_cpu_seconds`` are part of
    ``cpu_seconds``, spent before the first job could start."""

    cpu_seconds: Annotated[
        float | None,
        seconds(
            "CPU time of mawl itself: the runner with its collectors, and the launcher "
            "(cpu_account.launcher).",
            CPU_ACCOUNT,
        ),
    ] = None
    startup_cpu_seconds: Annotated[
        float | None, seconds("The part of it before the first job could start.", CPU_ACCOUNT)
    ] = None
    peak_memory_bytes: Annotated[
        int | None, size("Peak resident size of the runner plus that of the launcher.", CPU_ACCOUNT)
    ] = None
    written_bytes: Annotated[
        int | None,
        size(
            "Bytes that the runner wrote to storage while jobs ran; it writes its tables after that.",
            CPU_ACCOUNT,
            absent="the kernel or an earlier mawl did not count",
        ),
    ] = None


class OutsideCpu(msgspec.Struct, frozen=True, kw_only=True):
    """CPU seconds of all jobs and the launcher by an account that is not mawl's (``source``).

    The split into user and system is None where that account only samples it (control groups of
    version 1 look once a tick).
    """

    source: Annotated[str, text("Whose account it is.", FACTS)]
    cpu_seconds: Annotated[
        float | None,
        seconds("User and system CPU time by that account.", FACTS, absent="that account gives no sum"),
    ] = None
    user_cpu_seconds: Annotated[
        float | None,
        seconds(
            "User CPU time by that account.",
            FACTS,
            absent="that account only samples the split into user and system",
        ),
    ] = None
    system_cpu_seconds: Annotated[
        float | None,
        seconds(
            "System CPU time by that account.",
            FACTS,
            absent="that account only samples the split into user and system",
        ),
    ] = None


class Skipped(msgspec.Struct, frozen=True, kw_only=True):
    """A line of an imported file that was left out or is doubtful; ``line`` is None for the whole file."""

    file: str
    line: int | None
    reason: str
    text: str | None = None


class SourceFacts(msgspec.Struct, frozen=True, kw_only=True):
    """A file that was imported.

    ``blocks`` are performance notes of a log, records of other files.  ``zone_known`` is None where
    the file gave no time, False where its times had no zone and ``zone`` was taken for it.
    ``skipped`` are the first lines that were left out, ``skipped_lines`` is how many there are.
    """

    file: str
    kind: str
    size_bytes: int
    blocks: int
    zone_known: bool | None = None
    zone: str | None = None
    skipped_lines: int = 0
    skipped: list[Skipped] = []


class RunFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Identity, workload, options, nodes, software, settings, phase times and outcome of a run.

    ``format_version`` is ``MAJOR.MINOR`` of the folder's format; the writer sets it.  ``missing``
    maps the dotted path of a field that is None to the reason."""

    run_id: str
    kind: RunKind
    mawl_version: str
    workload: WorkloadFacts
    outcome: RunOutcome
    started_at: float
    format_version: str = ""
    outcome_reason: str | None = None
    ended_at: float | None = None
    command: list[str] = []
    source_sha256: str | None = None
    """Digest of the code that wrote the run (``source_sha256``), since format 2.3."""
    spec: RunSpec | None = None
    """What was asked, whole; None in imported and simulated runs, and in those of format 2.0 and before."""
    derived: str | None = None
    """A digest of the derived jobs and of when they start: runs of another one carried another load."""
    start_mode: StartMode | None = None
    on_failure: OnFailure | None = None
    nodes: list[NodeFacts] = []
    planned_jobs: list[PlannedJob] = []
    software: dict[str, str | None] = {}
    arrow_pool: str | None = None
    """The memory pool of Arrow in the programs, as their processes say, since format 2.6."""
    settings: dict[str, Setting] = {}
    inventories: dict[str, Inventory] = {}
    """Node to its settings that matter, as they were before the first job (docs/design/tuning.md)."""
    roles: dict[Role, list[str]] = {}
    volumes: list[VolumeFacts] = []
    """The directories of the roles, node by node: the numbers of ``volume_bytes`` and of the series
    ``volume.N.*`` count them from 1 on each node."""
    volume_order: VolumeOrder | None = None
    cache: CacheFacts | None = None
    ports: dict[str, list[Port]] = {}
    """Node to its network interfaces and fibre channel ports."""
    dirty: dict[str, DirtyPages] = {}
    """Node to what its memory held of writes before the first job and after the last one."""
    phases: Phases = Phases()
    launcher: Usage = Usage()
    overhead: Overhead = Overhead()
    outside_cpu: OutsideCpu | None = None
    reference: Reference | None = None
    """Where the reference times of the jobs come from; None before format 2.7, and in imports."""
    alone: list[Alone] = []
    load_before: LoadBefore | None = None
    other_programs: list[OtherProgram] | None = None
    """What else used the machine while jobs ran, since format 2.8.  Where some of it could not be seen,
    ``missing`` says why; None where nothing was."""
    free_space: list[FreeSpace] = []
    compressibility: Compressibility | None = None
    """What compression would save on the roles (``mawl run --compressibility yes``)."""
    node_runs: list[NodeRun] = []
    """The nodes of a run on several (``mawl run --cluster``); empty for a run on one."""
    storage_runs: list[StorageRun] = []
    """Storage servers that were watched beside them (``--storage-node``)."""
    controller_overhead: Overhead = Overhead()
    """The controller's part of ``overhead``, which has the nodes' in it, too."""
    link_bytes_per_second: float | None = None
    """What a node's link to the storage carries each way, as declared (``--link``)."""
    sources: list[SourceFacts] = []
    """The files of an imported run."""
    repeats: int = 1
    """Runs of the same workload made for one answer, this one included."""
    campaign: CampaignPart | None = None
    """The campaign that this run is one of, and its place there."""
    missing: dict[str, str] = {}
    remarks: list[str] = []
    """What a reader found wrong with the folder and could live with (a torn last line)."""

    @property
    def reference_file(self) -> str | None:
        """The file of the user's that gives the reference times; None where none does."""
        return None if self.reference is None else self.reference.file

    def machines(self) -> list[NodeFacts]:
        """The nodes that are machines of their own: what sums of cores and memory are over."""
        return [node for node in self.nodes if node.same_machine_as is None]

    def granted_cpus(self, machine: NodeFacts) -> float | None:
        """Logical CPUs that the jobs of all nodes on a machine could keep busy together; None for all."""
        nodes = [machine, *(node for node in self.nodes if node.same_machine_as == machine.name)]
        bounds = [bound for node in nodes if (bound := node.granted_cpus) is not None]
        if len(bounds) < len(nodes):
            return None
        granted = sum(bounds)
        confined = [node.cpus_used for node in nodes if node.cpus_used is not None]
        if len(confined) == len(nodes):
            granted = min(granted, float(len({cpu for cpus in confined for cpu in cpus})))
        if machine.logical_cpus is not None and granted >= machine.logical_cpus:
            return None
        return granted

    def usable_cpus(self, machine: NodeFacts) -> float | None:
        """Logical CPUs of a machine that its jobs could keep busy; None where the machine does not say it."""
        granted = self.granted_cpus(machine)
        return machine.logical_cpus if granted is None else granted
