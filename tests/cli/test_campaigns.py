"""Campaigns through the command line, with runs of one short job: made, killed, interrupted, continued."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from mawl.base.removal import MARK
from mawl.commands.main import main
from mawl.records.store import open_run
from mawl.records.store.campaign import CAMPAIGN, read_campaign
from mawl.records.store.facts import write_facts
from tests.cli.conftest import Command
from tests.cli.test_run import ONE_JOB
from tests.fakes.stored_run import facts

SEED = random.SystemRandom().randrange(2**32)
LONGEST_SECONDS = 6.0
"""About what three runs of one job take here."""


COMMAND = """
name = "one"
[commands.write]
command = ["sh", "-c", "head -c 1000000 /dev/zero > {work}/file; sleep 0.3"]
[[sessions]]
name = "a"
stages = [["write"]]
"""
"""One job without a program: what a campaign makes of its runs needs none."""


@pytest.fixture
def command(mawl: Command) -> Command:
    (mawl.directory / "one.toml").write_text(COMMAND)
    return mawl


@pytest.fixture
def one(mawl: Command) -> Command:
    (mawl.directory / "one.toml").write_text(ONE_JOB)
    return mawl


def folder_of(mawl: Command) -> Path:
    found = sorted((mawl.directory / "runs").glob(f"*/{CAMPAIGN}"))
    assert len(found) == 1
    return found[0].parent


def report(mawl: Command, folder: Path) -> dict[str, Any]:
    done = mawl.ok("report", str(folder), "--format", "json")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_repeats_are_made_and_reported_in_every_format(command: Command) -> None:
    one = command
    done = one("run", "one.toml", "--repeat", "2", MAWL_HTML="yes")
    assert done.returncode == 0, done.stderr
    assert "run 2 of 2: one.toml" in done.stderr
    assert "completed: 2 of 2 runs made" in done.stdout
    folder = folder_of(one)
    assert (folder / "report.html").is_file()
    assert "warm-up run, which counts in no figure: one.toml" in done.stderr
    assert open_run(folder / "000-warm-up").facts.outcome == "completed"
    facts = [open_run(folder / name).facts for name in ("001-run", "002-run")]
    assert [fact.repeats for fact in facts] == [2, 2]
    assert [fact.campaign.position for fact in facts if fact.campaign] == [1, 2]
    assert (one.directory / "runs" / "latest").resolve() == folder / "002-run"
    found = report(one, folder)
    elapsed = found["arms"][0]["figures"][0]
    assert (elapsed["name"], elapsed["runs"], elapsed["low"]) == ("time.elapsed_seconds", 2, None)
    assert elapsed["lowest"] <= elapsed["median"] <= elapsed["highest"]
    named = one("report", folder.name)
    assert named.stdout == done.stdout
    assert "| elapsed |" in one("report", folder.name, "--format", "markdown").stdout
    refused = one("report", folder.name, "--format", "csv")
    assert refused.returncode == 2 and "choose text, json, markdown, html" in refused.stderr
    alone = one("run", "one.toml", "--warm-up", "no")
    assert alone.returncode == 2 and "--warm-up goes with --repeat, --ab or --scaling" in alone.stderr
    over = one("run", "--continue", str(folder))
    assert over.returncode == 2 and "is finished" in over.stderr
    assert one.leftovers() == []


@pytest.mark.lab
def test_options_in_files_are_held_against_each_other(one: Command) -> None:
    (one.directory / "small.toml").write_text('[options]\nsortsize = "64MiB"\n')
    (one.directory / "large.toml").write_text('title = "large sorts"\n[options]\nsortsize = "512MiB"\n')
    done = one.ok(
        "run", "one.toml", "--ab", "small.toml", "large.toml", "--repeat", "2", "--warm-up", "no", "--json"
    )
    found = json.loads(done.stdout)
    assert [slot["folder"] for slot in found["slots"]] == ["001-a", "002-b", "003-b", "004-a"]
    assert found["warm_up"] is None
    assert [arm["title"] for arm in found["arms"]] == ["small", "large sorts"]
    assert found["comparison"]["statement"]["verdict"] == "not judged"
    assert any("sortsize" in difference["name"] for difference in found["comparison"]["differences"])
    made = [open_run(folder_of(one) / slot["folder"]).facts.workload.options for slot in found["slots"]]
    sizes = [options.sortsize_bytes for options in made if options]
    assert sizes[0] == sizes[3] < sizes[1] == sizes[2]


@pytest.mark.lab
@pytest.mark.parametrize("whole_group", [True, False])
def test_a_campaign_killed_at_random_points_goes_on_to_the_same_end(whole_group: bool, one: Command) -> None:
    """kill -9 of the campaign alone (its run must not go on without it), or with the run it is making."""
    draw = random.Random(SEED)
    folder = None
    for attempt in range(3):
        words = ["run", "one.toml", "--repeat", "3"]
        process = one.start(*(words if folder is None else ["run", "--continue", str(folder)]))
        time.sleep(draw.uniform(0.3, LONGEST_SECONDS / 2))
        if whole_group:
            _kill_children(process.pid)
        process.kill()
        process.communicate()
        if not list((one.directory / "runs").glob(f"*/{CAMPAIGN}")):
            continue
        folder = folder_of(one)
        if process.returncode == 0:
            break
        when = f"seed {SEED}, attempt {attempt}"
        assert _until_not_conducted(folder) in ("interrupted", "completed"), when
        said = one("report", str(folder))
        assert said.returncode == 0, f"{said.stderr} {when}"
        assert "running" not in said.stdout, when
    if folder is None:
        assert one("run", "one.toml", "--repeat", "3").returncode == 0
        folder = folder_of(one)
    elif read_campaign(folder).outcome != "completed":
        done = one("run", "--continue", str(folder))
        assert done.returncode == 0, f"{done.stderr} seed {SEED}"
    record = read_campaign(folder)
    assert record.outcome == "completed"
    assert [(slot.position, slot.arm, slot.outcome) for slot in record.slots] == [
        (position, "run", "completed") for position in (1, 2, 3)
    ]
    found = report(one, folder)
    assert found["arms"][0]["completed"] == 3
    for slot in record.slots:
        for kept in slot.interrupted:
            if (folder / kept / "run.json").exists():
                facts = open_run(folder / kept).facts
                assert facts.outcome == "interrupted" and facts.repeats == 1
                assert facts.campaign is not None and facts.campaign.position == slot.position
    assert one("clean").returncode == 0
    assert one.leftovers() == []


def test_clean_knows_the_roles_of_the_runs_of_a_campaign(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Roles that only their run folders remember."""
    monkeypatch.chdir(tmp_path)
    left = []
    for folder in ("runs/alone", "runs/campaign/001-a"):
        work = tmp_path / "elsewhere" / folder
        left.append(work / f"mawl-run-{Path(folder).name}")
        left[-1].mkdir(parents=True)
        (left[-1] / MARK).write_text(f"made by mawl: run {Path(folder).name} as work\n")
        (tmp_path / folder).mkdir(parents=True)
        roles = {"work": [str(work)]}
        write_facts(tmp_path / folder, facts(run_id=Path(folder).name, roles=roles))
    assert main(["clean"]) == 0
    # Others, such as nodes that were killed, may have left something in /dev/shm, which it removes too.
    own = [line for line in capsys.readouterr().out.splitlines() if str(tmp_path) in line]
    assert [line.split(" (")[0] for line in own] == [f"removed {folder}" for folder in left]
    assert not any(path.exists() for path in left)


