"""The page-cache model: small cases worked out by hand, and laws that hold for any."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, strategies

from mawl.simulation.activity import Way, with_write_behind
from mawl.simulation.demand import StepDemand
from mawl.simulation.page_cache import (
    DeviceWriter,
    PageCache,
    PushedOut,
    WriteBack,
    blocks_of,
    most_dirty_bytes,
)
from mawl.simulation.system import Device
from tests.simulation.scenes import MB, demands, device, flow, side_by_side, simulated, step, system


def read(cache: PageCache, file: str, blocks: int, now: float = 0.0) -> None:
    for number in range(blocks):
        cache.read_block(file, number, 1.0, now)


def write(cache: PageCache, file: str, blocks: int, now: float = 0.0) -> None:
    for number in range(blocks):
        cache.write_block(file, number, 1.0, now)


def test_a_second_pass_over_what_fits_reaches_no_device() -> None:
    cache = PageCache(100.0)
    read(cache, "table", 50)
    read(cache, "table", 50)
    assert (cache.of("").read.application_bytes, cache.of("").read.device_bytes) == (100.0, 50.0)
    assert cache.of("").read.missed_ratio == 0.5


def test_passes_over_more_than_fits_find_nothing_in_order_of_use() -> None:
    cache = PageCache(40.0)
    for _ in range(3):
        read(cache, "table", 50)
    assert cache.of("").read.missed_ratio == 1.0


def test_what_was_pushed_out_and_read_again_is_counted() -> None:
    """The first pass pushes out 10 of 50 blocks, each other pass all 50 that it reads again."""
    cache = PageCache(40.0)
    for _ in range(3):
        read(cache, "table", 50)
    assert cache.pushed_out == PushedOut(evicted_bytes=110.0, reread_bytes=100.0)
    write(cache, "other", 40)
    cache.delete("other", 0.0)
    assert cache.pushed_out == PushedOut(evicted_bytes=150.0, reread_bytes=100.0), (
        "who removes evicts nothing"
    )


def test_what_never_fits_is_pushed_out_at_once() -> None:
    cache = PageCache(0.5)
    read(cache, "table", 3)
    read(cache, "table", 3)
    assert cache.pushed_out == PushedOut(evicted_bytes=6.0, reread_bytes=3.0)


def test_two_thirds_of_what_was_used_twice_survive_one_long_pass() -> None:
    cache = PageCache(60.0)
    read(cache, "small", 20)
    read(cache, "small", 20)
    read(cache, "long", 200)
    before = cache.of("").read.device_bytes
    read(cache, "small", 20)
    assert cache.of("").read.device_bytes == before + 7
    assert cache.held_bytes <= 60.0


def test_writes_wait_until_they_are_a_tenth_of_the_cache_or_half_a_minute_old() -> None:
    cache = PageCache(100.0)
    write(cache, "table", 10)
    assert (cache.of("").written.device_bytes, cache.dirty_bytes) == (0.0, 10.0)
    write(cache, "more", 5)
    assert (cache.of("").written.device_bytes, cache.dirty_bytes) == (11.0, 4.0), "all is sent at once"
    cache.read_block("other", 0, 1.0, now=29.9)
    assert cache.dirty_bytes == 4.0
    cache.read_block("other", 1, 1.0, now=30.0)
    assert (cache.of("").written.device_bytes, cache.dirty_bytes) == (15.0, 0.0)


def test_a_file_is_written_whole_once_its_first_dirty_block_is_old() -> None:
    cache = PageCache(100.0)
    cache.write_block("old", 0, 1.0, 0.0)
    cache.write_block("young", 0, 1.0, 5.0)
    cache.write_block("old", 1, 1.0, 29.0)
    read(cache, "other", 1, now=30.0)
    assert (cache.of("").written.device_bytes, cache.dirty_bytes) == (2.0, 1.0)


def test_all_that_is_dirty_is_written_when_there_is_no_room_for_more() -> None:
    """Linux writes everything once reclaim meets dirty pages, not only the oldest."""
    cache = PageCache(10.0, WriteBack(background_ratio=1.0))
    write(cache, "table", 10)
    assert cache.of("").written.device_bytes == 0.0
    read(cache, "other", 1)
    assert (cache.of("").written.device_bytes, cache.dirty_bytes) == (10.0, 0.0)


def by_folder(capacity_bytes: float) -> PageCache:
    return PageCache(capacity_bytes, kind_of=lambda file: file.partition("/")[0])


def test_beyond_the_threshold_the_written_device_is_sent_at_once_others_at_their_look() -> None:
    cache = by_folder(190.0)
    write(cache, "util/old", 10)
    write(cache, "work/young", 10)
    assert cache.moved["work"].written.device_bytes == 10.0
    read(cache, "data/other", 1, now=4.9)
    assert cache.moved["util"].written.device_bytes == 0.0
    read(cache, "data/other", 1, now=5.0)
    assert cache.moved["util"].written.device_bytes == 10.0, "work wrote all of late, so util has no share"


@pytest.mark.parametrize(("blocks", "sent_at"), [(11, 30.0), (12, 5.0)])
def test_a_device_that_wrote_nothing_may_have_an_eighth_of_what_may_still_become_dirty(
    blocks: int, sent_at: float
) -> None:
    """Of 100: 11 are less than (100 - 11) / 8, 12 more than (100 - 12) / 8."""
    cache = by_folder(1000.0)
    write(cache, "util/table", blocks)
    read(cache, "data/other", 1, now=sent_at - 0.1)
    assert cache.dirty_bytes == blocks
    read(cache, "data/other", 1, now=sent_at)
    assert cache.dirty_bytes == 0.0


def test_a_writer_looks_every_five_seconds_from_the_first_dirty_block() -> None:
    """Files of 1 and 3 s are old at 31 and 33 s, and sent by the looks of 31 and 36 s."""
    cache = by_folder(1000.0)
    cache.write_block("util/first", 0, 1.0, 1.0)
    cache.write_block("util/second", 0, 1.0, 3.0)
    for now, sent in ((30.9, 0.0), (31.0, 1.0), (35.9, 1.0), (36.0, 2.0)):
        read(cache, "data/other", 1, now=now)
        assert cache.moved["util"].written.device_bytes == sent, now


def test_who_removes_a_file_after_a_look_finds_it_sent() -> None:
    cache = PageCache(1000.0, rates={"": 2.0})
    write(cache, "table", 12)
    assert cache.delete("table", 7.0) == pytest.approx(4.0), "sent at 5 s, and written at 11 s"
    assert cache.of("table").written.device_bytes == 12.0


def test_after_all_was_sent_the_next_look_is_five_seconds_after_the_next_dirty_block() -> None:
    """A file of 6 s is old at 36 s, when a look is due, and not at 35 or 40 s."""
    cache = by_folder(1000.0)
    write(cache, "util/table", 12)
    write(cache, "util/next", 1, now=6.0)
    for now, sent in ((35.9, 12.0), (36.0, 13.0)):
        read(cache, "data/other", 1, now=now)
        assert cache.moved["util"].written.device_bytes == sent, now


def test_what_was_written_three_seconds_ago_counts_half() -> None:
    writers = {"work": DeviceWriter(), "util": DeviceWriter(rate=8.0)}

    def most(kind: str, now: float) -> float:
        return most_dirty_bytes(writers, kind, 100.0, 100.0, now)

    assert most("util", 0.0) == 0.0
    writers["work"].send(8.0, 0.0)
    assert writers["util"].send(12.0, 1.5) == 3.0
    assert most("util", 2.9) == 0.0, "util has not written yet"
    assert most("util", 3.0) == pytest.approx(100.0 * 12.0 / (12.0 + 4.0))
    assert most("work", 6.0) == pytest.approx(100.0 * 2.0 / (2.0 + 6.0))
    assert most("work", 100.0) == 0.0, "all is forgotten"


def test_a_block_written_twice_before_it_goes_is_written_once() -> None:
    cache = PageCache(100.0)
    write(cache, "table", 5)
    write(cache, "table", 5)
    read(cache, "other", 1, now=60.0)
    assert (cache.of("").written.application_bytes, cache.of("").written.device_bytes) == (10.0, 5.0)


def test_a_temporary_file_takes_its_writes_with_it() -> None:
    cache = PageCache(100.0)
    write(cache, "temporary", 8)
    cache.delete("temporary", 0.0)
    assert (cache.dirty_bytes, cache.held_bytes, cache.of("").written.device_bytes) == (0.0, 0.0, 0.0)
    read(cache, "temporary", 8)
    assert cache.of("").read.device_bytes == 8.0


def test_who_removes_a_file_waits_for_what_was_sent_to_the_device() -> None:
    """5 s after the write all 8 bytes are sent; at 2 bytes a second the last is there 4 s later.

    The next 8 are sent when they are 30 s old, since the only device that wrote may have all 10 dirty.
    """
    cache = PageCache(100.0, rates={"": 2.0})
    write(cache, "temporary", 8)
    assert cache.delete("temporary", 0.0) == 0.0, "nothing was sent"
    write(cache, "temporary", 8)
    read(cache, "other", 1, now=5.0)
    assert cache.delete_block("temporary", 0, 5.0) == pytest.approx(0.5)
    assert cache.delete("temporary", 5.0) == pytest.approx(4.0)
    write(cache, "again", 8, now=5.0)
    read(cache, "other", 1, now=35.0)
    assert cache.delete("again", 38.0) == pytest.approx(1.0), "4 s less the 3 since it was sent"
    write(cache, "late", 1, now=38.0)
    read(cache, "other", 1, now=68.0)
    assert cache.delete("late", 69.0) <= 0.0, "the device has it"


def test_writes_through_and_direct_requests_reach_the_device_at_once() -> None:
    cache = PageCache(100.0, WriteBack(through=True))
    write(cache, "table", 4)
    assert (cache.of("").written.device_bytes, cache.dirty_bytes) == (4.0, 0.0)
    cache.pass_by(cache.of("").read, 7.0)
    cache.pass_by(cache.of("").read, 7.0)
    assert cache.of("").read.device_bytes == 14.0
    assert cache.held_bytes == 4.0


def test_memory_that_programs_take_is_given_up_and_dirty_blocks_are_written() -> None:
    cache = PageCache(100.0)
    write(cache, "table", 10)
    cache.resize(4.0)
    assert (cache.held_bytes, cache.of("").written.device_bytes) == (4.0, 10.0)
    cache.resize(0.0)
    assert (cache.held_bytes, cache.of("").written.device_bytes) == (0.0, 10.0)
    write(cache, "table", 3)
    assert cache.of("").written.device_bytes == 13.0


def test_the_blocks_of_a_file_add_up() -> None:
    assert blocks_of(10.0, 4.0) == [4.0, 4.0, 2.0]
    assert blocks_of(8.0, 4.0) == [4.0, 4.0]
    assert blocks_of(0.0, 4.0) == []


REQUESTS = strategies.lists(
    strategies.tuples(
        strategies.sampled_from(("read", "write", "delete", "resize")),
        strategies.sampled_from("abc"),
        strategies.integers(0, 20),
    ),
    max_size=300,
)


@pytest.mark.parametrize("through", [False, True])
@given(requests=REQUESTS)
def test_books_balance_whatever_is_asked(through: bool, requests: list[tuple[str, str, int]]) -> None:
    cache = PageCache(12.0, WriteBack(through=through))
    for now, (what, file, number) in enumerate(requests):
        if what == "read":
            cache.read_block(file, number, 1.0, float(now))
        elif what == "write":
            cache.write_block(file, number, 1.0, float(now))
        elif what == "delete":
            cache.delete(file, float(now))
        else:
            cache.resize(float(number))
        assert 0.0 <= cache.dirty_bytes <= cache.held_bytes <= cache.capacity_bytes
        assert cache.of("").read.device_bytes <= cache.of("").read.application_bytes
        assert cache.of("").written.device_bytes + cache.dirty_bytes <= cache.of("").written.application_bytes


def test_a_block_that_goes_by_itself_takes_its_write_with_it_and_leaves_the_others() -> None:
    cache = PageCache(100.0)
    write(cache, "parts", 4)
    cache.delete_block("parts", 1, 0.0)
    cache.delete_block("parts", 1, 0.0)
    cache.delete_block("parts", 9, 0.0)
    assert (cache.held_bytes, cache.dirty_bytes) == (3.0, 3.0)
    cache.delete("parts", 0.0)
    assert (cache.held_bytes, cache.dirty_bytes) == (0.0, 0.0)


def test_first_reads_are_told_from_those_that_memory_would_have_kept() -> None:
    cache = PageCache(2.0)
    for _ in range(2):
        for number in range(4):
            cache.read_block("table", number, 1.0, 0.0)
    cache.pass_by(cache.of("table").read, 2.0)
    read = cache.of("table").read
    assert (read.application_bytes, read.direct_bytes, read.first_bytes) == (10.0, 2.0, 4.0)
    assert (read.missed_ratio, read.first_ratio) == (1.0, 0.5)


def test_dirty_blocks_are_a_part_of_the_machines_memory_where_that_is_told() -> None:
    cache = PageCache(100.0, WriteBack(background_ratio=0.1, beside_bytes=400.0))
    write(cache, "table", 50)
    assert cache.of("table").written.device_bytes == 0.0
    write(cache, "other", 1)
    assert cache.of("table").written.device_bytes == 51.0


GB = 1e9


def behind_ratio(*steps: StepDemand, on: Device | None = None) -> float:
    """Of what the last of the steps writes, the part that it writes behind."""
    own = system(on or device())
    found = with_write_behind(demands({"j": list(steps)}), Way(own, own.nodes[0]))
    return found["j"].steps[-1].flows[-1].behind_ratio


def writer(megabytes: float, cpu: float = 0.0, ratio: float = 1.0) -> StepDemand:
    """It writes to the page cache; ``ratio`` of it is written behind."""
    return step(cpu, replace(flow(megabytes), behind_ratio=ratio), memory_bytes=0.0)


def test_a_run_shows_what_was_written_behind_by_how_long_steps_waited() -> None:
    """100 MB at 100 MB/s: after a wait of 1 s nothing was written behind, of 0.25 s three quarters."""
    assert behind_ratio(step(0.0, flow(100), blocked=1.0)) == 0.0
    assert behind_ratio(step(0.0, flow(100), blocked=0.25)) == pytest.approx(0.75)
    assert behind_ratio(step(0.0, flow(100))) == 1.0
    assert behind_ratio(step(0.0, flow(100), blocked=0.4)) == 0.0, "it was held back"
    in_memory = replace(flow(100), device_bytes=0.0)
    assert behind_ratio(step(0.0, in_memory)) == 1.0
    assert behind_ratio(step(0.0, flow(100), blocked=5.0)) == 0.0


def test_steps_that_only_write_tell_it_and_others_less_the_time_of_their_reads() -> None:
    both = step(0.0, flow(100, direction="read"), flow(100), blocked=1.25)
    assert behind_ratio(both) == pytest.approx(0.75)
    assert behind_ratio(step(0.0, flow(100)), both) == 1.0


def test_what_other_nodes_share_is_written_when_a_file_is_closed() -> None:
    assert behind_ratio(step(0.0, flow(100)), on=device("array", local=False)) == 0.0


def test_direct_writes_are_waited_for_and_do_not_tell_what_is_written_behind() -> None:
    """50 MB direct took the 0.5 s that the step waited, so all of the other 50 MB was written behind."""
    assert behind_ratio(step(0.0, replace(flow(100), direct_ratio=0.5), blocked=0.5)) == 1.0
    assert replace(flow(100), behind_ratio=1.0, direct_ratio=1.0).behind_bytes == 0.0
    assert replace(flow(100), behind_ratio=0.5, direct_ratio=0.4).behind_bytes == pytest.approx(30.0 * MB)


def test_steps_whose_waits_nobody_measured_tell_nothing() -> None:
    unknown = step(0.0, flow(100), waits_known=False)
    assert behind_ratio(unknown) == 0.0
    assert behind_ratio(unknown, step(0.0, flow(100), blocked=0.25)) == pytest.approx(0.75)


def test_a_step_waits_in_the_simulation_as_long_as_it_did() -> None:
    """What it waits for has the device before what the kernel writes: 25 MB at 100 MB/s take 0.25 s."""
    own = system()
    measured = demands({"j": [step(0.0, flow(100), blocked=0.25)]})
    (job,) = with_write_behind(measured, Way(own, own.nodes[0])).values()
    found = simulated(own, *side_by_side([list(job.steps)]))
    assert found.elapsed_seconds == pytest.approx(0.25)
    assert found.jobs[0].steps[0].blocked()["work"] == pytest.approx(0.25)


def test_a_job_goes_on_and_ends_while_its_bytes_are_written() -> None:
    """1 s of CPU and 500 MB at 100 MB/s: 1 s; with nothing behind it takes 5 s."""
    found = simulated(system(), *side_by_side([[writer(500, cpu=1.0)]]))
    assert found.elapsed_seconds == pytest.approx(1.0)
    waiting = simulated(system(), *side_by_side([[writer(500, cpu=1.0, ratio=0.0)]]))
    assert waiting.elapsed_seconds == pytest.approx(5.0)


def test_what_is_written_behind_has_what_steps_leave_of_the_device_and_is_no_job() -> None:
    """500 MB are written behind; another job waits for 100 MB of its own: 1 s, with all of the device."""
    sessions = side_by_side([[writer(500, cpu=10.0)], [step(0.0, flow(100))]])
    found = simulated(system(), *sessions)
    assert found.jobs[1].ended == pytest.approx(1.0)
    assert found.elapsed_seconds == pytest.approx(10.0)
    assert found.recording.running(0).max() == 2.0
    assert found.recording.cumulative(0, "device.write")[-1] == pytest.approx(600 * MB)


def test_a_writer_waits_for_what_is_more_than_may_be_dirty() -> None:
    """2 GB in a memory of 10 GB: 1.5 GB may be dirty, so it waits for 0.5 GB at 100 MB/s."""
    small = system(memory_bytes=10 * GB)
    found = simulated(small, *side_by_side([[writer(2000)]]))
    assert found.elapsed_seconds == pytest.approx(5.0)
    assert found.jobs[0].steps[0].blocked()["work"] == pytest.approx(5.0)


def test_steps_in_a_row_share_what_may_be_dirty() -> None:
    """After 1 s 100 MB are written, so 600 MB of the second GB have room, and 400 MB take 4 s."""
    steps = [writer(1000, cpu=1.0), writer(1000, cpu=1.0)]
    found = simulated(system(memory_bytes=10 * GB), *side_by_side([steps]))
    first, second = found.jobs[0].steps
    assert first.ended - first.started == pytest.approx(1.0)
    assert second.ended - second.started == pytest.approx(4.0, abs=0.01)


def test_the_kernel_has_one_writer_for_a_role_however_many_steps_wrote() -> None:
    """20 steps wrote 50 MB each in 20 s: a writer of 100 MB/s keeps up, whoever comes after."""
    steps = [writer(50, cpu=1.0) for _ in range(20)]
    found = simulated(system(), *side_by_side([steps]))
    assert found.elapsed_seconds == pytest.approx(20.0)
    assert found.recording.cumulative(0, "device.write")[-1] == pytest.approx(1000 * MB)
    late = simulated(system(), *side_by_side([[*steps, step(0.0, flow(100, direction="read"))]]))
    assert late.elapsed_seconds == pytest.approx(21.0)


def test_a_part_of_a_machine_may_be_dirty_up_to_its_own_memory() -> None:
    resources = simulated(system(memory_bytes=2 * GB), *side_by_side([[step(1.0)]])).resources
    assert resources.dirty_bytes(0, 1 * GB) == pytest.approx(0.15 * GB)
    resources.machine_bytes = 24 * GB
    assert resources.dirty_bytes(0, 1 * GB) == pytest.approx(1 * GB)
    resources.machine_bytes = 1 * GB
    assert resources.dirty_bytes(0, 1 * GB) == pytest.approx(0.3 * GB), "a node has no less than its own"
    resources.machine_bytes = 4 * GB
    assert resources.dirty_bytes(0, 1 * GB) == pytest.approx(0.6 * GB)
    assert resources.dirty_bytes(0, 3 * GB) == 0.0
