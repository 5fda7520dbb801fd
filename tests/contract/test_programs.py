"""What every program of the catalogue promises; later programs join by being in the catalogue."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path

import msgspec
import pyarrow as pa
import pytest

from mawl.plan.catalogue import CATALOGUE
from mawl.programs.tables.arrow import BATCH_BYTES
from mawl.records.model.records import StepRecord
from mawl.records.spec.program_options import MIB, Options
from tests.contract.jobs import Job, assign, run_fresh, run_here

MEMORY_MARGIN = 48 * MIB
"""Stated margin on a declared peak: what allocators keep and library code that is touched first."""
BYTES_MARGIN = 0.15
STEP_SLACK_BYTES = 256 * 1024
LISTING_BYTES = 64 * 1024
"""Most that a job prints: its listings are of classes, whose number no scale changes."""
SCALES = {
    "wide_sort": 0.0001,
    "census_load": 0.0003,
    "stress_projection": 0.00015,
    "segmentation": 0.0005,
    "tree_ensemble": 0.00035,
    "portfolio_optimization": 0.0002,
    "text_topics": 0.0002,
    "pension_cube": 0.0002,
    "forecasting": 0.0001,
    "census_load_single": 0.00025,
    "census_query": 0.00025,
    "dimension_load": 0.0003,
    "stepwise_selection": 0.00018,
    "survey_logistic": 0.0004,
}
OPTIONS = Options(memsize_bytes=64 * MIB, sortsize_bytes=4 * MIB)

MakeTable = Callable[[str, float], Path]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Every test for every program; one that damages inputs for each program that has some."""
    damages = "damaged" in metafunc.fixturenames
    metafunc.parametrize(
        "program", [name for name in sorted(CATALOGUE) if CATALOGUE[name].inputs or not damages]
    )


@pytest.fixture
def scale(program: str) -> float:
    return SCALES.get(program, 0.0003)


@pytest.fixture
def inputs(program: str, scale: float, make_table: MakeTable) -> dict[str, Path]:
    return {table.name: make_table(table.name, scale) for table in CATALOGUE[program].inputs}


@pytest.fixture
def damaged(inputs: dict[str, Path], tmp_path: Path) -> dict[str, Path]:
    """Copies of the inputs, for a test to damage."""
    return {name: Path(shutil.copytree(path, tmp_path / f"input-{name}")) for name, path in inputs.items()}


@pytest.fixture(scope="module")
def solo(make_table: MakeTable, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, int], Job]:
    """The job of a program at a number of threads, run once in a process of its own."""

    @cache
    def run(program: str, threads: int) -> Job:
        scale = SCALES.get(program, 0.0003)
        tables = {table.name: make_table(table.name, scale) for table in CATALOGUE[program].inputs}
        options = msgspec.structs.replace(OPTIONS, cpucount=threads)
        place = tmp_path_factory.mktemp(f"{program}-{threads}")
        return run_fresh(assign(program, scale, options, tables, place, volumes=2))

    return run


def test_answer_is_right_and_nothing_is_left_behind(program: str, solo: Callable[[str, int], Job]) -> None:
    job = solo(program, 1)
    assert job.failed is None
    assert (job.status, job.answer is not None) == (0, True)
    assert not [place for place in job.places if place.exists()]


def test_steps_are_the_declared_ones(program: str, solo: Callable[[str, int], Job]) -> None:
    declared = [(step.name, step.kind) for step in CATALOGUE[program].steps]
    assert [(step.name, step.kind) for step in solo(program, 1).steps] == declared


@pytest.mark.long(minutes=0.05)
def test_one_and_two_threads_give_the_same_answer(program: str, solo: Callable[[str, int], Job]) -> None:
    one, two = solo(program, 1).answer, solo(program, 2).answer
    assert one is not None
    assert two is not None
    assert set(one) == set(two)
    for name, value in one.items():
        if isinstance(value, float):
            assert two[name] == pytest.approx(value, rel=1e-6), name
        else:
            assert two[name] == value, name


