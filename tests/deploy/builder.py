"""Images without a registry or a daemon: buildah over a base that mmdebstrap makes of Debian's packages."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from tests import needs

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_SECONDS = 1500
BASE, IMAGE = "localhost/base", "localhost/mawl"


class ImageBuilder:
    """Calls of buildah whose images, containers and temporary files all lie in one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        settings = folder / "storage.conf"
        places = f'runroot = "{folder}/run"\ngraphroot = "{folder}/graph"\n'
        settings.write_text(f'[storage]\ndriver = "vfs"\n{places}')
        (folder / "tmp").mkdir()
        self._environment = os.environ | {
            "CONTAINERS_STORAGE_CONF": str(settings),
            "TMPDIR": str(folder / "tmp"),
        }

    def call(self, *words: str, before: tuple[str, ...] = ()) -> str:
        """What buildah prints; ``before`` are words in front of its own."""
        ended = subprocess.run(
            [*before, "buildah", *words],
            env=self._environment,
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
        )
        assert ended.returncode == 0, f"buildah {' '.join(words)}\n{ended.stdout}\n{ended.stderr}"
        return ended.stdout

    def make_base(self) -> None:
        """A small Debian 12; skips where Debian's packages are out of reach."""
        archive = self.folder / "base.tar"
        command = ["mmdebstrap", "--quiet", "--variant=minbase", "--include=ca-certificates", "bookworm"]
        made = subprocess.run([*command, str(archive)], capture_output=True, text=True)
        if made.returncode != 0:
            needs.skip(f"mmdebstrap makes no Debian 12 here: {made.stderr.strip().splitlines()[-1]}")
        container = self.call("from", "scratch").strip()
        self.call("add", "--quiet", container, str(archive), "/")
        self.call("commit", "--quiet", "--rm", container, BASE)
        archive.unlink()

    def build(self) -> None:
        """The image of ``deploy/Containerfile``, with the way to PyPI that this machine's pip has."""
        words = ["build", "--isolation", "chroot", "--layers=false", "--build-arg", f"BASE={BASE}"]
        for name in ("PIP_INDEX_URL", "PIP_CERT"):
            if name in os.environ:
                words += ["--build-arg", f"{name}={os.environ[name]}"]
        if "PIP_CERT" in os.environ:
            certificates = Path(os.environ["PIP_CERT"]).resolve().parent
            words += ["--volume", f"{certificates}:{certificates}:ro"]
        self.call(*words, "--file", "deploy/Containerfile", "--tag", IMAGE, ".")

    def close(self) -> None:
        """Remove containers, images and files."""
        self.call("rm", "--all")
        self.call("rmi", "--all", "--force")
        shutil.rmtree(self.folder)
