"""Our log compared with three ways in which programs that read SAS logs go about it.

Each reader below is written from what is known of such programs (docs/design/sas-log.md), knows
nothing of mawl's own reader, and keeps the habits that trip a log up: a reader that takes the step's
name from the line directly above ``real time`` and stops where the indentation changes or the
file ends; one that splits each indented line at a run of blanks; one of strict whole-line patterns.
"""

from __future__ import annotations

import re

import pytest

from mawl.importers.formats.saslog_write import job_log
from mawl.records.model.records import JobRecord, StepRecord
from tests.fakes.stored_run import job, steps

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
    for row, usage in zip(rows, usages, strict=True):
        assert seconds(row["real time"]) == pytest.approx(usage.real_time_seconds, abs=0.006)
        assert seconds(row["user cpu time"]) == pytest.approx(usage.user_cpu_seconds, abs=0.006)
        assert seconds(row["system cpu time"]) == pytest.approx(usage.system_cpu_seconds, abs=0.006)
        assert usage.os_memory_bytes is not None
        assert float(row["OS Memory"].removesuffix("k")) == usage.os_memory_bytes / 1024
        assert int(row["Page Reclaims"]) == usage.page_reclaims
        assert int(row["Block Output Operations"]) == usage.block_output_operations
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
