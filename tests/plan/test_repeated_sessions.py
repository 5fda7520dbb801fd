"""Workloads in any number of sessions."""

from __future__ import annotations

from pathlib import Path

import pytest

from mawl.base.errors import UsageError
from mawl.plan.mix import in_turns, workload_toml
from mawl.plan.spec import SessionSpec, WorkloadSpec
from mawl.plan.workload import load_workload, make_plan
from mawl.records.spec import toml

COMMANDS = r"""
name = "own"
[commands.copy]
command = ["sh", "{here}/x", "{{here}}", "{work}"]
[[sessions]]
name = "a"
stages = [["copy"]]
"""


@pytest.mark.parametrize("sessions", [1, 3, 4, 9])
def test_sessions_come_by_turns_and_make_a_plan(sessions: int) -> None:
    spec, where = load_workload("nano")
    made = in_turns(spec, sessions, where)
    plan = make_plan(made, where=where, scale=1.0)
    names = [session.name for session in plan.sessions]
    assert len(set(names)) == sessions
    assert names[:1] == ["analyst-1"] and names[4:5] == ["analyst-1-2"][: max(0, sessions - 4)]
    for number, session in enumerate(made.sessions):
        assert session.stages == spec.sessions[number % 4].stages


def test_the_text_is_the_workload_and_here_stays_where_it_was(tmp_path: Path) -> None:
    spec = toml.loads(COMMANDS, WorkloadSpec, where="own.toml")
    assert toml.loads(workload_toml(spec), WorkloadSpec, where="again") == spec
    moved = toml.loads(workload_toml(spec, tmp_path / "a{b"), WorkloadSpec, where="moved")
    assert moved.commands["copy"].command == ["sh", f"{tmp_path}/a{{{{b/x", "{{here}}", "{work}"]


@pytest.mark.parametrize(
    "job", ['{ program = "segmentation", name = "x" }', '{ program = "segmentation", after = ["y"] }']
)
def test_jobs_with_names_of_their_own_cannot_be_copied(job: str) -> None:
    spec = toml.loads(
        f'name = "n"\n[[sessions]]\nname = "a"\nstages = [[{job}]]\n', WorkloadSpec, where="n.toml"
    )
    with pytest.raises(UsageError, match="no rule for another number of sessions"):
        in_turns(spec, 2, "n.toml")


@pytest.mark.parametrize("sessions", [[], [SessionSpec(name="s", stages=[["a"]])]])
def test_derived_jobs_have_no_rule_for_more_sessions(sessions: list[SessionSpec]) -> None:
    spec = WorkloadSpec(name="shop", sessions=sessions, derived="derived.json")
    with pytest.raises(
        UsageError, match=r"derived from logs, and each of them ran once.*mawl derive --growth"
    ):
        in_turns(spec, 3, "shop.toml")
