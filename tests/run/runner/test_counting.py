"""Counter files of a run: where they lie, what they say at the end, and that they go."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from mawl.base.errors import UnsuitableMachineError
from mawl.measure.accounting import TreeSample
from mawl.measure.preload.build import Library
from mawl.measure.preload.counters import FILE_BYTES, HEADER_BYTES, MOST_VOLUMES, ROLES_AT, live_words
from mawl.records.model.records import Usage
from mawl.records.model.role_io import VolumeBytes
from mawl.records.spec.program_options import ROLES, Role
from mawl.run.runner.counting import (
    DAMAGED,
    DAMAGED_FILE,
    LOST,
    LOST_FILE,
    Counting,
    RoleSampling,
    leftover_counters,
)
from mawl.run.runner.job_io import own_io


@pytest.fixture
def roles(tmp_path: Path) -> dict[Role, list[Path]]:
    """Directories for the roles."""
    for role in ROLES:
        (tmp_path / role).mkdir()
    return {role: [tmp_path / role] for role in ROLES}


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    """What stands for shared memory."""
    place = tmp_path / "shm"
    place.mkdir()
    return place


def counting(
    made: Library, roles: dict[Role, list[Path]], shared: Path, run_id: str = "r1", *, uncached: bool = False
) -> Counting:
    """The counting of a run that finds its library compiled."""
    assert made.path is not None
    environment = {**os.environ, "XDG_CACHE_HOME": str(made.path.parents[1])}
    return Counting(
        run_id,
        roles,
        shared.parent,
        jobs=2,
        uncached=uncached,
        environment=environment,
        shared_memory=shared,
    )


def write(found: Counting, counters: str | None, path: Path, blocks: int) -> None:
    """A command that counts."""
    assert counters is not None
    subprocess.run(
        ["dd", "if=/dev/zero", f"of={path}", "bs=100", f"count={blocks}"],
        env={**found.library.environment(os.environ), "MAWL_COUNTERS": counters},
        check=True,
        capture_output=True,
    )


def test_a_run_leaves_nothing_of_its_counters(
    made: Library, roles: dict[Role, list[Path]], shared: Path
) -> None:
    found = counting(made, roles, shared)
    assert found.reason is None
    [directory] = shared.iterdir()
    assert directory.stat().st_mode & 0o077 == 0
    counters = found.make("a")
    write(found, counters, roles["work"][0] / "f", 7)
    taken = found.take("a")
    assert taken is not None
    assert taken[0].io["work"].written_bytes == 700
    assert [path.name for path in directory.iterdir()] == [".mawl"]
    assert found.take("a") is None
    found.make("b")
    found.close()
    assert list(shared.iterdir()) == []


def test_a_file_that_its_job_cut_off_is_not_read(
    made: Library, roles: dict[Role, list[Path]], shared: Path
) -> None:
    found = counting(made, roles, shared)
    counters = found.make("a")
    write(found, counters, roles["work"][0] / "f", 7)
    live = found.live()
    assert counters is not None and live > 0
    os.truncate(counters, 0)  # reading the mapping would now end this process
    assert (found.live(), found.run_delay_seconds("a")) == (live, 0.0)
    assert found.take("a") == (DAMAGED, live)
    own = own_io(DAMAGED, [], Usage(), run_delay_seconds=None, started_delay_seconds=None)
    assert (own.io, own.io_remark) == (None, DAMAGED_FILE)
    found.close()


@pytest.mark.parametrize("at", [0, 8 * 3, ROLES_AT, HEADER_BYTES, HEADER_BYTES + 40 * 8])
def test_a_file_that_its_job_wrote_garbage_into_is_not_believed(
    at: int, made: Library, roles: dict[Role, list[Path]], shared: Path
) -> None:
    found = counting(made, roles, shared)
    counters = found.make("a")
    write(found, counters, roles["work"][0] / "f", 7)
    assert counters is not None
    live, sampling = found.live(), RoleSampling(found)
    with open(counters, "r+b") as file:
        file.seek(at)
        file.write(b"\xfe" * (FILE_BYTES - at if at >= HEADER_BYTES else 16))
    role_series = dict(sampling.series({}))
    assert role_series["role.work.written_bytes"] == 700
    waited = found.waited_seconds("a")
    assert waited is None or max(waited[1].values()) < 1.0
    assert found.run_delay_seconds("a") < 10.0
    # A program that begins now finds the damage, and runs as it would without the library.
    write(found, counters, roles["work"][0] / "g", 7)
    assert (roles["work"][0] / "g").stat().st_size == 700
    taken = found.take("a")
    assert taken is not None and taken[0] == DAMAGED
    # Nanoseconds, bytes and calls of two programs; a word of garbage is 0xfefe...
    assert live <= taken[1] and max(live_words(taken[1])) < 2**50
    found.close()


def test_a_run_whose_counters_were_removed_goes_on_and_says_so(
    made: Library, roles: dict[Role, list[Path]], shared: Path
) -> None:
    found = counting(made, roles, shared)
    counters = found.make("a")
    write(found, counters, roles["work"][0] / "f", 7)
    [directory] = shared.iterdir()
    shutil.rmtree(directory)
    write(found, counters, roles["work"][0] / "g", 7)
    assert (roles["work"][0] / "g").stat().st_size == 700
    assert found.step_io("a", 1) is None
    taken = found.take("a")
    assert taken is not None and taken[0] == LOST
    own = own_io(LOST, [], Usage(), run_delay_seconds=None, started_delay_seconds=None)
    assert (own.io, own.io_remark) == (None, LOST_FILE)
    assert found.make("b") is None
    assert found.reason is not None and "RemoveIPC" in found.reason
    found.close()


def test_what_a_killed_run_left_is_found_and_a_living_one_spared(
    made: Library, roles: dict[Role, list[Path]], shared: Path
) -> None:
    alive = counting(made, roles, shared, "alive")
    for run_id in ("dead", "older", "measure-1"):
        (shared / f"mawl-run-{run_id}").mkdir()
        (shared / f"mawl-run-{run_id}" / ".mawl").touch()
    long_ago = time.time() - 7200
    os.utime(shared / "mawl-run-older", (long_ago, long_ago))

    def names(*run_ids: str) -> list[str]:
        return sorted(path.name[9:] for path in leftover_counters(run_ids, shared.parent, shared))

    assert names() == ["measure-1", "older"]
    assert names("dead", "alive") == ["dead", "measure-1", "older"]
    alive.close()


def test_without_room_in_shared_memory_the_runs_own_folder_serves(
    made: Library, roles: dict[Role, list[Path]], shared: Path
) -> None:
    found = counting(made, roles, shared / "missing")
    assert found.reason is None
    assert str(found.make("a")).startswith(str(shared))
    found.close()


def test_without_a_library_there_is_a_reason_and_no_file(
    tmp_path: Path, roles: dict[Role, list[Path]]
) -> None:
    nothing = {"PATH": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    found = Counting("r1", roles, tmp_path, jobs=1, environment=nothing)
    assert found.reason == "no C compiler"
    assert found.make("a") is None
    found.close()
    with pytest.raises(UnsuitableMachineError, match="--cache none has no effect: no C compiler"):
        Counting("r1", roles, tmp_path, jobs=1, uncached=True, environment=nothing)


def test_a_job_without_a_counter_file_fails_where_the_page_cache_is_denied(
    made: Library, roles: dict[Role, list[Path]], shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("mawl.run.runner.counting.create", full)
    found = counting(made, roles, shared)
    assert found.make("a") is None
    found.close()
    denied = counting(made, roles, shared, uncached=True)
    with pytest.raises(UnsuitableMachineError, match=r"no effect: no counter file for a: .*No space"):
        denied.make("a")
    denied.close()


def test_without_a_place_for_counters_the_page_cache_cannot_be_denied(
    made: Library, roles: dict[Role, list[Path]], shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> None:
        raise OSError(errno.EACCES, "Permission denied")

    monkeypatch.setattr("mawl.run.runner.counting.claim_directory", refused)
    assert "Permission denied" in (counting(made, roles, shared).reason or "")
    with pytest.raises(
        UnsuitableMachineError, match="--cache none has no effect: no counter files can be made"
    ):
        counting(made, roles, shared, uncached=True)


def tree(cpu: float, delay: float) -> TreeSample:
    """A job's live sums."""
    return TreeSample(0, 0, 0, 0, cpu, 0.0, 0, 1, delay)


