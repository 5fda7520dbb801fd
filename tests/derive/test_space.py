"""The peak of WORK and of utility files, against nights made by hand whose sizes are known."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from mawl.derive.costs import document, step_costs
from mawl.derive.space import RolePeak, Space, space_lines
from mawl.importers.import_files import ImportRequest, import_files
from mawl.records.store import open_run
from mawl.reports.document import rendered

NIGHT = datetime(2026, 3, 2, 20, 0, tzinfo=UTC)
MB = 1_000_000
BANNER = (
    "NOTE: Copyright (c) 2016 by SAS Institute Inc., Cary, NC, USA.\n"
    "NOTE: This session is executing on the Linux 4.18.0 (LIN X64) platform.\n"
)
ROWS = 1_000_000


def wrote(table: str, rows: int = ROWS) -> str:
    return f"NOTE: The data set {table} has {rows} observations and 10 variables.\n"


def read(table: str) -> str:
    return f"NOTE: There were {ROWS} observations read from the data set {table}.\n"


class Session:
    """The log of a session; each step gives its seconds and the megabytes that it reads and writes."""

    def __init__(self, minute: float, host: str = "") -> None:
        self.began = self.now = NIGHT + timedelta(minutes=minute)
        self.lines = [BANNER, f"PASS HEADER host={host}\n" if host else ""]

    def step(
        self, what: str, seconds: int, above: str, writes: int = 0, reads: int = 0, memory: int = 1
    ) -> Session:
        self.now += timedelta(seconds=seconds)
        self.lines.append(above + self._note(what, seconds, writes, reads, memory))
        return self

    def end(self) -> str:
        seconds = int((self.now - self.began).total_seconds())
        return "".join([*self.lines, self._note("The SAS System", seconds, 0, 0, 1)])

    def cut(self) -> str:
        return "".join([*self.lines, self._note("DATA statement", 9, 0, 0, 1)[:150]])

    def _note(self, what: str, seconds: int, writes: int, reads: int, memory: int) -> str:
        return (
            f"NOTE: {what} used (Total process time):\n"
            f"      real time           {seconds // 60}:{seconds % 60:02d}.00\n"
            f"      user cpu time       {seconds // 60}:{seconds % 60:02d}.00\n"
            f"      system cpu time     0.00 seconds\n"
            f"      memory              {memory * 1000}.00k\n"
            f"      OS Memory           90000.00k\n"
            f"      Timestamp           {self.now:%m/%d/%Y %I:%M:%S %p}\n"
            f"      Block Input Operations            {reads * MB // 512}\n"
            f"      Block Output Operations           {writes * MB // 512}\n      \n"
        )


def space_of(folder: Path, *logs: str) -> Space:
    for number, log in enumerate(logs):
        (folder / f"job{number}.log").write_text(log)
    night = folder / "runs" / "night"
    import_files(ImportRequest(paths=[str(folder)], folder=night, run_id="night"))
    run = open_run(str(night))
    space = step_costs(run, "real").space
    assert space is not None
    shown = rendered(document(step_costs(run, "real")), "text", 200)
    assert all(name in shown for name in ("WORK  ", "UTILLOC", "both", *space.unknown))
    return space


def peak(space: Space, role: str, node: str | None = None) -> RolePeak:
    [found] = [one for one in space.peaks if (one.role, one.node) == (role, node)]
    assert found.bytes is None or found.low_bytes <= found.bytes <= found.high_bytes
    return found


def test_tables_are_there_until_a_step_deletes_or_replaces_them_or_their_session_ends(
    tmp_path: Path,
) -> None:
    """At 20:04:40 the first session holds B (100 MB), the second X twice: 700 MB."""
    first = (
        Session(0)
        .step("DATA statement", 100, wrote("WORK.A"), writes=100)
        .step("DATA statement", 60, read("WORK.A") + wrote("WORK.B"), writes=100)
        .step("PROCEDURE DATASETS", 10, "NOTE: Deleting WORK.A (memtype=DATA).\n")
        .step("DATA statement", 130, read("WORK.B") + wrote("OUT.C"), writes=100)
    )
    second = (
        Session(2)
        .step("DATA statement", 100, wrote("WORK.X"), writes=300)
        .step("DATA statement", 60, read("WORK.X") + wrote("WORK.X"), writes=300)
        .step("DATA statement", 10, read("WORK.X"))
    )
    space = space_of(tmp_path, first.end(), second.end())
    work = peak(space, "work")
    assert work.bytes == pytest.approx(700 * MB, rel=1e-3)
    assert (work.at, work.sessions) == ("2026-03-02T20:04:40.000000Z", 2)
    assert work.low_bytes == pytest.approx(0.85 * 700 * MB, rel=1e-3)
    assert work.high_bytes == pytest.approx(1.15 * 700 * MB, rel=1e-3)
    assert peak(space, "util").bytes == 0


@pytest.mark.parametrize(
    ("note", "freed"),
    [
        ("NOTE: Deleting WORK.A (memtype=DATA).\n", True),
        ("NOTE: Deleting WORK.A (type=DATA).\n", True),
        ("NOTE: Deleting WORK.A\n      (memtype=DATA).\n", True),
        ("NOTE: Table WORK.A has been dropped.\n", True),
        ("NOTE: Deleting WORK.A (memtype=VIEW).\n", False),
        (
            "NOTE: Deleting WORK.A (memtype=DATA).\n"
            "NOTE: File WORK.A (memtype=DATA) cannot be deleted because it is in use.\n",
            False,
        ),
        (
            "NOTE: Changing the name WORK.A to WORK.Z (memtype=DATA).\n"
            "NOTE: Deleting WORK.Z (memtype=DATA).\n",
            True,
        ),
        ("NOTE: Changing the name WORK.A to WORK.Z (memtype=DATA).\n", False),
        ("NOTE: The file WORK.A (memtype=DATA) was not found, but appears on a DELETE statement.\n", False),
    ],
)
def test_each_note_on_a_deletion(note: str, freed: bool, tmp_path: Path) -> None:
    log = (
        Session(0)
        .step("DATA statement", 100, wrote("WORK.A"), writes=100)
        .step("PROCEDURE DATASETS", 10, note)
        .step("DATA statement", 100, wrote("WORK.B"), writes=100)
    )
    work = peak(space_of(tmp_path, log.end()), "work")
    assert work.bytes == pytest.approx((100 if freed else 200) * MB, rel=1e-3)


def test_rows_that_are_appended_add_to_the_table(tmp_path: Path) -> None:
    added = read("WORK.B") + f"NOTE: {ROWS} observations added.\n" + wrote("WORK.A", 2 * ROWS)
    log = (
        Session(0)
        .step("DATA statement", 100, wrote("WORK.A"), writes=100)
        .step("DATA statement", 100, wrote("WORK.B"), writes=50)
        .step("PROCEDURE APPEND", 10, added, writes=50)
    )
    assert peak(space_of(tmp_path, log.end()), "work").bytes == pytest.approx(200 * MB, rel=1e-3)


def test_utility_files_live_while_their_step_runs(tmp_path: Path) -> None:
    """The sort has 1 MB of memory for 100 MB: it writes them to utility files, and then the table."""
    log = (
        Session(0)
        .step("DATA statement", 100, wrote("WORK.A"), writes=100)
        .step("PROCEDURE SORT", 60, read("WORK.A") + wrote("WORK.B"), writes=200, reads=200)
        .step("DATA statement", 60, read("WORK.B") + wrote("OUT.C"), writes=100, reads=100)
    )
    space = space_of(tmp_path, log.end())
    work, util, both = (peak(space, role) for role in ("work", "util", "both"))
    sizes = [work.bytes, util.bytes, both.bytes]
    assert sizes == pytest.approx([200 * MB, 100 * MB, 300 * MB], rel=0.01)
    assert work.at == util.at == both.at == "2026-03-02T20:02:40.000000Z"


def test_hosts_have_peaks_of_their_own(tmp_path: Path) -> None:
    logs = [
        Session(0, host).step("DATA statement", 100, wrote("WORK.A"), writes=size).end()
        for host, size in (("one", 100), ("two", 300))
    ]
    space = space_of(tmp_path, *logs)
    sizes = [peak(space, "work", node).bytes for node in ("one", "two", None)]
    assert sizes == pytest.approx([100 * MB, 300 * MB, 400 * MB], rel=1e-3)


def test_a_session_that_was_killed_may_leave_its_work_behind(tmp_path: Path) -> None:
    killed = Session(0).step("DATA statement", 60, wrote("WORK.A"), writes=100)
    later = Session(60).step("DATA statement", 60, wrote("WORK.A"), writes=100)
    space = space_of(tmp_path, killed.cut(), later.end())
    work = peak(space, "work")
    assert work.bytes == pytest.approx(100 * MB, rel=1e-3)
    assert work.high_bytes == pytest.approx(2 * 115 * MB, rel=1e-3)
    assert any("1 log cut off" in one for one in space.unknown)


def test_without_times_the_range_goes_from_the_largest_session_to_all_at_once(tmp_path: Path) -> None:
    whole = [Session(0).step("DATA statement", 9, wrote("WORK.A"), writes=size).end() for size in (100, 300)]
    logs = [re.sub("      Timestamp .*\n", "", log) for log in whole]
    space = space_of(tmp_path, *logs)
    work = peak(space, "work")
    assert work.at is None and work.bytes == pytest.approx(300 * MB, rel=1e-3)
    assert work.high_bytes == pytest.approx(1.15 * 400 * MB, rel=1e-3)
    assert any("2 jobs without times" in one for one in space.unknown)


def test_bytes_that_no_note_names_are_only_in_the_highest(tmp_path: Path) -> None:
    log = Session(0).step("PROCEDURE CATALOG", 9, "", writes=100).end()
    space = space_of(tmp_path, log)
    work = peak(space, "work")
    assert (work.low_bytes, work.bytes) == (0, None)
    assert work.high_bytes == pytest.approx(1.15 * 100 * MB, rel=1e-3)
    assert any("1 step may have written, and no note names a table" in one for one in space.unknown)


def test_a_log_that_names_no_table_leaves_the_peak_of_work_open(tmp_path: Path) -> None:
    """Neither notes on tables nor block operations (NONOTES, STIMER): nothing says that WORK was empty."""
    (tmp_path / "job0.log").write_text(
        "NOTE: PROCEDURE SORT used (Total process time):\n      real time           10.00 seconds\n"
        "      cpu time            5.00 seconds\n\n"
    )
    space = space_of(tmp_path)
    assert [one.bytes for one in space.peaks] == [None, None, None]
    assert peak(space, "work").high_bytes > 0 and peak(space, "util").high_bytes > 0
    assert dict(space_lines(space))["WORK"].startswith("not known: 0 B to ")
    assert any("1 step may have written, and no note names a table" in one for one in space.unknown)
