"""What a run is asked to be: one record (``RunSpec``) that declares each option, and the check of its values.

``RunSpec`` is complete: what nobody set has its default.  ``records.spec.sources`` makes one from the
command line, the environment, ``mawl.toml``, profiles and the files of ``--ab``; other code makes one by its
fields: ``RunSpec(workload="nano", scale=0.001, work=("/fast/work",))``.  As JSON it goes to other processes
and nodes.  A new option of ``mawl run`` is a field here, with its ``Option``, and the code that acts on it.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from mawl.base.errors import UsageError
from mawl.records.spec.forms import (
    EVERYWHERE,
    PREFERRED,
    Choice,
    Form,
    Number,
    Option,
    Several,
    Size,
    Switch,
    SwitchOr,
    TextOrNumber,
    Whole,
    YesNo,
    options_of,
)
from mawl.records.spec.nodes import NodesSpec as NodesSpec
from mawl.records.spec.program_options import (
    ARRIVALS,
    VOLUME_ORDERS,
    Arrivals,
    CacheMode,
    OnFailure,
    Options,
    Role,
    StartMode,
    VolumeOrder,
    refuse_overlaps,
    role_place,
)

DEFAULT_WORKLOAD = "mixed20"
DEFAULT_SCALE = "smoke"
DEFAULT_SEED = 1
DEFAULT_SAVING = 0.90
MOST_SESSIONS = 500
ADDITIONAL_DIRECTORIES = "one directory or several, used in turns (--volume-order)"
SECONDS = "a number of seconds above 0"

_files = Several(of="directory")


class RunSpec(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that decides a run, but for the machine it runs on.  Paths may be relative to the directory
    in which it is made."""

    workload: str = DEFAULT_WORKLOAD
    """The name of a shipped workload, or a TOML file."""
    runs: Annotated[
        str,
        Option(
            form=Form(),
            metavar="DIR",
            help="where run folders go (default: ./runs)",
            places=("environment", "settings"),
            group="places",
        ),
    ] = "runs"
    data: Annotated[
        tuple[str, ...],
        Option(
            form=_files,
            metavar="DIR",
            help=f"input tables and results; {ADDITIONAL_DIRECTORIES} (default: ./mawl-data)",
            places=EVERYWHERE,
            group="places",
            brief="input tables and results (default: ./mawl-data)",
        ),
    ] = ("mawl-data",)
    work: Annotated[
        tuple[str, ...],
        Option(
            form=_files,
            metavar="DIR",
            help=f"temporary tables; {ADDITIONAL_DIRECTORIES} (default: ./mawl-work)",
            places=EVERYWHERE,
            group="places",
            brief="temporary tables (default: ./mawl-work)",
        ),
    ] = ("mawl-work",)
    util: Annotated[
        tuple[str, ...],
        Option(
            form=_files,
            metavar="DIR",
            help=f"sort and spill files; {ADDITIONAL_DIRECTORIES} (default: ./mawl-util)",
            places=EVERYWHERE,
            group="places",
            brief="sort and spill files (default: ./mawl-util)",
        ),
    ] = ("mawl-util",)
    sessions: Annotated[
        int | None,
        Option(
            form=Whole(1, MOST_SESSIONS, of="sessions"),
            metavar="N",
            help=f"scale mixed20 to N sessions, 1 to {MOST_SESSIONS}: 3N + 11 jobs, 2N - 5 "
            "released together; below 5 each program once, N released together",
            brief=f"scale mixed20 to N sessions, 1 to {MOST_SESSIONS}; below 5 each program runs once",
            places=("profile", "side"),
            group="workload",
        ),
    ] = None
    arrivals: Annotated[
        Arrivals,
        Option(
            form=Choice(*ARRIVALS),
            help="how derived jobs start: clock: at their time in the logs, or when the jobs end that they "
            "followed there (default); closed: each when the one before it in its session ended",
            places=("profile", "side"),
            group="workload",
            brief="derived jobs start by the clock of their logs, or in turn",
        ),
    ] = "clock"
    scale: Annotated[
        str | float | None,
        Option(
            form=TextOrNumber(float),
            help="smoke, quick, standard, full, or a factor of full such as 0.01 (default: "
            f"{DEFAULT_SCALE}; of derived jobs: full)",
            places=("side",),
            group="workload",
        ),
    ] = None
    """Asked for: refused for a workload that has its own; None: the workload's, else ``usual_scale``."""
    usual_scale: Annotated[
        str | float, Option(name="scale", form=TextOrNumber(float), places=("environment", "settings"))
    ] = DEFAULT_SCALE
    start: Annotated[
        StartMode,
        Option(
            form=Choice("zygote", "spawn"),
            help="how jobs start: zygote: forked from a process that has imported the libraries (default); "
            "spawn: a fresh interpreter for each job (slower, most isolated)",
            places=PREFERRED,
        ),
    ] = "zygote"
    on_failure: Annotated[
        OnFailure,
        Option(
            form=Choice("continue", "abort"),
            help="after a failed job: continue (default), or stop everything",
            places=PREFERRED,
        ),
    ] = "continue"
    html: Annotated[
        bool,
        Option(
            form=YesNo(),
            help="whether to leave report.html in the run folder (default: yes)",
            places=("environment", "settings"),
        ),
    ] = True
    compressibility: Annotated[
        bool,
        Option(
            form=YesNo(),
            help="whether to sample what compression would save: on work and util while the jobs have them, "
            "on data afterwards; part of mawl's overhead (default: no)",
            places=PREFERRED,
        ),
    ] = False
    keep_outputs: Annotated[
        bool,
        Option(
            form=Switch(),
            help="keep the tables that the programs write under data; without it each goes when its job ends",
            places=("plan", "side"),
        ),
    ] = False
    cores: Annotated[
        str | None,
        Option(
            form=TextOrNumber(int),
            metavar="N|LIST",
            help="use only N processors, or those of a list such as 0,2-5",
            places=PREFERRED,
            group="limits",
        ),
    ] = None
    memory_limit_bytes: Annotated[
        int | None,
        Option(
            name="memory_limit",
            form=Size(),
            metavar="SIZE",
            help="memory for jobs and page cache together, limited by a control group (needs the permission)",
            places=PREFERRED,
            group="limits",
            brief="memory for jobs and page cache together",
        ),
    ] = None
    seed: Annotated[
        int,
        Option(
            form=Whole(0, 2**32 - 1),
            metavar="N",
            help=f"seed of the input tables (default: {DEFAULT_SEED})",
            places=("environment", "settings", "side"),
            group="workload",
        ),
    ] = DEFAULT_SEED
    saving: Annotated[
        float,
        Option(
            form=Number(0.3, 0.95, expected="a ratio from 0.3 to 0.95"),
            metavar="RATIO",
            help=f"what zstd-1 saves on the input tables, 0.3 to 0.95 (default: {DEFAULT_SAVING})",
            places=("environment", "settings", "side"),
        ),
    ] = DEFAULT_SAVING
    processes: Annotated[
        int | None,
        Option(form=Whole(1, 1024, of="processes"), places=("environment", "settings")),
    ] = None
    """That make inputs; None: as many as processors the run may use, or 1 where /dev/shm is not writable."""
    volume_order: Annotated[
        VolumeOrder,
        Option(
            form=Choice(*VOLUME_ORDERS),
            help="where a role has several directories: files go to them in rotation, so that each gets "
            "about the same bytes (default), or in proportion to the space that is free on each",
            places=EVERYWHERE,
        ),
    ] = "rotation"
    options: Options = Options()
    """Run options of the programs (``--option``, ``[options]``); a workload's own go over them."""
    timeout_seconds: Annotated[
        float | None,
        Option(
            name="timeout",
            form=Number(0.0, expected=SECONDS, above=True),
            metavar="SECONDS",
            help="time limit of each job",
            places=("plan", "side"),
            group="limits",
        ),
    ] = None
    cache: Annotated[
        CacheMode | None,
        Option(
            form=Choice("cold", "warm", "none"),
            help="cold: take the input tables out of the page cache before the start, file by file, without "
            "root; warm: read them into it; none: as cold, and keep all files of data, work and util out of "
            "the page cache during the run, so that the storage serves every request at any scale. Default: "
            "leave the cache as it is; the report says how much of the inputs was in it",
            places=("plan", "side"),
            group="limits",
            brief="what the page cache holds of the files; none: the storage serves every request",
        ),
    ] = None
    drop_caches: Annotated[
        bool,
        Option(
            form=Switch(),
            help="with --cache cold: drop the caches of the whole machine, too (root; this slows down other "
            "users of the machine)",
            places=("plan", "side"),
        ),
    ] = False
    solo: Annotated[
        bool | Literal["stored"],
        Option(
            form=SwitchOr("stored"),
            help="time each program alone first, in three runs; stored: use times that were measured under "
            "the same conditions before; the report then also says how much longer jobs take in the mix than "
            "alone, which decides nothing",
            places=("plan",),
            group="start",
            brief="time each program alone first, for information",
        ),
    ] = False
    reference: Annotated[
        str | None,
        Option(
            form=Form(),
            metavar="FILE",
            help="take the reference times of jobs from a file: [cpu_seconds] by program, and core_speed; "
            "pack, publish and rank refuse such a run",
            brief="take the reference times of jobs from a file",
            places=("plan",),
            group="start",
        ),
    ] = None
    probe: Annotated[
        str | None,
        Option(
            form=Form(),
            metavar="FILE",
            help="what mawl probe kept: goes into the run folder, for its reports",
            places=("plan",),
            group="start",
        ),
    ] = None
    output: Annotated[
        str | None,
        Option(
            form=Form(),
            metavar="DIR",
            help="the run folder itself (default: RUNS/RUN_ID)",
            group="places",
        ),
    ] = None
    nodes: NodesSpec | None = None

    def directories(self) -> dict[Role, tuple[str, ...]]:
        return {"data": self.data, "work": self.work, "util": self.util}


