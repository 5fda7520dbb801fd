"""A node's folder that grows beside the merged one, and names of files that would leave it."""

from __future__ import annotations

from pathlib import Path

import pytest

from mawl.cluster.mirror import Mirror, append_to, place_of
from mawl.errors import MawlError
from mawl.model.records import EventRecord
from mawl.store import open_run
from mawl.store.folder import RunWriter
from mawl.store.layout import JOURNAL
from mawl.store.reading import runner_lives
from tests.fakes.stored_run import START, facts, job


def test_a_journal_that_comes_in_pieces_is_a_readable_run_at_any_moment(tmp_path: Path) -> None:
    own = RunWriter(tmp_path / "own", facts(outcome="running", ended_at=None))
    own.job(job("s1-1", 1.0, 5.0))
    own.event(EventRecord(happened_at=START, event="gate_released"))
    journal = tmp_path / "own" / JOURNAL
    mirror = Mirror(tmp_path / "nodes" / "n1", (tmp_path / "own" / "run.json").read_bytes(), b"")
    content = (journal / "jobs.jsonl").read_bytes()
    assert mirror.append({"jobs.jsonl": content[:50]}).jobs == []
    fresh = mirror.append(
        {"jobs.jsonl": content[50:], "events.jsonl": (journal / "events.jsonl").read_bytes()}
    )
    assert [one.job for one in fresh.jobs] == ["s1-1"] and len(fresh.events) == 1
    assert mirror.offsets["jobs.jsonl"] == len(content)
    assert runner_lives(mirror.path)
    own.job(job("s1-2", 1.0, 5.0))
    rest = (journal / "jobs.jsonl").read_bytes()[mirror.offsets["jobs.jsonl"] :]
    assert [one.job for one in mirror.append({"jobs.jsonl": rest}).jobs] == ["s1-2"], "each record once"
    mirror.close()
    own.close()
    assert open_run(mirror.path).facts.outcome == "interrupted"
    assert {one.job for one in open_run(mirror.path).job_records()} >= {"s1-1", "s1-2"}


def test_the_whole_folder_takes_its_place(tmp_path: Path) -> None:
    own = RunWriter(tmp_path / "own", facts(outcome="running", ended_at=None))
    mirror = Mirror(tmp_path / "nodes" / "n1", (tmp_path / "own" / "run.json").read_bytes(), b"")
    copy = mirror.begin_copy()
    place = place_of(copy, "logs/a.log")
    append_to(place, b"one ")
    append_to(place, b"two")
    mirror.replace(copy)
    own.close()
    assert (tmp_path / "nodes" / "n1" / "logs" / "a.log").read_text() == "one two"
    assert [entry.name for entry in (tmp_path / "nodes").iterdir()] == ["n1"]


@pytest.mark.parametrize("name", ["../x", "/etc/x", "logs/../../x", ""])
def test_a_name_that_leads_out_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(MawlError, match="names a file outside its run folder"):
        place_of(tmp_path, name)
