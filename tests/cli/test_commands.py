"""Commands as jobs of a workload: a stub of SAS beside our programs, checks, and what may go wrong."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import mawl as package
from tests.cli.conftest import Command
from tests.fakes import stub_sas
from tests.files import text_of

SAS = text_of(__file__, "sas_commands.toml")


@pytest.fixture
def sas(mawl: Command) -> Iterator[Command]:
    """A directory with an executable ``sas`` and a program for it; its results go with it."""
    stub = mawl.directory / "sas"
    stub.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{stub_sas.__file__}" "$@"\n')
    stub.chmod(0o755)
    (mawl.directory / "etl.sas").write_text("data sort means warn\n")
    yield mawl
    for place in _results(mawl):
        shutil.rmtree(place)


def report(mawl: Command) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(mawl("report", "latest", "--format", "json").stdout)
    return found


def run(mawl: Command, job: str, **files: str) -> Any:
    """Run a workload of one job, given by its keys; the finished process."""
    for name, text in files.items():
        (mawl.directory / name).write_text(text)
    (mawl.directory / "one.toml").write_text(
        f'name = "one"\n[[sessions]]\nname = "a"\nstages = [[{{ {job} }}]]\n'
    )
    return mawl("run", "one.toml")


def jobs(mawl: Command) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = package.open_run(mawl.directory / "runs" / "latest").jobs.to_pylist()
    return found


def steps(mawl: Command) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = package.open_run(mawl.directory / "runs" / "latest").steps.to_pylist()
    return found


def test_sas_runs_beside_our_programs_and_its_steps_are_reported(sas: Command) -> None:
    (sas.directory / "shop.toml").write_text(SAS)
    sas.ok("run", "shop.toml")
    summary = report(sas)
    assert summary["jobs"]["total"] == 3
    assert summary["jobs"]["unverified"] == summary["jobs"]["failed"] == 0
    assert summary["programs"].keys() == {"etl", "stress_projection"}
    by_name = {job["job"]: job for job in jobs(sas)}
    etl = by_name["nightly.1.etl"]
    assert (etl["outcome"], etl["exit_code"], etl["verified"], etl["steps"]) == ("finished", 1, True, 4)
    assert etl["real_time_seconds"] > 0
    assert etl["verify_real_time_seconds"] > 0
    assert etl["total_user_cpu_seconds"] >= etl["user_cpu_seconds"]
    found = [step for step in steps(sas) if step["job"] == "nightly.1.etl"]
    assert [(step["name"], step["kind"]) for step in found] == [
        ("DATA", "data"),
        ("SORT", "procedure"),
        ("MEANS", "procedure"),
        ("check", "verify"),
    ]
    assert [step["rows_read"] for step in found] == [stub_sas.ROWS] * 3 + [None]
    assert {step["started_at"] for step in found[:3]} == {None}, "the stub's stamps are of another day"
    assert found[0]["memory_bytes"] == round(677.15 * 1024)
    folder = sas.directory / "runs" / "latest"
    assert "PROCEDURE SORT used" in (folder / "logs" / "nightly.1.etl.sas.log").read_text()
    assert sas.leftovers() == [str(place) for place in _results(sas)]
    assert [file.name for place in _results(sas) for file in place.rglob("*.lst")] == ["etl.lst"]
    if summary["io"]["by_role"] is not None:
        assert summary["io"]["by_role"]["work"]["written_bytes"] >= 3 * 300_000
        assert etl["util_read_bytes"] == 3 * 300_000


def _results(mawl: Command) -> list[Path]:
    return list(Path(mawl.environment["MAWL_DATA"]).glob("mawl-run-*-shop-*"))


def test_every_report_and_the_plan_know_commands(sas: Command) -> None:
    (sas.directory / "shop.toml").write_text(SAS)
    plan = json.loads(sas("plan", "shop.toml", "--json").stdout)
    assert plan["undeclared"] == ["etl"]
    assert plan["bytes"]["data"]["read_bytes"] > 0
    assert plan["plan"][0]["stages"][0][0]["command"][0] == str(sas.directory / "sas")
    assert "Not declared" in sas("plan", "shop.toml").stdout
    assert sas("run", "shop.toml").returncode == 0
    written = sas.directory / "runs" / "latest" / "plan.toml"
    again = json.loads(sas("plan", str(written), "--json").stdout)
    assert again.pop("memory_basis") == "measured for 1 of 2 programs, declared for the others"
    measured = {plan.pop("memory_bytes"), again.pop("memory_bytes")}
    assert len(measured) == 2 and plan.pop("memory_basis") == "declared, not measured"
    assert again == plan
    assert "etl" in sas("report", "latest").stdout
    for format_ in ("html", "csv", "markdown", "saslog", "openmetrics"):
        sas.ok("report", "latest", "--format", format_)
    assert sas("run", "shop.toml").returncode == 0
    first, second = (str(folder) for folder in _folders(sas))
    compared = json.loads(sas("compare", first, second, "--anyway", "--format", "json").stdout)
    programs = {change["program"]: change["jobs"] for change in compared["programs"]["changes"]}
    assert programs == {"etl": 1, "stress_projection": 2}
    assert "etl" in sas("compare", first, second, "--anyway").stdout


def _folders(mawl: Command) -> list[Path]:
    return sorted(facts.parent for facts in (mawl.directory / "runs").glob("2*/run.json"))


def test_a_plan_of_commands_alone_declares_nothing(sas: Command) -> None:
    done = run(sas, 'command = ["true"]')
    assert done.returncode == 0, done.stderr
    plan = json.loads(sas("plan", "one.toml", "--json").stdout)
    assert {size for role in plan["bytes"].values() for size in role.values()} == {None}
    (job,) = jobs(sas)
    assert (job["program"], job["outcome"], job["verified"]) == ("true", "finished", None)
    (step,) = steps(sas)
    assert (step["name"], step["real_time_seconds"]) == ("command", job["real_time_seconds"])
    assert job["os_memory_bytes"] < 2**25, "not the memory of whoever started it"
    assert report(sas)["validity"]["status"] != "publishable"


def test_placeholders_environment_and_places(mawl: Command) -> None:
    shell = (
        'command = ["sh", "-c", "pwd; env; cat; echo $1 $2 $3", "x", "{{{memsize_mib}}}", "{replica}", '
        '"{session}"], '
        'environment = { SHOP_UTIL = "{util}" }, options = { memsize = "100MiB" }'
    )
    assert run(mawl, shell).returncode == 0
    (job,) = jobs(mawl)
    log = (mawl.directory / "runs" / "latest" / "logs" / f"{job['job']}.log").read_text().splitlines()
    assert log[0].startswith(str(mawl.directory / "work"))
    assert log[0].endswith(job["job"])
    assert log[-1] == "{64} 1 a", "as small as memsize gets at this scale"
    assert any(line.startswith(f"SHOP_UTIL={mawl.directory / 'util'}") for line in log)
    assert [place for place in mawl.leftovers() if "-one-" in place] == []


@pytest.mark.parametrize(
    ("job", "key", "found"),
    [
        ('command = ["x", "{memsze}"]', "command[1]", "'{memsze}'"),
        ('command = ["x", "{"]', "command[1]", "'{' alone"),
        ('command = ["x"], check = ["y", "{nope}"]', "check[1]", "'{nope}'"),
        ("command = []", "command", "none"),
        ('command = ["x"], program = "wide_sort"', "program", "'wide_sort'"),
        ('command = ["x"], success_exit_codes = [256]', "success_exit_codes", "[256]"),
        ('command = ["x"], log = "{work}/x.log"', "log", "no log_format"),
        ('command = ["x"], environment = { MAWL_JOB = "1" }', "environment", "'MAWL_JOB'"),
        ('program = "wide_sort", check = ["x"]', "check", "it together with a program of mawl"),
        ('name = "x"', "program", "no program and no command"),
    ],
)
def test_a_wrong_key_is_refused_with_file_key_and_reason(
    job: str, key: str, found: str, mawl: Command
) -> None:
    done = run(mawl, job)
    assert done.returncode == 2
    assert f"one.toml: key sessions[0].stages[0][0].{key}: expected " in done.stderr
    assert done.stderr.strip().endswith(f"found {found}")
    assert not (mawl.directory / "runs").exists()


@pytest.mark.parametrize(
    ("commands", "sentence"),
    [
        ("[commands.wide_sort]\ncommand = ['x']", "no program of mawl, found 'wide_sort'"),
        ("[commands.x]\ncheck = ['x']", "key commands.x.command: expected the command's file"),
        ("[commands.x]\ncomand = ['x']", "key commands[...].comand: unknown, expected one of command, check"),
    ],
)
def test_a_wrong_command_is_refused_though_unused(commands: str, sentence: str, mawl: Command) -> None:
    text = 'name = "one"\n[[sessions]]\nname = "a"\nstages = [["wide_sort"]]\n'
    (mawl.directory / "one.toml").write_text(text + commands)
    done = mawl("plan", "one.toml")
    assert done.returncode == 2
    assert sentence in done.stderr


@pytest.mark.parametrize(
    ("job", "sentence"),
    [
        ('command = ["no-such-command-here"]', "the command cannot be started: No such file or directory"),
        ('command = ["{here}/plain"]', "the command cannot be started: Permission denied"),
        ('command = ["sh", "-c", "exit 3"]', "exit status 3, and 0 would be success"),
        ('command = ["sh", "-c", "kill -9 $$"]', "the command was killed by signal 9"),
        ('command = ["sh", "-c", "kill -SYS $$"]', "signal 31; a filter of system calls (seccomp)"),
        ('command = ["sh", "-c", "exit 159"]', "env -u LD_PRELOAD"),
        (
            'command = ["true"], check = ["false"]',
            "the check of the command's results ended with exit status 1",
        ),
        (
            'command = ["true"], check = ["no-such-check"]',
            "the check of the command's results: no-such-check",
        ),
        ('command = ["sleep", "60"], timeout_seconds = 0.5', "stopped at its time limit of 0.5 s"),
        ('command = ["true"], check = ["sleep", "60"], timeout_seconds = 0.5', "time limit of 0.5 s"),
    ],
)
def test_what_goes_wrong_costs_one_sentence_and_its_results(job: str, sentence: str, mawl: Command) -> None:
    done = run(mawl, job, plain="not executable\n")
    assert done.returncode == 1
    assert "Traceback" not in done.stdout + done.stderr
    (record,) = jobs(mawl)
    assert record["outcome"] in ("failed", "timed_out")
    assert sentence in record["reason"]
    assert record["verified"] is not True
    assert [place for place in mawl.leftovers() if "-one-" in place] == []


def test_results_of_a_failed_command_are_gone(mawl: Command) -> None:
    job = 'command = ["sh", "-c", "echo x > {results}/x; exit 4"]'
    assert run(mawl, job).returncode == 1
    assert [place for place in mawl.leftovers() if "-one-" in place] == []


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ('["true"]', "cannot be read for steps: no such file or directory"),
        ('["sh", "-c", "echo nothing > x.log"]', "holds no performance notes"),
    ],
)
def test_a_log_without_steps_is_one_step_and_a_remark(command: str, why: str, mawl: Command) -> None:
    done = run(mawl, f'command = {command}, log = "{{work}}/x.log", log_format = "sas"')
    assert done.returncode == 0
    assert why in done.stderr
    (record,) = jobs(mawl)
    assert why in record["reason"]
    assert [step["name"] for step in steps(mawl)] == ["command"]


def test_commands_take_volumes_in_turn(mawl: Command) -> None:
    (mawl.directory / "two.toml").write_text(
        'name = "two"\n[[sessions]]\nname = "a"\n'
        'stages = [[{ command = ["pwd"] }], [{ command = ["pwd"] }], [{ command = ["pwd"] }]]\n'
    )
    assert mawl("run", "two.toml", "--work", "w1", "w2").returncode == 0
    logs = sorted((mawl.directory / "runs" / "latest" / "logs").glob("a.*.log"))
    places = [Path(log.read_text().strip()).relative_to(mawl.directory).parts[0] for log in logs]
    assert places == ["w1", "w2", "w1"]


def test_data_names_the_volumes_in_turn(mawl: Command) -> None:
    text = 'name = "two"\n[[sessions]]\nname = "a"\nstages = ['
    text += ", ".join(['[{ command = ["echo", "{data}"] }]'] * 3)
    (mawl.directory / "two.toml").write_text(text + "]\n")
    assert mawl("run", "two.toml", "--data", "d1", "d2").returncode == 0
    logs = sorted((mawl.directory / "runs" / "latest" / "logs").glob("a.*.log"))
    assert [Path(log.read_text().strip()) for log in logs] == [
        mawl.directory / name for name in ("d1", "d2", "d1")
    ]


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ('["mkfifo", "{work}/l"]', "not a regular file"),
        ('["ln", "-s", "/etc/hostname", "{work}/l"]', "a symbolic link"),
        ('["mkdir", "{work}/l"]', "not a regular file"),
        ('["ln", "-s", "/etc", "{work}/d"]', "a symbolic link"),
        ('["ln", "-s", "/etc", "{util}/d"]', "a symbolic link"),
    ],
)
def test_a_log_that_is_no_file_of_the_command_holds_nobody_and_is_not_copied(
    mawl: Command, command: str, said: str
) -> None:
    log = command.split('"')[-2].replace("/d", "/d/hostname")
    done = run(mawl, f'command = {command}, log = "{log}", log_format = "sas"')
    assert done.returncode == 0, done.stderr
    (job,) = jobs(mawl)
    assert job["outcome"] == "finished" and said in job["reason"]
    assert list((mawl.directory / "runs/latest/logs").glob("*.sas.log")) == []


@pytest.mark.parametrize("role", ["work", "util"])
def test_a_command_that_replaces_its_directory_by_a_link_fails_and_the_link_is_not_followed(
    mawl: Command, role: str
) -> None:
    victim = mawl.directory / "victim"
    victim.mkdir()
    (victim / "precious").touch()
    done = run(mawl, f'command = ["sh", "-c", "rm -rf {{{role}}}; ln -s {victim} {{{role}}}"]')
    assert done.returncode == 1, done.stderr
    (job,) = jobs(mawl)
    assert job["outcome"] == "failed" and f"a link in the place of its {role} directory" in job["reason"]
    assert (victim / "precious").exists()


@pytest.mark.parametrize("role", ["work", "util"])
def test_a_command_that_removes_its_own_directory_fails(mawl: Command, role: str) -> None:
    done = run(mawl, f'command = ["sh", "-c", "rm -rf {{{role}}}"]')
    assert done.returncode == 1, done.stderr
    (job,) = jobs(mawl)
    assert job["outcome"] == "failed" and f"the command removed its {role} directory" in job["reason"]
