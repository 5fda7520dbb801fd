"""The nodes of a bed with a fabric: a Dask scheduler and worker at the server, a worker at each client."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from mawl.errors import RunFailedError
from mawl.lab.bed import ArmSpec
from mawl.lab.build import Bed
from mawl.lab.command import own_environment
from mawl.lab.fabric import SERVER, BedFabric
from mawl.spec.nodes import NodesSpec
from mawl.spec.program_options import ROLES, Role

PORT = 8786
PATIENCE_SECONDS = 60.0
NODE_TIMEOUT_SECONDS = 60.0
"""Words wait behind the data on a link that is full."""

_LISTENS, _REGISTERED = "Scheduler at:", "Registered to"


class Clients:
    """Starts what a run needs, in the namespaces; ``folder`` keeps what they print and their run folders."""

    def __init__(self, bed: Bed, fabric: BedFabric, folder: Path) -> None:
        self._bed, self._fabric, self._folder = bed, fabric, folder
        folder.mkdir(mode=0o700)

    def roles(self, roles: Sequence[Role] = ROLES) -> dict[str, tuple[str, ...]]:
        """The directory of each role, as every client sees it."""
        return {role: (str(self._fabric.shared / role),) for role in roles}

    def at_client(self) -> list[str]:
        """What a command line begins with that runs where the first client is."""
        return self._fabric.inside(self._fabric.clients[0])

    def at_server(self) -> list[str]:
        """The same where the server is, beside the scheduler."""
        return self._fabric.inside(SERVER)

    def lost(self) -> tuple[str, Path] | None:
        """Whose GlusterFS process ended, with its log: what waits for its files may do so for ever."""
        return self._fabric.lost()

    @contextlib.contextmanager
    def started(self, arm: ArmSpec) -> Iterator[NodesSpec]:
        """Scheduler and workers while a run goes on, links at the arm's rate; the nodes of its spec."""
        rate = self._bed.link_rate(arm)
        self._fabric.set_rate(rate)
        address = f"tcp://{self._fabric.address(SERVER)}:{PORT}"
        processes: list[subprocess.Popen[bytes]] = []
        with contextlib.ExitStack() as cleanup:
            cleanup.callback(_end, processes)
            processes.append(self._scheduler())
            for name in (SERVER, *self._fabric.clients):
                processes.append(self._worker(name, address))
            for name in (SERVER, *self._fabric.clients):
                self._said(name, _REGISTERED)
            device = self._bed.device(self._fabric.spec.volume)
            yield NodesSpec(
                cluster=address,
                shared=ROLES,
                storage_node={SERVER: (device,)},
                link_bytes_per_second=float(round(rate)),
                node_timeout_seconds=NODE_TIMEOUT_SECONDS,
                node_runs=str(self._folder / "nodes"),
            )

    def _scheduler(self) -> subprocess.Popen[bytes]:
        host = f"tcp://{self._fabric.address(SERVER)}"
        words = ["scheduler", "--host", host, "--port", str(PORT), "--no-dashboard"]
        started = self._start("scheduler", self.at_server(), words)
        self._said("scheduler", _LISTENS)
        return started

    def _worker(self, name: str, scheduler: str) -> subprocess.Popen[bytes]:
        words = ["worker", scheduler, "--name", name, "--host", self._fabric.address(name)]
        words += ["--no-nanny", "--nthreads", "1", "--memory-limit", "0", "--no-dashboard"]
        return self._start(name, self._fabric.inside(name), words)

    def _start(self, name: str, inside: Sequence[str], words: Sequence[str]) -> subprocess.Popen[bytes]:
        from mawl.cluster.connection import TUNED  # which imports Dask

        # What they say is how it is known that they are there.
        tuned = {
            f"DASK_{key.upper().replace('.', '__').replace('-', '_')}": str(value)
            for key, value in TUNED.items()
            if not key.startswith("logging")
        }
        with self._output(name).open("wb") as output:
            return subprocess.Popen(
                [*inside, sys.executable, "-m", "dask", *words],
                cwd=self._folder,
                env={**own_environment(self._bed.mark), **tuned},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )

    def _said(self, name: str, text: str) -> None:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while text not in (said := self._output(name).read_text(errors="replace")):
            if time.monotonic() > deadline:
                last = (said.strip().splitlines() or ["it said nothing"])[-1]
                raise RunFailedError(
                    f"{name} did not come up in {PATIENCE_SECONDS:g} s",
                    where=str(self._output(name)),
                    why=last,
                )
            time.sleep(0.2)

    def _output(self, name: str) -> Path:
        return self._folder / f"{name}.log"


def _end(processes: Sequence[subprocess.Popen[bytes]]) -> None:
    """Workers first: one that loses its scheduler would look for it."""
    for process in reversed(processes):
        process.terminate()
    for process in reversed(processes):
        try:
            process.wait(timeout=15)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
