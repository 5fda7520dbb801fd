"""Does each step of a series help, and where is its knee (docs/design/lab-beds.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import fsum

from mawl.analysis.comparison.sides import Side, change
from mawl.lab.experiment.records import ArmRun
from mawl.lab.experiment.series_records import SeriesFound, SeriesSpec, StepFound
from mawl.model.summary.summary import Summary
from mawl.spec.program_options import Role
from mawl.units import format_change, format_rate, format_ratio

KNEE_SHARE = 0.5
"""The knee is before the first step that gains less than this share of the ideal."""

CAP_SHARE = 0.9
"""From this share of their caps' sum on, the volumes themselves are what holds."""

BUSY_RATIO = 0.7
"""From this share of all CPU time on, the processors may be what holds."""

EVEN_RATIO = 0.8
"""Below it, the busiest volume moves so much more than the mean that it may be what holds."""


def series_found(
    spec: SeriesSpec,
    arms: Mapping[str, Side],
    runs: Mapping[str, ArmRun],
    caps: Mapping[str, float | None],
) -> SeriesFound:
    """Judge a series; ``caps`` are the sums over an arm's volumes, bytes per second of one direction."""
    steps: list[StepFound] = []
    for name in spec.arms:
        if name in arms:
            steps.append(
                _step(spec, arms[name], runs.get(name), caps.get(name), steps[-1] if steps else None)
            )
    knee = next((place for place, step in enumerate(steps) if _gains_little(step)), None)
    before = None if knee is None else steps[knee - 1]
    return SeriesFound(
        title=spec.title,
        roles=spec.roles,
        steps=steps,
        knee=None if before is None else before.arm,
        knee_volumes=None if before is None else before.volumes,
        sentence=_no_knee(steps) if knee is None else _knee(steps[knee - 1], steps[knee]),
        reasons=[] if knee is None else _reasons(steps[knee]),
    )


def _step(
    spec: SeriesSpec, side: Side, run: ArmRun | None, cap: float | None, before: StepFound | None
) -> StepFound:
    summary = side.runs[0].summary
    moved = moved_by_device(summary, spec.roles)
    elapsed = summary.time.elapsed_seconds
    read, written = (fsum(way) for way in zip(*moved.values(), strict=True)) if moved else (0.0, 0.0)
    rate = (read + written) / elapsed if elapsed and moved else None
    busier = max(read, written) / elapsed if elapsed and moved else None
    largest = max((sum(both) for both in moved.values()), default=0.0)
    return StepFound(
        arm=side.label,
        volumes=len(moved),
        bytes_per_second=rate,
        elapsed_seconds=elapsed,
        gain_ratio=change(before.bytes_per_second, rate) if before else None,
        ideal_gain_ratio=change(float(before.volumes), float(len(moved))) if before else None,
        cap_bytes_per_second=cap,
        cap_share_ratio=busier / cap if busier is not None and cap else None,
        even_ratio=(read + written) / len(moved) / largest if largest else None,
        concurrent_jobs=summary.jobs.mean_concurrent,
        own_cpu_ratio=run.own_cpu_ratio if run else None,
    )


def moved_by_device(summary: Summary, roles: Sequence[Role]) -> dict[str, tuple[float, float]]:
    """Bytes read and written at each device of the roles' volumes; empty where one is not known."""
    found: dict[str, tuple[float, float]] = {}
    devices = (summary.host.device if summary.host else None) or {}
    for volume in summary.volumes:
        if volume.role not in roles:
            continue
        for name in volume.devices:
            device = devices.get(name)
            if device is None or device.read_bytes is None or device.written_bytes is None:
                return {}
            found[name] = (device.read_bytes, device.written_bytes)
    return found


def _gains_little(step: StepFound) -> bool:
    if step.gain_ratio is None or not step.ideal_gain_ratio:
        return False
    return step.gain_ratio < KNEE_SHARE * step.ideal_gain_ratio


def _knee(before: StepFound, step: StepFound) -> str:
    assert step.gain_ratio is not None and step.ideal_gain_ratio is not None
    assert before.bytes_per_second is not None and step.bytes_per_second is not None
    return (
        f"the knee is at {before.volumes}: {step.volumes} volumes move {format_rate(step.bytes_per_second)} "
        f"instead of {format_rate(before.bytes_per_second)}, {format_change(step.gain_ratio)} where "
        f"{format_change(step.ideal_gain_ratio)} would be ideal, less than half of it"
    )


def _no_knee(steps: list[StepFound]) -> str:
    if len(steps) < 2:
        return "a series needs two steps or more that ran"
    if any(step.bytes_per_second is None for step in steps):
        return "no knee can be found: bytes at a device are not known of every step"
    return f"no knee up to {steps[-1].volumes} volumes: every step brought at least half of the ideal gain"


def _reasons(step: StepFound) -> list[str]:
    """What may hold the step after the knee, by its own figures; one sentence where none of them does."""
    found = []
    if step.cap_share_ratio is not None and step.cap_share_ratio >= CAP_SHARE:
        found.append(f"the volumes are at {step.cap_share_ratio:.0%} of the sum of their caps")
    if step.own_cpu_ratio is not None and step.own_cpu_ratio >= BUSY_RATIO:
        found.append(f"the run used {step.own_cpu_ratio:.0%} of the processors")
    if step.concurrent_jobs is not None and step.concurrent_jobs < step.volumes:
        found.append(
            f"{format_ratio(step.concurrent_jobs)} jobs ran side by side, each a stream that waits for one "
            f"volume at a time: fewer streams than {step.volumes} volumes"
        )
    if step.even_ratio is not None and step.even_ratio < EVEN_RATIO:
        found.append(f"the mean volume moved {step.even_ratio:.0%} of what the busiest moved")
    return found or ["caps, processors, streams and evenness do not explain it"]
