"""What the rules say of an imported run is true of files, and each fix can be followed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from mawl.figures.view import StoredView
from mawl.importers.import_files import ImportRequest, import_files
from mawl.records.store import open_run
from mawl.reports.screen import render
from tests.fakes.recorded_host import aix_recording
from tests.fakes.views import BARE, as_summary, judged
from tests.importers.test_import import EIGHT, log

OF_A_MEASURED_RUN = re.compile(
    r"--(scale|cache|cores|solo|memory-limit)|mawl run|catalogue|kernel|C compiler|memsize|run it|runner"
)
HOUR_BEFORE_EIGHT = EIGHT.timestamp() - 3600


def judgement(folder: Path, **files: str) -> dict[str, Any]:
    """The summary of a run that was imported from these files."""
    (folder / "files").mkdir()
    for name, text in files.items():
        (folder / "files" / f"{name}.log").write_text(text)
    import_files(ImportRequest(paths=[str(folder / "files")], folder=folder / "run", run_id="run"))
    return judged(StoredView(open_run(folder / "run")))


def recording(snapshots: int = 180, began: float = HOUR_BEFORE_EIGHT) -> str:
    return "".join(aix_recording(4, snapshots, began=began))


def said(summary: dict[str, Any]) -> dict[str, str]:
    """What each rule says, as one text."""
    block = summary["validity"]
    return {
        **{rule["rule"]: rule["reason"] for rule in block["unmeasured"]},
        **{finding["rule"]: f"{finding['sentence']}; {finding['cure']}" for finding in block["findings"]},
    }


FILES = {
    "logs": {"one": log(EIGHT, 600)},
    "failed": {"one": log(EIGHT, 600, error="ERROR: no table\n")},
    "both": {"one": log(EIGHT, 600), "aix1": recording()},
    "host": {"aix1": recording()},
}


@pytest.mark.parametrize("name", FILES)
def test_nothing_speaks_of_how_mawl_would_have_measured(tmp_path: Path, name: str) -> None:
    summary = judgement(tmp_path, **FILES[name])
    for rule, text in said(summary).items():
        assert not OF_A_MEASURED_RUN.search(text), f"{rule}: {text}"
    for reason in summary["answer"]["reasons"]:
        assert not OF_A_MEASURED_RUN.search(reason)
    assert "at scale" not in render(BARE, as_summary(summary))


def test_an_import_is_indicative_at_best_and_invalid_with_a_failed_job(tmp_path: Path) -> None:
    good, bad = tmp_path / "good", tmp_path / "bad"
    good.mkdir()
    bad.mkdir()
    assert judgement(good, **FILES["both"])["validity"]["status"] == "preliminary"
    summary = judgement(bad, **FILES["failed"])
    assert summary["validity"]["status"] == "invalid"
    assert said(summary)["jobs"].startswith("1 of 1 imported jobs ended with errors: their time counts")
    assert summary["answer"]["carried"] is False


def test_recordings_once_a_minute_are_no_gap_and_a_third_of_a_run_without_them_is(tmp_path: Path) -> None:
    whole, half = tmp_path / "whole", tmp_path / "half"
    whole.mkdir()
    half.mkdir()
    assert "sampling" not in said(judgement(whole, one=log(EIGHT, 3600), aix1=recording()))
    found = said(judgement(half, one=log(EIGHT, 3600), aix1=recording(100)))
    assert found["sampling"].startswith("35 %"), found["sampling"]
    assert "outside the recordings" in found["sampling"]


def test_processor_times_of_aix_are_said_to_be_raw(tmp_path: Path) -> None:
    summary = judgement(tmp_path, **FILES["host"])
    assert any(
        remark.startswith("CPU times of aix1 are AIX's, scaled by PURR") for remark in summary["remarks"]
    )
    assert summary["time"]["adjusted_cpu_seconds"] is None
    assert "PURR" in summary["missing"]["time.adjusted_cpu_seconds"]
