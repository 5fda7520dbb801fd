"""A run's summary: the names of docs/reference/metrics.md, which other tools may rely on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from weakref import WeakKeyDictionary

import msgspec

from mawl.analysis.blocks import Block, Missing, counted
from mawl.analysis.cluster import cluster_block
from mawl.analysis.compressibility import compressibility_of
from mawl.analysis.demand import storage_block
from mawl.analysis.device_bytes import COMPRESSED, DeviceBytes, compressed_roles, device_bytes
from mawl.analysis.figures import (
    cpu_account_block,
    cpu_real_block,
    jobs_block,
    programs_block,
    time_block,
)
from mawl.analysis.gains import partial_remark
from mawl.analysis.host import host_block
from mawl.analysis.io import io_block
from mawl.analysis.missing import reasons
from mawl.analysis.moments import as_plain, busy_cores, moments, with_peaks
from mawl.analysis.periods import observed_remark, times_of_import
from mawl.analysis.role_devices import devices_by_role
from mawl.analysis.roles import by_role_block, coverage_ratio, direct_block, io_remarks
from mawl.analysis.series import Samples
from mawl.analysis.signature import signature_block
from mawl.analysis.throughput import APPLICATION, device_counters, side_in_time
from mawl.analysis.turns import evened
from mawl.analysis.unended import happened, line_of
from mawl.analysis.volumes import roles_block, volumes_block
from mawl.analysis.waits import wait_block
from mawl.analysis.windows import windows_of
from mawl.errors import UnreadableRunError
from mawl.model.probe import Probe
from mawl.model.records import EventRecord, JobRecord
from mawl.model.run import RunFacts
from mawl.store import Run
from mawl.units import format_instant

_SAMPLES: WeakKeyDictionary[Run, Samples | None] = WeakKeyDictionary()


DAMAGED = "are damaged, and no figure here is of them"
"""What a remark says of a table that is there and cannot be read."""


def sampled(run: Run) -> Samples | None:
    """The samples of a stored run; None where it has no figure of any node, or none that can be read.

    What was read in turns is evened out here, so that windows and courses agree.

    Kept while the run is: summary, screen and charts of one report share them.
    """
    if run not in _SAMPLES:
        try:
            apart = [one.node for one in run.facts.storage_runs]
            stored = Samples(run.samples, apart)
            _SAMPLES[run] = evened(stored) if stored.nodes else None
        except UnreadableRunError:
            _SAMPLES[run] = None
    return _SAMPLES[run]


def summarise(run: Run, samples: Samples | None = None) -> Block:
    """The summary of a stored run; see :func:`summary_of`.  ``samples`` where they were read before."""
    jobs = run.job_records()
    rows: dict[str, int] = {}
    missing: Missing = {}
    for name in ("steps", "samples", "events"):
        try:
            rows[name] = run.rows(name)
        except UnreadableRunError as error:
            missing[f"recorded.{name}"] = str(error)
    summary = summary_of(
        run.facts, jobs, rows, missing, samples or sampled(run), happened(run), probe_of(run)
    )
    summary["remarks"] += [
        f"{path.removeprefix('recorded.')} {DAMAGED}: {why}" for path, why in missing.items()
    ]
    return summary


def summary_of(
    facts: RunFacts,
    jobs: Sequence[JobRecord],
    rows: Mapping[str, int] | None = None,
    missing: Mapping[str, str] | None = None,
    samples: Samples | None = None,
    events: Sequence[EventRecord] = (),
    probe: Probe | str | None = None,
    moved: DeviceBytes | None = None,
) -> Block:
    """A run's summary as plain data; ``missing`` gives the reason of every null by its path.

    Times and bytes are sums over the jobs that count (:func:`mawl.analysis.blocks.counted`);
    what happened when, and the CPU account, over all.  ``rows`` are how many steps, samples and
    events the folder holds, ``missing`` why one of them is not known; without ``samples`` there are
    no figures over time.  ``events`` tell which jobs of a run that did not go through had started;
    ``probe`` is what its storage can do, or why that cannot be read; ``moved`` what the devices of the roles
    moved, where it is known without samples.
    """
    found: Missing = dict(missing or {})
    line = line_of(facts, jobs, events, samples)
    good = counted(jobs)
    time = time_block(facts, good, line, found)
    windows = windows_of(line) if line else None
    device = device_counters(facts, samples)
    time |= times_of_import(line, jobs, samples, device, found)
    course = moments(samples, windows, device, facts) if samples and windows else []
    in_time = {
        name: side_in_time(f"io.{name}", counters, facts, jobs, windows, samples, found)
        for name, counters in (("application", APPLICATION), ("device", device))
    }
    span = (windows.edges[0], windows.edges[-1]) if windows else None
    at_devices = moved or device_bytes(facts, samples, device, span)
    volumes = volumes_block(facts, good, samples, windows.edges if windows else None, found)
    summary: Block = {
        **_identity(facts),
        "recorded": {
            "jobs": len(jobs),
            **{name: (rows or {}).get(name) for name in ("steps", "samples", "events")},
        },
        "jobs": jobs_block(facts, jobs, line, found),
        "time": time,
        "cpu_real_ratio": cpu_real_block(time, good, found),
        "io": {
            **io_block(facts, jobs, time["elapsed_seconds"], in_time, found, at_devices, device.reason),
            "by_role": with_peaks(by_role_block(good, facts.roles, found), course),
            "devices_by_role": devices_by_role(facts, samples, windows.edges if windows else None, found),
            "coverage_ratio": coverage_ratio(good, found),
            "direct": direct_block(good, found),
            "unseen": io_remarks(good),
        },
        "wait": wait_block(good, found),
        "programs": programs_block(jobs),
        "cpu_account": cpu_account_block(facts, jobs, found),
        "outside_cpu": msgspec.to_builtins(facts.outside_cpu),
        "overhead": msgspec.to_builtins(facts.overhead),
        "cluster": cluster_block(facts, jobs, samples, windows, found),
        "windows": [as_plain(moment) for moment in course],
        "failures": failures(jobs),
        "remarks": list(facts.remarks),
        "host": host_block(facts, samples, windows.edges if windows else None, found),
        "storage": None,
        "volume_order": facts.volume_order,
        "volumes": volumes,
        "roles": roles_block(facts, volumes, samples, found),
        "inputs": inputs_block(facts, found),
        "compressibility": compressibility_of(facts),
        **dict.fromkeys(("capacity", "limit", "smt", "validity", "thresholds")),
    }
    by_role = summary["io"]["by_role"]
    summary["storage"] = storage_block(facts, by_role, jobs, windows, samples, probe, found)
    busy = busy_cores(samples, windows) if samples and windows else None
    if compressed := compressed_roles(facts):
        summary["remarks"].append(f"{COMPRESSED.format(' and '.join(compressed))}; own bytes are missing")
    summary["remarks"] += observed_remark(line)
    if windows is not None:
        summary["remarks"] += partial_remark(summary["host"], windows.edges[-1] - windows.edges[0])
    summary["signature"] = signature_block(facts, summary, found, busy_cores=busy)
    summary["missing"] = reasons(summary, found, facts.missing)
    return summary


def _identity(facts: RunFacts) -> Block:
    """Which run it is, and what became of it."""
    return {
        "run_id": facts.run_id,
        "format_version": facts.format_version,
        "mawl_version": facts.mawl_version,
        "kind": facts.kind,
        "workload": msgspec.to_builtins(facts.workload),
        "outcome": facts.outcome,
        "outcome_reason": facts.outcome_reason,
        "started_at": format_instant(facts.started_at),
        "ended_at": None if facts.ended_at is None else format_instant(facts.ended_at),
        "start_mode": facts.start_mode,
        "nodes": msgspec.to_builtins(facts.nodes),
    }


def probe_of(run: Run) -> Probe | str | None:
    """The probe of a run, or why it cannot be read: a report goes on without it."""
    try:
        return run.probe
    except UnreadableRunError as error:
        return str(error)


def inputs_block(facts: RunFacts, missing: Missing) -> Block | None:
    """The input tables in the page cache when the run began; None where nobody looked."""
    cache = facts.cache
    if cache is None:
        missing["inputs"] = "nobody looked at the page cache before the start (format 1.0, or imported)"
        return None
    if cache.reason is not None:
        missing["inputs.resident_bytes"] = missing["inputs.resident_ratio"] = cache.reason
    resident = cache.resident_bytes
    share = None if resident is None or not cache.input_bytes else resident / cache.input_bytes
    return {**msgspec.to_builtins(cache), "resident_ratio": share}


def failures(jobs: Sequence[JobRecord]) -> list[Block]:
    """Every job that did not finish, with its sentence, in the order of the records."""
    return [
        {"job": job.job, "program": job.program, "outcome": job.outcome, "reason": job.reason}
        for job in jobs
        if job.outcome != "finished"
    ]
