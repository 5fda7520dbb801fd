"""`mawl clean`: what a dead run left goes, whatever the run's folder says of its end."""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path

import pytest

from mawl.commands import clean
from mawl.commands.main import main
from mawl.store.facts import write_facts
from mawl.volumes import claim_directory
from tests.fakes.stored_run import facts


def died(directory: Path, monkeypatch: pytest.MonkeyPatch, **changes: object) -> list[Path]:
    """A dead run's tables under a role that only its folder names, its counters and its control group."""
    made = facts(roles={"data": [], "work": [str(directory / "work")], "util": []}, **changes)
    folder, group = directory / "runs" / made.run_id, directory / "groups" / made.run_id
    for place in (folder, group, directory / "work"):
        place.mkdir(parents=True)
    write_facts(folder, made)
    left = []
    for place in (directory / "work", folder):
        claimed, lock = claim_directory(place, made.run_id)
        os.close(lock)
        left.append(claimed)

    def groups(run_ids: Collection[str]) -> list[Path]:
        """Stands in for the kernel's: needs no root."""
        return [group] if made.run_id in run_ids else []

    monkeypatch.setattr(clean, "leftover_groups", groups)
    monkeypatch.chdir(directory)
    return [*left, group]


@pytest.mark.parametrize("outcome", ["running", "interrupted", "completed", "failed", "aborted"])
def test_what_a_dead_run_left_goes_whatever_its_outcome(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, outcome: str
) -> None:
    left = died(tmp_path, monkeypatch, outcome=outcome)
    assert main(["clean", "--dry-run"]) == 0
    assert [path.exists() for path in left] == [True, True, True]
    assert main(["clean"]) == 0
    assert [path.exists() for path in left] == [False, False, False]


def test_a_run_that_was_not_measured_here_names_no_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    left = died(tmp_path, monkeypatch, kind="imported", outcome="completed")
    assert main(["clean"]) == 0
    assert capsys.readouterr().out == "nothing to clean\n"
    assert [path.exists() for path in left] == [True, True, True]
