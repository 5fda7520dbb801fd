"""The page-cache model: small cases worked out by hand, and laws that hold for any."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies

from mawl.simulation.page_cache import (
    DeviceWriter,
    PageCache,
    PushedOut,
    WriteBack,
    blocks_of,
    most_dirty_bytes,
)


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
