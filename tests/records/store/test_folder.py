"""A run folder as its one writer makes it."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import msgspec
import pyarrow as pa
import pytest
from pyarrow import parquet

from mawl.base.errors import InterruptedRunError, UnsuitableMachineError, UsageError
from mawl.records.store import open_run
from mawl.records.store.columns import INSTANT, PREFIXES
from mawl.records.store.files import FORMAT_VERSION
from mawl.records.store.folder import RunWriter
from mawl.records.store.journal import Appender
from tests.fakes.full_disk import small_files
from tests.fakes.stored_run import PLAN, events, facts, job, jobs, steps, write_run


def test_a_finished_run_reads_back_as_it_was_written(tmp_path: Path) -> None:
    write_run(tmp_path / "run").finish(facts())
    run = open_run(tmp_path / "run")
    assert run.facts == msgspec.structs.replace(facts(), format_version=FORMAT_VERSION)
    assert run.job_records() == jobs()
    assert run.step_records() == steps()
    assert run.event_records() == events()
    assert run.samples.column("value").to_pylist() == [0.0, 0.0, 1.0, 1.0, 2.0, 2.0]


def test_after_the_end_the_folder_holds_tables_and_no_journal(tmp_path: Path) -> None:
    write_run(tmp_path / "run").finish(facts())
    names = {entry.name for entry in (tmp_path / "run").iterdir()}
    tables = {f"{name}.parquet" for name in ("jobs", "steps", "events", "samples")}
    assert names == {"run.json", "plan.toml", "logs", *tables}
    assert (tmp_path / "run" / "plan.toml").read_text() == PLAN
    assert (tmp_path / "run").stat().st_mode & 0o777 == 0o700


def test_tables_are_plain_parquet_for_everyone(tmp_path: Path) -> None:
    write_run(tmp_path / "run").finish(facts())
    table = parquet.read_table(tmp_path / "run" / "jobs.parquet")
    assert table.schema.field("started_at").type == INSTANT
    assert table.schema.metadata[b"mawl_format_version"] == FORMAT_VERSION.encode()
    assert {f"{prefix}user_cpu_seconds" for prefix in PREFIXES.values()} < set(table.schema.names)
    assert table.column("answer")[0].as_py() == '{"checksum":"ab12","rows":1000}'
    written = parquet.ParquetFile(tmp_path / "run" / "samples.parquet").metadata
    assert written.row_group(0).column(0).compression == "ZSTD"
    assert written.num_row_groups == 1


def test_points_in_time_are_iso_text_in_the_journal(tmp_path: Path) -> None:
    writer = write_run(tmp_path / "run")
    line = (tmp_path / "run" / "journal" / "jobs.jsonl").read_text().splitlines()[0]
    assert '"started_at":"2026-01-01T08:00:00.000000Z"' in line
    writer.close()


def test_every_append_is_in_the_file_at_once(tmp_path: Path) -> None:
    writer = RunWriter(tmp_path / "run", facts(outcome="running"))
    for count, record in enumerate(jobs(), 1):
        writer.job(record)
        assert len((tmp_path / "run" / "journal" / "jobs.jsonl").read_bytes().splitlines()) == count
    writer.close()


def test_a_run_under_way_shows_what_there_is(tmp_path: Path) -> None:
    writer = RunWriter(tmp_path / "run", facts(outcome="running", ended_at=None))
    writer.job(job("s1-1", 0.0, 20.5))
    run = open_run(tmp_path / "run")
    assert run.facts.outcome == "running"
    assert [record.job for record in run.job_records()] == ["s1-1"]
    assert run.samples.num_rows == 0
    writer.update(facts(outcome="running", outcome_reason="still going"))
    assert open_run(tmp_path / "run").facts.outcome_reason == "still going"
    writer.finish(facts())
    assert open_run(tmp_path / "run").facts.outcome == "failed"


def test_latest_points_at_the_newest_run(tmp_path: Path) -> None:
    for name in ("first", "second"):
        write_run(tmp_path / name, runs=tmp_path).finish(facts(run_id=name))
        assert open_run("latest", tmp_path).facts.run_id == name
    assert (tmp_path / "latest").readlink() == Path("second")


def test_latest_does_not_replace_what_is_no_link(tmp_path: Path) -> None:
    (tmp_path / "latest").mkdir()
    with pytest.raises(UnsuitableMachineError, match="in the way"):
        write_run(tmp_path / "run", runs=tmp_path)


def test_a_folder_that_holds_something_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(UsageError, match="already holds files"):
        RunWriter(tmp_path, facts())
    assert [entry.name for entry in tmp_path.iterdir()] == ["notes.txt"]


def test_a_folder_that_cannot_be_made_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UnsuitableMachineError, match="cannot be made"):
        RunWriter(tmp_path / "file" / "run", facts())


def test_a_full_disk_leaves_whole_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    appender = Appender(tmp_path / "lines")
    appender.append(b"first\n")
    real_write = os.write

    def full(descriptor: int, content: memoryview) -> int:
        if len(content) < len(b"second\n"):
            raise OSError(errno.ENOSPC, "No space left on device")
        return real_write(descriptor, content[:3])

    monkeypatch.setattr("mawl.records.store.journal.os.write", full)
    with pytest.raises(OSError, match="No space left"):
        appender.append(b"second\n")
    monkeypatch.setattr("mawl.records.store.journal.os.write", real_write)
    appender.append(b"third\n")
    appender.close()
    assert (tmp_path / "lines").read_bytes() == b"first\nthird\n"


def test_a_finish_that_fails_keeps_the_journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = write_run(tmp_path / "run")

    def refuse(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("mawl.records.store.parquet.os.fsync", refuse)
        with pytest.raises(OSError, match="No space left"):
            writer.finish(facts())
    writer.close()
    run = open_run(tmp_path / "run")
    assert len(run.job_records()) == 6
    assert not list((tmp_path / "run").glob(".*"))


def test_samples_of_a_long_run_lie_in_few_row_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mawl.records.store.journal.ROWS_PER_GROUP", 100)
    write_run(tmp_path / "run", seconds=120).finish(facts())
    file = parquet.ParquetFile(tmp_path / "run" / "samples.parquet")
    assert file.metadata.num_rows == 240
    assert file.metadata.num_row_groups == 3
    assert isinstance(open_run(tmp_path / "run").samples, pa.Table)


@pytest.mark.parametrize(("most_bytes", "facts_stay"), [(100, False), (50_000, True)])
def test_a_folder_that_cannot_be_begun_says_so_and_does_not_stay_without_facts(
    tmp_path: Path, most_bytes: int, facts_stay: bool
) -> None:
    with small_files(most_bytes), pytest.raises(UnsuitableMachineError) as raised:
        RunWriter(tmp_path / "run", facts(outcome="running", ended_at=None), plan="#" * 60_000)
    sentence = str(raised.value)
    assert sentence.startswith(
        f"{tmp_path / 'run'}: the run folder cannot be written: file too large; raise "
    )
    assert sentence.endswith("(ulimit -f), or name another place with --runs; no job was started")
    assert (tmp_path / "run" / "run.json").exists() == (tmp_path / "run").exists() == facts_stay
    if facts_stay:
        kept = open_run(tmp_path / "run").facts
        assert (kept.outcome, kept.outcome_reason) == (
            "failed",
            "the run folder cannot be written: file too large",
        )


@pytest.mark.parametrize(
    ("error", "outcome", "reason"),
    [
        (UsageError("no place", why="full", cure="free some"), "failed", "no place: full"),
        (OSError(errno.EMFILE, "Too many open files"), "failed", "too many open files"),
        (FileNotFoundError(errno.ENOENT, "No such file", "/proc/stat"), "failed", "/proc/stat: no such file"),
        (ValueError("\x1b[31m" + "x" * 5000), "failed", "ValueError: \\x1b[31m" + "x" * 900),
        (InterruptedRunError("interrupted"), "interrupted", "interrupted"),
        (KeyboardInterrupt(), "interrupted", "the runner ended without finishing"),
    ],
)
def test_an_error_that_ends_a_run_is_its_outcome(
    tmp_path: Path, error: BaseException, outcome: str, reason: str
) -> None:
    started = facts(outcome="running", ended_at=None, outcome_reason=None)
    with pytest.raises(type(error)), RunWriter(tmp_path / "run", started) as writer:
        writer.job(jobs()[0])
        raise error
    run = open_run(tmp_path / "run")
    assert run.facts.outcome == outcome and run.facts.ended_at is not None
    assert (run.facts.outcome_reason or "").startswith(reason)
    assert len(run.facts.outcome_reason or "") < 1100
    assert len(run.job_records()) == 6, "what was recorded is kept"


def test_an_error_after_the_end_of_a_run_does_not_change_its_outcome(tmp_path: Path) -> None:
    writer = write_run(tmp_path / "run")
    with pytest.raises(ValueError), writer:
        writer.finish(facts(outcome="completed"))
        raise ValueError
    assert open_run(tmp_path / "run").facts.outcome == "completed"
