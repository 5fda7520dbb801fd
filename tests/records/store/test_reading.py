"""Finding a run, and refusing with a sentence what is none."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

import mawl
from mawl.base.errors import UnreadableRunError, UsageError
from mawl.records.store import open_run
from mawl.records.store.files import FORMAT_VERSION, MOST_ROWS, major
from tests.fakes.stored_run import facts, jobs, write_run


@pytest.fixture
def finished(tmp_path: Path) -> Path:
    """The folder of a finished run."""
    folder = tmp_path / "runs" / "one"
    folder.parent.mkdir()
    write_run(folder, runs=folder.parent).finish(facts())
    return folder


def change(folder: Path, old: str, new: str) -> None:
    """Replace text in run.json, which must be there."""
    path = folder / "run.json"
    assert re.search(old, path.read_text())
    path.write_text(re.sub(old, new, path.read_text(), count=1))


def test_a_run_is_a_folder_an_id_or_latest(finished: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = finished.parent
    for name in (finished, str(finished), "one", "latest"):
        assert open_run(name, runs).path == finished
    monkeypatch.chdir(runs.parent)
    assert mawl.open_run().path == finished
    assert mawl.open_run("one").jobs.num_rows == len(jobs())


def test_importing_mawl_does_not_import_arrow() -> None:
    code = "import sys, mawl; print('pyarrow' in sys.modules, callable(mawl.open_run))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False True\n"


def test_no_such_run_names_those_there_are(finished: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"other: no such run.*newest runs there: one$"):
        open_run("other", finished.parent)
    with pytest.raises(UsageError, match=r"there is no run here yet.*mawl run"):
        open_run("latest", tmp_path / "nowhere")


def test_an_empty_folder_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(UnreadableRunError, match=r"has no run\.json"):
        open_run(tmp_path)


def test_a_newer_minor_version_s_fields_are_ignored(finished: Path) -> None:
    change(finished, f'"{FORMAT_VERSION}"', '"2.99"')
    change(finished, r'"title"', '"colour": [1, {"deep": null}], "title"')
    change(finished, r'"cpucount"', '"turbo": true, "cpucount"')
    path = finished / "jobs.parquet"
    table = parquet.read_table(path)
    parquet.write_table(table.append_column("mood", pa.array(["good"] * table.num_rows)), path)
    run = open_run(finished)
    assert run.job_records() == jobs()
    assert "mood" not in run.jobs.schema.names


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            '"sessions": 4',
            '"sessions": "four"',
            r"run\.json: workload\.sessions: .*expected `int`, got `str`",
        ),
        ('"vCPU"', '"furlong"', r"run\.json: nodes\[0\]\.core_basis: .*invalid enum value 'furlong'"),
        (r'"started_at": "[^"]*"', '"started_at": "noon"', r"run\.json: started_at: .*got 'noon'"),
        (r'"started_at": "[^"]*"', '"started_at": 12', r"run\.json: started_at: .*got '12'"),
        (
            r'"started_at": "[^"]*"',
            '"started_at": "0001-01-01T00:00:00+14:00"',
            r"run\.json: started_at: .*got '0001",
        ),
        ('"run_id"', '"id"', r"run\.json: .*missing required field `run_id`"),
        (f'"{FORMAT_VERSION}"', '"one"', "has no format version.*found 'one'"),
        (f'"{FORMAT_VERSION}"', '"3.0"', r"written in format 3.0.*upgrade this one"),
        (f'"{FORMAT_VERSION}"', '"2.0"', r"format 2.0, which this mawl can no longer read"),
        ('"format_version"', '"version"', "has no format version.*found 'None'"),
        (r"^\{", "[", "is not JSON"),
    ],
)
def test_wrong_facts_are_refused_with_file_and_key(finished: Path, old: str, new: str, expected: str) -> None:
    change(finished, old, new)
    with pytest.raises(UnreadableRunError, match=expected):
        open_run(finished)


def test_facts_of_endless_depth_are_refused(finished: Path) -> None:
    (finished / "run.json").write_bytes(b"[" * 1_000_000)
    with pytest.raises(UnreadableRunError, match=r"is not JSON: .*; copy the run again"):
        open_run(finished)


def test_garbage_instead_of_a_table_is_a_sentence(finished: Path) -> None:
    (finished / "jobs.parquet").write_bytes(b"PAR1" + bytes(1000) + b"PAR1")
    with pytest.raises(UnreadableRunError, match=r"jobs\.parquet: is not a table of a run"):
        open_run(finished).job_records()


def test_samples_in_parts_are_counted_and_not_kept(finished: Path) -> None:
    run, other = open_run(finished), open_run(finished)
    parts = list(run.sample_parts())
    assert pa.concat_tables(parts) == other.samples
    assert list(other.sample_parts()) == [other.samples]
    assert run.rows("samples") == other.rows("samples") > 0
    assert "samples" not in vars(run)


def test_a_missing_table_is_a_sentence_when_it_is_asked_for(finished: Path) -> None:
    (finished / "samples.parquet").unlink()
    run = open_run(finished)
    assert run.steps.num_rows == 12
    with pytest.raises(UnreadableRunError, match=r"samples\.parquet: is missing.*copy the whole"):
        run.samples.num_rows  # noqa: B018


def replaced(folder: Path, column: str, values: pa.Array | None) -> None:
    """Put other values into a column of jobs.parquet, or take it away."""
    path = folder / "jobs.parquet"
    table = parquet.read_table(path)
    index = table.schema.get_field_index(column)
    table = table.remove_column(index)
    parquet.write_table(table if values is None else table.add_column(index, column, values), path)


def test_a_table_with_other_columns_is_refused_by_column(finished: Path) -> None:
    replaced(finished, "stage", pa.array(["first"] * 6))
    with pytest.raises(
        UnreadableRunError, match=r"jobs\.parquet: column stage: .*expected int64, found string"
    ):
        open_run(finished).job_records()
    replaced(finished, "stage", None)
    with pytest.raises(UnreadableRunError, match=r"column stage: is missing"):
        open_run(finished).job_records()


def test_a_column_that_must_be_filled_is_refused_with_gaps(finished: Path) -> None:
    replaced(finished, "node", pa.nulls(6, pa.string()))
    with pytest.raises(UnreadableRunError, match=r"column node: has rows without a value"):
        open_run(finished).job_records()


def test_a_column_that_may_be_missing_reads_as_null(finished: Path) -> None:
    replaced(finished, "page_swaps", None)
    assert [record.usage.page_swaps for record in open_run(finished).job_records()] == [None] * 6


def test_a_time_outside_the_calendar_is_refused(finished: Path) -> None:
    replaced(finished, "started_at", pa.array([2**62] * 6, pa.timestamp("us", tz="UTC")))
    with pytest.raises(UnreadableRunError, match=r"column started_at: holds times outside the years"):
        open_run(finished).job_records()


def test_a_value_outside_its_words_is_refused_by_row(finished: Path) -> None:
    replaced(
        finished, "outcome", pa.array(["finished", "finished", "fine", "finished", "finished", "finished"])
    )
    with pytest.raises(UnreadableRunError, match=r"row 3 of jobs.*fine"):
        open_run(finished).job_records()


def test_more_rows_than_a_run_has_are_refused_unread(finished: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(MOST_ROWS, "jobs", 5)
    with pytest.raises(
        UnreadableRunError, match=r"its 6 rows need .* of memory; mawl reads at most 5 rows, 128 MiB"
    ):
        open_run(finished).jobs.num_rows  # noqa: B018


@pytest.mark.parametrize(
    ("name", "said"), [("started_at", "histogram"), ("value", "holds lists of another kind")]
)
def test_columns_that_contradict_the_schema_end_no_process(finished: Path, name: str, said: str) -> None:
    path = finished / "jobs.parquet"
    # Thrift's compact form of "may be missing" and "is always there", before the column's name.
    optional, required = (bytes([0x25, kind, 0x18, len(name)]) + name.encode() for kind in (2, 0))
    content = path.read_bytes()
    assert optional in content
    path.write_bytes(content.replace(optional, required))
    imports = "from pathlib import Path; from mawl.records.store import open_run"
    reading = f"{imports}; open_run(Path({str(finished)!r}))"
    ended = subprocess.run(
        [sys.executable, "-c", f"{reading}.jobs"], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 1
    assert "UnreadableRunError" in ended.stderr
    assert said in ended.stderr


def test_rows_with_other_columns_than_the_schema_are_refused(finished: Path) -> None:
    path = finished / "jobs.parquet"
    content = path.read_bytes()
    start = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    # Thrift's compact form: version, the list of columns, and its root with the number of its children.
    found = re.match(rb"(....)([\x80-\xff]*.)(.*?schema\x15)([\x80-\xff]*.)\0", content[start:-8], re.DOTALL)
    assert found
    begin, columns, root, children = found.groups()
    extra = b"\x15\x04\x25\x02\x18\x05extra\0"
    root = begin + more(columns, 1) + root + more(children, 2) + b"\0"
    rest = content[start + found.end() : -8]
    order = re.compile(rb"\xfc([\x80-\xff]*.)(\x1c\0\0)(?=\x1c\0\0)", re.DOTALL)  # one for each column
    rest, orders = order.subn(lambda one: b"\xfc" + more(one[1], 1) + 2 * one[2], rest)
    assert orders == 1
    footer = root + extra + rest
    path.write_bytes(content[:start] + footer + len(footer).to_bytes(4, "little") + b"PAR1")
    with pytest.raises(UnreadableRunError, match=r"some of its rows have other columns"):
        open_run(finished).jobs.num_rows  # noqa: B018


def more(number: bytes, by: int) -> bytes:
    """A number of Thrift's compact form (seven bits a byte, the lowest first), increased."""
    value = by + sum((byte & 0x7F) << 7 * place for place, byte in enumerate(number))
    made = bytearray()
    while value > 0x7F:
        made.append(0x80 | value & 0x7F)
        value >>= 7
    return bytes([*made, value])


def test_a_column_of_lists_is_refused_unread(finished: Path) -> None:
    replaced(finished, "node", pa.array([["a"] * 3] * 6))
    with pytest.raises(UnreadableRunError, match=r"column node.* holds lists"):
        open_run(finished).jobs.num_rows  # noqa: B018


def test_versions_have_two_numbers() -> None:
    assert major("12.3") == 12
    for wrong in ("1", "1.", "a.b", "", "1.2.3", "-1.0"):
        with pytest.raises(ValueError, match=f"^{re.escape(wrong)}$"):
            major(wrong)
