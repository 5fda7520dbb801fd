"""``mawl report --format html``, the report that a run leaves, and who pays for the plotting library."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

from mawl.advice import judge
from mawl.commands.reporting import leave_html
from mawl.figures.view import StoredView
from mawl.records.store import open_run
from tests.cli.conftest import Command
from tests.cli.test_run import ONE_JOB
from tests.fakes.stored_run import facts, write_run


def test_a_run_leaves_its_report_and_says_where(mawl: Command) -> None:
    (mawl.directory / "one.toml").write_text(ONE_JOB)
    done = mawl.ok("run", "one.toml", MAWL_HTML="yes")
    (page,) = (mawl.directory / "runs").glob("2*/report.html")
    assert done.stdout.splitlines()[-1] == f"report: {page.relative_to(mawl.directory)}"
    assert page.stat().st_mode & 0o777 == 0o600
    assert page.read_text().startswith("<!DOCTYPE html>") and page.parent.name in page.read_text()


def test_a_page_that_cannot_be_written_does_not_spoil_the_run(tmp_path: Path, capsys: object) -> None:
    write_run(tmp_path / "run").finish(facts())
    run = open_run(tmp_path / "run")
    (tmp_path / "run" / "report.html").mkdir()
    assert leave_html(StoredView(run), judge.judged(StoredView(run))) is None
    said = capsys.readouterr()  # type: ignore[attr-defined]
    assert said.out == "" and said.err.startswith("warning: the HTML report was not written: ")


def test_html_goes_to_a_file_to_a_pipe_or_into_the_run_folder(mawl: Command) -> None:
    write_run(mawl.directory / "runs" / "one").finish(facts())
    piped = mawl("report", "one", "--format", "html")
    assert piped.stdout.startswith("<!DOCTYPE html>") and piped.stderr == ""
    assert mawl("report", "one", "--format", "html", "--output", "here.html").stdout == ""
    assert (mawl.directory / "here.html").read_text() == piped.stdout
    master, slave = pty.openpty()
    command = [sys.executable, "-m", "mawl", "report", "one", "--format", "html"]
    subprocess.run(command, cwd=mawl.directory, env=mawl.environment, stdout=slave, check=True)
    os.close(slave)
    folder = (mawl.directory / "runs" / "one").resolve()
    assert os.read(master, 1000).decode().strip() == "report: runs/one/report.html"
    os.close(master)
    assert (folder / "report.html").is_file()


def test_only_who_asks_for_html_imports_the_plotting_library(mawl: Command) -> None:
    write_run(mawl.directory / "runs" / "one").finish(facts())
    code = (
        "import sys; from mawl.commands.main import main; from mawl.base.process import end_with; "
        "import mawl.commands.run; main(['report', 'one']); "
        "end_with(lambda: int(any(name in sys.modules for name in ('bokeh', 'jinja2'))))"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=mawl.directory, env=mawl.environment, stdout=subprocess.DEVNULL)
    assert done.returncode == 0
