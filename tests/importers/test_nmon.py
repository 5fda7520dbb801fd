"""Recordings of nmon with known truth: every section, odd files, several recordings in one."""

from __future__ import annotations

import math

import pytest

from mawl.records.model.series_metrics import registry_name
from tests.fakes.recorded_host import BEGAN, aix_recording, zzzz
from tests.importers.recordings import Read, recorded

MINUTES = 4
SECONDS = 60.0 * (MINUTES - 1)
"""The first snapshot's rates are of a time whose beginning nobody knows."""


def aix(devices: int = 3, snapshots: int = MINUTES) -> str:
    return "".join(aix_recording(devices, snapshots))


def test_devices_of_aix_have_bytes_requests_times_and_busy_time_of_whole_intervals() -> None:
    read = Read("nmon", aix())
    truth = {
        "read_bytes": 2 * 1024,
        "written_bytes": 4 * 1024,
        "requests": 6.0,
        "reads": 2.0,
        "writes": 4.0,
        "read_seconds": 2 * 0.002,
        "write_seconds": 4 * 0.004,
        "busy_seconds": 0.002,
    }
    for figure, rate in truth.items():
        assert read.gain(f"device.hdisk2.{figure}") == pytest.approx(rate * SECONDS), figure
    assert read.gain("device.hdisk2.request_seconds") == pytest.approx(6 * 0.0033 * SECONDS)
    assert [at for at, _ in read.points("device.hdisk2.reads")] == [BEGAN + 60 * n for n in range(MINUTES)]


def test_processors_of_aix_are_physical_and_by_purr() -> None:
    read = Read("nmon", aix())
    for kind, processors in {"user": 4.0, "system": 1.0, "iowait": 0.5, "idle": 2.5}.items():
        assert read.gain(f"host.cpu_{kind}_seconds") == pytest.approx(processors * SECONDS), kind
    assert read.gain("host.physical_cpu_seconds") == pytest.approx(6.0 * SECONDS)
    assert read.gain("host.core_busy_seconds") == pytest.approx(6.0 * SECONDS)
    node = read.nodes["aix1"]
    assert (node.cores, node.core_basis, node.smt, node.logical_cpus) == (8, "vCPU", "SMT-4", 32)
    assert node.kernel == "AIX 7.2.5.101"
    assert "PURR" in str(read.settings["aix1"]["cpu_accounting"])
    assert read.settings["aix1"]["lpar.entitled"] == 4.0


def test_a_row_that_is_short_is_left_out_and_shifts_nothing() -> None:
    lines = aix().splitlines(keepends=True)
    for section in ("LPAR", "PAGE", "PROC"):
        number = next(at for at, line in enumerate(lines) if line.startswith(f"{section},T0002,"))
        lines[number] = ",".join(part for place, part in enumerate(lines[number].split(",")) if place != 3)
    read = Read("nmon", "".join(lines))
    for kind, processors in {"user": 4.0, "system": 1.0, "iowait": 0.5, "idle": 2.5}.items():
        assert read.gain(f"host.cpu_{kind}_seconds") == pytest.approx(processors * (SECONDS - 60.0)), kind
    assert [reason.split(" with ")[0] for reason in read.reasons()[1:]] == [
        "a line of LPAR", "a line of PAGE", "a line of PROC",
    ]  # fmt: skip
    assert "with 19 figures, where its header has 21" in read.reasons()[1]


def test_physical_processors_have_a_name_of_their_own_in_topas() -> None:
    read = Read("nmon", aix().replace(",PhysicalCPU,", ",PhysicalCPUs,"))
    assert read.gain("host.physical_cpu_seconds") == pytest.approx(6.0 * SECONDS)


def test_a_dedicated_partition_has_cores_and_no_core_busy_time() -> None:
    read = Read("nmon", aix().replace(",10.0,10.0,1,0,", ",10.0,10.0,0,0,"))
    node = read.nodes["aix1"]
    assert (node.cores, node.core_basis, node.physical_cores) == (8, "physical core", 8)
    assert "host.core_busy_seconds" not in read.series  # it uses its processors, idle or not
    assert read.gain("host.physical_cpu_seconds") == pytest.approx(6.0 * SECONDS)


