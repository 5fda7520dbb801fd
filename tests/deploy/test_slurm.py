"""The batch scripts of the examples under a real Slurm: two nodes on this machine."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from mawl import open_run
from mawl.commands.main import main
from tests import needs
from tests.deploy.slurm import BATCH_SECONDS, NODES, SlurmMachine

pytestmark = [
    pytest.mark.lab,
    needs.marks(needs.ROOT, needs.program("slurmctld", "slurmd", "sbatch", "munged")),
]

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SMALL = 'name = "one"\nscale = 0.00005\n[[sessions]]\nname = "a"\nstages = [["stress_projection"]]\n'
LONG = SMALL.replace("0.00005", "0.005").replace('["stress_projection"]', '["wide_sort"]')


@pytest.fixture(scope="module")
def slurm() -> Iterator[SlurmMachine]:
    folder = Path(tempfile.mkdtemp(prefix="slurm-"))
    machine = SlurmMachine(folder)
    try:
        yield machine
    finally:
        machine.close()
        shutil.rmtree(folder)


@pytest.fixture
def variables(tmp_path: Path) -> dict[str, str]:
    """Directories of the roles, mawl on PATH, and an address that needs no network."""
    (tmp_path / "one.toml").write_text(SMALL)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "hostname").write_text("#!/bin/sh\necho 127.0.0.1\n")
    (tmp_path / "bin" / "hostname").chmod(0o755)
    path = f"{tmp_path / 'bin'}{os.pathsep}{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    roles = {role: str(tmp_path / role.lower()) for role in ("DATA", "WORK", "UTIL")}
    return {"PATH": path, "MAWL_HTML": "no", "WORKLOAD": "one.toml", **roles}


def output(place: Path) -> str:
    return "".join(file.read_text() for file in sorted(place.glob("slurm-*.out")))


def test_a_run_on_all_nodes_of_an_allocation(
    slurm: SlurmMachine, tmp_path: Path, variables: dict[str, str]
) -> None:
    slurm.batch(tmp_path, "--nodes=2", str(EXAMPLES / "slurm.sh"), **variables)
    facts = open_run("latest", tmp_path / "runs").facts
    assert facts.outcome == "completed", output(tmp_path)
    assert [node.name for node in facts.nodes] == list(NODES)


def test_an_array_of_runs_gives_two_sides_to_compare(
    slurm: SlurmMachine, tmp_path: Path, variables: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    places = [str(tmp_path / name) for name in ("a", "b")]
    job = slurm.batch(tmp_path, "--array=0-3%1", str(EXAMPLES / "slurm-array.sh"), *places, **variables)
    sides = [tmp_path / "runs" / f"array-{job}" / place[1:].replace("/", "-") for place in places]
    runs = [
        sorted((open_run(folder).facts for folder in side.glob("2*")), key=lambda facts: facts.started_at)
        for side in sides
    ]
    assert [len(side) for side in runs] == [2, 2], output(tmp_path)
    assert {facts.outcome for side in runs for facts in side} == {"completed"}
    began = [facts.started_at for side in zip(*runs, strict=True) for facts in side]
    assert began == sorted(began), "the sides take turns"
    assert main(["compare", *map(str, sides)]) == 0
    assert "2 runs" in capsys.readouterr().out


def test_without_a_directory_the_array_says_so(
    slurm: SlurmMachine, tmp_path: Path, variables: dict[str, str]
) -> None:
    slurm.batch(tmp_path, "--array=0-0", str(EXAMPLES / "slurm-array.sh"), **variables)
    assert output(tmp_path) == "slurm-array.sh: name at least one directory\n"
    assert not (tmp_path / "runs").exists()


def test_scancel_ends_every_process_of_the_run(
    slurm: SlurmMachine, tmp_path: Path, variables: dict[str, str]
) -> None:
    (tmp_path / "one.toml").write_text(LONG)
    job = slurm.submit(tmp_path, "--nodes=2", str(EXAMPLES / "slurm.sh"), **variables)
    ends = time.monotonic() + BATCH_SECONDS
    while not processes_with(tmp_path, "mawl-run-"):
        assert time.monotonic() < ends, output(tmp_path)
        time.sleep(0.2)
    slurm.call("scancel", job)
    while processes_with(tmp_path, ""):
        assert time.monotonic() < ends, processes_with(tmp_path, "")
        time.sleep(0.5)


def processes_with(place: Path, word: str) -> list[str]:
    """Command lines or working directories of processes that name this place."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            line = (process / "cmdline").read_text().replace("\0", " ")
            where = str((process / "cwd").readlink())
            files = [str(file.readlink()) for file in (process / "fd").iterdir()]
        except OSError:
            continue
        if (
            str(place) in f"{line} {where}"
            and int(process.name) != os.getpid()
            and any(word in file for file in files)
        ):
            found.append(line)
    return found
