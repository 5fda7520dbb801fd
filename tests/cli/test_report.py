"""``mawl report``."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from mawl.base.errors import UnreadableRunError, UnsuitableMachineError, UsageError
from mawl.commands.report import FORMATS
from mawl.reports import csv
from mawl.reports.screen import MOST_LINES
from tests.cli.conftest import Command
from tests.cli.test_run import ONE_JOB
from tests.fakes.command_line import Verbs, call
from tests.fakes.full_disk import small_files
from tests.fakes.stored_run import facts, write_run


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """A directory with one run."""
    write_run(tmp_path / "runs" / "one", runs=tmp_path / "runs").finish(facts())
    return tmp_path / "runs"


def test_the_newest_run_as_text_by_default(runs: Path, verbs: Verbs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(runs.parent)
    out = verbs.out("report")
    assert out.startswith("answer    NO: 1 of 6 jobs")
    assert "\nrun       20260101-080000-tiny" in out
    assert len(out.splitlines()) <= MOST_LINES
    assert verbs.out("report", "--all").startswith("run       20260101-080000-tiny")


def test_json_and_saslog(runs: Path, verbs: Verbs) -> None:
    assert (
        json.loads(verbs.out("report", "one", "--runs", str(runs), "--format", "json"))["jobs"]["total"] == 6
    )
    out = verbs.out("report", str(runs / "one"), "--format", "saslog", "--job", "s2-1")
    assert out.count("NOTE: The SAS System used:") == 1
    assert "job s2-1" in out


def test_all_jobs_stand_in_the_saslog(runs: Path, verbs: Verbs) -> None:
    assert (
        verbs.out("report", "one", "--runs", str(runs), "--format", "saslog").count(
            "NOTE: The SAS System used:"
        )
        == 6
    )


def test_into_a_file(runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "report.txt"
    target.write_text("a stale and much longer report\n" * 1000)
    assert call("report", "one", "--runs", str(runs), "--output", str(target)) == 0
    assert target.read_text().startswith("answer    NO")
    assert "stale" not in target.read_text()
    assert capsys.readouterr().out == ""


def test_a_bad_run_leaves_an_older_report_alone(runs: Path, tmp_path: Path) -> None:
    target = tmp_path / "report.txt"
    target.write_text("an older report\n")
    with pytest.raises(UnreadableRunError):
        call("report", str(runs), "--output", str(target))
    assert target.read_text() == "an older report\n"


def test_a_bad_place_for_the_report_fails_before_the_run_is_read(runs: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"report\.txt: cannot be written"):
        call("report", "no-such-run", "--runs", str(runs), "--output", str(tmp_path / "none" / "report.txt"))


def test_colours_where_they_are_asked_for_and_nowhere_else(runs: Path, tmp_path: Path, verbs: Verbs) -> None:
    plain = verbs.out("report", str(runs / "one"))
    assert "\x1b" not in plain
    coloured = verbs.out("report", str(runs / "one"), "--color", "always")
    assert "\x1b[31mNO\x1b[0m" in coloured
    assert re.sub(r"\x1b\[\d*m", "", coloured) == plain
    assert call("report", str(runs / "one"), "--output", str(tmp_path / "report.txt")) == 0
    assert (tmp_path / "report.txt").read_text() == plain


def test_openmetrics(runs: Path, verbs: Verbs) -> None:
    out = verbs.out("report", str(runs / "one"), "--format", "openmetrics")
    assert out.endswith("\n# EOF\n") and 'mawl_jobs_finished{run_id="20260101-080000-tiny"' in out


def test_csv_one_table_or_all_of_them(runs: Path, tmp_path: Path, verbs: Verbs) -> None:
    assert verbs.out("report", str(runs / "one"), "--format", "csv").startswith(
        "run_id,figure,unit,value,missing\n"
    )
    jobs = verbs.out("report", str(runs / "one"), "--format", "csv", "--table", "jobs")
    assert len(jobs.splitlines()) == 7
    place = tmp_path / "new" / "tables"
    assert call("report", str(runs / "one"), "--format", "csv", "--table", "all", "--output", str(place)) == 0
    assert {path.name for path in place.iterdir()} == {f"{name}.csv" for name in csv.TABLES}
    assert (place / "jobs.csv").read_text() == jobs


@pytest.mark.parametrize("form", [("html",), ("text",), ("csv", "--table", "all")])
def test_a_disk_that_is_full_costs_no_earlier_report_and_is_named(
    form: tuple[str, ...], runs: Path, tmp_path: Path
) -> None:
    place = tmp_path / "report"
    wanted = [runs / "one", "--format", *form, "--output", place]
    if "all" in form:
        place.mkdir()
        file = place / f"{next(iter(csv.TABLES))}.csv"
    else:
        file = place
    file.write_text("an older report\n")
    with small_files(64), pytest.raises(UnsuitableMachineError, match=f"{file}: cannot be written, and"):
        call("report", *map(str, wanted))
    assert file.read_text() == "an older report\n"


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_comes_out_and_ends_in_one_line_feed(name: str, runs: Path, verbs: Verbs) -> None:
    out = verbs.out("report", str(runs / "one"), "--format", name)
    assert len(out) > 100 and out.endswith("\n") and not out.endswith("\n\n")


def test_wrong_use_is_a_sentence(runs: Path) -> None:
    with pytest.raises(UsageError, match="--job goes with --format saslog"):
        call("report", "one", "--runs", str(runs), "--job", "s1-1")
    with pytest.raises(UsageError, match="--table goes with --format csv"):
        call("report", "one", "--runs", str(runs), "--table", "jobs")
    with pytest.raises(UsageError, match="name their directory with --output"):
        call("report", "one", "--runs", str(runs), "--format", "csv", "--table", "all")
    with pytest.raises(UsageError, match="--all goes with --format text"):
        call("report", "one", "--runs", str(runs), "--all", "--format", "json")
    with pytest.raises(UsageError, match=r"s9-9 is no job of run .*choose from: s1-1"):
        call("report", "one", "--runs", str(runs), "--format", "saslog", "--job", "s9-9")


def test_a_run_with_a_folder_of_its_own_is_found_and_named_so_that_a_copy_of_the_line_works(
    mawl: Command,
) -> None:
    (mawl.directory / "one.toml").write_text(ONE_JOB)
    inside = mawl("run", "one.toml", "--output", "runs/as found")
    assert "mawl report 'runs/as found' --all" in inside.stdout
    assert mawl("report").stdout.splitlines()[-1].startswith("mawl report 'runs/as found' --all")
    outside = mawl("run", "one.toml", "--output", "kept/real")
    assert "mawl report kept/real --all" in outside.stdout
    assert mawl("report", "kept/real", "--all").returncode == 0
    assert "kept/real" not in mawl("report").stdout, "latest is of the directory of runs"
    (mawl.directory / "runs" / "latest").unlink()
    assert "mawl report 'runs/as found' --all" in mawl("report").stdout
    refused = mawl("report", "none")
    assert refused.returncode == 2 and "newest runs there: as found" in refused.stderr
