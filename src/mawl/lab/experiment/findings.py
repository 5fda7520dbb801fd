"""What papers say in words beside what a bed found, and where it is otherwise, what differs."""

from __future__ import annotations

from collections.abc import Mapping

from mawl.analysis.comparison.places import named, place_changes, role_changes
from mawl.analysis.comparison.sides import Side, centre, change
from mawl.lab.experiment.series import moved_by_device
from mawl.lab.experiment.series_records import ArmFigures, Direction, FindingFound, FindingSpec
from mawl.spec.program_options import ROLES
from mawl.units import format_bytes, format_seconds

ALIKE_RATIO = 0.10
"""Two single runs whose figures differ by less are alike."""

MOVED_RATIO = 0.20
"""Devices that moved so much less or more for the same application bytes are worth a sentence."""


def finding_found(spec: FindingSpec, arms: Mapping[str, Side], citation: str) -> FindingFound:
    """Judge one finding of a paper."""
    reference, candidate = arms.get(spec.reference), arms.get(spec.candidate)
    values = [None if side is None else centre(side.values(spec.figure)) for side in (reference, candidate)]
    here = change(*values)
    found = None if here is None else _direction(here)
    agrees = None if found is None else found == spec.direction
    reasons = []
    if agrees is None:
        reasons = ["the figure is not known of both arms"]
    elif not agrees and reference is not None and candidate is not None:
        reasons = why_otherwise(reference, candidate)
    return FindingFound(
        text=spec.text,
        citation=citation,
        figure=spec.figure,
        reference=spec.reference,
        candidate=spec.candidate,
        expected=spec.direction,
        found=found,
        reference_value=values[0],
        candidate_value=values[1],
        change_ratio=here,
        agrees=agrees,
        reasons=reasons,
    )


def _direction(ratio: float) -> Direction:
    if abs(ratio) < ALIKE_RATIO:
        return "alike"
    return "higher" if ratio > 0.0 else "lower"


def why_otherwise(reference: Side, candidate: Side) -> list[str]:
    """What differs between two arms, by their own figures: bytes at the devices, time of jobs, processors."""
    names = f"{reference.label} -> {candidate.label}"
    reasons = []
    moved = [_device_share(side) for side in (reference, candidate)]
    ratio = change(*moved)
    if ratio is not None and abs(ratio) >= MOVED_RATIO:
        before, after = (_device_bytes(side) or 0.0 for side in (reference, candidate))
        less = "fewer" if ratio < 0.0 else "more"
        reasons.append(
            f"{names}: devices moved {format_bytes(before)} -> {format_bytes(after)} for the same "
            f"application bytes, {less} bytes under the same caps"
        )
    place = named(place_changes(reference, candidate), role_changes(reference, candidate))
    if place is not None:
        reasons.append(f"{names}: {place.sentence}")
    cpu = [_cpu_seconds(side) for side in (reference, candidate)]
    ratio = change(*cpu)
    if ratio is not None and abs(ratio) >= ALIKE_RATIO:
        seconds = " -> ".join(format_seconds(value or 0.0) for value in cpu)
        reasons.append(f"{names}: CPU time of the jobs {seconds}")
    return reasons or [f"{names}: no figure of the two runs shows it"]


def _device_bytes(side: Side) -> float | None:
    """Both ways at the devices of all roles; charged bytes are counted before compression."""
    moved = moved_by_device(side.runs[0].summary, ROLES) if side.runs else {}
    return sum(read + written for read, written in moved.values()) if moved else None


def _device_rate(side: Side) -> float | None:
    moved, elapsed = _device_bytes(side), centre(side.values("time.elapsed_seconds"))
    return moved / elapsed if moved is not None and elapsed else None


def _device_share(side: Side) -> float | None:
    """Bytes at the devices for each application byte."""
    asked = [centre(side.values(f"io.application.{way}_bytes")) for way in ("read", "written")]
    whole = None if None in asked else sum(value or 0.0 for value in asked)
    moved = _device_bytes(side)
    return moved / whole if moved is not None and whole else None


def _cpu_seconds(side: Side) -> float | None:
    both = [centre(side.values(f"time.{kind}_cpu_seconds")) for kind in ("user", "system")]
    return None if None in both else sum(value or 0.0 for value in both)


def figures_of(side: Side) -> ArmFigures:
    """What is shown of every arm, beside what compression saved."""

    def value(path: str) -> float | None:
        return centre(side.values(path))

    latencies = {
        way: {role: value(f"io.by_role.{role}.{way}_latency_seconds.mean") for role in ROLES}
        for way in ("read", "write")
    }
    return ArmFigures(
        arm=side.label,
        real_time_seconds=value("time.real_time_seconds"),
        user_cpu_seconds=value("time.user_cpu_seconds"),
        system_cpu_seconds=value("time.system_cpu_seconds"),
        application_bytes_per_second=value("io.application.run_mean.total_bytes_per_second"),
        device_bytes_per_second=_device_rate(side),
        read_latency_seconds=latencies["read"],
        write_latency_seconds=latencies["write"],
        host_cpu_busy_seconds=value("host.cpu_busy_seconds"),
    )
