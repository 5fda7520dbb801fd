"""``mawl tune search`` with real runs, what it refuses before any, and ``mawl run --profile``."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from mawl import __version__
from mawl.commands.campaign_settings import this_machine
from mawl.commands.tune import parse_budget
from mawl.records.store import open_run
from mawl.records.store.campaign import read_campaign, write_campaign
from mawl.tuning.search.records import read_search, write_search
from tests.cli.conftest import Command
from tests.cli.test_run import ONE_JOB
from tests.fakes.command_line import Verbs
from tests.fakes.search_runs import asked, campaign

PROFILE = 'work = ["fast-work"]\nvolume_order = "free-space"\n[options]\nsortsize = "64MiB"\ncpucount = 2\n'


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.lab
def test_a_search_of_real_runs_and_its_continuation(mawl: Command) -> None:
    """The budget has room for the one setting that is always tried."""
    (mawl.directory / "one.toml").write_text(ONE_JOB)
    asked = ("tune", "search", "one.toml", "--dimension", "cpucount=1,2", "--budget", "1s", "--json")
    done = mawl.ok(*asked, "--option", "sortsize=64MiB")
    found = json.loads(done.stdout)
    assert found["outcome"] in ("open", "nothing better")
    assert [trial["setting"] for trial in found["trials"]] == [{"cpucount": 2}]
    assert "sortsize" not in {row["name"] for row in found["proposed"]}, "a run option is none of the machine"
    assert found["points"] == 2 and found["explored_all"] is True
    assert found["profile"] is None and found["programs_reason"] == "no gain was established"
    folder = mawl.directory / "runs" / found["campaign"]
    record = read_campaign(folder)
    assert record.outcome == "completed" and len(record.slots) == found["runs"]
    trial = next(slot for slot in record.slots if slot.arm == "trial-1")
    options = open_run(folder / str(trial.folder)).facts.workload.options
    assert options is not None and options.cpucount == 2
    write_campaign(folder, msgspec.structs.replace(record, mawl_version="0.0.1"))
    again = mawl("tune", "search", "--continue", str(folder), "--json")
    assert json.loads(again.stdout) == found
    assert len(read_campaign(folder).slots) == found["runs"]
    assert read_campaign(folder).remarks == [f"begun with mawl 0.0.1, continued with {__version__}"]
    other = mawl("tune", "search", "one.toml", "--continue", str(folder))
    assert other.returncode == 2 and "WORKLOAD does not go with --continue" in other.stderr


def test_an_interrupt_ends_with_130_and_how_to_go_on(mawl: Command) -> None:
    (mawl.directory / "one.toml").write_text(ONE_JOB)
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "mawl", "tune", "search", "one.toml", "--dimension", "cpucount=1,2"),
            *("--write-profile", "gain.toml"),
        ],
        cwd=mawl.directory,
        env=mawl.environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith("run 2, exploring"):
            break
    os.killpg(process.pid, signal.SIGINT)
    _, rest = process.communicate(timeout=60)
    assert process.returncode == 130, rest
    folder = next(path.parent for path in (mawl.directory / "runs").glob("*/search.json"))
    assert re.search(
        r"interrupted; 1 finished run kept.*mawl tune search --continue " + f"runs/{folder.name} goes on",
        rest,
    ), rest
    assert "Traceback" not in rest
    assert read_campaign(folder).outcome == "interrupted"
    assert read_search(folder).profile == str(mawl.directory / "gain.toml")
    refused = mawl("tune", "search", "--continue", str(folder), "--write-profile", "other.toml")
    assert refused.returncode == 2 and "--write-profile does not go with --continue" in refused.stderr
    said = mawl("report", str(folder)).stdout
    assert "mawl tune search --continue FOLDER goes on" in " ".join(said.split()), said


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"machine": {"cpu_model": "POWER8"}}, "was begun on another machine: it was"),
        ({"directory": "/nonexistent"}, "/nonexistent: the directory it was begun in is gone"),
    ],
)
def test_a_search_goes_on_only_where_it_was_begun(
    changes: dict[str, Any], reason: str, tmp_path: Path, verbs: Verbs
) -> None:
    machine = msgspec.structs.replace(this_machine(), **changes.get("machine", {}))
    write_campaign(tmp_path, msgspec.structs.replace(campaign(), **{**changes, "machine": machine}))
    write_search(tmp_path, asked())
    assert reason in verbs.err("tune", "search", "--continue", str(tmp_path), status=2)


def test_a_profile_is_applied_under_the_command_line(mawl: Command) -> None:
    (mawl.directory / "one.toml").write_text(ONE_JOB)
    (mawl.directory / "fast.toml").write_text(PROFILE)
    mawl.ok("run", "one.toml", "--profile", "fast.toml", "--option", "cpucount=1")
    facts = open_run(mawl.directory / "runs" / "latest").facts
    assert facts.workload.options is not None
    assert facts.workload.options.sortsize_bytes == 64 * 2**20
    assert facts.workload.options.cpucount == 1
    assert facts.roles["work"] == [str(mawl.directory / "fast-work")]


def test_a_profile_that_is_wrong_is_refused_with_file_key_and_reason(tmp_path: Path, verbs: Verbs) -> None:
    (tmp_path / "bad.toml").write_text("[options]\nsortsize = 1\n")
    said = verbs.err("run", "nano", "--profile", "bad.toml", status=2)
    assert "bad.toml: key options: sortsize: expected at least 4 KiB, found 1" in said
    assert list(tmp_path.iterdir()) == [tmp_path / "bad.toml"]


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ([], "no space: nothing says what to search; give --space FILE.toml, or --dimension"),
        (["--space", "space.toml"], "space.toml: cannot be read"),
        (["--space", "a", "--dimension", "cpucount=1"], "--space and --dimension do not go together"),
        (["--dimension", "cpucount=2", "--budget", "soon"], "--budget soon: expected a time such as 20min"),
        (["--dimension", "cpucount=2", "--confidence", "95"], "--confidence 95: expected a ratio"),
        (["--dimension", "cpucount=2", "--smallest-gain", "0"], "--smallest-gain 0: expected a ratio"),
        (["--dimension", "cpucount=2", "--seed", "-1"], "--seed -1: expected a whole number"),
        (["--dimension", "cpucount=1"], "key cpucount: changes nothing: with 1 every job gets what the"),
        (["--dimension", "work=mawl-work"], "key work: changes nothing"),
        (["--dimension", "sessions=8"], "key sessions: does not go with the objective response-time"),
        (
            ["--dimension", "sessions=8", "--objective", "sustained"],
            "key sessions: 8: --sessions 8 does not go with the workload nano",
        ),
        (["--dimension", "work_volumes=2"], "work_volumes: cannot take 2 of 1 directories"),
        (["--dimension", "work=a/b:a"], "key work: a/b:a: --work names a/b, which lies inside a"),
        (["--continue", "absent"], "WORKLOAD does not go with --continue"),
    ],
)
def test_what_cannot_be_searched_is_refused_before_any_run(
    words: list[str], reason: str, tmp_path: Path, verbs: Verbs
) -> None:
    assert reason in verbs.err("tune", "search", "nano", *words, status=2)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_no_search_is_refused(verbs: Verbs) -> None:
    assert "absent: is no campaign" in verbs.err("tune", "search", "--continue", "absent", status=2)


def test_without_the_library_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch, verbs: Verbs) -> None:
    monkeypatch.setattr("mawl.commands.tune.find_spec", lambda _: None)
    assert "install it with: pip install 'mawl[search]'" in verbs.err(
        "tune", "search", "nano", "--dimension", "cpucount=2", status=1
    )


def test_other_verbs_do_not_load_the_library(mawl: Command) -> None:
    (mawl.directory / "look.py").write_text(
        "import sys\nfrom mawl.commands.main import main\n"
        "main(['tune', 'show'])\nsys.exit('optuna' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "look.py"], cwd=mawl.directory, capture_output=True, check=False)
    assert done.returncode == 0


@pytest.mark.parametrize(("text", "seconds"), [("20min", 1200.0), ("90s", 90.0), ("1.5h", 5400.0)])
def test_a_budget_is_a_time_with_its_unit(text: str, seconds: float) -> None:
    assert parse_budget(text) == seconds
