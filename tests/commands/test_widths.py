"""What verbs print in a window of 80 and of 200 columns: no line is wider, units stay with their numbers."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from mawl.commands.main import main
from mawl.records.store.campaign import write_qualification
from mawl.records.store.side_files import write_probe
from tests.cli.test_replay import logs_and_run
from tests.fakes.answered import every_record
from tests.fakes.hostile_run import write_hostile_run
from tests.fakes.probed import MB, probe, target
from tests.fakes.published_run import write_published, write_published_campaign
from tests.fakes.stored_run import START

PAPER_RESULT = "s822-xiv-20"
NARROW, WIDE = 80, 200
COMMANDS = re.compile(r"\s+(now: |to last: |mawl )")
"""Lines that hold a command to copy: one is never broken."""
UNIT_FIRST = re.compile(r"\s*(%|[mun]?s|min|h|[kMGT]?i?B(/s)?)(?!\w)")

VERBS = {
    "report": ("report", "runs/a"),
    "report of many names": ("report", "hostile", "--all"),
    "report --all": ("report", "runs/a", "--all"),
    "report of a campaign": ("report", "campaign"),
    "compare": ("compare", "runs/a", "runs/b"),
    "compare --all": ("compare", "runs/a", "runs/b", "--all"),
    "compare sides": ("compare", "runs/a", "runs/b", "campaign"),
    "compare with logs": ("compare", "shop/run", "shop/again"),
    "compare with logs --all": ("compare", "shop/run", "shop/again", "--all"),
    "rank": ("rank", "yes", "no", "cluster-yes", "--price", "yes=1.20/h"),
    "history": ("history", "runs"),
    "steps": ("steps", "runs/a"),
    "validate": ("validate", "runs/a"),
    "published": ("published",),
    "published one": ("published", PAPER_RESULT),
    "published --tables": ("published", PAPER_RESULT, "--tables", "--run", "runs/a", "--run", "runs/b"),
    "plan": ("plan", "--memory-limit", "1GiB"),
    "plan of starter": ("plan", "starter"),
    "simulate": ("simulate", "runs/a", "--grow", "5,10", "--against", "runs/b"),
    "simulate --published": ("simulate", "--published"),
    "probe": ("probe", "--from", "probe.json"),
    "placement": ("placement", "runs/a", "probe.json"),
    "tune check": ("tune", "check", "--live", "--all", "--data", "data", "--work", "work", "--util", "util"),
}
"""Verbs that print tables, over the files of ``place``."""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs, a campaign, a run whose names are long, and three qualified systems."""
    folder = tmp_path_factory.mktemp("widths")
    (folder / "runs").mkdir()
    for number, name in enumerate("ab"):
        write_published(
            folder / "runs" / name, start=START + 90_000.0 * number, seconds=1300.0 + 100 * number
        )
    write_published_campaign(folder / "campaign")
    write_hostile_run(folder / "hostile")
    logs_and_run(folder / "shop")
    targets = [target("slow", 100 * MB, 90 * MB, roles=("data",)), target("flash" * 6, 900 * MB, 800 * MB)]
    write_probe(folder / "probe.json", probe(*targets))
    for name in ("data", "work", "util"):
        (folder / name).mkdir()
    for name in ("yes", "no", "cluster-yes"):
        (folder / name).mkdir()
        write_qualification(folder / name, every_record()[name])
    return folder


def shown(
    verb: str, columns: int, place: Path, patch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> list[str]:
    """The lines that a verb prints in a window so wide."""
    patch.chdir(place)
    patch.setattr(os, "get_terminal_size", lambda _=0: os.terminal_size((columns, 40)))
    capfd.readouterr()
    main(VERBS[verb])
    out, err = capfd.readouterr()
    assert out, err
    return out.splitlines()


@pytest.mark.parametrize("verb", VERBS)
def test_lines_fit_the_window_and_use_it(
    verb: str, place: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    narrow, wide = (shown(verb, columns, place, monkeypatch, capfd) for columns in (NARROW, WIDE))
    for columns, lines in ((NARROW, narrow), (WIDE, wide)):
        words = [line for line in lines if not COMMANDS.match(line)]
        assert [line for line in words if len(line) > columns] == []
        assert [line for line in lines if UNIT_FIRST.match(line)] == []
    assert len(wide) <= len(narrow)
    first = narrow[0].split()[:4]
    assert len(first) > 1
    assert wide[0].split()[: len(first)] == first, "the same story first"
    begun = iter(" ".join(wide).split()[:6])
    assert all(word in begun for word in " ".join(narrow).split()[:4]), "a table has two more columns at most"
