"""``mawl probe`` with the real fio where it is installed, else with a stand-in: seconds, no root."""

from __future__ import annotations

import json
import os
import shlex
import signal
import time
from pathlib import Path

import pytest

from mawl.simulation.system import load_system
from tests import needs
from tests.cli.conftest import Command
from tests.cli.test_run import ONE_JOB
from tests.fakes.probes import stub_fio

SMALL = ("--file-size", "8MiB", "--seconds", "1")
PAPERS = ("--patterns", "sequential-read,sequential-write", "--sizes", "256KiB", "--streams", "2")


@pytest.fixture
def roles(mawl: Command) -> Command:
    """The command with its three roles made."""
    for role in ("work", "util"):
        (mawl.directory / role).mkdir()
    return mawl


def stubbed(mawl: Command, fault: str = "") -> dict[str, str]:
    stub_fio(mawl.directory, fault)
    return {"PATH": f"{mawl.directory / 'bin'}:{os.environ['PATH']}"}


@needs.marks(needs.program("fio"))
def test_one_command_gives_the_papers_table_for_each_role(roles: Command) -> None:
    done = roles.ok("probe", *PAPERS, *SMALL)
    for role in ("data", "work", "util"):
        (part,) = [part for part in done.stdout.split("\n\n") if part.startswith(f"{role}: ")]
        rows = [line.split() for line in part.splitlines() if line.startswith("256 KiB")]
        assert [row[:5] for row in rows] == [
            ["256", "KiB", "sequential", "reads", "2"],
            ["256", "KiB", "sequential", "writes", "2"],
        ]
        for row in rows:
            requests, megabytes, mean = (float(cell.replace(",", "")) for cell in row[5:8])
            assert megabytes == pytest.approx(requests * 0.262144, rel=0.01, abs=0.6)
            assert 0 < mean <= 1.1 * 2 / requests * 1000, "two streams have two requests under way at most"
        assert "guideline: read " in part
    assert roles.leftovers() == []
    kept = json.loads((roles.directory / "probe.json").read_text())
    assert [target["roles"] for target in kept["targets"]] == [["data"], ["work"], ["util"]]


def test_a_candidate_is_probed_without_the_roles_and_json_has_the_guideline(roles: Command) -> None:
    (roles.directory / "new").mkdir()
    done = roles.ok("probe", "new", "--json", *SMALL, **stubbed(roles))
    told = json.loads(done.stdout)
    (target,) = told["targets"]
    assert (target["name"], target["roles"]) == (str(roles.directory / "new"), [])
    assert told["guideline"][target["name"]]["standing"] == "below"
    assert len(target["tests"]) == 7


def test_a_name_that_is_not_utf_8_is_escaped(roles: Command) -> None:
    name = os.fsdecode(b"caf\xe9")
    (roles.directory / name).mkdir()
    done = roles.ok("probe", name, *SMALL, "--json", **stubbed(roles))
    escaped = str(roles.directory / "caf\\xe9")
    assert json.loads(done.stdout)["targets"][0]["directory"] == escaped
    assert json.loads((roles.directory / "probe.json").read_text())["targets"][0]["name"] == escaped


def test_a_probe_goes_into_a_run_whose_report_shows_it(roles: Command) -> None:
    environment = stubbed(roles)
    assert roles("probe", *SMALL, "--streams", "2", **environment).returncode == 0
    (roles.directory / "sort.toml").write_text(ONE_JOB.replace("stress_projection", "wide_sort"))
    roles.ok("run", "sort.toml", "--probe", "probe.json", "--output", "probed")
    summary = json.loads(roles("report", "probed", "--format", "json").stdout)
    read = summary["storage"]["by_role"]["work"]["read"]
    assert read["capability_bytes_per_second"] == 5000.0
    assert "can do: sequential read, 256 KiB, 2 streams, direct" in roles("report", "probed", "--all").stdout
    (roles.directory / "probed" / "probe.json").unlink()
    done = roles("probe", "--from", "probe.json", "--run", "probed")
    assert done.returncode == 0 and "put into the run" in done.stderr
    (command,) = (
        line.partition("mawl ")[2] for line in done.stderr.splitlines() if "put into the run" in line
    )
    assert "role, at its devices" in roles(*shlex.split(command)).stdout
    assert (roles.directory / "probed" / "probe.json").is_file()


