"""constraints.txt is the whole closure, exactly, and names no address."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from tests import needs
from tools import lock

ROOT = Path(__file__).resolve().parents[2]
LINES = (ROOT / "constraints.txt").read_text().splitlines()


def test_each_line_is_a_name_and_a_version() -> None:
    assert LINES
    for line in LINES:
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*==[0-9][A-Za-z0-9.+!]*", line), line
    names = [line.split("==")[0] for line in LINES]
    assert names == sorted(set(names))


def test_what_is_needed_is_constrained_to_what_is_installed() -> None:
    needed = {f"{name}=={version}" for name, version in lock.closure(ROOT / "pyproject.toml").items()}
    assert needed - set(LINES) == set()


@needs.marks(needs.PYTHON_OF_CONSTRAINTS)
def test_nothing_is_constrained_that_nobody_needs() -> None:
    needed = {f"{name}=={version}" for name, version in lock.closure(ROOT / "pyproject.toml").items()}
    assert set(LINES) - needed == set()


def test_every_requirement_of_the_project_accepts_its_constraint() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    versions = dict(line.split("==") for line in LINES)
    wanted = [*project["build-system"]["requires"], *project["project"]["dependencies"]]
    for extra in project["project"]["optional-dependencies"].values():
        wanted += extra
    for text in wanted:
        requirement = Requirement(text)
        assert requirement.specifier.contains(versions[canonicalize_name(requirement.name)]), text


def test_every_package_installs_on_the_first_release_of_the_oldest_python() -> None:
    """Debian 12 has 3.11.2: a package that asked for 3.11.5 could not be installed there."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    oldest = f"{project['requires-python'].removeprefix('>=')}.0"
    for name in lock.closure(ROOT / "pyproject.toml"):
        [wanted] = distribution(name).metadata.get_all("Requires-Python", [""])
        assert SpecifierSet(wanted).contains(oldest), f"{name} requires Python {wanted}"


def test_the_closure_follows_requirements_and_leaves_others_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = {
        "builder": [],
        "base": ["deep>1; python_version >= '3'", "never; python_version < '3'"],
        "deep": ["optional; extra == 'more'"],
        "tool": ["base[more]", "extra-of-tool; extra == 'other'"],
    }

    class Distribution:
        def __init__(self, name: str) -> None:
            if name not in installed:
                raise PackageNotFoundError(name)
            self.version, self.requires = "1.0", installed[name]

    (tmp_path / "pyproject.toml").write_text(
        "[build-system]\nrequires = ['Builder']\n[project]\ndependencies = ['base']\n"
        "[project.optional-dependencies]\ndevelopment = ['tool']\n"
    )
    monkeypatch.setattr(lock, "distribution", Distribution)
    assert list(lock.closure(tmp_path / "pyproject.toml")) == ["base", "builder", "deep", "tool"]
    del installed["deep"]
    with pytest.raises(PackageNotFoundError):
        lock.closure(tmp_path / "pyproject.toml")
