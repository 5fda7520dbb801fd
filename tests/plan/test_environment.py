"""Values of variables of commands: in the workload file alone, and found again when they are needed."""

from __future__ import annotations

from pathlib import Path

import pytest

from mawl.base.errors import InvalidFileError, UsageError
from mawl.plan.environment import stored_environments, with_values, without_values
from mawl.plan.output import plan_toml
from mawl.plan.run_plan import plan_of
from mawl.plan.workload import Plan
from mawl.records.spec.run_spec import RunSpec
from mawl.records.store.files import library_key

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
