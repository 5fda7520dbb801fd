"""``mawl tune``: profiles by name, this machine now, and what a run recorded."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from mawl.commands.main import main
from mawl.records.model.node import Inventory
from mawl.records.store import open_run
from mawl.reports.layout import LINE_WIDTH
from mawl.tuning.profile_files import profiles
from tests.cli.conftest import Command
from tests.cli.test_run import ONE_JOB
from tests.fakes.collected_hosts import client
from tests.fakes.command_line import Verbs
from tests.fakes.recorded_host import aix_recording


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_all_profiles_with_every_setting_by_name(verbs: Verbs) -> None:
    shown = {
        one["name"]: one["settings"]
        for one in json.loads(verbs.out("tune", "show", "--all", "--json"))["profiles"]
    }
    assert set(shown) == set(profiles())
    maxfree = next(one for one in shown["aix-power8"] if one["name"] == "maxfree")
    assert (maxfree["recommended"], maxfree["default"], maxfree["source"]["key"]) == (
        73728,
        1088,
        "power-s822-2015",
    )


def test_every_profile_is_listed_and_shown(verbs: Verbs) -> None:
    assert {line.split()[0] for line in verbs.out("tune", "show").splitlines() if line} >= set(profiles())
    for name, one in profiles().items():
        out = verbs.out("tune", "show", name)
        assert out.startswith(f"{name}: ")
        assert all(setting.name in out for setting in one.settings)


def test_this_machine_is_compared(verbs: Verbs) -> None:
    found = json.loads(verbs.out("tune", "check", "--live", "--json"))
    current = {row["name"]: row["current"] for row in found["settings"]}
    assert current["swappiness"] == int(Path("/proc/sys/vm/swappiness").read_text())
    assert sum(found["counts"].values()) == len(found["settings"])
    out = verbs.out("tune", "check", "--live", "--all")
    assert "swappiness" in out and "Nothing was changed." in out
    assert len(out.splitlines()[0]) <= LINE_WIDTH


FACTORS = {"bytes": 1024, "percent": 1, "count": 1, "code": 1}
"""Of a unit, what the kernel's number is of it: sizes of block devices are in KiB (``_kb``)."""


def test_each_number_is_what_the_file_says_that_it_is_read_from(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tune", "check", "--live", "--all", "--json"]) == 0
    compared = set()
    for row in json.loads(capsys.readouterr().out)["settings"]:
        path = Path(row["read"])
        if row["state"] == "for you to judge" or not re.fullmatch(r"/(proc|sys)/[^ ;,*]+", row["read"]):
            continue
        text = path.read_text().strip() if os.access(path, os.R_OK) else ""
        if text.isdecimal():
            assert (row["unit"] == "bytes") is path.name.endswith("_kb"), row["read"]
            assert row["current"] == int(text) * FACTORS[row["unit"]], row["read"]
            compared.add(row["name"])
    assert compared >= {"dirty_background_ratio", "dirty_ratio", "swappiness"}


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["check", "--live", "latest"], "--live does not go with a run"),
        (["show", "--all", "arrays"], "--all does not go with a profile"),
        (["check", "latest", "--from", "x"], "--from does not go with a run"),
        (["check", "--live", "--from", "x"], "--live does not go with --from"),
        (["check", "--storage", "a=XIV", "--live"], "--storage is only for files"),
        (["compare", "a", "b", "--storage", "a=XIV"], "--storage is only for files"),
        (["check", "--from", "absent"], "absent is not there"),
        (["check", "--from", ".", "--storage", "XIV"], "expected NAMES=SYSTEM"),
        (["show", "nothing"], "nothing is no tuning profile"),
        (["show", "absent.toml"], "absent.toml: cannot be read"),
    ],
)
def test_wrong_use_is_one_sentence(words: list[str], reason: str, verbs: Verbs) -> None:
    assert reason in verbs.err("tune", *words, status=2)


