"""The facts of a run: what ``run.json`` holds (docs/design/run-folder.md).

Points in time are seconds since the epoch here and ISO 8601 (UTC) in the file.  ``None`` means
not known; the reason stands in ``RunFacts.missing`` under the dotted path of the field.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from mawl.model.campaign import CampaignPart
from mawl.model.cluster import NodeRun, StorageRun
from mawl.model.compressibility import Compressibility
from mawl.model.dirty import DirtyPages
from mawl.model.inventory import Inventory
from mawl.model.options import CacheMode, OnFailure, Options, Role, StartMode, VolumeOrder
from mawl.model.ports import Port, Transport
from mawl.model.records import ProgramClass, RunOutcome
from mawl.model.role_io import Waits
from mawl.model.usage import Usage

RunKind = Literal["measured", "imported", "simulated"]
CoreBasis = Literal["physical core", "vCPU"]
Setting = str | int | float | bool | None


class WorkloadFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What was to run.  ``gate_jobs`` are released together at the start."""

    name: str
    title: str
    sessions: int
    jobs: int
    scale: float | None = None
    scale_name: str | None = None
    seed: int | None = None
    options: Options | None = None
    planned_peak_concurrent: int | None = None
    gate_jobs: int | None = None


class NodeFacts(msgspec.Struct, frozen=True, kw_only=True):
    """A machine that ran sessions.

    ``cores`` counts what ``core_basis`` names; runs of unlike bases are not compared.
    ``cpus_used`` (logical CPU numbers) and ``memory_limit_bytes`` are None for the whole machine.
    ``smt`` is the kernel's word (on, off, forceoff, notsupported, notimplemented), ``virtual`` what
    shows that it is a virtual machine.
    """

    name: str
    kernel: str | None = None
    python: str | None = None
    cpu_model: str | None = None
    cores: int | None = None
    core_basis: CoreBasis | None = None
    memory_bytes: int | None = None
    cpus_used: list[int] | None = None
    memory_limit_bytes: int | None = None
    sockets: int | None = None
    physical_cores: int | None = None
    logical_cpus: int | None = None
    smt: str | None = None
    virtual: str | None = None
    same_machine_as: str | None = None
    """The node before it that is the same machine (namespaces, say): what is the machine's counts there."""


class VolumeFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What holds one directory of a role.

    ``devices`` are the block devices that the file system names as its own (several for btrfs),
    ``disks`` those at the bottom, ``layers`` all from the former to the latter, top first: names as in
    the series ``device.NAME.*``.  ``network``: the file system's storage is another machine's.
    ``shared_with`` are the other roles in the same file system or on one of the same disks.
    ``reason`` says why there is no device.  Sizes are of the file system (statvfs(3), as df shows
    them), so that directories on one file system have the same; ``before`` is after the inputs were made
    and before the first job, ``after`` when the last one had ended and its temporary files were gone.
    """

    role: Role
    node: str
    directory: str
    mount_point: str | None = None
    file_system: str | None = None
    source: str | None = None
    network: bool = False
    devices: list[str] = []
    layers: list[str] = []
    disks: list[str] = []
    shared_with: list[Role] = []
    transport: Transport | None = None
    """How its disks are attached, where that is over a fabric or network."""
    reason: str | None = None
    size_bytes: int | None = None
    used_before_bytes: int | None = None
    used_after_bytes: int | None = None
    free_before_bytes: int | None = None
    free_after_bytes: int | None = None


class CacheFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The input tables in the page cache when the run began, before any job was made ready.

    ``mode`` is what ``--cache`` asked for, None without.  ``resident_bytes`` is None, with
    ``reason``, where the kernel would not tell; ``source`` names the call that told.
    ``machine_wide``: the caches of the whole machine were dropped.  ``remarks`` say what could not
    be dropped or read, and why.
    """

    mode: CacheMode | None = None
    input_bytes: int
    resident_bytes: int | None = None
    source: str | None = None
    reason: str | None = None
    machine_wide: bool = False
    remarks: list[str] = []


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


class AloneRun(msgspec.Struct, frozen=True, kw_only=True):
    """One job that ran alone, in the run ``run_id``; ``waits`` say where its time went, if that is known."""

    run_id: str
    real_time_seconds: float
    waits: Waits = Waits()


class Alone(msgspec.Struct, frozen=True, kw_only=True):
    """What a job of a program took alone on this system (``mawl run --solo``), at the same scale and options.

    ``jobs`` are the jobs of this run that it is the baseline of.  ``runs`` are all that were measured;
    ``real_time_seconds`` and ``run_id`` are those of the middle one (the lower middle of an even number).
    ``runs`` is empty in folders of formats before 1.5, which measured one run and no waits.
    """

    program: str
    jobs: list[str]
    real_time_seconds: float
    run_id: str
    runs: list[AloneRun] = []


class LoadBefore(msgspec.Struct, frozen=True, kw_only=True):
    """What the machine did for others just before the run, over ``seconds``.

    ``busy_ratio`` is of all processors, None where no tick went by; ``heavy`` names the processes
    that used most, the heaviest first.
    """

    seconds: float
    busy_ratio: float | None = None
    heavy: list[str] = []


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

    cpu_seconds: float | None = None
    startup_cpu_seconds: float | None = None
    peak_memory_bytes: int | None = None


class OutsideCpu(msgspec.Struct, frozen=True, kw_only=True):
    """CPU seconds of all jobs and the launcher by an account that is not mawl's (``source``).

    The split into user and system is None where that account only samples it (control groups of
    version 1 look once a tick).
    """

    source: str
    cpu_seconds: float | None = None
    user_cpu_seconds: float | None = None
    system_cpu_seconds: float | None = None


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
    maps the dotted path of a field that is None to the reason.
    """

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
    start_mode: StartMode | None = None
    on_failure: OnFailure | None = None
    nodes: list[NodeFacts] = []
    planned_jobs: list[PlannedJob] = []
    software: dict[str, str | None] = {}
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
    alone: list[Alone] = []
    load_before: LoadBefore | None = None
    free_space: list[FreeSpace] = []
    compressibility: Compressibility | None = None
    """What compression would save on the roles (``mawl run --compressibility yes``)."""
    node_runs: list[NodeRun] = []
    """The nodes of a run on several (``mawl run --cluster``); empty for a run on one."""
    storage_runs: list[StorageRun] = []
    """Storage servers that were watched beside them (``--storage-node``)."""
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

    def machines(self) -> list[NodeFacts]:
        """The nodes that are machines of their own: what sums of cores and memory are over."""
        return [node for node in self.nodes if node.same_machine_as is None]
