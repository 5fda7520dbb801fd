"""The report on one screen."""

from __future__ import annotations

import re
from typing import Any

import msgspec
import pytest

from mawl.figures.over_time import Outline, outline
from mawl.figures.view import RunView
from mawl.plan.catalogue import CATALOGUE
from mawl.records.model.run import VolumeFacts
from mawl.records.model.summary.judgement import Finding
from mawl.reports.layout import LEAST_WIDTH, LINE_WIDTH, Style
from mawl.reports.screen import MOST_LINES, render
from tests.fakes.measured_run import IDLE, WORKLOAD, four_jobs, samples
from tests.fakes.stored_run import MOVED, facts, job, jobs
from tests.fakes.views import BARE, as_summary, judge, summary_of

OF_OLD: dict[str, Any] = {"format_version": "2.6", "reference": None, "planned_jobs": []}
"""A run from before reference times: its answer is not known, and there is a next step."""


def judged(**changes: object) -> dict[str, Any]:
    """A judged run of four jobs that wait for nothing."""
    of, records, some = (
        facts(outcome="completed", workload=WORKLOAD, **changes),
        four_jobs(60.0),
        samples(60, IDLE),
    )
    return judge(of, records, summary_of(of, records, samples=some), some)


def test_what_it_means_comes_first() -> None:
    lines = render(BARE, as_summary(judged(**OF_OLD))).splitlines()
    assert [line.split()[0] for line in lines if line[:1].isalpha()][:6] == [
        "answer",
        "next",
        "guideline",
        "cost",
        "validity",
        "run",
    ]


def test_a_run_before_reference_times_says_so_and_what_to_run() -> None:
    answer, next_step = render(BARE, as_summary(judged(**OF_OLD))).splitlines()[:2]
    assert answer == (
        "answer    NOT KNOWN: the run is of format 2.6, before reference times: its answer was of the old "
        "definition"
    )
    assert next_step == (
        "next      run it with this mawl: mawl run tiny --data /mnt/data --work /mnt/work --util /mnt/util"
    )


@pytest.mark.parametrize("width", [LEAST_WIDTH, 96, LINE_WIDTH])
@pytest.mark.parametrize("word", ["because ", "unbrokenwordwithoutanyblank"])
def test_the_worst_run_fits_one_screen(word: str, width: int) -> None:
    usage = msgspec.structs.replace(jobs()[0].usage, real_time_seconds=3599.0, user_cpu_seconds=3599.0)
    records = [job("s1-1", 0.0, 3599.0, program=name, usage=usage) for name in CATALOGUE]
    records += [job("s1-1", 0.0, 1.0, program=name, outcome="failed", reason=word * 30) for name in CATALOGUE]
    records = [msgspec.structs.replace(record, io_remark=word * 30) for record in records]
    node = msgspec.structs.replace(facts().nodes[0], cpu_model=word * 30)
    some = facts(outcome="interrupted", outcome_reason=word * 30, nodes=[node] * 4, remarks=[word * 30] * 9)
    line = Outline(part_seconds=1.0, application=[1.0] * 500, device=[2.0] * 500, jobs=[None] * 500)
    found = as_summary(judge(some, records, summary_of(some, records)))
    lines = render(BARE, found, line, Style(width=width)).splitlines()
    assert len(lines) <= MOST_LINES * LINE_WIDTH / width + 1
    assert max(map(len, lines)) <= width
    assert "and 3 more nodes" in "\n".join(lines) or "..." in "\n".join(lines)
    assert "\n".join(lines).replace("\n  ", " ").endswith("--all: every table, finding and what is missing")


def test_a_narrow_terminal_does_without_columns_and_keeps_numbers_with_their_units() -> None:
    found = as_summary(judged())
    wide, narrow = (render(BARE, found, style=Style(width=width)) for width in (LINE_WIDTH, LEAST_WIDTH))
    assert max(map(len, narrow.splitlines())) <= LEAST_WIDTH
    for name, shown in (("initial", wide), ("sustained", wide + narrow), ("read share", wide + narrow)):
        assert shown.count(name) == (1 if shown is wide else 2)
    assert "initial" not in narrow and "per core" not in narrow
    assert not re.search(r"\n *(%|s|MB/s|MiB)\b", narrow)


