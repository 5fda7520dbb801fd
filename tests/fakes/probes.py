"""Probes of known figures, and a program that stands in for fio."""

from __future__ import annotations

import json
from pathlib import Path

from mawl.records.model.probe import Direction, Pattern, Probe, ProbeFigures, ProbeTarget, ProbeTest
from mawl.records.spec.program_options import Role
from tests.fakes.script import INTERPRETER
from tests.fakes.stored_run import START

MB = 10**6
KIB = 2**10
LATENCY = {"mean": 0.002, "min": 0.0001, "max": 0.09, "p50": 0.0015, "p90": 0.004, "p99": 0.03, "p99.9": 0.08}


def figures(bytes_per_second: float, request_bytes: int = 256 * KIB) -> ProbeFigures:
    """Ten seconds at a rate."""
    return ProbeFigures(
        bytes=int(10 * bytes_per_second),
        bytes_per_second=bytes_per_second,
        requests_per_second=bytes_per_second / request_bytes,
        latency_seconds=LATENCY,
    )


def probe_test(
    direction: Direction,
    megabytes: float,
    *,
    pattern: Pattern = "sequential",
    request_bytes: int = 256 * KIB,
    streams: int = 2,
    **changes: object,
) -> ProbeTest:
    """A direct test that found a rate in MB/s; mixed ones share it 65:35."""
    share = {"read": 1.0, "write": 0.0, "mixed": 0.65}[direction]
    parts = {"read": share * megabytes * MB, "write": (1 - share) * megabytes * MB}
    fields: dict[str, object] = {
        "pattern": pattern,
        "direction": direction,
        "request_bytes": request_bytes,
        "streams": streams,
        "direct": True,
        "content": "incompressible",
        "read_share_ratio": share,
        "elapsed_seconds": 10.0,
        **{way: figures(rate, request_bytes) if rate else None for way, rate in parts.items()},
        "cpu_seconds": 0.5,
        "command": ["fio", "--name=probe"],
    }
    return ProbeTest(**{**fields, **changes})  # type: ignore[arg-type]


def target(
    name: str, tests: list[ProbeTest], *, roles: list[Role] | None = None, **changes: object
) -> ProbeTarget:
    """A target on ``sda`` of the node that the fakes' runs are of."""
    fields: dict[str, object] = {
        "name": name,
        "directory": f"/mnt/{name}",
        "node": "bench1",
        "roles": roles or [],
        "file_system": "xfs",
        "source": "/dev/sda",
        "devices": ["sda"],
        "size_bytes": 2**40,
        "free_bytes": 2**39,
        "tests": tests,
    }
    return ProbeTarget(**{**fields, **changes})  # type: ignore[arg-type]


def probe(*targets: ProbeTarget, cores: float | None = 2.0) -> Probe:
    """A probe from a machine of two vCPUs."""
    return Probe(
        created_at=START,
        tool="fio-3.33",
        physical_cores=cores,
        core_basis="vCPU" if cores else None,
        targets=list(targets),
    )


def disk() -> ProbeTarget:
    """A disk for all roles: 400 MB/s read and 200 written, less by one stream and at other sizes."""
    return target(
        "data",
        [
            probe_test("read", 300, streams=1),
            probe_test("read", 400),
            probe_test("write", 150, streams=1),
            probe_test("write", 200),
            probe_test("read", 500, request_bytes=2**20),
            probe_test("read", 16, pattern="random", request_bytes=8 * KIB),
            probe_test("mixed", 100, pattern="random", request_bytes=64 * KIB),
        ],
        roles=["data"],
    )


STUB = """{interpreter}import json, os, sys, time
words = sys.argv[1:]
with open({log!r}, "a") as log:
    log.write(json.dumps(words) + "\\n")
if words == ["--version"]:
    print("fio-3.33")
    sys.exit(0)
given = dict(word[2:].split("=", 1) for word in words if "=" in word)
kind = "layout" if "filename" in given else given["rw"]
for word in words:
    if word.startswith("--filename="):
        open(word.partition("=")[2], "ab").close()
way = {{"io_bytes": 1000, "io_kbytes": 1, "bw_bytes": 5000, "bw": 5, "iops": 2.0, "runtime": 200,
       "clat_ns": {{"min": 1, "max": 9, "mean": 5.0, "N": 2, "percentile": {{"50.000000": 4}}}}}}
nothing = {{"io_bytes": 0, "io_kbytes": 0}}
reads, writes = kind in ("read", "randread", "rw", "randrw"), kind not in ("read", "randread")
job = {{"jobname": "probe", "groupid": 0, "error": 0, "read": way if reads else nothing,
       "write": way if writes else nothing, "usr_cpu": 1.0, "sys_cpu": 2.0, "job_runtime": 200}}
def told(job):
    return json.dumps({{"fio version": "fio-3.33", "jobs": [job]}}, indent=1)
result = told(job)
{fault}
print(result)
"""


def stub_fio(directory: Path, fault: str = "") -> Path:
    """A ``fio`` in ``directory/bin`` that moves nothing; ``fault`` are lines of Python before it answers.

    ``kind`` is what it was asked to do (``layout``, ``read`` and so on), ``result`` is what it will
    say, ``told(job)``.  Returns the file with a JSON list for each call.
    """
    log = directory / "calls.jsonl"
    place = directory / "bin"
    place.mkdir(exist_ok=True)
    program = place / "fio"
    program.write_text(STUB.format(interpreter=INTERPRETER, log=str(log), fault=fault))
    program.chmod(0o755)
    return log


def calls(log: Path) -> list[list[str]]:
    """The words of each call of the stub, but of ``--version``."""
    every = [json.loads(line) for line in log.read_text().splitlines()]
    return [words for words in every if words != ["--version"]]
