"""What all devices of a role, or of all roles, may move together under the caps of control groups."""

from __future__ import annotations

import random
from itertools import chain, combinations

import msgspec
import pytest

from mawl.figures.caps import CoveringCap, Device, caps_block, least_cover
from mawl.figures.missing import Missing
from mawl.records.model.node import IoCap
from mawl.records.model.run import RunFacts, VolumeFacts, WorkloadFacts
from mawl.records.spec.program_options import Role


def held(value: int, *carries: str) -> CoveringCap:
    return CoveringCap(
        ("n", f"cap{value}"), "read", "bytes_per_second", value, "f", frozenset(map(place, carries))
    )


def place(name: str) -> Device:
    return ("n", name)


def cap(device: str, value: int, *carries: str, requests: bool = False) -> IoCap:
    return IoCap(
        device=device,
        direction="write",
        bytes_per_second=None if requests else value,
        requests_per_second=value if requests else None,
        file=f"/groups/{device}",
        carries=list(carries),
    )


def volume(role: Role, *devices: str, caps: list[IoCap] | None, why: str | None = None) -> VolumeFacts:
    return VolumeFacts(
        role=role,
        node="n",
        directory=f"/{role}",
        devices=list(devices),
        layers=list(devices),
        caps=caps,
        caps_reason=why,
    )


def facts(*volumes: VolumeFacts) -> RunFacts:
    workload = WorkloadFacts(name="w", title="", sessions=1, jobs=1)
    return RunFacts(
        run_id="r",
        kind="measured",
        mawl_version="0",
        workload=workload,
        outcome="completed",
        started_at=0.0,
        volumes=list(volumes),
    )


@pytest.mark.parametrize(
    ("places", "caps", "total"),
    [
        ("a", [held(100, "a")], 100),
        ("ab", [held(100, "a"), held(200, "b")], 300),
        ("ab", [held(100, "a")], None),
        ("ab", [held(100, "a", "b")], 100),
        ("ab", [held(60, "a"), held(70, "b"), held(100, "a", "b")], 100),
        ("ab", [held(60, "a"), held(70, "b"), held(500, "a", "b")], 130),
        ("ab", [held(60, "a"), held(500, "a", "b")], 500),
        ("a", [held(100, "a"), held(40, "a", "other")], 40),
        ("a", [held(100)], None),
        ("", [held(100, "a")], None),
    ],
)
def test_what_devices_can_move_together(places: str, caps: list[CoveringCap], total: int | None) -> None:
    assert least_cover({place(name) for name in places}, caps)[0] == total


@pytest.mark.parametrize("seed", range(20))
def test_it_is_the_least_sum_of_caps_that_hold_all_devices(seed: int) -> None:
    """Against all choices of caps that hold every device, with paths as devices form them: a tree."""
    draw = random.Random(seed)
    names = [str(number) for number in range(5)]
    caps, groups = [], [[name] for name in names]
    while len(groups) > 1:
        caps += [held(draw.randint(1, 99), *group) for group in groups if draw.random() < 0.7]
        groups = [groups[0] + groups[1], *groups[2:]]
        draw.shuffle(groups)
    caps.append(held(draw.randint(1, 200), *names))
    choices = chain.from_iterable(combinations(caps, size) for size in range(1, len(caps) + 1))
    sums = [
        sum(one.value for one in choice)
        for choice in choices
        if frozenset().union(*(one.carries for one in choice)) >= set(map(place, names))
    ]
    assert least_cover(set(map(place, names)), caps)[0] == min(sums)


def test_roles_on_one_capped_device_have_its_cap_and_all_together_have_it_once() -> None:
    shared = [cap("sda", 100, "sda1"), cap("sda", 30, "sda1", requests=True)]
    missing: Missing = {}
    found = caps_block(
        facts(
            volume("data", "sda1", caps=shared),
            volume("work", "sda1", caps=shared),
            volume("util", "sdb", caps=[cap("sdb", 7, "sdb")]),
        ),
        missing,
    )
    assert [getattr(found, role).write.bytes_per_second for role in ("data", "work", "util")] == [100, 100, 7]
    assert found.together.write.bytes_per_second == 107
    assert found.together.write.devices == ["sda", "sdb"]
    assert sorted(found.together.write.files) == ["/groups/sda", "/groups/sdb"]
    assert (found.data.write.requests_per_second, found.util.write.requests_per_second) == (30, None)
    assert missing["caps.together.write.requests_per_second"] == "only a part of its bytes is capped, at sda"
    assert missing["caps.data.read.bytes_per_second"] == "no cap of this kind is set"


def test_no_cap_and_not_known_are_null_with_different_reasons() -> None:
    missing: Missing = {}
    found = caps_block(
        facts(
            volume("data", "sda", caps=[], why="no cap: none of its devices"),
            volume("work", "sdb", caps=None, why="not known: denied"),
        ),
        missing,
    )
    for role, why in (
        ("data", "no cap: none of its devices"),
        ("work", "not known: denied"),
        ("util", "not known: the run does not say what holds the role"),
        ("together", "not known: denied"),
    ):
        assert getattr(found, role).read.bytes_per_second is None
        assert missing[f"caps.{role}.read.bytes_per_second"] == why


def test_a_run_of_an_older_format_says_that_it_did_not_look() -> None:
    missing: Missing = {}
    caps_block(facts(volume("data", "sda", caps=None)), missing)
    assert missing["caps.data.write.bytes_per_second"].startswith("not known: the run did not look for caps")


def test_a_cap_behind_stripes_holds_for_a_part_and_gives_no_sum() -> None:
    missing: Missing = {}
    found = caps_block(facts(volume("data", "md0", caps=[cap("sda", 100)])), missing)
    assert found.data.write.bytes_per_second is None
    assert missing["caps.data.write.bytes_per_second"] == "only a part of its bytes is capped, at sda"


def test_memory_beside_a_capped_device_changes_nothing() -> None:
    memory = msgspec.structs.replace(volume("util", caps=None, why="tmpfs is memory"), file_system="tmpfs")
    missing: Missing = {}
    found = caps_block(
        facts(
            volume("data", "sda", caps=[cap("sda", 5, "sda")]),
            volume("work", "sda", caps=[cap("sda", 5, "sda")]),
            memory,
        ),
        missing,
    )
    assert found.together.write.bytes_per_second == 5
    assert missing["caps.util.write.bytes_per_second"] == "tmpfs is memory"
