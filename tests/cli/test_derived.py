"""A workload of derived jobs through whole commands: run, report, plan, simulate."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from zipfile import ZipFile

import pytest
from msgspec.structs import replace

from mawl.plan.derived_jobs import encoded, load_derived
from mawl.records.model.derived import DerivedWorkload
from mawl.records.store import open_run
from tests.cli.conftest import Command
from tests.fakes.derived import EVERY_KERNEL, SHOP

BUFSIZE = 262144
"""Of a request in sequence, as ``mawl run`` has it without an option."""


def shop(mawl: Command, derived: DerivedWorkload = SHOP) -> str:
    (mawl.directory / "derived.json").write_bytes(encoded(derived))
    (mawl.directory / "workload.toml").write_text('name = "shop"\nderived = "derived.json"\n')
    return "workload.toml"


@pytest.mark.parametrize("start", ["zygote", "spawn"])
def test_a_run_of_derived_jobs_is_a_run(start: str, mawl: Command) -> None:
    mawl.ok("run", shop(mawl), "--start", start, "--output", "made")
    folder = mawl.directory / "made"
    run = open_run(folder)
    assert {job.program: (job.outcome, job.verified) for job in run.job_records()} == {
        "mixed": ("finished", True),
        "every": ("finished", True),
    }
    assert load_derived(folder / "derived.json") == SHOP
    records = {(record.job, record.name): record for record in run.step_records()}
    for job in SHOP.jobs:
        for step in job.steps:
            io = records[job.name, step.name].io
            assert io is not None
            # A manifest of an input table is read, too.
            assert 0 <= io["data"].read_bytes - step.data.read_bytes < 20_000
            assert io["work"].read_bytes == step.work.read_bytes
            assert io["util"].read_bytes == step.util.read_bytes
            for role in ("data", "work", "util"):
                load = step.load(role)
                wanted = load.random_reads or -(-load.read_bytes // BUFSIZE)
                # The last request of a file's pass is short, and a table's manifest is read.
                assert wanted <= io[role].reads <= wanted + 4
                wanted = load.random_writes or -(-load.written_bytes // BUFSIZE)
                assert wanted <= io[role].writes <= wanted + 1
            written = {role: io[role].written_bytes for role in ("data", "work", "util")}
            assert written == {
                "data": step.data.written_bytes,
                "work": step.work.written_bytes,
                "util": step.util.written_bytes,
            }
    (results,) = map(Path, mawl.leftovers())  # what the job published under data stays
    assert [path.stat().st_size for path in results.rglob("*.rows")] == [50 * 1024]
    shutil.rmtree(results)
    log = mawl("report", "made", "--format", "saslog").stdout
    assert "PROCEDURE SORT used" in log and "DATA statement used" in log
    assert (folder / "logs" / "mixed.saslog").read_text() in log


def test_a_pack_of_derived_jobs_has_them_and_its_logs_are_printed_again(mawl: Command) -> None:
    assert mawl("run", shop(mawl), "--output", "made").returncode == 0
    assert mawl("pack", "made", "--division", "open", "--output", "made.zip").returncode == 0
    with ZipFile(mawl.directory / "made.zip") as pack:
        assert pack.read("runs/made/derived.json") == encoded(SHOP)
    for subject in ("made", "made.zip"):
        rulings = json.loads(mawl("validate", subject, "--json").stdout)["rulings"]
        states = {one["rule"]: (one["state"], one["faults"]) for one in rulings}
        assert states["V06"] == ("passed", [])
    log = mawl.directory / "made" / "logs" / "mixed.saslog"
    log.write_text(log.read_text().replace("PROCEDURE SORT", "PROCEDURE SQL"))
    rulings = json.loads(mawl("validate", "made", "--json").stdout)["rulings"]
    assert [one["state"] for one in rulings if one["rule"] == "V06"] == ["failed"]


def test_what_a_run_left_runs_again_and_is_simulated(mawl: Command) -> None:
    assert mawl("run", shop(mawl), "--output", "made").returncode == 0
    (mawl.directory / "derived.json").unlink()
    again = mawl.ok("plan", "made/plan.toml", "--json")
    assert json.loads(again.stdout)["programs"] == {"every": 1, "mixed": 1}
    # Anyway: other programs may use the devices while tests run.
    simulated = mawl.ok("simulate", "made", "--set", "cores=4", "--anyway")
    assert "2 jobs in 1 sessions" in simulated.stdout
    assert "assumed: the jobs were derived from logs" in simulated.stdout


def test_jobs_start_by_the_clock_of_their_logs(mawl: Command) -> None:
    jobs = (EVERY_KERNEL, replace(EVERY_KERNEL, name="later", start_seconds=1.5))
    assert mawl("run", shop(mawl, DerivedWorkload(jobs=jobs)), "--output", "clock").returncode == 0
    assert mawl("run", "workload.toml", "--output", "closed", "--arrivals", "closed").returncode == 0
    assert waited(mawl.directory / "clock") >= 1.4
    # One after the other: as soon as the first had ended.
    assert waited(mawl.directory / "closed") > 0


def waited(folder: Path) -> float:
    starts = {job.job: job.started_at for job in open_run(folder).job_records()}
    later, first = starts["later"], starts["every"]
    assert later is not None and first is not None
    return later - first


def test_a_run_says_whether_the_night_was_held(mawl: Command) -> None:
    due = replace(EVERY_KERNEL, due_seconds=3000.0, end_seconds=1200.0)
    assert mawl("run", shop(mawl, DerivedWorkload(jobs=(due,))), "--output", "made").returncode == 0
    done = mawl.ok("report", "made", "--format", "night")
    assert "night     held with " in done.stdout and "every" in done.stdout
    assert "in the logs the night was held with 30 min 00 s to spare" in done.stdout


def test_a_damaged_file_of_derived_jobs_is_one_sentence(mawl: Command) -> None:
    path = shop(mawl)
    (mawl.directory / "derived.json").write_text('{"jobs": [{"name": "../x", "session": "s", "steps": []}]}')
    done = mawl("run", path)
    assert done.returncode == 2
    assert "derived.json: key jobs[0]" in done.stderr and "Traceback" not in done.stderr


def test_the_plan_counts_what_derived_jobs_move(mawl: Command) -> None:
    found = json.loads(mawl("plan", shop(mawl), "--json").stdout)
    assert found["programs"] == {"every": 1, "mixed": 1}
    assert found["bytes"]["util"]["written_bytes"] == pytest.approx(3_000_000, rel=0.001)


def test_cpu_seconds_are_those_of_this_core_where_the_record_knows_its_own(mawl: Command) -> None:
    half = replace(EVERY_KERNEL, core_speed=0.1)
    assert mawl("run", shop(mawl, DerivedWorkload(jobs=(half,))), "--output", "made").returncode == 0
    run = open_run(mawl.directory / "made")
    (remark,) = (text for text in run.facts.remarks if "cores of speed" in text)
    speed = float(remark.split("cores of speed ")[1].split(",")[0])
    used = sum(step.usage.cpu_seconds or 0.0 for step in run.step_records())
    asked = sum(step.cpu_seconds for step in half.steps)
    assert used == pytest.approx(asked * 0.1 / speed, rel=0.3, abs=0.1)


@pytest.mark.long(minutes=0.5)
def test_the_space_that_logs_tell_is_what_the_work_folder_held(mawl: Command) -> None:
    """Two sessions write 20, 30 and 60 MB into WORK; mawl looks at the folder, the log tells the bytes."""
    commands = {
        "small": "head -c 20000000 /dev/zero >$0/a; sleep 6",
        "large": "sleep 2; head -c 60000000 /dev/zero >$0/b; sleep 8",
        "last": "head -c 30000000 /dev/zero >$0/c; sleep 4",
    }
    declared = "".join(
        f'[commands.{name}]\ncommand = ["sh", "-c", "{text}", "{{work}}"]\n'
        for name, text in commands.items()
    )
    sessions = (("a", '["small"], ["last"]'), ("b", '["large"]'))
    stages = "".join(f'[[sessions]]\nname = "{name}"\nstages = [{what}]\n' for name, what in sessions)
    (mawl.directory / "own.toml").write_text('name = "own"\nscale = 0.00005\n' + declared + stages)
    mawl.ok("run", "own.toml", "--output", "measured")
    summary = json.loads(mawl("report", "measured", "--format", "json").stdout)
    held = summary["roles"]["work"]["peak_used_bytes"]
    (mawl.directory / "logs").mkdir()
    mawl.ok("report", "measured", "--format", "saslog", "--output", "logs/own.log")
    mawl.ok("import", "logs", "--output", "imported")
    space = json.loads(mawl("steps", "imported", "--format", "json").stdout)["space"]
    [work] = [one for one in space["peaks"] if one["role"] == "work"]
    directories = 32 * 4096
    assert 90_000_000 <= held <= 90_000_000 + directories
    assert work["bytes"] == pytest.approx(90_000_000, rel=0.15), "it grows evenly only in the estimate"
    assert work["low_bytes"] <= held <= work["high_bytes"] + directories
    assert json.loads(mawl("steps", "measured", "--format", "json").stdout)["space"] is None
