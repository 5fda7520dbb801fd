"""Many sides in one table: sessions, nodes, fabric, throughput per core, as in the papers' figures."""

from __future__ import annotations

import msgspec

from mawl.analysis.comparison.places import verdicts
from mawl.analysis.comparison.sides import Side, centre
from mawl.analysis.published import over
from mawl.analysis.throughput import cores_of
from mawl.units import format_bits


class MatrixRow(msgspec.Struct, frozen=True, kw_only=True):
    """A side: its size, its fabric, and the middle of its runs (geometric means).

    ``limit`` is the commonest verdict of its runs.  Totals of unlike machines stand side by side
    to be read, not to be divided: per core is what compares, and only on one ``core_basis``.
    """

    label: str
    kind: str
    workload: str | None
    runs: int
    nodes: int
    sessions: int | None
    fabric: str | None
    cores: float | None
    core_basis: str | None
    elapsed_seconds: float | None
    real_time_seconds: float | None
    cpu_real_ratio: float | None
    peak_bytes_per_second: float | None
    sustained_bytes_per_second: float | None
    peak_bytes_per_second_per_core: float | None
    sustained_bytes_per_second_per_core: float | None
    limit: str


def matrix(sides: list[Side]) -> list[MatrixRow]:
    """A row a side, in the order given."""
    return [_published(side) if side.published is not None else _measured(side) for side in sides]


def _measured(side: Side) -> MatrixRow:
    first = side.runs[0].facts
    bases = {node.core_basis for node in first.nodes}
    cores = cores_of(first)[0]
    peak, sustained = (
        centre(side.values(f"io.device.{figure}.total_bytes_per_second")) for figure in ("peak", "sustained")
    )
    return MatrixRow(
        label=side.label,
        kind=first.kind,
        workload=first.workload.name,
        runs=len(side.runs),
        nodes=len(first.nodes),
        sessions=first.workload.sessions,
        fabric=_fabric(side),
        cores=cores,
        core_basis=bases.pop() if len(bases) == 1 else None,
        elapsed_seconds=centre(side.values("time.elapsed_seconds")),
        real_time_seconds=centre(side.values("time.real_time_seconds")),
        cpu_real_ratio=centre(side.values("cpu_real_ratio.of_sums")),
        peak_bytes_per_second=peak,
        sustained_bytes_per_second=sustained,
        peak_bytes_per_second_per_core=over(peak, cores),
        sustained_bytes_per_second_per_core=over(sustained, cores),
        limit=verdicts(side)[0][0],
    )


def _published(side: Side) -> MatrixRow:
    block = side.published
    assert block is not None, "a published side"
    return MatrixRow(
        label=side.label,
        kind="published",
        workload=None,
        runs=1,
        nodes=block.workload.nodes,
        sessions=block.workload.sessions,
        fabric=_ports(side),
        cores=block.per_core.cores,
        core_basis=block.per_core.core_basis,
        elapsed_seconds=block.time.elapsed_seconds,
        real_time_seconds=block.time.real_time_seconds,
        cpu_real_ratio=block.cpu_real_ratio.of_sums,
        peak_bytes_per_second=block.io.device.peak.total_bytes_per_second,
        sustained_bytes_per_second=block.io.device.sustained.total_bytes_per_second,
        peak_bytes_per_second_per_core=block.per_core.peak_bytes_per_second,
        sustained_bytes_per_second_per_core=block.per_core.sustained_bytes_per_second,
        limit=verdicts(side)[0][0],
    )


def _fabric(side: Side) -> str | None:
    """What holds the roles: network file systems by their kind, or local disks by their number."""
    volumes = side.runs[0].facts.volumes
    kinds = sorted({volume.file_system or "network" for volume in volumes if volume.network})
    disks = sorted({(volume.node, disk) for volume in volumes for disk in volume.disks})
    local = [f"{len(disks)} local disk{'s' if len(disks) > 1 else ''}"] if disks else []
    return ", ".join([*kinds, *local]) or None


def _ports(side: Side) -> str | None:
    """``8 x 8 Gbit/s fc``; None where the paper gives no fabric."""
    fabric = side.published.system.fabric if side.published else None
    if fabric is None:
        return None
    ports = fabric.ports or fabric.ports_per_node
    number = f"{ports} x " if ports else ""
    return f"{number}{format_bits(fabric.bits_per_second_per_port)} {fabric.kind}"
