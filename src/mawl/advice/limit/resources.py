"""The rules of the resources that may limit a run: cpu, memory, storage and network."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from functools import lru_cache

from mawl.advice.limit.evidence import (
    LEAST_LOSS_RATIO,
    Rule,
    RuleEvidence,
    cap_lines,
    caps_reached,
    device_lines,
    device_totals,
    link_lines,
    links_are_known,
    port_lines,
    port_part,
    pressure_line,
    server_part,
    share_of_time,
)
from mawl.advice.validity.host import MOST_FOREIGN_RATIO, foreign_bytes, foreign_cpu_ratio
from mawl.base.units import format_memory, format_percent, format_rate, format_ratio
from mawl.figures.sessions import rates
from mawl.figures.throughput import cores_of
from mawl.figures.view import RunView
from mawl.figures.window_states import Moment, busy_cores
from mawl.records.model.summary.judgement import ReachedCap
from mawl.records.model.thresholds import count_of, value_of
from mawl.records.spec.program_options import ROLES, Role


def _cpu_loss(moment: Moment, _: RunView) -> float | None:
    """Time in the run queue.  Busy processors alone are no limit: nobody may be waiting for them."""
    return moment.share(moment.jobs_in_run_queue)


def _cpu_evidence(reading: RunView) -> list[RuleEvidence]:
    queued, on_cpu = share_of_time(reading, "run_queue"), share_of_time(reading, "on_cpu")
    lines = []
    if queued is not None and on_cpu is not None:
        lines.append(
            RuleEvidence(
                kind="evidence",
                sentence=f"jobs waited for CPU {format_percent(queued)} of the time and "
                f"were on processors {format_percent(on_cpu)} of it",
            )
        )
    lines += pressure_line(reading, "cpu_some", "tasks waited for CPU")
    busy = reading.mean(lambda moment: moment.cpu_busy_ratio)
    if busy is not None:
        lines.append(
            RuleEvidence(kind="support", sentence=f"processors were busy {format_percent(busy)} of the time")
        )
    stopped = reading.mean(lambda moment: moment.throttled_cpus) or 0.0
    if round(stopped, 1) > 0.0:
        sentence = f"the CPU quota of mawl's control group stopped {stopped:.1f} processors on average"
        lines.append(RuleEvidence(kind="support", sentence=sentence))
    return lines


CPU_RULE = Rule(resource="cpu", loss=_cpu_loss, evidence=_cpu_evidence)


LEAST_MEMORY_PRESSURE = value_of("limit.least_memory_pressure")
"""Below this share of time under memory pressure nothing is put down to it: reclaim alone makes some."""

LEAST_REREAD_RATIO = value_of("limit.least_reread_ratio")
"""Below this share of what was read from the devices rereads are not worth a line."""

LEAST_FREE_RATIO = value_of("limit.least_free_ratio")

ROLES_OF_TEMPORARY_FILES: tuple[Role, ...] = ("work", "util")
"""Roles whose files the run makes: an input that left memory before the run counts as read again when
it is read first, so of data the kernel's count tells nothing."""


def memory_part(moment: Moment, reading: RunView, place: str) -> float:
    """The share (0 to 1) of the time blocked in I/O of a role, or in ``other``, that was for memory."""
    return max(pressure_part(moment), reread_part(moment, reading, place))


def pressure_part(moment: Moment) -> float:
    """The pressure of memory beside that of I/O.

    Swapping and pages that come back soon after they were reclaimed count in both pressures, so
    what is left of the larger one is I/O proper (Linux Documentation/accounting/psi.rst).
    """
    memory, io = moment.pressure["memory_some"], moment.pressure["io_some"]
    if memory is None or memory < LEAST_MEMORY_PRESSURE:
        return 0.0
    return memory / max(memory, io or 0.0)


def reread_part(moment: Moment, reading: RunView, place: str) -> float:
    """The share of a role's blocked time that was for reading again what twice the memory would have kept.

    Waits for reads, by the time inside calls, times the reread share of what the devices read.
    """
    share = moment.reading.get(place) if place in ROLES_OF_TEMPORARY_FILES else None
    ratio = reread_ratio(moment)
    if not share or not ratio or not rereads_are_own(reading) or not _twice_would_keep(moment, reading):
        return 0.0
    return share * ratio


