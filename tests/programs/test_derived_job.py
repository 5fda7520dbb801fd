"""Derived jobs from an assignment to an answer, in this process."""

from __future__ import annotations

import contextlib
import itertools
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from mawl.base.errors import DamagedTableError, WrongAnswerError
from mawl.programs.derived_job import (
    CHUNK_WORDS,
    FIRST,
    REFERENCE_SECONDS,
    SECOND,
    WHOLE,
    Kernels,
    Memory,
    Pace,
    core_speed,
    in_turn,
)
from mawl.programs.derived_requests import (
    ROW_BYTES,
    Block,
    FileReader,
    FileWriter,
    OwnFile,
    Sizes,
    coprime_step,
    keys,
    places,
    salt_of,
    sizes_of,
    sum_of_keys,
)
from mawl.records.model.derived import KERNELS, DerivedJob, Kernel, RoleLoad
from mawl.records.model.records import StepRecord
from tests.contract.jobs import Job, run_here
from tests.fakes.derived import EVERY_KERNEL, MIXED, assigned


@pytest.mark.parametrize("job", [MIXED, EVERY_KERNEL], ids=["mixed", "every kernel"])
def test_every_step_is_recorded_and_nothing_is_left(job: DerivedJob, tmp_path: Path) -> None:
    done = run_here(assigned(job, tmp_path))
    assert done.failed is None and done.status == 0
    assert [step.name for step in done.steps] == [step.name for step in job.steps]
    assert done.answer == {
        "steps": len(job.steps),
        "rows": sum(step.rows or 0 for step in job.steps),
        "moved_bytes": sum(step.moved_bytes for step in job.steps),
    }
    assert not any(place.exists() for place in done.places)


def test_a_step_moves_the_bytes_of_its_record(tmp_path: Path) -> None:
    done = run_here(assigned(MIXED, tmp_path))
    for record, step in zip(done.steps, MIXED.steps, strict=True):
        loads = [step.data, step.work, step.util]
        read, wrote = record.usage.application_read_bytes, record.usage.application_written_bytes
        # The calls of the process: manifests and what /proc says of it are read, too.
        assert read is not None and wrote is not None
        assert 0 <= read - sum(load.read_bytes for load in loads) < 30_000
        assert 0 <= wrote - sum(load.written_bytes for load in loads) < 10_000


def test_the_cpu_seconds_are_those_of_the_record(tmp_path: Path) -> None:
    done = run_here(assigned(MIXED, tmp_path))
    for record, step in zip(done.steps, MIXED.steps, strict=True):
        assert record.usage.cpu_seconds == pytest.approx(step.cpu_seconds, rel=0.25, abs=0.02)


def test_a_scale_makes_a_job_smaller_in_all_it_does(tmp_path: Path) -> None:
    done = run_here(assigned(MIXED, tmp_path, scale=0.1))
    assert done.failed is None and done.answer is not None
    whole = sum(step.moved_bytes for step in MIXED.steps)
    assert done.answer["moved_bytes"] == pytest.approx(0.1 * whole, rel=0.001)
    assert done.answer["rows"] == 200


def test_results_stay_under_data(tmp_path: Path) -> None:
    assignment = assigned(MIXED, tmp_path)
    assert run_here(assignment).failed is None
    (result,) = Path(assignment.results).iterdir()
    assert result.stat().st_size == 50 * 1024


