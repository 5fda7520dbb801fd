"""Reading performance notes: our own back, and the plain 9.x layout."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mawl.base.units import parse_instant
from mawl.importers.formats import saslog
from mawl.importers.formats.saslog import read_notes
from mawl.importers.formats.saslog_block import OpenBlock
from mawl.importers.formats.saslog_write import job_log
from mawl.records.model.records import StepRecord, Usage
from tests.fakes.stored_run import START, job

SECONDS = st.none() | st.floats(0.0, 1e6)
SIZES = st.none() | st.integers(0, 2**50)
COUNTS = st.none() | st.integers(0, 2**48)
IN_LOG = (
    "memory_bytes",
    "os_memory_bytes",
    "page_faults",
    "page_reclaims",
    "page_swaps",
    "voluntary_context_switches",
    "involuntary_context_switches",
    "block_input_operations",
    "block_output_operations",
)
USAGES = st.builds(
    Usage,
    real_time_seconds=st.floats(0.0, 1e6),
    user_cpu_seconds=SECONDS,
    system_cpu_seconds=SECONDS,
    **{name: SIZES if name.endswith("bytes") else COUNTS for name in IN_LOG},
)
STEPS = st.builds(
    StepRecord,
    job=st.just("j"),
    number=st.integers(1, 10**6),
    name=st.text(st.characters(codec="ascii", categories=("L", "N")), min_size=1, max_size=30),
    kind=st.sampled_from(["data", "procedure"]),
    started_at=st.just(START),
    ended_at=st.integers(0, 4 * 10**9).map(float),
    usage=USAGES,
    rows_read=st.none() | st.integers(0, 2**48),
    rows_written=st.none() | st.integers(0, 2**48),
)


def assert_rounded(found: Usage, written: Usage) -> None:
    """Times to the hundredth, memory to the hundredth of a k, counts exactly, missing stays so."""
    for name in ("real_time_seconds", "user_cpu_seconds", "system_cpu_seconds", *IN_LOG):
        one, other = getattr(found, name), getattr(written, name)
        if other is None:
            assert one is None, name
        else:
            tolerance = 0.0051 if name.endswith("seconds") else 6 if name.endswith("bytes") else 0
            assert abs(one - other) <= tolerance, name


@settings(max_examples=150)
@given(st.lists(STEPS, max_size=4, unique_by=lambda step: step.number), USAGES)
def test_what_was_written_reads_back(steps: list[StepRecord], own: Usage) -> None:
    record = job("s1-1", 0.0, 20.5, usage=own, steps=len(steps))
    notes = list(read_notes(job_log(record, steps).splitlines(keepends=True)))
    assert len(notes) == len(steps) + 1
    for note, step in zip(notes, steps, strict=False):
        assert_rounded(note.usage, step.usage)
        assert note.kind == step.kind
        assert note.name == (step.name.upper() if step.kind == "procedure" else None)
        assert note.ended_at == step.ended_at
        assert (note.rows_read, note.rows_written) == (step.rows_read, step.rows_written)
        switches = (step.usage.voluntary_context_switches, step.usage.involuntary_context_switches)
        if None not in switches:
            assert (note.step_count, note.switch_count) == (step.number, sum(filter(None, switches)))
    assert notes[-1].kind == "session"
    assert_rounded(notes[-1].usage, own)


STUDIO = """\
 NOTE: There were 12 observations read from the data set WORK.A.
 NOTE: There were 30 observations read from the data set WORK.B.
 NOTE: DATA statement used (Total process time):
       real time           1:02.24
       user cpu time       0.03 seconds
       system cpu time     1.01 seconds
       memory              677.15k
       OS Memory           5412.00k
       Timestamp           11/20/2026 08:15:00 PM
       Step Count                        24  Switch Count  2
       Page Faults                       0
       Page Reclaims                     5000000000
"""


def test_a_log_indented_by_one_blank() -> None:
    (note,) = read_notes(STUDIO.splitlines())
    assert note.kind == "data"
    assert note.line == 3
    assert note.rows_read == 42
    assert note.usage == Usage(
        real_time_seconds=62.24,
        user_cpu_seconds=0.03,
        system_cpu_seconds=1.01,
        memory_bytes=693402,
        os_memory_bytes=5412 * 1024,
        page_faults=0,
        page_reclaims=5_000_000_000,
    )
    assert note.ended_at == parse_instant("2026-11-20T20:15:00Z")
    assert (note.step_count, note.switch_count) == (24, 2)


SPLIT = (
    "NOTE: PROCEDURE MEANS used (Total process time):\r\n"
    "\f2                         The SAS System               10:00 Friday, November 20, 2026\r\n"
    "\r\n"
    "      real time           9:28:12.90\r\n"
    "MPRINT(LOAD):   run;\r\n"
    "      cpu time            41.20 seconds\r\n"
    "      \r\n"
    "NOTE: SAS threaded sort was used.\r\n"
    "NOTE: View WORK.V.VIEW used (Total process time):\r\n"
    "      real time           0.50 seconds\r\n"
    "NOTE: SAS initialization used:\r\n"
    "      real time           0.10 seconds\r\n"
    "NOTE: DATA statement used (Total process time):\r\n"
)


@pytest.mark.parametrize(
    ("line", "figures"),
    [
        ("memory              677.15k", {"memory_bytes": 693402}),
        ("Block Input Operations            7", {"block_input_operations": 7}),
        ("Page Faults                       7", {"page_faults": 7}),
    ],
)
def test_a_note_with_the_first_of_two_figures_that_stand_together(line: str, figures: dict[str, int]) -> None:
    """As SAS 8.2 gives no OS Memory."""
    text = f"NOTE: DATA statement used:\n      real time           1.00 seconds\n      {line}\n      \n\n"
    (note,) = read_notes(text.splitlines())
    assert note.usage == Usage(real_time_seconds=1.0, **figures)


SQL_STATEMENTS = """\
4    proc sql stimer ;
NOTE: SQL Statement used:
      real time           0.00 seconds
      cpu time            0.01 seconds

