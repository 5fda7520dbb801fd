"""Checks that the tables of a run agree with its plan, with its facts, with each other and with its nodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import groupby

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import compute

from mawl.figures.view import StoredView
from mawl.records.model.records import FIELDS, PEAKS, EventRecord, JobRecord, StepRecord, Usage, total
from mawl.records.model.role_io import (
    HISTOGRAMS,
    IO_FIELDS,
    LONGEST,
    WAIT_FIELDS,
    IoByRole,
    RoleIo,
    Waits,
    sum_by_role,
)
from mawl.records.model.run import PLANNED_FIELDS, RunFacts
from mawl.records.store import Run
from mawl.records.store.files import NODES


class RunRecords:
    """The facts and records of one run.  Properties raise what reading a table raises."""

    def __init__(self, view: StoredView) -> None:
        self.run = view.run
        self.facts: RunFacts = view.facts
        self.jobs: list[JobRecord] = view.jobs

    @cached_property
    def by_name(self) -> dict[str, JobRecord]:
        """The jobs by name; of two of one name the last."""
        return {job.job: job for job in self.jobs}

    @cached_property
    def finished(self) -> list[JobRecord]:
        return [job for job in self.jobs if job.outcome == "finished"]

    @cached_property
    def steps(self) -> dict[str, list[StepRecord]]:
        return self.run.steps_by_job()

    @cached_property
    def events(self) -> list[EventRecord]:
        return self.run.event_records()

    def series(self, name: str) -> dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]]:
        """Of a series of the samples: node to times (seconds since the epoch) and values, in the table's
        order."""
        table = self.run.samples
        rows = table.filter(compute.equal(table["series"], name))
        found = {}
        for node in compute.unique(rows["node"]).to_pylist():
            own = rows.filter(compute.equal(rows["node"], node))
            times = own["sampled_at"].cast(pa.int64()).to_numpy() / 1e6
            found[node] = (times, own["value"].to_numpy())
        return found


def plan_faults(records: RunRecords) -> Iterator[str]:
    """Sentences on jobs that are not those of the plan, and on facts that count them otherwise."""
    facts, jobs = records.facts, records.jobs
    if len(records.by_name) < len(jobs):
        yield "jobs has two rows of one job"
    planned = {job.job: job for job in facts.planned_jobs}
    if len(planned) < len(facts.planned_jobs):
        yield "run.json plans a job twice"
    if set(planned) != set(records.by_name):
        odd = sorted(set(planned) ^ set(records.by_name))
        yield f"jobs and the planned jobs of run.json are not the same: {odd[0]} is only in one of them"
    for name in sorted(set(planned) & set(records.by_name)):
        for field in PLANNED_FIELDS:
            if getattr(planned[name], field) != getattr(records.by_name[name], field):
                yield f"{name}: its {field} is another in jobs than in the plan of run.json"
    yield from _counts(records)
    well = len(records.finished) == len(jobs)
    if (facts.outcome == "completed") != well:
        yield f"run.json says {facts.outcome}, and {len(records.finished)} of {len(jobs)} jobs finished"
    for job in records.finished:
        if job.verified is False or job.signal is not None or job.exit_code not in (0, None):
            yield f"{job.job} is called finished, and its exit code, signal or answer says otherwise"


def _counts(records: RunRecords) -> Iterator[str]:
    facts, workload = records.facts, records.facts.workload
    if workload.jobs != len(facts.planned_jobs):
        yield f"run.json counts {workload.jobs} jobs and plans {len(facts.planned_jobs)}"
    sessions = len({(job.node, job.session) for job in facts.planned_jobs})
    if workload.sessions != sessions:
        yield f"run.json counts {workload.sessions} sessions and plans {sessions}"
    nodes = {node.name for node in facts.nodes}
    strange = next((job for job in records.jobs if job.node not in nodes), None)
    if strange is not None:
        yield f"{strange.job} ran on {strange.node}, which is no node of run.json"


SUM_TOLERANCE_SECONDS = 1e-6
"""What sums of seconds in floating point may be off by."""
CLOCKS_SECONDS, CLOCKS_RATIO = 0.05, 0.001
WITHIN_OR_BEFORE = ("startup", "view", "nested")
"""Steps before the job's start, or within a step that follows them."""
_ADDED = tuple(name for name in FIELDS if name not in PEAKS)


