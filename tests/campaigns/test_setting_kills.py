"""kill -9 of a campaign in each phase leaves the setting as it was; where its guard is killed, too, one
sentence says what to undo."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from mawl.advice.bounds import AnswerBounds
from mawl.commands.main import main
from mawl.commands.reporting import render_campaign, stored_campaign
from mawl.records.store.campaign import is_conducted, read_settings
from tests.fakes.setting_arms import ORIGINAL, PHASES, conducted

PATIENCE_SECONDS = 60.0


def start(folder: Path, file: Path, phase: str, *more: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.fakes.setting_arms", str(folder), str(file), phase, *more],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "mode"
    path.write_text(f"{ORIGINAL}\n")
    return path


def check_ends_well(folder: Path, file: Path) -> None:
    """The campaign goes on, and ends with every run made and the setting as it was."""
    record = conducted(folder, file)
    assert record.outcome == "completed"
    assert file.read_text().strip() == ORIGINAL
    found = stored_campaign(folder, AnswerBounds()).figures
    assert [arm.runs for arm in found.arms] == [2, 2]
    assert [(one.state, one.differing) for one in found.settings] == [("undone", 0)]


@pytest.mark.parametrize("phase", PHASES)
def test_a_campaign_killed_in_any_phase_leaves_the_setting_as_it_was(
    phase: str, file: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "runs" / "c"
    folder.parent.mkdir()
    process = start(folder, file, phase)
    _, said = process.communicate(timeout=PATIENCE_SECONDS)  # the guard holds the same standard error
    assert process.returncode == -signal.SIGKILL
    assert file.read_text().strip() == ORIGINAL
    record = read_settings(folder)
    assert record is not None and record.changed is None, said
    assert not is_conducted(folder)
    check_ends_well(folder, file)


@pytest.mark.parametrize("phase", ("before", "run", "after"))
def test_where_its_guard_is_killed_too_one_sentence_says_it_and_clean_undoes_it(
    phase: str, file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = _killed_with_its_guard(file, tmp_path, phase)
    found = stored_campaign(folder, AnswerBounds()).figures
    sentence = next(remark for remark in found.remarks if "may still be changed" in remark)
    assert f"it read '{ORIGINAL}' before" in sentence and "mawl clean --yes --runs" in sentence
    assert [one.state for one in found.settings] == ["not undone"]
    assert "may still be changed" in " ".join(render_campaign(found, "text").split())
    runs = str(folder.parent)
    assert main(["clean", "--runs", runs]) == 1
    assert "may still be changed" in capsys.readouterr().out
    assert main(["clean", "--runs", runs, "--dry-run"]) == 0
    record = read_settings(folder)
    assert record is not None and record.changed is not None
    assert main(["clean", "--runs", runs, "--yes"]) == 0
    assert "undid the change of mode by arm b" in capsys.readouterr().out
    assert file.read_text().strip() == ORIGINAL
    record = read_settings(folder)
    assert record is not None and record.changed is None
    check_ends_well(folder, file)


def test_where_its_guard_is_killed_too_continue_undoes_it_first(file: Path, tmp_path: Path) -> None:
    check_ends_well(_killed_with_its_guard(file, tmp_path, "run"), file)


def _killed_with_its_guard(file: Path, tmp_path: Path, phase: str) -> Path:
    """The folder of a campaign that was killed in a phase, after its guard was killed."""
    folder = tmp_path / "runs" / "c"
    folder.parent.mkdir()
    process = start(folder, file, phase, "unguarded")
    process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == -signal.SIGKILL
    return folder
