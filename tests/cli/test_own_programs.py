"""Classes of users' own packages as programs, by ``module:Class`` and as entry points."""

from __future__ import annotations

import json
import os

import pytest

from mawl.records.store import open_run
from mawl.run.launch.setup import ARROW_POOL_VARIABLE, arrow_pool
from tests.cli.conftest import Command
from tests.cli.test_commands import jobs, run, steps

OWN = """
class Count:
    name = "count"
    program_class = "compute"
    inputs = ("customers",)

    def run(self, context):
        with context.steps.step("count") as step:
            table = context.table("customers").directory
            step.rows_read = sum(batch.num_rows for batch in context.read(table))
        return {"rows": step.rows_read}


class NoClass:
    name = "x"
    program_class = "fast"
"""


@pytest.mark.parametrize("start", ["zygote", "spawn"])
def test_a_class_of_a_package_of_the_user_is_a_program(start: str, mawl: Command) -> None:
    (mawl.directory / "ownpackage.py").write_text(OWN)
    mawl.environment["PYTHONPATH"] = os.pathsep.join(
        [str(mawl.directory), os.environ.get("PYTHONPATH", "")]
    ).rstrip(os.pathsep)
    (mawl.directory / "one.toml").write_text(
        'name = "one"\nscale = 0.00005\n[[sessions]]\nname = "a"\nstages = [["ownpackage:Count"]]\n'
    )
    mawl.environment[ARROW_POOL_VARIABLE] = "mimalloc"
    mawl.ok("run", "one.toml", "--start", start)
    assert open_run(mawl.directory / "runs" / "latest").facts.arrow_pool == arrow_pool()
    (job,) = jobs(mawl)
    assert (job["job"], job["program"], job["program_class"]) == ("a.1.count", "count", "compute")
    assert (job["outcome"], job["verified"]) == ("finished", None), "nobody knows that its answer is right"
    (step,) = steps(mawl)
    assert json.loads(job["answer"]) == {"rows": step["rows_read"]}
    assert step["rows_read"] > 0
    plan = json.loads(mawl("plan", "one.toml", "--json").stdout)
    assert plan["undeclared"] == ["count"]
    assert [table["table"] for table in plan["inputs"]] == ["customers"]


def test_an_entry_point_of_an_installed_package_is_a_program_by_its_name(mawl: Command) -> None:
    (mawl.directory / "ownpackage.py").write_text(OWN)
    metadata = mawl.directory / "ownpackage-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: ownpackage\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[mawl.programs]\ntally = ownpackage:Count\n")
    mawl.environment["PYTHONPATH"] = os.pathsep.join(
        [str(mawl.directory), os.environ.get("PYTHONPATH", "")]
    ).rstrip(os.pathsep)
    (mawl.directory / "named.toml").write_text(
        'name = "named"\nscale = 0.00005\n[[sessions]]\nname = "a"\nstages = [["tally"]]\n'
    )
    mawl.ok("run", "named.toml")
    (job,) = jobs(mawl)
    assert (job["program"], job["outcome"]) == ("count", "finished")
    assert json.loads(job["answer"])["rows"] > 0
    (metadata / "entry_points.txt").write_text("[mawl.others]\ntally = ownpackage:Count\n")
    refused = mawl("run", "named.toml")
    assert refused.returncode == 2
    assert "tally" in refused.stderr


@pytest.mark.parametrize(
    ("program", "why"),
    [
        ("ownpackage:NoClass", "found program_class 'fast'"),
        ("ownpackage:Nothing", "has no attribute 'Nothing'"),
        ("nosuchpackage:Any", "No module named 'nosuchpackage'"),
    ],
)
def test_a_class_that_is_no_program_is_refused(program: str, why: str, mawl: Command) -> None:
    (mawl.directory / "ownpackage.py").write_text(OWN)
    mawl.environment["PYTHONPATH"] = os.pathsep.join(
        [str(mawl.directory), os.environ.get("PYTHONPATH", "")]
    ).rstrip(os.pathsep)
    done = run(mawl, f'program = "{program}"')
    assert done.returncode == 2
    assert f"sessions[0].stages[0][0].program: the program {program}" in done.stderr
    assert why in done.stderr
