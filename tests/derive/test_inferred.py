"""Bytes by role of single steps: what block operations, rows and sizes of tables tell together."""

from __future__ import annotations

import msgspec
import pytest

from mawl.derive.step_bytes import Inference, Loads, device_share
from mawl.derive.steps import StepFigures, kernel_of
from mawl.derive.tables import Libraries, Ranged
from mawl.records.model.records import TableNote
from mawl.records.spec.program_options import ROLES

MB = 10**6
NOTHING = StepFigures(
    number=1,
    procedure="DATA",
    real_seconds=10.0,
    cpu_seconds=1.0,
    split=True,
    memory_bytes=MB,
    read_bytes=None,
    written_bytes=None,
    blocks=None,
    rows_read=None,
    rows_written=None,
    tables=(),
    remote_tables=0,
    tables_left_out=0,
    sort=None,
    indexes_used=0,
    io=None,
)


def read(name: str, rows: int = 1000, **more: bool) -> TableNote:
    return TableNote(direction="read", name=name, rows=rows, **more)


def wrote(name: str, rows: int = 1000, variables: int = 10) -> TableNote:
    return TableNote(direction="written", name=name, rows=rows, variables=variables)


def told(**more: object) -> StepFigures:
    fields = {name: getattr(NOTHING, name) for name in StepFigures.__struct_fields__}
    return StepFigures(**{**fields, **more})


def loads(*steps: StepFigures, reads_told: bool = True) -> Loads:
    """Those of the last step."""
    libraries = Libraries()
    libraries.learn(table for step in steps for table in step.tables)
    inference = Inference(libraries, reads_told=reads_told)
    return [inference.loads(step, "job") for step in steps][-1]


def values(parts: dict[str, Ranged]) -> dict[str, float]:
    """Without roles that a note leaves open, whose value is 0."""
    return {role: round(part.value) for role, part in parts.items() if part.value}


def test_rows_times_variables_times_8_where_no_blocks_are_told() -> None:
    found = loads(told(tables=(wrote("WORK.A"),)), told(tables=(read("WORK.A"), wrote("BANK.B", 500, 4))))
    assert values(found.read) == {"work": 80_000}  # type: ignore[arg-type]
    assert values(found.written) == {"data": 16_000}  # type: ignore[arg-type]
    assert found.read["work"].origin == "inferred"
    assert found.read["work"].low < 80_000 < found.read["work"].high


def test_a_table_whose_variables_no_note_tells_is_assumed_with_a_wide_range() -> None:
    part = loads(told(tables=(read("BANK.A"),))).read["data"]
    assert (part.origin, part.value, part.low, part.high) == ("assumed", 160_000, 16_000, 1_600_000)


def test_blocks_are_shared_out_by_the_sizes_of_tables() -> None:
    both = (wrote("WORK.A", 1000, 10), wrote("BANK.B", 1000, 30))
    found = loads(told(tables=both, written_bytes=4 * MB))
    assert values(found.written) == {"work": MB, "data": 3 * MB}  # type: ignore[arg-type]
    assert found.written["work"].low < MB < found.written["work"].high