def _kill_children(pid: int) -> None:
    for text in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        os.kill(int(text), signal.SIGKILL)


def _until_not_conducted(folder: Path) -> str:
    """The run of a campaign that was killed ends by itself, and holds the lock until then."""
    deadline = time.monotonic() + 30.0
    while (outcome := read_campaign(folder).outcome) == "running" and time.monotonic() < deadline:
        time.sleep(0.1)
    return outcome


def test_an_interrupt_ends_with_130_and_how_to_go_on(command: Command) -> None:
    one = command
    process = subprocess.Popen(
        [sys.executable, "-m", "mawl", "run", "one.toml", "--repeat", "3"],
        cwd=one.directory,
        env=one.environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert process.stderr is not None
    told = []
    for line in process.stderr:
        told.append(line)
        if line.startswith("run 2 of 3"):
            break
    time.sleep(0.5)
    os.killpg(process.pid, signal.SIGINT)
    _, rest = process.communicate(timeout=60)
    assert process.returncode == 130, rest
    folder = folder_of(one)
    assert re.search(r"interrupted; 1 finished run kept.*mawl run --continue \S+ goes on", rest), rest
    assert "Traceback" not in rest
    assert read_campaign(folder).outcome == "interrupted"
    done = one("run", "--continue", str(folder))
    assert done.returncode == 0, done.stderr
    assert [slot.outcome for slot in read_campaign(folder).slots] == ["completed"] * 3
    assert one.leftovers() == []


@pytest.mark.lab
def test_sessions_are_found_within_a_bound(one: Command) -> None:
    """Nothing is expected of this machine but an answer: stretch is of short jobs."""
    (one.directory / "mawl.toml").write_text('answer_bound = 1000.0\nguideline_warn = "1"\n')
    done = one.ok("run", "one.toml", "--find-sessions", "--most-sessions", "2", "--repeat", "1", "--json")
    found = json.loads(done.stdout)
    assert (found["knee"]["sessions"], found["knee"]["beyond"]) == (2, "at least")
    assert "no further than 2 sessions" in found["knee"]["reason"]
    assert [row["sessions"] for row in found["sessions"]] == [1, 2]
    assert (folder_of(one) / "sessions-2.toml").is_file()


GARBAGE = {
    "expected a whole number of runs from 1": ["one.toml", "--repeat", "0"],
    "missing.toml: cannot be read": ["one.toml", "--ab", "a.toml", "missing.toml"],
    "names a.toml twice": ["one.toml", "--ab", "a.toml", "a.toml"],
    "key foo: unknown": ["one.toml", "--ab", "a.toml", "foo.toml"],
    "run other jobs, or at another scale": ["one.toml", "--ab", "a.toml", "nano.toml"],
    "does not go with --dry-run": ["one.toml", "--repeat", "2", "--dry-run"],
    "does not go with a run on several nodes": ["one.toml", "--find-sessions", "--ssh", "a"],
    "goes over the nodes of a cluster": ["one.toml", "--scaling", "1,2"],
    "expected numbers of nodes": ["one.toml", "--scaling", "1,two", "--ssh", "a,b"],
    "goes to 4 nodes, --ssh names 2": ["one.toml", "--scaling", "1,4", "--ssh", "a,b"],
    "goes with --find-sessions": ["one.toml", "--most-sessions", "4"],
    "the mix changes at 5 sessions": [
        "mixed20",
        "--find-sessions",
        "--sessions",
        "3",
        "--most-sessions",
        "8",
    ],
    "has no rule for another number of sessions": ["named.toml", "--find-sessions"],
    "is no campaign": ["--continue", "runs"],
    "--continue does not go with --repeat": ["--continue", "runs", "--repeat", "3"],
    "--ab and --find-sessions do not go together": ["--ab", "a.toml", "foo.toml", "--find-sessions"],
    "nonexistent.toml: cannot be read": ["one.toml", "--repeat", "2", "--profile", "/nonexistent.toml"],
    "goes with --cluster or --ssh": ["one.toml", "--repeat", "2", "--nodes", "1"],
}


@pytest.mark.parametrize("sentence", GARBAGE)
def test_what_does_not_fit_is_refused_before_any_run(sentence: str, one: Command) -> None:
    (one.directory / "a.toml").write_text("")
    (one.directory / "foo.toml").write_text("foo = 3\n")
    (one.directory / "nano.toml").write_text('workload = "nano"\n')
    (one.directory / "named.toml").write_text(
        ONE_JOB.replace('"stress_projection"', '{ program = "stress_projection", name = "x" }')
    )
    done = one("run", *GARBAGE[sentence])
    assert done.returncode == 2, done.stderr
    assert sentence in done.stderr
    assert not list((one.directory / "runs").glob("*"))


def test_a_campaign_goes_on_only_on_its_machine(command: Command) -> None:
    one = command
    assert one("run", "one.toml", "--repeat", "1").returncode == 0
    folder = folder_of(one)
    plain = json.loads((folder / CAMPAIGN).read_text())
    plain |= {"outcome": "interrupted", "machine": {"name": "elsewhere", "cpu_model": "POWER8", "cores": 24}}
    (folder / CAMPAIGN).write_text(json.dumps(plain))
    done = one("run", "--continue", str(folder))
    assert done.returncode == 2
    assert "begun on another machine: it was elsewhere (POWER8, 24 cores)" in done.stderr


def test_a_place_that_cannot_be_written_is_one_sentence(one: Command) -> None:
    done = one("run", "one.toml", "--repeat", "2", "--output", "/proc/campaign")
    assert done.returncode == 1
    assert "the run folder cannot be made" in done.stderr and "Traceback" not in done.stderr


SIDE = """
title = "four"
[setting]
name = "mode"
before = "echo 4 > mode"
after = "echo 8 > mode"
check = "cat mode"
expect = "4"
"""


def sides(command: Command) -> tuple[str, ...]:
    (command.directory / "a.toml").write_text("")
    (command.directory / "b.toml").write_text(SIDE)
    (command.directory / "mode").write_text("8\n")
    return ("run", "one.toml", "--ab", "a.toml", "b.toml", "--repeat", "1", "--warm-up", "no")


def test_an_arm_changes_a_setting_that_reports_and_comparisons_name(command: Command) -> None:
    done = command.ok(*sides(command))
    assert done.stderr.startswith("arm b (four): mode, expected '4'\n  set: echo 4 > mode")
    assert (command.directory / "mode").read_text() == "8\n"
    assert "setting    mode: '8' -> '4'" in done.stdout
    folder = folder_of(command)
    (told,) = report(command, folder)["settings"]
    assert (told["arm"], told["original"], told["read"], told["state"]) == ("b", "'8'", ["'4'"], "undone")
    compared = command("compare", str(folder / "001-a"), str(folder / "002-b"), "--format", "markdown")
    assert "- **setting**: mode: '8' -&gt; '4'" in compared.stdout
    refused = command("run", "one.toml", "--yes")
    assert refused.returncode == 2 and "--yes goes with --ab, --smt or --continue" in refused.stderr


@pytest.mark.lab
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_setting_is_undone_when_a_real_campaign_is_ended(number: int, command: Command) -> None:
    process = command.start(*sides(command))
    log = "002-b.log"
    ends = time.monotonic() + 60.0
    while not list((command.directory / "runs").glob(f"*/{log}")) and time.monotonic() < ends:
        time.sleep(0.05)
    assert (command.directory / "mode").read_text() == "4\n"
    process.send_signal(number)
    _, said = process.communicate(timeout=60.0)
    assert process.returncode == (130 if number != signal.SIGKILL else -number), said
    assert (command.directory / "mode").read_text() == "8\n"
    command.ok("run", "--continue", str(folder_of(command)), "--yes")
    assert (command.directory / "mode").read_text() == "8\n"
