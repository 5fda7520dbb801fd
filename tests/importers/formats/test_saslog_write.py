"""The SAS-style log of a job, line by line."""

from __future__ import annotations

import msgspec
import pytest

from mawl.importers.formats.saslog import read_notes
from mawl.importers.formats.saslog_write import block, job_log, procedure_name
from mawl.records.model.records import StepRecord, Usage
from tests.fakes.stored_run import START, job, steps, usage

STEPS = steps()[:2]

EXPECTED_STEP = """\
NOTE: There were 1000 observations read from the data set UTIL.WIDE_PARTS.
NOTE: PROCEDURE SORT used (Total process time):
      real time           1.50 seconds
      user cpu time       0.75 seconds
      system cpu time     0.25 seconds
      memory              81920.00k
      OS Memory           133120.00k
      Timestamp           01/01/2026 08:00:03 AM
      Step Count                        2  Switch Count  210
      Page Faults                       3
      Page Reclaims                     1000
      Voluntary Context Switches        200
      Involuntary Context Switches      10
      Block Input Operations            4096
      Block Output Operations           2048
"""


def test_a_step_looks_as_sas_9_4_prints_it() -> None:
    assert EXPECTED_STEP in job_log(job("s1-1", 0.0, 20.5), STEPS)


def test_the_log_says_first_that_no_sas_ran() -> None:
    first, second, platform = job_log(job("s1-1", 0.0, 20.5), STEPS, platform="Linux 6.1.0").splitlines()[:3]
    assert first.startswith("NOTE: Written by mawl ") and first.endswith("no SAS ran.")
    assert "job s1-1, program wide_sort, session s1, outcome finished" in second
    assert platform == "NOTE: This session is executing on the Linux 6.1.0 platform."


def test_the_session_total_is_the_job_s_own_and_stands_last() -> None:
    lines = job_log(job("s1-1", 0.0, 20.5), STEPS).splitlines()
    last = [line for line in lines if line.startswith("NOTE:")][-1]
    assert last == "NOTE: The SAS System used:"
    assert lines[lines.index(last) + 1] == "      real time           20.00 seconds"


def test_the_session_s_step_count_is_the_number_of_blocks_above_it() -> None:
    verify = msgspec.structs.replace(STEPS[1], kind="verify", name="verify", number=3)
    log = job_log(job("s1-1", 0.0, 20.5, steps=3), [*STEPS, verify])
    session = log[log.index("NOTE: The SAS System used:") :]
    assert log.count("(Total process time)") == 2
    assert "      Step Count                        2  Switch Count  210" in session


def test_startup_and_verify_are_told_but_are_no_steps() -> None:
    verify = msgspec.structs.replace(STEPS[1], kind="verify", name="verify", number=3)
    startup = msgspec.structs.replace(STEPS[1], kind="startup", name="startup", number=0)
    log = job_log(job("s1-1", 0.0, 20.5), [startup, *STEPS, verify])
    assert log == job_log(job("s1-1", 0.0, 20.5), STEPS)
    assert "NOTE: Not in the figures below, CPU seconds: start-up 0.08, checking the answer 0.50." in log


def test_a_missing_figure_has_no_line() -> None:
    lines = list(block(Usage(real_time_seconds=1.0, page_faults=0, voluntary_context_switches=5), None, 1))
    assert [line.split("  ")[3].strip() for line in lines] == [
        "real time",
        "Page Faults",
        "Voluntary Context Switches",
    ]


def test_cpu_time_that_was_never_split_stands_as_under_stimer_and_reads_back() -> None:
    lines = list(block(Usage(real_time_seconds=2.0, unsplit_cpu_seconds=61.5), None, 1))
    assert lines == ["      real time           2.00 seconds", "      cpu time            1:01.50"]
    (note,) = read_notes(["NOTE: PROCEDURE SORT used (Total process time):", *lines, "      ", ""])
    assert note.usage == Usage(real_time_seconds=2.0, unsplit_cpu_seconds=61.5)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0, "0.00 seconds"),
        (0.014, "0.01 seconds"),
        (59.994, "59.99 seconds"),
        (59.996, "1:00.00"),
        (62.24, "1:02.24"),
        (3599.999, "1:00:00.00"),
        (9 * 3600 + 28 * 60 + 12.9, "9:28:12.90"),
        (60 * 3600 + 48 * 60 + 34.65, "60:48:34.65"),
    ],
)
def test_times_are_printed_as_sas_prints_them(seconds: float, text: str) -> None:
    assert list(block(Usage(real_time_seconds=seconds), None, 1)) == [f"      real time           {text}"]


def test_noon_and_midnight() -> None:
    stamps = [next(iter(block(Usage(), START + hours * 3600, 1)))[-11:] for hours in (4, 16)]
    assert stamps == ["12:00:00 PM", "12:00:00 AM"]


def test_step_names_become_one_word() -> None:
    assert procedure_name("distribute to util/2") == "DISTRIBUTE_TO_UTIL_2"


def test_a_reason_cannot_forge_a_block() -> None:
    reason = "bad\nNOTE: DATA statement used (Total process time):\r\n      real time  9.00 seconds\x1b[31m"
    log = job_log(job("s1-1", 0.0, 20.5, outcome="failed", reason=reason), [])
    assert log.count("\n      real time") == 1
    assert "\x1b" not in log
    assert [line[:10] for line in log.splitlines() if "bad" in line] == ["ERROR: bad"]


def test_a_job_without_figures_still_has_a_log() -> None:
    empty = job("s1-1", 0.0, 20.5, usage=Usage(), startup=Usage(), verify=Usage(), ended_at=None)
    assert job_log(empty, []).splitlines()[-3:] == ["NOTE: The SAS System used:", "      ", ""]


def test_steps_follow_in_their_order() -> None:
    many = [
        StepRecord(
            job="j",
            number=number,
            name=f"step{number}",
            kind="procedure",
            started_at=START,
            ended_at=START,
            usage=usage(1.0, 1.0, 1),
        )
        for number in range(1, 4)
    ]
    log = job_log(job("s1-1", 0.0, 20.5), many)
    assert [log.index(f"PROCEDURE STEP{number} used") for number in (1, 2, 3)] == sorted(
        log.index(f"PROCEDURE STEP{number} used") for number in (1, 2, 3)
    )