def test_the_mode_is_that_of_lpar_else_of_lparstat_else_of_bbbl() -> None:
    without = "".join(line for line in aix().splitlines(keepends=True) if not line.startswith("LPAR"))
    assert Read("nmon", without).nodes["aix1"].smt is None
    told = "BBBL,06,smt threads,8\n"
    assert Read("nmon", without.replace("AAA,cpus", told + "AAA,cpus")).nodes["aix1"].smt == "SMT-8"
    lparstat = 'BBBP,010,lparstat -i,"Type                     : Dedicated-SMT-4"\n'
    both = without.replace("AAA,cpus", told + lparstat + "AAA,cpus")
    assert Read("nmon", both).nodes["aix1"].smt == "SMT-4"
    assert Read("nmon", aix().replace("AAA,cpus", told + "AAA,cpus")).nodes["aix1"].smt == "SMT-4"


def test_without_lpar_the_processors_are_those_of_pcpu_all_then_of_cpu_all() -> None:
    lines = aix().splitlines(keepends=True)
    without = "".join(line for line in lines if not line.startswith("LPAR"))
    assert Read("nmon", without).gain("host.cpu_user_seconds") == pytest.approx(4.0 * SECONDS)
    bare = "".join(line for line in lines if not line.startswith(("LPAR", "PCPU_ALL")))
    read = Read("nmon", bare)
    assert read.gain("host.cpu_user_seconds") == pytest.approx(16.0 * SECONDS)
    assert read.nodes["aix1"].cores is None


def test_memory_paging_runnable_networks_and_adapters_of_aix() -> None:
    read = Read("nmon", aix())
    gauges = {
        "host.memory_free_bytes": 16384 * 2.0**20,
        "host.memory_cached_bytes": 0.25 * 65536 * 2.0**20,
        "host.runnable": 12.5,
    }
    for name, value in gauges.items():
        assert [point[1] for point in read.points(name)] == [value] * MINUTES, name
    counters = {
        "host.swap_read_bytes": 10 * 4096,
        "host.swap_written_bytes": 20 * 4096,
        "host.context_switches": 24000,
        "network.en0.received_bytes": 100 * 1024,
        "network.en0.sent_bytes": 200 * 1024,
        "fabric.fcs0.received_bytes": 300 * 1024,
        "fabric.fcs0.sent_bytes": 400 * 1024,
    }
    for name, rate in counters.items():
        assert read.gain(name) == pytest.approx(rate * SECONDS), name
    assert read.nodes["aix1"].memory_bytes == 65536 * 2**20


def test_sections_of_ports_count_instead_of_the_adapters_that_are_the_same() -> None:
    ports = "".join(
        f"{section},Fibre Channel x aix1,fcs0\n" for section in ("FCREAD", "FCWRITE", "FCXFERIN", "FCXFEROUT")
    )
    rows = "FCREAD,T0002,7.0\nFCWRITE,T0002,8.0\nFCXFERIN,T0002,1.0\nFCXFEROUT,T0002,2.0\n"
    text = aix(snapshots=2).replace(zzzz(1, BEGAN), ports + zzzz(1, BEGAN)) + rows
    read = Read("nmon", text)
    assert read.gain("fabric.fcs0.received_bytes") == 7 * 1024 * 60
    assert read.gain("fabric.fcs0.sent_bytes") == 8 * 1024 * 60
    assert read.gain("fabric.fcs0.reads") == 60
    assert read.gain("fabric.fcs0.writes") == 120


def test_devices_go_on_in_sections_with_a_number() -> None:
    read = Read("nmon", aix(devices=320))
    for number in (1, 149, 150, 299, 300, 319):
        assert read.gain(f"device.hdisk{number}.read_bytes") == pytest.approx(number * 1024 * SECONDS)


