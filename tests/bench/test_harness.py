"""The bench harness measures what it says."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

from bench import __main__ as bench
from bench.harness import Result, alternate, at_least, at_most, cpu_seconds, ratio, spread
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
    monkeypatch.setattr(bench, "ROWS", ("fake",))


def test_rows_are_printed_below_the_machine_and_written_as_json(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a_row(monkeypatch, at_most("cost", 1.0, "s", 2.0, "of five"))
    assert bench.main(["--json", str(tmp_path / "rows.json")]) == 0
    machine, row = capsys.readouterr().out.splitlines()
    assert "Linux" in machine
    assert row.split() == ["cost", "1", "s", "at", "most", "2", "met", "of", "five"]
    stored = json.loads((tmp_path / "rows.json").read_text())
    assert stored["machine"] == machine
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
