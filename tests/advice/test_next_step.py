"""The next step of a run: one command that follows its answer and its limit, and works from anywhere."""

from __future__ import annotations

import json
import re
import shlex
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from mawl.advice.judge import judged as judge_all
from mawl.advice.next_step import next_of
from mawl.commands.main import main
from mawl.commands.verbs import build_parser
from mawl.figures.view import StoredView
from mawl.records.spec.program_options import ROLES
from mawl.reports.html import report
from tests.fakes.nightly_logs import nightly
from tests.fakes.views import judged, partly
from tests.importers.test_import import imported, log, write
from tests.importers.test_nights import TEN, linux

COMMAND = ": mawl "


def next_step(folder: Path, *paths: Path) -> str:
    _, run = imported(folder, *paths)
    step = judged(StoredView(run))["answer"]["next_step"]
    assert isinstance(step, str)
    return step


def test_the_longest_of_several_nights_becomes_a_workload(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    slow = {1: 1.5}
    logs = nightly(tmp_path / "logs", datetime(2026, 10, 5, 20), 3, zone=UTC, slow=slow)
    step, _, command = next_step(tmp_path, logs).partition(COMMAND)
    said = r"make a workload of the longest period \(5 h 47 min, in whole minutes\)"
    assert re.match(said, step), step
    assert "--night 2026-10-06T" in command
    monkeypatch.chdir(tmp_path)
    assert main(shlex.split(command)) == 0
    assert command.endswith("--output run-workload")  # not the folder that the next import's command names
    assert (tmp_path / "run-workload" / "workload.toml").is_file()
    said = capsys.readouterr().out
    assert "14 jobs" in said and "mawlrunrun-workload/workload.toml--cachenone" in re.sub(r"\s", "", said)
    # These logs name no table and count no blocks.
    assert re.search(r" 1 h 13 min +- +0 B to 17.6 TB ", said) and " of 0 B " not in said
    assert "nothing tells the bytes of the 14 steps that may use them" in re.sub(r"\s+", " ", said)


def test_a_night_with_a_failed_job_is_passed_over(tmp_path: Path) -> None:
    logs = nightly(tmp_path / "logs", datetime(2026, 10, 5, 20), 3, zone=UTC, slow={1: 1.5, 2: 1.2})
    failed = logs / "close_books_20261006.log"
    head, found, rest = failed.read_text().partition("NOTE: DATA statement")
    failed.write_text(f"{head}ERROR: File WORK.BOOKS.DATA does not exist.\n{found}{rest}")
    _, run = imported(tmp_path, logs)
    summary = judged(StoredView(run))
    assert found and summary["answer"]["answer"] == "not carried"
    assert "--night 2026-10-07T" in summary["answer"]["next_step"]
    assert "the longest period without a failed job (" in summary["answer"]["next_step"]
    page = report.render(StoredView(run), judge_all(StoredView(run)))
    assert "derive run --night 2026-10-07T" in " ".join(re.sub("<[^>]+>", " ", page).split())


def test_a_run_elsewhere_is_named_by_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    logs = write(tmp_path / "logs", a=log(TEN, 600))
    here, elsewhere = tmp_path / "here", tmp_path / "else where" / "night"
    here.mkdir()
    monkeypatch.chdir(here)
    elsewhere.parent.mkdir()
    assert main(["import", str(logs), "--output", str(elsewhere)]) == 0
    assert main(["import", str(logs), "--output", "runs/own"]) == 0
    capsys.readouterr()
    for given, named in ((str(elsewhere), str(elsewhere)), ("runs/own", str(here / "runs/own"))):
        assert main(["report", given, "--format", "json"]) == 0
        command = json.loads(capsys.readouterr().out)["answer"]["next_step"].partition(COMMAND)[2]
        assert shlex.split(command)[:2] == ["derive", named]
        assert main([*shlex.split(command)[:-1], str(tmp_path / f"derived-{given[-3:]}")]) == 0
        capsys.readouterr()
        assert main(["report", given]) == 0
        shown = "".join(capsys.readouterr().out.split())  # long paths are broken over lines
        assert f"mawlderive{shlex.quote(named)}".replace(" ", "") in shown
        assert main(["report", given, "--format", "html", "--output", str(tmp_path / "page.html")]) == 0
        page = (tmp_path / "page.html").read_text()
        assert str(tmp_path) not in page.partition("<script")[0], "a page is read anywhere"


def test_a_period_that_only_a_recording_has_is_not_derived(tmp_path: Path) -> None:
    night = write(tmp_path / "logs", a=log(TEN, 600), b=log(TEN + timedelta(days=1), 600))
    recording = tmp_path / "lab1.nmon"
    recording.write_text("".join(linux(TEN + timedelta(days=2), 60)))
    assert "--night 2026-" in (step := next_step(tmp_path, night, recording))
    assert f"--night {TEN + timedelta(days=2):%Y-%m-%d}" not in step


def test_one_night_needs_no_window_and_recordings_need_logs(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    step = next_step(tmp_path / "one", write(tmp_path / "logs", a=log(TEN, 600)))
    assert step.startswith("make a workload of these logs") and "--night" not in step
    recording = tmp_path / "lab1.nmon"
    recording.write_text("".join(linux(TEN, 60)))
    assert next_step(tmp_path / "two", recording).startswith("import the logs of the jobs, too")


def cause(resource: str, **more: Any) -> dict[str, Any]:
    return {"resource": resource, "share_ratio": 0.6, "roles": [], "devices": [], **more}


LIMITS: dict[str, tuple[dict[str, Any] | None, bool, str]] = {
    "storage, not probed": (cause("storage", roles=["work"], kind="latency"), False, "probe"),
    "storage, probed": (cause("storage", roles=["work"], kind="bandwidth"), True, "simulate"),
    "too few processors": (cause("cpu", kind="queue"), True, "simulate"),
    "slow processors": (cause("cpu", kind="speed"), True, "simulate"),
    "memory": (cause("memory"), True, "simulate"),
    "network": (cause("network", roles=["data"]), True, "simulate"),
    "other programs": (cause("others"), True, "report"),
    "other waits": (cause("other"), True, "report"),
    "no limit known": (None, True, "report"),
}


@pytest.mark.parametrize("limit", LIMITS)
def test_the_next_step_of_a_load_that_is_not_carried_follows_its_limit(limit: str) -> None:
    found, probed, verb = LIMITS[limit]
    summary = partly(
        {
            "run_id": "here",
            "kind": "measured",
            "outcome": "completed",
            "workload": {"name": "mine"},
            "nodes": [{"cores": 2, "memory_bytes": 8 * 2**30, "memory_limit_bytes": None}],
            "volumes": [{"role": role, "directory": f"/a b/{role}"} for role in ROLES],
            "storage": {"tool": "fio"} if probed else None,
            "answer": {"answer": "not carried", "next_step": None},
            "validity": {"findings": [], "unmeasured": []},
            "limit": found
            and {"verdict": found["resource"], "second": None, "named": True, "costs": [found]},
        }
    )
    step = next_of(summary, shlex.quote("/some runs/here")) or ""
    words = shlex.split("mawl " + step.partition(": mawl ")[2])
    assert words[1] == verb and "/some runs/here" in words
    build_parser((verb,)).parse_args(words[1:])
    assert not found or not found["roles"] or found["roles"][0] in step or limit == "network"
    assert ("--set" in words) == (limit in ("too few processors", "slow processors", "memory"))
    assert verb != "probe" or [word for word in words if word.startswith("/a b/")] == [
        f"/a b/{role}" for role in ROLES
    ]


def test_a_run_that_is_too_small_leads_to_a_qualification_of_its_directories() -> None:
    finding = {"rule": "scale", "severity": "preliminary", "sentence": "", "cure": "use a larger scale"}
    of = {
        "run_id": "here",
        "kind": "measured",
        "outcome": "completed",
        "workload": {"name": "nano"},
        "nodes": [{"cores": 2}],
        "volumes": [{"role": role, "directory": f"/a b/{role}"} for role in ROLES],
        "answer": {"answer": "not carried", "next_step": None},
        "validity": {"findings": [finding], "unmeasured": []},
    }
    step = next_of(partly(of), "here") or ""
    words = shlex.split(step.partition(": ")[2])
    assert words[:4] == ["mawl", "qualify", "--data", "/a b/data"]
    build_parser(("qualify",)).parse_args(words[1:])
    other = next_of(
        partly(of | {"workload": {"name": "shop"}, "answer": {"answer": "carried", "next_step": None}}),
        "here",
    )
    assert other == "use a larger scale"
