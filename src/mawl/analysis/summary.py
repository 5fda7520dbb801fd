"""A run's summary: the names of docs/reference/metrics.md, which other tools may rely on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from mawl.analysis.blocks import Block, Missing
from mawl.analysis.cluster import cluster_block
from mawl.analysis.compressibility import compressibility_of
from mawl.analysis.demand import storage_block
from mawl.analysis.device_bytes import COMPRESSED, compressed_roles, device_bytes
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
from mawl.analysis.moments import as_plain, busy_cores, with_peaks
from mawl.analysis.periods import observed_remark, times_of_import
from mawl.analysis.role_devices import devices_by_role
from mawl.analysis.roles import by_role_block, coverage_ratio, direct_block, io_remarks
from mawl.analysis.signature import signature_block
from mawl.analysis.throughput import APPLICATION, side_in_time
from mawl.analysis.volumes import roles_block, volumes_block
from mawl.analysis.waits import wait_block
from mawl.model.records import JobRecord
from mawl.model.run import RunFacts
from mawl.units import format_instant

if TYPE_CHECKING:
    from mawl.analysis.view import RunView

DAMAGED = "are damaged, and no figure here is of them"
"""What a remark says of a table that is there and cannot be read."""


def summary_of(view: RunView) -> Block:
    """A run's summary as plain data; ``missing`` gives the reason of every null by its path.

    Times and bytes are sums over the jobs that count (:func:`mawl.analysis.blocks.counted`);
    what happened when, and the CPU account, over all.  Without samples there are no figures over time; the
    events say which jobs of a run that did not go through had started.
    """
    facts, jobs, samples, good = view.facts, view.jobs, view.samples, view.counted
    found: Missing = dict(view.damage)
    line, windows, device, course = view.line, view.windows, view.device, view.moments
    time = time_block(facts, good, line, found)
    time |= times_of_import(line, jobs, samples, device, found)
    in_time = {
        name: side_in_time(f"io.{name}", counters, facts, jobs, windows, samples, found)
        for name, counters in (("application", APPLICATION), ("device", device))
    }
    span = (windows.edges[0], windows.edges[-1]) if windows else None
    at_devices = view.moved or device_bytes(facts, samples, device, span)
    volumes = volumes_block(facts, good, samples, windows.edges if windows else None, found)
    summary: Block = {
        **_identity(facts),
        "recorded": {
            "jobs": len(jobs),
            **{name: view.rows.get(name) for name in ("steps", "samples", "events")},
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
    summary["storage"] = storage_block(facts, by_role, jobs, windows, samples, view.probe, found)
    busy = busy_cores(samples, windows) if samples and windows else None
    if compressed := compressed_roles(facts):
        summary["remarks"].append(f"{COMPRESSED.format(' and '.join(compressed))}; own bytes are missing")
    summary["remarks"] += observed_remark(line)
    if windows is not None:
        summary["remarks"] += partial_remark(summary["host"], windows.edges[-1] - windows.edges[0])
    summary["signature"] = signature_block(facts, summary, found, busy_cores=busy)
    summary["remarks"] += [
        f"{path.removeprefix('recorded.')} {DAMAGED}: {why}" for path, why in view.damage.items()
    ]
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


def inputs_block(facts: RunFacts, missing: Missing) -> Block | None:
    """The input tables in the page cache when the run began; None where nobody looked."""
    cache = facts.cache
    if cache is None:
        missing["inputs"] = "the page cache before the start was not measured (format 1.0, or imported)"
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
