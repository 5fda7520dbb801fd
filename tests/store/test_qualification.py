"""``qualify.json``: whole or not at all, and refused in a sentence."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import msgspec
import pytest

from mawl.errors import UnreadableRunError, UsageError
from mawl.model.qualification import (
    AnswerPart,
    Fits,
    QualificationAnswer,
    QualificationFigures,
)
from mawl.store.facts import read_facts
from mawl.store.files import try_lock
from mawl.store.layout import QUALIFICATION
from mawl.store.qualification import (
    LOCK,
    locate_qualification,
    read_qualification,
    write_qualification,
)
from tests.fakes.qualifications import qualification


def test_a_record_is_read_as_it_was_written(tmp_path: Path) -> None:
    answer = QualificationAnswer(
        sentence="YES",
        carried=AnswerPart(answer="carried", sentence="all"),
        compute=AnswerPart(answer="carried", sentence="compute"),
        storage=AnswerPart(answer="not known", sentence="storage"),
        preliminary=True,
        sessions=8,
        next_step="nothing",
        figures=QualificationFigures(most_slowdown=2.0, guideline_bytes_per_second_per_core=1e8),
        fits=Fits(sessions=None, reason="no run was beyond the number that fits"),
    )
    record = qualification(answer=answer)
    write_qualification(tmp_path, record)
    assert read_qualification(tmp_path) == record


def test_every_point_in_time_is_iso_in_the_file(tmp_path: Path) -> None:
    write_qualification(tmp_path, qualification())
    plain = json.loads((tmp_path / QUALIFICATION).read_text())
    assert plain["created_at"].endswith("Z")
    assert all(phase["began_at"].endswith("Z") for phase in plain["phases"])


def test_a_record_whose_process_ended_reads_as_interrupted_and_one_at_work_as_running(tmp_path: Path) -> None:
    write_qualification(tmp_path, qualification(outcome="running"))
    assert read_qualification(tmp_path).outcome == "interrupted"
    descriptor = os.open(tmp_path / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        assert try_lock(descriptor)
        assert read_qualification(tmp_path).outcome == "running"
    finally:
        os.close(descriptor)


def _damaged(plain: dict[str, Any], damage: str) -> object:
    if damage == "phase":
        plain["phases"].pop()
    elif damage == "folder":
        plain["runs"][0]["folder"] = "runs/../../etc"
    elif damage == "version":
        plain["format_version"] = "2.0"
    elif damage == "time":
        plain["phases"][0]["began_at"] = "yesterday"
    else:
        return [plain]
    return plain


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        ("phase", "expected the phases doctor"),
        ("folder", "no folder below runs"),
        ("version", "this mawl knows 1.3"),
        ("time", "expected a time"),
        ("list", "expected `object`"),
    ],
)
def test_a_damaged_record_is_refused_by_what_is_wrong(tmp_path: Path, damage: str, said: str) -> None:
    write_qualification(tmp_path, qualification())
    plain = json.loads((tmp_path / QUALIFICATION).read_text())
    (tmp_path / QUALIFICATION).write_bytes(msgspec.json.encode(_damaged(plain, damage)))
    with pytest.raises(UnreadableRunError, match=said):
        read_qualification(tmp_path)


def test_a_qualification_is_found_by_path_and_by_name_and_by_nothing_else(tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "qualify-a"
    folder.mkdir(parents=True)
    write_qualification(folder, qualification())
    assert locate_qualification(str(folder), tmp_path) == folder
    assert locate_qualification("qualify-a", tmp_path / "runs") == folder
    for name in ("", "latest", "qualify-b"):
        with pytest.raises(UsageError, match="is no qualification"):
            locate_qualification(name, tmp_path / "runs")


def test_a_verb_that_takes_a_run_names_the_runs_of_a_qualification(tmp_path: Path) -> None:
    write_qualification(tmp_path, qualification())
    with pytest.raises(
        UnreadableRunError, match="is the folder of a qualification, not of a run; name one of"
    ):
        read_facts(tmp_path)
