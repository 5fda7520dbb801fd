"""Every null of a summary has a reason."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from mawl.analysis.blocks import Block, Missing

NOT_MEASURED = "not measured in this run"

NO_ROLES = "not measured (a run of format 1.0, or none of its jobs could be counted)"

NO_FOLDER = "only the jobs' records were given, no run folder"

LATER: Missing = {
    "host.*": "the kernel or the imported file does not tell it, nothing of the kind happened, or samples "
    "do not cover half of the run",
    "volumes.*.reason": "its devices are known",
    "volumes.*.transport": "its disks are not known to be reached over a network or fabric",
    "volume_order": "a run of format 1.1 or older, or imported",
    "volumes.*": "no mount above the directory is known",
    "inputs.mode": "not asked for: the cache was left as it was",
    "inputs.reason": "it is known",
    "inputs.resident_ratio": "there were no inputs",
    "nodes.*.virtual": "nothing shows that it is a virtual machine",
    "nodes.*": "the kernel does not say, or the run is older than format 1.1",
    "io.by_role": NO_ROLES,
    "io.coverage_ratio": NO_ROLES,
    **{
        f"io.devices_by_role.{role}.{figure}": "no sample covers the run"
        for role in ("data", "work", "util")
        for figure in ("read_bytes", "written_bytes")
    },
    **{
        f"io.by_role.*.{direction}_latency_seconds.{figure}": "no such call"
        for direction in ("read", "write", "sync")
        for figure in ("mean", "p50", "p99", "max")
    },
    **{
        f"io.by_role.*.{direction}_request_bytes.{figure}": "no such call"
        for direction in ("read", "write")
        for figure in ("mean", "p50", "p99")
    },
    **{
        f"io.by_role.*.{direction}_latency_seconds.peak": "no window has such a call, or no samples cover it"
        for direction in ("read", "write")
    },
    "wait": "the jobs' waits were not measured (a run of format 1.0, or a kernel without schedstat)",
    "programs.*.slowdown": "the program was not run alone on this system (mawl run --solo)",
    "cluster": "the run was on one node",
    "cluster.nodes.*.reason": "nothing to explain",
    "cluster.link_bytes_per_second": "not declared (mawl run --link)",
    "cluster.storage.*.reason": "nothing to explain",
    "cluster.*": "no job of the node ended, its clock was not read, or no sample covers its jobs",
    "nodes.*.same_machine_as": "it is a machine of its own, as far as its boot id tells",
    "compressibility": "not asked for (mawl run --compressibility yes)",
    "compressibility.*": "its own reason says why, or it does not apply here",
    "capacity": "the summary alone does not judge; mawl report does",
    "limit": "the summary alone does not judge; mawl report does",
    "validity": "the summary alone does not judge; mawl report does",
    "smt": "the summary alone does not judge; mawl report does",
    "thresholds": "the summary alone does not judge; mawl report does",
    "smt.*": "the kernel or the recording does not tell",
    "outside_cpu": "no account outside mawl was at hand (a control group that mawl may use)",
    "outside_cpu.cpu_seconds": "that account gives no sum",
    "outside_cpu.user_cpu_seconds": "that account only samples the split into user and system",
    "outside_cpu.system_cpu_seconds": "that account only samples the split into user and system",
    **{f"recorded.{table}": NO_FOLDER for table in ("steps", "samples", "events")},
    "outcome_reason": "nothing to explain",
    "ended_at": "the run has not ended",
    "nodes.*.cpus_used": "not restricted: all processors",
    "nodes.*.memory_limit_bytes": "not restricted: all memory",
    "failures.*.reason": "none was recorded",
    "windows.*": "no sample covers that window, or this run did not measure it",
    "programs.*": "no job of this program counts, or one of them lacks the figure",
}
"""What this version does not fill, and nulls that say something themselves."""

COLLECTIONS = ("programs", "nodes", "failures", "signature", "windows", "volumes", "thresholds")
NESTED = {("limit", "evidence"), ("validity", "findings"), ("validity", "unmeasured"), ("io", "by_role"),
          ("cluster", "nodes"), ("cluster", "storage"), ("smt", "nodes"), ("storage", "by_role"),
          ("compressibility", "estimates"), ("compressibility", "role_estimates"),
          ("compressibility", "volumes"), ("time", "periods")}  # fmt: skip
BY_JOB = ("capacity", "slowdown", "by_job")
HOST_COLLECTIONS = ("device", "network", "fabric", "mount")

Path = tuple[str, ...]


def reasons(summary: Block, found: Mapping[str, str], recorded: Mapping[str, str]) -> Missing:
    """The reason of every null in a summary, by its dotted path (``*`` for any member without its own).

    ``found`` are reasons from working the summary out, ``recorded`` those of the run's facts.
    """
    result: Missing = {}
    for path in nulls(summary):
        exact, general = ".".join(path), ".".join(generalised(path))
        if exact != general and found.get(exact):
            result[exact] = found[exact]
            continue
        candidates = (
            recorded.get(exact),
            recorded.get(general),
            found.get(general),
            LATER.get(general),
        )
        fallback = LATER.get(f"{path[0]}.*", NOT_MEASURED)
        result.setdefault(general, next((reason for reason in candidates if reason), fallback))
    return dict(sorted(result.items()))


def nulls(value: Any, path: Path = ()) -> Iterator[Path]:
    """The paths of all nulls; list members by their index."""
    if value is None:
        yield path
    members: Iterator[tuple[object, Any]] = iter(())
    if isinstance(value, dict):
        members = iter(value.items())
    elif isinstance(value, list):
        members = iter(enumerate(value))
    for name, member in members:
        yield from nulls(member, (*path, str(name)))


def generalised(path: Path) -> Path:
    """The path with ``*`` for the member of a collection."""
    if len(path) > 2 and (path[:2] in NESTED or (path[0] == "host" and path[1] in HOST_COLLECTIONS)):
        return (*path[:2], "*", *path[3:])
    if path[:3] == BY_JOB and len(path) > 3:
        return (*path[:3], "*", *path[4:])
    return (path[0], "*", *path[2:]) if len(path) > 1 and path[0] in COLLECTIONS else path
