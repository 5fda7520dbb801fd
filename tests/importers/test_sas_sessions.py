"""Which session the lines of one SAS log are of, when it began, and what its figures include.

Timestamps with the day first: found by a number above 12 or the head of a page, and told.
"""

from __future__ import annotations

import gzip
import io
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from mawl.importers.clock import LOOK_BYTES
from mawl.importers.formats.saslog import LEAST_SCANNED_BYTES, read_parts
from mawl.importers.formats.saslog_records import PerformanceNote, orders_shown, with_month_first
from mawl.importers.formats.saslog_scan import NoteBatch
from mawl.importers.import_files import ImportRequest, import_files
from mawl.importers.interface import Context, ImportedJob
from mawl.importers.sas_jobs import IMPORTER, NO_STARTUP, STEP_UNREAD, WITH_STARTUP
from mawl.records.model.records import StepRecord
from mawl.records.store import open_run
from tests.importers.layout import BANNER
from tests.importers.test_import import imported, log, write

PAGE, REST = BANNER.split("\n", 1)
STARTED_AT = datetime(2026, 11, 20, 10, 0, tzinfo=UTC).timestamp()
LATER = PAGE.replace("1  ", "2  ", 1) + "\n\n"
TOTAL = "The SAS System used"
READ = "NOTE: There were {} observations read from the data set WORK.A.\n"


def note(seconds: float, heading: str = "PROCEDURE SORT used (Total process time)") -> str:
    return (
        f"NOTE: {heading}:\n      real time           {seconds:.2f} seconds\n"
        f"      cpu time            {seconds / 2:.2f} seconds\n      \n\n"
    )


def startup(seconds: float = 0.5) -> str:
    return note(seconds, "SAS initialization used")


def read(text: str) -> tuple[list[ImportedJob], list[StepRecord], list[tuple[int | None, str]]]:
    names = iter("abcdef")
    context = Context("night.log", "saslog", lambda seconds: seconds, lambda _: next(names))
    items = list(IMPORTER.read(io.BytesIO(text.encode()), context))
    jobs = sorted((item for item in items if isinstance(item, ImportedJob)), key=lambda job: job.job)
    steps = [item for item in items if isinstance(item, StepRecord)]
    return jobs, steps, [(skipped.line, skipped.reason) for skipped in context.skipped]


def reals(steps: list[StepRecord]) -> dict[str, list[float | None]]:
    found: dict[str, list[float | None]] = {}
    for step in steps:
        found.setdefault(step.job, []).append(step.usage.real_time_seconds)
    return found


def remote(verb: str, inside: str = "", name: str = "TSK1") -> str:
    way = {"signon": "to", "submit": "to", "signoff": "from"}[verb]
    release = " (SAS Release 9.04.01M6P110718)" if verb == "signon" else ""
    begins = f"NOTE: Remote {verb} {way} {name} commencing{release}.\n"
    return f"{begins}{inside}NOTE: Remote {verb} {way} {name} complete.\n"


def test_a_remote_session_and_the_one_around_it_are_two_jobs() -> None:
    text = (
        BANNER
        + startup() + note(4) + remote("signon", REST.replace("9.4", "9.3") + startup(0.2)) + note(5)
        + remote("submit", note(7)) + note(8) + remote("signoff", note(8.5, TOTAL))
        + note(9) + note(40, TOTAL)
    )  # fmt: skip
    jobs, steps, _ = read(text)
    assert reals(steps) == {"a": [0.5, 4, 5, 8, 9], "b": [0.2, 7]}
    assert [(job.usage.real_time_seconds, job.steps, job.started_at) for job in jobs] == [
        (40, 5, STARTED_AT),
        (8.5, 2, None),
    ]
    assert [job.software for job in jobs] == ["9.4 (TS1M6)", "9.3 (TS1M6)"]


def test_remote_sessions_that_run_side_by_side_are_told_apart() -> None:
    ways = [remote("signon", REST, "T1"), remote("signon", REST, "T2")]
    work = [remote("submit", note(3), "T2"), remote("submit", note(2), "T1"), remote("submit", note(4), "T2")]
    _, steps, _ = read(BANNER + note(1) + "".join(ways + work) + note(5) + note(20, TOTAL))
    assert reals(steps) == {"a": [1, 5], "b": [3, 4], "c": [2]}


def test_a_cancelled_submit_comes_back() -> None:
    text = BANNER + note(1) + "NOTE: Remote submit to T1 commencing.\nERROR: Remote submit to T1 canceled.\n"
    jobs, steps, _ = read(text + note(2) + note(9, TOTAL))
    assert (reals(steps), len(jobs)) == ({"a": [1, 2]}, 1)


