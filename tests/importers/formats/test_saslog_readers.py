"""Our log compared with three ways in which programs that read SAS logs go about it.

Each reader below is written from what is known of such programs (docs/design/sas-log.md), knows
nothing of mawl's own reader, and keeps the habits that trip a log up: a reader that takes the step's
name from the line directly above ``real time`` and stops where the indentation changes or the
file ends; one that splits each indented line at a run of blanks; one of strict whole-line patterns.

The SAS-style log of a job, line by line.
"""

from __future__ import annotations

import re

import msgspec
import pytest

from mawl.importers.formats.saslog import read_notes
from mawl.importers.formats.saslog_write import block, job_log, procedure_name
from mawl.records.model.records import JobRecord, StepRecord, Usage
from tests.fakes.stored_run import START, job, steps, usage

Rows = list[dict[str, str]]

COUNT_NAMES = (
    "Page Faults",
    "Page Reclaims",
    "Page Swaps",
    "Voluntary Context Switches",
    "Involuntary Context Switches",
    "Block Input Operations",
    "Block Output Operations",
)


def indentation_reader(text: str) -> Rows:
    """Line by line with one line of memory; blank lines and page headers do not exist for it.

    Like the administrators' macro it never gives out a block that the end of the file interrupts.
    """
    everything = text.splitlines()
    lines = [
        (number, line)
        for number, line in enumerate(everything)
        if line.strip()
        and not re.match(r"\d", line)
        and ("The SAS System" not in line or line.startswith("NOTE:"))
    ]
    rows: Rows = []
    observations = 0
    index = 0
    while index < len(lines):
        _, line = lines[index]
        if line.upper().startswith("NOTE: THERE WERE "):
            observations += int(line.split()[3])
        if "real time " not in line:
            index += 1
            continue
        above = lines[index - 1][1].split()
        row = {"name": above[1] if "DATA " in lines[index - 1][1] else above[2], "read": str(observations)}
        row["real time"] = line.split()[2]
        depth = len(line) - len(line.lstrip())
        index += 1
        while index < len(lines) and len(lines[index][1]) - len(lines[index][1].lstrip()) == depth:
            words = lines[index][1].split()
            for name in ("user cpu time", "system cpu time"):
                if name in lines[index][1]:
                    row[name] = words[3]
            if "OS Memory " in lines[index][1]:
                row["OS Memory"] = words[2].removesuffix("k")
            for name in COUNT_NAMES:
                if name in lines[index][1]:
                    row.setdefault(name, words[-1])
            index += 1
        interrupted = index == len(lines) and lines[-1][0] == len(everything) - 1
        if not interrupted:
            rows.append(row)
            observations = 0
    return rows


def wide_blank_reader(text: str) -> Rows:
    """A heading switches it on; then every line of six blanks is a key, five blanks, a value."""
    rows: Rows = []
    current: dict[str, str] | None = None
    for line in text.splitlines():
        heading = re.search(
            r"NOTE: (?P<name>.+) used \(Total process time\)|NOTE: (?P<all>The SAS System) used:", line
        )
        figure = re.match(r"\s{6}(?P<key>\S.*\b) {5,}(?P<value>\S.*)$", line)
        if heading:
            current = {"name": heading["name"] or heading["all"]}
            rows.append(current)
        elif figure and current is not None:
            current[figure["key"].strip()] = figure["value"]
        elif line.strip():
            current = None
    return rows


STRICT = {
    "name": r"NOTE: (?:PROCEDURE (\S+)|(DATA) statement|The (SAS) System) used(?: \(Total process time\))?:",
    "real time": r" +real time {2,}(\d+\.\d\d seconds|(?:\d+:)?\d{1,2}:\d\d\.\d\d)",
    "user cpu time": r" +user cpu time {2,}(\d+\.\d\d seconds|(?:\d+:)?\d{1,2}:\d\d\.\d\d)",
    "system cpu time": r" +system cpu time {2,}(\d+\.\d\d seconds|(?:\d+:)?\d{1,2}:\d\d\.\d\d)",
    "memory": r" +memory {2,}(\d+\.\d\d)k",
    "OS Memory": r" +OS Memory {2,}(\d+\.\d\d)k",
    "Timestamp": r" +Timestamp {2,}(\d\d/\d\d/\d{4} \d\d:\d\d:\d\d [AP]M)",
    "Step Count": r" +Step Count +(\d+) {2}Switch Count {2}\d+",
    **{name: rf" +{name} {{2,}}(\d+)" for name in COUNT_NAMES},
}


def strict_reader(text: str) -> Rows:
    """Whole lines only; an indented line that none of its patterns knows is an error."""
    rows: Rows = []
    for line in text.splitlines():
        for key, pattern in STRICT.items():
            match = re.fullmatch(pattern, line)
            if match:
                value = next(group for group in match.groups() if group)
                if key == "name":
                    rows.append({})
                rows[-1][key] = value
                break
        else:
            assert not line.startswith(" ") or not line.strip(), line
    return rows


def seconds(text: str) -> float:
    """0.50, 1:02.24 or 9:28:12.90, with or without the unit."""
    total = 0.0
    for part in text.removesuffix(" seconds").split(":"):
        total = total * 60 + float(part)
    return total


LONG = job("s1-1", 0.0, 4000.5)
CASES = [
    (LONG, steps()[:2]),
    (LONG, []),
    (job("s3-1", 0.0, 10.5, outcome="failed", reason="it failed"), steps()[:1]),
]


@pytest.mark.parametrize(("record", "own"), CASES)
@pytest.mark.parametrize("reader", [indentation_reader, wide_blank_reader, strict_reader])
def test_each_reader_finds_every_step_and_the_total(
    reader: object, record: JobRecord, own: list[StepRecord]
) -> None:
    rows = reader(job_log(record, own, platform="Linux 6.1.0"))  # type: ignore[operator]
    assert len(rows) == len(own) + 1
    usages = [*(step.usage for step in own), record.usage]
    for row, used in zip(rows, usages, strict=True):
        assert seconds(row["real time"]) == pytest.approx(used.real_time_seconds, abs=0.006)
        assert seconds(row["user cpu time"]) == pytest.approx(used.user_cpu_seconds, abs=0.006)
        assert seconds(row["system cpu time"]) == pytest.approx(used.system_cpu_seconds, abs=0.006)
        assert used.os_memory_bytes is not None
        assert float(row["OS Memory"].removesuffix("k")) == used.os_memory_bytes / 1024
        assert int(row["Page Reclaims"]) == used.page_reclaims
        assert int(row["Block Output Operations"]) == used.block_output_operations
    assert "SAS" in rows[-1]["name"]
    for row, step in zip(rows, own, strict=False):
        assert ("DATA" if step.kind == "data" else step.name.upper()) in row["name"]


def test_rows_read_reach_the_step_below_them() -> None:
    rows = indentation_reader(job_log(LONG, steps()[:2]))
    assert [row["read"] for row in rows] == ["1000", "1000", "0"]


def test_the_readers_do_fail_on_a_log_that_lacks_the_layout() -> None:
    log = job_log(LONG, steps()[:2])
    assert len(indentation_reader(log.rstrip())) == 2
    assert len(wide_blank_reader(log.replace("          ", "   "))[0]) == 1
    with pytest.raises(AssertionError):
        strict_reader(log.replace("k\n", "K\n"))


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
