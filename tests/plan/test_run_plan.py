"""Workloads in any number of sessions.

Processors from text, and the threads that each job gets of them.

Values of variables of commands: in the workload file alone, and found again when they are needed.
"""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest

from mawl.base.errors import InvalidFileError, UsageError
from mawl.plan.environment import stored_environments, with_values, without_values
from mawl.plan.mix import in_turns, workload_toml
from mawl.plan.output import plan_toml
from mawl.plan.run_plan import parse_cores, plan_of, processors_of, with_threads
from mawl.plan.spec import SessionSpec, WorkloadSpec
from mawl.plan.workload import Plan, load_workload, make_plan
from mawl.records.spec import toml
from mawl.records.spec.program_options import AUTO, Options, parse_options
from mawl.records.spec.run_spec import NodesSpec, RunSpec
from mawl.records.spec.sources import as_command
from mawl.records.store.files import library_key

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


USABLE = sorted(os.sched_getaffinity(0))
AUTOMATIC = parse_options({"cpucount": "auto"}, where="here")


def test_cores_by_count_and_by_list() -> None:
    assert parse_cores("1") == (USABLE[0],)
    assert parse_cores(f"{USABLE[-1]},{USABLE[0]}") == tuple(sorted({USABLE[0], USABLE[-1]}))
    assert parse_cores(f"{USABLE[0]}-{USABLE[0]}") == (USABLE[0],)
    assert processors_of(None) == tuple(USABLE)
    assert processors_of("1") == (USABLE[0],)


@pytest.mark.parametrize("bad", ["0", "100000", "a", "1-", "3-1", "-1", "1,,2", "99999-99999", ""])
def test_bad_cores_are_refused_in_one_sentence(bad: str) -> None:
    with pytest.raises(UsageError, match="--cores"):
        parse_cores(bad)


@pytest.mark.parametrize(("processors", "threads"), [(1, 1), (7, 1), (8, 2), (11, 2), (64, 16)])
def test_jobs_get_processors_by_sessions(processors: int, threads: int) -> None:
    """Of four sessions, each job gets a fourth, at least one; a number that was given stays."""
    plan = plan_of(RunSpec(workload="nano", nodes=NodesSpec(cluster="here"), options=AUTOMATIC))
    assert {job.options.cpucount for job in plan.jobs()} == {AUTO}
    assert 'cpucount = "auto"' in plan_toml(plan), "a plan of 0 threads would be refused"
    known = with_threads(plan, processors)
    assert {job.options.cpucount for job in known.jobs()} == {known.options.cpucount} == {threads}
    given = msgspec.structs.replace(plan, options=Options(cpucount=3))
    assert with_threads(given, processors).options.cpucount == 3
    assert with_threads(msgspec.structs.replace(plan, sessions=()), 6).options.cpucount == 6


def test_a_plan_for_this_machine_says_the_number() -> None:
    spec = RunSpec(workload="nano", cores="1", options=AUTOMATIC)
    assert {job.options.cpucount for job in plan_of(spec).jobs()} == {1}
    assert as_command(spec)[-2:] == ["--option", "cpucount=auto"]


WORKLOAD = """name = "shop"
scale = 0.0001
[commands.load]
command = ["load"]
environment = {{ {values} }}
{more}
[[sessions]]
name = "s"
stages = [["load", "load"], ["segmentation"]]
"""


def write(place: Path, values: str = 'TOKEN = "S3CRET", PLACE = "{work}/x"', more: str = "") -> RunSpec:
    path = place / "shop.toml"
    path.write_text(WORKLOAD.format(values=values, more=more))
    return RunSpec(workload=str(path))


def values_of(plan: Plan) -> set[tuple[tuple[str, str | None], ...]]:
    return {job.command.environment for job in plan.jobs() if job.command is not None}


def stored(place: Path, spec: RunSpec, name: str = "plan.toml", key: bytes | None = b"k") -> RunSpec:
    path = place / name
    path.write_text(plan_toml(plan_of(spec), spec, key=key))
    return RunSpec(workload=str(path))


def test_a_stored_plan_has_names_and_a_digest_that_the_key_of_its_library_decides(tmp_path: Path) -> None:
    spec = write(tmp_path)
    again = stored(tmp_path, spec)
    text = Path(again.workload).read_text()
    assert "TOKEN" in text and "S3CRET" not in text and "{work}/x" not in text
    same, other = (plan_toml(plan_of(spec), spec, key=key) for key in (b"k", b"other"))
    assert same == text and other != text
    changed = plan_toml(plan_of(write(tmp_path, 'TOKEN = "other", PLACE = "{work}/x"')), spec, key=b"k")
    assert changed != text


def test_the_values_come_from_the_workload_file_then_from_the_environment(tmp_path: Path) -> None:
    spec = write(tmp_path)
    again = stored(tmp_path, spec)
    whole = values_of(plan_of(spec))
    assert values_of(with_values(plan_of(again), again.workload, {})) == whole
    twice = stored(tmp_path, again, "twice.toml", key=None)
    assert values_of(with_values(plan_of(twice), twice.workload, {})) == whole
    Path(spec.workload).unlink()
    with pytest.raises(UsageError, match="the values of the variables TOKEN, PLACE are missing"):
        with_values(plan_of(again), again.workload, {})
    with pytest.raises(UsageError, match="variables PLACE are"):
        with_values(plan_of(again), again.workload, {"TOKEN": "x"})
    given = values_of(with_values(plan_of(again), again.workload, {"TOKEN": "x", "PLACE": "a{b}"}))
    assert given == {(("TOKEN", "x"), ("PLACE", "a{{b}}"))}, "a brace of a value is no placeholder"


def test_a_plan_for_a_node_has_the_names_alone(tmp_path: Path) -> None:
    plan = plan_of(write(tmp_path))
    assert values_of(without_values(plan)) == {(("TOKEN", None), ("PLACE", None))}
    assert with_values(plan, "", {}) == plan


def test_a_workload_file_may_name_variables_whose_values_it_does_not_hold(tmp_path: Path) -> None:
    spec = write(tmp_path, more='environment_names = ["TOKEN", "KEY"]')
    filled = with_values(plan_of(spec), spec.workload, {"TOKEN": "unused", "KEY": "k"})
    assert values_of(filled) == {(("TOKEN", "S3CRET"), ("PLACE", "{work}/x"), ("KEY", "k"))}
    spec = write(tmp_path, more='environment_names = ["MAWL_X"]')
    with pytest.raises(InvalidFileError, match="names of variables that are not mawl's own"):
        plan_of(spec)


def test_the_key_of_a_library_is_made_once_and_is_its_owners(tmp_path: Path) -> None:
    key = library_key(tmp_path / "runs")
    assert len(key) == 32 and library_key(tmp_path / "runs") == key
    (file,) = (tmp_path / "runs").iterdir()
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_run_folder_says_which_variables_its_commands_had_and_under_which_key(tmp_path: Path) -> None:
    runs, spec = tmp_path / "runs", write(tmp_path)
    folder = runs / "campaign" / "001-run"
    folder.mkdir(parents=True)
    assert stored_environments(folder) == {}
    key = library_key(runs)
    stored(folder, spec, key=key)
    found = stored_environments(folder)
    assert set(found) == {"s.1.load", "s.1.load-2"}
    (one,) = set(found.values())
    assert one.names == ("TOKEN", "PLACE") and one.digest and one.library
    (runs / ".mawl-key").unlink()
    assert stored_environments(folder)["s.1.load"].library is None
    (folder / "plan.toml").write_text("environment_names = [")
    assert stored_environments(folder) == {}