def test_a_wait_queue_belongs_to_the_time_of_a_request() -> None:
    header = "DISKWAIT,Disk Wait Queue Time msec/xfer aix1,hdisk0,hdisk1,hdisk2\n"
    rows = "".join(f"DISKWAIT,T{n:04d},0.0,1.0,5.0\n" for n in range(1, MINUTES + 1))
    text = aix().replace(zzzz(1, BEGAN), header + zzzz(1, BEGAN))
    for number, row in enumerate(rows.splitlines(keepends=True), 1):
        text = text.replace(f"CPU01,T{number:04d}", f"{row}CPU01,T{number:04d}")
    read = Read("nmon", text)
    assert read.gain("device.hdisk2.read_seconds") == pytest.approx(2 * (0.002 + 0.005) * SECONDS)
    assert read.gain("device.hdisk1.write_seconds") == pytest.approx(2 * (0.004 + 0.001) * SECONDS)


def test_linux_as_nmon_16n_recorded_it() -> None:
    read = Read("nmon", recorded("linux.nmon"))
    node = read.nodes["vm"]
    assert node.kernel is not None
    assert node.kernel.startswith("Linux 6.18.44")
    assert node.memory_bytes == round(24105.6 * 2**20)
    busy = sum(
        read.gain(f"host.cpu_{kind}_seconds") for kind in ("user", "system", "iowait", "idle", "steal")
    )
    assert busy == pytest.approx(2 * 5.0, rel=0.01)  # two processors, five seconds
    # VM counts what went by, DISK* what did per second: two ways to the same bytes
    assert read.gain("host.page_outs_bytes") == pytest.approx(read.gain("device.vda.written_bytes"), rel=0.01)
    assert "device.vda.reads" not in read.series  # this nmon does not tell them from writes
    assert read.context.skipped_lines == 1


def test_every_series_is_one_of_the_registry() -> None:
    names = set(Read("nmon", aix()).series) | set(Read("nmon", recorded("linux.nmon")).series)
    assert [name for name in names if registry_name(name) is None] == []


def test_the_first_snapshot_has_gauges_and_no_rates_which_is_said() -> None:
    read = Read("nmon", aix(snapshots=1))
    assert read.points("host.runnable") == [(BEGAN, 12.5)]
    assert read.points("device.hdisk2.read_bytes") == [(BEGAN, 0.0)]
    assert "does not say when its interval began" in read.reasons()[0]


def test_a_sorted_file_is_the_same_recording() -> None:
    text = aix()
    ordered = "".join(sorted(text.splitlines(keepends=True)))
    assert Read("nmon", ordered).series == Read("nmon", text).series


def test_line_ends_bytes_marks_and_semicolons_change_nothing() -> None:
    text = aix()
    truth = Read("nmon", text).series
    assert Read("nmon", text.replace("\n", "\r\n")).series == truth
    assert Read("nmon", b"\xef\xbb\xbf" + text.encode()).series == truth
    local = "".join(
        line.replace(".", "\0").replace(",", ";").replace("\0", ",")
        for line in text.splitlines(keepends=True)
    ).replace("7,2,5,101", "7.2.5.101")
    assert Read("nmon", local).series == truth


@pytest.mark.parametrize(
    ("time", "date"),
    [
        ("08:01:00", "01-JAN-2026"),
        ("08.01.00", "01-jan-2026"),
        ("08:01.00", "1-JÄN-2026"[:2] + "ENE-2026"),
        ("08:01:00", "01-GEN-2026"),
        ("08:01:00", "2026-01-01"),
        ("08:01:00", "01/01/2026"),
        ("08:01:00", "01.01.26"),
        ("8:01:00 AM", "01-JANV-2026"),
    ],
)
def test_times_in_other_words_are_the_same(time: str, date: str) -> None:
    text = aix().replace("ZZZZ,T0002,08:01:00,01-JAN-2026", f"ZZZZ,T0002,{time},{date}")
    assert Read("nmon", text).series == Read("nmon", aix()).series


