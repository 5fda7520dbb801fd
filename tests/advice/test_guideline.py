"""The guideline of a probe: sequential rates by as many streams as cores; the lower decides."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from mawl.advice.bounds import AnswerBounds
from mawl.advice.guideline import guideline_of, probe_guidelines
from mawl.records.model.probe import ProbeTest
from tests.fakes.measured_run import reading_of
from tests.fakes.probes import KIB, MB, disk, probe, probe_test, target
from tests.fakes.stored_run import ON_SDA, facts
from tests.fakes.views import plain


def judged(*tests: ProbeTest, cores: float | None = 2.0) -> dict[str, Any]:
    return plain(probe_guidelines(probe(target("x", list(tests)), cores=cores), AnswerBounds())["x"])


def test_rates_are_per_core_and_of_as_many_streams_as_cores() -> None:
    found = plain(probe_guidelines(probe(disk()), AnswerBounds())["data"])
    assert found["read_bytes_per_second_per_core"] == 200 * MB
    assert found["write_bytes_per_second_per_core"] == 100 * MB
    assert found["read_test"] == "sequential read, 256 KiB, 2 streams, direct"
    assert (found["standing"], found["met"], found["core_basis"]) == ("warn", True, "vCPU")
    assert found["reason"] is None


@pytest.mark.parametrize(
    ("read", "write", "standing", "met"),
    [
        (300, 300, "good", True),
        (299.8, 900, "warn", True),
        (200, 900, "warn", True),
        (900, 199.8, "below", False),
    ],
)
def test_the_lower_of_both_stands_between_the_bounds(
    read: float, write: float, standing: str, met: bool
) -> None:
    found = judged(probe_test("read", read), probe_test("write", write))
    assert (found["standing"], found["met"]) == (standing, met)


@pytest.mark.parametrize(("work", "role"), [(90.0, "work"), (900.0, "data")])
def test_of_a_run_with_a_probe_the_lowest_target_is_named(work: float, role: str) -> None:
    tests = {"sda": 400.0, "sdb": work}
    targets = [
        target(disk, [probe_test(way, rate) for way in ("read", "write")], devices=[disk])
        for disk, rate in tests.items()
    ]
    volumes = [replace(one, devices=["sdb" if one.role == "work" else "sda"]) for one in ON_SDA]
    view = reading_of(of=facts(volumes=volumes))
    found = guideline_of(view, None, probe(*targets), AnswerBounds(), {})
    assert (found.basis, found.role) == ("probe", role)
    assert found.bytes_per_second_per_core == min(tests.values()) * MB / 2


@pytest.mark.parametrize(
    ("names", "role"), [(("data", "work", "util"), "util"), (("data", "spare"), "work"), (("here",), "data")]
)
def test_a_target_is_named_for_its_own_role(names: tuple[str, ...], role: str) -> None:
    """Of targets on one disk the lowest decides: its rate is not called that of another role's target."""
    rates = {name: 400.0 - 100.0 * number for number, name in enumerate(names)}
    targets = [
        target(name, [probe_test(way, rate) for way in ("read", "write")], devices=["sda"])
        for name, rate in rates.items()
    ]
    view = reading_of(of=facts(volumes=ON_SDA))
    found = guideline_of(view, None, probe(*targets), AnswerBounds(), {})
    assert (found.basis, found.role) == ("probe", role)


def test_other_bounds_are_the_runs() -> None:
    strict = AnswerBounds(warn_bytes_per_second_per_core=300e6, good_bytes_per_second_per_core=400e6)
    found = plain(probe_guidelines(probe(disk()), strict)["data"])
    assert (found["standing"], found["warn_bytes_per_second_per_core"]) == ("below", 300e6)


def test_the_nearest_number_of_streams_stands_in_and_is_named() -> None:
    found = judged(
        probe_test("read", 100, streams=8),
        probe_test("read", 90, streams=4),
        probe_test("write", 100, streams=1),
    )
    assert found["read_test"] == "sequential read, 256 KiB, 4 streams, direct"
    assert found["write_test"] == "sequential write, 256 KiB, 1 stream, direct"


@pytest.mark.parametrize(
    ("tests", "cores", "reason"),
    [
        ([probe_test("read", 900)], 2.0, "it has no sequential write test of 256 KiB with figures"),
        (
            [probe_test("read", 900, request_bytes=KIB), probe_test("write", 900, request_bytes=2**20)],
            2.0,
            "it has no sequential read test of 256 KiB with figures",
        ),
        ([], 2.0, "it has no sequential read test of 256 KiB with figures"),
        ([probe_test("read", 900), probe_test("write", 900)], None, "the cores of the node that probed"),
    ],
)
def test_what_is_not_known_is_null_with_a_reason(
    tests: list[ProbeTest], cores: float | None, reason: str
) -> None:
    found = judged(*tests, cores=cores)
    assert (found["standing"], found["met"]) == (None, None)
    assert reason in found["reason"]
