"""``mawl run --solo`` and ``--reference``: times alone for information, and reference times of the user's."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.cli.conftest import Command
from tests.cli.test_run import ONE_JOB
from tests.fakes.second_figures import slowdowns

DECLARED = """
name = "one"
[commands.load]
command = ["true"]
cpu_seconds = 0.25
core_speed = 2.0
[[sessions]]
name = "a"
stages = [["load"]]
"""


def report(mawl: Command) -> dict[str, Any]:
    summary: dict[str, Any] = json.loads(mawl("report", "latest", "--format", "json").stdout)
    return summary


@pytest.mark.lab
def test_times_alone_are_measured_anew_unless_stored_ones_are_asked_for(mawl: Command) -> None:
    (mawl.directory / "one.toml").write_text(ONE_JOB)
    first = mawl.ok("run", "one.toml", "--solo")
    assert "running 1 kind of jobs alone first: run 3 of 3" in first.stderr
    assert " times as long in the mix as alone (decides nothing); 3 runs of each of 1 " in first.stdout
    summary = report(mawl)
    found = summary["times_alone"]
    program = found["programs"]["stress_projection"]
    (job,) = summary["programs"].values()
    assert program["runs"] == 3 and found["ratio"] == pytest.approx(program["ratio"])
    assert program["ratio"] == pytest.approx(job["real_time_seconds"]["median"] / program["seconds"])
    assert [place.split()[0] for place in found["places"]] == ["data", "work", "util"]
    assert 0 < found["age_seconds"] < 600
    for path, value in slowdowns((mawl.directory / "runs" / "latest").resolve()).items():
        block: Any = summary
        for name in path.split("."):
            block = block[name]
        assert block == pytest.approx(value, rel=1e-6, abs=1e-9), path
    alone = sorted((mawl.directory / "runs").glob("*-alone-?"))
    assert len(alone) == 3
    assert (
        "NOT KNOWN: the run only times programs alone (mawl run --solo)"
        in mawl("report", str(alone[0])).stdout
    )
    (kept,) = (mawl.directory / "runs" / "solo").glob("*.json")
    written = json.loads(kept.read_text())
    kept.write_text(json.dumps({**written, "runs": written["runs"][:2]}))
    again = mawl("run", "one.toml", "--solo", "stored")
    assert again.stderr.count("alone first: run ") == 1 and "run 3 of 3" in again.stderr
    third = mawl("run", "one.toml", "--solo", "stored")
    assert "stored times alone are used for all jobs" in third.stderr
    assert report(mawl)["times_alone"]["programs"]["stress_projection"]["runs"] == 3
    assert len(list((mawl.directory / "runs").glob("*-alone-?"))) == 4
    assert mawl("run", "one.toml", "--solo").stderr.count("alone first: run ") == 3
    assert [place for place in mawl.leftovers() if "-one-" in place] == []


def test_bounds_of_answer_and_guideline_are_settings(mawl: Command) -> None:
    (mawl.directory / "one.toml").write_text(ONE_JOB)
    (mawl.directory / "mawl.toml").write_text('answer_bound = 7.5\nguideline_warn = "10MB"\n')
    assert mawl("run", "one.toml").returncode == 0
    summary = report(mawl)
    assert summary["answer"]["bound"] == 7.5 and summary["times_alone"] is None
    assert summary["guideline"]["warn_bytes_per_second_per_core"] == 10e6
    assert summary["guideline"]["good_bytes_per_second_per_core"] == 150e6


def test_reference_times_of_a_file_are_in_the_sentence_and_its_name_in_the_figures(mawl: Command) -> None:
    (mawl.directory / "one.toml").write_text(ONE_JOB)
    (mawl.directory / "own.toml").write_text("core_speed = 2.0\n[cpu_seconds]\nstress_projection = 0.2\n")
    mawl.ok("run", "one.toml", "--reference", "own.toml")
    answer = report(mawl)["answer"]
    reference = answer["reference"]
    assert reference["file"].startswith("own.toml@") and reference["version"] is None
    assert reference["seconds"] == pytest.approx(0.4)
    assert f"times the reference time of {reference['file']} (" in answer["reasons"][0]
    assert reference["outside"] == [f"reference times of {reference['file']}"]


def test_a_command_that_declares_its_cpu_seconds_has_a_reference_time(mawl: Command) -> None:
    (mawl.directory / "one.toml").write_text(DECLARED)
    assert mawl("run", "one.toml").returncode == 0
    summary = report(mawl)
    assert summary["answer"]["reference"]["seconds"] == pytest.approx(0.25 * 2.0)
    real = summary["time"]["real_time_seconds"]
    assert summary["answer"]["slowdown"] == pytest.approx(real / 0.5)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "own.toml: cannot be read: no such file or directory"),
        ("core_speed = 2.0\n", "own.toml: key cpu_seconds: required, but missing"),
        (
            "[cpu_seconds]\nstress_projection = 0.2\n[core]\nspeed = 2.0\n",
            "key core: unknown, expected one of cpu_seconds, core_speed",
        ),
        (
            "[cpu_seconds]\nstress_projection = -1\n",
            "cpu_seconds.stress_projection: expected a number above 0",
        ),
        ("core_speed = 0\n[cpu_seconds]\nstress_projection = 1\n", "core_speed: expected a number above 0"),
        ("[cpu_seconds]\nwide_sort = 1\n", "own.toml: names no program of the workload"),
    ],
)
def test_a_file_that_gives_no_reference_time_is_refused_in_one_sentence(
    mawl: Command, content: str | None, said: str
) -> None:
    (mawl.directory / "one.toml").write_text(ONE_JOB)
    if content is not None:
        (mawl.directory / "own.toml").write_text(content)
    for words in ((), ("--dry-run",)):
        done = mawl("run", "one.toml", "--reference", "own.toml", *words)
        assert done.returncode == 2
        assert said in done.stderr and done.stderr.count("\n") == 1
    assert not (mawl.directory / "runs").exists()


def test_solo_takes_one_word(mawl: Command) -> None:
    done = mawl("run", "--solo", "nano")
    assert (done.returncode, done.stderr) == (2, "mawl run: --solo nano: expected nothing, or stored\n")