def test_a_run_records_its_settings_and_is_checked(mawl: Command) -> None:
    (mawl.directory / "one.toml").write_text(ONE_JOB)
    mawl.ok("run", "one.toml", "--option", "sortsize=64MiB")
    (inventory,) = open_run(mawl.directory / "runs" / "latest").facts.inventories.values()
    assert isinstance(inventory, Inventory) and inventory.cpu_seconds is not None
    assert inventory.families["options"]["machine"]["sortsize_bytes"] == 64 * 2**20
    assert inventory.families["file_system"]
    found = json.loads(mawl("tune", "check", "latest", "--json").stdout)
    row = next(row for row in found["settings"] if row["name"] == "sortsize")
    assert (row["state"], row["current"]) == ("differs", 64 * 2**20)


COMMANDS = (
    ("vmo -L", "maxfree                   1088   1088   1088   16     4838K  4KB pages         D"),
    ("ioo -L", "j2_maxPageReadAhead       1024   128    128    0      64K    4KB pages         D"),
    ("schedo -L", "timeslice                 1      1      1      0      2G-1   clock ticks       D"),
    ("lsattr -El sys0", "maxuproc        512              Maximum number of PROCESSES allowed per user True"),
    ("lsattr -El hdisk4", "queue_depth     40               Queue DEPTH                        True"),
    ("lsattr -El fcs0", "max_xfer_size   0x100000         Maximum Transfer Size               True"),
)


def test_a_recorded_aix_host_is_checked_from_its_bbbp_sections(mawl: Command) -> None:
    told = "".join(
        f'BBBP,{number:03d},{command}\nBBBP,{number:03d},{command},"{line}"\n'
        for number, (command, line) in enumerate(COMMANDS)
    )
    recorded = "".join(aix_recording(4, 5)).replace("AAA,cpus", f"{told}AAA,cpus")
    (mawl.directory / "aix1.nmon").write_text(recorded)
    assert mawl("import", "aix1.nmon").returncode == 0
    found = json.loads(mawl("tune", "check", "latest", "--json").stdout)
    assert found["platform"] == "aix"
    rows = {row["name"]: row for row in found["settings"] if row["state"] in ("differs", "as recommended")}
    states = {name: (row["state"], row["current"]) for name, row in rows.items()}
    assert states == {
        "maxfree": ("differs", "1088"),
        "j2_maxPageReadAhead": ("as recommended", "1024"),
        "timeslice": ("as recommended", "1"),
        "maxuproc": ("differs", "512"),
        "queue_depth": ("differs", "40"),
        "max_xfer_size": ("differs", "0x100000"),
    }
    assert rows["max_xfer_size"]["change"] == "chdev -l fcs0 -a max_xfer_size=0x200000 -P"
    assert all(rows[name]["is_default"] for name in ("maxfree", "maxuproc", "queue_depth", "max_xfer_size"))


def test_a_collected_host_is_checked_as_text_and_json(tmp_path: Path, verbs: Verbs) -> None:
    folder = str(client(tmp_path / "lpar1", "default"))
    found = json.loads(verbs.out("tune", "check", "--from", folder, "--json"))
    assert (found["platform"], found["collected"], found["nodes"]) == ("aix", True, ["lpar1"])
    assert sum(found["counts"].values()) == len(found["settings"])
    (tmp_path / "lpar1/notes.txt").write_text("by hand")
    out = verbs.out("tune", "check", "--from", folder)
    assert out.startswith("collected files (lpar1): ")
    assert "maxfree: 1088 (the default), recommended 73728 pages" in out.replace(" pages (the", " (the")
    assert "not read:\n  notes.txt: not in MANIFEST" in out


def test_the_collector_is_printed(verbs: Verbs) -> None:
    out = verbs.out("tune", "collector", "aix")
    assert out.startswith("#!/bin/sh\n# Collects settings") and out.endswith('--from $dir"\n')


def test_before_and_after_give_the_tables_of_a_paper(tmp_path: Path, verbs: Verbs) -> None:
    sides = [str(client(tmp_path / name, name)) for name in ("default", "recommended")]
    changed, left, *_ = verbs.out("tune", "compare", *sides, "--all").split("left as they were:")
    (row,) = [line.split() for line in changed.splitlines() if line.startswith("  maxfree ")]
    assert row == ["maxfree", "1088", "73728", "1088", "pages", "73728", "pages"]
    assert "  maxfree: page stealing frees more at a time" in changed and "  timeslice " in left
