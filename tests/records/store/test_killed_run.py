"""Runs whose runner was killed, and folders that nobody would write on purpose."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mawl.base.errors import MawlError
from mawl.records.store import journal, open_run
from mawl.records.store.files import MOST_ROWS
from mawl.records.store.folder import RunWriter
from mawl.records.store.journal import Remarks, read_journal, read_samples
from mawl.records.store.tail import Tail
from tests.fakes.stored_run import START, events, facts, job, jobs, samples, steps, write_run


@pytest.fixture
def killed(tmp_path: Path) -> Path:
    """A small run that stopped without a word: two jobs ended, two ran, two had not started."""
    folder = tmp_path / "killed"
    writer = RunWriter(folder, facts(outcome="running", ended_at=None, outcome_reason=None))
    for event in events()[:6]:
        writer.event(event)
    for step in [*steps()[:2], steps()[4]]:
        writer.step(step)
    writer.job(job("s3-1", 0.0, 10.5, outcome="failed", verified=False, reason="wrong"))
    writer.job(job("s1-1", 0.0, 20.5))
    for second in range(3):
        writer.samples(samples(second))
    writer.close()
    return folder


def test_it_reads_as_interrupted_with_every_finished_job(killed: Path) -> None:
    run = open_run(killed)
    assert run.facts.outcome == "interrupted"
    assert run.facts.ended_at == START + 20.5
    assert "without finishing" in (run.facts.outcome_reason or "")
    outcomes = {record.job: record.outcome for record in run.job_records()}
    assert outcomes == {
        "s3-1": "failed",
        "s1-1": "finished",
        "s2-1": "lost",
        "s4-1": "lost",
        "s1-2": "not_started",
        "s4-2": "not_started",
    }
    lost = next(record for record in run.job_records() if record.job == "s2-1")
    assert (lost.started_at, lost.ended_at, lost.usage.real_time_seconds) == (START, None, None)
    assert lost.program == "wide_sort" and "no record" in (lost.reason or "")
    assert run.samples.num_rows == 6


def test_the_first_reader_compacts_it_and_the_next_reads_the_same(killed: Path) -> None:
    first = open_run(killed)
    assert not (killed / "journal").exists()
    again = open_run(killed)
    assert again.facts == first.facts
    assert again.job_records() == first.job_records()
    assert again.samples.equals(first.samples)


def test_a_reader_that_may_not_write_reads_the_journal(killed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("mawl.records.store.journal.write_parquet", refuse)
    run = open_run(killed)
    assert (killed / "journal").is_dir()
    assert run.facts.outcome == "interrupted"
    assert [record.outcome for record in run.job_records()].count("lost") == 2
    assert run.steps.num_rows == 3
    assert run.samples.num_rows == 6


def test_another_user_s_run_is_left_as_it_is(killed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mawl.records.store.reading.os.geteuid", lambda: os.getuid() + 1)
    before = sorted(str(path) for path in killed.rglob("*"))
    assert open_run(killed).facts.outcome == "interrupted"
    assert sorted(str(path) for path in killed.rglob("*")) == before


def test_a_reader_whom_another_compacts_it_under_finds_the_tables(
    killed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def overtaken(folder: Path, *_: object) -> None:
        monkeypatch.undo()
        open_run(folder)
        raise FileNotFoundError(2, "No such file", "events.jsonl")

    monkeypatch.setattr("mawl.records.store.reading._try_compact", overtaken)
    assert len(open_run(killed).job_records()) == 6


def test_compaction_that_was_itself_killed_is_done_again(killed: Path) -> None:
    copy = killed.with_name("copy")
    shutil.copytree(killed, copy)
    open_run(copy)
    for name in ("jobs.parquet", "steps.parquet"):
        shutil.copy(copy / name, killed / name)
    (killed / "samples.parquet").write_bytes(b"PAR1 torn")
    (killed / "journal.compacted").mkdir()
    assert open_run(killed).job_records() == open_run(copy).job_records()
    assert not (killed / "journal.compacted").exists()


WRITER = """
import sys
from pathlib import Path
from tests.fakes.stored_run import facts, jobs, samples
from mawl.records.model.records import EventRecord
from mawl.records.store.folder import RunWriter
import msgspec
writer = RunWriter(Path(sys.argv[1]), facts(outcome="running", ended_at=None))
for number in range(100000):
    record = msgspec.structs.replace(jobs()[0], job=f"job-{number}")
    writer.event(EventRecord(happened_at=record.started_at, event="job_started", job=record.job))
    writer.job(record)
    writer.samples(samples(number))
    print(number, flush=True)
