"""Do the links of a fabric carry what its bed says?  Plain TCP over all of them at once, each way."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Iterator

from mawl.errors import UnsuitableMachineError
from mawl.lab import transfer
from mawl.lab.calibration import NOT_AS_SAID, TOLERANCE_RATIO, TRIES, sentence
from mawl.lab.command import environment
from mawl.lab.experiment.records import VolumeCalibration
from mawl.lab.fabric import SERVER, BedFabric

PORT = 24901
PATIENCE_SECONDS = 60.0
PROTOCOL_RATIO = 0.99
"""Of a link's rate in frames of 9000 bytes, what is left beside the headers of Ethernet, IP and TCP."""


def calibrate_links(fabric: BedFabric, arm: str, bytes_per_second: float) -> Iterator[VolumeCalibration]:
    """Measure all links at a rate, which they keep; the slowest link counts, by the median of tries.

    Raises :class:`~mawl.errors.UnsuitableMachineError` where it is off by more than the tolerance.
    """
    fabric.set_rate(bytes_per_second)
    for way in ("received", "sent"):
        values = [_slowest(fabric, way)]
        expected = PROTOCOL_RATIO * bytes_per_second
        if abs(values[0] / expected - 1.0) > TOLERANCE_RATIO:
            values += [_slowest(fabric, way) for _ in range(TRIES - 1)]
        found = VolumeCalibration(
            volume=f"links of {arm}",
            what=f"{way} by a client, all at once",
            unit="bytes per second",
            expected=expected,
            measured=statistics.median(values),
            tries=len(values),
        )
        if abs(found.off_ratio) > TOLERANCE_RATIO:
            raise UnsuitableMachineError(
                NOT_AS_SAID,
                where=sentence(found),
                why=f"the median of {TRIES} measurements is more than {TOLERANCE_RATIO:.0%} off",
                cure="end what else keeps this machine busy, or give the links a lower rate in the bed",
            )
        yield found


def _slowest(fabric: BedFabric, way: str) -> float:
    """Bytes a second of the slowest link while all carry one connection."""
    server = _start(fabric, SERVER, "serve", stdout=subprocess.DEVNULL)
    try:
        time.sleep(1.0)  # until it listens; a client that finds nobody is an error
        clients = [_start(fabric, name, way, stdout=subprocess.PIPE) for name in fabric.clients]
        said = [client.communicate(timeout=PATIENCE_SECONDS) for client in clients]
    finally:
        server.kill()
        server.wait()
    for client, (_, complaint) in zip(clients, said, strict=True):
        if client.returncode != 0:
            last = (complaint.strip().splitlines() or [f"exit status {client.returncode}"])[-1]
            raise UnsuitableMachineError("a link cannot be measured", why=last, cure="mawl lab up --check")
    return min(float(text) for text, _ in said)


def _start(fabric: BedFabric, name: str, way: str, *, stdout: int) -> subprocess.Popen[str]:
    words = [sys.executable, "-m", transfer.__name__, way, fabric.address(SERVER), str(PORT)]
    return subprocess.Popen(
        [*fabric.inside(name), *words],
        cwd="/",
        env=environment(fabric.mark),
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=subprocess.PIPE if stdout == subprocess.PIPE else subprocess.DEVNULL,
        text=True,
    )
