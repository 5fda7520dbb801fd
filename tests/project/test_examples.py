"""Every file under examples/ does what its first lines and the README there say."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from xml.etree import ElementTree

import pytest

from mawl import open_run
from mawl.commands.main import main
from mawl.plan.workload import load_workload, make_plan
from mawl.records.store.campaign import write_qualification
from mawl.records.store.folder import RunWriter
from mawl.reports.openmetrics import families
from mawl.whatif.size.candidates import load_catalogue
from tests import needs
from tests.fakes import stub_sas
from tests.fakes.answered import NO, YES, answered
from tests.fakes.compared_runs import COMPLETED, jobs
from tests.fakes.stored_run import START, facts
from tests.files import text_of
from tests.run.cluster.conftest import clustered

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SCRIPTS = sorted(EXAMPLES.glob("*.sh"))
SMALL = 'name = "one"\nscale = 0.00005\n[[sessions]]\nname = "a"\nstages = [["stress_projection"]]\n'
OPENMETRICS_NAME = re.compile(r"\bmawl_\w+")


def ended(place: Path, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """A command run in ``place``, with programs of the test and of this environment first on PATH."""
    path = f"{place / 'bin'}{os.pathsep}{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    roles = {role: str(place / role.lower()) for role in ("DATA", "WORK", "UTIL")}
    return subprocess.run(
        words,
        cwd=place,
        env={**os.environ, "PATH": path, "MAWL_HTML": "no", **roles, **variables},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


def called(place: Path, name: str, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """A script of the examples run in ``place``."""
    return ended(place, "bash", str(EXAMPLES / name), *arguments, **variables)


def program(place: Path, name: str, text: str) -> None:
    """A program of that name that the scripts find first."""
    (place / "bin").mkdir(exist_ok=True)
    (place / "bin" / name).write_text(text)
    (place / "bin" / name).chmod(0o755)


def test_the_readme_names_every_file_once() -> None:
    text = (EXAMPLES / "README.md").read_text()
    named = [link for link in re.findall(r"\]\(([^)]+)\)", text) if not link.startswith("../")]
    logs = {path.name for path in EXAMPLES.iterdir() if list(path.glob("*.log*"))}
    files = {
        str(path.relative_to(EXAMPLES))
        for path in EXAMPLES.rglob("*")
        if path.is_file() and not {*path.parts} & {"__pycache__", *logs}
    }
    assert sorted(named) == sorted(files - {"README.md"})
    assert all(f"`{folder}`" in text for folder in logs), "folders of logs are named as such"


@pytest.mark.lab
@needs.marks(needs.program("shellcheck"))
def test_scripts_are_clean_shell() -> None:
    subprocess.run(["shellcheck", "-S", "warning", *map(str, SCRIPTS)], check=True)


def two_sides(tmp_path: Path, after: float, spread: float) -> None:
    """Five runs before and five after, which take so many times as long."""
    for number, place in enumerate([-2, 1, 0, 2, -1]):
        noise = 1.0 + spread * place
        for side, turn, factor in (("before", 0, 1.0), ("after", 1, after)):
            run = tmp_path / side / f"{side}{number}"
            some = facts(
                **{**COMPLETED, "run_id": run.name, "started_at": START + 100.0 * (2 * number + turn)}
            )
            writer = RunWriter(run, some)
            for record in jobs({"wide_sort": factor * noise, "census_load": factor * noise}):
                writer.job(record)
            writer.finish(some)


def test_runs_that_are_a_fifth_slower_fail_the_step(tmp_path: Path) -> None:
    two_sides(tmp_path, 1.2, spread=0.01)
    done = called(tmp_path, "compare-in-ci.sh", "before", "after")
    assert done.returncode == 3, done.stderr
    assert 'Worse: "after" against "before", real time per job +20 %' in (tmp_path / "compare.md").read_text()
    assert ElementTree.parse(tmp_path / "compare.xml").getroot().attrib["failures"] == "1"
    assert called(tmp_path, "compare-in-ci.sh", "after", "before").returncode == 0


def test_runs_that_are_surely_less_than_a_twentieth_slower_pass_the_step(tmp_path: Path) -> None:
    two_sides(tmp_path, 1.02, spread=0.001)
    done = called(tmp_path, "compare-in-ci.sh", "before", "after")
    assert done.returncode == 0, done.stderr
    assert "+2.0 %" in (tmp_path / "compare.md").read_text()


def test_the_price_book_ranks_the_systems_that_it_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, evidence in (("old-array", NO), ("new-array", YES)):
        (tmp_path / name).mkdir()
        write_qualification(tmp_path / name, answered(evidence))
    monkeypatch.chdir(tmp_path)
    assert main(["rank", "old-array", "new-array", "--prices", str(EXAMPLES / "prices.toml")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("Take new-array: the only system that surely carries 20 sessions, for ")
    head = next(place for place, line in enumerate(lines) if line.startswith("system"))
    assert [line.split()[0] for line in lines[head + 1 : head + 3]] == ["new-array", "old-array"]
    assert "EUR per 1000 jobs" in " ".join(" ".join(lines).split())


def test_the_catalogue_holds_candidates_and_upgrades_that_fit_a_run() -> None:
    catalogue = load_catalogue(EXAMPLES / "offers.toml")
    names = [candidate.name for candidate in catalogue.file.candidate]
    assert names == ["as it is", "more cores", "flash", "four nodes and an array"]
    assert [key for upgrade in catalogue.file.upgrade for key in upgrade.set] == [
        "cores",
        "flash.read",
        "flash.write",
    ]


def test_rules_ask_for_nothing_that_mawl_does_not_export() -> None:
    asked = set(OPENMETRICS_NAME.findall((EXAMPLES / "grafana" / "rules.yml").read_text()))
    assert len(asked) > 5
    assert asked - {family.name for family in families()} == set()


RULE_TEST = text_of(__file__, "alert_rules.yml")
"""Two runs, one of which writes an unknown amount: its sum is not known."""


@pytest.mark.lab
@needs.marks(needs.program("promtool"))
def test_prometheus_takes_the_rules_and_they_give_the_sums(tmp_path: Path) -> None:
    place = EXAMPLES / "grafana"
    subprocess.run(["promtool", "check", "config", "prometheus.yml"], cwd=place, check=True)
    (tmp_path / "test.yml").write_text(RULE_TEST.format(rules=place / "rules.yml"))
    done = subprocess.run(
        ["promtool", "test", "rules", "test.yml"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("name", "programs"),
    [
        ("own-program.toml", ["sort", "segmentation", "sort", "count"]),
        ("own-sas-command.toml", ["nightly", "segmentation"]),
    ],
)
def test_workloads_of_own_programs_are_plans(
    name: str, programs: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(EXAMPLES)
    spec, where = load_workload(str(EXAMPLES / name))
    plan = make_plan(spec, where=where, scale=0.00005)
    assert [job.program for job in plan.jobs()] == programs


@pytest.mark.lab
def test_own_programs_run_and_are_measured(tmp_path: Path) -> None:
    program(tmp_path, "sas", f'#!/bin/sh\nexec "{sys.executable}" "{stub_sas.__file__}" "$@"\n')
    for name in ("own-program.toml", "own_program.py", "own-sas-command.toml"):
        shutil.copy(EXAMPLES / name, tmp_path)
    (tmp_path / "nightly.sas").write_text("data sort means warn\n")
    for name in ("own-program", "own-sas-command"):
        done = ended(tmp_path, "mawl", "run", f"{name}.toml", "--output", name, PYTHONPATH=str(tmp_path))
        assert done.returncode == 0, done.stderr + done.stdout
    own = open_run(tmp_path / "own-program")
    assert own.jobs["outcome"].to_pylist() == ["finished"] * 4
    rows = dict(zip(own.steps["name"].to_pylist(), own.steps["rows_read"].to_pylist(), strict=True))
    assert rows["count"] > 0
    sas = open_run(tmp_path / "own-sas-command")
    steps = [step for step in sas.steps.to_pylist() if step["job"].endswith("nightly")]
    assert [step["rows_read"] for step in steps if step["name"] != "check"] == [stub_sas.ROWS] * 3


@pytest.mark.lab
def test_the_step_of_a_ci_job_ends_as_its_junit_file_says(tmp_path: Path) -> None:
    (tmp_path / "one.toml").write_text(SMALL)
    done = called(tmp_path, "fail-on-not-carried.sh", WORKLOAD="one.toml")
    suites = ElementTree.parse(tmp_path / "mawl.xml").getroot()
    names = [case.attrib["name"] for case in suites.iter("testcase")]
    assert names == ["completed", "not-carried"], done.stderr
    known = {("0", "0"): 0, ("1", "0"): 3, ("0", "1"): 4}
    assert done.returncode == known[suites.attrib["failures"], suites.attrib["errors"]]


@pytest.mark.lab
def test_logs_of_a_night_become_a_run_that_says_whether_it_was_held(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    for words in (
        ("run", "nano", "--runs", "measured"),
        ("report", "--runs", "measured", "--format", "saslog", "--output", "logs/night.log"),
    ):
        done = ended(tmp_path, "mawl", *words)
        assert done.returncode == 0, done.stderr
    began = datetime.fromtimestamp(open_run("latest", tmp_path / "measured").facts.started_at, UTC)
    ends = began + timedelta(hours=1)
    night = f"{began:%Y-%m-%dT%H:%M:%S}/{ends:%Y-%m-%dT%H:%M:%S}"
    done = called(tmp_path, "logs-to-workload.sh", "logs", night, "UTC")
    assert done.returncode == 0, done.stderr
    assert "night     held with" in done.stdout
    assert "no finding the difference also contains" in done.stdout
    assert (tmp_path / "shop" / "evidence.html").is_file()


@pytest.mark.lab
def test_the_batch_script_runs_on_the_nodes_that_srun_starts(tmp_path: Path) -> None:
    (tmp_path / "one.toml").write_text(SMALL)
    program(tmp_path, "srun", '#!/bin/sh\nSLURMD_NODENAME=first exec "$@"\n')
    program(tmp_path, "hostname", "#!/bin/sh\necho 127.0.0.1\n")
    dask = Path(sys.executable).with_name("dask")
    told = "echo $1 told >> ends; kill $!; wait $!; echo $1 ended >> ends; exit"
    program(tmp_path, "dask", f"#!/bin/bash\n{dask} \"$@\" &\ntrap '{told}' TERM\nwait $!\n")
    done = called(tmp_path, "slurm.sh", WORKLOAD="one.toml", SLURM_JOB_ID="7", SLURM_JOB_NUM_NODES="1")
    assert done.returncode == 0, done.stderr
    ends = [f"{name} {what}" for name in ("worker", "scheduler") for what in ("told", "ended")]
    assert (tmp_path / "ends").read_text().splitlines() == ends
    assert [node.name for node in open_run("latest", tmp_path / "runs").facts.nodes] == ["first"]


@pytest.mark.lab
def test_a_storage_server_is_watched(tmp_path: Path) -> None:
    (tmp_path / "one.toml").write_text(SMALL)
    device = min(path.name for path in Path("/sys/block").iterdir())
    for cluster in clustered(tmp_path / "cluster", "node1", "server"):
        words = (cluster.address, "server", device, "40Gbit")
        done = called(tmp_path, "storage-node.sh", *words, WORKLOAD="one.toml")
        assert done.returncode == 0, done.stderr
    found = open_run("latest", tmp_path / "runs").facts
    assert [node.name for node in found.nodes] == ["node1"]
    assert [server.node for server in found.storage_runs] == ["server"]