def damage(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def assert_wrong_answer(done: Job) -> None:
    assert done.failed is not None and done.failed.wrong_answer
    assert "the word sum of" in done.failed.sentence
    assert not any(place.exists() for place in done.places)


def test_a_changed_byte_of_a_table_under_work_is_a_wrong_answer(tmp_path: Path) -> None:
    assignment = assigned(MIXED, tmp_path)

    def after(record: StepRecord, job: Job) -> None:
        if record.name == "read":
            (file,) = (file for place in job.places for file in place.glob("*.rows"))
            damage(file)

    assert_wrong_answer(run_here(assignment, after))


def test_a_changed_byte_of_an_input_table_is_a_wrong_answer(tmp_path: Path) -> None:
    assignment = assigned(MIXED, tmp_path)
    (file,) = Path(assignment.inputs["derived-t1"]).glob("state-*")
    damage(file)
    assert_wrong_answer(run_here(assignment))


def test_a_step_that_reads_back_what_it_writes_writes_first(tmp_path: Path) -> None:
    step = msgspec.structs.replace(
        EVERY_KERNEL.steps[0], work=RoleLoad(read_bytes=9 * 10**6, written_bytes=2 * 10**6 + 8)
    )
    job = msgspec.structs.replace(EVERY_KERNEL, steps=(step,))
    done = run_here(assigned(job, tmp_path))
    assert done.failed is None


@pytest.mark.parametrize("times", [1.0, 0.5, 4.0])
def test_a_core_that_takes_so_many_times_longer_is_slower_by_that(times: float) -> None:
    # One look before and one after each round; every third round was disturbed.
    lengths = itertools.cycle([REFERENCE_SECONDS * times, 9.0, REFERENCE_SECONDS * times])
    now = 0.0
    is_end = False

    def clock() -> float:
        nonlocal now, is_end
        if is_end:
            now += next(lengths)
        is_end = not is_end
        return now

    assert core_speed(clock) == pytest.approx(1 / times)


def test_this_core_has_a_speed() -> None:
    assert 0.02 < core_speed() < 50


class Clock:
    """CPU seconds, moved by whoever computes."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.units = 0

    def __call__(self) -> float:
        return self.seconds

    def unit(self) -> None:
        self.seconds += 0.003
        self.units += 1


def test_units_fill_what_moving_left_of_the_cpu_seconds() -> None:
    clock = Clock()
    pace = Pace(3.0, [clock.unit], clock=clock)
    for request in range(100):
        pace.reach(request / 100)
        clock.seconds += 0.01  # moving takes a third of them
    pace.reach(1.0)
    assert clock.seconds == pytest.approx(3.0, abs=0.004)
    assert clock.units == pytest.approx(2.0 / 0.003, abs=3)


def test_at_each_share_of_a_step_so_much_has_been_computed() -> None:
    clock = Clock()
    pace = Pace(1.0, [clock.unit], clock=clock)
    for tenth in range(1, 11):
        pace.reach(tenth / 10)
        assert clock.seconds == pytest.approx(tenth / 10, abs=0.004)


def test_nothing_is_computed_where_moving_takes_more_than_the_step_had() -> None:
    clock = Clock()
    pace = Pace(0.1, [clock.unit], clock=clock)
    clock.seconds += 5.0
    pace.reach(1.0)
    assert clock.units == 0


def test_every_thread_computes_and_a_wrong_unit_fails_the_step() -> None:
    clock = Clock()
    done: list[int] = []

    def wrong() -> None:
        done.append(1)
        raise WrongAnswerError("planted")

    pace = Pace(1.0, [clock.unit, wrong], clock=clock)
    with pytest.raises(WrongAnswerError, match="planted"):
        pace.reach(1.0)
    pace.close()
    assert done == [1] and clock.units > 0


EVERY = pytest.mark.parametrize("kernel", KERNELS)


OVER_MEMORY = pytest.mark.parametrize("kernel", [name for name in KERNELS if name not in ("dense", "write")])


@EVERY
def test_units_are_right_on_memory_that_is_not_whole_chunks(kernel: Kernel) -> None:
    memory = Memory(3 * CHUNK_WORDS * 8 + 800, 5)
    held = memory.words.copy()
    one = Kernels(kernel, memory, 0, 1)
    for _ in range(8):
        one.unit()
    assert np.array_equal(memory.words, held)


@OVER_MEMORY
@pytest.mark.parametrize("chunk", range(3))
def test_a_changed_word_in_any_chunk_is_found_within_one_round(kernel: Kernel, chunk: int) -> None:
    memory = Memory(3 * CHUNK_WORDS * 8 + 800, 5)
    memory.words[chunk * CHUNK_WORDS + 7] ^= np.uint64(4)
    one = Kernels(kernel, memory, 0, 1)
    with pytest.raises(WrongAnswerError):
        for _ in range(3):
            one.unit()


class _Wrong:
    """A matrix whose products with matrices are wrong in one place."""

    def __init__(self, matrix: Any) -> None:
        self._matrix = matrix

    def __matmul__(self, other: Any) -> Any:
        product = self._matrix @ other
        if product.ndim == 2:
            product[3, 5] += 1
        return product


def test_a_wrong_product_of_matrices_is_found() -> None:
    one = Kernels("dense", Memory(0, 5), 0, 1)
    one._left = _Wrong(one._left)  # type: ignore[assignment]
    with pytest.raises(WrongAnswerError, match="a product of matrices is wrong"):
        one.unit()


def test_a_block_that_was_made_wrongly_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    one = Kernels("write", Memory(0, 5), 0, 1)
    fill = one._block.fill
    monkeypatch.setattr(one._block, "fill", lambda first, size, salt: fill(first + 1, size, salt))
    with pytest.raises(WrongAnswerError, match="a block that was made"):
        one.unit()


def test_threads_take_turns_over_the_chunks() -> None:
    memory = Memory(4 * CHUNK_WORDS * 8, 5)
    memory.words[3 * CHUNK_WORDS] ^= np.uint64(1)
    first, second = (Kernels("hold", memory, number, 2) for number in range(2))
    for _ in range(4):
        first.unit()
    second.unit()
    with pytest.raises(WrongAnswerError):
        second.unit()


SALT = salt_of("test")


@pytest.mark.parametrize(
    "size_bytes", [8, 16, 24, ROW_BYTES, ROW_BYTES + 8, 5 * ROW_BYTES + 16, 2048 * ROW_BYTES]
)
@pytest.mark.parametrize("first", [0, 7, 10**10])
def test_a_block_holds_what_was_made_in_it(size_bytes: int, first: int) -> None:
    block = Block(size_bytes)
    assert len(block.fill(first, size_bytes, SALT)) == size_bytes
    block.check(first, size_bytes, SALT, "a file")


@pytest.mark.parametrize("word", [0, 1, 2, 15, 16, 33])
def test_any_changed_word_is_found(word: int) -> None:
    block = Block(3 * ROW_BYTES)
    block.fill(4, 3 * ROW_BYTES, SALT)
    block.words[word] ^= np.uint64(1)
    with pytest.raises(WrongAnswerError, match="the word sum of 384 bytes from row 4 of a file"):
        block.check(4, 3 * ROW_BYTES, SALT, "a file")


@pytest.mark.parametrize(("first", "salt"), [(5, SALT), (4, SALT + 1)])
def test_rows_of_another_place_or_file_are_wrong(first: int, salt: int) -> None:
    block = Block(3 * ROW_BYTES)
    block.fill(4, 3 * ROW_BYTES, SALT)
    with pytest.raises(WrongAnswerError):
        block.check(first, 3 * ROW_BYTES, salt, "a file")


def test_the_sum_of_keys_is_theirs() -> None:
    found = np.empty(1000, np.uint64)
    keys(123, found, SALT)
    assert int(np.add.reduce(found)) == sum_of_keys(123, 1000, SALT)


def test_names_that_differ_give_other_salts() -> None:
    assert len({salt_of(1, "a"), salt_of(1, "b"), salt_of(2, "a"), salt_of("1a")}) == 4


@pytest.mark.parametrize("seed", [None, 0, 12345])
@pytest.mark.parametrize("held", [8, 128, 4096, 4104, 100_000])
def test_a_pass_moves_every_byte_once(held: int, seed: int | None) -> None:
    found = list(places(held, held, Sizes(512, seed)))
    assert sum(count for _, count in found) == held
    assert sorted(offset for offset, _ in found) == list(range(0, held, 512))


def test_random_places_are_in_no_order() -> None:
    offsets = [offset for offset, _ in places(512 * 1000, 512 * 1000, Sizes(512, 7))]
    following = sum(second == first + 512 for first, second in itertools.pairwise(offsets))
    assert following < 10


@pytest.mark.parametrize("slots", [1, 2, 3, 10, 97, 1024, 30030])
def test_a_step_meets_every_place(slots: int) -> None:
    step = coprime_step(slots)
    assert len({number * step % slots for number in range(slots)}) == slots


@pytest.mark.parametrize(
    ("moved", "requests", "bufsize", "size"),
    [(10**6, 0, 262144, 262144), (10**6, 0, 1000, 896), (10**6, 1000, 262144, 1024), (1000, 900, 4096, 128)],
)
def test_requests_are_whole_rows(moved: int, requests: int, bufsize: int, size: int) -> None:
    assert sizes_of(moved, requests, bufsize, 1).request_bytes == size


def written(path: Path, size_bytes: int, request_bytes: int) -> OwnFile:
    file = OwnFile(path, size_bytes, 77)
    with contextlib.ExitStack() as opened:
        stream = FileWriter(file, Sizes(request_bytes, 5), Block(request_bytes), opened)
        while stream.moved_bytes < stream.total_bytes:
            stream.move()
    assert path.stat().st_size == size_bytes
    return file


def test_files_are_read_pass_by_pass_until_the_bytes_are_moved(tmp_path: Path) -> None:
    files = [written(tmp_path / "a", 1000 * 8, 384), written(tmp_path / "b", 50 * 8, 128)]
    with contextlib.ExitStack() as opened:
        stream = FileReader(files, 3 * 8400 + 16, Sizes(512), Block(512), opened)
        moves = 0
        while stream.moved_bytes < stream.total_bytes:
            stream.move()
            moves += 1
    assert stream.moved_bytes == 3 * 8400 + 16
    assert moves == 3 * (16 + 1) + 1


def test_a_file_that_was_cut_is_named(tmp_path: Path) -> None:
    file = written(tmp_path / "a", 80 * ROW_BYTES, ROW_BYTES)
    with file.path.open("r+b") as cut:
        cut.truncate(40 * ROW_BYTES)
    with contextlib.ExitStack() as opened:
        stream = FileReader([file], 80 * ROW_BYTES, Sizes(60 * ROW_BYTES), Block(60 * ROW_BYTES), opened)
        with pytest.raises(DamagedTableError, match="is shorter than it was made"):
            stream.move()


class Counted:
    """A stream that only counts."""

    def __init__(self, requests: int) -> None:
        self.total_bytes, self.moved_bytes = requests, 0

    def move(self) -> None:
        self.moved_bytes += 1


def test_streams_take_turns_evenly_over_their_windows() -> None:
    first, second, whole = Counted(10), Counted(30), Counted(400)
    shares: dict[Counted, list[float]] = {first: [], second: [], whole: []}
    looks, last = 0, 0.0
    for at, stream in in_turn([(FIRST, first), (SECOND, second), (WHOLE, whole)]):
        assert at >= last
        last = at
        if stream is None:
            looks += 1
        else:
            assert isinstance(stream, Counted)
            shares[stream].append(at)
            stream.move()
    assert [len(one) for one in shares.values()] == [10, 30, 400]
    assert max(shares[first]) < 0.5 <= min(shares[second])
    assert shares[whole] == pytest.approx([number / 400 for number in range(400)])
    assert looks == 63


def test_a_step_that_moves_nothing_computes_in_slices() -> None:
    assert [at for at, _ in in_turn([])] == [number / 64 for number in range(1, 64)]
