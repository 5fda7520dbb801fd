"""What each listing of the kernel says, from recorded texts.

Busy cores from a folder that stands in for /proc and /sys of machines with several threads a core.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path

import pytest

from mawl.measure.host.devices import disk_figure_names, parse_counter, parse_disk_line, parse_network
from mawl.measure.host.files import Figures
from mawl.measure.host.resources import (
    TICKS_PER_SECOND,
    BusyCores,
    Cpu,
    parse_cpu_stat,
    parse_meminfo,
    parse_memory_events,
    parse_pressure,
    parse_processors,
    parse_totals,
    parse_vmstat,
)
from mawl.measure.host.shared_storage import parse_llite, parse_mmpmon, parse_mountstats
from tests.fakes.tree import plant
from tests.measure.host import recorded


def test_processor_time_and_the_scheduler_s_gauges() -> None:
    assert parse_totals(recorded.STAT.encode(), 100) == {
        "host.cpu_user_seconds": 10.2,
        "host.cpu_system_seconds": 3.0,
        "host.cpu_idle_seconds": 50.0,
        "host.cpu_iowait_seconds": 0.4,
        "host.cpu_interrupt_seconds": 0.2,
        "host.cpu_steal_seconds": 0.25,
        "host.context_switches": 21708031,
        "host.runnable": 3,
        "host.blocked_processes": 2,
    }


def test_a_kernel_without_steal_has_no_figure_for_it() -> None:
    assert "host.cpu_steal_seconds" not in parse_totals(b"cpu  1 2 3 4 5 6 7\ncpu0 1 2 3 4 5 6 7\n")


def test_busy_ticks_of_each_processor() -> None:
    busy = 500 + 10 + 150 + 7 + 3
    assert parse_processors(recorded.STAT.encode())[0] == (busy, busy + 2500 + 20 + 15)
    assert set(parse_processors(recorded.STAT.encode())) == {0, 1}


@pytest.mark.parametrize(
    ("first", "second", "seconds"),
    [
        (1.0, 0.0, 1.0),  # one thread busy: the core is
        (1.0, 1.0, 1.0),  # both busy: it is one core
        (0.5, 0.5, 0.75),  # independent: 1 - 0.5 * 0.5, between 0.5 and 1
        (0.0, 0.0, 0.0),
    ],
)
def test_a_core_is_busy_when_any_of_its_threads_is(first: float, second: float, seconds: float) -> None:
    cores = BusyCores([[0, 2], [1, 3]], ticks_per_second=100)
    cores.add(dict.fromkeys(range(4), (1000, 5000)))
    after = {0: first, 2: second, 1: 0.0, 3: 0.0}
    found = cores.add({n: (1000 + int(100 * share), 5100) for n, share in after.items()})
    assert found["host.core_busy_seconds"] == pytest.approx(seconds)
    assert found["host.core_busy_least_seconds"] == pytest.approx(max(first, second))
    assert found["host.core_busy_most_seconds"] == pytest.approx(min(first + second, 1.0))


def test_processors_that_go_and_come_back_add_nothing_by_it() -> None:
    cores = BusyCores([[0, 1]], ticks_per_second=100)
    cores.add({0: (0, 0), 1: (900, 1000)})
    cores.add({0: (100, 100)})
    assert cores.add({0: (200, 200), 1: (950, 1100)})["host.core_busy_seconds"] == pytest.approx(2.0)


def test_memory_is_in_bytes_and_swap_is_counted_in_pages() -> None:
    assert parse_meminfo(recorded.MEMINFO.encode()) == {
        "host.memory_available_bytes": 24164432 * 1024,
        "host.memory_free_bytes": 23735936 * 1024,
        "host.memory_cached_bytes": 600688 * 1024,
        "host.memory_dirty_bytes": 6292 * 1024,
        "host.memory_writeback_bytes": 64 * 1024,
    }
    assert parse_vmstat(recorded.VMSTAT.encode(), page_bytes=65536) == {
        "host.page_ins_bytes": 28467497 * 1024,
        "host.page_outs_bytes": 72960400 * 1024,
        "host.swap_read_bytes": 11 * 65536,
        "host.swap_written_bytes": 12 * 65536,
        "host.major_faults": 4321,
        "host.cache_evicted_bytes": 21 * 65536,
        "host.cache_reread_bytes": 13 * 65536,
    }
    before_linux_5_9 = recorded.VMSTAT.replace("pgsteal_file", "pgsteal_normal").replace(
        "refault_file", "refault"
    )
    assert not any("cache" in name for name in parse_vmstat(before_linux_5_9.encode()))


@pytest.mark.parametrize(("row", "flushes"), [(0, None), (2, None), (3, (51, 0.029))])
def test_diskstats_of_every_length(row: int, flushes: tuple[int, float] | None) -> None:
    words = recorded.DISKSTATS.splitlines()[row].encode().split()
    figures = dict(zip(disk_figure_names(len(words)), parse_disk_line(words), strict=True))
    assert figures["read_bytes"] == int(words[5]) * 512
    assert figures["write_seconds"] == pytest.approx(int(words[10]) / 1000)
    assert figures["in_flight"] == int(words[11])
    assert figures["busy_seconds"] == pytest.approx(int(words[12]) / 1000)
    assert figures["queue_seconds"] == pytest.approx(int(words[13]) / 1000)
    found = (figures.get("flushes"), figures.get("flush_seconds"))
    assert found == ((None, None) if flushes is None else pytest.approx(flushes))


def test_interfaces_that_carried_something() -> None:
    figures = parse_network(recorded.NETWORK.encode())
    assert {name.split(".")[1] for name in figures} == {"eth0", "ib0"}
    assert figures["network.eth0.received_bytes"] == 2689042562
    assert figures["network.eth0.sent_bytes"] == 3275549
    assert [
        figures[f"network.eth0.{way}_{what}"] for what in ("errors", "drops") for way in ("received", "sent")
    ] == [
        1,
        3,
        2,
        4,
    ]
    assert figures["network.ib0.sent_bytes"] == 88, "old kernels leave no blank after the colon"


def test_pressure_in_seconds() -> None:
    assert parse_pressure(recorded.PRESSURE_IO.encode(), "io") == {
        "host.pressure_io_some_seconds": 99.039884,
        "host.pressure_io_full_seconds": 58.700817,
    }
    assert list(parse_pressure(recorded.PRESSURE_IO.encode(), "cpu")) == ["host.pressure_cpu_some_seconds"]


def test_fibre_channel_counts_in_hexadecimal_and_says_when_it_does_not() -> None:
    assert parse_counter(b"0x1f\n") == 31
    assert parse_counter(b"31\n") == 31
    assert parse_counter(b"0xffffffffffffffff\n") is None
    assert parse_counter(b"4294967295\n") == 4294967295
    assert parse_counter(b"\n") is None


def test_nfs_mounts_by_application_and_by_server() -> None:
    figures = parse_mountstats(recorded.MOUNTSTATS.encode())
    data = {name.removeprefix("mount./sas data."): v for name, v in figures.items() if "/sas data" in name}
    assert data == {
        "application_read_bytes": 4294967296 + 1048576,
        "application_written_bytes": 1073741824 + 2097152,
        "read_bytes": 3221225472,
        "written_bytes": 1075838976,
        "reads": 3072,
        "read_seconds": 36.864,
        "writes": 1026,
        "write_seconds": 12.312,
        "retransmissions": 3 + 2,
    }
    assert figures["mount./home.read_bytes"] == 30
    assert {name.split(".")[1] for name in figures} == {"/sas data", "/home"}


def test_lustre_with_and_without_times() -> None:
    figures = parse_llite(recorded.LLITE.encode(), "/lustre")
    assert figures == {
        "mount./lustre.reads": 6000,
        "mount./lustre.application_read_bytes": 6291456000,
        "mount./lustre.writes": 100,
        "mount./lustre.application_written_bytes": 104857600,
        "mount./lustre.read_seconds": 1.5,
        "mount./lustre.write_seconds": 0.025,
    }
    older = "\n".join(line for line in recorded.LLITE.splitlines() if "usec" not in line)
    assert "mount./lustre.read_seconds" not in parse_llite(older.encode(), "/lustre")


def test_spectrum_scale_by_file_system() -> None:
    figures = parse_mmpmon(recorded.MMPMON, {"gpfs2": "/gpfs/two", "gpfs9": "/nine"})
    assert figures == {
        "mount./gpfs/two.application_read_bytes": 6291456,
        "mount./gpfs/two.application_written_bytes": 314572800,
        "mount./gpfs/two.reads": 101,
        "mount./gpfs/two.writes": 300,
        "mount./gpfs/two.opens": 10,
        "mount./gpfs/two.closes": 16,
    }
    assert parse_mmpmon(recorded.MMPMON_SUM, {"gpfs2": "/gpfs/two"}) == figures
    assert parse_mmpmon(recorded.MMPMON_SUM, {"gpfs2": "/two", "gpfs1": "/one"}) == {}


def test_control_groups_of_both_versions() -> None:
    expected = {"group.cpu_throttled_periods": 12, "group.cpu_throttled_seconds": 3.5}
    assert parse_cpu_stat(recorded.CPU_STAT_2.encode()) == expected
    assert parse_cpu_stat(recorded.CPU_STAT_1.encode()) == expected
    assert parse_memory_events(recorded.MEMORY_EVENTS.encode()) == {"group.memory_limit_hits": 77}


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
