"""Which processes of others are named, from a folder that stands in for /proc."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from mawl.measure.other_programs import (
    CONTAINED,
    HIDDEN,
    MOST_ENDED,
    MOST_KERNEL_THREADS,
    MOST_PROGRAMS,
    OtherPrograms,
)
from mawl.records.model.node import OtherProgram, notable
from tests.fakes.tree import plant, plant_process

KERNEL = 0x00200000
GONE = None

Look = dict[int, dict[str, Any] | None]
"""Pid to what is planted; ``GONE`` where the process ended."""


def watched(proc: Path, *looks: Look, mark: str | None = None) -> OtherPrograms:
    """The watch after these looks, each with what changed since the one before."""
    plant_process(proc, 1, "init", parent=0)
    watch = OtherPrograms("n", mark, proc, ticks_per_second=100)
    for number, look in enumerate(looks, 1):
        for pid, process in look.items():
            if process is GONE:
                (proc / f"{pid}/stat").unlink()
            else:
                plant_process(proc, pid, **{"name": "a", **process})
        watch.look(last=number == len(looks))
    return watch


def used(watch: OtherPrograms) -> dict[int, tuple[float, int | None, int | None]]:
    return {one.pid: (one.cpu_seconds, one.read_bytes, one.written_bytes) for one in watch.programs() or []}


@pytest.mark.parametrize(
    ("looks", "expected"),
    [
        pytest.param(
            [{7: {"user": 900, "moved": (10, 20)}}, {7: {"user": 950, "system": 8, "moved": (15, 50)}}],
            {7: (0.58, 5, 30)},
            id="only what it used between the looks",
        ),
        pytest.param(
            [{7: {"user": 1, "moved": (0, 0)}}, {7: {"user": 1, "moved": (0, 10**9)}}],
            {7: (0.0, 0, 10**9)},
            id="bytes without a tick of CPU time",
        ),
        pytest.param(
            [{7: {"user": 900}}, {7: {"user": 940}}], {7: (0.4, None, None)}, id="bytes that may not be read"
        ),
        pytest.param(
            [{}, {7: {"user": 30, "moved": (1, 2)}}, {7: GONE}],
            {7: (0.3, 1, 2)},
            id="it lived between two looks",
        ),
        pytest.param(
            [{7: {"user": 900}}, {7: {"user": 20, "started": 5}}],
            {7: (0.2, None, None)},
            id="its pid is used again",
        ),
        pytest.param(
            [{7: {"reaped": 50, "moved": (0, 0)}}, {7: {"reaped": 80, "moved": (0, 9)}}],
            {7: (0.3, 0, 9)},
            id="a child that no look saw is in its parent",
        ),
        pytest.param(
            [
                {7: {"moved": (0, 0)}, 8: {"parent": 7, "user": 100, "moved": (0, 40)}},
                {8: {"parent": 7, "user": 300, "moved": (0, 90)}},
                {8: GONE, 7: {"reaped": 310, "moved": (0, 95)}},
            ],
            {7: (0.1, 0, 5), 8: (2.0, 0, 50)},
            id="a child that was seen counts once",
        ),
        pytest.param(
            [
                {7: {}, 8: {"parent": 7}, 9: {"parent": 8}},
                {9: {"parent": 8, "user": 300}},
                {8: GONE, 9: GONE, 7: {"reaped": 300}},
            ],
            {9: (3.0, None, None)},
            id="and so does one whose parent ended, too",
        ),
        pytest.param(
            [
                {7: {"moved": (0, 0)}, 8: {"parent": 7, "user": 0, "moved": (0, 0)}},
                {7: {"user": 50, "moved": (0, 500)}, 8: {"parent": 7, "user": 300, "moved": (0, 400)}},
                {8: GONE},
                {},
            ],
            {7: (0.5, 0, 500), 8: (3.0, 0, 400)},
            id="a parent that reaps no child keeps what is its own",
        ),
        pytest.param(
            [
                {7: {}, 8: {"parent": 7}},
                {8: {"parent": 7, "user": 300}},
                {8: GONE},
                {7: {"reaped": 300}},
            ],
            {8: (3.0, None, None)},
            id="a child that is reaped between its look and its parent's",
        ),
        pytest.param(
            [
                {7: {"flags": KERNEL, "moved": (0, 0)}},
                {7: {"flags": KERNEL, "user": 20, "moved": (0, 10**9)}},
            ],
            {7: (0.2, None, None)},
            id="a kernel thread writes for others",
        ),
        pytest.param(
            [{os.getpid(): {}, 7: {"parent": os.getpid()}}, {os.getpid(): {"user": 900}, 7: {"user": 900}}],
            {},
            id="this process and what was ever below it",
        ),
    ],
)
def test_what_others_used(
    tmp_path: Path, looks: list[Any], expected: dict[int, tuple[float, int | None, int | None]]
) -> None:
    assert used(watched(tmp_path, *looks)) == expected


def test_processes_of_the_same_run_are_its_own(tmp_path: Path) -> None:
    plant(tmp_path, {"7/environ": "A=1\0MAWL_RUN_ID=r1\0", "8/environ": "MAWL_RUN_ID=r11\0"})
    plant(tmp_path, {"9/environ": "MAWL_RUN_ID=r1-node2\0"})
    watch = watched(
        tmp_path, {7: {}, 8: {}, 9: {}}, {pid: {"user": 50} for pid in (7, 8, 9)}, mark="MAWL_RUN_ID=r1"
    )
    assert used(watch).keys() == {8}


def test_the_largest_are_named_and_then_kernel_threads(tmp_path: Path) -> None:
    many = range(100, 100 + 2 * MOST_PROGRAMS)
    threads = range(200, 200 + 2 * MOST_KERNEL_THREADS)
    looks: list[Look] = [
        {
            **{pid: {"user": pid * step, "moved": (0, 0)} for pid in many},
            **{pid: {"user": 900 * step, "flags": KERNEL} for pid in threads},
            50: {"moved": (0, step * 10**9)},
        }
        for step in (0, 1)
    ]
    programs = watched(tmp_path, *looks).programs() or []
    assert [one.pid for one in programs[:3]] == [50, many[-1], many[-2]]
    assert [one.kernel_thread for one in programs] == [False] * MOST_PROGRAMS + [True] * MOST_KERNEL_THREADS


def test_a_hostile_name_is_one_line(tmp_path: Path) -> None:
    name = "a) R 1\n\x1b[2J (b"
    watch = watched(tmp_path, {7: {"name": name}}, {7: {"name": name, "user": 1234}})
    assert [str(one) for one in watch.programs() or []] == ["a) R 1 [2J (b (pid 7) used 12.3 CPU seconds"]


@pytest.mark.parametrize(
    ("used", "words"),
    [
        ((58.1, 10**6 - 1, 1_200_000_000), "used 58.1 CPU seconds and wrote 1.20 GB"),
        ((58.1, 3 * 10**9, 1_200_000_000), "used 58.1 CPU seconds, read 3.00 GB and wrote 1.20 GB"),
        ((0.04, 0, 10**9), "wrote 1.00 GB"),
        ((0.04, None, None), "used 0.0 CPU seconds"),
    ],
)
def test_the_words_name_what_is_worth_it(used: tuple[float, int | None, int | None], words: str) -> None:
    cpu, read, written = used
    program = OtherProgram(node="n", pid=7, name="a", cpu_seconds=cpu, read_bytes=read, written_bytes=written)
    assert notable([program]) == ([] if words == "used 0.0 CPU seconds" else [program])
    assert str(program) == f"a (pid 7) {words}"


def test_what_cannot_be_seen_is_not_called_nothing(tmp_path: Path) -> None:
    assert (OtherPrograms("n", proc=tmp_path).programs(), OtherPrograms("n", proc=tmp_path).hidden()) == (
        None,
        "the run ended before its gate opened",
    )
    watch = watched(tmp_path, {}, {})
    assert (watch.programs(), watch.hidden()) == ([], None)
    (tmp_path / "self/ns").mkdir(parents=True)
    (tmp_path / "self/ns/pid").symlink_to("pid:[4026532999]")
    assert (watch.programs(), watch.hidden()) == (None, CONTAINED)
    (tmp_path / "1/stat").unlink()
    assert (watch.programs(), watch.hidden()) == (None, HIDDEN)
    seen = watched(tmp_path, {7: {}}, {7: {"user": 5}})
    assert used(seen) == {7: (0.05, None, None)} and seen.hidden() == CONTAINED


def test_looks_are_ten_seconds_apart(tmp_path: Path) -> None:
    watch = watched(tmp_path)
    for at, user, seen in ((0.0, 0, {}), (9.0, 70, {}), (10.1, 80, {7: (0.8, None, None)})):
        plant_process(tmp_path, 7, "a", user=user)
        watch.look_when_due(at)
        assert used(watch) == seen


def test_of_many_that_ended_the_largest_are_remembered(tmp_path: Path) -> None:
    ended = range(1000, 1002 + MOST_ENDED)
    watch = watched(tmp_path, {}, {pid: {"user": pid} for pid in ended}, dict.fromkeys(ended, GONE), {})
    assert len(watch._known) < MOST_ENDED
    assert used(watch)[ended[-1]] == (ended[-1] / 100, None, None)