"""


def test_kill_9_loses_nothing_that_was_written(tmp_path: Path) -> None:
    root = Path(__file__).parents[3]
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(tmp_path / "run")],
        stdout=subprocess.PIPE,
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root)},
    )
    assert process.stdout is not None
    for _ in range(20):
        last = int(process.stdout.readline())
    assert open_run(tmp_path / "run").facts.outcome == "running"
    process.send_signal(signal.SIGKILL)
    last = max([last, *(int(line) for line in process.stdout.read().split())])
    process.wait()
    run = open_run(tmp_path / "run")
    assert run.facts.outcome == "interrupted"
    names = [record.job for record in run.job_records()]
    assert names[: last + 1] == [f"job-{number}" for number in range(last + 1)]
    assert run.samples.num_rows >= 2 * (last + 1)


def _truncations(path: Path) -> Iterator[tuple[int, bytes]]:
    """The file cut at every byte, longest first; whole again afterwards."""
    content = path.read_bytes()
    for length in range(len(content), -1, -1):
        os.truncate(path, length)
        yield length, content[:length]
    path.write_bytes(content)


@pytest.mark.parametrize("name", ["events", "jobs", "steps"])
def test_lines_cut_at_any_byte_keep_every_whole_record(killed: Path, name: str) -> None:
    path = killed / "journal" / f"{name}.jsonl"
    ends = [index for index, byte in enumerate(path.read_bytes()) if byte == ord("\n")]
    for length, content in _truncations(path):
        journal = read_journal(killed)
        records = getattr(journal, name)
        assert len(records) == sum(end <= length for end in ends)
        torn = bool(content) and not content.endswith(b"\n") and length not in ends
        assert len(journal.remarks) == torn


def test_samples_cut_at_any_byte_keep_every_whole_batch(killed: Path) -> None:
    path = killed / "journal" / "samples.arrows"
    kept = set()
    for _ in _truncations(path):
        remarks = Remarks()
        rows = sum(table.num_rows for table in read_samples(path, remarks))
        assert rows in (0, 2, 4, 6)
        kept.add(rows)
    assert kept == {0, 2, 4, 6}


def test_a_run_cut_anywhere_opens_whole(killed: Path) -> None:
    """As above through the front door, compaction included, at some of the places."""
    cut = killed.with_name("cut")
    generator = random.Random(1)
    for name in ("events.jsonl", "jobs.jsonl", "steps.jsonl", "samples.arrows"):
        size = (killed / "journal" / name).stat().st_size
        for length in {0, size - 1, *(generator.randrange(size) for _ in range(8))}:
            shutil.copytree(killed, cut)
            os.truncate(cut / "journal" / name, length)
            run = open_run(cut)
            assert len(run.job_records()) == 6
            assert run.facts.outcome == "interrupted"
            assert run.steps.num_rows <= 3 and run.samples.num_rows <= 6
            assert len(open_run(cut).facts.remarks) == len(run.facts.remarks)
            shutil.rmtree(cut)


def test_what_is_left_out_is_remarked_with_file_and_line(killed: Path) -> None:
    with (killed / "journal" / "jobs.jsonl").open("ab") as file:
        file.write(b'{"job": 3}\n\n' + b"\xff\xfe garbage\n" + b"[" * 100_000 + b"\n")
        file.write(b"x" * (3 * 2**20) + b"\n" + b'{"torn')
    (killed / "journal" / "steps.jsonl").unlink()
    remarks = open_run(killed).facts.remarks
    for expected in (
        "line 3: not a record",
        "line 5: not a record",
        "line 6:",
        "line 7: longer",
        "line 8: torn",
    ):
        assert any(f"jobs.jsonl, {expected}" in remark for remark in remarks)
    assert any("steps.jsonl: missing" in remark for remark in remarks)


def test_a_flood_of_garbage_is_counted_not_kept(killed: Path) -> None:
    (killed / "journal" / "events.jsonl").write_bytes(b"garbage\n" * 5000)
    remarks = open_run(killed).facts.remarks
    assert len(remarks) < 30
    assert any("more of that kind" in remark for remark in remarks)


def test_impossible_figures_cost_their_record_only(killed: Path) -> None:
    path = killed / "journal" / "jobs.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"stage":1', b'"stage":1' + b"0" * 30, 1))
    run = open_run(killed)
    assert len(run.job_records()) == 5
    assert any("impossible" in remark for remark in run.facts.remarks)


def test_a_job_that_nobody_planned_is_remarked(tmp_path: Path) -> None:
    writer = RunWriter(tmp_path / "run", facts(outcome="running", planned_jobs=[]))
    writer.event(events()[1])
    writer.close()
    run = open_run(tmp_path / "run")
    assert run.job_records() == []
    assert any("neither recorded nor planned" in remark for remark in run.facts.remarks)


@pytest.mark.parametrize("finished", [True, False])
@settings(
    max_examples=30,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    derandomize=True,
)
@given(data=st.data())
def test_damaged_bytes_never_end_in_a_traceback(tmp_path: Path, finished: bool, data: st.DataObject) -> None:
    folder = tmp_path / "run"
    shutil.rmtree(folder, ignore_errors=True)
    writer = write_run(folder)
    if finished:
        writer.finish(facts())
    writer.close()
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != "plan.toml")
    path = data.draw(st.sampled_from(files))
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(content)
    try:
        run = open_run(folder)
        assert run.job_records() or run.facts.remarks
        assert run.steps.num_rows + run.events.num_rows + run.samples.num_rows >= 0
    except MawlError as error:
        assert str(folder) in str(error)


def test_jobs_finished_before_the_kill_are_all_in_the_table(killed: Path) -> None:
    assert set(open_run(killed).jobs.column("job").to_pylist()) == {record.job for record in jobs()}


@pytest.mark.parametrize("content", [None, b"x\n" * 100, b"\n" * 100])
def test_a_journal_is_read_up_to_its_budget_also_while_it_grows(
    killed: Path, monkeypatch: pytest.MonkeyPatch, content: bytes | None
) -> None:
    monkeypatch.setattr(journal, "LARGEST_LINES_BYTES", 2**23)
    monkeypatch.setattr(journal, "MOST_BAD_LINES", 50)
    monkeypatch.setitem(MOST_ROWS, "events", 100)
    with (killed / "journal" / "events.jsonl").open("ab") as file:
        file.truncate(2**40) if content is None else file.write(content)
    tail = Tail(killed)
    tail.look()
    for found in (tail.run(), open_run(killed)):
        assert found.events.num_rows == 6
        [remark] = (one for one in found.facts.remarks if "mawl reads" in one)
        assert remark.endswith(
            "events.jsonl: mawl reads at most 100 lines, 8.00 MiB and 50 lines that are not records; "
            "the rest is left out"
        )
        assert len(found.facts.remarks) < 30
