"""A file system on a loop device of its own, with the device's own counters (root)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.advice.limit.beds import command, looped, mounted

IMAGE_BYTES = 6 * 2**30


class Disk:
    """A file system on a loop device, and what the device itself has counted."""

    def __init__(self, place: Path, device: str) -> None:
        self.place, self._device = place, device

    @property
    def roles(self) -> list[str]:
        """The options that put all roles there."""
        return [word for role in ("data", "work", "util") for word in (f"--{role}", str(self.place / role))]

    def moved(self) -> tuple[int, int]:
        """Bytes read and written so far (Linux Documentation/block/stat.rst)."""
        fields = Path("/sys/block", self._device, "stat").read_text().split()
        return int(fields[2]) * 512, int(fields[6]) * 512


@contextmanager
def own_disk(directory: Path) -> Iterator[Disk]:
    """Make it in a directory, sparse; unmounted and detached at the end."""
    image, place = directory / "image", directory / "disk"
    with image.open("wb") as file:
        file.truncate(IMAGE_BYTES)
    command("mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=0,nodiscard", "-N", "16384", str(image))
    place.mkdir()
    with ExitStack() as stack:
        device = stack.enter_context(looped(image))
        stack.enter_context(mounted(device, place))
        yield Disk(place, device)
