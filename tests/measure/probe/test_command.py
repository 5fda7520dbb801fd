"""Which tests a probe makes, and what each stream gets of the files.

The command lines: what each option is there for.

One probe at a time on a disk: who waits, for whom, until when, and what happens without a lock.
"""

from __future__ import annotations

import math
import os
import pwd
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from mawl.base.errors import UsageError
from mawl.measure.probe import process
from mawl.measure.probe.command import (
    KIB,
    MIB,
    Engine,
    PlannedTest,
    ProbeChoice,
    at_depths,
    chosen_shapes,
    curve_tests,
    deeper,
    default_shapes,
    engine_of,
    fill_command,
    full_shapes,
    full_streams,
    layout_command,
    probe_command,
)
from mawl.measure.probe.process import alone_on
from mawl.records.model.run import VolumeFacts

SHAPE = PlannedTest(pattern="sequential", direction="read", request_bytes=2**18, streams=4, direct=True)
CHOICE = ProbeChoice(shapes=[SHAPE], seconds=10.0, file_bytes=64 * MIB)


def words(choice: ProbeChoice = CHOICE, **changes: object) -> list[str]:
    return probe_command(msgspec.structs.replace(SHAPE, **changes), choice)


def test_a_direct_test_runs_for_its_time_over_each_streams_share() -> None:
    found = words()
    assert {"--rw=read", "--bs=262144", "--numjobs=4", f"--size={16 * MIB}", "--direct=1"} <= set(found)
    assert {"--ioengine=psync", "--time_based", "--runtime=10", "--fallocate=none"} <= set(found)
    assert "--randrepeat=0" in found, "else each test begins with the same random bytes"
    assert "--filename_format=stream.$jobnum" in found


def test_more_requests_under_way_take_an_asynchronous_engine() -> None:
    one, eight = at_depths([SHAPE], [1, 8], None)
    assert (one.engine, eight.engine) == ("psync", "libaio")
    assert {"--ioengine=libaio", "--iodepth=8", "--numjobs=4"} <= set(probe_command(eight, CHOICE))
    assert engine_of(1, "io_uring", direct=False) == engine_of(8, "io_uring", direct=False) == "io_uring"


