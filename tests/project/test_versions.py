"""mawl with other Pythons and other libraries: what is tried, and, in the long tests, that it works."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from mawl.run.launch.setup import arrow_pool
from tests import needs
from tools import install_sizes, memory_pools, versions

ROOT = Path(__file__).resolve().parents[2]


def test_what_is_tried_is_what_pyproject_promises() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = versions.requirements()
    assert set(project["dependencies"]) <= set(wanted)
    extras = project["optional-dependencies"]
    assert set(versions.EXTRAS) == set(extras) - {"development"}
    assert all(text in wanted for name in versions.EXTRAS for text in extras[name])
    named = {one.rsplit(" ", 1)[-1] for one in project["classifiers"] if "Python :: 3." in one}
    assert named == set(versions.PYTHONS) and project["requires-python"] == ">=3.11"


def test_an_interpreter_is_found_by_path_and_among_those_of_pyenv(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken, working = tmp_path / "bin/python3.77", tmp_path / "versions/3.77.1/bin/python"
    for path, status in ((broken, 1), (working, 0)):
        path.parent.mkdir(parents=True)
        path.write_text(f"#!/bin/sh\nexit {status}\n")
        path.chmod(0o755)
    monkeypatch.setenv("PATH", str(broken.parent))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    assert versions.interpreter("/some/python") == "/some/python"
    assert versions.interpreter("3.77") == str(working)
    assert versions.interpreter("3.78") is None


def test_a_step_that_fails_says_what_it_ran_and_its_last_words() -> None:
    with pytest.raises(versions.TryError, match=r"sh -c .* ended with 3:\nlast words"):
        versions.run("sh", "-c", "echo last words >&2; exit 3")


def test_the_guide_has_the_size_of_the_base_and_of_every_extra() -> None:
    written = install_sizes.stored(install_sizes.GUIDE.read_text())
    assert set(written) == {install_sizes.BASE, *versions.EXTRAS, install_sizes.ALL}
    assert all(
        written[install_sizes.BASE] < mib for name, mib in written.items() if name != install_sizes.BASE
    )


def test_a_table_reads_back_as_it_was_measured() -> None:
    found = dict.fromkeys(install_sizes.USES, 100.0) | {"programs": 250.0}
    text = f"before\n{install_sizes.BEGIN}\nold\n{install_sizes.END}\nafter\n"
    made = install_sizes.with_table(text, found)
    assert install_sizes.stored(made) == found
    assert "| 250 | 150 |" in made and made.startswith("before\n") and made.endswith("\nafter\n")
    assert "old" not in made


def test_files_with_two_names_occupy_their_space_once(tmp_path: Path) -> None:
    (tmp_path / "one").write_bytes(b"x" * 2**20)
    once = install_sizes.occupied_mib(tmp_path)
    (tmp_path / "two").hardlink_to(tmp_path / "one")
    assert install_sizes.occupied_mib(tmp_path) == once and 1 <= once < 1.1


@pytest.mark.long(minutes=5)
@pytest.mark.parametrize("attempt", versions.attempts(versions.PYTHONS, versions.RESOLUTIONS), ids=str)
def test_mawl_runs_with_this_python_and_these_libraries(attempt: versions.Attempt) -> None:
    if versions.interpreter(attempt.python) is None:
        needs.skip(f"there is no Python {attempt.python}")
    assert versions.main(["--python", attempt.python, "--resolution", attempt.resolution]) == 0


@pytest.mark.long(minutes=9)
def test_programs_need_the_same_memory_with_the_oldest_and_the_newest_arrow() -> None:
    assert memory_pools.main(["--pools", arrow_pool()]) == 0


@pytest.mark.long(minutes=6)
def test_the_sizes_of_the_guide_are_those_of_an_installation() -> None:
    assert install_sizes.main(["--check"]) == 0
