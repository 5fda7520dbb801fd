"""Try mawl with other Pythons, and with the newest and the oldest libraries that pyproject.toml allows.

``python -m tools.versions --python 3.13 --resolution lowest-direct`` builds the wheel, makes an environment
with uv, installs the wheel there with every extra that measures or serves, imports every module, runs the
tests that are named (``tests/plan`` by default) and ``mawl run nano``, and prints a line for each try.

The libraries come from the package index.  A Python is a path or a version; a version is looked for on PATH
and among those of pyenv.  ``lowest-direct`` takes the oldest version of what
mawl itself names and the newest of what that needs in turn.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parent.parent
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
"""Those that the classifiers of pyproject.toml name."""

RESOLUTIONS = ("highest", "lowest-direct")
EXTRAS = ("programs", "storage", "cluster", "search", "server")
TEST_PACKAGES = (
    "httpx2",
    "hypothesis",
    "prometheus-client",
    "pytest",
    "pytest-rerunfailures",
    "pytest-xdist",
)
"""What of the extra ``development`` tests of one package need."""

SHOWN = ("duckdb", "numpy", "pyarrow", "msgspec", "bokeh", "scikit-learn", "scipy", "statsmodels")
IMPORT_ALL = """
import importlib, pkgutil, sys
sys.argv[1:] = []
import mawl
names = {one.name for one in pkgutil.walk_packages(mawl.__path__, "mawl.")} - {"mawl.__main__"}
for name in sorted(names):
    importlib.import_module(name)
print(len(names), "modules imported")
"""
VERSIONS = (
    "import sys; from importlib.metadata import version; print(*(f'{n} {version(n)}' for n in sys.argv[1:]))"
)


class TryError(Exception):
    """A step that did not end well; its text names the step and ends with what it said."""


@dataclass(frozen=True)
class Attempt:
    """A Python, as it was asked for, and which versions of the libraries."""

    python: str
    resolution: str

    def __str__(self) -> str:
        return f"Python {self.python}, {self.resolution}"


def run(*words: str | Path, where: Path = ROOT) -> str:
    """What a command prints.  Raises ``TryError`` where it fails."""
    environment = {
        name: text for name, text in os.environ.items() if not name.startswith(("MAWL_", "PYTHON"))
    }
    ended = subprocess.run(
        list(map(str, words)),
        cwd=where,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    if ended.returncode:
        said = "\n".join((ended.stdout + ended.stderr).strip().splitlines()[-15:])
        raise TryError(f"{' '.join(map(str, words[:4]))} ... ended with {ended.returncode}:\n{said}")
    return ended.stdout


def interpreter(wanted: str) -> str | None:
    """The path of a Python that starts, or None."""
    if "/" in wanted:
        return wanted
    versions = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found = [shutil.which(f"python{wanted}"), *sorted(map(str, versions.glob(f"{wanted}*/bin/python")))]
    for path in filter(None, found):
        if subprocess.run([path, "-c", ""], capture_output=True).returncode == 0:
            return path
    return None


def uv(scratch: Path) -> str:
    """The program uv: that on PATH, or one that pip installs into a separate environment."""
    if found := shutil.which("uv"):
        return found
    run(sys.executable, "-m", "venv", scratch / "uv")
    run(scratch / "uv/bin/python", "-m", "pip", "install", "--quiet", "uv")
    return str(scratch / "uv/bin/uv")


def build(scratch: Path) -> Path:
    """The wheel of a copy of the sources, made by the pinned backend."""
    copy = scratch / "sources"
    shutil.copytree(ROOT / "src", copy / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    for name in ("pyproject.toml", "MANIFEST.in", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    script = "import sys, setuptools.build_meta as backend; backend.build_wheel(sys.argv[1])"
    run(sys.executable, "-c", script, scratch, where=copy)
    (wheel,) = scratch.glob("mawl-*.whl")
    return wheel


def requirements() -> list[str]:
    """What mawl, its extras and the tests name, with their ranges.

    Given next to the wheel, they are what ``lowest-direct`` calls direct.
    """
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    named = [*project["dependencies"], *(text for extra in EXTRAS for text in extras[extra])]
    return [*named, *(text for text in extras["development"] if Requirement(text).name in TEST_PACKAGES)]


def steps(attempt: Attempt, program: str, wheel: Path, place: Path, tests: Sequence[str]) -> Iterator[str]:
    """Make the environment in ``place`` and try it; yields what each step found.

    Raises ``TryError`` for the step that fails.
    """
    python, found = place / "environment/bin/python", interpreter(attempt.python)
    if found is None:
        raise TryError(f"there is no Python {attempt.python} on PATH or among those of pyenv")
    run(program, "venv", "--quiet", "--python", found, place / "environment")
    install = (program, "pip", "install", "--quiet", "--python", python, "--resolution", attempt.resolution)
    run(*install, wheel, *requirements())
    yield run(python, "--version").strip()
    yield run(python, "-c", VERSIONS, *SHOWN).strip()
    yield run(python, "-I", "-c", IMPORT_ALL, where=place).strip()
    # Copies, because tests in the clone would import the clone's sources, not the wheel.
    shutil.copytree(ROOT / "tests", place / "tests", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "tools", place / "tools", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "docs", place / "docs")
    shutil.copy(ROOT / "pyproject.toml", place)
    chosen = ("-q", "-p", "no:cacheprovider", "-m", "not lab and not long")
    yield run(python, "-m", "pytest", *chosen, *tests, where=place).strip().splitlines()[-1]
    mawl = place / "environment/bin/mawl"
    run(mawl, "run", "nano", where=place)
    yield run(mawl, "report", where=place).splitlines()[0]


def attempts(pythons: Sequence[str], resolutions: Sequence[str]) -> list[Attempt]:
    """Every pair that can be installed: the oldest libraries have no wheels for Python 3.14."""
    pairs = [Attempt(python, resolution) for python in pythons for resolution in resolutions]
    return [one for one in pairs if one != Attempt("3.14", "lowest-direct")]


def main(arguments: Sequence[str]) -> int:
    """Try every pair; 1 when one fails."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--python", nargs="+", default=list(PYTHONS), help="versions or paths; default: all")
    parser.add_argument("--resolution", nargs="+", choices=RESOLUTIONS, default=list(RESOLUTIONS))
    parser.add_argument("--tests", nargs="+", default=["tests/plan"], help="default: tests/plan")
    wanted = parser.parse_args(arguments)
    failed = 0
    with tempfile.TemporaryDirectory(prefix="mawl-versions-") as scratch:
        program, wheel = uv(Path(scratch)), build(Path(scratch))
        for attempt in attempts(wanted.python, wanted.resolution):
            with tempfile.TemporaryDirectory(prefix="try-", dir=scratch) as place:
                print(f"{attempt}:", flush=True)
                try:
                    for found in steps(attempt, program, wheel, Path(place), wanted.tests):
                        print(f"  {found}", flush=True)
                except TryError as error:
                    failed += 1
                    print(f"  failed: {error}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
