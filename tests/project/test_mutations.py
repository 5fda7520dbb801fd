"""One-line faults of the product, each with the test that finds it (``tests/mutations.toml``)."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import msgspec
import pytest

from tests import needs
from tests.honest import STOPPED

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src"
TESTS = ROOT / "tests"
PASSED, FAILED = 0, 1
"""Exit statuses of pytest; it has others where it could not run a test."""


class Mutation(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A change of one line, and the test that fails with it."""

    file: str
    what: str
    old: str
    new: str
    test: str


class Mutations(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The file."""

    mutation: list[Mutation]


MUTATIONS = msgspec.toml.decode((TESTS / "mutations.toml").read_bytes(), type=Mutations).mutation


def outcome_of(test: str, source: Path) -> tuple[int, str]:
    """Exit status and output of a test with the package in ``source``, which its commands have, too."""
    words = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", f"tests/{test}"]
    environment = {**os.environ, "PYTHONPATH": str(source)}
    done = subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


@cache
def outcome_without_change(test: str) -> tuple[int, str]:
    return outcome_of(test, SOURCE)


def test_each_entry_names_a_place_that_is_there_once_and_a_test_that_is_there() -> None:
    assert len({(one.file, one.old, one.new) for one in MUTATIONS}) == len(MUTATIONS)
    assert f" lists {len(MUTATIONS)} faults " in (ROOT / "docs" / "design" / "tests.md").read_text()
    for one in MUTATIONS:
        assert (SOURCE / "mawl" / one.file).read_text().count(one.old) == 1, one
        assert one.new != one.old and "\n" not in one.old + one.new, one
        file, _, name = one.test.partition("::")
        names = [node.name for node in ast.parse((TESTS / file).read_text()).body if hasattr(node, "name")]
        assert name.partition("[")[0] in names, one


@pytest.mark.long(minutes=0.15)
@pytest.mark.parametrize("one", MUTATIONS, ids=lambda one: f"{one.file}: {one.what}")
def test_the_test_of_an_entry_fails_with_the_change_and_passes_without(one: Mutation, tmp_path: Path) -> None:
    status, output = outcome_without_change(one.test)
    assert status == PASSED, output
    if " passed" not in output:
        needs.skip(output)
    shutil.copytree(SOURCE / "mawl", tmp_path / "mawl")
    changed = tmp_path / "mawl" / one.file
    changed.write_text(changed.read_text().replace(one.old, one.new))
    status, output = outcome_of(one.test, tmp_path)
    assert status == FAILED and " failed" in output and STOPPED not in output, output
