"""A modelled disk: our nbdkit plugin delays each request to an image, and nbdfuse shows it as a file."""

from __future__ import annotations

import os
import signal
import struct
import subprocess
import time
from pathlib import Path

from mawl.base.errors import UnsuitableMachineError
from mawl.lab.bed import DiskModel
from mawl.lab.devices import command, environment, find, mounts_in
from mawl.measure.processes import is_alive, signal_all
from mawl.records.compiled import NO_COMPILER, Recipe, shared_library

MODELLED = ".disk"
"""The suffix of the file that shows a modelled disk."""

SOURCE = Path(__file__).parent / "disk_model.c"
PACKAGES = "nbdkit nbdkit-plugin-dev libnbd-bin gcc"
_FLAGS = ("-O2", "-std=gnu11", "-Wall", "-fPIC", "-shared", "-pthread")
_THREADS = "16"
_CONNECTIONS = "4"
_PATIENCE_SECONDS = 20.0
_PATH = ".path"


def plugin() -> Path:
    """The compiled plugin in the user's cache; UnsuitableMachineError if it cannot be made."""
    files = {SOURCE.name: SOURCE.read_text()}
    recipe = Recipe(name="disk-model", title="the disk model", files=files, flags=_FLAGS)
    path, why = shared_library(recipe, os.environ)
    if path is not None:
        return path
    cure = f"install {PACKAGES}"
    if why == NO_COMPILER:
        raise UnsuitableMachineError("the disk model needs a C compiler", cure=cure)
    raise UnsuitableMachineError("the disk model cannot be compiled", why=why, cure=cure)


def start(image: Path, model: DiskModel, file: Path, mark: str) -> None:
    """Show an image as a file of which each request takes the model's time."""
    socket = file.with_suffix(".socket")
    socket.unlink(missing_ok=True)
    file.touch(mode=0o600)
    set_path_seconds(file, 0.0)
    # nbdkit goes into the background by itself: where it does not, its requests fail once its parent ends.
    command(
        [
            *(
                "nbdkit",
                "-P",
                str(file.with_suffix(".pid")),
                "-t",
                _THREADS,
                "-U",
                str(socket),
                str(plugin()),
            ),
            *(
                f"file={image}",
                f"path_file={file.with_suffix(_PATH)}",
                f"model={model.model}",
                f"bytes_per_second={model.rate}",
            ),
            f"access_nanoseconds={round(model.access_seconds * 1e9)}",
            *(f"reach_bytes={model.reach_bytes}", f"buffer_bytes={model.buffer_bytes}"),
            f"channels={model.channels}",
        ],
        mark,
    )
    fuse = find("nbdfuse")
    if fuse is None:
        raise UnsuitableMachineError("nbdfuse is missing", cure=f"install {PACKAGES}")
    process = subprocess.Popen(
        [fuse, "-C", _CONNECTIONS, str(file), "--unix", str(socket)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment(mark),
        start_new_session=True,
    )
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while file not in mounts_in(file.parent) or file.stat().st_size != image.stat().st_size:
        if process.poll() is not None or time.monotonic() > deadline:
            raise UnsuitableMachineError(
                "nbdfuse does not show the disk", where=str(file), cure="see /dev/fuse"
            )
        time.sleep(0.05)


def shown(place: Path) -> Path:
    """The file that shows the modelled disk of the volume that is mounted at ``place``."""
    return place.with_name(place.name + MODELLED)


def set_path_seconds(file: Path, seconds: float) -> None:
    """Say how long a request's way to the model and back takes, from the next request on."""
    path = file.with_suffix(_PATH)
    with path.open("r+b" if path.exists() else "xb") as to:
        to.write(struct.pack("=q", round(seconds * 1e9)))


def stop(file: Path) -> None:
    """End the nbdkit of a modelled disk and remove its files; nbdfuse ends when its file is unmounted."""
    pid_file = file.with_suffix(".pid")
    try:
        pid = int(pid_file.read_text())
    except (FileNotFoundError, ValueError):
        return
    signal_all([pid], signal.SIGTERM)
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while is_alive(pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    for left in (pid_file, file.with_suffix(".socket"), file.with_suffix(_PATH)):
        left.unlink(missing_ok=True)
