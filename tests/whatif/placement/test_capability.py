"""What a target would do for a role: rates by direction, pattern, size and streams."""

from __future__ import annotations

import msgspec
import pytest

from mawl.whatif.placement.demand import flash_like, overlap, service
from tests.fakes.probed import MB, probe_test, target
from tests.whatif.placement.asked import demand

SLOWER = target("fuller", 10 * MB, 10 * MB, random=0.5)
FASTER = target("dialled", 900 * MB, 900 * MB, random=1.0)


def test_bytes_at_the_rate_of_each_direction_one_after_the_other() -> None:
    found = service(target("a", 100 * MB, 50 * MB, duplex=False), demand("work", 1000, 500))
    assert found is not None
    assert found.seconds == pytest.approx(10 + 10)
    assert found.bytes_per_second == pytest.approx(75 * MB)
    assert found.assumed == []


def test_where_each_direction_has_a_budget_they_run_beside_each_other() -> None:
    both = target("a", 100 * MB, 100 * MB)
    asked = demand("work", 650, 350)
    assert overlap(both, asked) == pytest.approx(1 + 0.35 / 0.65)
    found = service(both, asked)
    assert found is not None
    assert found.seconds == pytest.approx(6.5), "no less than the longer of the two"


def test_random_bytes_go_at_the_random_rate() -> None:
    disk = target("disk", 100 * MB, 100 * MB, random=0.1, duplex=False)
    found = service(disk, demand("data", 1000, 0, sequential=0.5))
    assert found is not None
    assert found.seconds == pytest.approx(5 + 50)
    without = service(
        target("disk", 100 * MB, 100 * MB, random=None), demand("data", 1000, 0, sequential=0.5)
    )
    assert without is not None
    assert without.assumed == [
        "disk: no random read was probed, its sequential rate stands in for 50% of the bytes of data"
    ]


def test_neither_a_fuller_file_system_nor_compressible_content_is_compared() -> None:
    plain = target("disk", 100 * MB, 100 * MB, random=0.05, duplex=False)
    fuller = [msgspec.structs.replace(test, fill_ratio=0.9) for test in SLOWER.tests]
    dialled = [msgspec.structs.replace(test, content="dialled") for test in FASTER.tests]
    mixed = msgspec.structs.replace(plain, tests=[*dialled, *fuller, *plain.tests])
    asked = demand("work", 1000, 500, sequential=0.5)
    assert service(mixed, asked) == service(plain, asked)
    assert overlap(mixed, asked) == overlap(plain, asked)
    assert flash_like(mixed) is flash_like(plain) is False


def test_a_rate_of_zero_is_no_figure() -> None:
    still = probe_test("read", 100 * MB)
    assert still.read is not None
    still = msgspec.structs.replace(still, read=msgspec.structs.replace(still.read, bytes_per_second=0.0))
    disk = msgspec.structs.replace(target("a", 100 * MB, 50 * MB), tests=[still])
    assert service(disk, demand("work", 1000, 0.001)) is None
    jumps = msgspec.structs.replace(still, pattern="random")
    assert flash_like(msgspec.structs.replace(disk, tests=[still, jumps])) is None


def test_a_direction_that_was_not_probed_cannot_be_told() -> None:
    reads = msgspec.structs.replace(target("a", 100 * MB, 50 * MB), tests=[probe_test("read", 100 * MB)])
    assert service(reads, demand("work", 1000, 500)) is None
    found = service(reads, demand("work", 1000, 0))
    assert found is not None
    assert found.seconds == pytest.approx(10)


def test_flash_is_what_does_not_seek() -> None:
    assert flash_like(target("flash", 100 * MB, 100 * MB, random=0.6)) is True
    assert flash_like(target("disk", 100 * MB, 100 * MB, random=0.02)) is False
    assert flash_like(target("unknown", 100 * MB, 100 * MB, random=None)) is None


def test_a_role_that_reads_gains_more_on_a_target_that_reads_faster_than_it_writes() -> None:
    disk = target("disk", 100 * MB, 100 * MB, duplex=False)
    flash = target("flash", 800 * MB, 200 * MB, duplex=False)
    reading, writing = demand("data", 900, 100), demand("util", 100, 900)

    def gain(asked: object) -> float:
        before, after = service(disk, asked), service(flash, asked)  # type: ignore[arg-type]
        assert before is not None and after is not None
        return before.seconds / after.seconds

    assert gain(reading) == pytest.approx(10 / (900 / 800 + 100 / 200))
    assert gain(reading) > 2 * gain(writing)


def test_writes_are_in_order_after_write_back_or_as_they_were_asked() -> None:
    disk = target("disk", 100 * MB, 100 * MB, random=0.1, duplex=False)
    asked = demand("util", 0.001, 1000, sequential=0.5)
    ordered, strict = service(disk, asked), service(disk, asked, ordered=False)
    assert ordered is not None and strict is not None
    assert ordered.seconds == pytest.approx(10, rel=1e-3)
    assert strict.seconds == pytest.approx(5 + 50, rel=1e-3)
