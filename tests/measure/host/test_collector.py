"""All sources together, over a folder that stands in for a machine."""

from __future__ import annotations

import errno
import os
import shutil
import time
from pathlib import Path

import pytest

from mawl.measure.devices import Mount
from mawl.measure.host.collector import HostCollector
from mawl.measure.host.devices import LOOKS_BETWEEN_SEARCHES, Fabric
from mawl.measure.host.files import Figures, FileSource, KeptFile
from mawl.measure.host.shared_storage import Scale
from tests.fakes.script import INTERPRETER
from tests.fakes.tree import plant
from tests.measure.host import recorded

MACHINE = {
    "proc/stat": recorded.STAT,
    "proc/meminfo": recorded.MEMINFO,
    "proc/vmstat": recorded.VMSTAT,
    "proc/diskstats": recorded.DISKSTATS,
    "proc/net/dev": recorded.NETWORK,
    "proc/pressure/cpu": recorded.PRESSURE_IO,
    "proc/pressure/io": recorded.PRESSURE_IO,
    "proc/pressure/memory": recorded.PRESSURE_IO,
    "proc/self/mountinfo": "36 25 0:40 / /data rw - nfs4 filer:/export/sas rw\n"
    "37 25 0:41 / /lustre rw - lustre 192.0.2.1@tcp:/lfs01 rw\n",
    "proc/self/mountstats": recorded.MOUNTSTATS,
    "proc/self/cgroup": "0::/\n",
    "proc/fs/lustre/llite/lfs01-ffff9a/stats": recorded.LLITE,
    "sys/devices/system/cpu/online": "0-1\n",
    "sys/devices/system/cpu/cpu0/topology/core_cpus_list": "0-1\n",
    "sys/devices/system/cpu/cpu1/topology/core_cpus_list": "0-1\n",
    "sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq": "2000000\n",
    "sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq": "3000000\n",
    "sys/block/sda/dev": "8:0\n",
    "sys/block/nvme0n1/dev": "259:0\n",
    "sys/block/vda/dev": "254:0\n",
    "sys/block/loop0/dev": "7:0\n",
    "sys/fs/cgroup/cgroup.controllers": "cpu memory\n",
    "sys/fs/cgroup/cgroup.type": "domain\n",
    "sys/fs/cgroup/memory.current": "123456\n",
    "sys/fs/cgroup/memory.events": recorded.MEMORY_EVENTS,
    "sys/fs/cgroup/cpu.stat": recorded.CPU_STAT_2,
    "sys/class/powercap/intel-rapl:0/name": "package-0\n",
    "sys/class/powercap/intel-rapl:0/energy_uj": "52331000\n",
    "sys/class/powercap/intel-rapl:0/max_energy_range_uj": "262143328850\n",
    "sys/class/infiniband/mlx5_0/ports/1/counters/port_xmit_data": "1000\n",
    "sys/class/infiniband/mlx5_0/ports/1/counters/port_rcv_data": "2000\n",
    "sys/class/fc_host/host1/statistics/rx_words": "0x400\n",
    "sys/class/fc_host/host1/statistics/tx_words": "0xffffffffffffffff\n",
}


def read(root: Path, **options: object) -> tuple[Figures, dict[str, str]]:
    collector = HostCollector(root=root, **options)  # type: ignore[arg-type]
    try:
        return collector.read(), collector.reasons()
    finally:
        collector.close()


def test_every_source_of_a_large_machine(tmp_path: Path) -> None:
    plant(tmp_path, MACHINE)
    figures, reasons = read(tmp_path)
    assert reasons == {}
    assert figures["host.frequency_hertz"] == 2.5e9
    assert figures["host.core_busy_seconds"] == 0, "with threads it counts from the first look on"
    assert figures["energy.package-0.joules"] == 0, "a counter begins with the first look"
    assert figures["group.memory_bytes"] == 123456
    assert figures["fabric.mlx5_0-1.sent_bytes"] == 4000
    assert figures["fabric.host1.received_bytes"] == 4096
    assert "fabric.host1.sent_bytes" not in figures, "its driver does not count"
    assert figures["mount./sas data.read_bytes"] == 3221225472
    assert figures["mount./lustre.reads"] == 6000


