"""Check that a volume is as fast as its bed says: direct fio, and a buffered temporary file.

The arms differ only in these speeds, so nothing runs over a volume that is off.  The buffered file is what
programs write: it shows that no cache takes the place of the device.
"""

from __future__ import annotations

import io
import json
import os
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from mawl.base.errors import UnsuitableMachineError
from mawl.base.units import format_bytes, format_latency, format_percent, format_rate, format_ratio
from mawl.importers.formats.fio import fio_time
from mawl.lab import disk
from mawl.lab.bed import VolumeSpec
from mawl.lab.devices import command
from mawl.lab.experiment.records import CalibrationUnit, VolumeCalibration

TOLERANCE_RATIO = 0.05
TRIES = 3
"""A measurement that is off, as by something else's doing, is made so often in all, and their median counts:
the first that is within the tolerance would lean to passing."""

NOT_AS_SAID = "a volume is not as fast as its bed says"

SECONDS = 3.0
RAMP_SECONDS = 0.5
"""Left out of each measurement: a cap lets some 0.1 s worth of requests through at once when it begins."""

FILE_SECONDS = 1.0
"""What a file for direct requests holds, at the volume's rate."""

LAYOUT_RATIO = 1.3
"""Left out of direct writes, in times of one pass over the file: the first finds places for it, which costs
requests of its own (28.8 of 31.5 MB/s on blocks of 1 KiB)."""

BUFFERED_SECONDS = 5.0
"""3 s spread too far: 56.7, 62.1 and 58.0 of 60 MB/s one after another."""

BUFFERED_RAMP_SECONDS = 6.0
"""The kernel takes this long to learn how fast a device writes, by which it holds writers back: at 150 MB/s
the first three seconds after 1.5 s had 42 and 104 MB/s, the next 135 and 143, the third 149 and 157."""

REQUEST_BYTES = 256 * 1024
RANDOM_BYTES = 4096
DEPTH = 4
LONGEST_PATH_RATIO = 0.3
"""So much of a disk's access time may be the way of a request through the kernel."""

_LEAST_FILE_BYTES = 16 * 2**20


def calibrate(volume: VolumeSpec, place: Path, device: str, mark: str) -> list[VolumeCalibration]:
    """Measure a slow volume; empty for one that its bed does not limit.

    ``place`` is where it is mounted; its files are gone again after this.  Takes about
    30 s.  Raises ``UnsuitableMachineError``, with the figures, where one
    is off by more than ``TOLERANCE_RATIO``, and the median of ``TRIES`` is, too.
    """
    if volume.cap is None and volume.disk is None:
        return []
    folder = place / ".mawl-lab-calibration"
    folder.mkdir()
    if volume.file_system == "btrfs":
        # Neither compressed nor copied on write: else direct requests go through the cache.
        command(["chattr", "+C", str(folder)], mark)
    try:
        return list(_measurements(volume, folder, Path("/dev", device), mark))
    finally:
        for file in folder.iterdir():
            file.unlink()
        folder.rmdir()


def _measurements(volume: VolumeSpec, folder: Path, device: Path, mark: str) -> Iterator[VolumeCalibration]:
    rate = expected_rate(volume)
    size = _whole(max(int(rate * FILE_SECONDS), _LEAST_FILE_BYTES))
    # What may wait to be written would hold a smaller file whole.
    buffered_size = max(_whole(int(rate * SECONDS)), _LEAST_FILE_BYTES, _whole(2 * volume.dirty_bytes))
    if buffered_size > 0.5 * volume.size_bytes:
        raise UnsuitableMachineError(
            f"volume {volume.name} is too small to be calibrated at {format_rate(rate)}",
            cure="give it a larger size in its bed",
        )
    # A whole file must be written in one measurement, since it is then read.
    direct = Fio(folder / "direct", size, mark, layout_seconds=LAYOUT_RATIO * size / rate)
    for way in ("write", "read"):
        yield _checked(volume, f"direct {way}", "bytes per second", rate, lambda way=way: direct.rate(way))  # type: ignore[misc]
    requests = expected_requests(volume)
    if requests is not None:
        on_device = Fio(device, volume.size_bytes, mark)
        path_seconds = None
        if volume.disk is not None and volume.disk.model == "spinning":
            path_seconds = _take_off_path(volume, requests, on_device.random_reads(), folder.parent)
        found = _checked(
            volume, "direct random read", "requests per second", requests, on_device.random_reads
        )
        yield msgspec.structs.replace(found, path_seconds=path_seconds)
    if volume.cap is not None and volume.cap.requests_per_second is not None:
        # The kernel chooses the size of buffered requests, so nothing is expected of their bytes.
        return
    buffered = BufferedFile(folder / "buffered", buffered_size, device.name, volume.dirty_bytes)
    yield _checked(volume, "buffered write", "bytes per second", rate, buffered.write)
    yield _checked(volume, "buffered read", "bytes per second", rate, buffered.read)


