"""tools/setup.sh says each miss in one sentence, on machines that are made to lack things."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests import needs

ROOT = Path(__file__).resolve().parents[2]
NEEDED = ("sh", "dirname", "cat", "sha256sum", "cut", "id", "df", "awk", "flock", "rm", "sleep")


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A copy of what setup needs, and a PATH with nothing but the basic commands."""
    clone = tmp_path / "clone"
    (clone / "tools").mkdir(parents=True)
    shutil.copy(ROOT / "tools/setup.sh", clone / "tools")
    for name in ("constraints.txt", "pyproject.toml"):
        shutil.copy(ROOT / name, clone)
    (tmp_path / "bin").mkdir()
    for name in NEEDED:
        found = shutil.which(name)
        if found:
            (tmp_path / "bin" / name).symlink_to(found)
    return tmp_path


def program(machine: Path, name: str, script: str) -> None:
    path = machine / "bin" / name
    path.unlink(missing_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def setup(machine: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sh", str(machine / "clone/tools/setup.sh"), *arguments],
        env={"PATH": str(machine / "bin"), **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
    )


def a_python(machine: Path, name: str = "python3.11", before: str = "") -> None:
    program(machine, name, f'{before}\nexec "{sys.executable}" "$@"')


def test_a_machine_with_all_it_takes_says_nothing(machine: Path) -> None:
    a_python(machine)
    program(machine, "cc", "")
    ended = setup(machine, "--check")
    notices = [line for line in ended.stderr.splitlines() if "/dev/shm" not in line]
    assert (ended.returncode, notices) == (0, [])


def test_no_python_names_the_packages(machine: Path) -> None:
    ended = setup(machine, "--check")
    assert ended.returncode == 1
    assert "python3.11 was not found" in ended.stderr
    assert "apt-get install python3.11 python3.11-venv" in ended.stderr
    assert "PYTHON=python3.12" in ended.stderr


def test_another_python_is_named_by_its_own_package(machine: Path) -> None:
    ended = setup(machine, "--check", PYTHON="python3.13")
    assert "apt-get install python3.13 python3.13-venv" in ended.stderr


@pytest.mark.parametrize("module", ["venv", "ensurepip"])
def test_python_without_venv_names_the_package(machine: Path, module: str) -> None:
    a_python(machine, before=f'[ "$2" != "import {module}" ] || exit 1')
    ended = setup(machine, "--check")
    assert ended.returncode == 1
    (line,) = [line for line in ended.stderr.splitlines() if "module" in line]
    assert f"python3.11 has no module {module};" in line
    assert line.endswith("apt-get install python3.11-venv")


def test_an_old_python_is_refused(machine: Path) -> None:
    program(machine, "python3.11", 'case "$2" in *version_info*) exit 1 ;; esac')
    ended = setup(machine, "--check")
    assert ended.returncode == 1
    assert "older than Python 3.11" in ended.stderr


def test_a_full_disk_is_refused_with_both_figures(machine: Path) -> None:
    a_python(machine)
    program(
        machine,
        "df",
        'echo "head"; echo "x 9 9 307200 9% /"',
    )
    ended = setup(machine, "--check")
    assert ended.returncode == 1
    assert "300 MiB free" in ended.stderr and "2560 MiB" in ended.stderr


def test_no_compiler_is_a_notice_only(machine: Path) -> None:
    a_python(machine)
    ended = setup(machine, "--check")
    assert ended.returncode == 0
    assert "notice: no C compiler" in ended.stderr and "apt-get install gcc" in ended.stderr


def test_every_miss_is_said_at_once(machine: Path) -> None:
    program(machine, "df", 'echo head; echo "x 9 9 0 9% /"')
    said = setup(machine, "--check").stderr
    assert "was not found" in said and "0 MiB free" in said and "no C compiler" in said


def test_the_stamp_follows_the_constraints_and_the_place(machine: Path) -> None:
    first = setup(machine, "--stamp").stdout
    assert first.startswith(".venv/.stamp-") and first == setup(machine, "--stamp").stdout
    with (machine / "clone/constraints.txt").open("a") as file:
        file.write("another==1.0\n")
    second = setup(machine, "--stamp").stdout
    assert second != first
    (machine / "clone").rename(machine / "moved")
    (machine / "clone").symlink_to(machine / "moved")
    assert setup(machine, "--stamp").stdout != second


def fake_venv(machine: Path, pip: str) -> None:
    """A Python whose venv is one script: ``pip`` runs in place of pip."""
    made = machine / "made"
    made.write_text(f"#!/bin/sh\n{pip}\n")
    made.chmod(0o755)
    (machine / "bin" / "mkdir").symlink_to(str(shutil.which("mkdir")))
    (machine / "bin" / "cp").symlink_to(str(shutil.which("cp")))
    fake = f"mkdir -p .venv/bin && cp {made} .venv/bin/python"
    a_python(machine, before=f'[ "$2" != venv ] || {{ {fake}; exit; }}')


def test_the_stamp_comes_last_and_a_failed_download_is_tried_once_more(machine: Path) -> None:
    log = machine / "log"
    fake_venv(machine, f'echo "$@" >>"{log}"; [ "$(cat {log} | wc -l)" -gt 1 ]')
    (machine / "bin" / "wc").symlink_to(str(shutil.which("wc")))
    ended = setup(machine)
    assert ended.returncode == 0, ended.stderr
    assert "once more" in ended.stderr
    calls = log.read_text().splitlines()
    assert [call.split()[-1] for call in calls] == [
        "setuptools",
        "setuptools",
        ".[programs,server,storage,cluster,search,development]",
    ]
    assert all("--constraint constraints.txt" in call for call in calls)
    assert (machine / "clone" / setup(machine, "--stamp").stdout.strip()).exists()
    log.unlink()
    assert setup(machine).returncode == 0
    assert not log.exists(), "a stamped environment was made again"


def test_without_packages_there_is_no_stamp_and_the_next_setup_starts_over(machine: Path) -> None:
    fake_venv(machine, "exit 1")
    ended = setup(machine)
    assert ended.returncode != 0
    assert "could not be installed" in ended.stderr
    stamp = machine / "clone" / setup(machine, "--stamp").stdout.strip()
    assert not stamp.exists()
    litter = machine / "clone/.venv/litter"
    litter.write_text("")
    (machine / "made").write_text("#!/bin/sh\n")
    assert setup(machine).returncode == 0
    assert stamp.exists() and not litter.exists()


@needs.marks(needs.program("flock"))
def test_two_setups_at_once_make_one_environment(machine: Path) -> None:
    log = machine / "log"
    fake_venv(machine, f'echo "$@" >>"{log}"; sleep 0.3')
    command = ["sh", str(machine / "clone/tools/setup.sh")]
    both = [
        subprocess.Popen(command, env={"PATH": str(machine / "bin")}, stderr=subprocess.DEVNULL)
        for _ in range(2)
    ]
    assert [child.wait(timeout=60) for child in both] == [0, 0]
    assert len(log.read_text().splitlines()) == 2


@pytest.mark.lab
@needs.marks(needs.ROOT, needs.program("unshare"))
def test_shared_memory_that_cannot_be_written_is_a_notice(machine: Path) -> None:
    a_python(machine)
    check = f"PATH={machine}/bin sh {machine}/clone/tools/setup.sh --check"
    script = f"mount -t tmpfs -o ro tmpfs /dev/shm && {check}"
    ended = subprocess.run(["unshare", "--mount", "sh", "-c", script], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    assert "/dev/shm cannot be written" in ended.stderr
