"""Which session the lines of one SAS log are of, when it began, and what its figures include."""

from __future__ import annotations

import io
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from mawl.importers.import_files import ImportRequest, import_files
from mawl.importers.interface import Context, ImportedJob
from mawl.importers.sas_jobs import IMPORTER, NO_STARTUP, STEP_UNREAD, WITH_STARTUP
from mawl.records.model.records import StepRecord
from mawl.records.store import open_run
from tests.importers.layout import BANNER

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
