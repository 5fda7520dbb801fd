"""A built wheel holds what the installed product needs beside its modules."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.lab
@pytest.mark.parallel
def test_a_built_wheel_holds_every_file_of_the_package_and_the_license(tmp_path: Path) -> None:
    sources = tmp_path / "sources"
    # Building in place would leave its litter in the tree.
    shutil.copytree(ROOT / "src", sources / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, sources / name)
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    command += ["--disable-pip-version-check", "--wheel-dir", str(tmp_path), str(sources)]
    built = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert built.returncode == 0, built.stderr
    (wheel,) = tmp_path.glob("mawl-*.whl")
    packed = set(zipfile.ZipFile(wheel).namelist())
    package = sources / "src"
    wanted = {
        str(path.relative_to(package))
        for path in package.rglob("*")
        if path.is_file() and "build" not in path.parts and ".egg-info" not in str(path)
    }
    assert wanted - packed == set()
    assert any(name.endswith("licenses/LICENSE") for name in packed)
    assert not any(name.startswith(("tests", "bench", "tools")) for name in packed)