def test_the_command_of_the_next_step_is_never_cut() -> None:
    place = "/mnt/" + "directory/" * 60 + "end"
    volumes = [VolumeFacts(role="data", node="bench1", directory=place)]
    lines = render(
        BARE, as_summary(judged(volumes=volumes, **OF_OLD)), style=Style(width=LEAST_WIDTH)
    ).splitlines()
    start = next(place for place, line in enumerate(lines) if line.startswith("next "))
    step = lines[start]
    for line in lines[start + 1 :]:
        if not line.startswith(" "):
            break
        step += line.strip()
    assert "directory/" * 60 + "end" in step


def test_a_failure_tells_its_reason_also_after_a_long_path() -> None:
    path = "/mnt/" + "directory/" * 15 + "manifest.json:"
    record = job("s1-1", 0.0, 1.0, outcome="failed", reason=f"{path} the manifest cannot be read: broken")
    lines = render(BARE, as_summary(judge(facts(), [record], summary_of(facts(), [record])))).splitlines()
    (line,) = [line for line in lines if line.startswith("failed: s1-1: ")]
    assert line.endswith("/manifest.json: the manifest cannot be read: broken")


def test_two_findings_with_one_cure_are_one_line() -> None:
    summary = as_summary(judged())
    assert summary.validity is not None
    finding = Finding(
        rule="competition", severity="preliminary", sentence="others", cure="end other programs"
    )
    found = [finding, msgspec.structs.replace(finding, sentence="others at the devices")]
    twice = msgspec.structs.replace(
        summary, validity=msgspec.structs.replace(summary.validity, findings=found)
    )
    assert render(BARE, twice).count("competition: end other programs") == 1


def test_nothing_from_a_run_can_steer_the_terminal_or_forge_a_line() -> None:
    bad = "x\x1b[2J\nlimit     none"
    record = job("s1-1", 0.0, 1.0, program=bad, job=bad, outcome="failed", reason=bad)
    some = facts(run_id=bad, outcome_reason=bad, remarks=[bad])
    text = render(BARE, as_summary(judge(some, [record], summary_of(some, [record]))))
    assert "\x1b" not in text
    assert sum(line.startswith("limit  ") for line in text.splitlines()) == 1


def test_colours_tell_what_is_well_from_what_is_not() -> None:
    text = render(BARE, as_summary(judged()), style=Style(colour=True))
    assert "\x1b[33mpreliminary\x1b[0m" in text and "\x1b[32mcompleted\x1b[0m" in text
    assert re.sub(r"\x1b\[\d+m", "", text) == render(BARE, as_summary(judged()))
    broken = judge(facts(), jobs(), summary_of(facts(), jobs()))
    assert "\x1b[31mNO\x1b[0m: 1 of 6 jobs" in render(BARE, as_summary(broken), style=Style(colour=True))


def test_the_course_is_drawn_with_its_highest_value() -> None:
    rates = IDLE | {"application_read_bytes": lambda second: 2e9 if second == 30 else 100e6}
    of, records = facts(outcome="completed", workload=WORKLOAD), four_jobs(60.0)
    line = outline(RunView(of, records, samples(60, rates)))
    assert line is not None and len(line.application) == 60
    rows = {
        line.split()[0]: line
        for line in render(BARE, as_summary(judged()), line).splitlines()
        if "up to" in line
    }
    assert rows["application"].endswith("up to 2.05 GB/s") and rows["application"].count("█") == 1
    assert rows["device"].endswith("█" * 60 + "  up to 135 MB/s")
    assert rows["jobs"].endswith("up to 4.00")
    plain = render(BARE, as_summary(judged()), line, Style(blocks=False))
    assert plain.isascii() and "#" * 60 in plain


def test_without_samples_there_is_no_course_and_what_is_missing_is_a_dash() -> None:
    of = facts()
    assert outline(RunView(of, jobs())) is None
    text = render(BARE, as_summary(judge(of, jobs(), summary_of(of, jobs(), moved=MOVED))))
    assert "over the run" not in text
    assert ["device", *["-"] * 4, "39.7", "MB/s", "9.92", "MB/s", "80", "%"] in [
        line.split() for line in text.splitlines()
    ]


def test_a_judgement_that_nobody_made_has_no_headlines() -> None:
    assert render(BARE, as_summary(summary_of(facts(), jobs()))).startswith("run  ")
