"""Probes with a stand-in for fio: what fails costs its test or its target, and leaves nothing behind."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mawl.measure.probe import process
from mawl.measure.probe import target as targets
from mawl.measure.probe.command import KIB, MIB, PlannedTest, ProbeChoice
from mawl.measure.probe.process import FioExit, ProbePlace, facts_of, run_fio, why_cached
from mawl.measure.probe.target import ProbeRequest, probe
from mawl.records.model.probe import Probe, ProbeTarget
from tests import needs
from tests.fakes.probes import calls, stub_fio

READ = PlannedTest(pattern="sequential", direction="read", request_bytes=256 * KIB, streams=1, direct=True)
WRITE = PlannedTest(pattern="sequential", direction="write", request_bytes=256 * KIB, streams=2, direct=True)

Probing = Callable[..., Probe]


@pytest.fixture
def probing(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Probing:
    """Probes directories below the test's own; ``kept`` of the function are all states it was given."""
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    blocks = tmp_path_factory.mktemp("blocks")
    for disk in facts_of(ProbePlace(name="here", directory=tmp_path), "bench1").disks:
        (blocks / disk).mkdir()
        (blocks / disk / "dev").touch()
    monkeypatch.setattr(process, "BLOCKS", blocks)  # other tests may probe the same disk

    def run(
        *names: str, fault: str = "", says: Callable[[str], None] = lambda _: None, **changes: object
    ) -> Probe:
        stub_fio(tmp_path, fault)
        choice = ProbeChoice(**{"shapes": [READ, WRITE], "file_bytes": 4 * MIB, "seconds": 1.0, **changes})  # type: ignore[arg-type]
        request = ProbeRequest(
            run_id="probe-test",
            places=[ProbePlace(name=name, directory=tmp_path / name, roles=["work"]) for name in names],
            choice=choice,
            node="bench1",
            tool="fio-3.33",
            created_at=1e9,
            cores=2,
            core_basis="vCPU",
            environment={"MAWL_RUN_ID": "probe-test"},
        )
        return probe(request, says, states.append)

    states: list[Probe] = []
    run.kept = states  # type: ignore[attr-defined]
    return run


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """A directory to probe."""
    (tmp_path / "here").mkdir()
    return tmp_path / "here"


def only(found: Probe) -> ProbeTarget:
    (target,) = found.targets
    return target


def test_a_probe_measures_keeps_each_test_and_leaves_nothing(
    probing: Probing, here: Path, tmp_path: Path
) -> None:
    found = only(probing("here"))
    assert [test.direction for test in found.tests] == ["read", "write"]
    assert found.problem is None and found.roles == ["work"]
    read = found.tests[0].read
    assert read is not None and read.bytes_per_second == 5000.0 and found.tests[0].write is None
    assert found.tests[0].cpu_seconds == pytest.approx(0.006)
    assert list(here.iterdir()) == []
    assert [len(only(state).tests) for state in probing.kept] == [1, 2, 2]  # type: ignore[attr-defined]
    made, first, second = calls(tmp_path / "calls.jsonl")
    assert "--rw=write" in made and "--name=stream.1" in made
    assert [["fio", *first], ["fio", *second]] == [test.command for test in found.tests]


def test_a_second_probe_of_a_disk_begins_when_the_first_has_ended(
    probing: Probing, here: Path, tmp_path: Path
) -> None:
    waits = threading.Event()
    found: list[Probe] = []

    def hear(text: str) -> None:
        if text.startswith(f"here: waiting for process {os.getpid()} (user "):
            waits.set()

    second = threading.Thread(target=lambda: found.append(probing("here", says=hear)))
    with process.alone_on(facts_of(ProbePlace(name="first", directory=here), "bench1"), print):
        second.start()
        assert waits.wait(60) and not (tmp_path / "calls.jsonl").exists()
    second.join(60)
    assert len(only(found[0]).tests) == 2 and only(found[0]).problem is None