@pytest.mark.parametrize(
    ("engine", "direct", "said"),
    [
        (None, False, "needs --engine io_uring: libaio waits for each buffered request"),
        (
            "psync",
            True,
            "--engine psync has one request under way, and --depth asks for 8; leave --engine out",
        ),
        ("libaio", False, "--engine libaio has one buffered request under way"),
    ],
)
def test_an_engine_that_cannot_have_so_many_requests_under_way_is_refused(
    engine: Engine | None, direct: bool, said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        engine_of(8, engine, direct=direct)


def test_a_search_for_the_best_doubles_the_depth_up_to_the_largest() -> None:
    shape, depths = SHAPE, [SHAPE.depth]
    while (further := deeper(shape)) is not None:
        shape = further
        depths.append(shape.depth)
    assert depths == [2**power for power in range(9)] and shape.engine == "libaio"
    assert deeper(msgspec.structs.replace(SHAPE, direct=False)) is None


def test_a_curve_holds_all_processes_together_to_shares_of_the_best_rate() -> None:
    tests = curve_tests(msgspec.structs.replace(SHAPE, depth=2, engine="libaio"), 1000.0)
    assert [test.requests_per_second for test in tests] == [150, 300, 500, 700, 850, 950]
    assert {test.depth for test in tests} == {8}, "with more requests under way the queue shows"
    assert {"--rate_iops=38", "--rate_process=poisson"} <= set(probe_command(tests[0], CHOICE)), "150 of 4"


def test_a_part_of_a_second_is_told_in_milliseconds_since_fio_would_cut_it() -> None:
    found = words(msgspec.structs.replace(CHOICE, seconds=1.5, steady=True))
    assert "--steadystate_duration=1500ms" in found and "--runtime=9" in found
    assert "--runtime=1500ms" in words(msgspec.structs.replace(CHOICE, seconds=1.5))


@pytest.mark.parametrize(("direction", "syncs"), [("read", False), ("write", True), ("mixed", True)])
def test_a_buffered_test_moves_each_byte_once_and_out_of_the_cache(direction: str, syncs: bool) -> None:
    found = words(direct=False, direction=direction)
    assert "--direct=0" in found and "--invalidate=1" in found
    assert "--time_based" not in found
    assert ("--end_fsync=1" in found) == syncs


def test_a_mix_reads_65_of_100_requests() -> None:
    found = words(pattern="random", direction="mixed")
    assert {"--rw=randrw", "--rwmixread=65"} <= set(found)


def test_incompressible_bytes_are_new_for_each_request_and_dialled_ones_are_asked_for() -> None:
    dialled = words(msgspec.structs.replace(CHOICE, content="dialled"))
    assert "--refill_buffers" in words() and "--refill_buffers" not in dialled
    assert "--buffer_compress_percentage=90" in dialled


def test_only_a_direct_test_waits_for_a_steady_rate_and_not_for_ever() -> None:
    steady = msgspec.structs.replace(CHOICE, steady=True)
    assert {"--steadystate=bw:5%", "--steadystate_duration=10", "--runtime=60"} <= set(words(steady))
    assert not any(word.startswith("--steadystate") for word in words(steady, direct=False))


def test_files_are_laid_out_each_to_its_size_twice_where_preconditioned() -> None:
    found = layout_command([3 * MIB, MIB], CHOICE, direct=True)
    assert "--loops=2" not in found and "--end_fsync=1" in found
    assert found[found.index("--name=stream.1") :] == [
        "--name=stream.1",
        "--filename=stream.1",
        f"--size={MIB}",
    ]
    twice = layout_command([MIB], msgspec.structs.replace(CHOICE, precondition=True), direct=True)
    assert "--loops=2" in twice


def test_what_fills_a_file_system_cannot_be_compressed() -> None:
    assert "--refill_buffers" in fill_command("fill.0", MIB, direct=True)


def test_the_default_has_the_papers_table_by_one_stream_and_by_as_many_as_cores() -> None:
    papers = [shape for shape in default_shapes(16, "yes") if shape.pattern == "sequential"]
    assert {(shape.direction, shape.streams) for shape in papers} == {
        ("read", 1),
        ("read", 16),
        ("write", 1),
        ("write", 16),
    }
    assert {shape.request_bytes for shape in papers} == {256 * KIB}
    assert len(default_shapes(16, "yes")) == 7


def test_a_load_with_more_requests_than_cores_is_probed_with_as_many() -> None:
    """The guideline's tests by as many streams as cores stay."""
    shapes = default_shapes(2, "yes", 19)
    sequential = [shape for shape in shapes if shape.pattern == "sequential"]
    assert sorted({shape.streams for shape in sequential}) == [1, 2, 19]
    assert {shape.streams for shape in shapes if shape.pattern == "random"} == {19}
    assert len(set(shapes)) == len(shapes) == 9
    assert default_shapes(64, "yes", 19) == default_shapes(64, "yes")


def test_one_core_makes_no_test_twice() -> None:
    shapes = default_shapes(1, "yes")
    assert len(set(shapes)) == len(shapes) == 5


def test_the_full_grid_has_every_pattern_size_and_stream_direct_and_buffered() -> None:
    shapes = full_shapes(6, "both")
    assert full_streams(6) == [1, 2, 4, 6, 8, 12]
    assert len(set(shapes)) == len(shapes) == 2 * 6 * (2 * 6 + 3 * 2)
    sequential = {shape.request_bytes for shape in shapes if shape.pattern == "sequential"}
    assert sequential == {64 * KIB, 256 * KIB, MIB, 4 * MIB, 8 * MIB, 16 * MIB}
    assert {shape.request_bytes for shape in shapes if shape.pattern == "random"} == {8 * KIB, 64 * KIB}
    assert {(shape.pattern, shape.direction) for shape in shapes if shape.direction == "mixed"} == {
        ("random", "mixed")
    }


def test_what_is_not_named_is_the_papers() -> None:
    shapes = chosen_shapes(None, [MIB], None, cores=4, direct="yes")
    assert {shape.words for shape in shapes} == {
        "sequential read, 1 MiB, 1 stream, direct",
        "sequential read, 1 MiB, 4 streams, direct",
        "sequential write, 1 MiB, 1 stream, direct",
        "sequential write, 1 MiB, 4 streams, direct",
    }


def shape(streams: int, request_bytes: int = MIB) -> PlannedTest:
    return PlannedTest(
        pattern="sequential", direction="read", request_bytes=request_bytes, streams=streams, direct=True
    )


def test_every_stream_finds_its_region_in_its_own_file() -> None:
    choice = ProbeChoice(shapes=[shape(1), shape(2), shape(4)], file_bytes=100 * MIB)
    assert [choice.stream_bytes(streams) for streams in (1, 2, 4)] == [100 * MIB, 50 * MIB, 25 * MIB]
    assert choice.file_sizes() == [100 * MIB, 50 * MIB, 25 * MIB, 25 * MIB]
    for one in choice.shapes:
        sizes = choice.file_sizes()[: one.streams]
        assert all(choice.stream_bytes(one.streams) <= size for size in sizes)


def test_shares_are_whole_requests_of_any_size() -> None:
    choice = ProbeChoice(shapes=[shape(3), shape(1, 16 * MIB)], file_bytes=100 * MIB)
    assert choice.stream_bytes(3) == 32 * MIB
    choice.check()


@pytest.mark.parametrize(
    ("megabytes_per_second", "mebibytes"), [(400.0, 1024), (60.0, 490), (5.3, 64), (0.0, 64)]
)
def test_files_are_as_large_as_the_target_writes_in_time(megabytes_per_second: float, mebibytes: int) -> None:
    choice = ProbeChoice(shapes=[shape(1), shape(4)], file_bytes=1024 * MIB)
    fitted = choice.fitted(15.0 * megabytes_per_second * 1e6)
    assert fitted.file_bytes == mebibytes * MIB
    if 64 < mebibytes < 1024:
        assert sum(fitted.file_sizes()) <= 15 * megabytes_per_second * 1e6
    assert choice.fitted(math.inf).file_bytes == 1024 * MIB
    wide = ProbeChoice(shapes=[shape(512)], file_bytes=1024 * MIB).fitted(1.0)
    assert wide.file_bytes == 512 * MIB
    wide.check()


def test_fitted_files_hold_a_request_of_any_size_for_each_stream_of_any_test() -> None:
    shapes = [shape(512, MIB // 128), shape(1, 4 * MIB)]
    fitted = ProbeChoice(shapes=shapes, file_bytes=4096 * MIB).fitted(1.0)
    assert fitted.file_bytes == 512 * 4 * MIB
    fitted.check()


def test_a_file_too_small_for_its_streams_is_refused() -> None:
    with pytest.raises(UsageError, match=r"leaves each of 64 streams less than a request of 16 MiB"):
        ProbeChoice(shapes=[shape(64, 16 * MIB)], file_bytes=512 * MIB).check()


WHO = f"process {os.getpid()} (user {pwd.getpwuid(os.geteuid()).pw_name})"


def on(place: Path, disks: Sequence[str]) -> VolumeFacts:
    return VolumeFacts(role="work", node="here", directory=str(place), disks=list(disks))


@pytest.fixture
def facts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> VolumeFacts:
    """A directory on two disks, as a sysfs says them."""
    for disk, number in (("sda", "8:0"), ("sdb", "8:16")):
        (tmp_path / disk).mkdir()
        (tmp_path / disk / "dev").write_text(f"{number}\n")
    monkeypatch.setattr(process, "BLOCKS", tmp_path)
    return on(tmp_path, ["sdb", "sda"])


@pytest.mark.parametrize("disks", [("sdb", "sda"), ()])
def test_a_second_probe_waits_for_the_first_and_says_who_that_is(
    disks: Sequence[str], facts: VolumeFacts, tmp_path: Path
) -> None:
    said: list[str] = []
    waits, done = threading.Event(), threading.Event()

    def hear(text: str) -> None:
        said.append(text)
        waits.set()

    def second() -> None:
        with alone_on(on(tmp_path, disks), hear):
            done.set()

    other = threading.Thread(target=second)
    with alone_on(on(tmp_path, disks), said.append):
        other.start()
        assert waits.wait(60) and not done.is_set()
    other.join(60)
    assert done.is_set()
    assert said == [f"waiting for {WHO}, which probes {'sda' if disks else tmp_path}, too"]


def test_probes_of_different_disks_do_not_wait(facts: VolumeFacts, tmp_path: Path) -> None:
    said: list[str] = []
    with alone_on(on(tmp_path, ["sda"]), said.append), alone_on(on(tmp_path, ["sdb"]), said.append):
        assert said == []


def test_a_killed_probe_leaves_no_lock(facts: VolumeFacts, tmp_path: Path) -> None:
    code = (
        "import os, sys, time; from mawl.measure.probe import process; "
        "process._lock(os.open(sys.argv[1], os.O_RDONLY), '', print); print('held', flush=True); "
        "time.sleep(600)"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "sda" / "dev")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as first:
        assert first.stdout is not None and first.stdout.readline() == "held\n"
        first.kill()
    said: list[str] = []
    with alone_on(facts, said.append):
        assert said == []


def test_an_interrupt_ends_the_wait(facts: VolumeFacts) -> None:
    pid, said = os.getpid(), list[str]()

    def hear(text: str) -> None:
        said.append(text)
        threading.Timer(0.1, os.kill, (pid, signal.SIGINT)).start()

    with alone_on(facts, print), pytest.raises(KeyboardInterrupt), alone_on(facts, hear):
        raise AssertionError("there is another one")
    assert said == [f"waiting for {WHO}, which probes sda, too"]
    with alone_on(facts, said.append):
        assert len(said) == 1, "nobody holds a lock any more"


@pytest.mark.parametrize("garbage", ["no sysfs", "no permission"])
def test_what_prevents_a_lock_costs_one_sentence(
    garbage: str, facts: VolumeFacts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path, *_: int) -> int:
        raise PermissionError(13, "Permission denied", str(path))

    if garbage == "no permission":
        monkeypatch.setattr(os, "open", refuse)
    else:
        monkeypatch.setattr(process, "BLOCKS", tmp_path / "none")
    said: list[str] = []
    with alone_on(facts, said.append):
        why = "permission denied" if garbage == "no permission" else "no such file or directory"
        assert said == [f"not known whether another probe is on sda: {process.BLOCKS}/sda/dev: {why}"]


def test_who_is_not_seen_is_said_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "garbage").write_text("1: FLOCK\n\n2: -> FLOCK ADVISORY WRITE 1 00:1b:7 0 EOF\n")
    with (tmp_path / "garbage").open() as file:
        for listed in (tmp_path / "garbage", tmp_path / "none"):
            monkeypatch.setattr(process, "LOCKS", listed)
            assert process._holder(file.fileno()) == "a process that is not seen from here"
