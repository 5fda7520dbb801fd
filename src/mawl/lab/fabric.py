"""A bed's network: clients and a storage server in namespaces, rate-limited links, and GlusterFS over them.

Each client has a pair of interfaces to the storage server, which holds the rate of both directions (tbf at
both ends; docs/design/lab.md).  The server's address is on its loopback interface, so that what its links
carry is counted once.  A client's mount is in a separate mount namespace, held by its GlusterFS process: all
clients see the file system at the same place, each over its link, and it is gone when they are.  Calibration
sends plain TCP over all links at once, in each direction.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from mawl.base.errors import UnsuitableMachineError
from mawl.base.units import format_percent
from mawl.lab import transfer
from mawl.lab.bed import FabricSpec
from mawl.lab.calibration import NOT_AS_SAID, TOLERANCE_RATIO, TRIES, sentence
from mawl.lab.devices import attempt, command, environment, make_memory_group
from mawl.lab.experiment.records import VolumeCalibration
from mawl.measure.processes import is_alive

PREFIX = "mawl-"
SERVER = "storage"
SUBNET = "10.214"
SERVER_ADDRESS = f"{SUBNET}.0.1"
PORT = 24900
PATIENCE_SECONDS = 20.0
BURST_BYTES, QUEUE_MILLISECONDS, FRAME_BYTES = 128 * 1024, 20, 9000

_SERVER_VOLUME = """volume posix
  type storage/posix
  option directory {directory}
  option o-direct on
end-volume
volume locks
  type features/locks
  subvolumes posix
end-volume
volume brick
  type performance/io-threads
  option thread-count 16
  subvolumes locks
end-volume
volume server
  type protocol/server
  option transport-type tcp
  option transport.socket.bind-address {address}
  option transport.socket.listen-port {port}
  option auth.addr.brick.allow *
  subvolumes brick
end-volume
"""
_CLIENT_VOLUME = """volume client
  type protocol/client
  option transport-type tcp
  option remote-host {address}
  option remote-port {port}
  option remote-subvolume brick
end-volume
volume writes
  type performance/write-behind
  option cache-size 4MB
  subvolumes client
end-volume
volume reads
  type performance/read-ahead
  option page-count 8
  subvolumes writes