@lru_cache(maxsize=1)
def rereads_are_own(reading: RunView) -> bool:
    """Whether what the whole machine read again can be the jobs' (docs/design/verdict.md, Rereads).

    It cannot where the page cache is not used, where memory was free all the time, where others competed, or
    where they read less than half of it as temporary files through the page cache (the kernel reads more).
    """
    facts, io = reading.facts, reading.summary.io
    roles = [io.by_role[role] for role in ROLES_OF_TEMPORARY_FILES] if io.by_role else []
    if reading.over_time is None or not roles or (facts.cache is not None and facts.cache.mode == "none"):
        return False
    samples, windows = reading.over_time
    (again,) = rates(samples, ["host.cache_reread_bytes"], (windows.edges[0], windows.edges[-1]))
    asked = sum(role.read_bytes or 0 for role in roles) - (io.direct.read_bytes or 0)
    if (
        again is None
        or again * (windows.edges[-1] - windows.edges[0]) > 2 * asked
        or memory_was_free(reading)
    ):
        return False
    limited = all(
        node.memory_limit_bytes for node in facts.machines()
    )  # others do not evict pages of a group
    others = 0.0 if limited else foreign_cpu_ratio(reading) or 0.0
    return others <= MOST_FOREIGN_RATIO and foreign_bytes(reading.summary) is None


def memory_was_free(reading: RunView) -> bool:
    """Whether a tenth of each machine's memory was free all the time, what the page cache holds not counted
    as free; under a memory limit a tenth of the limit."""
    for node in reading.facts.machines():
        limit, whole = node.memory_limit_bytes, node.memory_limit_bytes or node.memory_bytes
        name = "group.memory_bytes" if limit else "host.memory_free_bytes"
        found = reading.samples.series(node.name, name) if reading.samples else None
        if found is None or not whole:
            return False
        free = limit - found.values.max() if limit else found.values.min()
        if free < LEAST_FREE_RATIO * whole:
            return False
    return True


def reread_ratio(moment: Moment) -> float | None:
    """Share of the bytes read from the devices that memory had held before; None where nothing was read."""
    read, again = moment.device["read"], moment.reread_bytes_per_second
    return None if not read or again is None else min(again / read, 1.0)


def memory_bytes(reading: RunView) -> int | None:
    """Memory that the jobs and their page cache could use, of all nodes."""
    sizes = [node.memory_limit_bytes or node.memory_bytes for node in reading.facts.machines()]
    return sum(size for size in sizes if size) if sizes and None not in sizes else None


def reread_lines(reading: RunView) -> list[RuleEvidence]:
    """What was read again: evidence where as much memory again would have kept it, else support."""
    ratio = reading.mean(reread_ratio)
    again = reading.mean(lambda moment: moment.reread_bytes_per_second)
    known = [lost for moment in reading.active if (lost := lost_bytes(moment, reading)) is not None]
    memory = memory_bytes(reading)
    if ratio is None or again is None or ratio < LEAST_REREAD_RATIO or not known or memory is None:
        return []
    if not rereads_are_own(reading):
        return []
    lost = statistics.median(known)
    told = (
        f"{format_rate(again)} were read again that memory had held before, {format_percent(ratio)} of what "
        f"came from the devices; {format_memory(memory)} more memory "
    )
    if lost <= memory:
        return [RuleEvidence(kind="evidence", sentence=f"{told}would have kept it")]
    return [
        RuleEvidence(
            kind="support",
            sentence=f"{told}need not have kept it: {format_memory(lost)} were given up",
        )
    ]


def lost_bytes(moment: Moment, reading: RunView) -> float | None:
    """Bytes of temporary files that memory gave up and nobody read again until a window ended.

    A page that is read again was evicted at most so many bytes before, so that much more memory would
    have kept it.  An estimate: temporary files end with their job, so it counts from the first start of
    the jobs that ran in the window; and from what was evicted it takes all that devices gave since:
    rereads, and what was read once and for the first time.  None where a window does not tell.
    """
    if reading.windows is None:
        return None
    begin = reading.windows.edges[0]
    start, end = begin + moment.start_seconds, begin + moment.start_seconds + moment.seconds
    starts = [
        job.started_at
        for job in reading.jobs
        if job.started_at is not None
        and job.started_at < end
        and (job.ended_at is None or job.ended_at > start)
    ]
    since = min(starts, default=start) - begin
    lost = 0.0
    for earlier in reading.moments:
        if since < earlier.start_seconds + earlier.seconds and earlier.start_seconds <= moment.start_seconds:
            evicted, read = earlier.evicted_bytes_per_second, earlier.device["read"]
            if evicted is None or read is None:
                return None
            lost += (evicted - read) * earlier.seconds
    return max(lost, 0.0)


def _twice_would_keep(moment: Moment, reading: RunView) -> bool:
    memory, lost = memory_bytes(reading), lost_bytes(moment, reading)
    return memory is not None and lost is not None and lost <= memory


def _memory_loss(moment: Moment, reading: RunView) -> float | None:
    """The part of all blocked time, inside I/O calls or not, that was for memory."""
    if moment.jobs_blocked is None:
        return None
    return moment.share(
        sum(jobs * memory_part(moment, reading, place) for place, jobs in moment.jobs_blocked.items())
    )


