"""The bench harness measures what it says."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from types import ModuleType

import pytest

from bench import __main__ as bench
from bench.harness import SMALL, Result, alternate, at_least, at_most, cpu_seconds, ratio, sized, spread
from mawl.base.errors import RunFailedError, UsageError

SPIN = "import time\nwhile time.process_time() < {seconds}: pass"


def test_cpu_seconds_count_a_command_and_its_children() -> None:
    inner = SPIN.format(seconds=0.3)
    code = f"import subprocess, sys, time\nsubprocess.run([sys.executable, '-c', {inner!r}])\n{inner}"
    both = cpu_seconds([sys.executable, "-c", code])
    # Two spinners of 0.3 s, and the start-up of two interpreters.
    assert 0.6 <= both < 1.5


def test_a_command_that_fails_is_no_figure() -> None:
    with pytest.raises(RunFailedError, match="exit status 3, it broke"):
        cpu_seconds([sys.executable, "-c", "import sys; print('it broke', file=sys.stderr); sys.exit(3)"])
    with pytest.raises(RunFailedError, match="no such file"):
        cpu_seconds(["/no/such/program"])


def test_runs_alternate_after_one_that_does_not_count() -> None:
    order: list[str] = []

    def side(name: str) -> float:
        order.append(name)
        return float(len(order))

    ours, peer = alternate(lambda: side("a"), lambda: side("b"), runs=3)
    assert "".join(order) == "ab" + "abbaab"
    assert ours == [3.0, 6.0, 7.0]
    assert peer == [4.0, 5.0, 8.0]


def test_no_runs_are_refused() -> None:
    with pytest.raises(UsageError):
        alternate(lambda: 1.0, lambda: 1.0, runs=0)


def test_ratio_of_medians_with_the_range_of_pairs() -> None:
    value, detail = ratio([1.0, 2.0, 9.0], [2.0, 1.0, 3.0])
    assert value == 1.0
    assert detail == "pairs 0.5 to 3 of 3"
    assert spread([3.0, 1.0, 2.0], "s") == "median 2 (1 to 3) s"


def test_bounds_include_themselves() -> None:
    assert at_most("x", 1.2, "", 1.2, "").met is True
    assert at_most("x", 1.3, "", 1.2, "").met is False
    assert at_least("x", 0.9, "", 1.0, "").met is False
    assert at_least("x", 1.0, "", 1.0, "").target == "at least 1"


def test_the_table_is_aligned_and_says_what_was_missed() -> None:
    text = bench.table(
        [Result("short", 1.0, "s", "at most 2", True, "d"), Result("a longer name", 12.5, "", "", None, "")]
    )
    first, second = text.splitlines()
    assert first.index("1 s") == second.index("12.5")
    assert "met" in first and "MISSED" not in text
    assert "MISSED" in bench.table([Result("x", 3.0, "s", "at most 2", False, "")])


def a_row(monkeypatch: pytest.MonkeyPatch, *results: Result) -> None:
    module = ModuleType("bench.fake")
    module.run = lambda: list(results)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "bench.fake", module)
    monkeypatch.setattr(bench, "ROWS", {"fake": ()})


def test_rows_are_printed_below_the_machine_and_written_as_json(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a_row(monkeypatch, at_most("cost", 1.0, "s", 2.0, "of five"))
    assert bench.main(["--json", str(tmp_path / "rows.json")]) == 0
    machine, row = capsys.readouterr().out.splitlines()
    assert "Linux" in machine
    assert row.split() == ["cost", "1", "s", "at", "most", "2", "met", "of", "five"]
    stored = json.loads((tmp_path / "rows.json").read_text())
    of = [(row.pop("bench"), row.pop("machine"), len(row.pop("date"))) for row in stored["rows"]]
    assert of == [("fake", machine, 10)]
    assert stored["rows"] == [
        {"name": "cost", "value": 1.0, "unit": "s", "target": "at most 2", "met": True, "detail": "of five"}
    ]


def test_a_missed_target_ends_with_1_and_an_unknown_row_with_2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    a_row(monkeypatch, at_most("cost", 3.0, "s", 2.0, ""))
    assert bench.main(["fake"]) == 1
    assert "missed: cost" in capsys.readouterr().err
    with pytest.raises(SystemExit) as ended:
        bench.main(["other"])
    assert ended.value.code == 2


@pytest.mark.parametrize("value", [None, float("nan"), float("inf")])
def test_a_row_without_a_figure_is_missed_and_says_that_it_is_not_known(
    value: float | None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a_row(monkeypatch, Result("cost", value, "s", "", None, "the peer broke"))
    assert bench.main(["--json", str(tmp_path / "rows.json")]) == 1
    said = capsys.readouterr()
    assert said.out.splitlines()[1].split() == ["cost", "not", "known", "MISSED", "the", "peer", "broke"]
    assert said.err == "missed: cost\n"
    (row,) = json.loads((tmp_path / "rows.json").read_text())["rows"]
    assert (row["value"], row["met"]) == (None, False)


@pytest.mark.parametrize(
    "error", [RunFailedError("it failed", why="it said\nmore"), FileNotFoundError(2, "it failed", "nmon")]
)
def test_a_row_that_fails_is_missed_and_the_others_run(
    error: Exception,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail() -> list[Result]:
        raise error

    a_row(monkeypatch, at_most("cost", 1.0, "s", 2.0, ""))
    broken = ModuleType("bench.broken")
    broken.run = fail  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "bench.broken", broken)
    monkeypatch.setattr(bench, "ROWS", {"broken": (), "fake": ()})
    assert bench.main(["--json", str(tmp_path / "rows.json")]) == 1
    assert "missed: broken\n" in capsys.readouterr().err
    rows = json.loads((tmp_path / "rows.json").read_text())["rows"]
    assert [(row["name"], row["value"], row["met"]) for row in rows] == [
        ("broken", None, False),
        ("cost", 1.0, True),
    ]
    assert "it failed" in rows[0]["detail"] and "\n" not in rows[0]["detail"]


def test_a_small_run_has_smaller_constants_and_judges_only_what_is_not_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert sized(500, 5) == 500
    monkeypatch.setenv(SMALL, "1")
    assert sized(500, 5) == 5
    assert at_most("x", 3.0, "", 2.0, "").met is None
    assert at_most("x", float("nan"), "", 2.0, "").met is False


def machine(monkeypatch: pytest.MonkeyPatch, folder: Path, *, user: int, apt_get: str | None) -> Path:
    """A machine whose PATH has few programs, and a row that needs nmon; the log of its apt-get."""
    a_row(monkeypatch, at_most("cost", 1.0, "s", 2.0, ""))
    monkeypatch.setattr(bench, "ROWS", {"fake": ("nmon", "sh")})
    monkeypatch.setattr(os, "geteuid", lambda: user)
    for name in ("sh", "timeout", "chmod"):
        (folder / name).symlink_to(str(shutil.which(name)))
    monkeypatch.setenv("PATH", str(folder))
    log = folder / "log"
    if apt_get is not None:
        (folder / "apt-get").write_text(f'#!/bin/sh\necho "$@" >>{log}\n{apt_get}\n')
        (folder / "apt-get").chmod(0o755)
    return log


def test_root_installs_what_a_row_needs_by_its_package(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    nmon = tmp_path / "nmon"
    log = machine(monkeypatch, tmp_path, user=0, apt_get=f": >{nmon}\nchmod +x {nmon}")
    assert bench.main([]) == 0
    assert log.read_text() == "update -q\ninstall -q -y --no-install-recommends nmon\n"


@pytest.mark.parametrize(("user", "apt_get"), [(0, "exit 100"), (0, None), (1000, "")])
def test_what_cannot_be_installed_is_named_before_the_first_row(
    user: int,
    apt_get: str | None,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    log = machine(monkeypatch, tmp_path, user=user, apt_get=apt_get)
    assert bench.main([]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == (
        "the bench needs nmon (packages nmon): not installed; "
        "run this as root: apt-get install -q -y --no-install-recommends nmon\n"
    )
    assert log.exists() == (user == 0 and apt_get is not None)


def test_every_program_that_a_row_needs_has_a_package() -> None:
    packages = dict(line.split() for line in bench.PACKAGES.read_text().splitlines())
    assert {program for programs in bench.ROWS.values() for program in programs} <= packages.keys()