def test_a_slow_target_gets_smaller_files(probing: Probing, here: Path, tmp_path: Path) -> None:
    """The stub says that it writes 5,000 bytes a second."""
    found = only(probing("here", file_bytes=1024 * MIB, layout_seconds=15.0))
    tried, made, first, _ = calls(tmp_path / "calls.jsonl")
    assert f"--size={16 * MIB}" in tried
    assert [word for word in made if word.startswith("--size")] == [
        f"--size={64 * MIB}",
        f"--size={32 * MIB}",
    ]
    assert f"--size={64 * MIB}" in first
    assert len(found.tests) == 2 and list(here.iterdir()) == []


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        (
            "if kind == 'read': result = result[:150]",
            "document 1 of 1 of fio's output is cut short or garbled",
        ),
        ("if kind == 'read': sys.exit('fio: bad thing')", "fio ended with status 1: bad thing"),
        ("if kind == 'read': os.kill(os.getpid(), 9)", "fio was killed by SIGKILL"),
        ("if kind == 'read': result = ''", "holds no fio results: it is empty"),
        (
            "if kind == 'read':\n    job['error'] = 5\n    result = told(job)\n"
            "    print('fio: io_u error on file x: Input/output error: read offset=0', file=sys.stderr)",
            "fio met error 5, input/output error: io_u error on file x: Input/output error: read offset=0",
        ),
        (
            "if kind == 'read': result = told({**job, 'read': nothing})",
            "fio moved no byte",
        ),
    ],
)
def test_a_test_that_fails_costs_itself_alone(
    probing: Probing, here: Path, tmp_path: Path, fault: str, sentence: str
) -> None:
    (tmp_path / "beside").mkdir()
    found = probing("here", "beside", fault=fault)
    for target in found.targets:
        failed, well = target.tests
        assert (failed.read, failed.write, failed.elapsed_seconds) == (None, None, None)
        assert failed.remark is not None and sentence in failed.remark
        assert well.write is not None and well.remark is None
        assert target.problem is not None and target.problem.startswith("1 of 2 tests gave no figures: ")
    assert list(here.iterdir()) == []


def test_a_target_that_takes_its_files_too_slowly_asks_for_smaller_ones(
    probing: Probing, monkeypatch: pytest.MonkeyPatch, here: Path
) -> None:
    monkeypatch.setattr(targets, "GRACE_SECONDS", 0.5)
    monkeypatch.setattr(targets, "LEAST_BYTES_PER_SECOND", 1e12)
    found = only(probing("here", fault="if kind == 'layout': time.sleep(100)"))
    assert found.tests == [] and found.problem is not None
    assert "fio did not end within" in found.problem
    assert found.problem.endswith(
        "let mawl probe write smaller files (--file-size), or see to the file system, "
        "or name another directory"
    )


