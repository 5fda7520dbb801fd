"""Draw trees with links, mounts and files that cannot go, remove them, and look at what is outside.

Run in mount and user namespaces of its own: ``python -m tests.base.removal_draws DIRECTORY SEED COUNT``.
Writes the number of trees; ends with an AssertionError at the first that was removed wrongly.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from mawl.base.removal import MARK, remove_tree

KINDS = (
    "directory", "directory", "directory", "file", "file", "link", "link to a directory", "hard link", "pipe",
    "bound directory", "bound file", "memory", "bound part of the tree", "closed directory",
    "open directory", "immutable file", "FUSE directory",
)  # fmt: skip
FUSE_BYTES = 65536
"""Of the one file that each FUSE mount shows."""


def digest(place: Path) -> str:
    """Of all names, kinds and contents below a place."""
    found = hashlib.sha256()
    for path in sorted(place.rglob("*")):
        content = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
        found.update(f"{path} {path.lstat().st_mode} {len(content)} ".encode() + content)
    return found.hexdigest()


@contextlib.contextmanager
def fuse(place: Path) -> Iterator[subprocess.Popen[bytes] | None]:
    """A FUSE mount at a new directory, and its server; None where nbdfuse is not installed."""
    place.mkdir(parents=True)
    if shutil.which("nbdfuse") is None or shutil.which("nbdkit") is None:
        yield None
        return
    server = ["nbdfuse", str(place), "--command", "nbdkit", "-s", "memory", str(FUSE_BYTES)]
    with subprocess.Popen(server) as process:
        while process.poll() is None and not os.path.ismount(place):
            time.sleep(0.01)
        assert process.poll() is None, "nbdfuse did not mount"
        try:
            yield process
        finally:
            subprocess.run(["umount", "--lazy", str(place)], check=True)
            process.kill()


class Tree:
    """One drawn tree below ``place``, with ``outside`` next to it; ``shown`` is a FUSE mount, if any."""

    def __init__(self, place: Path, draw: random.Random, shown: Path | None = None) -> None:
        self.shown = shown
        self.root, self.outside, self.draw = place / "tree", place / "outside", draw
        self.mounts: list[Path] = []
        self.memory: list[Path] = []
        self.immutable: list[Path] = []
        self.descriptors: list[int] = []
        (self.outside / "folder").mkdir(parents=True)
        (self.outside / "folder" / "precious").write_text("precious")
        (self.outside / "file").write_text("mine")
        self.root.mkdir()
        (self.root / MARK).touch()
        self.folders = [self.root]
        self.closed: list[Path] = []
        for number in range(draw.randrange(1, 25)):
            self._add(draw.choice(KINDS), draw.choice(self.folders) / f"n{number}\n{draw.randrange(9)}")
        for folder in self.closed:
            folder.chmod(0)

    def _add(self, kind: str, path: Path) -> None:
        folder, file = self.outside / "folder", self.outside / "file"
        if kind in ("directory", "closed directory", "open directory"):
            path.mkdir()
            self.folders.append(path)
            if kind == "closed directory":
                self.closed.append(path)
            if kind == "open directory":
                self.descriptors.append(os.open(path, os.O_RDONLY))
        elif kind == "link":
            path.symlink_to(file)
        elif kind == "link to a directory":
            path.symlink_to(folder)
        elif kind == "hard link":
            path.hardlink_to(file)
        elif kind == "pipe":
            os.mkfifo(path)
        else:
            self._add_what_may_stay(kind, path)

    def _add_what_may_stay(self, kind: str, path: Path) -> None:
        if kind in ("file", "bound file", "immutable file"):
            path.write_text("x" * self.draw.randrange(9000))
        else:
            path.mkdir()
        if kind == "immutable file":
            # Only root may, and not on every file system.
            tried = subprocess.run(["chattr", "+i", str(path)], stderr=subprocess.DEVNULL)
            self.immutable += [path] if tried.returncode == 0 else []
        elif kind == "memory":
            self._mount(path, "-t", "tmpfs", "-o", "size=64k", "none")
            (path / "precious").write_text("in memory")
            self.memory.append(path)
        elif kind != "file":
            bound = {
                "bound file": self.outside / "file",
                "bound directory": self.outside / "folder",
                "FUSE directory": self.shown or self.outside / "folder",
                "bound part of the tree": self.draw.choice(self.folders),
            }
            self._mount(path, "--bind", str(bound[kind]))

    def _mount(self, path: Path, *words: str) -> None:
        subprocess.run(["mount", *words, str(path)], check=True)
        self.mounts.append(path)

    def check(self) -> None:
        """Remove it: nothing outside changes, and only what cannot go stays and is named."""
        before = digest(self.outside)
        removal = remove_tree(self.root)
        assert digest(self.outside) == before
        assert all((path / "precious").read_text() == "in memory" for path in self.memory)
        assert self.shown is None or (self.shown / "nbd").stat().st_size == FUSE_BYTES
        stays = {*self.mounts, *self.immutable}
        needed = {above for path in stays for above in path.parents if above.is_relative_to(self.root)}
        found = set(_found(self.root, stays))
        expected = (stays | needed) - {self.root} | ({self.root / MARK} if stays else set())
        assert found == expected, (sorted(found ^ expected), removal)
        assert len(removal.kept) == len(stays), removal
        self.let_go()
        assert remove_tree(self.root).kept == []
        assert digest(self.outside) == before and not self.root.exists()

    def let_go(self) -> None:
        for path in reversed(self.mounts):
            subprocess.run(["umount", str(path)], check=True)
        for path in self.immutable:
            subprocess.run(["chattr", "-i", str(path)], check=True)
        for descriptor in self.descriptors:
            os.close(descriptor)
        self.mounts, self.immutable, self.descriptors = [], [], []


def _found(root: Path, stays: set[Path]) -> Iterator[Path]:
    """Everything below a directory, but nothing below what stays."""
    for parent, folders, names in os.walk(root):
        yield from (Path(parent, name) for name in (*folders, *names))
        folders[:] = [name for name in folders if Path(parent, name) not in stays]


def main(place: Path, seed: int, count: int) -> None:
    """Draw and check ``count`` trees."""
    with fuse(place / "fuse") as server:
        for number in range(count):
            one = place / "one"
            one.mkdir(parents=True)
            draw = random.Random(seed * 1_000_003 + number)
            tree = Tree(one, draw, None if server is None else place / "fuse")
            try:
                tree.check()
            finally:
                with contextlib.suppress(subprocess.CalledProcessError):
                    tree.let_go()
            shutil.rmtree(one)
    sys.stdout.write(f"{count} trees\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