def step_faults(records: RunRecords) -> Iterator[str]:
    """Sentences on jobs that are not the sum of their parts."""
    for name in sorted(set(records.steps) - set(records.by_name)):
        yield f"steps has rows of {name}, which is no job"
    for job in records.finished:
        steps = records.steps.get(job.job, [])
        if [step.number for step in steps] != list(range(1, job.steps + 1)):
            yield f"{job.job}: jobs counts {job.steps} steps, steps has other ones"
        yield from (f"{job.job}: {text}" for text in _usages(job, steps))
        yield from (f"{job.job}: {text}" for text in _times(job, steps))
        yield from (f"{job.job}: {text}" for text in _io(job, steps))


def _usages(job: JobRecord, steps: list[StepRecord]) -> Iterator[str]:
    own = total(step.usage for step in steps if step.kind in ("data", "procedure"))
    verify = total(step.usage for step in steps if step.kind == "verify")
    for name in _ADDED:
        whole, part = getattr(job.usage, name), getattr(own, name)
        if whole is not None and part is not None and part > whole + SUM_TOLERANCE_SECONDS:
            yield f"{name} is {whole} of the job, and its steps have {part}"
        if getattr(job.verify, name) != getattr(verify, name):
            yield f"verify_{name} is not that of the step verify"
        yield from _total_usage(name, job)
    for name in PEAKS:
        if getattr(job.verify, name) != getattr(verify, name):
            yield f"verify_{name} is not that of the step verify"
        of_steps, of_job = getattr(own, name), getattr(job.usage, name)
        if of_steps is not None and of_job is not None and of_steps > of_job:
            yield f"{name} is {of_job} of the job, and a step reached {of_steps}"
    if steps and job.usage.memory_bytes is not None:
        for step in steps:
            yield from _memory(step)


def _memory(step: StepRecord) -> Iterator[str]:
    above, whole = step.usage.memory_bytes, step.usage.os_memory_bytes
    if above is not None and whole is not None and above > whole:
        yield f"step {step.number} used more memory than its process had"


def _total_usage(name: str, job: JobRecord) -> Iterator[str]:
    """What an outside account of the process tree saw is start-up, own and verify together."""
    whole = getattr(job.total, name)
    parts = [getattr(usage, name) for usage in (job.usage, job.startup, job.verify)]
    if whole is None or parts[0] is None:
        return
    added = sum(part for part in parts if part is not None)
    if name == "real_time_seconds":
        wrong = added > whole + SUM_TOLERANCE_SECONDS  # it waited at the gate, too
    else:
        # Clocks of different calls may disagree by a tick: the job's own is then cut at zero.
        wrong = abs(whole - added) > SUM_TOLERANCE_SECONDS and not (parts[0] == 0 and added > whole)
    if wrong:
        yield f"total_{name} is {whole}, and start-up, own and verify are {added}"


def _times(job: JobRecord, steps: list[StepRecord]) -> Iterator[str]:
    yield from _waits("", job.waits, job.usage)
    if job.started_at is None or job.ended_at is None:
        yield "it finished without a start or an end"
        return
    if job.ended_at < job.started_at or (job.ready_at is not None and job.ready_at > job.started_at):
        yield "it was ready, started and ended in another order"
    real = job.usage.real_time_seconds
    if real is not None and _clocks_disagree(
        job.ended_at - job.started_at, real + (job.verify.real_time_seconds or 0.0)
    ):
        yield f"it took {real} s, and its start and end are not so far apart"
    before = job.started_at
    for step in steps:
        yield from _waits(f"step {step.number}: ", step.waits, step.usage)
        if step.started_at is None or step.ended_at is None or step.kind in WITHIN_OR_BEFORE:
            continue
        if not before - 1e-3 <= step.started_at <= step.ended_at <= job.ended_at + 1e-3:
            yield f"step {step.number} began before the previous step ended, or is not within its job"
        real = step.usage.real_time_seconds
        if real is not None and _clocks_disagree(step.ended_at - step.started_at, real):
            yield f"step {step.number} took {real} s, and its start and end are not so far apart"
        before = step.started_at