def _memory_evidence(reading: RunView) -> list[RuleEvidence]:
    loss = reading.mean(lambda moment: _memory_loss(moment, reading))
    lines = []
    if loss is not None:
        lines.append(
            RuleEvidence(
                kind="evidence",
                sentence=f"jobs spent {format_percent(loss)} of their time waiting for pages that memory "
                "could not hold (part of the blocked time)",
            )
        )
    lines += reread_lines(reading)
    lines += pressure_line(reading, "memory_some", "tasks waited for memory")
    swap = reading.mean(lambda moment: moment.swap_bytes_per_second)
    if swap:
        lines.append(RuleEvidence(kind="evidence", sentence=f"the system swapped {format_rate(swap)}"))
    return lines


MEMORY_RULE = Rule(resource="memory", loss=_memory_loss, evidence=_memory_evidence)


NEAR_PLATEAU_RATIO = value_of("limit.plateau.near_top_ratio")
"""A window is at the top when it moves this share of the highest one's bytes."""

FEWEST_WINDOWS = count_of("limit.plateau.fewest_windows")
MORE_BLOCKED_RATIO = value_of("limit.plateau.more_ratio")
"""Waits grew when at least this many times as many jobs were blocked."""


def plateau_lines(reading: RunView, totals: Sequence[float | None]) -> list[RuleEvidence]:
    """The plateau as evidence, ``totals`` being the bytes per second of each active window.

    The windows at the top are taken by how many jobs were blocked, half against half.
    Without waits that grow at the same throughput there is no line: a high window by itself shows
    only what was asked for.
    """
    known = [
        (total, blocked)
        for moment, total in zip(reading.active, totals, strict=False)
        if total is not None and (blocked := _jobs_blocked_in_io(moment)) is not None
    ]
    if not known:
        return []
    highest = max(total for total, _ in known)
    top = sorted(
        (pair for pair in known if pair[0] >= NEAR_PLATEAU_RATIO * highest), key=lambda pair: pair[1]
    )
    if len(top) < FEWEST_WINDOWS or highest <= 0:
        return []
    half = len(top) // 2
    fewer, more = (statistics.fmean(blocked for _, blocked in part) for part in (top[:half], top[-half:]))
    if more < MORE_BLOCKED_RATIO * fewer or more <= 0:
        return []
    return [
        RuleEvidence(
            kind="evidence",
            sentence=f"plateau: {len(top)} of {len(known)} windows moved at least "
            f"{format_percent(NEAR_PLATEAU_RATIO)} of the highest, {format_rate(highest)}, "
            f"whether {format_ratio(fewer)} or {format_ratio(more)} jobs were blocked in I/O",
        )
    ]


def _jobs_blocked_in_io(moment: Moment) -> float | None:
    if moment.jobs_blocked is None:
        return None
    return sum(moment.jobs_blocked[role] for role in ROLES)


def role_losses(moment: Moment, reading: RunView) -> dict[Role, float] | None:
    """Share of the jobs' time blocked in I/O of each role, less memory's part."""
    if moment.jobs_blocked is None or not moment.jobs_running:
        return None
    elsewhere = reading.network_roles()
    return {
        role: (moment.share(moment.jobs_blocked[role]) or 0.0)
        * (1.0 - memory_part(moment, reading, role))
        * (server_part(moment) if role in elsewhere else 1.0 - port_part(moment, reading, role))
        for role in ROLES
    }


def costliest_role(reading: RunView, windows: list[Moment]) -> tuple[Role | None, str | None]:
    """The role that cost most in these windows, and the device that holds it where that is one.

    Where the role shares its device the device is what limits, and the role is only who asked most.
    """
    losses = [(role_losses(moment, reading) or {}, moment.seconds) for moment in windows]
    sums = {role: sum(loss.get(role, 0.0) * seconds for loss, seconds in losses) for role in ROLES}
    role = max(ROLES, key=lambda name: sums[name])
    if not sums[role]:
        return None, None
    devices = {device for volume in reading.volumes(role) for device in volume.devices}
    return role, devices.pop() if len(devices) == 1 else None


def caps_near(reading: RunView, role: Role) -> list[ReachedCap]:
    """The caps of control groups that a role came near while jobs waited for it, memory's part among it."""
    blocked = [one.share(one.jobs_blocked[role]) if one.jobs_blocked else None for one in reading.active]
    return caps_reached(reading, role, blocked)


def capped_lines(reading: RunView) -> list[RuleEvidence]:
    """A line for each cap that any role came near while jobs waited for it."""
    return [line for role in ROLES for line in cap_lines(role, caps_near(reading, role))]


def _storage_loss(moment: Moment, reading: RunView) -> float | None:
    losses = role_losses(moment, reading)
    return None if losses is None else sum(losses.values())


