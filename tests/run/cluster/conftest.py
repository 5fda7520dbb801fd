"""A small Dask cluster on the loopback, each part a process of its own; and certificates."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from mawl.run.cluster.dask_link import LOOPBACK, TUNED
from tests import needs

NO_DASHBOARD = ("--no-dashboard", "--dashboard-address", LOOPBACK)  # as the guide says


class Cluster:
    """A scheduler and its workers; ``protocol`` is tcp, or tls with the files of ``certificates``."""

    def __init__(
        self,
        directory: Path,
        tls: Sequence[str] = (),
        host: str = "127.0.0.1",
        inside: Sequence[str] = (),
    ) -> None:
        self.directory, self.tls, self.inside = directory, list(tls), list(inside)
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        protocol = "tls" if tls else "tcp"
        listening = ["--host", f"{protocol}://{host}", "--port", "0"]
        self._start("scheduler", ["scheduler", *listening, *NO_DASHBOARD], inside=inside)
        self.address = self._said("scheduler", r"Scheduler at:\s+(\S+)")

    def worker(
        self,
        name: str,
        environment: dict[str, str] | None = None,
        host: str = "127.0.0.1",
        inside: Sequence[str] = (),
    ) -> None:
        """Start one more node, by a command line that begins with ``inside``."""
        arguments = ["worker", self.address, "--name", name, "--host", host, "--no-nanny"]
        arguments += ["--nthreads", "1", "--memory-limit", "0", *NO_DASHBOARD]
        self._start(name, arguments, environment, inside)

    def wait(self, *names: str) -> None:
        """Until these workers are registered."""
        for name in names:
            self._said(name, r"(Registered to)")

    def _start(
        self,
        name: str,
        arguments: list[str],
        environment: dict[str, str] | None = None,
        inside: Sequence[str] = (),
    ) -> None:
        variables = {
            f"DASK_{key.upper().replace('.', '__').replace('-', '_')}": str(value)
            for key, value in TUNED.items()
            if key != "logging.distributed"  # what they say is how the tests know that they are there
        }
        place = self.directory / name
        place.mkdir()
        with (place / "output").open("wb") as output:
            self.processes[name] = subprocess.Popen(
                [*inside, sys.executable, "-m", "dask", *arguments, *self.tls],
                cwd=place,
                env={**os.environ, **variables, **(environment or {})},
                stdout=output,
                stderr=output,
                start_new_session=True,
            )

    def _said(self, name: str, pattern: str) -> str:
        output = self.directory / name / "output"
        for _ in range(600):
            found = re.search(pattern, output.read_text(errors="replace"))
            if found:
                return found[1]
            if self.processes[name].poll() is not None:
                break
            time.sleep(0.1)
        raise AssertionError(f"{name}: {output.read_text(errors='replace')}")

    def close(self) -> None:
        """End the workers, then the scheduler: a worker may hang if its scheduler ends while it does."""
        scheduler, *workers = self.processes.values()
        for processes in (workers, [scheduler]):
            _ended(processes)


def _ended(processes: Sequence[subprocess.Popen[bytes]]) -> None:
    for process in processes:
        process.send_signal(signal.SIGCONT)
        process.terminate()
    for process in processes:
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def clustered(directory: Path, *workers: str) -> Iterator[Cluster]:
    """A scheduler and these workers, which have begun, until the test is over."""
    directory.mkdir()
    found = Cluster(directory)
    for worker in workers:
        found.worker(worker)
    found.wait(*workers)
    yield found
    found.close()


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    """A scheduler without workers."""
    yield from clustered(tmp_path / "cluster")


@pytest.fixture
def shifted(tmp_path: Path) -> dict[str, str]:
    """The environment of a worker whose machine's clock is 100.25 s ahead."""
    library = tmp_path / "shifted_clock.so"
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        needs.skip("no C compiler to shift a clock with")
    source = Path(__file__).with_name("shifted_clock.c")
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    return {"LD_PRELOAD": str(library), "CLOCK_SHIFT_MILLISECONDS": "100250"}


@pytest.fixture
def certificates(tmp_path: Path) -> dict[str, dict[str, Path]]:
    """Two authorities, ``ours`` and ``theirs``, each with a certificate: ca, cert and key."""
    needs.program("openssl").require()
    found: dict[str, dict[str, Path]] = {}
    for name in ("ours", "theirs"):
        place = tmp_path / name
        place.mkdir()
        files = {kind: place / f"{kind}.pem" for kind in ("ca", "cert", "key")}
        new = ["req", "-newkey", "rsa:2048", "-nodes"]
        sign = ["x509", "-req", "-in", "request.pem", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial"]
        for arguments in (
            [*new, "-x509", "-keyout", "ca.key", "-out", "ca.pem", "-subj", f"/CN={name}", "-days", "2"],
            [*new, "-keyout", "key.pem", "-out", "request.pem", "-subj", "/CN=node"],
            [*sign, "-out", "cert.pem", "-days", "2"],
        ):
            subprocess.run(["openssl", *arguments], cwd=place, check=True, capture_output=True)
        found[name] = files
    return found
