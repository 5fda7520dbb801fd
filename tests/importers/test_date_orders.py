"""Timestamps with the day first: found by a number above 12 or the head of a page, and told."""

from __future__ import annotations

import gzip
import io
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from mawl.importers.clock import LOOK_BYTES
from mawl.importers.formats.saslog import LEAST_SCANNED_BYTES, read_parts
from mawl.importers.formats.saslog_records import PerformanceNote, orders_shown, with_month_first
from mawl.importers.formats.saslog_scan import NoteBatch
from tests.importers.test_import import imported, log, write

NIGHT = datetime(2026, 3, 2, 22, 15, tzinfo=UTC)
"""2 March: with the day first it reads like 3 February."""


def day_first(text: str) -> str:
    """The log as a session with a locale of Europe writes it."""
    return re.sub(r"(Timestamp +)(\d\d)/(\d\d)/", r"\1\3/\2/", text)


def ends(run: object) -> list[str]:
    return sorted(
        datetime.fromtimestamp(job.ended_at, UTC).strftime("%m-%d %H:%M")
        for job in run.job_records()  # type: ignore[attr-defined]
        if job.ended_at is not None
    )


def test_a_number_above_twelve_in_one_log_tells_the_order_of_all(tmp_path: Path) -> None:
    logs = {f"n{day}": day_first(log(NIGHT + timedelta(days=day), 3600.0)) for day in (0, 1, 12, 14)}
    made, run = imported(tmp_path, write(tmp_path / "logs", **logs))
    assert ends(run) == ["03-02 23:15", "03-03 23:15", "03-14 23:15", "03-16 23:15"]
    (told,) = [remark for remark in made.remarks if "--dates" in remark]
    assert told.startswith("timestamps with the day first in 2 logs, with the month first in 0;")
    assert told.endswith("are taken day-first (--dates)")


def test_the_head_of_a_page_tells_the_order_of_a_log_whose_numbers_read_both_ways(tmp_path: Path) -> None:
    head = "1                    The SAS System            22:10 Monday, March 2, 2026\n\n"
    plain = log(NIGHT, 3600.0)
    assert orders_shown((head + plain).encode()) == {"month-first"}
    assert orders_shown((head + day_first(plain)).encode()) == {"day-first"}
    assert orders_shown(plain.encode()) == set()
    _, run = imported(tmp_path, write(tmp_path / "logs", a=head + day_first(plain)))
    assert ends(run) == ["03-02 23:15"]


def test_a_session_that_ends_after_midnight_is_of_the_night_that_its_head_names(tmp_path: Path) -> None:
    began = datetime(2026, 3, 1, 23, 50, tzinfo=UTC)
    head = "1                    The SAS System            23:49 Sunday, March 1, 2026\n\n"
    text = head + day_first(log(began, 3600.0))
    assert orders_shown(text.encode()) == {"day-first"}
    _, run = imported(tmp_path, write(tmp_path / "logs", a=text))
    assert ends(run) == ["03-02 00:50"]


