"""A Slurm of our own: a controller and two nodes on this machine, at free ports, all files in one folder."""

from __future__ import annotations

import os
import secrets
import socket
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from tests.files import text_of

NODES = ("first", "second")
PATIENCE_SECONDS = 60
BATCH_SECONDS = 240

CONFIGURATION = text_of(__file__, "slurm.conf")


class SlurmMachine:
    """Its daemons run in the foreground as our children, and end with ``close``."""

    def __init__(self, folder: Path) -> None:
        """``folder``: with a short path, which a socket has to fit into."""
        self.folder = folder
        self.environment = {**os.environ, "SLURM_CONF": str(folder / "slurm.conf")}
        self._daemons: list[subprocess.Popen[bytes]] = []
        (folder / "slurm.conf").write_text(
            CONFIGURATION.format(host=socket.gethostname().split(".")[0], folder=folder, ports=_free_ports(3))
        )
        (folder / "munge.key").write_bytes(secrets.token_bytes(1024))
        (folder / "munge.key").chmod(0o400)
        for node in NODES:
            (folder / node).mkdir()
        places = {
            "socket": "socket",
            "key-file": "key",
            "pid-file": "pid",
            "seed-file": "seed",
            "log-file": "log",
        }
        words = [f"--{option}={folder}/munge.{name}" for option, name in places.items()]
        try:
            self._start("munged", "--foreground", "--force", *words)
            self._wait_for((folder / "munge.socket").exists, "munged")
            self._start("slurmctld", "-D")
            for node in NODES:
                self._start("slurmd", "-D", "-N", node)
            self._wait_for(self._is_idle, "both nodes")
        except BaseException:
            self.close()
            raise

    def batch(self, place: Path, *words: str, **variables: str) -> str:
        """Submit a script and wait for its end; the number of the job."""
        job = self.submit(place, *words, **variables)
        self._wait_for(lambda: not self.call("squeue", "--noheader", "--jobs", job), job, BATCH_SECONDS)
        return job

    def submit(self, place: Path, *words: str, **variables: str) -> str:
        """Submit a script of ``place``; the number of the job."""
        return self.call("sbatch", "--parsable", *words, place=place, variables=variables)

    def call(self, *words: str, place: Path | None = None, variables: Mapping[str, str] | None = None) -> str:
        """What a command of Slurm prints; nothing where it fails because a job is gone."""
        ended = subprocess.run(
            words,
            cwd=place,
            env={**self.environment, **(variables or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
        )
        gone = "Invalid job id" in ended.stderr
        assert ended.returncode == 0 or gone, ended.stderr
        return ended.stdout.strip()

    def close(self) -> None:
        """End the daemons, the last one first."""
        for daemon in reversed(self._daemons):
            daemon.terminate()
            daemon.wait(timeout=PATIENCE_SECONDS)

    def _start(self, *words: str) -> None:
        with open(self.folder / f"{words[0]}{len(self._daemons)}.log", "wb") as log:
            self._daemons.append(
                subprocess.Popen(
                    words, env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log
                )
            )

    def _is_idle(self) -> bool:
        shown = subprocess.run(
            ["sinfo", "--noheader", "--Node", "--format=%T"],
            env=self.environment,
            capture_output=True,
            text=True,
        )
        return shown.stdout.split() == ["idle", "idle"]

    def _wait_for(self, ready: Callable[[], object], what: str, seconds: float = PATIENCE_SECONDS) -> None:
        ends = time.monotonic() + seconds
        while not ready():
            logs = "".join(log.read_text()[-500:] for log in self.folder.glob("*.log"))
            assert time.monotonic() < ends, f"waited in vain for {what}:\n{logs}"
            time.sleep(0.5)


def _free_ports(number: int) -> list[int]:
    sockets = [socket.socket() for _ in range(number)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    found: list[int] = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return found