def _clocks_disagree(wall: float, real: float) -> bool:
    """Whether two clocks disagree by more than a slew (adjtimex(2)) and the time between two readings."""
    return abs(wall - real) > CLOCKS_SECONDS + CLOCKS_RATIO * real


def _waits(where: str, waits: Waits, usage: Usage) -> Iterator[str]:
    values = [getattr(waits, name) for name in WAIT_FIELDS]
    if usage.real_time_seconds is None or None in values:
        return
    if (
        min(values) < -SUM_TOLERANCE_SECONDS
        or abs(sum(values) - usage.real_time_seconds) > SUM_TOLERANCE_SECONDS
    ):
        yield f"{where}CPU time, run queue and waits add up to {sum(values)} of {usage.real_time_seconds} s"


def _io(job: JobRecord, steps: list[StepRecord]) -> Iterator[str]:
    if job.io is None:
        return
    own = [step for step in steps if step.kind in ("data", "procedure")]
    parts = sum_by_role(step.io for step in own if step.io is not None)
    for role, whole in job.io.items():
        for name in IO_FIELDS:
            if name in HISTOGRAMS or name in LONGEST or role not in parts:
                continue
            if getattr(parts[role], name) > getattr(whole, name) + SUM_TOLERANCE_SECONDS:
                yield f"{role}_{name} is {getattr(whole, name)} of the job, and its steps have more"
        yield from (f"{role}: {text}" for text in _calls(whole))
    yield from _bytes(job, job.io)


def _calls(whole: RoleIo) -> Iterator[str]:
    """Each call has one latency and each that did not fail one size."""
    for ways, calls, moved in (("read", "reads", "read"), ("write", "writes", "written")):
        done, failed = getattr(whole, calls), getattr(whole, f"failed_{calls}")
        if sum(getattr(whole, f"{ways}_nanoseconds_histogram").values()) != done:
            yield f"the latencies of {calls} are of another number of calls"
        sizes = getattr(whole, f"{ways}_size_bytes_histogram")
        if sum(sizes.values()) != done - failed:
            yield f"the sizes of {calls} are of another number of calls"
        if sum(size * count for size, count in sizes.items()) > getattr(whole, f"{moved}_bytes"):
            yield f"the sizes of {calls} are more bytes than were {moved}"
        if getattr(whole, f"sequential_{moved}_bytes") > getattr(whole, f"{moved}_bytes"):
            yield f"more bytes were {moved} in sequence than at all"


def _bytes(job: JobRecord, io: IoByRole) -> Iterator[str]:
    for way, moved in ((0, "read"), (1, "written")):
        by_role = {role: getattr(one, f"{moved}_bytes") for role, one in io.items()}
        if job.volume_bytes is not None:
            by_volume = sum(both[way] for both in job.volume_bytes.values())
            of_roles = sum(count for role, count in by_role.items() if role != "other")
            if by_volume != of_roles:
                yield f"{by_volume} bytes were {moved} by volume, and {of_roles} by role"
        counted = getattr(job, f"counted_{moved}_bytes")
        if counted is not None and sum(by_role.values()) > counted:
            yield f"{sum(by_role.values())} bytes were {moved} by role, and {counted} in all"
    kernel, counted = job.usage.application_read_bytes, job.counted_read_bytes
    if kernel is not None and counted is not None and counted > kernel:
        yield f"{counted} bytes were read by the counters, and {kernel} by the kernel"


