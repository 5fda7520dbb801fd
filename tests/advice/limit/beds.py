"""Test beds whose limit is made: file systems on devices with a rate cap, or slow below the queue."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Self

from mawl.records.spec.program_options import ROLES, Role

BLKIO = Path("/sys/fs/cgroup/blkio")
DIRECTIONS = ("read", "write")
IMAGE_BYTES = 2 * 2**30
AMPLE_BYTES_PER_SECOND = 400 * 10**6
"""The cap of devices that are to limit nothing, and that are relaxed with everything else."""
DIRTY_BYTES = 8 * 2**20
"""More than this may not wait to be written to a device: else a temporary file ends before it is written."""

READER = """
import mmap, os, sys, time
file, block = os.open(sys.argv[1], os.O_RDONLY | os.O_DIRECT), mmap.mmap(-1, 1 << 20)
for number in range(os.fstat(file).st_size >> 20):
    os.preadv(file, [block], number << 20)
end = time.process_time() + float(sys.argv[2])
while time.process_time() < end:
    pass
"""


def lacking(*programs: str) -> str | None:
    """Why no bed can be made here, or None."""
    if os.geteuid() != 0:
        return "needs root: loop devices and rate caps"
    missing = [name for name in ("losetup", "mkfs.ext4", "mount", *programs) if shutil.which(name) is None]
    if missing:
        return f"needs {', '.join(missing)}"
    if not (BLKIO / "blkio.throttle.read_bps_device").exists():
        return "needs control groups of version 1 with blkio"
    if programs and not Path("/dev/fuse").exists():
        return "needs /dev/fuse"
    return None


class Volume:
    """A file system on a loop device of our own; a cap holds for the device, whoever asks and whenever."""

    def __init__(self, directory: Path, role: Role, image_bytes: int = IMAGE_BYTES) -> None:
        self._image, self.place = directory / f"{role}.img", directory / role
        with self._image.open("wb") as file:
            file.truncate(image_bytes)
        # Nothing is left to initialize after the mount: the kernel's writes would count among the run's.
        initialized = "lazy_itable_init=0,lazy_journal_init=0,nodiscard"
        command("mkfs.ext4", "-q", "-F", "-N", "65536", "-E", initialized, str(self._image))
        self.place.mkdir()
        self.device, self._closing = "", ExitStack()

    def open(self, delay_milliseconds: int = 0, bytes_per_second: int = 0) -> None:
        """Mount; with a delay each request waits so long in a process below the device's queue.

        With a rate that process reads and writes no faster each, and no run can see it.
        """
        self.close()
        with ExitStack() as stack:
            file = self._image
            if delay_milliseconds:
                file = stack.enter_context(delayed(self._image, delay_milliseconds))
            if bytes_per_second:
                rate = (f"rate={8 * bytes_per_second}", "burstiness=0.2")
                words = ("--filter=rate", "file", str(file), *rate)
                file = stack.enter_context(served(self._image, *words))
            self.device = stack.enter_context(looped(file))
            stack.enter_context(mounted(self.device, self.place))
            self._writeback = stack.enter_context(Writeback(self._number()))
            self._writeback.hold(delay_milliseconds > 0)
            stack.callback(self.cap, 0)
            self._closing = stack.pop_all()

    def cap(
        self, bytes_per_second: int, *, held: bool = True, directions: Sequence[str] = DIRECTIONS
    ) -> None:
        """Cap reads and writes at this rate each, also of writeback (the root group).  0: no cap.

        Writers are held back early where the cap is what limits them: an ample device would look slow, as the
        kernel takes its time to learn how fast it is.  Not ``held``: as early as the kernel does it anyway.
        """
        self._writeback.hold(held and 0 < bytes_per_second < AMPLE_BYTES_PER_SECOND)
        for direction in directions:
            rule = BLKIO / f"blkio.throttle.{direction}_bps_device"
            rule.write_text(f"{self._number()} {bytes_per_second}")

    def close(self) -> None:
        """Take away what was made, and only that; the image stays."""
        self._closing.close()

    def remove(self) -> None:
        """Close it and remove its image: failed tests keep their directory, and a bed has up to 48 GiB."""
        self.close()
        self._image.unlink()

    def _number(self) -> str:
        return Path("/sys/block", self.device, "dev").read_text().strip()


class Bed:
    """A volume for each role, and runs over them."""

    def __init__(self, directory: Path, image_bytes: int = IMAGE_BYTES) -> None:
        self.directory = directory
        self.volumes: dict[Role, Volume] = {role: Volume(directory, role, image_bytes) for role in ROLES}

    def close(self) -> None:
        """All volumes, also where one of them fails."""
        with ExitStack() as stack:
            for volume in self.volumes.values():
                stack.callback(volume.remove)

    def generate(self, workload: str) -> None:
        """Make the inputs of a workload file, which ``run`` then runs."""
        (self.directory / "drawn.toml").write_text(workload)
        data = str(self.volumes["data"].place / "mawl")
        mawl = (sys.executable, "-m", "mawl")
        command(*mawl, "generate", "drawn.toml", "--data", data, directory=self.directory)

    def write_readers(self, blocks: int, cpu_seconds: float) -> None:
        """A workload for ``run``: jobs read so many blocks of 1 MiB past the page cache, and then compute."""
        (self.directory / "reader.py").write_text(READER)
        lines, data = ['name = "readers"'], self.volumes["data"].place / "mawl"
        data.mkdir()
        for name in (f"r{number}" for number in range(8)):
            (data / name).write_bytes(os.urandom(blocks * 2**20))
            words = json.dumps([sys.executable, "{here}/reader.py", f"{{data}}/{name}", str(cpu_seconds)])
            lines += [f"[commands.{name}]", f"command = {words}"]
            lines += [
                "[[sessions]]",
                f'name = "{name}"',
                f'stages = [["{name}"], ["{name}"], ["{name}"], ["{name}"]]',
            ]
        os.sync()
        (self.directory / "drawn.toml").write_text("\n".join(lines))

    def run(self, *arguments: str) -> dict[str, Any]:
        """``mawl run`` of that file over the volumes; the judged summary."""
        for role, volume in self.volumes.items():
            arguments = (*arguments, f"--{role}", str(volume.place / "mawl"))
        return run(self.directory, "drawn.toml", *arguments)


def run(directory: Path, *arguments: str) -> dict[str, Any]:
    """``mawl run`` in a directory; the judged summary."""
    command(sys.executable, "-m", "mawl", "run", *arguments, directory=directory)
    text = command(sys.executable, "-m", "mawl", "report", "--format", "json", directory=directory)
    summary: dict[str, Any] = json.loads(text)
    return summary


def command(*words: str, directory: Path | None = None, seconds: float = 300.0) -> str:
    """What a command printed; it must end well, and in so many seconds."""
    done = subprocess.run(
        words, cwd=directory, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=seconds
    )
    assert done.returncode == 0, f"{words}: {done.stderr}"
    return done.stdout


@contextmanager
def looped(file: Path) -> Iterator[str]:
    """A loop device on a file, past the page cache of the file; its name."""
    device = command("losetup", "-f", "--show", "--direct-io=on", str(file)).strip()
    try:
        yield Path(device).name
    finally:
        command("losetup", "-d", device)


@contextmanager
def mounted(device: str, place: Path) -> Iterator[None]:
    """The file system of a device at a place."""
    command("mount", f"/dev/{device}", str(place))
    try:
        yield
    finally:
        unmount(place)


def unmount(place: Path) -> None:
    """Unmount it; what uses it may need a moment until the kernel has let it go."""
    for _ in range(50):
        if subprocess.run(["umount", str(place)], capture_output=True).returncode == 0:
            return
        time.sleep(0.2)
    command("umount", str(place))


class Writeback:
    """How much may wait to be written to a device; as it was before, afterwards."""

    def __init__(self, number: str) -> None:
        self._bdi = Path("/sys/class/bdi", number)
        self._before = {name: (self._bdi / name).read_text() for name in ("strict_limit", "max_ratio")}

    def hold(self, held: bool) -> None:
        """Hold writers back as soon as ``DIRTY_BYTES`` wait, or let them go."""
        self._set({"strict_limit": "1", "max_bytes": str(DIRTY_BYTES)} if held else self._before)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.hold(False)

    def _set(self, values: Mapping[str, str]) -> None:
        for name, value in values.items():
            (self._bdi / name).write_text(value)


@contextmanager
def delayed(image: Path, delay_milliseconds: int) -> Iterator[Path]:
    """An image as a file of which each request takes longer: nbdkit's delay filter."""
    delays = [f"{direction}delay={delay_milliseconds}ms" for direction in ("r", "w")]
    with served(image, "--filter=delay", "file", str(image), *delays) as file:
        yield file


@contextmanager
def served(image: Path, *words: str) -> Iterator[Path]:
    """An image as a file behind nbdkit with these words, mounted by nbdfuse."""
    socket, pid, file = (image.with_suffix(f".{kind}") for kind in ("socket", "pid", "slow"))
    file.touch()
    with ExitStack() as stack:
        command("nbdkit", "-P", str(pid), "-t", "16", "-U", str(socket), *words)
        stack.callback(socket.unlink, missing_ok=True)
        stack.callback(_end, pid)
        fuse = subprocess.Popen(
            ["nbdfuse", "-C", "4", str(file), "--unix", str(socket)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        stack.callback(_stop, fuse)
        for _ in range(100):
            if f" {file} fuse" in Path("/proc/mounts").read_text():
                break
            time.sleep(0.1)
        assert file.stat().st_size == image.stat().st_size, "nbdfuse did not mount"
        stack.callback(unmount, file)
        yield file


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    process.wait(timeout=30)


def _end(pid_file: Path) -> None:
    """End a process that left us, and wait until it is gone."""
    number = int(pid_file.read_text())
    os.kill(number, signal.SIGTERM)
    for _ in range(100):
        if not Path("/proc", str(number)).exists():
            return
        time.sleep(0.1)