def test_without_fio_the_cure_is_the_line_that_installs_it(roles: Command) -> None:
    (roles.directory / "empty").mkdir()
    done = roles("probe", PATH=str(roles.directory / "empty"))
    assert done.returncode == 1
    assert done.stderr == (
        "mawl probe: fio is not installed: the probe measures with it; install it: apt-get install fio, "
        "dnf install fio or zypper install fio\n"
    )


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--full", "--sizes", "1MiB"), "--full does not go with --patterns, --sizes or --streams"),
        (("--patterns", "sideways"), "--patterns: expected sequential-read"),
        (("--sizes", "1000"), "--sizes: expected multiples of 512 bytes"),
        (("--streams", "0"), "--streams: expected whole numbers from 1"),
        (("--fill", "0.5,2"), "--fill: expected ratios above 0"),
        (("--seconds", "0"), "--seconds 0: expected 1 to 86400"),
        (("--file-size", "abc"), "--file-size: expected a size such as"),
        (("--file-size", "1KiB"), "less than a request of"),
        (("--output", "nowhere/x.json"), "nowhere/x.json: cannot be written: no such file or directory"),
    ],
)
def test_wrong_use_is_refused_before_anything_is_written(
    roles: Command, words: tuple[str, ...], sentence: str
) -> None:
    done = roles("probe", *words, **stubbed(roles))
    assert done.returncode == 2
    assert sentence in done.stderr and len(done.stderr.splitlines()) == 1
    assert not (roles.directory / "probe.json").exists()


@pytest.mark.parametrize("signals", [[signal.SIGINT], [signal.SIGHUP, signal.SIGHUP]])
def test_an_interrupt_keeps_the_finished_tests_and_leaves_no_files(
    roles: Command, signals: list[signal.Signals]
) -> None:
    """A terminal that closes sends SIGHUP twice; nohup, under which tests may run, would ignore it."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    environment = stubbed(roles, "if '--numjobs=2' in words: time.sleep(100)")
    roles.environment |= environment
    process = roles.start("probe", "--streams", "1,2", "--work", "work", *SMALL)
    signal.signal(signal.SIGHUP, before)
    wait_for(lambda: (roles.directory / "probe.json").exists())
    for number in signals:
        process.send_signal(number)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert errors.splitlines()[-1] == "mawl probe: interrupted: 1 finished tests are in probe.json"
    assert list((roles.directory / "work").iterdir()) == []


def test_a_probe_without_figures_leaves_the_last_one_as_it_was(roles: Command) -> None:
    last = roles.directory / "probe.json"
    last.write_text("the last probe")
    done = roles("probe", "--work", "mistyped", *SMALL, **stubbed(roles))
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == "probe: not kept in probe.json: no test gave figures"
    assert last.read_text() == "the last probe"
    assert roles("probe", "--work", "work", *SMALL, **stubbed(roles)).returncode == 0
    assert json.loads(last.read_text())["targets"][0]["name"] == "work"


def test_after_kill_9_fio_is_gone_and_clean_finds_the_files(roles: Command) -> None:
    (roles.directory / "new").mkdir()
    pid = roles.directory / "pid"
    fault = f"if kind == 'read': open({str(pid)!r}, 'w').write(str(os.getpid())); time.sleep(100)"
    roles.environment |= stubbed(roles, fault)
    data = roles.environment["MAWL_DATA"]
    process = roles.start("probe", "new", "--data", data, *SMALL)
    wait_for(lambda: pid.exists() and pid.read_text() != "")
    process.kill()
    process.communicate(timeout=60)
    wait_for(lambda: not Path("/proc", pid.read_text()).exists())
    left = list(Path(data).glob("mawl-run-probe-*"))
    assert len(left) == 1 and any(left[0].glob("stream.*"))
    assert "removed" in roles("clean").stdout
    assert not left[0].exists()


def test_clean_finds_what_a_probe_of_a_candidate_left(roles: Command) -> None:
    left = roles.directory / "new" / "mawl-run-probe-1"
    left.mkdir(parents=True)
    (left / ".mawl").write_text("made by mawl: run probe-1 as probe\n")
    (left / "stream.0").write_bytes(b"x" * 5000)
    assert roles("clean").stdout == "nothing to clean\n"
    assert roles("clean", "new").stdout.startswith(f"removed {left}")
    assert not left.exists()


def wait_for(what: object) -> None:
    """Up to a minute."""
    assert callable(what)
    for _ in range(600):
        if what():
            return
        time.sleep(0.1)
    raise AssertionError("it did not happen")


def test_a_probe_writes_a_system_that_reads_back(roles: Command) -> None:
    done = roles.ok("probe", *PAPERS, *SMALL, "--system", "here.toml", **stubbed(roles))
    assert "system description in here.toml" in done.stderr
    system = load_system(roles.directory / "here.toml")
    assert system.node_count == 1
    assert system.nodes[0].memory_bytes > 2**20
    assert system.devices[0].read_bytes_per_second > 0


def test_a_system_that_cannot_be_written_is_refused_before_any_test(roles: Command) -> None:
    done = roles("probe", *PAPERS, *SMALL, "--system", "nowhere/here.toml", **stubbed(roles))
    assert done.returncode == 2
    assert "nowhere/here.toml: cannot be written: no such file or directory" in done.stderr
    assert not (roles.directory / "probe.json").exists()
