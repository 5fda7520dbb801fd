"""Peaks of memory kept beside the runs."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from mawl.store.peaks import Peak, place, read_peak, write_peak
from mawl.store.solo import Condition

CONDITIONS: dict[str, Condition] = {"scale": 0.005, "option_memsize_bytes": 2**27, "libraries": ["numpy 2"]}
PEAK = Peak(
    program="wide_sort",
    private_bytes=300 * 2**20,
    ready_bytes=200 * 2**20,
    jobs=2,
    run_id="r",
    conditions=CONDITIONS,
)


def test_a_peak_is_found_under_its_conditions_only(tmp_path: Path) -> None:
    write_peak(tmp_path, PEAK)
    assert read_peak(tmp_path, "wide_sort", CONDITIONS) == PEAK
    assert read_peak(tmp_path, "wide_sort", {**CONDITIONS, "scale": 0.05}) is None
    assert read_peak(tmp_path, "forecasting", CONDITIONS) is None


@pytest.mark.parametrize(
    "changed", [{"private_bytes": 0}, {"ready_bytes": 0}, {"jobs": 0}, {"program": "forecasting"}]
)
def test_a_file_that_holds_no_peak_is_left_out(tmp_path: Path, changed: dict[str, object]) -> None:
    write_peak(tmp_path, PEAK)
    damaged = msgspec.structs.replace(PEAK, **changed)
    place(tmp_path, "wide_sort", CONDITIONS).write_bytes(msgspec.json.encode(damaged))
    assert read_peak(tmp_path, "wide_sort", CONDITIONS) is None


def test_what_is_no_json_is_left_out(tmp_path: Path) -> None:
    write_peak(tmp_path, PEAK)
    place(tmp_path, "wide_sort", CONDITIONS).write_bytes(b"[" * 2000)
    assert read_peak(tmp_path, "wide_sort", CONDITIONS) is None
