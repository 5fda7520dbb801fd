"""Histories that mean harm: bounded memory and time, nothing raised, and nothing invented."""

from __future__ import annotations

import io
import random
import time
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mawl.importers.import_files import IMPORTERS, detected
from mawl.importers.interface import FIRST_BYTES, Context, ScheduledJob
from mawl.importers.scheduler_jobs import EVERY, LARGEST_JSON_BYTES
from tests.fakes.schedulers import Ran, grid_status, lsb_record, orchestrator, sacct, sacct_json

AT = 1_772_481_600.0
JOBS = [Ran(number, f"job{number}", AT, AT + 60 * number, AT + 900) for number in range(1, 4)]
WHOLE = {
    "lsf": "".join(map(lsb_record, JOBS)),
    "slurm": sacct(JOBS),
    "slurm json": sacct_json(JOBS),
    "orchestrator": orchestrator(JOBS),
    "sasgsub": grid_status(JOBS),
}
KINDS = [importer.kind for importer in EVERY]


def read(kind: str, content: bytes) -> tuple[list[ScheduledJob], Context]:
    context = Context("x", kind, lambda seconds: seconds, lambda wanted: wanted)
    items = list(IMPORTERS[kind].read(io.BytesIO(content), context))
    assert all(isinstance(item, ScheduledJob) for item in items)
    return [item for item in items if isinstance(item, ScheduledJob)], context


@pytest.mark.parametrize("name", WHOLE)
def test_each_history_is_recognised_by_its_content_alone(name: str) -> None:
    for text in (WHOLE[name], "\ufeff" + WHOLE[name]) if name == "slurm" else (WHOLE[name],):
        importer = detected(text.encode()[:FIRST_BYTES], "x")
        assert importer is not None
        assert importer.kind == name.split()[0]
    jobs, context = read(name.split()[0], WHOLE[name].encode())
    assert [job.queue_seconds for job in jobs] == [60.0, 120.0, 180.0]
    assert (context.blocks, context.skipped) == (3, [])


@pytest.mark.parametrize("name", WHOLE)
def test_a_file_that_is_cut_anywhere_gives_no_other_job_than_the_whole(name: str) -> None:
    kind, content = name.split()[0], WHOLE[name].encode()
    whole, _ = read(kind, content)
    draw = random.Random(1)
    for _ in range(60):
        cut = content[: draw.randrange(len(content))]
        jobs, context = read(kind, cut)
        assert jobs == whole[: len(jobs)]
        assert len(jobs) == len(whole) or context.skipped or cut.endswith(b"\n")


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(sorted(WHOLE)), st.data())
def test_damaged_bytes_raise_nothing_and_make_no_impossible_job(name: str, data: st.DataObject) -> None:
    content = bytearray(WHOLE[name].encode())
    for _ in range(data.draw(st.integers(1, 8))):
        place = data.draw(st.integers(0, len(content) - 1))
        content[place : place + data.draw(st.integers(0, 3))] = data.draw(
            st.binary(max_size=3) | st.sampled_from([b'"', b"|", b"\n", b"{", b"[", b"9" * 30, b"-1"])
        )
    for job in read(name.split()[0], bytes(content))[0]:
        assert job.submitted_at <= job.started_at <= job.ended_at
        assert job.queue_seconds is None or 0 <= job.queue_seconds <= job.started_at - job.submitted_at


def test_json_of_too_many_parts_or_bytes_is_not_decoded() -> None:
    start = b'{"jobs": [{"processingInfo": {"submitTime": ""}},'
    for content in (start + b"{}," * 2_100_000, start + b" " * (LARGEST_JSON_BYTES + 1)):
        tracemalloc.start()
        try:
            jobs, context = read("orchestrator", content)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert jobs == []
        assert "export the time of the logs only" in context.skipped[0].reason
        assert peak < 3 * LARGEST_JSON_BYTES


def test_deep_json_is_told() -> None:
    deep = b'{"jobs": [{"time": ' + b"[" * 200_000 + b'"submission": 1, "eligible": 1'
    jobs, context = read("slurm", deep)
    assert jobs == []
    assert "64 deep in one another" in context.skipped[0].reason


def test_jobs_that_never_started_are_counted_in_one_sentence() -> None:
    pending = [sacct_json([Ran(number, "load", AT, 0, 0) for number in range(500)])]
    _, context = read("slurm", pending[0].encode())
    assert [skipped.reason for skipped in context.skipped] == ["500 jobs of the scheduler never started"]


def test_a_line_beyond_the_longest_is_left_out_and_the_next_is_read() -> None:
    long = lsb_record(JOBS[0]._replace(command="x" * 100_000))
    jobs, context = read("lsf", (long + lsb_record(JOBS[1])).encode())
    assert [job.queue_seconds for job in jobs] == [120.0]
    assert "longer than" in context.skipped[0].reason


@pytest.mark.parametrize("kind", KINDS)
def test_long_words_of_a_command_take_no_long_time(kind: str) -> None:
    command = "." * 30_000 + " " + "/a.sas" * 5_000
    texts = {
        "lsf": lsb_record(JOBS[0]._replace(command=command)),
        "slurm": sacct([JOBS[0]._replace(name=command)]),
        "orchestrator": orchestrator([JOBS[0]._replace(command=command)]),
        "sasgsub": grid_status([JOBS[0]._replace(name="(" * 900)]),
    }
    began = time.process_time()
    read(kind, texts[kind].encode())
    assert time.process_time() - began < 2.0