def test_a_fio_that_hangs_is_ended_and_ends_its_target_alone(
    probing: Probing, here: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(targets, "GRACE_SECONDS", 0.5)
    monkeypatch.setattr(targets, "LEAST_BYTES_PER_SECOND", 1e12)
    (tmp_path / "beside").mkdir()
    hangs = "if kind == 'read' and '/here/' in os.getcwd(): time.sleep(100)"
    first, second = probing("here", "beside", fault=hangs).targets
    assert [test.remark for test in first.tests] == ["fio did not end within 2 s and was ended"]
    assert first.problem is not None and "fio did not come back" in first.problem
    assert second.problem is None and len(second.tests) == 2
    assert list(here.iterdir()) == []


def test_files_that_cannot_be_written_end_the_target_with_a_sentence(probing: Probing, here: Path) -> None:
    found = only(probing("here", fault="if kind == 'layout': sys.exit('fio: No space left on device')"))
    assert found.tests == []
    assert found.problem == (
        f"{here}: cannot be probed: its files could not be written: fio ended with status 1: "
        "No space left on device; see to the file system, or name another directory"
    )


@pytest.mark.lab
@needs.marks(needs.program("fio"))
@pytest.mark.parametrize("name", ["$jobname", "a:b", "$jobnum,c", "new\nline", "back\\slash", "-rw"])
def test_the_real_fio_writes_in_its_own_directory_whatever_that_is_called(
    probing: Probing, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    path = os.environ["PATH"].split(":", 1)[1]
    (tmp_path / "within").mkdir()
    (tmp_path / "within" / name).mkdir()
    seen: list[set[str]] = []

    def real_fio(*given: Any) -> FioExit:
        monkeypatch.setenv("PATH", path)
        done = run_fio(*given)
        seen.append(everything(tmp_path))
        return done

    monkeypatch.setattr(targets, "run_fio", real_fio)
    found = only(probing(f"within/{name}"))
    assert found.problem is None
    assert [test.read is not None or test.write is not None for test in found.tests] == [True, True]
    own = f"within/{name}/mawl-run-probe-test/"
    files = {file for files in seen for file in files}
    assert {f"{own}stream.0", f"{own}stream.1"} <= files
    assert {file for file in files if not file.startswith(own)} == {"bin/fio"}


def everything(place: Path) -> set[str]:
    """The names of all files below a place."""
    return {str(path.relative_to(place)) for path in place.rglob("*") if path.is_file()}


def test_a_place_that_is_none_says_so_and_the_others_go_on(
    probing: Probing, here: Path, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    missing, file, well = probing("missing", "file", "here").targets
    assert (
        missing.problem is not None
        and ": cannot be probed: it is not there; mount or make it" in missing.problem
    )
    assert file.problem is not None and ": cannot be probed: it is a file; name a directory" in file.problem
    assert not (tmp_path / "missing").exists(), "below a missing mount it would be another disk"
    assert well.problem is None and len(well.tests) == 2


def test_a_probe_that_would_not_fit_is_refused_before_it_writes(
    probing: Probing, here: Path, tmp_path: Path
) -> None:
    found = only(probing("here", file_bytes=2**60))
    assert found.problem is not None
    assert "cannot be probed: its files take" in found.problem and "--file-size" in found.problem
    assert not (tmp_path / "calls.jsonl").exists(), "fio was not started"
    df = os.statvfs(here)
    assert found.size_bytes == df.f_blocks * df.f_frsize
    assert found.free_bytes == pytest.approx(df.f_bavail * df.f_frsize, rel=0.05), "as df has it, root or not"


def test_where_direct_is_refused_tests_are_buffered_and_say_so(
    probing: Probing, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(targets, "why_cached", lambda *_: "the file system refuses O_DIRECT")
    found = only(probing("here"))
    assert [test.direct for test in found.tests] == [False, False]
    assert {test.remark for test in found.tests} == {
        "the file system refuses O_DIRECT, so the test was buffered"
    }
    assert all("--direct=0" in test.command for test in found.tests)
    assert found.problem is None


def test_direct_and_buffered_are_one_test_where_direct_is_refused(
    probing: Probing, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(targets, "why_cached", lambda *_: "the file system refuses O_DIRECT")
    buffered = PlannedTest(
        pattern="sequential", direction="read", request_bytes=256 * KIB, streams=1, direct=False
    )
    assert len(only(probing("here", shapes=[READ, buffered])).tests) == 1


def test_o_direct_that_is_refused_is_told_from_what_fails(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> int:
        raise OSError(22, "Invalid argument")

    def fail(*_: object) -> int:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "write", refuse)
    assert why_cached("ext4", here) == "the file system refuses O_DIRECT"
    monkeypatch.setattr(os, "write", fail)
    with pytest.raises(OSError, match="Input/output"):
        why_cached("ext4", here)
    assert list(here.iterdir()) == []


@pytest.mark.parametrize(
    ("version", "why"),
    [
        ("2.2.4-1ubuntu1", "ZFS before 2.3 serves O_DIRECT from its cache"),
        (None, "ZFS before 2.3 serves O_DIRECT from its cache"),
        ("2.3.0-1", None),
        ("2.10.1", None),
    ],
)
def test_a_file_system_that_serves_direct_requests_from_memory_is_known(
    here: Path, tmp_path: Path, version: str | None, why: str | None
) -> None:
    if version is not None:
        (tmp_path / "module/zfs").mkdir(parents=True)
        (tmp_path / "module/zfs/version").write_text(f"{version}\n")
    assert why_cached("zfs", here, tmp_path) == why
    assert why_cached("tmpfs", here) == "tmpfs lies in memory"


def test_levels_that_are_below_what_is_used_are_left_out_with_a_reason(probing: Probing, here: Path) -> None:
    found = only(probing("here", fill_ratios=[0.000001]))
    assert found.tests == []
    assert (
        found.problem is not None and "not probed 0 % full: with the probe's own files it is" in found.problem
    )


def test_an_interrupt_keeps_what_is_finished_and_leaves_no_files(probing: Probing, here: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        probing("here", fault="if '--numjobs=2' in words: os.kill(os.getppid(), 2); time.sleep(100)")
    last = only(probing.kept[-1])  # type: ignore[attr-defined]
    assert [test.direction for test in last.tests] == ["read"]
    assert last.problem == "interrupted"
    assert list(here.iterdir()) == []


LIMITED = """
asked = float(given.get("rate_iops", 1e9))
rate = min(100.0 * int(given.get("iodepth", 1)), 450.0, asked)
way.update(iops=rate, clat_ns={"min": 1, "max": 9, "mean": 5.0, "N": 2, "percentile": {"99.000000": 4}})
result = told(job)
"""
"""A device of 100 requests per second for each request under way, and of 450 at most."""


def test_the_depth_is_doubled_while_the_rate_grows(probing: Probing, here: Path, tmp_path: Path) -> None:
    found = only(probing("here", fault=LIMITED, shapes=[READ], seeks_best=True))
    assert [(test.depth, test.streams, test.engine) for test in found.tests] == [
        (1, 1, "psync"),
        (2, 2, "libaio"),
        (4, 4, "libaio"),
        (8, 8, "libaio"),
        (16, 16, "libaio"),
    ], "450 at depth 8 and no more at 16"
    assert found.curve == [] and found.problem is None


def test_a_curve_has_six_rates_below_the_best_and_is_apart_from_the_tests(
    probing: Probing, here: Path, tmp_path: Path
) -> None:
    """What takes the best rate of a target for its capability must not meet tests that were held back."""
    found = only(probing("here", fault=LIMITED, shapes=[READ], curve=True))
    asked = [test.asked_requests_per_second for test in found.curve]
    assert asked == pytest.approx([67.5, 135, 225, 315, 382.5, 427.5])
    assert [test.read.requests_per_second for test in found.curve if test.read] == [
        68,
        135,
        225,
        315,
        382,
        428,
    ]
    assert {test.depth for test in found.curve} == {32}
    assert all(test.asked_requests_per_second is None for test in found.tests)