_MERGED_JOB_FIELDS = tuple(
    name
    for name in JobRecord.__struct_fields__
    if name not in ("job", "node", "ready_at", "started_at", "ended_at")
)
_MERGED_STEP_FIELDS = tuple(
    name for name in StepRecord.__struct_fields__ if name not in ("job", "started_at", "ended_at")
)
"""What merging leaves as it is: it names a job by its node, and moves times to the controller's clock."""


def node_faults(records: RunRecords, nodes: Mapping[str, Run]) -> Iterator[str]:
    """Sentences on jobs and steps that differ from those of the node that ran them.

    ``nodes`` are by their place below the run's folder.  Only nodes that ended well are asked: of others the
    folder may hold less than was merged.
    """
    for node_run in records.facts.node_runs:
        own = nodes.get(f"{NODES}/{node_run.node}")
        if own is None or node_run.outcome != "completed":
            continue
        jobs = {f"{node_run.node}.{job.job}": job for job in own.job_records()}
        merged = {job.job: job for job in records.jobs if job.node == node_run.node}
        if jobs.keys() != merged.keys():
            yield f"jobs of {node_run.node} differ from those of its own run"
        steps = own.steps_by_job()
        for name in sorted(jobs.keys() & merged.keys()):
            yield from _differences_of_node(f"{name}: ", merged[name], jobs[name], _MERGED_JOB_FIELDS)
            ours, theirs = records.steps.get(name, []), steps.get(jobs[name].job, [])
            if len(ours) != len(theirs):
                yield f"{name}: steps has {len(ours)} rows, and its node's own run {len(theirs)}"
            for step, other in zip(ours, theirs, strict=False):
                yield from _differences_of_node(
                    f"{name}, step {step.number}: ", step, other, _MERGED_STEP_FIELDS
                )


def _differences_of_node(
    where: str, merged: JobRecord | StepRecord, own: JobRecord | StepRecord, fields: tuple[str, ...]
) -> Iterator[str]:
    for field in fields:
        if getattr(merged, field) != getattr(own, field):
            yield f"{where}its {field} differs from that in the node's own run"


SLACK_SECONDS = 2.0
"""The most that a sample may be early or late, on a machine with more tasks than processors."""
SUMS = (
    "application_read_bytes",
    "application_written_bytes",
    "own_read_bytes",
    "charged_written_bytes",
)
"""Series that sum up what jobs have moved."""
_CPU_RATIO, _CPU_SECONDS = 0.05, 0.5
"""What two accounts of the same CPU time may differ by: a control group counts what a wait4 misses."""


def time_faults(records: RunRecords) -> Iterator[str]:
    """Sentences on moments and sums that cannot all be true."""
    yield from _events(records)
    yield from _stage_order(records)
    yield from _facts(records)
    if records.facts.outcome == "completed":  # else jobs without a record moved bytes, too
        yield from _samples(records)
        yield from _jobs_running(records)


def _events(records: RunRecords) -> Iterator[str]:
    starts: dict[str, list[EventRecord]] = {}
    ends: dict[str, list[EventRecord]] = {}
    released: float | None = None
    for event in records.events:
        if event.event == "gate_released":
            released = event.happened_at if released is None else min(released, event.happened_at)
        if event.job is not None and event.event in ("job_started", "job_ended"):
            (starts if event.event == "job_started" else ends).setdefault(event.job, []).append(event)
    for name in sorted((set(starts) | set(ends)) - set(records.by_name)):
        yield f"events name {name}, which is no job"
    for job in records.finished:
        began, ended = starts.get(job.job, []), ends.get(job.job, [])
        if [event.happened_at for event in began] != [job.started_at]:
            yield f"{job.job}: events and jobs do not agree on its start"
        if [event.detail for event in ended] != [job.outcome]:
            yield f"{job.job}: events and jobs do not agree on its end"
        elif job.ended_at is not None and ended[0].happened_at < job.ended_at:
            yield f"{job.job}: its end is known before it ended"
        gated = job.gate is not None and job.started_at is not None and released is not None
        if gated and job.started_at < released - SLACK_SECONDS:  # type: ignore[operator]
            yield f"{job.job} started before its gate was released"