def _take_off_path(volume: VolumeSpec, expected: float, measured: float, place: Path) -> float:
    """Have the model take a request's way to it and back off its seeks; the seconds a request.

    The loop device hands over one request at a time, so this way is in each; a real disk's queue holds what
    waits.  It is some 0.1 ms where processors wake up at once, and 1 ms where a hypervisor takes its time.
    """
    seconds = max(1.0 / measured - 1.0 / expected, 0.0)
    assert volume.disk is not None
    if seconds > LONGEST_PATH_RATIO * volume.disk.access_seconds:
        raise UnsuitableMachineError(
            f"volume {volume.name}: a request's way to the model and back takes {format_latency(seconds)}",
            why=f"a seek of {format_latency(volume.disk.access_seconds)} cannot be modelled so",
            cure="end what else keeps this machine busy, or give the disk a longer seek in its bed",
        )
    disk.set_path_seconds(disk.shown(place), seconds)
    return seconds


def expected_rate(volume: VolumeSpec) -> float:
    """Bytes per second of one direction, in requests of 256 KiB."""
    if volume.disk is not None:
        return float(volume.disk.rate)
    assert volume.cap is not None
    if volume.cap.requests_per_second is None:
        return float(volume.cap.rate)
    return float(min(volume.cap.rate, volume.cap.requests_per_second * REQUEST_BYTES))


def expected_requests(volume: VolumeSpec) -> float | None:
    """Random reads of 4 KiB per second; None where only bytes are limited."""
    if volume.disk is not None:
        return volume.disk.random_requests_per_second
    if volume.cap is None or volume.cap.requests_per_second is None:
        return None
    return float(min(volume.cap.requests_per_second, volume.cap.rate / RANDOM_BYTES))


def _checked(
    volume: VolumeSpec, what: str, unit: CalibrationUnit, expected: float, measure: Callable[[], float]
) -> VolumeCalibration:
    values = [measure()]
    if abs(values[0] / expected - 1.0) > TOLERANCE_RATIO:
        values += [measure() for _ in range(TRIES - 1)]
    calibration = VolumeCalibration(
        volume=volume.name,
        what=what,
        unit=unit,
        expected=expected,
        measured=statistics.median(values),
        tries=len(values),
    )
    if abs(calibration.off_ratio) <= TOLERANCE_RATIO:
        return calibration
    raise UnsuitableMachineError(
        NOT_AS_SAID,
        where=sentence(calibration),
        why=f"the median of {TRIES} measurements is more than {format_percent(TOLERANCE_RATIO)} off",
        cure="end what else keeps this machine busy, or give the volume a lower speed in its bed",
    )


