"""--cache none on a device of its own: what the jobs ask for is what the device's own counters say (root)."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import needs
from tests.advice.limit.beds import command, lacking
from tests.cli.command_loads import spilling_engine
from tests.cli.conftest import Command
from tests.fakes.failing_device import FAILING_DEVICE, failing
from tests.fakes.own_disk import Disk, own_disk

pytestmark = [pytest.mark.lab, needs.marks(needs.tried("bed", lacking))]

COMMANDS = """
name = "tools"
scale = 0.0005
[commands.dd]
command = ["dd", "if=/dev/zero", "of={work}/zeros", "bs=64k", "count=1600", "status=none"]
[commands.sort]
command = ["bash", "-c", "seq 1 4000000 > $1/n; sort -S 30M -T $2 -n -r $1/n > $1/o", "b", "{work}", "{util}"]
[commands.python]
command = ["python3", "-c", '''
import sys
with open(sys.argv[1] + "/lines", "w") as file:
    for number in range(3_000_000): file.write(f"{{number}}\\n")
with open(sys.argv[1] + "/lines") as file:
    assert sum(1 for line in file) == 3_000_000
''', "{work}"]
[commands.duckdb]
""" + spilling_engine(6_000_000)
SESSIONS = "".join(
    f'[[sessions]]\nname = "{name}"\nstages = [["{name}"]]\n' for name in ("dd", "sort", "python", "duckdb")
)
LEAST_REACH = 0.95
MOST_REREAD_PAGES = 256
ATTEMPTS = 5
MOST_REACH = 1.1
"""Whole pages, their neighbours in a piece, and the file system's own blocks."""


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    with own_disk(tmp_path) as made:
        yield made


def run(mawl: Command, disk: Disk, *arguments: str) -> tuple[dict[str, Any], tuple[int, int]]:
    """Run, with inputs already made and written; the summary, and what the device moved meanwhile."""
    assert mawl("generate", *arguments[:1], *disk.roles[:2]).returncode == 0
    command("sync", "--file-system", str(disk.place))
    before = disk.moved()
    done = mawl("run", *arguments, *disk.roles)
    after = disk.moved()
    assert done.returncode == 0, done.stdout + done.stderr
    summary: dict[str, Any] = json.loads(mawl("report", "--format", "json").stdout)
    return summary, (after[0] - before[0], after[1] - before[1])


def test_the_mix_asks_the_device_for_all_that_its_jobs_ask_for(mawl: Command, disk: Disk) -> None:
    summary, (read, written) = run(mawl, disk, "mixed20", "--cache", "none")
    asked = summary["io"]["application"]
    assert LEAST_REACH <= read / asked["read_bytes"] <= MOST_REACH
    assert LEAST_REACH <= written / asked["written_bytes"] <= MOST_REACH
    assert summary["jobs"]["finished"] == 71 and summary["inputs"]["mode"] == "none"
    assert summary["io"]["by_role"]["work"]["uncaching_seconds"] > 0
    assert "without page cache (--cache none)" in mawl("report").stdout
    text = " ".join(mawl("report", "--all").stdout.split())
    assert "job time in calls of --cache none (waiting for writeback, dropping pages): data" in text


def test_commands_of_any_kind_ask_it_too(mawl: Command, disk: Disk) -> None:
    (mawl.directory / "tools.toml").write_text(COMMANDS.replace("PYTHON", sys.executable) + SESSIONS)
    summary, (read, written) = run(mawl, disk, "tools.toml", "--cache", "none")
    roles = summary["io"]["by_role"]
    asked = [
        sum(roles[role][f"{name}_bytes"] for role in ("data", "work", "util")) for name in ("read", "written")
    ]
    assert summary["jobs"]["finished"] == 4 and asked[0] > 2e8 and asked[1] > 4e8
    assert LEAST_REACH <= read / asked[0] <= MOST_REACH
    assert LEAST_REACH <= written / asked[1] <= MOST_REACH


def measured(mawl: Command, *words: str) -> dict[str, Any]:
    """A measured command in whose time the kernel read no page again that it had evicted.

    A virtual machine may give free memory back to its host, and evicts pages of files for that.
    """
    for _ in range(ATTEMPTS):
        before = reread_pages()
        found: dict[str, Any] = json.loads(mawl("measure", *words).stdout)
        if reread_pages() - before < MOST_REREAD_PAGES:
            return found
    raise needs.LackingNeedError(
        "needs a kernel that keeps pages of files: it evicted them within seconds, and read them again"
    )


def reread_pages() -> int:
    """Pages of files on the machine that were read again after an eviction."""
    counts = dict(line.split() for line in Path("/proc/vmstat").read_text().splitlines())
    return int(counts.get("workingset_refault_file", 0))


def test_one_measured_command_asks_it_too(mawl: Command, disk: Disk) -> None:
    work = disk.place / "work"
    work.mkdir()
    (work / "in").write_bytes(bytes(64 * 2**20))  # in the page cache, partly not yet written
    copy = ("--work", str(work), "--json", "--", "dd", f"if={work}/in", f"of={work}/out", "bs=64k")
    cached = measured(mawl, *copy)
    assert cached["inputs"] is None and cached["at_command_end"]["device_read_bytes"] < 2**20
    (work / "out").unlink()
    found = measured(mawl, "--cache", "none", *copy)
    role, end = found["io"]["by_role"]["work"], found["at_command_end"]
    assert found["inputs"]["mode"] == "none" and role["uncaching_seconds"] > 0
    assert LEAST_REACH <= end["device_read_bytes"] / role["read_bytes"] <= MOST_REACH
    assert LEAST_REACH <= end["device_written_bytes"] / role["written_bytes"] <= MOST_REACH


@needs.marks(FAILING_DEVICE)
def test_a_write_that_fails_at_the_device_fails_for_the_program(mawl: Command) -> None:
    with failing(mawl.directory) as (place, trigger):
        (mawl.directory / "failing.toml").write_text(
            'name = "failing"\nscale = 0.0005\n[commands.dd]\n'
            f'command = ["bash", "-c", "touch {trigger}; exec dd if=/dev/zero of=$1/z bs=64k count=200", '
            '"b", "{work}"]\n[[sessions]]\nname = "a"\nstages = [["dd"]]\n'
        )
        done = mawl("run", "failing.toml", "--cache", "none", "--work", str(place / "mawl"))
        trigger.unlink(missing_ok=True)
    assert done.returncode == 1
    assert "Input/output error" in (mawl.directory / "runs/latest/logs").joinpath("a.1.dd.log").read_text()