def test_bytes_are_within_the_declaration(
    program: str, scale: float, solo: Callable[[str, int], Job]
) -> None:
    declared = CATALOGUE[program].bytes_by_role(scale)
    usages = [step.usage for step in solo(program, 1).steps if step.kind != "verify"]
    read = sum(usage.application_read_bytes or 0 for usage in usages)
    written = sum(usage.application_written_bytes or 0 for usage in usages)
    assert read == pytest.approx(sum(role["read"] for role in declared.values()), rel=BYTES_MARGIN)
    assert written == pytest.approx(sum(role["written"] for role in declared.values()), rel=BYTES_MARGIN)


def test_every_declared_pass_really_moves_its_bytes(
    program: str, scale: float, solo: Callable[[str, int], Job]
) -> None:
    declared: dict[str, dict[str, int]] = {}
    for step, _, direction, _, size in CATALOGUE[program].passes(scale):
        declared.setdefault(step, {"read": 0, "written": 0})[direction] += size
    steps = CATALOGUE[program].steps
    read_back = {
        step.name for step in steps if step.kind == "verify" and any(p.share < 1 for p in step.reads)
    }
    for record in solo(program, 1).steps:
        expected = declared.get(record.name, {"read": 0, "written": 0})
        for direction, found in (
            ("read", record.usage.application_read_bytes),
            ("written", record.usage.application_written_bytes),
        ):
            assert found is not None
            assert found >= 0.97 * expected[direction], (record.name, direction)
            # A part of a table is read back in whole batches; a sort writes twice the usual size.
            slack = 2 * BATCH_BYTES if record.name in read_back else STEP_SLACK_BYTES
            most = (1 + BYTES_MARGIN) * expected[direction] + slack
            assert found <= most, (record.name, direction)


@pytest.mark.parametrize("threads", [1, pytest.param(2, marks=pytest.mark.long(minutes=0.05))])
def test_memory_is_within_the_declaration(
    program: str, threads: int, solo: Callable[[str, int], Job]
) -> None:
    job = solo(program, threads)
    peaks = {step.name: step.usage.memory_bytes for step in job.steps}
    declared = CATALOGUE[program].memory_bytes(job.assignment.options)
    assert max(peak for peak in peaks.values() if peak is not None) <= declared + MEMORY_MARGIN, peaks


def test_listings_are_short(program: str, solo: Callable[[str, int], Job]) -> None:
    assert Path(solo(program, 1).assignment.log).stat().st_size <= LISTING_BYTES


def test_a_flipped_byte_in_an_input_fails_the_job(
    program: str, scale: float, damaged: dict[str, Path], tmp_path: Path
) -> None:
    chance = random.Random(program)
    _flip(chance.choice(_data_files(damaged)), chance.random())
    assert_failed(run_here(assign(program, scale, OPTIONS, damaged, tmp_path)))


def test_a_truncated_input_fails_the_job(
    program: str, scale: float, damaged: dict[str, Path], tmp_path: Path
) -> None:
    path = _data_files(damaged)[-1]
    os.truncate(path, path.stat().st_size - 4096)
    job = run_here(assign(program, scale, OPTIONS, damaged, tmp_path))
    assert path.name in assert_failed(job)


def test_a_missing_part_of_an_input_fails_the_job(
    program: str, scale: float, damaged: dict[str, Path], tmp_path: Path
) -> None:
    path = _data_files(damaged)[0]
    path.unlink()
    job = run_here(assign(program, scale, OPTIONS, damaged, tmp_path))
    assert "mawl generate" in assert_failed(job)