end-volume
"""


class BedFabric:
    """The network of one bed; ``directory`` is the bed's, ``brick`` the directory that is served."""

    def __init__(self, bed: str, spec: FabricSpec, directory: Path, brick: Path, mark: str) -> None:
        self.bed, self.spec, self.mark = bed, spec, mark
        self.directory, self.brick = directory, brick
        self.clients = [f"client{number}" for number in range(1, spec.clients + 1)]

    @property
    def shared(self) -> Path:
        return self.directory / "shared"

    def namespace(self, name: str) -> str:
        return f"{PREFIX}{self.bed}-{name}"

    @property
    def namespaces(self) -> list[str]:
        """All of them, the server's first."""
        return [self.namespace(name) for name in (SERVER, *self.clients)]

    def inside(self, name: str) -> list[str]:
        """What a command line begins with that runs where a client or the server is."""
        if name == SERVER:
            return ["nsenter", f"--net=/run/netns/{self.namespace(name)}"]
        return ["nsenter", "--target", str(self._pid(name)), "--mount", "--net"]

    def address(self, name: str) -> str:
        return SERVER_ADDRESS if name == SERVER else f"{SUBNET}.{1 + self.clients.index(name)}.2"

    def build(self) -> None:
        self._make_server_namespace()
        for number, name in enumerate(self.clients, start=1):
            self._make_client_namespace(number, name)
        self._serve()
        self.shared.mkdir(mode=0o700)
        for name in self.clients:
            self._mount(name)

    def stands(self) -> bool:
        try:
            return self._listens() and all(self._mounted(name) for name in self.clients)
        except (OSError, ValueError, UnsuitableMachineError):
            return False

    def lost(self) -> tuple[str, Path] | None:
        """The first of server and clients whose process ended, with its log; None where all run."""
        names = (name for name in (SERVER, *self.clients) if not is_alive(self._pid(name)))
        return next(((name, self._log(name)) for name in names), None)

    def set_rate(self, bytes_per_second: float) -> None:
        """Give every link a rate in each direction."""
        for number, name in enumerate(self.clients, start=1):
            for space, device in ((SERVER, f"link{number}"), (name, "eth0")):
                words = ["tc", "-netns", self.namespace(space), "qdisc"]
                attempt([*words, "delete", "dev", device, "root"], self.mark)
                shape = ["tbf", "rate", f"{round(8 * bytes_per_second)}bit"]
                shape += ["burst", str(BURST_BYTES), "latency", f"{QUEUE_MILLISECONDS}ms"]
                command([*words, "add", "dev", device, "root", *shape], self.mark)

    def make_roles(self, roles: Sequence[str]) -> None:
        places = [str(self.shared / role) for role in roles]
        command([*self.inside(self.clients[0]), "mkdir", "-p", "-m", "0700", *places], self.mark)

    # -- namespaces --------------------------------------------------------------------------------

    def _make_server_namespace(self) -> None:
        space = self.namespace(SERVER)
        self._ip("netns", "add", space)
        self._ip("-n", space, "address", "add", f"{SERVER_ADDRESS}/32", "dev", "lo")
        self._ip("-n", space, "link", "set", "lo", "up")

    def _make_client_namespace(self, number: int, name: str) -> None:
        """A pair of interfaces without offloads, whose large segments would pass the rate in one piece."""
        space, server = self.namespace(name), self.namespace(SERVER)
        device = f"link{number}"
        self._ip("netns", "add", space)
        self._ip("-n", space, "link", "set", "lo", "up")
        pair = ["type", "veth", "peer", "name", "eth0", "netns", space]
        self._ip("link", "add", device, "netns", server, *pair)
        for place, one, end in ((server, device, 1), (space, "eth0", 2)):
            self._ip("-n", place, "address", "add", f"{SUBNET}.{number}.{end}/24", "dev", one)
            limits = ["gso_max_segs", "1", "gso_max_size", str(2 * FRAME_BYTES)]
            self._ip("-n", place, "link", "set", one, "mtu", str(FRAME_BYTES), *limits, "up")
        self._ip("-n", space, "route", "add", "default", "via", f"{SUBNET}.{number}.1")

    def _ip(self, *words: str) -> None:
        command(["ip", *words], self.mark)

    # -- the file system ---------------------------------------------------------------------------

    def _serve(self) -> None:
        """The server, past its page cache and held to its memory: neither takes the device's place."""
        self.brick.mkdir(mode=0o700, exist_ok=True)
        volume = self.directory / "server.vol"
        volume.write_text(_SERVER_VOLUME.format(directory=self.brick, address=SERVER_ADDRESS, port=PORT))
        start = [*self.inside(SERVER), *self._daemon("glusterfsd", SERVER, volume)]
        limit = make_memory_group(self.bed)
        if limit is None:
            raise UnsuitableMachineError(
                "the storage server cannot be held to its memory", cure="mawl lab up --check"
            )
        limit.write_text(str(self.spec.memory_bytes))
        join = ["sh", "-c", 'echo $$ > "$0/cgroup.procs" && exec "$@"', str(limit.parent)]
        self._start([*join, *start], SERVER)
        self._until(f"the storage server listens ({self._log(SERVER)})", self._listens)

    def _mount(self, name: str) -> None:
        """A client: its GlusterFS process holds a mount namespace of its own, past the page cache."""
        volume = self.directory / "client.vol"
        volume.write_text(_CLIENT_VOLUME.format(address=SERVER_ADDRESS, port=PORT))
        where = ["nsenter", f"--net=/run/netns/{self.namespace(name)}", "unshare", "--mount"]
        words = self._daemon("glusterfs", name, volume)
        self._start([*where, *words, "--direct-io-mode=enable", str(self.shared)], name)
        self._until(f"{name} sees the file system ({self._log(name)})", lambda: self._mounted(name))

    def _daemon(self, program: str, name: str, volume: Path) -> list[str]:
        return [program, "--no-daemon", "-f", str(volume), "-l", str(self._log(name))]

    def _start(self, words: Sequence[str], name: str) -> None:
        """Start what stays; it bears the bed's mark, by which `mawl lab down` ends it."""
        with self._log(name).with_suffix(".out").open("wb") as output:
            process = subprocess.Popen(
                words,
                cwd="/",
                env=environment(self.mark),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        self._pid_file(name).write_text(f"{process.pid}\n")

    def _pid(self, name: str) -> int:
        return int(self._pid_file(name).read_text())

    def _pid_file(self, name: str) -> Path:
        return self.directory / f"{name}.pid"

    def _log(self, name: str) -> Path:
        return self.directory / f"{name}.log"

    def _listens(self) -> bool:
        result = attempt([*self.inside(SERVER), "ss", "-Hltn", f"sport = :{PORT}"], self.mark)
        return bool(result.stdout.strip())

    def _mounted(self, name: str) -> bool:
        mounts = Path(f"/proc/{self._pid(name)}/mounts")
        try:
            return any(line.split(" ")[1] == str(self.shared) for line in mounts.read_text().splitlines())
        except OSError as error:
            raise UnsuitableMachineError(
                f"{name} has no file system", why=str(error), cure=f"see {self._log(name)}"
            ) from None

    def _until(self, what: str, so: Callable[[], bool]) -> None:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not so():
            if time.monotonic() > deadline:
                raise UnsuitableMachineError(f"it did not come to this in {PATIENCE_SECONDS:g} s: {what}")
            time.sleep(0.1)


def remove_namespace(name: str, mark: str) -> None:
    """Take a network namespace away, and the links in it."""
    command(["ip", "netns", "delete", name], mark)


TRANSFER_PORT = 24901
TRANSFER_SECONDS = 60.0
PROTOCOL_RATIO = 0.99
"""Of a link's rate in frames of 9000 bytes, what is left beside the headers of Ethernet, IP and TCP."""


def calibrate_links(fabric: BedFabric, arm: str, bytes_per_second: float) -> Iterator[VolumeCalibration]:
    """Measure all links at a rate, which they keep; the slowest link counts, by the median of tries.

    Raises ``UnsuitableMachineError`` where it is off by more than the tolerance.
    """
    fabric.set_rate(bytes_per_second)
    for way in ("received", "sent"):
        values = [_slowest(fabric, way)]
        expected = PROTOCOL_RATIO * bytes_per_second
        if abs(values[0] / expected - 1.0) > TOLERANCE_RATIO:
            values += [_slowest(fabric, way) for _ in range(TRIES - 1)]
        calibration = VolumeCalibration(
            volume=f"links of {arm}",
            what=f"{way} by a client, all at once",
            unit="bytes per second",
            expected=expected,
            measured=statistics.median(values),
            tries=len(values),
        )
        if abs(calibration.off_ratio) > TOLERANCE_RATIO:
            raise UnsuitableMachineError(
                NOT_AS_SAID,
                where=sentence(calibration),
                why=f"the median of {TRIES} measurements is more than {format_percent(TOLERANCE_RATIO)} off",
                cure="end what else keeps this machine busy, or give the links a lower rate in the bed",
            )
        yield calibration


def _slowest(fabric: BedFabric, way: str) -> float:
    """Bytes a second of the slowest link while all carry one connection."""
    server = _start(fabric, SERVER, "serve", stdout=subprocess.DEVNULL)
    try:
        time.sleep(1.0)  # until it listens; a client that finds nobody is an error
        clients = [_start(fabric, name, way, stdout=subprocess.PIPE) for name in fabric.clients]
        outputs = [client.communicate(timeout=TRANSFER_SECONDS) for client in clients]
    finally:
        server.kill()
        server.wait()
    for client, (_, complaint) in zip(clients, outputs, strict=True):
        if client.returncode != 0:
            last = (complaint.strip().splitlines() or [f"exit status {client.returncode}"])[-1]
            raise UnsuitableMachineError("a link cannot be measured", why=last, cure="mawl lab up --check")
    return min(float(text) for text, _ in outputs)


def _start(fabric: BedFabric, name: str, way: str, *, stdout: int) -> subprocess.Popen[str]:
    words = [sys.executable, "-m", transfer.__name__, way, fabric.address(SERVER), str(TRANSFER_PORT)]
    return subprocess.Popen(
        [*fabric.inside(name), *words],
        cwd="/",
        env=environment(fabric.mark),
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=subprocess.PIPE if stdout == subprocess.PIPE else subprocess.DEVNULL,
        text=True,
    )