def test_a_time_without_a_date_is_on_the_day_of_the_recording_and_those_after() -> None:
    lines = "".join(aix_recording(1, 3, interval=36000)).splitlines(keepends=True)
    bare = "".join(line.rsplit(",", 1)[0] + "\n" if line.startswith("ZZZZ") else line for line in lines)
    points = Read("nmon", bare).points("device.hdisk0.reads")
    assert [at for at, _ in points] == [BEGAN, BEGAN + 36000, BEGAN + 72000]


def test_a_snapshot_without_its_time_leaves_a_gap_that_is_unknown() -> None:
    text = aix().replace(zzzz(3, BEGAN + 120), "")
    read = Read("nmon", text)
    series = read.series["device.hdisk2.read_bytes"]
    unknown = [at for at, value in series if math.isnan(value)][1:]
    assert read.gain("device.hdisk2.read_bytes") == pytest.approx(2048 * 60)  # what T0002 tells
    assert unknown == [BEGAN + 120]
    assert "the rates of T0004 are left out: no snapshot T0003 says when its interval began" in read.reasons()
    assert any("no line ZZZZ gives the time of T0003" in reason for reason in read.reasons())


def test_a_row_that_is_not_whole_leaves_its_devices_unknown_for_that_interval() -> None:
    row = "DISKREAD,T0003,0.0,1.0,2.0\n"
    for damaged in ("DISKREAD,T0003,0.0,1.0\n", "DISKREAD,T0003,0.0,x,2.0\n", "DISKREAD,T0003,0,1,2,3\n"):
        read = Read("nmon", aix().replace(row, damaged))
        series = read.series["device.hdisk2.read_bytes"]
        assert read.gain("device.hdisk2.read_bytes") == pytest.approx(2048 * 120)
        assert [at for at, value in series if math.isnan(value)][1:] == [BEGAN + 90]
        assert read.gain("device.hdisk2.written_bytes") == pytest.approx(4096 * SECONDS)


def test_a_last_line_without_an_end_is_left_out() -> None:
    text = aix(devices=1)
    cut = text.rstrip("\n")
    read = Read("nmon", cut)
    assert read.context.skipped[-1].reason == "the file ends within this line: left out"


def test_two_recordings_in_one_file_leave_the_time_between_unknown() -> None:
    later = BEGAN + 86400
    text = aix() + "".join(aix_recording(3, MINUTES, began=later))
    read = Read("nmon", text)
    series = read.series["device.hdisk2.read_bytes"]
    unknown = [at for at, value in series if math.isnan(value)][1:]
    assert unknown == [(BEGAN + SECONDS + later) / 2]
    assert read.gain("device.hdisk2.read_bytes") == pytest.approx(2 * 2048 * SECONDS)


def test_recordings_of_several_nodes_in_one_file_are_several_nodes() -> None:
    read = Read("nmon", aix() + "".join(aix_recording(3, MINUTES, host="aix2")))
    assert sorted(read.nodes) == ["aix1", "aix2"]


def test_a_recording_that_comes_twice_counts_once() -> None:
    read = Read("nmon", aix() + aix())
    assert read.gain("device.hdisk2.read_bytes") == pytest.approx(2048 * SECONDS)
    assert sum("read before" in reason for reason in read.reasons()) == MINUTES


@pytest.mark.parametrize(
    "time", ["08:02:00,01-JAN-2086", "08:00:00,01-JAN-2026", "25:00:00,01-JAN-2026", "x,y"]
)
def test_a_clock_that_jumps_costs_its_snapshot_alone(time: str) -> None:
    text = aix().replace("ZZZZ,T0003,08:02:00,01-JAN-2026", f"ZZZZ,T0003,{time}")
    read = Read("nmon", text)
    assert [at for at, _ in read.points("host.runnable")] == [BEGAN, BEGAN + 60, BEGAN + 180]


