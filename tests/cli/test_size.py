"""``mawl size`` as a user has it: on a run that was really made, in every format, and what is refused."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import Command

OFFERS = Path(__file__).parents[2] / "examples/offers.toml"


def test_a_measured_run_is_sized_in_every_format(mawl: Command, nano_run: Path) -> None:
    # The model fits so short a run or not: its own system has a probability or none, but never one of 99.9 %:
    # that would take 999 checked forecasts.
    asked = ("size", str(OFFERS), str(nano_run), "--within", "10", "--anyway", "--probability", "0.999")
    text = mawl(*asked)
    assert text.returncode == 4, text.stderr
    assert text.stdout.startswith("No candidate is known to end 4 sessions"), text.stdout
    assert "a probability of at least 99.9 %" in " ".join(text.stdout.split())
    assert "By the forecast alone as it is (400 EUR a month) is the cheapest" in text.stdout.replace(
        "\n ", ""
    )
    assert max(map(len, text.stdout.splitlines())) <= 80
    markdown = mawl(*asked, "--format", "markdown")
    assert "| as it is | 400 EUR | not known |" in markdown.stdout
    found = json.loads(mawl(*asked, "--format", "json").stdout)
    assert found["bounded"] == "elapsed_seconds" and found["bound"] == 600.0
    assert found["finding"] in " ".join(text.stdout.split()) and found["finding"] in markdown.stdout
    assert {one["name"] for one in found["candidates"]} == {
        "as it is",
        "more cores",
        "flash",
        "four nodes and an array",
    }
    assert all(one["reasons"] for one in found["candidates"])
    # Its devices were not probed, so there is none for other cores or devices.
    assert {one["probability"] for one in found["candidates"] if one["name"] != "as it is"} == {None}
    page = mawl(*asked, "--format", "html").stdout
    assert page.lower().startswith("<!doctype html>") and "Which one?" in page
    kept = mawl(*asked, "--format", "json", "--output", "size.json")
    assert json.loads((mawl.directory / "size.json").read_text()) == found and not kept.stdout


def test_nothing_that_meets_the_bound_is_not_carried(mawl: Command, nano_run: Path) -> None:
    done = mawl("size", str(OFFERS), str(nano_run), "--within", "0.0001", "--anyway")
    assert done.returncode == 3, done.stderr
    assert done.stdout.startswith("Buy none of these: by the forecast no candidate")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--sessions", "0"), "--sessions 0: expected a whole number of sessions from 1 to 100000"),
        (("--within", "nan"), "--within nan: expected minutes above 0"),
        (("--within", "-1"), "--within -1: expected minutes above 0"),
        (("--probability", "1"), "--probability 1: expected a number between 0 and 1"),
        (("--probability", "nan"), "--probability nan: expected a number between 0 and 1"),
    ],
)
def test_what_cannot_be_asked_is_refused(
    mawl: Command, nano_run: Path, words: tuple[str, ...], said: str
) -> None:
    done = mawl("size", str(OFFERS), str(nano_run), "--anyway", *words)
    assert done.returncode == 2 and said in done.stderr and "Traceback" not in done.stderr


def test_a_run_without_reference_times_is_not_sized_by_its_slowdown(mawl: Command, nano_run: Path) -> None:
    shutil.copytree(nano_run, mawl.directory / "old")
    facts = json.loads((nano_run / "run.json").read_text())
    for job in facts["planned_jobs"]:
        del job["reference_seconds"]
    del facts["reference"]
    (mawl.directory / "old" / "run.json").write_text(json.dumps(facts | {"format_version": "2.6"}))
    done = mawl("size", str(OFFERS), "old", "--anyway")
    assert done.returncode == 2 and (
        "the slowdown is not known: the run is of format 2.6, before reference times" in done.stderr
    )


@pytest.mark.parametrize(
    ("catalogue", "said"),
    [
        ("", "key candidate: required, but missing"),
        ('[[candidate]]\nname = "a"\nprice = 1e308\ncores = 1\n', "expected a price above 0 and up to 1e+15"),
        ('[[candidate]]\nname = "a"\nprice = nan\ncores = 1\n', "expected a price above 0"),
        ('[[candidate]]\nname = "a"\nprice = 1\ncores = inf\n', "cores is inf"),
        ('[[candidate]]\nname = "a"\nprice = 1\ncores = -1\n', "cores is -1"),
        (
            '[[candidate]]\nname = "a"\nprice = 1\ncores = 1\nmemory_bytes = "' + "9" * 400 + '"\n',
            "a size of 400 digits is more than any machine has",
        ),
        (
            '[[candidate]]\nname = "a"\nprice = 1\ncores = 1\nmemory_bytes = "8GHz"\n',
            "memory_bytes: expected a size",
        ),
        (
            '[[candidate]]\nname = "a"\nprice = 1\ncores = 1\n[candidate.devices.data]\n'
            "read_bytes_per_second = 1\nwrite_bytes_per_second = 1\n",
            "a device cannot be named 'data'",
        ),
        (
            '[[candidate]]\nname = "a"\nprice = 1\ncores = 1\n[candidate.devices.x]\n'
            'read_bytes_per_second = "1GB/s"\nwrite_bytes_per_second = 1\n',
            "devices.x.read_bytes_per_second: expected a size",
        ),
        (
            '[[candidate]]\nname = "a"\nprice = 1\ncores = 1\nroles = { data = ["y"] }\n'
            "[candidate.devices.x]\n"
            "read_bytes_per_second = 1\nwrite_bytes_per_second = 1\n",
            "role data lies on device y, which is not described",
        ),
        ('[[candidate]]\nname = "a"\nprice = 1\ncores = 1e308\n', "cores is 1e+308, and no machine"),
        ('[[candidate]]\nname = "a"\nprice = 1\ncores = 1\ncore_speed = 1e-308\n', "core_speed is 1e-308"),
        ('[[candidate]]\nname = "a"\nprice = 1\ncores = 1\nmemory_bytes = 1\n', "memory_bytes is 1, and no"),
        ("[[candidate]]\n" * 100_000, "key candidate[0]"),
    ],
)
def test_a_hostile_catalogue_gets_one_sentence(
    mawl: Command, nano_run: Path, catalogue: str, said: str
) -> None:
    (mawl.directory / "hostile.toml").write_text(catalogue)
    done = mawl("size", "hostile.toml", str(nano_run), "--within", "1", "--anyway")
    assert done.returncode == 2 and not done.stdout, done.stdout
    assert said in done.stderr and "hostile.toml" in done.stderr and "Traceback" not in done.stderr


def test_what_is_no_file_is_named(mawl: Command, nano_run: Path) -> None:
    os.mkfifo(mawl.directory / "pipe.toml")
    for name in ("none.toml", "pipe.toml", "."):
        done = mawl("size", name, str(nano_run), "--within", "1", "--anyway")
        assert done.returncode == 2 and f"{name}: cannot be read" in done.stderr, done.stderr
