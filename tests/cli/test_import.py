"""``mawl import`` on the command line, and every report of what it made."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from mawl.advice.bounds import AnswerBounds
from mawl.commands.main import main
from mawl.commands.report import FORMATS
from mawl.commands.server.application import create_app
from mawl.commands.server.reports import standard_renderers
from tests.fakes.command_line import Verbs
from tests.importers.test_import import EIGHT, log, write


@pytest.fixture
def logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three logs in a directory of its own, which is the current one's ``logs``."""
    monkeypatch.chdir(tmp_path)
    return write(
        tmp_path / "logs",
        **{
            name: log(EIGHT + timedelta(seconds=20 * at), 50)
            for at, name in enumerate(("load", "sort", "model"))
        },
    )


def test_the_json_counts_and_names_the_run(logs: Path, verbs: Verbs) -> None:
    (logs / "notes.txt").write_text("a letter\n")
    made = json.loads(verbs.out("import", "logs", "--json"))
    assert (made["jobs"], made["steps"], made["blocks"], made["sessions"]) == (3, 6, 9, 3)
    assert [(skipped["file"], skipped["line"]) for skipped in made["skipped"]] == [("notes.txt", None)]
    assert Path("runs", "latest").resolve().name == made["run"]


@pytest.mark.parametrize("form", ["text", "saslog", *FORMATS])
def test_every_format_reports_an_imported_run(
    logs: Path, form: str, verbs: Verbs, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["import", str(logs), "--output", "one"]) == 0
    capsys.readouterr()
    said = verbs.out("report", "one", "--format", form)
    assert "imported" in said or form in ("saslog", "logparse", "throughput"), said[:500]
    if form == "logparse":
        assert [line.split(",")[1] for line in said.splitlines()[1:]] == ["DATA", "SORT"] * 3


def test_imported_runs_are_compared_and_listed(
    logs: Path, verbs: Verbs, capsys: pytest.CaptureFixture[str]
) -> None:
    for _ in range(2):
        assert main(["import", str(logs)]) == 0
    one, other = sorted(path.name for path in Path("runs").iterdir() if not path.is_symlink())
    capsys.readouterr()
    assert "geometric means over jobs and runs" in verbs.out("compare", one, other)
    failures: list[Exception] = []
    app = create_app(Path("runs"), standard_renderers(AnswerBounds()), failed=failures.append)
    with TestClient(app, base_url="http://127.0.0.1:6295") as visitor:
        listing = visitor.get("/").text
        page = visitor.get(f"/runs/{one}")
    assert one in listing and other in listing
    assert page.status_code == 200 and failures == []
    assert "have no zone and are taken as UTC" in page.text


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["absent"], "absent: there is no such file or directory; name what is to be imported"),
        (["logs", "--timezone", "Mars"], "--timezone Mars: expected a zone that this machine knows"),
        (["logs", "--shift", "x"], "--shift x: expected NODE=SECONDS"),
        (["logs", "--role", "work=["], "--role work=[: no regular expression"),
        (["logs", "--role", "tape=x"], "--role tape=x: expected ROLE=PATTERN"),
    ],
)
def test_bad_use_is_one_sentence(logs: Path, arguments: list[str], said: str, verbs: Verbs) -> None:
    assert logs.is_dir()
    error = verbs.err("import", *arguments, status=2)
    assert said in error
    assert error.count("\n") == 1
    assert not Path("runs").exists() or list(Path("runs").iterdir()) == []
