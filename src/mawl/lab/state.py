"""What a bed has made, written before it is made, so that `mawl lab down` finds it after a crash.

There is one JSON file for each bed in the state directory, replaced whole and synced before each creation.
What the kernel names only afterwards (a loop or zram device) is found again by what was written before: the
image's path, the next number.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from mawl.base.errors import UnsuitableMachineError, UsageError
from mawl.measure.processes import started_ticks
from mawl.records.store.files import replace_file, sync_directory

STATE_VARIABLE = "MAWL_LAB_STATE"
DEFAULT_DIRECTORY = Path("/run/mawl-lab")
STATE_FORMAT_VERSION = 1
TRIAL = "trial."
"""How the names of trials of needs begin; no bed's name holds a full stop."""

BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


class ZramState(msgspec.Struct, frozen=True, kw_only=True):
    """A zram device: its number, or the one expected; ``confirmed`` once the kernel said it."""

    number: int
    confirmed: bool = False


class VolumeState(msgspec.Struct, kw_only=True):
    """What one volume has, or is about to get."""

    name: str
    place: str
    image: str | None = None
    model_socket: str | None = None
    zram: ZramState | None = None
    device: str | None = None
    """Its kernel name (``loop3``) once the kernel gave it."""
    device_number: str | None = None
    """MAJOR:MINOR, under which caps are set."""
    writeback_name: str | None = None
    """Under which its writeback limits are set."""
    cap_rules: dict[str, str] = {}
    """Rule file to the value written there."""
    writeback_before: dict[str, str] = {}
    """What the device's writeback limits were."""


class BedState(msgspec.Struct, kw_only=True):
    """One bed: its directories, its volumes, and the run folders of `mawl lab run`."""

    format_version: int = STATE_FORMAT_VERSION
    bed: str
    boot_id: str
    owner_pid: int
    owner_started_ticks: int
    directory: str
    images: str
    volumes: list[VolumeState] = []
    run_folders: list[str] = []
    namespaces: list[str] = []
    """Network namespaces of its clients and its storage server."""
    description: dict[str, Any] = {}
    """The bed file's content, so that `report` and a later `run` know what stands."""


def state_directory(environment: Mapping[str, str]) -> Path:
    """Where state files and mount points are: a directory that a restart empties."""
    return Path(environment.get(STATE_VARIABLE) or DEFAULT_DIRECTORY).absolute()


def state_file(directory: Path, bed: str) -> Path:
    """The state file of a bed."""
    return directory / f"{bed}.json"


def boot_id() -> str:
    """Which start of the machine this is: after another one only files can be left."""
    return BOOT_ID.read_text().strip()


def write_state(directory: Path, state: BedState) -> None:
    """Replace the state file, on disk before this returns."""
    replace_file(state_file(directory, state.bed), msgspec.json.encode(state) + b"\n")
    sync_directory(directory)


def read_state(directory: Path, bed: str) -> BedState | None:
    """The state of a bed; None where there is none."""
    path = state_file(directory, bed)
    try:
        state = msgspec.json.decode(path.read_bytes(), type=BedState)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UnsuitableMachineError(
            "cannot be read", where=str(path), why=(error.strerror or str(error)).lower(), cure="run as root"
        ) from None
    except msgspec.DecodeError as error:
        raise UnsuitableMachineError(
            "is no state of a bed", where=str(path), why=str(error), cure="see losetup -a, and remove it"
        ) from None
    if state.format_version != STATE_FORMAT_VERSION:
        raise UnsuitableMachineError(
            f"has version {state.format_version}, this mawl knows {STATE_FORMAT_VERSION}",
            where=str(path),
            cure="take the bed down with the mawl that built it",
        )
    return state


def known_beds(directory: Path) -> list[str]:
    """Names of the beds that stand, or stood when something died."""
    return sorted(path.stem for path in directory.glob("*.json") if not path.name.startswith("."))


def forget(directory: Path, bed: str) -> None:
    """Remove the state file, and what a writer left that died while it wrote one."""
    for torn in directory.glob(f".{bed}.json.*"):
        torn.unlink(missing_ok=True)
    state_file(directory, bed).unlink(missing_ok=True)


def abandoned_trials(directory: Path) -> list[BedState]:
    """Trials of needs whose process is gone."""
    found = [read_state(directory, name) for name in known_beds(directory) if name.startswith(TRIAL)]
    return [
        state
        for state in found
        if state is not None and started_ticks(state.owner_pid) != state.owner_started_ticks
    ]


@contextmanager
def held(directory: Path, bed: str) -> Iterator[None]:
    """Hold a bed for oneself; ``UsageError`` where another process has it."""
    make_directory(directory)
    descriptor = os.open(directory / f".{bed}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UsageError(
                f"bed {bed} is in use by another mawl lab",
                cure=f"wait for it, or stop it: mawl lab down {bed}",
            ) from None
        yield
    finally:
        os.close(descriptor)


def make_directory(directory: Path) -> None:
    """Make the state directory, for root alone."""
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise UnsuitableMachineError(
            "cannot be made",
            where=str(directory),
            why=(error.strerror or str(error)).lower(),
            cure=f"run as root, or name another directory with {STATE_VARIABLE}",
        ) from None
