"""``--fail-on`` and ``--junit``: the exit status that CI asks for."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

from tests.cli.conftest import Command
from tests.cli.test_run import ONE_JOB


def test_a_run_without_times_alone_is_not_known(mawl: Command, tmp_path: Path) -> None:
    junit = tmp_path / "mawl.xml"
    asked = ("--fail-on", "not-carried", "--junit", str(junit))
    (mawl.directory / "one.toml").write_text(ONE_JOB)
    assert mawl("run", "one.toml", *asked).returncode == 4
    (suite,) = ElementTree.parse(junit).getroot()
    assert [case.attrib["name"] for case in suite] == ["completed", "not-carried"]
    assert [[child.tag for child in case] for case in suite] == [["system-out"], ["error"]]

    junit.unlink()
    assert mawl("report", *asked).returncode == 4
    assert ElementTree.parse(junit).getroot().attrib["errors"] == "1"
    assert mawl("report").returncode == 0

    compared = mawl("compare", "latest", "latest", "--fail-on", "slower", "--anyway")
    assert compared.returncode == 4, compared.stderr


def test_what_cannot_be_asked_is_refused_before_any_work(mawl: Command, tmp_path: Path) -> None:
    for words, said in (
        (("--fail-on", "slower"), "two sides"),
        (("--junit", "mawl.xml"), "goes with --fail-on"),
        (("--fail-on", "not-carried", "--junit", "nowhere/mawl.xml"), "cannot be written"),
        (("--fail-on", "not-carried", "--dry-run"), "--dry-run"),
        (("--fail-on", "not-carried", "--find-sessions"), "find-sessions"),
    ):
        ended = mawl("run", "nano", *words)
        assert (ended.returncode, said in ended.stderr) == (2, True), ended.stderr
    assert not (tmp_path / "runs").exists()