class Fio:
    """fio over one file or device, past the page cache."""

    def __init__(self, file: Path, size: int, mark: str, layout_seconds: float = 0.0) -> None:
        self._file, self._size, self._mark = file, size, mark
        self._layout_seconds = layout_seconds

    def rate(self, way: str) -> float:
        """Bytes per second of sequential reads or writes, several at a time, over and over the file."""
        ramp = RAMP_SECONDS + (self._layout_seconds if way == "write" else 0.0)
        self._layout_seconds = 0.0
        return self._run(ramp, f"--rw={way}", f"--bs={REQUEST_BYTES}")[way]["bw_bytes"]

    def random_reads(self) -> float:
        """Random reads of 4 KiB per second; a device is only read."""
        return self._run(RAMP_SECONDS, "--rw=randread", f"--bs={RANDOM_BYTES}", "--readonly")["read"]["iops"]

    def _run(self, ramp_seconds: float, *words: str) -> dict[str, dict[str, float]]:
        text = command(
            [
                *("fio", "--name=calibration", f"--filename={self._file}", f"--size={self._size}"),
                # Preallocated extents would be stored uncompressed on btrfs.
                *("--direct=1", "--ioengine=libaio", f"--iodepth={DEPTH}", "--fallocate=none"),
                *("--time_based", f"--ramp_time={fio_time(ramp_seconds)}", f"--runtime={fio_time(SECONDS)}"),
                *("--randrepeat=0", "--output-format=json", *words),
            ],
            self._mark,
        )
        try:
            jobs: list[dict[str, dict[str, float]]] = json.loads(text[text.index("{") :])["jobs"]
            return jobs[0]
        except (ValueError, LookupError) as error:
            raise UnsuitableMachineError("fio said something else than its figures", why=str(error)) from None


class BufferedFile:
    """A temporary file as programs write it: through the page cache and without a sync."""

    def __init__(self, path: Path, size: int, device: str, dirty_bytes: int) -> None:
        self._path, self._size = path, size
        self._device, self._dirty_bytes = device, dirty_bytes
        self._block = os.urandom(REQUEST_BYTES)
        self._at, self._ramped = 0, False

    def write(self) -> float:
        """Bytes per second that the device is given of a writer that is held back, over and over the file.

        The writer's own rate is off by what waits more or less in the end: 9.25 of 10 MB/s in 5 s.  Raises
        ``UnsuitableMachineError`` where more than the limit was only taken into the cache.
        """
        with self._path.open("r+b" if self._path.exists() else "xb", buffering=0) as file:
            if not self._ramped:
                self._write(file, BUFFERED_RAMP_SECONDS)
                self._ramped = True
            before, began = _written_bytes(self._device), time.monotonic()
            put = self._write(file, BUFFERED_SECONDS)
            written, seconds = _written_bytes(self._device) - before, time.monotonic() - began
        if put > written + self._dirty_bytes + REQUEST_BYTES:
            raise UnsuitableMachineError(
                "the page cache takes what is for a volume's device",
                where=self._device,
                why=f"of {format_bytes(put)} in {seconds:.1f} s it was given {format_bytes(written)}, and "
                f"at most {format_bytes(self._dirty_bytes)} may wait",
                cure="mawl lab up --check",
            )
        return written / seconds

    def _write(self, file: io.FileIO, seconds: float) -> int:
        put, began = 0, time.monotonic()
        while time.monotonic() < began + seconds:
            put += os.pwrite(file.fileno(), self._block, self._at)
            self._at = (self._at + REQUEST_BYTES) % self._size
        return put

    def read(self) -> float:
        """Bytes per second of a reader of what was written, taken out of the page cache first."""
        with self._path.open("rb", buffering=0) as file:
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            buffer = bytearray(REQUEST_BYTES)
            began, got = time.monotonic(), 0
            while count := file.readinto(buffer):
                got += count
                if began + RAMP_SECONDS > time.monotonic():
                    ramp_ended, ramp_got = time.monotonic(), got
            return (got - ramp_got) / (time.monotonic() - ramp_ended)


def sentence(calibration: VolumeCalibration) -> str:
    """A measurement for people: what, how fast, and how far off."""
    form = format_rate if calibration.unit == "bytes per second" else _requests
    path = ""
    if calibration.path_seconds is not None:
        path = f", {format_latency(calibration.path_seconds)} of way to the model taken off each seek"
    return (
        f"{calibration.volume}, {calibration.what}: {form(calibration.measured)}, "
        f"expected {form(calibration.expected)} ({100.0 * calibration.off_ratio:+.1f} %){path}"
    )


def _written_bytes(device: str) -> int:
    """What a block device was given to write since it is there (Documentation/block/stat.rst)."""
    return int(Path("/sys/class/block", device, "stat").read_text().split()[6]) * 512


def _whole(size: int) -> int:
    return size - size % REQUEST_BYTES


def _requests(count: float) -> str:
    return f"{format_ratio(count)} requests/s"