def test_series_add_running_and_ended_jobs_and_never_fall(
    made: Library, roles: dict[Role, list[Path]], shared: Path
) -> None:
    found = counting(made, roles, shared)
    sampling = RoleSampling(found)
    for job, blocks in (("a", 3), ("b", 5)):
        write(found, sampling.counters(job), roles["util"][0] / job, blocks)
    first = dict(sampling.series({"a": tree(1.0, 0.5), "b": tree(2.0, 0.25)}))
    assert (first["role.util.written_bytes"], first["role.util.writes"]) == (800.0, 8.0)
    assert first["role.data.reads"] == 0.0
    assert first["jobs.on_cpu_seconds"] == 3.0
    assert sampling.take("a") is not None
    sampling.job_ended("a", 1.5, 0.75)
    second = dict(sampling.series({"b": tree(2.0, 0.25)}))
    assert second["role.util.written_bytes"] == 800.0
    assert second["jobs.on_cpu_seconds"] == 3.5
    assert second["jobs.run_queue_seconds"] >= 1.0
    sampling.take("b")
    assert all(value >= second[name] for name, value in sampling.series({}))
    found.close()


def test_without_counting_only_the_jobs_time_is_known() -> None:
    found = dict(RoleSampling().series({"a": tree(1.0, 0.5)}))
    assert found == {
        "jobs.on_cpu_seconds": 1.0,
        "jobs.run_queue_seconds": 0.5,
    }


def test_bytes_of_more_directories_than_are_told_apart_are_not_by_volume(
    made: Library, roles: dict[Role, list[Path]], shared: Path
) -> None:
    def volumes(directories: int) -> VolumeBytes | None:
        work = [shared.parent / f"work{number}" for number in range(directories - 2)]
        work[-1].mkdir(exist_ok=True)
        found = counting(made, {**roles, "work": work}, shared, f"r{directories}")
        try:
            write(found, found.make("job"), work[-1] / "file", 3)
            taken = found.take("job")
        finally:
            found.close()
        assert taken is not None
        assert taken[0].io["work"].written_bytes == 300
        return taken[0].volumes

    last_of_work = MOST_VOLUMES - 1
    assert volumes(MOST_VOLUMES) == {last_of_work: (0, 300)}
    assert volumes(MOST_VOLUMES + 1) is None