5       select us.name, us.population from sql.unitedstates as us;
NOTE: The execution of this query involves performing one or more Cartesian
      product joins that can not be optimized.

NOTE: There were 57 observations read from the data set SQL.UNITEDSTATES.
NOTE: SQL Statement used (Total process time):
      real time           0.10 seconds
      cpu time            0.05 seconds

6    quit;
NOTE: PROCEDURE SQL used (Total process time):
      real time           0.02 seconds
      cpu time            0.00 seconds

"""


def test_each_statement_of_proc_sql_with_stimer_is_a_step() -> None:
    notes = list(read_notes(SQL_STATEMENTS.splitlines()))
    assert [(note.kind, note.name, note.usage.real_time_seconds, note.rows_read) for note in notes] == [
        ("procedure", "SQL", 0.0, None),
        ("procedure", "SQL", 0.1, 57),
        ("procedure", "SQL", 0.02, None),
    ]


def test_page_headers_and_echo_inside_a_block_and_a_log_cut_off() -> None:
    notes = list(read_notes(SPLIT.split("\n")))
    assert [(note.kind, note.name) for note in notes] == [
        ("procedure", "MEANS"),
        ("view", "WORK.V.VIEW"),
        ("initialization", None),
    ]
    assert notes[0].usage == Usage(real_time_seconds=9 * 3600 + 28 * 60 + 12.9, unsplit_cpu_seconds=41.2)


def test_what_only_looks_like_a_block_is_none() -> None:
    lines = [
        "NOTE: Action 'sessionProp.x' used (Total process time):",
        "      real time           0.001 seconds",
        "NOTE: Host sort was used.",
        "NOTE: Procedure sql step took :",
        "      real time : 0.010",
        "      memory              677.15k",
    ]
    assert list(read_notes(lines)) == []


@given(st.lists(st.sampled_from([*SPLIT.splitlines(), *STUDIO.splitlines()]) | st.text(), max_size=40))
def test_any_text_is_read_without_an_error(lines: list[str]) -> None:
    for note in read_notes(lines):
        assert msgspec.structs.asdict(note.usage)


def test_notes_without_source_between_them_are_read_whole_again_after_one_that_is_split(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Logs of ``options nosource``: only the note that a page header splits is taken line by line."""
    opened: list[int] = []

    class Counted(OpenBlock):
        def __init__(self, line: int, *rest: Any) -> None:
            opened.append(line)
            super().__init__(line, *rest)

    monkeypatch.setattr(saslog, "OpenBlock", Counted)
    note = """\
NOTE: There were 7 observations read from the data set A.B.
NOTE: PROCEDURE SORT used (Total process time):
      real time           1.00 seconds
      cpu time            0.50 seconds
      \n
"""
    split = note.replace("      cpu", "\f2   A title\n\n\f3   Another\n\n      cpu")
    notes = list(read_notes((note + split + note * 100).split("\n")))
    assert opened == [8]
    assert [found.rows_read for found in notes] == [7] * 102
    assert {found.usage for found in notes} == {Usage(real_time_seconds=1.0, unsplit_cpu_seconds=0.5)}


def test_absurd_figures_are_left_out() -> None:
    heading = "NOTE: DATA statement used (Total process time):"
    lines = ["      real time           1.00 seconds", "      memory              " + "9" * 400 + "k"]
    (note,) = read_notes(
        [heading, *lines, "      Page Faults    " + "9" * 5000, "      Timestamp  99/99/2026 01:00:00 AM"]
    )
    assert note.usage == Usage(real_time_seconds=1.0)
    assert note.ended_at is None


ONE_LINE = """\
NOTE: The infile X is:
      Dsname=A.B
NOTE: 45 records were read from the infile X.
NOTE: The view LIB.V.VIEW used 0.02 CPU seconds and 2066K.
NOTE: The PROCEDURE PRINT used 0.01 CPU seconds and 2066K.
NOTE: The data set WORK.A has 7 observations and 1 variables.
NOTE: The DATA statement used 0.93 seconds.
NOTE: The PROCEDURE SORT used 12.5 seconds.
"""


def test_notes_of_one_line_with_their_times() -> None:
    """z/OS gives CPU time, releases 6 and 8 on Windows the real time."""
    found = list(read_notes(ONE_LINE.splitlines()))
    assert [
        (note.kind, note.name, note.usage.real_time_seconds, note.usage.cpu_seconds, note.rows_written)
        for note in found
    ] == [
        ("view", "LIB.V.VIEW", None, 0.02, None),
        ("procedure", "PRINT", None, 0.01, None),
        ("data", None, 0.93, None, 7),
        ("procedure", "SORT", 12.5, None, None),
    ]


@pytest.mark.parametrize("head", [" " * 60 + "The SAS System", " " * 40 + "Nightly load of orders"])
def test_the_head_of_a_page_without_number_and_date_splits_no_note(head: str) -> None:
    text = (
        "NOTE: PROCEDURE DATASETS used (Total process time):\n      real time           0.02 seconds\n"
        f"{head}\n\n      cpu time            0.03 seconds\n\n"
    )
    [note] = read_notes(text.splitlines())
    assert (note.usage.real_time_seconds, note.usage.cpu_seconds) == (0.02, 0.03)
