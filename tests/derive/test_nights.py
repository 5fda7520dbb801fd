"""Many nights thinned to a few: which stand for which, and how far their sums are off."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import msgspec
import pytest

from mawl.base.errors import UsageError
from mawl.base.units import parse_instant
from mawl.derive.derive import DeriveRequest
from mawl.derive.folder import write_nights
from mawl.derive.nights import derive_nights, parse_daily, thinned
from mawl.derive.text import text_of_nights
from mawl.figures.nights.nights import DailyWindow, Night
from mawl.plan.derived_jobs import load_derived
from mawl.records.model.records import JobRecord, Usage
from tests.derive.shop import OTHER_WORDS, WORDS, log, logs
from tests.derive.test_derive import run_of
from tests.fakes.stored_run import job

WINDOW = parse_daily("20:00/06:00")
DAY = 86400.0
FIRST = parse_instant("2026-03-02T21:00:00Z")


def ran(night: int, cpu: float, *, number: int = 1) -> JobRecord:
    """A job of a night, that begins at 21:00 or some minutes later."""
    started = FIRST + night * DAY + number * 60.0
    usage = Usage(real_time_seconds=2 * cpu, user_cpu_seconds=cpu, system_cpu_seconds=0.0)
    return msgspec.structs.replace(
        job(f"n{night}.{number}", 0.0, 1.0), started_at=started, ended_at=started + 2 * cpu, usage=usage
    )


def test_alike_nights_are_one_and_a_heavy_one_stands_for_itself() -> None:
    jobs = [ran(night, 100.0 + night % 3) for night in range(9)] + [
        ran(9, 4000.0, number=number) for number in range(5)
    ]
    found, nights = thinned(jobs, WINDOW, 2)
    assert [(one.number, one.nights) for one in found.chosen] == [(1, 1), (2, 9)]
    assert found.chosen[0].load.cpu_seconds == 20000.0
    assert found.chosen[0].load.peak_jobs == 5
    assert nights[0] == WINDOW.of(FIRST + 9 * DAY)
    assert found.errors["cpu_seconds"] == pytest.approx(0.0, abs=0.001)
    assert found.errors["peak_jobs"] == 0.0
    assert found.errors["block_bytes"] is None


def test_what_no_log_has_is_not_known() -> None:
    jobs = [ran(night, 10.0 * (night + 1)) for night in range(3)]
    found, _ = thinned(jobs, WINDOW, 2)
    assert [one.load.block_bytes for one in found.chosen] == [None, None]
    row = text_of_nights(found, "year").splitlines()[3]
    assert row.split()[-2:] == ["-", "1"]
    usage = msgspec.structs.replace(jobs[0].usage, block_input_operations=4)
    found, _ = thinned([msgspec.structs.replace(jobs[0], usage=usage), *jobs[1:]], WINDOW, 3)
    assert sorted((one.load.block_bytes for one in found.chosen), key=str) == [2048.0, None, None]
    counted = msgspec.structs.replace(jobs[0].usage, block_input_operations=4, block_output_operations=0)
    on_aix = [msgspec.structs.replace(jobs[0], usage=counted), *jobs[1:]]
    unsized, _ = thinned(on_aix, WINDOW, 3, {jobs[0].node})
    assert [one.load.block_bytes for one in unsized.chosen] == [None, None, None]
    read = msgspec.structs.replace(on_aix[0], usage=usage)
    unsized, _ = thinned([read, *jobs[1:]], WINDOW, 3, {jobs[0].node})
    assert [one.load.block_bytes for one in unsized.chosen] == [None, None, None]
    assert found.errors["block_bytes"] is None


def test_a_job_without_an_end_is_not_counted_as_running_all_night() -> None:
    ended = [ran(0, 10.0, number=number) for number in range(3)]
    cut = [msgspec.structs.replace(ran(0, 10.0, number=number), ended_at=None) for number in range(3, 8)]
    found, _ = thinned([*ended, *cut], WINDOW, 1)
    assert (found.chosen[0].load.jobs, found.chosen[0].load.peak_jobs) == (8, 1)


def test_as_many_as_there_are_miss_nothing() -> None:
    jobs = [ran(night, 10.0 * (night + 1)) for night in range(5)]
    found, _ = thinned(jobs, WINDOW, 5)
    assert {one.nights for one in found.chosen} == {1}
    assert {error for error in found.errors.values() if error is not None} == {0.0}


def test_nights_that_are_all_alike_still_stand_for_one_another() -> None:
    found, _ = thinned([ran(night, 10.0) for night in range(6)], WINDOW, 2)
    assert sum(one.nights for one in found.chosen) == 6
    assert min(one.nights for one in found.chosen) >= 1


def test_a_night_goes_over_midnight_in_the_zone_of_the_logs() -> None:
    berlin = DailyWindow(20 * 60, 6 * 60, ZoneInfo("Europe/Berlin"))
    at = datetime(2026, 3, 3, 4, 59, tzinfo=UTC).timestamp()
    start = datetime(2026, 3, 2, 19, 0, tzinfo=UTC).timestamp()
    assert berlin.of(at) == Night(start, start + 10 * 3600)
    assert berlin.of(at + 60) is None
    assert parse_daily("01:00/05:00").of(parse_instant("2026-03-02T00:30:00Z")) is None


@pytest.mark.parametrize(
    "text", ["", "20:00", "2026-03-02T20:00/06:00", "24:00/06:00", "20:00/20:00", "20:61/06:00"]
)
def test_a_window_of_every_day_is_two_clock_times(text: str) -> None:
    with pytest.raises(UsageError, match="expected a window of every day"):
        parse_daily(text)


def test_more_nights_than_there_are_is_refused() -> None:
    with pytest.raises(UsageError, match="1 such night with jobs"):
        thinned([ran(1, 1.0)], WINDOW, 2)


def test_each_night_has_a_folder_and_its_jobs_their_weight(tmp_path: Path) -> None:
    texts = logs(WORDS)
    for day in ("05", "06"):
        texts[f"later{day}.log"] = log(OTHER_WORDS, 30).replace("03/02/2026", f"03/{day}/2026")
    run = run_of(tmp_path, texts)
    thinning, nights = derive_nights(run, DeriveRequest(), WINDOW, 2)
    (tmp_path / "year").mkdir()
    write_nights(tmp_path / "year", thinning, nights)
    assert [one.nights for one in thinning.chosen] == [1, 2]
    weights = [
        {one.weight for one in load_derived(tmp_path / "year" / name / "derived.json").jobs}
        for name in ("night-1", "night-2")
    ]
    assert weights == [{1.0}, {2.0}]
    content = "".join(path.read_text() for path in (tmp_path / "year").rglob("*.json"))
    assert not any(word in content for word in WORDS.values())
