"""The facts of an imported run: what its files tell, and why the rest is missing."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Mapping, Sequence, Set

import msgspec

from mawl.base.units import counted_noun, format_percent, format_rate, format_request
from mawl.importers.fio import UNKNOWN
from mawl.importers.formats.text import one_line
from mawl.importers.hosts import SHARES_ALONE, SHARES_OF_SEVERAL
from mawl.importers.items import Collected, volumes_by_pattern
from mawl.importers.sas_jobs import NO_STARTUP, STEP_UNREAD, WITH_STARTUP
from mawl.records.model.records import JobRecord
from mawl.records.model.run import (
    PLATFORM_NOT_NAMED,
    PLATFORM_SEPARATOR,
    NodeFacts,
    RunFacts,
    Skipped,
    SourceFacts,
    WorkloadFacts,
)
from mawl.records.model.summary.time import OwnCost
from mawl.records.spec.program_options import ROLES, Role
from mawl.version import __version__, source_sha256

MOST_TESTS = 20
MOST_PLATFORMS = 5
NOT_IN_FILES = "the imported files do not contain it"
NO_ROLES = "SAS logs do not count I/O by role"
NO_ROLES_OF_HOST = "recordings of hosts and storage do not say which job moved the bytes"
NO_RUN_QUEUE = "a SAS log does not say how long its job waited for a CPU"
NO_BLOCKED = "a SAS log has neither run queue nor I/O by role (wait.blocked_at_most_seconds bounds the sum)"
NO_LAUNCHER = "an imported run had no launcher of mawl"
NO_END = "fio records when it wrote its results, not when its tests began and ended"
NO_TIME = "no file names a time"
NO_JOB_END = "the logs have page headers and no timestamps or session totals: starts, and no ends"
MISSING: dict[str, str] = {
    "start_mode": "an imported run was not started by mawl",
    "on_failure": "an imported run was not started by mawl",
    **{
        f"workload.{name}": "an imported run has no workload file"
        for name in ("scale", "scale_name", "seed", "options", "planned_peak_concurrent", "gate_jobs")
    },
    "jobs.planned_peak_concurrent": "an imported run has no plan",
    **{
        f"nodes.*.{name}": NOT_IN_FILES
        for name in (
            *("kernel", "python", "cpu_model", "cores", "core_basis", "memory_bytes", "cpus_used"),
            *(
                "cpu_quota",
                "memory_limit_bytes",
                "sockets",
                "physical_cores",
                "logical_cpus",
                "smt",
                "virtual",
            ),
        )
    },
    "io.by_role": NO_ROLES,
    "io.coverage_ratio": NO_ROLES,
    "compressibility": "what the jobs stored was not measured: the import has files, not their storage",
    "energy": NOT_IN_FILES,
    "inputs": "an imported run has no input tables of mawl",
    **{f"overhead.{name}": "mawl was not there while the jobs ran" for name in OwnCost.__struct_fields__},
    "outside_cpu": "an imported run has no other account than its files",
    "time.startup_seconds": NO_LAUNCHER,
    **{
        f"cpu_account.{part}.{name}_seconds": why
        for part, why in (
            ("total", NO_LAUNCHER),
            ("launcher", NO_LAUNCHER),
            ("startup", "SAS's session total includes its initialization"),
            ("verify", "the jobs' answers were not checked"),
        )
        for name in ("user_cpu", "system_cpu", "cpu")
    },
    "wait.run_queue_seconds": NO_RUN_QUEUE,
    **{
        f"{prefix}{role}{suffix}": NO_BLOCKED
        for prefix, suffix in (("wait.blocked_seconds.", ""), ("programs.*.wait.blocked_", "_seconds"))
        for role in (*ROLES, "other")
    },
    "programs.*.wait.run_queue_seconds": NO_RUN_QUEUE,
}
"""Reasons that hold for every imported run, by the path in the summary."""


def facts_of(
    run_id: str,
    command: Sequence[str],
    roles: Mapping[Role, Sequence[re.Pattern[str]]],
    collected: Collected,
    jobs: Sequence[JobRecord],
    sources: Sequence[SourceFacts],
    refused: Sequence[Skipped],
) -> RunFacts:
    """Everything ``run.json`` holds of an imported run."""
    span = collected.job_span() or collected.host_span()
    bad = sum(job.outcome != "finished" for job in jobs)
    sessions = len({(job.node, job.session) for job in jobs})
    remarks = [*_remarks(collected, jobs, sources, refused), *_fio_figures(collected)]
    if scaled := _scaled_by_purr(collected):
        remarks.append(f"CPU times of {', '.join(scaled[:5])} are AIX's, scaled by PURR: raw, not adjusted")
    shares_alone = _shares_alone(collected)
    remarks += [shares_alone[path] for path in list(shares_alone)[-1:]]
    started_at = _started_at(collected, sources)
    if started_at is None:
        remarks.append("no file names a time: the run's start is when it was imported")
    return RunFacts(
        run_id=run_id,
        kind="imported",
        mawl_version=__version__,
        source_sha256=source_sha256(),
        workload=WorkloadFacts(
            name="imported",
            title=f"{counted_noun(len(jobs), 'job')} of {counted_noun(len(sources), 'imported file')}",
            sessions=sessions,
            jobs=len(jobs),
        ),
        outcome="failed" if bad else "completed",
        outcome_reason=f"{bad} of {len(jobs)} imported jobs did not finish well" if bad else None,
        started_at=time.time() if started_at is None else started_at,
        ended_at=None if span is None else span[1],
        command=list(command),
        nodes=_nodes(collected, jobs),
        software=_software(collected),
        settings=collected.settings,
        roles={},
        volumes=volumes_by_pattern(roles, collected.devices),
        sources=list(sources),
        missing={
            **MISSING,
            **({} if jobs else dict.fromkeys(("io.by_role", "io.coverage_ratio"), NO_ROLES_OF_HOST)),
            **({} if span else {"ended_at": _no_end_reason(collected, started_at)}),
            **shares_alone,
        },
        remarks=remarks,
    )


def _shares_alone(collected: Collected) -> dict[str, str]:
    """Why seconds of processors are not known, and of several hosts no share: none tells their number."""
    nodes = sorted(collected.cores.unknown)
    if not nodes:
        return {}
    more = f" and {len(nodes) - MOST_PLATFORMS} more" if len(nodes) > MOST_PLATFORMS else ""
    why = SHARES_ALONE.format(", ".join(nodes[:MOST_PLATFORMS]) + more)
    found = {"host.cpu_busy_seconds": why}
    if len(collected.host) > 1:
        kinds = ("busy", "user", "system", "interrupt", "iowait", "steal")
        found |= dict.fromkeys((f"host.cpu_{kind}_ratio" for kind in kinds), SHARES_OF_SEVERAL.format(why))
    return found


def _scaled_by_purr(collected: Collected) -> list[str]:
    """Whose CPU time is AIX's: hosts by their recordings, logs by the platform in their banners."""
    ending = ".cpu_accounting"
    hosts = sorted(name.removesuffix(ending) for name in collected.settings if name.endswith(ending))
    logs = any((job.platform or "").startswith("AIX") for job, _ in collected.jobs)
    return [*hosts, *(["the SAS logs"] if logs else [])]