def test_a_width_that_writing_told_makes_reading_known_whatever_memory_serves() -> None:
    writing = told(tables=(wrote("WORK.A"),), written_bytes=MB)
    cached = told(tables=(read("WORK.A", 500),), read_bytes=0)
    found = loads(writing, cached, reads_told=False)
    assert values(found.read) == {"work": MB // 2}  # type: ignore[arg-type]
    assert found.read["work"].rule == "blocks-cached"


def test_the_share_of_reads_that_devices_served_is_that_of_the_median_byte() -> None:
    writing = told(tables=(wrote("WORK.A"),), written_bytes=MB)
    whole = told(tables=(read("WORK.A"),), read_bytes=MB)
    none = told(tables=(read("WORK.A"),), read_bytes=0)
    libraries = Libraries()
    assert device_share([(step, "job") for step in (writing, whole, whole, none)], libraries) == 1.0
    assert device_share([(step, "job") for step in (writing, whole, none, none)], libraries) == 0.0
    assert device_share([(whole, "job")], libraries) is None


def test_a_sort_beyond_its_memory_goes_through_util_and_one_within_does_not() -> None:
    notes = (read("WORK.A", 10**6), wrote("WORK.B", 10**6, 10))
    writing = told(tables=(wrote("WORK.A", 10**6, 10),), written_bytes=80 * MB)
    spilling = told(procedure="SORT", tables=notes, read_bytes=160 * MB, written_bytes=160 * MB)
    found = loads(writing, spilling)
    assert values(found.read) == {"work": 80 * MB, "util": 80 * MB}  # type: ignore[arg-type]
    fitting = told(
        procedure="SORT", tables=notes, read_bytes=80 * MB, written_bytes=80 * MB, memory_bytes=200 * MB
    )
    assert set(loads(writing, fitting).read) == {"work"}


@pytest.mark.parametrize("sort", ["sorted", "source"])
def test_a_sort_that_did_not_sort_has_no_util(sort: str) -> None:
    notes = (read("BANK.A", 10**7), wrote("BANK.B", 10**7, 10))
    assert "util" not in loads(told(procedure="SORT", tables=notes, sort=sort)).read


def test_no_block_operation_of_a_large_table_means_that_nobody_counts_them() -> None:
    found = loads(told(tables=(wrote("BANK.A", 10**6, 10),), written_bytes=0))
    assert found.written["data"].rule == "variables"
    assert loads(told(tables=(wrote("BANK.A", 10, 10),), written_bytes=0)).written["data"].value == 0


def test_a_step_without_notes_reads_what_its_job_wrote_last() -> None:
    step = told(procedure="MEANS", read_bytes=MB)
    assert set(values(loads(step).read)) == {"data"}  # type: ignore[arg-type]
    after = loads(told(tables=(wrote("WORK.A"),), written_bytes=MB), step)
    assert set(values(after.read)) == {"work"}  # type: ignore[arg-type]
    assert loads(step).read["data"].origin == "assumed"


def test_a_procedure_that_reads_takes_the_last_table_where_nothing_tells_its_bytes() -> None:
    writing = told(tables=(wrote("WORK.A"),), written_bytes=MB)
    for cached in (told(procedure="MEANS", read_bytes=0), told(procedure="SQL")):
        part = loads(writing, cached, reads_told=False).read["work"]
        assert (part.value, part.low, part.high, part.rule) == (MB, 0.0, 1e10, "last-table")
    assert loads(writing, told(procedure="OPTIONS"), reads_told=False).read["data"].value == 0


def test_tables_of_a_database_are_no_bytes_of_this_host_and_no_reason_to_read_another() -> None:
    writing = told(tables=(wrote("WORK.A"),), written_bytes=MB)
    found = loads(writing, told(procedure="MEANS", remote_tables=1), reads_told=False)
    assert (found.read, found.written) == ({}, {})


def test_a_query_joins_unless_its_notes_name_one_table() -> None:
    one = told(procedure="SQL", tables=(read("WORK.A"), wrote("WORK.B")))
    assert kernel_of(one, MB, MB) == ("scan", "query")
    assert kernel_of(told(procedure="SQL", tables=(wrote("WORK.B"),)), MB, MB) == ("join", "query")


def test_a_procedure_that_mawl_does_not_know_computes_where_its_cpu_time_says_so() -> None:
    assert kernel_of(told(procedure="OWN", cpu_seconds=61.0), 1e9, 0)[0] == "dense"
    assert kernel_of(told(procedure="OWN", cpu_seconds=59.0), 1e9, 0)[0] == "scan"


def test_a_step_of_which_only_the_time_is_told_has_a_range_and_no_bytes() -> None:
    part = loads(told()).read["data"]
    assert (part.value, part.low, part.origin) == (0.0, 0.0, "assumed")
    assert part.high == 1e10


def test_pages_of_compressed_tables_and_sizes_of_files_count() -> None:
    packed = TableNote(
        direction="written", name="BANK.A", rows=1000, variables=10, pages=3, uncompressed_pages=10
    )
    file = TableNote(direction="read", external=True, rows=9, file_bytes=12_345)
    records = TableNote(
        direction="read", external=True, rows=10, shortest_record_bytes=80, longest_record_bytes=100
    )
    assert loads(told(tables=(packed,))).written["data"].value == pytest.approx(24_000)
    assert loads(told(tables=(file,))).read["data"].value == 12_345
    part = loads(told(tables=(records,))).read["data"]
    assert (part.low, part.value, part.high) == (800, 910, 1020)


def test_tables_of_two_jobs_with_one_name_in_work_are_two() -> None:
    inference = Inference(Libraries(), reads_told=True)
    inference.loads(told(tables=(wrote("WORK.A"),), written_bytes=MB), "one")
    found = inference.loads(told(tables=(read("WORK.A"),)), "two")
    assert found.read["work"].rule == "rows-only"


def test_librefs_have_the_roles_that_the_user_gives() -> None:
    import re

    libraries = Libraries({"work": [re.compile("SCRATCH[0-9]")]})
    names = ("SCRATCH1.A", "SCRATCHY.A", "UTIL.A", "A", "WORK.A", "BANK.A")
    assert [libraries.role_of(read(name)) for name in names] == [
        "work", "data", "util", "work", "work", "data"
    ]  # fmt: skip


def ends(part: Ranged) -> tuple[float, float]:
    return megabytes((part.low, part.high))


def megabytes(ends: tuple[float, float]) -> tuple[float, float]:
    return round(ends[0] / MB, 2), round(ends[1] / MB, 2)


def test_bytes_of_no_table_can_be_of_any_role_and_their_sum_is_told() -> None:
    found = loads(told(procedure="OPTIONS", read_bytes=0, written_bytes=100 * MB))
    assert [ends(found.written[role]) for role in ROLES] == [(0.0, 115.0)] * 3
    assert megabytes(found.written_range) == (85.0, 115.0)
    assert found.written["util"].rule == "any-role"


def test_a_procedure_that_may_spill_leaves_open_what_its_table_need_not_be() -> None:
    """The table has 32 to 320 MB; the 100 MB can be 32 MB of it and 83 MB of utility files."""
    notes = (read("BANK.A", 10**6), wrote("WORK.B", 10**6, 10))
    joins = loads(told(procedure="SQL", tables=notes, written_bytes=100 * MB))
    assert (ends(joins.written["work"]), ends(joins.written["util"])) == ((32.0, 115.0), (0.0, 83.0))
    assert megabytes(joins.written_range) == (85.0, 115.0)
    copies = loads(told(procedure="DATA", tables=notes, written_bytes=100 * MB))
    assert "util" not in copies.written
    named = (*notes, read("UTIL.PARTS", 10**6))
    assert "util" not in loads(told(procedure="SQL", tables=named, written_bytes=100 * MB)).written


def test_without_block_operations_utility_files_are_at_most_what_is_read() -> None:
    notes = (read("WORK.A", 10**6), wrote("WORK.B", 10**6, 10))
    writing = told(tables=(wrote("WORK.A", 10**6, 10),))
    found = loads(writing, told(procedure="SORT", tables=notes, memory_bytes=None))
    assert ends(found.written["util"]) == ends(found.read["util"]) == (0.0, 320.0)
    assert megabytes(found.written_range) == (32.0, 640.0)
    within = told(procedure="SORT", tables=notes, memory_bytes=400 * MB)
    assert "util" not in loads(writing, within).written


def test_more_than_the_largest_tables_can_be_of_any_role() -> None:
    found = loads(told(tables=(wrote("WORK.A", 10**6, 10),), written_bytes=1000 * MB))
    assert values(found.written) == {"work": 1000 * MB}  # type: ignore[arg-type]
    assert (ends(found.written["work"]), ends(found.written["data"])) == ((32.0, 1150.0), (0.0, 1118.0))


def test_what_a_join_spilled_is_read_back() -> None:
    notes = (wrote("WORK.B", 10**5, 10),)
    found = loads(told(procedure="SQL", tables=notes, read_bytes=130 * MB, written_bytes=58 * MB))
    assert values(found.written) == {"work": 8 * MB, "util": 50 * MB}  # type: ignore[arg-type]
    assert values(found.read) == {"data": 80 * MB, "util": 50 * MB}  # type: ignore[arg-type]
    served = told(procedure="SQL", tables=notes, read_bytes=0, written_bytes=58 * MB)
    assert values(loads(served, reads_told=False).read) == {"util": 50 * MB}  # type: ignore[arg-type]


def test_a_sort_that_spills_reads_a_table_as_large_as_what_it_spills() -> None:
    notes = (read("BANK.A", 10**5), wrote("WORK.B", 10**5, 80))
    found = loads(told(procedure="SORT", tables=notes, read_bytes=128 * MB, written_bytes=128 * MB))
    assert values(found.read) == {"data": 64 * MB, "util": 64 * MB}  # type: ignore[arg-type]


def test_a_width_that_may_be_of_utility_files_too_has_a_wider_range_and_shows_no_share_of_reads() -> None:
    joins = told(procedure="SQL", tables=(read("BANK.A", 10**6), wrote("WORK.B", 10**6, 10)))
    joins = msgspec.structs.replace(joins, written_bytes=100 * MB)
    reads = told(tables=(read("WORK.B", 10**6),))
    part = loads(joins, reads).read["work"]
    assert (part.value, ends(part), part.rule) == (100 * MB, (32.0, 125.0), "written-at-most")
    reads = msgspec.structs.replace(reads, read_bytes=50 * MB)
    assert device_share([(step, "job") for step in (joins, reads)], Libraries()) is None


def test_the_files_of_a_command_have_the_roles_and_shares_that_its_log_tells() -> None:
    files = (
        TableNote(direction="written", name="WORK.TOOL", file_bytes=30 * MB),
        TableNote(direction="written", name="UTIL.TOOL", file_bytes=10 * MB),
    )
    # Pages that are written twice make more block operations than bytes.
    for blocks in (None, 44 * MB, 60 * MB):
        found = loads(told(procedure="COMMAND", tables=files, written_bytes=blocks))
        assert values(found.written) == {"work": 30 * MB, "util": 10 * MB}  # type: ignore[arg-type]
        assert megabytes(found.written_range) == (40.0, 40.0) and found.read == {}


def test_a_size_whose_multiple_is_no_float_has_a_range_around_its_value() -> None:
    file = TableNote(direction="read", external=True, file_bytes=3_581_938_456_487_467)
    part = loads(told(procedure="SORT", tables=(file,), memory_bytes=None)).read["data"].times(6)
    assert part.low <= part.value <= part.high


WHOLE = wrote("BIG.ALL", 10_000_000, 10)
PASSED = read("BIG.ALL", 10, filtered=True)


@pytest.mark.parametrize("procedure", ["DATA", "SORT"])
def test_a_step_with_a_where_reads_the_table_and_spills_nothing(procedure: str) -> None:
    step = told(procedure=procedure, tables=(PASSED, wrote("WORK.FEW", 10)))
    found = loads(told(tables=(WHOLE,)), step)
    assert values(found.read) == {"data": 800 * MB}  # type: ignore[arg-type]
    assert found.read["data"].low < 1000 and found.read["data"].rule == "where-whole"
    counted = loads(told(tables=(WHOLE,)), msgspec.structs.replace(step, read_bytes=600 * MB))
    assert counted.read["data"].value == pytest.approx(600 * MB, rel=1e-4)


def test_an_index_can_have_found_the_rows_alone() -> None:
    found = loads(told(tables=(WHOLE,)), told(tables=(PASSED,), indexes_used=1))
    assert found.read["data"].value == 800 and found.read["data"].high >= 800 * MB


def test_the_size_of_a_table_that_a_later_step_reads_whole_is_known_before() -> None:
    libraries = Libraries()
    libraries.learn((PASSED, read("BIG.ALL", 10_000_000)))
    part = Inference(libraries, reads_told=False).loads(told(tables=(PASSED,)), "job").read["data"]
    assert (part.value, part.rule) == (1600 * MB, "where-whole")


def test_of_a_table_of_unknown_size_a_where_leaves_open_what_time_and_blocks_allow() -> None:
    part = loads(told(tables=(PASSED,))).read["data"]
    assert (part.value, part.high, part.rule) == (1600, 10 * 1000 * MB, "where-open")
    other = (wrote("WORK.B", 1000), PASSED, read("WORK.B", 1000))
    parts = loads(told(tables=other[:1]), told(tables=other[1:], read_bytes=900 * MB)).read
    assert values(parts) == {"data": 900 * MB - 80_000, "work": 80_000}  # type: ignore[arg-type]


def test_fewer_rows_than_the_table_has_are_what_is_read_at_least() -> None:
    part = loads(told(tables=(WHOLE,)), told(tables=(read("BIG.ALL", 10),))).read["data"]
    assert (part.value, part.high >= 800 * MB, part.rule) == (800, True, "part-of-table")
    replaced = (wrote("BIG.ALL", 20_000_000, 10), WHOLE, read("BIG.ALL", 10_000_000))
    assert loads(*(told(tables=(table,)) for table in replaced)).read["data"].rule == "variables"
