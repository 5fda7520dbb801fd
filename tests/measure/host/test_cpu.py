"""Busy cores from a folder that stands in for /proc and /sys of machines with several threads a core."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path

import pytest

from mawl.measure.host.files import Figures
from mawl.measure.host.resources import TICKS_PER_SECOND, Cpu
from tests.fakes.tree import plant

CPUS = "sys/devices/system/cpu"
TWO_SOCKETS = [[n, n + 4] for n in range(4)]
POWER_SMT8 = [list(range(8)), list(range(8, 16))]
HYBRID = [[0, 1], [2, 3], [4], [5]]
"""Two cores with two threads, two with one."""


def machine(root: Path, cores: Sequence[Sequence[int]]) -> None:
    numbers = sorted(itertools.chain(*cores))
    plant(root, {f"{CPUS}/online": f"{numbers[0]}-{numbers[-1]}\n"})
    for core in cores:
        told = ",".join(map(str, core))
        plant(root, {f"{CPUS}/cpu{number}/topology/core_cpus_list": f"{told}\n" for number in core})


def stat(root: Path, busy: dict[int, float], seconds: int, count: int) -> None:
    """``/proc/stat`` after ``seconds``, with each processor busy for so many of them."""

    def ticks(value: float) -> int:
        return round(value * TICKS_PER_SECOND)

    rows = [(number, busy.get(number, 0.0)) for number in range(count)]
    total = sum(one for _, one in rows)
    lines = [f"cpu  {ticks(total)} 0 0 {ticks(seconds * count - total)} 0 0 0 0 0 0"]
    lines += [f"cpu{n} {ticks(one)} 0 0 {ticks(seconds - one)} 0 0 0 0 0 0" for n, one in rows]
    plant(root, {"proc/stat": "\n".join([*lines, "intr 0", "ctxt 0", "procs_running 1", ""])})


def after(root: Path, cores: Sequence[Sequence[int]], looks: Sequence[dict[int, float]]) -> Figures:
    """The series after a look at the start and one after each second; looks are cumulative."""
    machine(root, cores)
    count = max(map(max, cores)) + 1
    stat(root, {}, 0, count)
    source, figures = Cpu(root / "proc", root / "sys"), Figures()
    source.read(figures)
    for second, busy in enumerate(looks, 1):
        stat(root, busy, second, count)
        source.read(figures)
    source.close()
    return figures


def bounds(figures: Figures) -> tuple[float, float, float]:
    names = ("least_seconds", "seconds", "most_seconds")
    least, seconds, most = (figures[f"host.core_busy_{name}"] for name in names)
    return least, seconds, most


@pytest.mark.parametrize(
    ("cores", "busy", "least", "most"),
    [
        (TWO_SOCKETS, {0: 0.5, 4: 0.5}, 0.5, 1.0),
        (TWO_SOCKETS, {0: 0.5, 1: 0.5}, 1.0, 1.0),  # two cores: nothing is unknown
        (TWO_SOCKETS, dict.fromkeys(range(8), 1.0), 4.0, 4.0),
        (POWER_SMT8, dict.fromkeys(range(8), 0.25), 0.25, 1.0),
        (POWER_SMT8, dict.fromkeys(range(16), 1.0), 2.0, 2.0),
        (HYBRID, {0: 0.75, 1: 0.5, 4: 0.5, 5: 1.0}, 2.25, 2.5),
    ],
)
def test_the_truth_lies_between_the_longest_thread_and_the_sum(
    tmp_path: Path, cores: Sequence[Sequence[int]], busy: dict[int, float], least: float, most: float
) -> None:
    found = bounds(after(tmp_path, cores, [busy]))
    assert found[0] == pytest.approx(least)
    assert found[2] == pytest.approx(most)
    assert least - 1e-9 <= found[1] <= most + 1e-9
    assert most <= len(cores), "never above cores times the time"


def test_bounds_are_of_each_second_and_not_of_the_whole(tmp_path: Path) -> None:
    """One thread in the first second, the other in the next: the core was busy for both."""
    assert bounds(after(tmp_path, [[0, 1]], [{0: 1.0}, {0: 1.0, 1: 1.0}])) == pytest.approx((2.0, 2.0, 2.0))


def test_with_one_thread_a_core_the_busy_time_is_exact_and_has_no_bounds(tmp_path: Path) -> None:
    figures = after(tmp_path, [[0], [1]], [{0: 0.5, 1: 0.25}])
    assert figures["host.core_busy_seconds"] == pytest.approx(0.75)
    assert "host.core_busy_least_seconds" not in figures
