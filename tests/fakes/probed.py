"""Probes of storage that never was, with round figures."""

from __future__ import annotations

from collections.abc import Sequence

from mawl.records.model.probe import Direction, Pattern, Probe, ProbeFigures, ProbeTarget, ProbeTest
from mawl.records.spec.program_options import Role

MB = 10**6
READ_SHARES: dict[Direction, float] = {"read": 1.0, "write": 0.0, "mixed": 0.65}


def probe_test(
    direction: Direction,
    read: float = 0.0,
    write: float = 0.0,
    *,
    pattern: Pattern = "sequential",
    request_bytes: int = 2**18,
    streams: int = 1,
    direct: bool = True,
) -> ProbeTest:
    """One test at these rates in bytes per second."""

    def figures(rate: float) -> ProbeFigures | None:
        if not rate:
            return None
        requests = rate / request_bytes
        latency = {"mean": streams / requests, "p50": streams / requests}
        return ProbeFigures(
            bytes=int(rate * 10),
            bytes_per_second=rate,
            requests_per_second=requests,
            latency_seconds=latency,
        )

    return ProbeTest(
        pattern=pattern,
        direction=direction,
        request_bytes=request_bytes,
        streams=streams,
        direct=direct,
        content="incompressible",
        read_share_ratio=READ_SHARES[direction],
        elapsed_seconds=10.0,
        read=figures(read),
        write=figures(write),
        cpu_seconds=1.0,
        command=["fio"],
    )


def target(
    name: str,
    read: float,
    write: float,
    *,
    random: float | None = 0.8,
    duplex: bool = True,
    roles: Sequence[Role] = (),
    directory: str | None = None,
    node: str = "bench1",
    device: str | None = None,
    free_bytes: int | None = 10**12,
) -> ProbeTarget:
    """A target with sequential and (at the share ``random`` of their rate) random tests, and a mixed one.

    ``duplex``: reads and writes each have a budget; else they share one.
    """
    tests = [probe_test("read", read), probe_test("write", 0.0, write)]
    if random is not None:
        tests.append(probe_test("read", read * random, pattern="random", request_bytes=2**16))
        tests.append(probe_test("write", 0.0, write * random, pattern="random", request_bytes=2**16))
    whole = min(read / 0.65, write / 0.35) if duplex else 1 / (0.65 / read + 0.35 / write)
    tests.append(probe_test("mixed", 0.65 * whole, 0.35 * whole))
    return ProbeTarget(
        name=name,
        directory=directory or f"/mnt/{name}",
        node=node,
        roles=list(roles),
        file_system="ext4",
        source=f"/dev/{device or name}",
        devices=[device or name],
        size_bytes=10**12,
        free_bytes=free_bytes,
        tests=tests,
    )


def probe(*targets: ProbeTarget, created_at: float = 1_767_250_000.0) -> Probe:
    """A probe of these targets."""
    return Probe(
        created_at=created_at, tool="fio-3.33", physical_cores=8.0, core_basis="vCPU", targets=list(targets)
    )