def _fio_figures(collected: Collected) -> list[str]:
    if collected.probe is None:
        return []
    told = [
        f"fio{where}: {test.pattern} {test.direction}, "
        f"{format_request(test.request_bytes)}, {test.streams} at once: {verb} "
        f"{format_rate(figures.bytes_per_second)}"
        for target in collected.probe.targets
        for where in ["" if target.directory == UNKNOWN else f" in {one_line(target.directory)}"]
        for test in target.tests
        for verb, figures in (("read", test.read), ("written", test.write))
        if figures is not None
    ]
    more = len(told) - MOST_TESTS
    return told[:MOST_TESTS] + ([f"and {more} more figures of fio in probe.json"] if more > 0 else [])


def _tested_at(collected: Collected, sources: Sequence[SourceFacts]) -> float | None:
    """When the first of fio's documents was written (seconds since the epoch); None where none says so."""
    told = any(source.kind == "fio" and source.zone_known for source in sources)
    return collected.probe.created_at if collected.probe is not None and told else None


def _started_at(collected: Collected, sources: Sequence[SourceFacts]) -> float | None:
    """When the first job or recording began, else when fio wrote; None where no file has a time."""
    starts = [job.started_at for job, _ in collected.jobs if job.started_at is not None]
    if span := collected.job_span() or collected.host_span():
        starts.append(span[0])
    return min(starts) if starts else _tested_at(collected, sources)