def test_sections_that_nobody_knows_are_counted_and_named() -> None:
    rows = "NPU_UTIL,NPU Utilisation aix1,npu0,npu1\nNPU_UTIL,T0001,50,60\nNPU_UTIL,T0002,50,60\n"
    assert (
        "section NPU_UTIL (3 lines) is not one that this version reads"
        in Read("nmon", aix() + rows).reasons()
    )


def test_file_systems_hold_their_share_and_processors_of_graphics_their_time() -> None:
    heads = "JFSFILE,JFS Filespace %Used aix1,/,/usr/sys/inst.images\n"
    # nmon_gpu 16j writes this heading with the first snapshot, and no run's name in it.
    late = "GPU_UTIL,GPU Utilization Percent,GPU1,GPU2\n"
    text = aix().replace("ZZZZ,T0001", heads + "ZZZZ,T0001", 1)
    for number, (root, busy) in enumerate(((50.9, 0), (51.0, 25), (51.5, 75)), 1):
        clock = next(line for line in text.splitlines() if line.startswith(f"ZZZZ,T{number:04}"))
        rows = f"JFSFILE,T{number:04},{root},7.8\n{late}GPU_UTIL,T{number:04},{busy},0\n"
        late = ""
        text = text.replace(f"{clock}\n", f"{clock}\n{rows}", 1)
    read = Read("nmon", text)
    assert [value for _, value in read.points("file_system./.used_ratio")] == pytest.approx(
        [0.509, 0.51, 0.515]
    )
    assert {value for _, value in read.points("file_system./usr/sys/inst.images.used_ratio")} == {0.078}
    assert read.gain("gpu.GPU1.busy_seconds") == pytest.approx(60 * 0.25 + 60 * 0.75)
    assert read.gain("gpu.GPU2.busy_seconds") == 0.0


def test_lines_that_are_none_are_told_by_their_number() -> None:
    text = f"AAA,progname,nmon\nwhat is this\n{zzzz(1, BEGAN)}DISKREAD,T0001,1.0\nDISKREAD,T0009,1.0\n"
    read = Read("nmon", text)
    assert [(skipped.line, skipped.reason) for skipped in read.context.skipped] == [
        (2, "no line of an nmon recording"),
        (4, "a line of DISKREAD without a header"),
        (None, "the rates of T0001 are left out: the recording does not say when its interval began"),
        (None, "no line ZZZZ gives the time of T0009: 1 lines are left out"),
    ]


def test_settings_are_kept_as_their_commands_printed_them() -> None:
    name = "BBBP,{},lsattr -El sys0"
    more = f'{name.format(1)}\n{name.format(2)},"ent_capacity 4.00"\n{name.format(3)},"x 1"\n'
    values = Read("nmon", aix().replace("CPU_ALL,CPU", f"{more}CPU_ALL,CPU")).settings["aix1"]
    assert values["BBBP.lsattr -El sys0"] == "ent_capacity 4.00\nx 1"
    assert values["AAA.interval"] == "60"


def test_the_number_of_a_linux_machines_cores_is_that_of_lscpu() -> None:
    told = (
        "AAA,progname,nmon\nAAA,host,bare\nAAA,OS,Linux,6.1,#1,x86_64\n"
        'BBBP,1,lscpu,"CPU(s): 32"\nBBBP,2,lscpu,"Socket(s): 2"\nBBBP,3,lscpu,"Core(s) per socket: 8"\n'
        'BBBP,4,lscpu,"Thread(s) per core: 2"\nBBBP,5,lscpu,"Model name: Some CPU"\n'
        f"PROC,Processes bare,Runnable,Blocked\n{zzzz(1, BEGAN)}PROC,T0001,3,1\n"
    )
    node = Read("nmon", told).nodes["bare"]
    assert (node.cores, node.core_basis, node.smt, node.cpu_model) == (16, "physical core", "on", "Some CPU")
    virtual = Read("nmon", told.replace("BBBP,5,", 'BBBP,6,lscpu,"Hypervisor vendor: KVM"\nBBBP,5,')).nodes[
        "bare"
    ]
    assert (virtual.cores, virtual.core_basis, virtual.virtual) == (32, "vCPU", "KVM")
