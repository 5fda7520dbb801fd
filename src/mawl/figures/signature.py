"""The signature of a run: the figures of the published mix, their ranges, and whether they mean anything."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import msgspec

from mawl.figures.io import REACHES_STORAGE_RATIO
from mawl.figures.missing import Missing
from mawl.plan.catalogue import CATALOGUE
from mawl.plan.mix import COPIES, FEWEST_FULL_SESSIONS
from mawl.plan.spec import SCALES
from mawl.records.model.run import RunFacts
from mawl.records.model.signature import MIX_PROGRAMS, RANGE_SESSIONS, SIGNATURE, Need, SignatureRow
from mawl.records.model.summary.io import Io, RoleFigures
from mawl.records.model.summary.judgement import SignatureFigure
from mawl.records.model.summary.time import Jobs, Time

Value = tuple[float | None, str]
"""A value, and why there is none."""


class SignatureParts(msgspec.Struct, frozen=True, kw_only=True):
    """What a signature is made of; ``busy_cores`` is the mean of the active phase."""

    jobs: Jobs
    time: Time
    io: Io
    programs: Iterable[str]
    busy_cores: float | None = None


def signature_block(facts: RunFacts, parts: SignatureParts, missing: Missing) -> dict[str, SignatureFigure]:
    """The rows of ``SIGNATURE``.

    ``reason`` says why a row has no value or is not meaningful in this run; ``inside`` is null
    where there is no value or no range.
    """
    missing.update(
        {
            "signature.*.value": "the row's own reason says why",
            "signature.*.inside": "there is no value, or no range",
            "signature.*.low": "the papers give no lower end",
            "signature.*.high": "the papers give no upper end",
            "signature.*.reason": "nothing to explain",
        }
    )
    return {row.name: _row(row, facts, parts) for row in SIGNATURE}


def is_the_mix(programs: Iterable[str]) -> bool:
    """Whether a run has jobs of (nearly) all programs of mixed20, as the published mixes have."""
    return len(set(programs) & set(COPIES)) >= MIX_PROGRAMS


def _row(row: SignatureRow, facts: RunFacts, parts: SignatureParts) -> SignatureFigure:
    value, why_none = VALUES[row.name](facts, parts)
    reason = why_none if value is None else _not_meaningful(row, facts, parts)
    inside = None
    if value is not None and (row.low, row.high) != (None, None):
        inside = (row.low is None or value >= row.low) and (row.high is None or value <= row.high)
    return SignatureFigure(
        value=value,
        low=row.low,
        high=row.high,
        inside=inside,
        meaningful=value is not None and reason is None,
        reason=reason,
        source=row.source,
    )


def _not_meaningful(row: SignatureRow, facts: RunFacts, parts: SignatureParts) -> str | None:
    if not is_the_mix(parts.programs):
        return f"the ranges are of mixes of {MIX_PROGRAMS} programs and more"
    return next((reason for need in row.needs if (reason := _lacks(need, facts, parts))), None)


def _lacks(need: Need, facts: RunFacts, parts: SignatureParts) -> str | None:
    scale = facts.workload.scale
    small = scale is None or scale < SCALES["standard"]
    match need:
        case "copies":
            if facts.workload.jobs <= len(COPIES) * max(len(facts.nodes), 1):
                return f"not meaningful: each program runs once, as below {FEWEST_FULL_SESSIONS} sessions"
        case "standard":
            return (
                "not meaningful at this scale: below standard times are not in proportion" if small else None
            )
        case "twenty sessions":
            if facts.workload.sessions != RANGE_SESSIONS:
                return f"the range is of {RANGE_SESSIONS} sessions"
        case "reach":
            reach = (parts.io.reach.read_ratio, parts.io.reach.write_ratio)
            if any(ratio is None or ratio < REACHES_STORAGE_RATIO for ratio in reach):
                start = "not meaningful at this scale" if small else "not meaningful"
                return f"{start}: too few of the bytes reached a device"
    return None


def _over(part: float | None, whole: float | None, lacking: str) -> Value:
    if part is None or not whole:
        return None, lacking
    return part / whole, ""


def _moved(parts: SignatureParts) -> float | None:
    read, written = parts.io.device.read_bytes, parts.io.device.written_bytes
    return None if read is None or written is None else read + written


def _device_read(_: RunFacts, parts: SignatureParts) -> Value:
    return _over(parts.io.device.read_bytes, _moved(parts), "no bytes at a device are known")


def _work_util(_: RunFacts, parts: SignatureParts) -> Value:
    roles = parts.io.by_role
    if roles is None:
        return None, "I/O by role was not measured"
    sums = {name: _role_bytes(roles.get(name)) for name in ("data", "work", "util")}
    return _over(sums["work"] + sums["util"], sum(sums.values()), "no bytes by role are known")


def _data_write(_: RunFacts, parts: SignatureParts) -> Value:
    data = (parts.io.by_role or {}).get("data")
    if data is None or data.read_bytes is None or data.written_bytes is None:
        return None, "I/O of data was not measured"
    return _over(data.written_bytes, data.read_bytes + data.written_bytes, "no bytes of data are known")


def _role_bytes(role: RoleFigures | None) -> float:
    return 0.0 if role is None else float((role.read_bytes or 0) + (role.written_bytes or 0))


def _sequential(_: RunFacts, parts: SignatureParts) -> Value:
    roles = parts.io.by_role
    if roles is None:
        return None, "I/O by role was not measured"
    known = [
        (_role_bytes(role), role.sequential_ratio)
        for name in ("data", "work", "util")
        if (role := roles.get(name)) and role.sequential_ratio is not None
    ]
    sequential = sum(size * ratio for size, ratio in known)
    return _over(sequential, sum(size for size, _ in known), "no sequential shares are known")


def _concurrent_jobs(facts: RunFacts, parts: SignatureParts) -> Value:
    return _over(
        parts.jobs.mean_concurrent, facts.workload.sessions, "how many jobs ran at once is not known"
    )


def _longest_per_shortest(facts: RunFacts, parts: SignatureParts) -> Value:
    times = {baseline.program: baseline.real_time_seconds for baseline in facts.alone}
    lacking = set(parts.programs) - set(times)
    if lacking or not times:
        were = "program was" if len(lacking) == 1 else "programs were"
        return None, f"{len(lacking)} {were} not run alone (mawl run --solo)"
    return _over(max(times.values()), min(times.values()), "a program alone took no time")


def _bytes_per_input_byte(facts: RunFacts, parts: SignatureParts) -> Value:
    scale = facts.workload.scale
    programs = set(parts.programs)
    if scale is None or not programs <= set(CATALOGUE):
        return None, "the inputs of a program that is not of the catalogue are not known"
    inputs = sum(table.bytes(scale) for name in programs for table in CATALOGUE[name].inputs)
    return _over(_moved(parts), inputs, "no bytes at a device, or no inputs, are known")


def _plateau(_: RunFacts, parts: SignatureParts) -> Value:
    mean = parts.io.device.active_mean.total_bytes_per_second
    return _over(
        mean, parts.busy_cores, "core-busy seconds or throughput of the active phase were not measured"
    )


def _cpu(_: RunFacts, parts: SignatureParts) -> Value:
    user, system = parts.time.user_cpu_seconds, parts.time.system_cpu_seconds
    cpu = None if user is None or system is None else user + system
    return _over(_moved(parts), cpu, "no bytes at a device, or no CPU time, are known")


def _memory(_: RunFacts, parts: SignatureParts) -> Value:
    return _over(parts.time.memory_bytes, parts.jobs.counted, "no memory of jobs is known")


VALUES: dict[str, Callable[[RunFacts, SignatureParts], Value]] = {
    "device_read_ratio": _device_read,
    "work_util_ratio": _work_util,
    "data_write_ratio": _data_write,
    "concurrent_jobs_per_session": _concurrent_jobs,
    "longest_per_shortest": _longest_per_shortest,
    "device_bytes_per_input_byte": _bytes_per_input_byte,
    "plateau_bytes_per_core_second": _plateau,
    "bytes_per_cpu_second": _cpu,
    "memory_per_job_bytes": _memory,
    "sequential_ratio": _sequential,
}
