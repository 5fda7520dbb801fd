"""The command lines: what each option is there for."""

from __future__ import annotations

import msgspec
import pytest

from mawl.probe.choice import MIB, PlannedTest, ProbeChoice
from mawl.probe.command import fill_command, layout_command, probe_command

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