def test_a_session_within_another_that_connect_does_not_announce() -> None:
    """As in a log of Enterprise Miner: two banners, two totals, and steps below the first total."""
    inner = REST + startup(0.2) + note(7) + note(8, TOTAL)
    jobs, steps, _ = read(BANNER + startup() + note(4) + inner + note(9) + note(40, TOTAL))
    assert reals(steps) == {"a": [0.5, 4, 9], "b": [0.2, 7]}
    assert [job.usage.real_time_seconds for job in jobs] == [40, 8]


def test_sessions_that_follow_one_another_stay_apart() -> None:
    """Also below one that was killed, and each with its own first page."""
    killed, whole = note(1), note(2) + note(3, TOTAL)
    texts = [killed, whole, killed, killed, whole, whole]
    text = "".join(BANNER.replace("10:00", f"1{hour}:00") + part for hour, part in enumerate(texts))
    jobs, steps, _ = read(text)
    assert reals(steps) == {"a": [1], "b": [2], "c": [1], "d": [1], "e": [2], "f": [2]}
    assert [job.started_at for job in jobs] == [STARTED_AT + 3600 * hour for hour in range(6)]


def test_a_later_page_has_the_start_of_its_session_too() -> None:
    jobs, _, _ = read(note(1) + LATER + note(2))
    assert (jobs[0].started_at, jobs[0].ended_at) == (STARTED_AT, None)
    jobs, _, _ = read(note(1) + LATER + note(2) + note(60, TOTAL))
    assert (jobs[0].started_at, jobs[0].ended_at) == (STARTED_AT, STARTED_AT + 60)


def test_a_run_starts_when_the_page_header_says_not_when_it_was_imported(tmp_path: Path) -> None:
    (tmp_path / "x.log").write_text(BANNER + note(4))
    made = import_files(ImportRequest(paths=[str(tmp_path / "x.log")], folder=tmp_path / "run", run_id="run"))
    facts = open_run(tmp_path / "run").facts
    assert (facts.started_at, facts.ended_at) == (STARTED_AT, None)
    assert facts.missing["ended_at"].startswith("the logs have page headers")
    assert not any("imported" in remark and "no file names a time" in remark for remark in made.remarks)


LOST_HEADINGS: list[Callable[[str], str]] = [
    lambda text: text.split("\n", 1)[1],
    lambda text: "    " + text,
    lambda text: text.replace("used", "usd"),
    lambda text: text.split("\n", 2)[2],
]


@pytest.mark.parametrize("lose", LOST_HEADINGS)
def test_a_step_without_its_heading_is_told_and_its_rows_are_not_of_the_next(
    lose: Callable[[str], str],
) -> None:
    text = BANNER + note(1) + READ.format(100) + lose(note(4)) + READ.format(7) + note(3)
    line = text[: text.index("4.00" if "4.00" in text else "2.00 seconds")].count("\n") + 1
    jobs, steps, skipped = read(text)
    assert [(step.usage.real_time_seconds, step.rows_read) for step in steps] == [(1, None), (3, 7)]
    assert {line, line - 1} & {told for told, _ in skipped}
    assert (jobs[0].usage.real_time_seconds, jobs[0].missing["usage"]) == (None, STEP_UNREAD)
    jobs, steps, _ = read(text + note(10, TOTAL))
    assert jobs[0].usage.real_time_seconds == 10
    assert "usage" not in jobs[0].missing


def test_a_whole_log_has_no_figure_without_a_heading() -> None:
    text = BANNER + startup() + READ.format(100) + note(4) + LATER + READ.format(7) + note(3) + note(9, TOTAL)
    assert read(text)[2] == []


def test_the_listing_of_a_libref_is_no_performance_note() -> None:
    libref = (
        "NOTE: Libref MYLIB was successfully assigned as follows: \n      Levels:           2\n"
        "      Engine(1):        V9 \n      Physical Name(1): /data/1\n"
        "NOTE: Libref OTHER was successfully assigned as follows:\n      Physical Name: 2026.11\n"
    )
    assert read(BANNER + libref + note(3))[2] == []


def test_sums_of_steps_include_the_initialization_where_the_log_has_it() -> None:
    (whole,) = read(BANNER + startup() + note(4) + note(5, TOTAL))[0]
    (summed,) = read(BANNER + startup() + note(4))[0]
    (without,) = read(BANNER + note(4))[0]
    assert [job.usage.real_time_seconds for job in (whole, summed, without)] == [5, 4.5, 4]
    assert (summed.usage.cpu_seconds, without.usage.cpu_seconds) == (2.25, 2)
    found = [job.missing.get("usage") for job in (whole, summed, without)]
    assert found == [None, WITH_STARTUP, NO_STARTUP]


def test_an_initialization_without_memory_leaves_the_peak_to_the_steps() -> None:
    step = note(4).replace("      \n", "      memory              512.00k\n      \n", 1)
    (job,) = read(BANNER + startup() + step)[0]
    assert (job.usage.memory_bytes, job.usage.real_time_seconds) == (512 * 1024, 4.5)


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
