"""A file system on a device that fails when it is told to (nbdkit's error filter; root)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests import needs
from tests.advice.limit.beds import command, lacking, looped, mounted, served

FAILING_DEVICE = needs.tried("failing device", lambda: lacking("nbdkit", "nbdfuse"))


@contextmanager
def failing(directory: Path) -> Iterator[tuple[Path, Path]]:
    """ext4 on a device that fails while the second path is there."""
    image, place, trigger = directory / "image", directory / "failing", directory / "fail"
    with image.open("wb") as file:
        file.truncate(256 * 2**20)
    command("mkfs.ext4", "-q", "-F", "-O", "^has_journal", str(image))
    place.mkdir()
    with ExitStack() as stack:
        file_ = stack.enter_context(
            served(image, "--filter=error", "file", str(image), "error=EIO", "error-rate=100%",
                   f"error-file={trigger}")
        )  # fmt: skip
        device = stack.enter_context(looped(file_))
        stack.enter_context(mounted(device, place))
        stack.callback(trigger.unlink, missing_ok=True)
        yield place, trigger
