"""``mawl run``, ``plan`` and ``report`` as a user meets them, with real programs at nano scale."""

from __future__ import annotations

import json
import os
import shutil
import signal
import time
from pathlib import Path
from xml.etree import ElementTree

import pytest

from mawl.plan.catalogue import CATALOGUE
from mawl.plan.spec import WorkloadSpec
from mawl.plan.workload import make_plan
from mawl.records.spec import toml
from mawl.records.store import open_run
from tests import needs
from tests.cli.conftest import Command

ONE_JOB = 'name = "one"\nscale = 0.00005\n[[sessions]]\nname = "a"\nstages = [["stress_projection"]]\n'
"""Of a program that loads no engine: that would take most of the run's CPU time."""


def test_a_fresh_interpreter_runs_the_same_job(mawl: Command) -> None:
    (mawl.directory / "one.toml").write_text(ONE_JOB)
    mawl.ok("run", "one.toml", "--start", "spawn")
    (job,) = open_run(mawl.directory / "runs" / "latest").job_records()
    assert (job.outcome, job.verified) == ("finished", True)
    assert mawl.leftovers() == []


def test_nano_runs_verifies_and_leaves_only_its_run_folder(mawl: Command) -> None:
    done = mawl.ok("run", "nano")
    assert "8 jobs" in done.stdout
    summary = json.loads(mawl("report", "latest", "--format", "json").stdout)
    assert summary["outcome"] == "completed"
    assert summary["jobs"]["total"] == 8
    assert summary["jobs"]["failed"] == summary["jobs"]["unverified"] == summary["jobs"]["lost"] == 0
    assert summary["jobs"]["peak_concurrent"] == summary["jobs"]["planned_peak_concurrent"] == 6
    assert set(summary["programs"]) == set(CATALOGUE) & {
        "wide_sort",
        "census_load",
        "segmentation",
        "stress_projection",
    }
    assert mawl.leftovers() == []
    run = open_run(mawl.directory / "runs" / "latest")
    assert run.jobs.num_rows == 8
    assert run.steps.num_rows > 8
    logs = mawl.directory / "runs" / "latest" / "logs"
    assert len(list(logs.glob("*.saslog"))) == 8
    folder = sum(path.stat().st_size for path in run.path.rglob("*") if path.is_file())
    by_jobs = sum(job.usage.application_written_bytes or 0 for job in run.job_records())
    assert folder < by_jobs, "mawl writes less than its jobs do"
    # The kernel counts whole pages, and some files are written twice: more than the folder holds at its end.
    assert 0 < summary["overhead"]["written_bytes"] < by_jobs / 10, "what jobs wrote is not mawl's"


def test_outputs_stay_under_data_where_that_is_asked(mawl: Command) -> None:
    (mawl.directory / "one.toml").write_text(ONE_JOB.replace("stress_projection", "wide_sort"))
    mawl.ok("run", "one.toml", "--keep-outputs")
    assert mawl("clean").stdout == "nothing to clean\n"
    (kept,) = map(Path, mawl.leftovers())
    assert [path.name for path in kept.glob("*/*")] == ["sorted.arrow"]
    shutil.rmtree(kept)  # the tests share what lies under data


def test_the_plan_of_a_run_runs_again(mawl: Command) -> None:
    (mawl.directory / "one.toml").write_text(ONE_JOB)
    assert mawl("run", "one.toml", "--seed", "7", "--work", "fast", "--cache", "warm").returncode == 0
    written = mawl.directory / "runs" / "latest" / "plan.toml"
    first = json.loads(mawl("plan", str(written), "--json").stdout)
    second = json.loads(mawl("plan", "one.toml", "--seed", "7", "--json").stdout)
    assert first == second
    again = make_plan(toml.load(written, WorkloadSpec), where="", scale=1.0)
    assert again.seed == 7
    assert mawl("run", str(written)).returncode == 0
    specs = [open_run(run).facts.spec for run in (mawl.directory / "runs").glob("2*")]
    asked_twice = [(spec.work, spec.cache) for spec in specs if spec is not None]
    assert sorted(asked_twice) == [((str(mawl.directory / "fast"),), "warm"), (("fast",), "warm")]


def test_plan_prints_counts_bytes_and_space_as_json(mawl: Command) -> None:
    plan = json.loads(mawl("plan", "starter", "--scale", "quick", "--json").stdout)
    assert (plan["sessions"], plan["jobs"], plan["peak_concurrent"]) == (8, 20, 14)
    assert sum(plan["programs"].values()) == 20
    assert plan["bytes"]["work"]["read_bytes"] > plan["bytes"]["data"]["read_bytes"] > 0
    assert plan["space"]["util"]["space_bytes"] > 0
    assert plan["memory_bytes"] > 2**28