def test_idle_devices_and_partitions_only_where_they_are_wanted(tmp_path: Path) -> None:
    plant(tmp_path, MACHINE)
    names = {name.split(".")[1] for name in read(tmp_path)[0] if name.startswith("device.")}
    assert names == {"sda", "nvme0n1", "vda"}
    kept = read(tmp_path, devices={"sda1", "loop0"})[0]
    assert {name.split(".")[1] for name in kept if name.startswith("device.")} == names | {"sda1", "loop0"}


def test_devices_come_and_go(tmp_path: Path) -> None:
    plant(tmp_path, MACHINE)
    collector = HostCollector(root=tmp_path)
    assert "device.nvme0n1.reads" in collector.read()
    listing = tmp_path / "proc/diskstats"
    listing.write_text("\n".join(line for line in recorded.DISKSTATS.splitlines() if "nvme" not in line))
    assert "device.nvme0n1.reads" not in collector.read()
    plant(tmp_path, {"sys/block/sdb/dev": "8:16\n"})
    listing.write_text(recorded.DISKSTATS + "   8      16 sdb 5 0 40 1 0 0 0 0 0 1 1\n")
    figures = collector.read()
    assert figures["device.sdb.read_bytes"] == 40 * 512
    assert figures["device.nvme0n1.reads"] == 200
    collector.close()


def test_a_bare_machine_says_what_it_lacks(tmp_path: Path) -> None:
    plant(tmp_path, {"proc/stat": recorded.STAT, "proc/diskstats": "", "proc/net/dev": "\n\n"})
    figures, reasons = read(tmp_path)
    assert "host.cpu_user_seconds" in figures
    assert figures["host.core_busy_seconds"] == pytest.approx(
        sum(figures[f"host.cpu_{kind}_seconds"] for kind in ("user", "system", "interrupt"))
    )
    assert set(reasons) == {
        "energy",
        "host.frequency_hertz",
        "host.least_memory_available_bytes",
        "host.most_memory_dirty_bytes",
        "host.swap_read_bytes",
        "host.swap_written_bytes",
        "host.major_faults",
        "host.cache_evicted_bytes",
        "host.cache_reread_bytes",
        *(
            f"host.pressure.{name}_ratio"
            for name in ("cpu_some", "io_some", "io_full", "memory_some", "memory_full")
        ),
    }
    assert "no such file" in reasons["host.pressure.io_full_ratio"]


def test_pressure_that_is_switched_off_is_missing_and_not_zero(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(tmp_path, MACHINE)
    collector = HostCollector(root=tmp_path)
    off = (tmp_path / "proc/pressure/io").stat().st_ino
    pread = os.pread

    def refuse(descriptor: int, count: int, offset: int) -> bytes:
        if os.fstat(descriptor).st_ino == off:
            raise OSError(errno.EOPNOTSUPP, os.strerror(errno.EOPNOTSUPP))
        return pread(descriptor, count, offset)

    monkeypatch.setattr(os, "pread", refuse)
    figures = collector.read()
    assert "host.pressure_io_some_seconds" not in figures
    assert "host.pressure_memory_some_seconds" in figures
    assert "not supported" in collector.reasons()["host.pressure.io_some_ratio"]
    collector.close()


def test_a_listing_in_an_unknown_form_ends_nothing(tmp_path: Path) -> None:
    (tmp_path / "odd").write_text("no figures here\n")
    source = FileSource(tmp_path / "odd", lambda text: {"x": int(text)}, ("host.x",))
    figures: Figures = {}
    source.read(figures)
    source.close()
    assert figures == {}
    assert "not in the form that mawl knows" in source.reasons()["host.x"]


@pytest.mark.parametrize("text", ["", "\n", "odd\n", "cpu 1\n", "some\n", "a b c d e f g h i j k l m n\n"])
def test_nothing_that_a_kernel_prints_ends_a_run(tmp_path: Path, text: str) -> None:
    kept = ("proc/self/mountinfo", "proc/self/cgroup", "sys/devices/system/cpu/online")
    plant(tmp_path, {name: told if name in kept else text for name, told in MACHINE.items()})
    figures, reasons = read(tmp_path)
    assert "host.cpu_user_seconds" not in figures
    assert all(isinstance(reason, str) and reason for reason in reasons.values())


def test_the_run_s_own_group_comes_before_the_container_s(tmp_path: Path) -> None:
    plant(tmp_path, MACHINE | {"own/memory.current": "77\n"})
    figures = read(tmp_path, groups=[tmp_path / "own"])[0]
    assert figures["group.memory_bytes"] == 77
    assert figures["group.cpu_throttled_seconds"] == 3.5, "what the run's group does not count"


def test_a_listing_longer_than_one_read_is_read_to_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "long").write_text("x" * 10_000)
    pread = os.pread
    monkeypatch.setattr(os, "pread", lambda descriptor, _, offset: pread(descriptor, 4096, offset))
    file = KeptFile(tmp_path / "long")
    assert len(file.read() or b"") == 10_000
    file.close()
    assert file.read() is None


