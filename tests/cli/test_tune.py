"""``mawl tune``: profiles by name, this machine now, and what a run recorded."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mawl.commands.main import main
from mawl.config.tuning import profiles
from mawl.model.inventory import Inventory
from mawl.reporters.columns import LINE_WIDTH
from mawl.store import open_run
from tests.cli.conftest import Command
from tests.cli.test_run import ONE_JOB


def test_all_profiles_with_every_setting_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tune", "show", "--all", "--json"]) == 0
    shown = {one["name"]: one["settings"] for one in json.loads(capsys.readouterr().out)["profiles"]}
    assert set(shown) == set(profiles())
    maxfree = next(one for one in shown["aix-power8"] if one["name"] == "maxfree")
    assert (maxfree["recommended"], maxfree["default"], maxfree["source"]["key"]) == (
        73728,
        1088,
        "power-s822-2015",
    )


def test_every_profile_is_listed_and_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tune", "show"]) == 0
    assert {line.split()[0] for line in capsys.readouterr().out.splitlines() if line} >= set(profiles())
    for name, one in profiles().items():
        assert main(["tune", "show", name]) == 0
        out = capsys.readouterr().out
        assert out.startswith(f"{name}: ")
        assert all(setting.name in out for setting in one.settings)


def test_this_machine_is_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["tune", "check", "--live", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    current = {row["name"]: row["current"] for row in found["settings"]}
    assert current["swappiness"] == int(Path("/proc/sys/vm/swappiness").read_text())
    assert sum(found["counts"].values()) == len(found["settings"])
    assert main(["tune", "check", "--live", "--all"]) == 0
    out = capsys.readouterr().out
    assert "swappiness" in out and "Nothing was changed." in out
    assert len(out.splitlines()[0]) <= LINE_WIDTH


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["check", "--live", "latest"], "--live does not go with a run"),
        (["show", "--all", "arrays"], "--all does not go with a profile"),
        (["show", "nothing"], "nothing is no tuning profile"),
        (["show", "absent.toml"], "absent.toml: cannot be read"),
    ],
)
def test_wrong_use_is_one_sentence(words: list[str], reason: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tune", *words]) == 2
    assert reason in capsys.readouterr().err


def test_a_run_records_its_settings_and_is_checked(mawl: Command) -> None:
    (mawl.directory / "one.toml").write_text(ONE_JOB)
    done = mawl("run", "one.toml", "--option", "sortsize=64MiB")
    assert done.returncode == 0, done.stderr
    (inventory,) = open_run(mawl.directory / "runs" / "latest").facts.inventories.values()
    assert isinstance(inventory, Inventory) and inventory.cpu_seconds is not None
    assert inventory.families["options"]["machine"]["sortsize_bytes"] == 64 * 2**20
    assert inventory.families["file_system"]
    found = json.loads(mawl("tune", "check", "latest", "--json").stdout)
    row = next(row for row in found["settings"] if row["name"] == "sortsize")
    assert (row["state"], row["current"]) == ("differs", 64 * 2**20)