def test_sessions_scale_the_default_workload_by_its_rule(mawl: Command) -> None:
    scaled = json.loads(mawl("plan", "--sessions", "30", "--json").stdout)
    shipped = json.loads(mawl("plan", "mixed30", "--json").stdout)
    assert (scaled["workload"], scaled["sessions"], scaled["jobs"], scaled["gate_jobs"]) == (
        "mixed20",
        30,
        101,
        55,
    )
    assert scaled["plan"] == shipped["plan"]
    assert mawl("plan", "--sessions", "20").stdout == mawl("plan").stdout == mawl("plan", "mixed20").stdout
    for line in mawl("plan").stdout.splitlines():
        assert len(line) <= 110
    assert "7 sessions, 32 jobs, 9 released together" in mawl("run", "--sessions", "7", "--dry-run").stdout


def test_dry_run_checks_everything_and_starts_nothing(mawl: Command) -> None:
    done = mawl("run", "starter", "--dry-run")
    assert done.returncode == 0
    assert "14 released together" in done.stdout
    assert list(mawl.directory.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("run", "mixd20"), "no workload is called 'mixd20'"),
        (("run", "nano", "--sessions", "30"), "only mixed20 has a rule to scale it by"),
        (("generate", "mixed30", "--sessions", "30"), "does not go with the workload mixed30"),
        (("plan", "--sessions", "0"), "--sessions 0: expected a whole number of sessions from 1 to 500"),
        (("run", "nano", "--scale", "quick"), "fixes its scale"),
        (("run", "--scale", "huge"), "expected a scale"),
        (("run", "nano", "--option", "sortsize"), "expected NAME=VALUE"),
        (("run", "nano", "--option", "sortsize=lots"), "expected a size"),
        (("run", "nano", "--cores", "99999"), "--cores 99999"),
        (("run", "nano", "--memory-limit", "much"), "expected a size"),
        (("run", "nano", "--timeout", "0"), "--timeout 0"),
        (("run", "nano", "--saving", "2"), "expected a ratio"),
        (("run", "nano", "--work", "/proc/nowhere"), "--work names a directory of the system"),
        (("run", "nano", "--work", "/dev/null/nowhere"), "the work directory cannot be"),
        (("run", "nano", "--work", ""), "--work is empty"),
        (("run", "nano", "--memory-limit", "1MiB"), "more than --memory-limit"),
        (("report", "nothing-here"), "nothing-here"),
        (("plan", "missing.toml"), "no such file"),
    ],
)
def test_wrong_use_is_one_sentence_and_no_traceback(
    arguments: tuple[str, ...], said: str, mawl: Command
) -> None:
    done = mawl(*arguments)
    assert done.returncode in (1, 2)
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert not (mawl.directory / "runs").exists()


def test_a_run_that_would_not_fit_is_refused_before_the_first_byte(mawl: Command, tmp_path: Path) -> None:
    (mawl.directory / "huge.toml").write_text(ONE_JOB.replace("0.00005", "90"))
    data = tmp_path / "own-data"
    for verb in ("run", "generate"):
        done = mawl(verb, "huge.toml", MAWL_DATA=str(data))
        assert done.returncode == 1
        assert "need" in done.stderr
        assert "are free" in done.stderr
    assert [path for path in data.rglob("*") if path.is_file() and path.name != ".mawl"] == []


def test_a_setting_may_come_from_mawl_toml(mawl: Command) -> None:
    (mawl.directory / "mawl.toml").write_text('scale = "quick"\n')
    assert json.loads(mawl("plan", "starter", "--json").stdout)["scale"] == 0.005