@pytest.mark.parametrize("name", ["stat", "meminfo", "vmstat", "net/dev", "diskstats", "self/mountinfo"])
def test_a_listing_of_this_machine_is_read_to_its_end(name: str) -> None:
    # An overlay of many layers is one long record.
    file = KeptFile(Path("/proc", name), long_records=name in ("diskstats", "self/mountinfo"))
    for _ in range(3):
        found = (file.read() or b"").splitlines()
        assert len(found) == len(Path("/proc", name).read_bytes().splitlines()) > 0
    file.close()


def test_a_long_record_after_a_short_one_is_read_where_there_may_be_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "long").write_text("x" * 5_000)
    pread, pieces = os.pread, [100, 4096, 4096, 4096]
    monkeypatch.setattr(os, "pread", lambda descriptor, _, offset: pread(descriptor, pieces.pop(0), offset))
    file = KeptFile(tmp_path / "long", long_records=True)
    assert len(file.read() or b"") == 5_000
    file.close()


def test_a_port_that_was_replaced_is_found_again(tmp_path: Path) -> None:
    counters = "sys/class/infiniband/mlx5_0/ports/1/counters"
    plant(tmp_path, {f"{counters}/port_xmit_data": "10\n"})
    fabric = Fabric(tmp_path / "sys")

    def look() -> Figures:
        figures: Figures = {}
        for _ in range(LOOKS_BETWEEN_SEARCHES):
            figures.clear()
            fabric.read(figures)
        return figures

    assert look() == {"fabric.mlx5_0-1.sent_bytes": 40}
    shutil.rmtree(tmp_path / "sys/class/infiniband/mlx5_0")
    assert look() == {}
    plant(tmp_path, {f"{counters}/port_xmit_data": "11\n"})
    assert look() == {"fabric.mlx5_0-1.sent_bytes": 44}
    fabric.close()


def test_spectrum_scale_is_asked_once_and_answers_line_by_line(tmp_path: Path) -> None:
    program = tmp_path / "mmpmon"
    program.write_text(
        f"{INTERPRETER}import sys, time\n"
        "assert sys.argv[1:] == ['-p', '-r', '0', '-d', '1000'] and sys.stdin.read() == 'fs_io_s\\n'\n"
        f"print({recorded.MMPMON!r}, end='', flush=True)\ntime.sleep(60)\n"
    )
    program.chmod(0o755)
    mount = Mount(
        device="0:50", mount_point="/gpfs/two", file_system="gpfs", source="/dev/gpfs2", options="rw"
    )
    scale = Scale([mount], program)
    figures: Figures = {}
    for _ in range(600):
        scale.read(figures)
        if figures:
            break
        time.sleep(0.05)
    assert figures["mount./gpfs/two.writes"] == 300
    assert scale.reasons() == {}
    scale.close()
    assert "absent: no such file" in Scale([mount], tmp_path / "absent").reasons()["host.mount"]


def test_paths_of_a_multipath_device_are_counted_in_it(tmp_path: Path) -> None:
    stats = "".join(f"8 {n} sd{letter} 9 0 9 9 9 0 9 9 0 9 9\n" for n, letter in enumerate("abc"))
    plant(
        tmp_path,
        {
            "proc/diskstats": stats + "253 0 dm-0 18 0 18 18 18 0 18 18 0 18 18\n",
            "sys/block/sda/holders/dm-0/dev": "",
            "sys/block/sdb/holders/dm-0/dev": "",
            "sys/block/sdc/holders/dm-1/dev": "",
            "sys/block/dm-0/dm/uuid": "mpath-3600508b4\n",
            "sys/block/dm-1/dm/uuid": "LVM-0815\n",
        },
    )
    collector = HostCollector({"dm-0", "sda"}, root=tmp_path)
    figures = collector.read()
    collector.close()
    assert {name.split(".")[1] for name in figures if name.startswith("device.")} == {"dm-0", "sdc"}
    (said,) = collector.remarks()
    assert said.startswith("2 paths of multipath devices")