ONLY_ON_ONE = ("solo", "probe")
ONLY_OVER_SSH = ("remote_python", "ssh_config")
ONLY_ON_A_CLUSTER = ("insecure", "tls_ca", "tls_cert", "tls_key")


def check(spec: RunSpec) -> RunSpec:
    """The spec itself; ``UsageError`` with one sentence for the first that is wrong."""
    _check_values(spec)
    if spec.drop_caches and spec.cache != "cold":
        raise UsageError("--drop-caches goes with --cache cold")
    refuse_overlaps(
        {role: [role_place(role, place) for place in places] for role, places in spec.directories().items()}
    )
    if spec.nodes is not None:
        _check_values(spec.nodes)
        for name in ONLY_ON_ONE:
            if getattr(spec, name):
                raise _superfluous(name, "does not go with a run on several nodes")
        _check_nodes(spec.nodes)
    return spec


def _check_values(part: msgspec.Struct) -> None:
    default = type(part)()
    for field, option in options_of(type(part)).items():
        value = getattr(part, field)
        if value != getattr(default, field):
            option.form.check(value, option.flag)


def _check_nodes(nodes: NodesSpec) -> None:
    if nodes.cluster is not None and nodes.over_ssh:
        flag = "--ssh" if nodes.ssh else "--hosts"
        raise UsageError(f"--cluster and {flag} do not go together", cure="name the one or the other")
    if nodes.cluster is None and not nodes.over_ssh:
        raise UsageError("a run on several nodes names none", cure="name them with --cluster or --ssh")
    for name in ONLY_OVER_SSH if not nodes.over_ssh else ():
        if getattr(nodes, name) is not None:
            raise _superfluous(name, "goes with --ssh")
    for name in ONLY_ON_A_CLUSTER if nodes.over_ssh else ():
        if getattr(nodes, name):
            raise _superfluous(name, "goes with --cluster; ssh itself encrypts what --ssh sends")
    if nodes.nodes is not None and nodes.on:
        raise UsageError("--nodes does not go with --on, which names the nodes", cure="leave one out")
    for name in nodes.storage_node:
        if name in nodes.on:
            raise UsageError(f"{name} is named twice", cure="a storage node is named once, and has no --on")
    files = (nodes.tls_ca, nodes.tls_cert, nodes.tls_key)
    if any(files) and not all(files):
        raise UsageError("TLS needs three files", cure="give --tls-ca, --tls-cert and --tls-key")


def _superfluous(name: str, why: str) -> UsageError:
    flag = f"--{name.replace('_', '-')}"
    return UsageError(f"{flag} {why}", cure=f"leave {flag} out")