def _storage_evidence(reading: RunView) -> list[RuleEvidence]:
    known = {role: share for role in ROLES if (share := share_of_time(reading, role)) is not None}
    lines = []
    if known:
        by_role = ", ".join(f"{role} {format_percent(share)}" for role, share in known.items())
        lines.append(
            RuleEvidence(
                kind="evidence", sentence=f"jobs were blocked in I/O, as shares of their time: {by_role}"
            )
        )
    _, device = costliest_role(reading, reading.active)
    lines += capped_lines(reading)
    lines += link_lines(reading)
    lines += pressure_line(reading, "io_some", "tasks waited for I/O")
    again = reread_lines(reading)
    if device is None:
        return [
            *lines,
            *plateau_lines(reading, [moment.device["total"] for moment in reading.active]),
            *again,
        ]
    return [
        *lines,
        *plateau_lines(reading, device_totals(reading, device)["total"]),
        *device_lines(reading, device),
        *again,
    ]


STORAGE_RULE = Rule(resource="storage", loss=_storage_loss, evidence=_storage_evidence)


def _network_loss(moment: Moment, reading: RunView) -> float | None:
    """Time blocked in I/O of roles on network file systems, less what a watched server took of it, and of
    roles on block devices that are reached over full ports."""
    blocked, ports = _blocked_over_network(moment, reading), _blocked_at_ports(moment, reading)
    return None if blocked is None else min(blocked * (1.0 - server_part(moment)) + (ports or 0.0), 1.0)


def _blocked_at_ports(moment: Moment, reading: RunView) -> float | None:
    if moment.jobs_blocked is None:
        return None
    return moment.share(
        sum(
            moment.jobs_blocked[role]
            * (1.0 - memory_part(moment, reading, role))
            * port_part(moment, reading, role)
            for role in ROLES
            if role not in reading.network_roles()
        )
    )


def _blocked_over_network(moment: Moment, reading: RunView) -> float | None:
    if moment.jobs_blocked is None:
        return None
    return moment.share(
        sum(
            moment.jobs_blocked[role] * (1.0 - memory_part(moment, reading, role))
            for role in reading.network_roles()
        )
    )


def _network_evidence(reading: RunView) -> list[RuleEvidence]:
    loss = reading.mean(lambda moment: _blocked_over_network(moment, reading))
    systems = sorted(
        {
            f"{volume.role} on {volume.file_system or 'a network file system'}"
            for volume in reading.facts.volumes
            if volume.network
        }
    )
    lines = []
    if loss is not None and systems:
        lines.append(
            RuleEvidence(
                kind="evidence",
                sentence=f"jobs were blocked in I/O over the network ({', '.join(systems)}) in "
                f"{format_percent(loss)} of their time",
            )
        )
    lines += port_lines(reading)
    lines += pressure_line(reading, "io_some", "tasks waited for I/O")
    lines += plateau_lines(reading, [moment.network_bytes_per_second for moment in reading.active])
    moved = reading.mean(lambda moment: moment.network_bytes_per_second)
    if moved is not None:
        lines.append(
            RuleEvidence(kind="support", sentence=f"the networks and fabrics moved {format_rate(moved)}")
        )
    lines += link_lines(reading)
    if links_are_known(reading) or not systems:
        return lines
    lines.append(
        RuleEvidence(
            kind="support",
            sentence="one run cannot separate the fabric from the server behind it; a run over a faster "
            "link with "
            "the same throughput and longer service times would name the server, as would --link with "
            "--storage-node",
        )
    )
    return lines


NETWORK_RULE = Rule(resource="network", loss=_network_loss, evidence=_network_evidence)


def unlimited_lines(reading: RunView) -> list[RuleEvidence]:
    """How many cores were busy, and the share of the jobs' time on a processor, in one line.

    Empty if neither is known.  If the rest of the jobs' time is too little for any resource to limit it, the
    line says that the speed of a core bounds each job.
    """
    parts = []
    cores, _ = cores_of(reading.facts)
    if reading.samples is not None and reading.windows is not None:
        busy = busy_cores(reading.samples, reading.windows)
        if busy is not None and cores is not None and busy <= cores:
            parts.append(f"{format_ratio(busy)} of {cores:g} cores were busy")
    on_cpu = share_of_time(reading, "on_cpu")
    if on_cpu is not None:
        parts.append(f"jobs spent {format_percent(on_cpu)} of their time on a processor")
    if not parts:
        return []
    bound = on_cpu is not None and on_cpu > 1.0 - LEAST_LOSS_RATIO
    sentence = " and ".join(parts) + (": the speed of a core bounds each job" if bound else "")
    return [RuleEvidence(kind="evidence", sentence=sentence)]
