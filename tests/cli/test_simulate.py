"""``mawl simulate`` as a user has it: on a run that was really made, as text and JSON, kept and reported."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mawl.records.store import open_run
from mawl.whatif.records import SIMULATION_METRICS
from tests.cli.conftest import Command
from tests.files import text_of

NAMES = [metric.name.split(".") for metric in SIMULATION_METRICS]


OWN = text_of(__file__, "own_system.toml")


def leaves(value: Any, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Paths of all figures; the simulated system is one."""
    records = isinstance(value, list) and any(isinstance(member, dict) for member in value)
    members = value.items() if isinstance(value, dict) else enumerate(value) if records else ()
    if not members or path == ("simulate", "system"):
        yield path
        return
    for name, member in members:
        yield from leaves(member, (*path, str(name)))


def named(name: list[str], path: tuple[str, ...]) -> bool:
    """Whether that is the name of the path."""
    return len(name) == len(path) and all(a in ("*", b) for a, b in zip(name, path, strict=True))


def defined(path: tuple[str, ...]) -> bool:
    """Whether a metric has that name."""
    return any(named(name, path) for name in NAMES)


def test_a_measured_run_is_simulated_kept_and_reported(mawl: Command, nano_run: Path) -> None:
    shutil.copytree(nano_run, mawl.directory / "measured")
    # Other tests use the disk, too.
    asked = ("simulate", "measured", "--anyway", "--set", "cores=8", "--grow", "2,4", "--against", "measured")
    text = mawl.ok(*asked)
    assert "twice the" in text.stdout
    assert "no range: cores is" in text.stdout
    found = mawl.ok(*asked, "--output", "kept", "--json")
    block = json.loads(found.stdout)
    unknown = [".".join(path) for path in leaves(block, ("simulate",)) if not defined(path)]
    assert unknown == []
    present = {path[:length] for path in leaves(block, ("simulate",)) for length in range(1, len(path) + 1)}
    assert [name for name in NAMES if not any(named(name, path) for path in present)] == []
    assert open_run(mawl.directory / "kept").facts.command[1:] == [*asked, "--output", "kept", "--json"]
    assert block["system"]["nodes"][0]["cores"] == 8.0
    report = mawl("report", "kept", "--format", "json")
    summary = json.loads(report.stdout)
    assert summary["kind"] == "simulated"
    assert summary["jobs"]["total"] == block["prediction"]["jobs"]
    assert mawl("compare", "measured", "kept", "--anyway").returncode == 0


def test_a_run_of_logs_has_a_range_and_says_what_it_assumes(mawl: Command, nano_run: Path) -> None:
    """Logs tell CPU time, real time and tables: bytes and waits are inferred, cores and devices are not."""
    shutil.copytree(nano_run, mawl.directory / "measured")
    assert mawl("import", "measured/logs", "--output", "imported").returncode == 0
    failed = mawl("simulate", "imported")
    assert failed.returncode == 2
    assert "--measured-on FILE" in failed.stderr and "a recording of their host" in failed.stderr
    (mawl.directory / "own.toml").write_text(OWN)
    found = mawl.ok("simulate", "imported", "--measured-on", "own.toml", "--set", "disk.read=1GB", "--json")
    block = json.loads(found.stdout)
    unknown = [".".join(path) for path in leaves(block, ("simulate",)) if not defined(path)]
    assert unknown == []
    validity = block["validity"]
    assert validity["range"]["low_seconds"] is None
    assert any("no such forecast was compared with a run" in reason for reason in validity["reasons"])
    assert 0 < validity["logs_range"]["low_seconds"] <= validity["logs_range"]["high_seconds"]
    assert any("at most so much is I/O" in text for text in validity["assumptions"])
    assert block["prediction"]["elapsed_seconds"] > 0
    text = mawl("simulate", "imported", "--measured-on", "own.toml", "--set", "disk.read=1GB")
    assert "logs do not say how much of the waiting was I/O" in " ".join(text.stdout.split())
    assert "assumed: " in text.stdout and "not checked: " in text.stdout


def test_wrong_use_is_told_by_name(mawl: Command, nano_run: Path) -> None:
    shutil.copytree(nano_run, mawl.directory / "measured")
    for arguments, said in (
        (("--set", "tape.read=1GB"), "unknown key"),
        (("--set", "link=0"), "link_bytes_per_second is 0"),
        (("--nodes", "0"), "--nodes 0: expected a number from 1"),
        (("--grow", "many"), "--grow many: expected whole numbers"),
    ):
        failed = mawl("simulate", "measured", "--anyway", *arguments)
        assert failed.returncode == 2
        assert said in failed.stderr
