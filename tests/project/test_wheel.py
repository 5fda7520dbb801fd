"""A built wheel and source archive hold what the installed product needs, and nothing else."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import zipfile
from collections.abc import Callable
from datetime import date
from pathlib import Path, PurePosixPath

import pytest
from packaging.metadata import Metadata
from packaging.requirements import Requirement

from mawl.version import __version__

ROOT = Path(__file__).resolve().parents[2]
INGREDIENTS = (
    "pyproject.toml",
    "MANIFEST.in",
    "README.md",
    "LICENSE",
    "CHANGELOG.md",
    "CITATION.cff",
    "constraints.txt",
)
VERSION, RUN, REPORT = "mawl --version", "mawl run nano", "mawl report"
QUALIFY = "mawl qualify --plan --minutes 15 --data d --work w --util u"
"""The commands of the install guide, in its order."""
BUILD = "import sys, setuptools.build_meta as backend; getattr(backend, sys.argv[1])(sys.argv[2])"


def build(kind: str, sources: Path, destination: Path) -> Path:
    """The wheel or sdist that the pinned backend makes of a source tree, without a network."""
    command = [sys.executable, "-c", BUILD, f"build_{kind}", str(destination)]
    built = subprocess.run(command, cwd=sources, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert built.returncode == 0, built.stderr
    (made,) = destination.glob("*.whl" if kind == "wheel" else "*.tar.gz")
    return made


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy, because a build leaves files; with a test in it that must not be packed."""
    place = tmp_path_factory.mktemp("sdist")
    shutil.copytree(ROOT / "src", place / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    for name in INGREDIENTS:
        shutil.copy(ROOT / name, place / name)
    (place / "tests").mkdir()
    (place / "tests/test_never_packed.py").write_text("")
    return build("sdist", place, tmp_path_factory.mktemp("archives"))


@pytest.fixture(scope="module")
def wheel(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from the source archive, as a packager does."""
    place = tmp_path_factory.mktemp("unpacked")
    subprocess.run(["tar", "--extract", "--file", str(sdist), "--directory", str(place)], check=True)
    (sources,) = place.iterdir()
    return build("wheel", sources, tmp_path_factory.mktemp("wheels"))


def package_files() -> set[str]:
    """Every file of the package, as paths below ``src``; the guides are there by a link to their folder."""
    return {
        path.relative_to(ROOT / "src").as_posix()
        for path in [*(ROOT / "src/mawl").rglob("*"), *(ROOT / "src/mawl/guides").iterdir()]
        if path.is_file() and "__pycache__" not in path.parts
    }


def test_the_source_archive_holds_the_sources_and_the_terms_and_no_tests(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        names = {str(PurePosixPath(*PurePosixPath(one.name).parts[1:])) for one in archive if one.isfile()}
    own = {name for name in names if ".egg-info/" not in name} - {"PKG-INFO", "setup.cfg"}
    assert own == {f"src/{name}" for name in package_files()} | set(INGREDIENTS)


def test_a_wheel_of_the_source_archive_holds_every_file_of_the_package(wheel: Path) -> None:
    packed = set(zipfile.ZipFile(wheel).namelist())
    beside = {name for name in packed if not re.match(r"mawl-[^/]+\.(dist-info|data)/", name)}
    assert beside == package_files()
    assert any(name.endswith("licenses/LICENSE") for name in packed)


def test_the_counting_library_is_in_the_wheel_as_source(wheel: Path) -> None:
    packed = zipfile.ZipFile(wheel).namelist()
    suffixes = {PurePosixPath(name).suffix for name in packed if "measure/preload/" in name}
    assert {".c", ".h"} <= suffixes and ".so" not in suffixes


def test_the_wheel_installs_completion_and_the_manual_page_where_shells_look(wheel: Path) -> None:
    packed = [name.partition(".data/data/")[2] for name in zipfile.ZipFile(wheel).namelist()]
    assert sorted(filter(None, packed)) == [
        "share/bash-completion/completions/mawl.bash",
        "share/fish/vendor_completions.d/mawl.fish",
        "share/man/man1/mawl.1",
        "share/zsh/site-functions/_mawl",
    ]


def test_the_metadata_is_valid_and_says_what_pyproject_says(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    (name,) = (one for one in archive.namelist() if one.endswith(".dist-info/METADATA"))
    found = Metadata.from_email(archive.read(name), validate=True)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert (found.name, str(found.version)) == ("mawl", __version__)
    assert str(found.requires_python) == project["requires-python"]
    assert found.license_expression == "Apache-2.0"
    assert found.description_content_type == "text/markdown"
    assert (
        found.description is not None
        and found.description.strip() == (ROOT / "README.md").read_text().strip()
    )
    plain = [one for one in found.requires_dist or [] if one.marker is None]
    assert sorted(map(str, plain)) == sorted(str(Requirement(one)) for one in project["dependencies"])
    assert sorted(found.provides_extra or []) == sorted(project["optional-dependencies"])


def test_the_newest_entry_of_the_changelog_is_this_version_with_its_date() -> None:
    newest = re.search(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert newest is not None
    version, _, day = newest[1].partition(", ")
    assert version == __version__ and date.fromisoformat(day)
    cited = re.search(r"^version: (.*)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    assert cited is not None and cited[1] == __version__


@pytest.fixture
def installed(wheel: Path, tmp_path: Path) -> Callable[..., str]:
    """The command as installed from the wheel alone; it gives what a successful call prints."""
    empty = tmp_path / "empty"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(empty)], check=True)
    python = empty / "bin/python"
    install = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        str(python),
        "install",
        "--quiet",
        "--no-deps",
        "--no-index",
    ]
    subprocess.run([*install, str(wheel)], check=True)
    packages = Path(sysconfig.get_path("purelib", vars={"base": str(empty), "platbase": str(empty)}))
    # Libraries are those of this environment; a line of a .pth file brings no editable mawl with it.
    (packages / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n")

    alone = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}

    def mawl(*words: str) -> str:
        ended = subprocess.run(
            [str(empty / "bin/mawl"), *words],
            cwd=tmp_path,
            env=alone,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
        )
        assert ended.returncode == 0, ended.stderr
        return ended.stdout

    place = [str(python), "-c", "import mawl; print(mawl.__file__)"]
    called = subprocess.run(place, cwd=tmp_path, env=alone, capture_output=True, text=True)
    assert str(packages) in called.stdout
    return mawl


def test_what_is_installed_from_the_wheel_alone_prints_its_guides(installed: Callable[..., str]) -> None:
    listed = {line.split()[0] for line in installed("help").splitlines()[1:]}
    assert listed == {path.stem for path in (ROOT / "docs/guides").glob("*.md")}
    assert "# Qualify a machine" in installed("help", "qualify")


@pytest.mark.lab
def test_what_is_installed_from_the_wheel_alone_runs_and_reports(installed: Callable[..., str]) -> None:
    assert [installed("--version")] == documented_outputs()[VERSION] == [f"mawl {__version__}\n"]
    for command, figure in ((RUN, "times mawl's reference time"), (REPORT, "guideline ")):
        output = installed(*command.split()[1:])
        assert figure in output
        assert labels_not_in(output, command) == []


@pytest.mark.lab
@pytest.mark.long(minutes=2)
def test_what_is_installed_from_the_wheel_alone_plans(installed: Callable[..., str]) -> None:
    output = installed(*QUALIFY.split()[1:])
    assert "sessions" in output
    assert labels_not_in(output, QUALIFY) == []


def labels_not_in(output: str, command: str) -> list[str]:
    """The labels that the install guide shows after a command, and its output lacks."""
    printed = labels(output)
    return [label for label in labels(*documented_outputs()[command]) if label not in printed]


def documented_outputs() -> dict[str, list[str]]:
    """By command of the install guide's section: the outputs that it shows after it."""
    section = (ROOT / "docs/guides/install.md").read_text().partition("## Try it\n")[2].partition("\n## ")[0]
    shown = re.findall(r"```console[^\n]*\n\$ ([^\n]+)\n```\n\n```\n(.*?)```", section, re.DOTALL)
    found: dict[str, list[str]] = {}
    for command, output in shown:
        found.setdefault(command, []).append(output)
    return found


def labels(*outputs: str) -> list[str]:
    """What lines of output begin with, before the first figures and reasons, which go on below themselves."""
    lines = [line for text in outputs for line in text.splitlines() if not line.startswith(" " * 10)]
    return [re.split(r" {2,}|(?<=^guideline) ", line.strip())[0] for line in lines]


def test_the_install_guide_shows_the_output_of_each_command() -> None:
    documented = documented_outputs()
    assert list(documented) == [VERSION, RUN, REPORT, QUALIFY]
    shown = labels(*documented["mawl report"])
    assert shown[0] == "answer" and "guideline" in shown
