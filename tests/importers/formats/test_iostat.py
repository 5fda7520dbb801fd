"""Reports of iostat: a clock that does not go on costs a report, and says so."""

from __future__ import annotations

from mawl.importers.formats.sysstat_reports import Report, SysstatDoubt
from mawl.importers.formats.sysstat_text import read_iostat

BANNER = "Linux 6.1.0 (bench1) \t03/02/2026 \t_x86_64_\t(2 CPU)"
REPORT = """
{at}
avg-cpu:  %user   %nice %system %iowait  %steal   %idle
          {user}    0.00    1.00    0.00    0.00   89.00
"""


def read(*reports: tuple[str, float]) -> tuple[list[float], list[str]]:
    """Times of the reports that are kept, and the reasons of those that are not."""
    text = BANNER + "\n" + "".join(REPORT.format(at=at, user=user) for at, user in reports)
    found = list(read_iostat(enumerate(text.splitlines(), start=1)))
    times = [one.at for one in found if isinstance(one, Report)]
    return times, [one.reason for one in found if isinstance(one, SysstatDoubt)]


def test_a_report_with_the_time_of_the_one_before_is_left_out() -> None:
    at = ("2026-03-02T10:00:00+0000", "2026-03-02T10:00:05+0000", "2026-03-02T10:00:10+0000")
    times, reasons = read((at[0], 10.0), (at[1], 10.0), (at[1], 20.0), (at[2], 10.0))
    assert len(times) == len(set(times)) == 3
    assert reasons[0] == "the clock did not go on: the report is left out"