def test_a_damaged_input_fails_the_job_and_the_run_says_so(mawl: Command, tmp_path: Path) -> None:
    (mawl.directory / "one.toml").write_text(ONE_JOB)
    own = {"MAWL_DATA": str(tmp_path / "own-data")}
    assert mawl("generate", "one.toml", **own).returncode == 0
    (part,) = (tmp_path / "own-data").glob("mawl-inputs/policies-*/part-00000.arrow")
    content = bytearray(part.read_bytes())
    content[len(content) // 2] ^= 0x40
    part.write_bytes(content)
    done = mawl("run", "one.toml", **own)
    assert done.returncode == 1
    assert "policies" in done.stdout + done.stderr
    summary = json.loads(mawl("report", "--format", "json").stdout)
    assert (summary["outcome"], summary["jobs"]["failed"]) == ("failed", 1)
    repaired = mawl("generate", "one.toml", **own)
    assert repaired.returncode == 0
    assert "repaired" in repaired.stdout
    assert mawl("run", "one.toml", **own).returncode == 0


def test_ctrl_c_twice_stops_the_run_and_it_reads_as_interrupted(mawl: Command) -> None:
    (mawl.directory / "slow.toml").write_text(
        'name = "slow"\n[[sessions]]\nname = "a"\nstages = [[{ command = ["sleep", "100"] }]]\n'
    )
    process = mawl.start("run", "slow.toml")
    wait_for_event(mawl, "job_started")
    process.send_signal(signal.SIGINT)
    assert process.stderr is not None
    # Two signals that are sent at once may arrive as one.
    assert any("nothing more starts" in line for line in process.stderr)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in errors
    assert "interrupted" in output
    summary = json.loads(mawl("report", "--format", "json").stdout)
    assert summary["outcome"] == "interrupted"
    assert mawl.leftovers() == []


def test_cores_are_kept_to_and_recorded(mawl: Command) -> None:
    (mawl.directory / "one.toml").write_text(ONE_JOB)
    assert mawl("run", "one.toml", "--cores", "1").returncode == 0
    (node,) = open_run(mawl.directory / "runs" / "latest").facts.nodes
    assert node.cpus_used is not None
    assert len(node.cpus_used) == 1


@needs.marks(needs.TWO_PROCESSORS)
def test_processors_that_mawl_is_confined_to_are_those_of_the_run(mawl: Command) -> None:
    (mawl.directory / "one.toml").write_text(ONE_JOB)
    every = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(every)})  # as taskset does: children inherit it
    try:
        process = mawl.start("run", "one.toml")
    finally:
        os.sched_setaffinity(0, every)
    assert process.wait(timeout=60) == 0
    (node,) = open_run(mawl.directory / "runs" / "latest").facts.nodes
    assert node.cpus_used == [min(every)]


def wait_for_event(mawl: Command, name: str) -> None:
    """Until the journal of the newest run holds an event."""
    for _ in range(3000):
        for journal in mawl.directory.glob("runs/*/journal/events.jsonl"):
            if f'"{name}"' in journal.read_text():
                return
        time.sleep(0.02)
    raise AssertionError(f"no {name} within a minute")


@pytest.mark.parametrize(("role", "then"), [("work", "cat {work}/none"), ("util", "true")])
def test_a_directory_that_vanishes_in_a_run_is_named_as_the_reason(
    mawl: Command, role: str, then: str
) -> None:
    place = mawl.directory / role
    (mawl.directory / "vanish.toml").write_text(
        'name = "vanish"\nscale = 0.00005\n[[sessions]]\nname = "a"\nstages = [['
        f'{{ command = ["sh", "-c", "rm -rf {place}; {then}"] }}], ["wide_sort"]]\n'
    )
    done = mawl("run", "vanish.toml")
    assert done.returncode == 1 and "Traceback" not in done.stderr
    first, second = open_run(mawl.directory / "runs" / "latest").job_records()
    assert f"this {role} directory of the run vanished while the job ran" in (first.reason or "")
    assert f"the {role} directory of the job cannot be made" in (second.reason or "")


def test_a_run_without_times_alone_is_not_known(mawl: Command, tmp_path: Path) -> None:
    junit = tmp_path / "mawl.xml"
    asked = ("--fail-on", "not-carried", "--junit", str(junit))
    (mawl.directory / "one.toml").write_text(ONE_JOB)
    assert mawl("run", "one.toml", *asked).returncode == 4
    (suite,) = ElementTree.parse(junit).getroot()
    assert [case.attrib["name"] for case in suite] == ["completed", "not-carried"]
    assert [[child.tag for child in case] for case in suite] == [["system-out"], ["error"]]

    junit.unlink()
    assert mawl("report", *asked).returncode == 4
    assert ElementTree.parse(junit).getroot().attrib["errors"] == "1"
    assert mawl("report").returncode == 0

    slow = mawl("report", "--within", "mean=1us")
    assert (slow.returncode, "exit status 3: " in slow.stderr) == (3, True), slow.stderr
    assert mawl("report", "--within", "data:p99=1s", "--junit", str(junit)).returncode == 0

    compared = mawl("compare", "latest", "latest", "--fail-on", "slower", "--anyway")
    assert compared.returncode == 4, compared.stderr


def test_what_cannot_be_asked_is_refused_before_any_work(mawl: Command, tmp_path: Path) -> None:
    for words, said in (
        (("--fail-on", "slower"), "two sides"),
        (("--junit", "mawl.xml"), "goes with --fail-on"),
        (("--fail-on", "not-carried", "--junit", "nowhere/mawl.xml"), "cannot be written"),
        (("--fail-on", "not-carried", "--dry-run"), "--dry-run"),
        (("--within", "p99=5ms", "--dry-run"), "--within does not go with --dry-run"),
        (("--within", "p99=5"), "expected [ROLE:]FIGURE=TIME"),
        (("--fail-on", "not-carried", "--find-sessions"), "find-sessions"),
    ):
        ended = mawl("run", "nano", *words)
        assert (ended.returncode, said in ended.stderr) == (2, True), ended.stderr
    assert not (tmp_path / "runs").exists()
