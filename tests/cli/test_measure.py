"""``mawl measure``: a time(1) that knows about file systems."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from mawl.measure.preload.build import Library
from tests.cli.conftest import Command


@pytest.fixture
def measure(made: Library, mawl: Command) -> Command:
    """``mawl`` in a directory with roles, and with the library compiled."""
    assert made.path is not None
    mawl.environment["XDG_CACHE_HOME"] = str(made.path.parents[1])
    for role in ("d", "w", "u"):
        (mawl.directory / role).mkdir()
    return mawl


ROLES = ("--data", "d", "--work", "w", "--util", "u")


def as_json(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """The one object on standard output."""
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_a_command_in_figures(measure: Command) -> None:
    done = measure.ok(
        "measure", *ROLES, "--json", "--", "dd", "if=/dev/zero", "of=w/f", "bs=4k", "count=10", "conv=fsync"
    )
    found = as_json(done)
    work = found["io"]["by_role"]["work"]
    assert (work["writes"], work["written_bytes"], work["syncs"]) == (10, 40960, 1)
    assert found["io"]["by_role"]["data"]["reads"] == 0
    assert found["io"]["coverage_ratio"] == pytest.approx(1.0, abs=0.1)
    assert found["usage"]["block_output_operations"] is not None
    wait = found["wait"]
    parts = [wait["on_cpu_seconds"], wait["run_queue_seconds"], *wait["blocked_seconds"].values()]
    assert sum(parts) == pytest.approx(found["usage"]["real_time_seconds"], rel=0.02, abs=0.002)
    assert (found["exit_code"], found["signal"]) == (0, None)
    assert all(found["missing"].values())


def test_the_memory_of_a_command_is_not_mawls(measure: Command) -> None:
    found = as_json(measure("measure", *ROLES, "--json", "--", "true"))
    assert 2**19 < found["usage"]["memory_bytes"] == found["usage"]["os_memory_bytes"] < 2**22


def test_as_text_it_is_out_of_the_commands_way(measure: Command) -> None:
    (measure.directory / "d" / "in").write_text("three\nlines\nhere\n")
    done = measure("measure", *ROLES, "--", "sh", "-c", "sort d/in | tee w/out; echo oops >&2; exit 7")
    assert done.returncode == 7
    assert done.stdout == "here\nlines\nthree\n"
    assert done.stderr.startswith("oops\n")
    for text in (
        "real time",
        "user cpu time",
        "Page Reclaims",
        "application",
        "role",
        "waits     on processors",
    ):
        assert text in done.stderr
    assert not any(line.startswith("util") and "kB" in line for line in done.stderr.splitlines())


def test_a_file_size_limit_ends_a_command_as_without_mawl(measure: Command) -> None:
    command = ("sh", "-c", "ulimit -c 0; ulimit -f 10; head -c 100000 /dev/zero > w/x")
    done = measure("measure", *ROLES, "--", *command)
    plain = subprocess.run(command, cwd=measure.directory, capture_output=True)
    assert done.returncode == plain.returncode == 128 + signal.SIGXFSZ


def test_standard_input_and_an_output_file(measure: Command) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "mawl", "measure", "--json", "--output", "report", "--", "tr", "a-z", "A-Z"],
        cwd=measure.directory,
        env=measure.environment,
        input="loud\n",
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "LOUD\n", "")
    assert json.loads((measure.directory / "report").read_text())["command"] == ["tr", "a-z", "A-Z"]


def test_a_command_that_cannot_start_costs_no_earlier_report(measure: Command) -> None:
    (measure.directory / "report").write_text("an older report\n")
    done = measure("measure", "--output", "report", "--", "no-such-command")
    assert done.returncode == 127
    assert (measure.directory / "report").read_text() == "an older report\n"


def test_bytes_pass_through_as_they_are_and_are_all_there_is(measure: Command) -> None:
    sent = bytes(range(256)) * 2000
    done = subprocess.run(
        [sys.executable, "-m", "mawl", "measure", *ROLES, "--json", "--output", "report", "--", "cat"],
        cwd=measure.directory,
        env=measure.environment,
        input=sent,
        capture_output=True,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, sent, b"")
    found = json.loads((measure.directory / "report").read_text())
    # What the kernel counted is the command's own, to the byte: no line of mawl's is in it.
    assert found["io"]["application"]["written_bytes"] == pytest.approx(len(sent), abs=8)


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-"])
def test_a_standard_stream_that_is_closed_is_none(closed: str, measure: Command) -> None:
    report = ("--json", "--output", "report", "--", "sh", "-c", "echo out; echo err >&2; cat; exit 5")
    words = " ".join(f"'{word}'" for word in (sys.executable, "-m", "mawl", "measure", *report))
    done = subprocess.run(
        ["sh", "-c", f"{words} {closed}"],
        cwd=measure.directory,
        env=measure.environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 5, done.stderr
    assert done.stdout == ("" if closed == ">&-" else "out\n")
    assert done.stderr == ("" if closed == "2>&-" else "err\n")
    assert json.loads((measure.directory / "report").read_text())["exit_code"] == 5


def test_a_role_that_is_not_there_is_told(measure: Command) -> None:
    done = measure("measure", "--data", "d", "--work", "wrok", "--", "true")
    assert done.returncode == 0
    assert "absent    --work wrok: there is no such directory" in done.stderr
    assert "--data" not in done.stderr
    assert "counted:" not in done.stderr  # what the loader read is no news


def test_what_still_runs_when_the_command_is_over_is_ended_and_told(measure: Command) -> None:
    done = measure("measure", "--", "sh", "-c", "setsid sleep 60 & echo $! >pid; exit 3")
    assert done.returncode == 3
    assert "ended     1 process that still ran" in " ".join(done.stderr.split("\n"))
    assert not Path("/proc", (measure.directory / "pid").read_text().strip()).exists()


def test_a_signal_goes_to_the_command_and_its_end_is_told(measure: Command) -> None:
    running = measure.start("measure", "--json", "--", "sh", "-c", "touch begun; exec sleep 60")
    while not (measure.directory / "begun").exists():
        time.sleep(0.02)
    running.send_signal(signal.SIGTERM)
    out, _ = running.communicate(timeout=30)
    assert running.returncode == 128 + signal.SIGTERM
    assert json.loads(out)["signal"] == signal.SIGTERM


def test_a_command_may_handle_the_signal(measure: Command) -> None:
    code = (
        "import pathlib, signal, sys, time\n"
        "signal.signal(signal.SIGINT, lambda *_: sys.exit(5))\n"
        "pathlib.Path('begun').touch(); time.sleep(60)\n"
    )
    running = measure.start("measure", "--", sys.executable, "-c", code)
    while not (measure.directory / "begun").exists():
        time.sleep(0.02)
    running.send_signal(signal.SIGINT)
    running.communicate(timeout=30)
    assert running.returncode == 5


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (("--", "no-such-command"), 127, "no-such-command: the command cannot be started"),
        (("--", "./d"), 126, "chmod +x"),
        (("--output", "d", "--", "true"), 2, "d: cannot be written: is a directory"),
        (("--output", "/dev/full", "--", "true"), 1, "/dev/full: cannot be written: no space left on device"),
        (("--data", "d", "--work", "d", "--", "true"), 2, "--data and --work name the same"),
        ((), 2, "COMMAND"),
    ],
)
def test_what_cannot_be_measured(
    arguments: tuple[str, ...], status: int, said: str, measure: Command
) -> None:
    done = measure("measure", *arguments)
    assert done.returncode == status
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_without_a_compiler_everything_else_is_told(measure: Command) -> None:
    tools = measure.directory / "bin"
    tools.mkdir()
    (tools / "true").symlink_to("/bin/true")
    done = measure("measure", "--json", "--", "true", PATH=str(tools), XDG_CACHE_HOME=str(measure.directory))
    found = as_json(done)
    assert found["io"]["by_role"] is None
    assert found["missing"]["io.by_role"] == "not measured: no C compiler"
    assert found["usage"]["page_reclaims"] > 0
    assert found["wait"]["run_queue_seconds"] is not None


def test_what_a_killed_measurement_left_is_cleaned(measure: Command) -> None:
    running = measure.start("measure", "--", "sh", "-c", "echo $$ >pid; exec sleep 60")
    shell = measure.directory / "pid"
    while not (shell.exists() and shell.read_text().strip()):
        time.sleep(0.02)
    environment = Path(f"/proc/{shell.read_text().strip()}/environ").read_bytes()
    counters = Path(
        os.fsdecode(next(e for e in environment.split(b"\0") if e.startswith(b"MAWL_COUNTERS=")))[14:]
    )
    assert counters.exists()
    running.kill()
    running.communicate(timeout=30)
    assert "removed" in measure("clean").stdout
    assert not counters.parent.exists()
    assert not Path(f"/proc/{shell.read_text().strip()}/exe").exists()
