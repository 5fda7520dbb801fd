"""Times alone are found again under the same conditions, and only then."""

from __future__ import annotations

from pathlib import Path

import pytest

from mawl.model.run import AloneRun
from mawl.store.solo import Condition, Solo, place, read_solo, write_solo

CONDITIONS: dict[str, Condition] = {"scale": 0.05, "work": ["one", "two"], "cpus": None, "mawl_version": "1"}


def kept(runs: Path) -> Solo:
    times = [AloneRun(run_id=f"r{number}", real_time_seconds=12.5 + number) for number in range(3)]
    solo = Solo(program="wide_sort", runs=times, conditions=CONDITIONS)
    write_solo(runs, solo)
    return solo


def test_a_time_is_found_again_whatever_the_order_of_its_conditions(tmp_path: Path) -> None:
    solo = kept(tmp_path)
    assert read_solo(tmp_path, "wide_sort", dict(reversed(CONDITIONS.items()))) == solo


@pytest.mark.parametrize("changed", [{"scale": 0.1}, {"work": ["one"]}, {"cpus": ["0"]}, {"more": 1}])
def test_what_changed_is_measured_anew(tmp_path: Path, changed: dict[str, Condition]) -> None:
    kept(tmp_path)
    assert read_solo(tmp_path, "wide_sort", CONDITIONS | changed) is None
    assert read_solo(tmp_path, "census_load", CONDITIONS) is None


@pytest.mark.parametrize("content", [b"", b"{}", b'{"program": 1}', b"\xff\xfe"])
def test_a_damaged_file_is_no_time(tmp_path: Path, content: bytes) -> None:
    kept(tmp_path)
    place(tmp_path, "wide_sort", CONDITIONS).write_bytes(content)
    assert read_solo(tmp_path, "wide_sort", CONDITIONS) is None


def test_a_file_under_another_ones_name_is_no_time(tmp_path: Path) -> None:
    kept(tmp_path)
    other = CONDITIONS | {"scale": 1.0}
    place(tmp_path, "wide_sort", CONDITIONS).rename(place(tmp_path, "wide_sort", other))
    assert read_solo(tmp_path, "wide_sort", other) is None
