"""Following a journal: nothing twice, nothing torn, nothing of the writer's disturbed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mawl.records.model.records import SampleRecord
from mawl.records.store import open_run
from mawl.records.store.files import JOURNAL, LARGEST_LINE_BYTES, SAMPLES_STREAM
from mawl.records.store.tail import Tail
from tests.fakes.stored_run import START, events, facts, jobs, samples, steps, write_run


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "one"


def test_what_is_appended_is_read_once_and_is_what_a_reader_of_the_whole_finds(folder: Path) -> None:
    writer = write_run(folder, seconds=1)
    tail = Tail(folder)
    assert tail.look()
    assert not tail.look()
    writer.event(events()[0])
    writer.samples(samples(1))
    writer.samples(samples(2))
    assert tail.look()
    assert len(tail.events) == len(events()) + 1
    followed, whole = tail.run(), open_run(folder)
    for name in ("jobs", "steps", "events", "samples"):
        assert getattr(followed, name).equals(getattr(whole, name))
    assert followed.facts == whole.facts
    writer.close()


def test_following_takes_no_lock_and_writes_nothing(folder: Path) -> None:
    writer = write_run(folder)
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    Tail(folder).look()
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before
    assert open_run(folder).facts.outcome == "running"
    writer.close()


@pytest.mark.parametrize("name", ["jobs.jsonl", SAMPLES_STREAM])
def test_what_is_torn_is_read_once_it_is_whole(folder: Path, name: str) -> None:
    write_run(folder).close()
    path = folder / JOURNAL / name
    whole = path.read_bytes()
    path.write_bytes(b"")
    tail = Tail(folder)
    seen = 0
    step = max(1, len(whole) // 7)
    for end in range(step, len(whole) + step, step):
        path.write_bytes(whole[:end])
        tail.look()
        found = tail.run()
        assert found.facts.remarks == []
        rows = found.jobs.num_rows if name == "jobs.jsonl" else found.samples.num_rows
        assert rows >= seen
        seen = rows
    assert seen == (len(jobs()) if name == "jobs.jsonl" else 3 * len(samples(0)))


def test_a_line_that_is_no_record_or_has_no_end_is_remarked_and_passed(folder: Path) -> None:
    writer = write_run(folder)
    tail = Tail(folder)
    with (folder / JOURNAL / "jobs.jsonl").open("ab") as file:
        file.write(b'{"no": "job"}\n' + b"x" * (2 * LARGEST_LINE_BYTES + 10) + b"\n")
    writer.step(steps()[0])
    writer.job(jobs()[0])
    tail.look()
    assert len(tail.jobs) == len(jobs()) + 1
    remarks = tail.run().facts.remarks
    assert [remark.split(": ")[1].split(" (")[0] for remark in remarks] == [
        "not a record",
        "longer than any record, left out",
    ]
    writer.close()


def test_damaged_samples_end_and_are_remarked(folder: Path) -> None:
    writer = write_run(folder, seconds=0)
    times = SampleRecord(node="bench1", sampled_at=START, series="a", value=1.0)
    writer.samples([times])
    stream = folder / JOURNAL / SAMPLES_STREAM
    content = stream.read_bytes()
    place = content.index(round(START * 1e6).to_bytes(8, "little"))
    stream.write_bytes(content[:place] + b"\xff" * 7 + b"\x7f" + content[place + 8 :])
    tail = Tail(folder)
    tail.look()
    found = tail.run()
    assert found.samples.num_rows == 0
    assert "the rest is left out" in found.facts.remarks[0]
    writer.close()


def test_new_facts_are_seen_and_the_end_is_told(folder: Path) -> None:
    writer = write_run(folder)
    tail = Tail(folder)
    tail.look()
    writer.update(facts(outcome="running", ended_at=None, outcome_reason="stop asked for"))
    assert tail.look()
    assert tail.run().facts.outcome_reason == "stop asked for"
    writer.finish(facts())
    with pytest.raises(FileNotFoundError):
        tail.look()


def test_a_journal_without_a_file_and_with_a_pipe_holds_nobody(folder: Path) -> None:
    write_run(folder).close()
    (folder / JOURNAL / "steps.jsonl").unlink()
    (folder / JOURNAL / "events.jsonl").unlink()
    os.mkfifo(folder / JOURNAL / "events.jsonl")
    tail = Tail(folder)
    tail.look()
    assert tail.run().steps.num_rows == 0
    assert len(tail.jobs) == len(jobs())