def test_a_flipped_byte_in_any_temporary_table_fails_the_job(
    program: str, scale: float, inputs: dict[str, Path], tmp_path: Path
) -> None:
    declared = CATALOGUE[program]
    roles = {temporary.name: temporary.role for temporary in declared.temporaries}
    writing = {(step.name, roles[one.table] == "data") for step in declared.steps for one in step.writes}
    assert writing, f"{program} declares no step that writes"
    for name, on_data in sorted(writing):
        tampered: list[Path] = []

        def tamper(
            record: StepRecord,
            job: Job,
            name: str = name,
            on_data: bool = on_data,
            done: list[Path] = tampered,
        ) -> None:
            if record.name == name:
                places = [Path(job.assignment.results)] if on_data else job.places
                newest = max(
                    (path for place in places for path in place.rglob("*") if path.is_file()),
                    key=lambda path: (path.stat().st_mtime_ns, path.name),
                )
                # Of a table under data the first batch is always read back, and then every sixteenth.
                _flip(newest, 0.0 if on_data else 0.5)
                done.append(newest)

        place = tmp_path / f"{name}-{on_data}"
        place.mkdir()
        job = run_here(assign(program, scale, OPTIONS, inputs, place), tamper)
        assert tampered, name
        assert_failed(job)


def test_tables_are_removed_when_the_program_declares(
    program: str, scale: float, inputs: dict[str, Path], tmp_path: Path
) -> None:
    """After each step the tables that are still there have the declared bytes."""
    declared = CATALOGUE[program]
    last, order = declared.last_steps(), [step.name for step in declared.steps]
    found: dict[str, int] = {}

    def look(record: StepRecord, job: Job) -> None:
        files = (path for place in job.places for path in place.rglob("*") if path.is_file())
        found[record.name] = sum(path.stat().st_size for path in files)

    assert run_here(assign(program, scale, OPTIONS, inputs, tmp_path), look).status == 0
    for place, step in enumerate(declared.steps):
        if step.kind == "verify" or not (step.reads or step.writes):
            continue
        there = 0.0
        for temporary in (one for one in declared.temporaries if one.role != "data"):
            # A table that goes with a step is removed once that has ended, so it is still counted there.
            ended = order.index(last[temporary.name]) + (temporary.removed == "step")
            written = sum(
                one.share
                for done in declared.steps[: place + 1]
                for one in done.writes
                if one.table == temporary.name and one.random_bytes is None
            )
            if temporary.removed == "job" or place < ended:
                there += min(written, 1.0) * declared.table_size(temporary.name, scale)[1]
        assert found[step.name] == pytest.approx(there, rel=BYTES_MARGIN, abs=STEP_SLACK_BYTES), step.name


def assert_failed(job: Job) -> str:
    """The sentence of a job that failed as it should: one line, and nothing left behind."""
    assert job.status == 1
    assert job.answer is None
    assert job.failed is not None
    assert "\n" not in job.failed.sentence
    assert not [place for place in job.places if place.exists()]
    assert not Path(job.assignment.results).exists()
    return job.failed.sentence


def _data_files(inputs: dict[str, Path]) -> list[Path]:
    return sorted(
        path for table in inputs.values() for path in table.iterdir() if path.suffix in {".arrow", ".txt"}
    )


def _flip(path: Path, share: float) -> None:
    """Change one byte of the values that lie a share of the way into a file (0 to 1)."""
    with open(path, "r+b") as file:
        place, bit = _value_place(path, share)
        file.seek(place)
        byte = file.read(1)[0]
        file.seek(place)
        file.write(bytes([byte ^ bit]))


def _value_place(path: Path, share: float) -> tuple[int, int]:
    """Where a byte of a value stands, and a bit in it: framing and filler mean nothing to a program."""
    size = path.stat().st_size
    if path.suffix == ".txt":
        # In a digit of the serial number, behind the letter at the start of a line.
        text = path.read_bytes()
        return text.index(b"\n", int((size - 1000) * share)) + 4, 0x01
    if path.suffix != ".arrow":
        return int(size * share), 0x10
    with pa.memory_map(str(path)) as mapped:
        start = mapped.read_buffer(size).address
        mapped.seek(0)
        with pa.ipc.open_file(mapped) as reader:
            batch = reader.get_batch(int(reader.num_record_batches * share))
            column = batch.column(int(batch.num_columns * share))
            values = column.buffers()[1]
            return values.address - start + int(values.size * share), 0x10