def _stage_order(records: RunRecords) -> Iterator[str]:
    """Stages of a session come one after another."""
    sessions: dict[tuple[str, str], list[JobRecord]] = {}
    for job in records.finished:
        sessions.setdefault((job.node, job.session), []).append(job)
    for jobs in sessions.values():
        before = 0.0  # the last end of all stages so far
        for _, stage in groupby(sorted(jobs, key=lambda job: job.stage), key=lambda job: job.stage):
            own = list(stage)
            for job in own:
                if job.started_at is not None and job.started_at < before - SLACK_SECONDS:
                    yield f"{job.job} started before the stage before it had ended"
            before = max(before, *(job.ended_at or 0.0 for job in own))


def _facts(records: RunRecords) -> Iterator[str]:
    facts = records.facts
    starts = [job.started_at for job in records.jobs if job.started_at is not None]
    ends = [job.ended_at for job in records.jobs if job.ended_at is not None]
    late = facts.ended_at is not None and ends and max(ends) > facts.ended_at + SLACK_SECONDS
    if late or (starts and min(starts) < facts.started_at - SLACK_SECONDS):
        yield "jobs ran outside the start and the end of run.json"
    run = facts.phases.run_seconds
    if run is not None and starts and ends:
        lasted = max(ends) - min(starts)
        if lasted > run * 1.001 + SLACK_SECONDS:
            yield f"run.json says that jobs ran for {run} s, and they ran for {lasted} s"
    outside, launcher = facts.outside_cpu, facts.launcher.cpu_seconds
    cpu = [job.total.cpu_seconds for job in records.jobs]
    if outside is not None and outside.cpu_seconds is not None and launcher is not None and None not in cpu:
        ours = sum(seconds for seconds in cpu if seconds is not None) + launcher
        if abs(ours - outside.cpu_seconds) > _CPU_RATIO * ours + _CPU_SECONDS:
            yield f"jobs used {ours:.2f} s of CPU, and {outside.source} says {outside.cpu_seconds:.2f} s"


def _samples(records: RunRecords) -> Iterator[str]:
    facts = records.facts
    table = records.run.samples
    if not table.num_rows:
        return
    known = {node.name for node in facts.nodes} | {storage.node for storage in facts.storage_runs}
    strange = set(table["node"].unique().to_pylist()) - known
    if strange:
        yield f"samples are of {sorted(strange)[0]}, which is no node of run.json"
    for name in SUMS:
        for node, (_, values) in records.series(name).items():
            if (np.diff(values) < 0).any():
                yield f"samples: {name} of {node} falls, and it is a sum"
            whole = sum(getattr(job.total, name) or 0 for job in records.jobs if job.node == node)
            if len(values) and values[-1] > whole * 1.0001 + 1:
                yield f"samples: {name} of {node} reached {values[-1]:.0f}, and the jobs have {whole}"


def _jobs_running(records: RunRecords) -> Iterator[str]:
    """At each second as many jobs ran as had started and not ended."""
    spans: dict[str, list[tuple[float, float]]] = {}
    for job in records.jobs:
        if job.started_at is not None and job.ended_at is not None:
            spans.setdefault(job.node, []).append((job.started_at, job.ended_at))
    for node, (times, values) in records.series("jobs_running").items():
        starts = np.sort([start for start, _ in spans.get(node, [])])
        ends = np.sort([end for _, end in spans.get(node, [])])

        def between(begun: float, over: float) -> np.ndarray:
            at_work = np.searchsorted(starts, times + begun) - np.searchsorted(ends, times + over)  # noqa: B023
            return np.asarray(at_work)

        most = between(SLACK_SECONDS, -SLACK_SECONDS)
        least = between(-SLACK_SECONDS, SLACK_SECONDS)
        wrong = (values > most) | (values < least)
        if wrong.any():
            second = int(np.argmax(wrong))
            yield (
                f"samples: {values[second]:.0f} jobs ran on {node} at a moment when {least[second]} to "
                f"{most[second]} did by their starts and ends"
            )
