"""The last line of the gate."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools import totals

GOOD = "<testsuites><testcase name='a'/><testcase name='b'><skipped/></testcase></testsuites>"
BAD = (
    "<testsuites><testsuite><testcase name='c'><failure/></testcase>"
    "<testcase name='d'><error/></testcase><testcase name='e'/></testsuite></testsuites>"
)


def test_sums_of_several_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, two = tmp_path / "one.xml", tmp_path / "two.xml"
    one.write_text(GOOD)
    two.write_text(BAD)
    assert totals.main([str(one), str(two)]) == 1
    assert capsys.readouterr().out.splitlines()[-1] == "2 passed, 2 failed, 1 skipped"
    assert totals.main([str(one)]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "1 passed, 0 failed, 1 skipped"


def test_a_test_that_was_tried_again_counts_once_as_its_last_attempt(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tried = tmp_path / "tried.xml"
    tried.write_text(
        "<testsuites><testcase classname='t' name='a'/><testcase classname='t' name='a'/>"
        "<testcase classname='t' name='b'/><testcase classname='t' name='b'><failure/></testcase>"
        "<testcase classname='u' name='b'/></testsuites>"
    )
    assert totals.main([str(tried)]) == 1
    assert capsys.readouterr().out.splitlines()[-1] == "2 passed, 1 failed, 0 skipped"


def test_skips_are_listed_by_reason_and_attempts_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, two = tmp_path / "one.xml", tmp_path / "two.xml"
    root = "<skipped message='needs root'/>"
    one.write_text(
        f"<testsuites><testcase name='a'>{root}</testcase><testcase name='b'>{root}</testcase>"
        "<testcase name='c'><skipped message='no C compiler'/></testcase>"
        "<testcase classname='t' name='d'/><testcase classname='t' name='d'/></testsuites>"
    )
    two.write_text(f"<testsuites><testcase name='a'>{root}</testcase></testsuites>")
    assert totals.main([str(one), str(two)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "skipped 3: needs root",
        "skipped 1: no C compiler",
        "tried again: 1 tests, 1 attempts",
        "  t::d: passed at attempt 2",
        "1 passed, 0 failed, 4 skipped",
    ]


@pytest.mark.parametrize("broken", [None, "", "<testsuites>"])
def test_a_run_without_results_is_a_failure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], broken: str | None
) -> None:
    one, two = tmp_path / "one.xml", tmp_path / "two.xml"
    one.write_text(GOOD)
    if broken is not None:
        two.write_text(broken)
    assert totals.main([str(one), str(two)]) == 1
    said = capsys.readouterr()
    assert said.out.splitlines()[-1] == "1 passed, 0 failed, 1 skipped"
    assert str(two) in said.err


def test_nothing_passed_is_a_failure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    none = tmp_path / "none.xml"
    none.write_text("<testsuites/>")
    assert totals.main([str(none)]) == 1
    assert capsys.readouterr().out == "0 passed, 0 failed, 0 skipped\n"
