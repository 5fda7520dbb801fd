"""What goes on around a run over a bed: a Dask cluster on its network, and clones of temporary files.

A clone (ioctl_ficlonerange(2), which xfs and btrfs have) writes out the dirty pages of a file and then shares
its blocks, so that what the storage did with them can be read when the run is over.  The clones are those of
the moment at which work and util were fullest: they are replaced at ``GROWTH`` times the bytes.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from mawl.base.errors import RunFailedError
from mawl.base.removal import MARK, remove_tree
from mawl.lab.bed import ArmSpec
from mawl.lab.build import Bed
from mawl.lab.devices import own_environment
from mawl.lab.fabric import SERVER, BedFabric
from mawl.records.spec.nodes import NodesSpec
from mawl.records.spec.program_options import ROLES, Role

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
        return {role: (str(self._fabric.shared / role),) for role in roles}

    def at_client(self) -> list[str]:
        """What a command line begins with that runs where the first client is."""
        return self._fabric.inside(self._fabric.clients[0])

    def at_server(self) -> list[str]:
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
                self._wait_for(name, _REGISTERED)
            device = self._bed.device(self._fabric.spec.volume)
            yield NodesSpec(
                cluster=address,
                insecure=True,  # in namespaces of our own
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
        self._wait_for("scheduler", _LISTENS)
        return started

    def _worker(self, name: str, scheduler: str) -> subprocess.Popen[bytes]:
        words = ["worker", scheduler, "--name", name, "--host", self._fabric.address(name)]
        words += ["--no-nanny", "--nthreads", "1", "--memory-limit", "0", "--no-dashboard"]
        return self._start(name, self._fabric.inside(name), words)

    def _start(self, name: str, inside: Sequence[str], words: Sequence[str]) -> subprocess.Popen[bytes]:
        from mawl.run.cluster.dask_link import TUNED  # which imports Dask

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

    def _wait_for(self, name: str, text: str) -> None:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while text not in (output := self._output(name).read_text(errors="replace")):
            if time.monotonic() > deadline:
                last = (output.strip().splitlines() or ["it said nothing"])[-1]
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


PERIOD_SECONDS = 0.5
GROWTH = 1.25
KEPT, _NEXT = ".mawl-lab-kept", ".mawl-lab-next"
_FICLONE = 0x4004_9409


class CloneKeeper:
    """Looks at folders of temporary files while it is entered; ``folders`` are of each volume, by role.

    What it kept of ``VOLUME/ROLE`` lies in ``VOLUME/.mawl-lab-kept/ROLE``.
    """

    def __init__(self, volumes: Sequence[Path], roles: Sequence[str]) -> None:
        self._volumes, self._roles = volumes, roles
        self._most = 0
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="mawl-lab-keeper", daemon=True)
        self.reason: str | None = None
        """Why nothing could be cloned, None where it could."""

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._end.wait(PERIOD_SECONDS):
            size = sum(_size(file) for volume in self._volumes for _, file in self._files(volume))
            if size > GROWTH * self._most and self._keep():
                self._most = size

    def _keep(self) -> bool:
        """Clone every file; what was kept before gives way only to a clone that came to its end."""
        try:
            for volume in self._volumes:
                self._clone(volume)
        except OSError as error:
            self.reason = f"{error.filename or 'a file'}: {(error.strerror or str(error)).lower()}"
            return False
        for volume in self._volumes:
            remove_tree(volume / KEPT)
            (volume / _NEXT).rename(volume / KEPT)
        return True

    def _clone(self, volume: Path) -> None:
        target = volume / _NEXT
        remove_tree(target)
        for role in self._roles:
            (target / role).mkdir(parents=True)
        (target / MARK).touch(mode=0o600)
        for number, (role, file) in enumerate(self._files(volume)):
            clone(file, target / role / f"{number}-{file.name}")

    def _files(self, volume: Path) -> Iterator[tuple[str, Path]]:
        for role in self._roles:
            for folder, _, names in os.walk(volume / role):
                yield from ((role, Path(folder, name)) for name in sorted(names))


def clone(file: Path, target: Path) -> None:
    """Make ``target`` share the blocks of a file; nothing where the file has just gone."""
    try:
        source = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        copy = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            fcntl.ioctl(copy, _FICLONE, source)
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(file)) from None
        finally:
            os.close(copy)
    finally:
        os.close(source)


def take_away_kept(volumes: Mapping[str, Path]) -> None:
    """Remove what was kept, whole or not."""
    for place in volumes.values():
        for name in (KEPT, _NEXT):
            remove_tree(place / name)


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except FileNotFoundError:
        return 0