def test_the_end_of_a_long_log_shows_the_order_too(tmp_path: Path) -> None:
    quiet = log(NIGHT, 3600.0)
    long = quiet + "          x = 1;\n" * (LOOK_BYTES // 16 + 1) + log(NIGHT + timedelta(days=20), 3600.0)
    _, run = imported(tmp_path, write(tmp_path / "logs", a=day_first(long)))
    assert ends(run) == ["03-02 23:15", "03-22 23:15"]


def test_text_that_quotes_a_timestamp_shows_nothing() -> None:
    assert orders_shown(b"put 'Timestamp 25/12/2026 10:00:00 PM';\n") == set()
    assert orders_shown(b"  Timestamp 25/12/2026 10:00\n") == set()
    text = b"put 'Timestamp 02/03/2026 10:00:00 PM';\n"
    assert b"".join(with_month_first([text])) == text


def test_mawls_own_logs_have_the_month_first_and_tell_nothing_of_others(tmp_path: Path) -> None:
    own = "NOTE: Written by mawl 1.0 in the layout of a SAS log with FULLSTIMER; no SAS ran.\n"
    later = NIGHT + timedelta(days=20)
    logs = {
        "own": own + log(later, 3600.0),
        "de": day_first(log(later, 3600.0)),
        "both": day_first(log(NIGHT, 3600.0)),
    }
    place = write(tmp_path / "logs", **logs)
    made, run = imported(tmp_path, place)
    assert ends(run) == ["03-02 23:15", "03-22 23:15", "03-22 23:15"]
    assert made.dates[0].startswith("timestamps with the day first in 1 log, with the month first in 0;")
    _, asked = imported(tmp_path / "asked", place, dates="day-first")
    assert ends(asked) == ends(run)


def test_logs_of_both_orders_have_each_their_own(tmp_path: Path) -> None:
    later = NIGHT + timedelta(days=20)
    logs = {"de": day_first(log(later, 3600.0)), "us": log(later, 3600.0), "both": log(NIGHT, 3600.0)}
    made, run = imported(tmp_path, write(tmp_path / "logs", **logs))
    assert ends(run) == ["03-02 23:15", "03-22 23:15", "03-22 23:15"]
    assert any("are taken month-first (--dates)" in remark for remark in made.remarks)


def test_a_log_with_both_orders_is_told(tmp_path: Path) -> None:
    later = log(NIGHT + timedelta(days=20), 3600.0)
    logs = {"a": later + day_first(later), "b": day_first(later)}
    made, _ = imported(tmp_path, write(tmp_path / "logs", **logs))
    assert any(
        warning == "timestamps in both orders of day and month in 1 log, taken day-first (--dates)"
        for warning in made.warnings
    )


def test_a_month_first_import_says_nothing_and_an_order_that_is_asked_for_is_taken(tmp_path: Path) -> None:
    place = write(tmp_path / "logs", a=log(NIGHT + timedelta(days=20), 3600.0), b=log(NIGHT, 3600.0))
    made, run = imported(tmp_path, place)
    assert ends(run) == ["03-02 23:15", "03-22 23:15"]
    assert not any("--dates" in said for said in (*made.remarks, *made.warnings))
    asked = write(tmp_path / "asked", b=day_first(log(NIGHT, 3600.0)))
    _, other = imported(tmp_path / "other", asked, dates="day-first")
    assert ends(other) == ["03-02 23:15"]


@pytest.mark.parametrize("form", ["gzip", "utf-16"])
def test_a_compressed_and_a_wide_log_are_looked_at_too(tmp_path: Path, form: str) -> None:
    text = day_first(log(NIGHT + timedelta(days=20), 3600.0))
    place = tmp_path / "logs"
    place.mkdir()
    if form == "gzip":
        (place / "a.log.gz").write_bytes(gzip.compress(text.encode()))
    else:
        (place / "a.log").write_bytes(text.encode("utf-16"))
    _, run = imported(tmp_path, place)
    assert ends(run) == ["03-22 23:15"]


def test_the_scanner_of_large_logs_reads_the_same_as_with_the_month_first() -> None:
    step = log(NIGHT + timedelta(days=20), 3600.0)
    plain = step * (1 + 2 * LEAST_SCANNED_BYTES // len(step))

    def found(text: str, **order: str) -> list[float | None]:
        at: list[float | None] = []
        for part in read_parts(io.BytesIO(text.encode()), lambda *_: None, **order):  # type: ignore[arg-type]
            if isinstance(part, NoteBatch):
                at += [entry.ended_at for entry in part.entries() if isinstance(entry, PerformanceNote)]
            elif isinstance(part, PerformanceNote):
                at.append(part.ended_at)
        return at

    expected = found(plain)
    assert len(expected) > 100 and None not in expected
    assert found(day_first(plain), dates="day-first") == expected


def test_lines_stay_as_long_as_they_are_however_the_chunks_are_cut() -> None:
    text = b"x\n      Timestamp           02/03/2026 10:15:00 PM\n      Timestamp - 2/13/2026  9:05:06 AM\ny"
    expected = (
        b"x\n      Timestamp           03/02/2026 10:15:00 PM\n      Timestamp - 13/2/2026  9:05:06 AM\ny"
    )
    for cut in range(len(text)):
        assert b"".join(with_month_first([text[:cut], text[cut:]])) == expected