def _no_end_reason(collected: Collected, started_at: float | None) -> str:
    if started_at is None:
        return NO_TIME
    return NO_JOB_END if any(job.started_at is not None for job, _ in collected.jobs) else NO_END


def _nodes(collected: Collected, jobs: Sequence[JobRecord]) -> list[NodeFacts]:
    """Nodes with recordings, and those that only jobs name, by name.

    The kernel of a recorded node also has the other systems that the logs of its jobs name: these logs are of
    another host.
    """
    shown = {job.job: platform for job, _ in collected.jobs if (platform := job.platform)}
    platforms: dict[str, set[str]] = {}
    for job in jobs:
        if job.job in shown:
            platforms.setdefault(job.node, set()).add(shown[job.job])
    nowhere = {job.job for job, _ in collected.jobs if not (job.node or job.platform)}
    mixed = {job.node for job in jobs if job.job in nowhere}
    nodes = {
        name: _of_all_systems(node, platforms.get(name, frozenset()))
        for name, node in collected.nodes.items()
    }
    for name in {*(job.node for job in jobs), *collected.host} - set(nodes):
        kernels = platforms.get(name, set())
        # If there are too many, leave out Linux: without the others the node would pass for a Linux one.
        kept = sorted(sorted(kernels, key=lambda one: (one.startswith("Linux"), one))[:MOST_PLATFORMS])
        kernel = PLATFORM_SEPARATOR.join(kept + [PLATFORM_NOT_NAMED] * (name in mixed)) if kept else None
        nodes[name] = NodeFacts(name=name, kernel=kernel)
    return [nodes[name] for name in sorted(nodes)]


def _of_all_systems(node: NodeFacts, platforms: Set[str]) -> NodeFacts:
    """A recorded node, with the platforms of its logs that are of another system than the recording."""
    if node.kernel is None:
        return node
    own = node.kernel.partition(" ")[0]
    others = sorted(one for one in platforms if one.partition(" ")[0] != own)[:MOST_PLATFORMS]
    return msgspec.structs.replace(node, kernel=PLATFORM_SEPARATOR.join([node.kernel, *others]))


def _software(collected: Collected) -> dict[str, str | None]:
    releases = sorted({job.software for job, _ in collected.jobs if job.software})
    return {"sas": ", ".join(releases[:5])} if releases else {}


def _remarks(
    collected: Collected,
    jobs: Sequence[JobRecord],
    sources: Sequence[SourceFacts],
    refused: Sequence[Skipped],
) -> list[str]:
    imported = [job for job, _ in collected.jobs]
    sums = Counter(job.missing.get("usage") for job in imported)
    told = [
        (sums[WITH_STARTUP] + sums[NO_STARTUP], "have no session total: their figures are sums of steps"),
        (sums[WITH_STARTUP], "have a sum that includes SAS's initialization, as session totals do"),
        (sums[NO_STARTUP], "have a sum without SAS's initialization: their logs have no note of it"),
        (sums[STEP_UNREAD], "have no session total and a step that cannot be read: no sum is known"),
        (sum("exact" in job.missing for job in imported), "start at the minute of their page header"),
        (sum(job.started_at is None for job in imported), "have no timestamps and so no place in time"),
    ]
    remarks = [f"{count} of {len(jobs)} jobs {what}" for count, what in told if count]
    untimed = any(job.started_at is None or job.ended_at is None for job in imported)
    inferred = sum(job.session is None for job in imported)
    if inferred:
        remarks.append(
            f"the sessions of {counted_noun(inferred, 'job')} are inferred: the fewest that could have run "
            "jobs that overlap so" + (" (jobs without times: one session a file)" if untimed else "")
        )
    unzoned = sorted({source.kind for source in sources if source.zone_known is False})
    for kind in unzoned:
        zone = next(source.zone for source in sources if source.kind == kind and source.zone_known is False)
        remarks.append(f"times of {kind} files have no zone and are taken as {zone} (--timezone)")
    share = collected.overlap_ratio()
    if share:
        remarks.append(
            f"recordings of the host cover {format_percent(share)} of the run "
            "(from first sample to last; gaps between them are not counted here)"
        )
    if refused:
        remarks.append(
            f"{counted_noun(len(refused), 'file')} could not be read, the first is {refused[0].file}: "
            f"{refused[0].reason}"
        )
    lines = sum(source.skipped_lines for source in sources)
    if lines:
        remarks.append(f"{counted_noun(lines, 'line')} left out or doubtful (sources in run.json)")
    return remarks
