""".ci/run: whatever happens, its last line is the sum of the three test runs and its status tells."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BASIC = ("bash", "sh", "dirname", "mktemp", "rm", "timeout", "id", "cat", "env")
TOOLS = (
    *("strace", "fio", "chromium", "mkfs.ext4", "mkfs.xfs", "mkfs.btrfs", "compsize", "losetup", "unshare"),
    *("cc", "ip", "openssl", "nbdkit", "nbdfuse", "glusterfsd", "glusterfs", "ssh", "sshd"),
    *("nmon", "iostat", "shellcheck", "mksh", "ksh93", "zsh", "fish", "mandoc", "groff", "man"),
    *("prometheus", "munged", "slurmctld", "slurmd", "sbatch", "minisign"),
)
PASSED = "<testsuites><testcase name='a'/></testsuites>"
FAILED = "<testsuites><testcase name='a'/><testcase name='b'><failure/></testcase></testsuites>"
SKIPPED = "<testsuites><testcase name='a'/><testcase name='b'><skipped/></testcase></testsuites>"


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A clone with the real script, and a PATH where every program it looks for is a stub."""
    for name in (".ci/run", "tools/packages.txt", "tools/totals.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "tools/slowness.py").write_text("print(100)\n")
    (tmp_path / "bin").mkdir()
    for name in BASIC:
        (tmp_path / "bin" / name).symlink_to(str(shutil.which(name)))
    for name in ("python3", "python3.11"):
        (tmp_path / "bin" / name).symlink_to(sys.executable)
    for name in TOOLS:
        stub(tmp_path, name, "exit 0")
    return tmp_path


def stub(clone: Path, name: str, script: str) -> None:
    path = clone / "bin" / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def make(clone: Path, **targets: tuple[int, str | None]) -> None:
    """A make whose targets end with a status and write a result, or none."""
    cases = ""
    for target, (status, result) in targets.items():
        name = target.replace("_", "-")
        files = ("test-lab", "test-alone") if name == "test-lab" else ("test",)
        write = [f'cat >"$report/{file}.xml" <<X\n{result}\nX\n' for file in files if result]
        cases += f"{name})\n{''.join(write)}exit {status} ;;\n"
    stub(clone, "make", f'echo "$1" >>log\nreport=${{2#REPORT=}}\ncase $1 in\n{cases}esac\nexit 9')


def limits(clone: Path, **environment: str) -> tuple[list[int], list[str]]:
    """Seconds that each target may take, and the lines."""
    (clone / "bin" / "timeout").unlink(missing_ok=True)
    stub(clone, "timeout", 'echo "$2" >>limits\nshift 2\nexec "$@"')
    (clone / "limits").write_text("")
    _, lines, _ = ran(clone, **environment)
    return [int(line) for line in (clone / "limits").read_text().split()], lines


def run(clone: Path) -> tuple[int, str, list[str]]:
    status, lines, made = ran(clone)
    return status, (lines or [""])[-1], made


def ran(clone: Path, **environment: str) -> tuple[int, list[str], list[str]]:
    """Status, lines of both outputs, and what make was asked for."""
    ended = subprocess.run(
        [str(clone / "bin" / "bash"), str(clone / ".ci/run")],
        env={"PATH": str(clone / "bin"), "PYTHON": str(clone / "bin/python3.11"), **environment},
        cwd="/",
        input="",
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=60,
    )
    log = clone / "log"
    made = log.read_text().split() if log.exists() else []
    return ended.returncode, ended.stdout.strip().splitlines(), made


def test_a_target_that_ends_well_without_its_results_is_a_failure(clone: Path) -> None:
    make(clone, check=(0, PASSED), test_lab=(0, None))
    assert run(clone) == (1, "1 passed, 0 failed, 0 skipped", ["check", "test-lab"])


def test_all_runs_are_added_up(clone: Path) -> None:
    make(clone, check=(0, PASSED), test_lab=(0, SKIPPED))
    assert run(clone) == (0, "3 passed, 0 failed, 2 skipped", ["check", "test-lab"])


def test_a_failed_test_fails_and_the_lab_still_runs(clone: Path) -> None:
    make(clone, check=(2, FAILED), test_lab=(0, PASSED))
    assert run(clone) == (1, "3 passed, 1 failed, 0 skipped", ["check", "test-lab"])


def test_a_failed_lab_fails(clone: Path) -> None:
    make(clone, check=(0, PASSED), test_lab=(2, FAILED))
    assert run(clone) == (1, "3 passed, 2 failed, 0 skipped", ["check", "test-lab"])


def test_a_gate_that_fails_before_the_tests_fails_and_they_run_all_the_same(clone: Path) -> None:
    make(clone, check=(2, None), test_all=(0, PASSED), test_lab=(0, PASSED))
    assert run(clone) == (1, "3 passed, 0 failed, 0 skipped", ["check", "test-all", "test-lab"])


def test_tests_that_never_ran_are_a_failure(clone: Path) -> None:
    make(clone, check=(2, None), test_all=(2, None), test_lab=(0, PASSED))
    assert run(clone) == (1, "2 passed, 0 failed, 0 skipped", ["check", "test-all", "test-lab"])


def test_a_target_that_takes_too_long_is_stopped_and_named(clone: Path) -> None:
    make(clone, check=(0, PASSED), test_lab=(0, PASSED))
    (clone / "bin" / "timeout").unlink()
    stub(clone, "timeout", 'shift 2\ncase $2 in test-lab) "$@"; exit 124 ;; esac\nexec "$@"')
    status, lines, _ = ran(clone)
    assert status == 1
    assert any("ci: make test-lab was stopped after 5" in line for line in lines)
    assert any(re.match(r"ci: took \d minutes; 30 are right", line) for line in lines)
    assert lines[-1] == "3 passed, 0 failed, 0 skipped"


def test_limits_grow_with_a_slow_machine_and_end_within_the_hour(clone: Path) -> None:
    make(clone, check=(0, PASSED), test_lab=(0, PASSED))
    assert limits(clone)[0] == [1200, pytest.approx(57 * 60, abs=5)]
    (clone / "tools/slowness.py").write_text("print(160)\n")
    found, lines = limits(clone, SECONDS="1800")  # bash counts on from there
    assert found == [pytest.approx(27 * 60, abs=5)] * 2
    assert any("takes 160 % of the time that a quiet machine takes" in line for line in lines)
    assert limits(clone, SECONDS="1200")[0][0] == 1920


def test_a_target_for_which_no_time_is_left_fails(clone: Path) -> None:
    make(clone, check=(0, PASSED), test_lab=(0, PASSED))
    found, lines = limits(clone, SECONDS="3400")
    assert found == []
    assert "ci: make test-lab did not begin: no time is left for it" in lines


def test_what_is_missing_is_installed_first(clone: Path) -> None:
    make(clone, check=(0, PASSED), test_lab=(0, PASSED))
    (clone / "bin" / "strace").unlink()
    apt = 'echo "apt-get $1" >>log'
    stub(clone, "apt-get", apt)
    stub(clone, "sudo", 'shift\nexec "$@"')
    status, last, made = run(clone)
    assert (status, last) == (0, "3 passed, 0 failed, 0 skipped")
    assert made == ["apt-get", "update", "apt-get", "install", "check", "test-lab"]


def test_a_header_that_the_compiler_does_not_find_is_installed(clone: Path) -> None:
    make(clone, check=(0, PASSED), test_lab=(0, PASSED))
    stub(clone, "cc", "exit 1")
    stub(clone, "apt-get", 'echo "$@" | tr " " "," >>log')
    stub(clone, "sudo", 'shift\nexec "$@"')
    (clone / "bin" / "tr").symlink_to(str(shutil.which("tr")))
    status, _, made = run(clone)
    assert status == 0
    assert made[1].endswith(",nbdkit-plugin-dev")


def test_what_cannot_be_installed_ends_it_with_its_last_line(clone: Path) -> None:
    make(clone, check=(0, PASSED), test_lab=(0, PASSED))
    (clone / "bin" / "strace").unlink()
    stub(clone, "apt-get", "exit 100")
    stub(clone, "sudo", 'shift\nexec "$@"')
    assert run(clone) == (1, "0 passed, 0 failed, 0 skipped", [])
