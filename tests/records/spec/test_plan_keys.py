"""``[run]`` of a plan: a spec written there is read again whole, and settings count only for the rest."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from mawl.base.errors import InvalidFileError, UsageError
from mawl.commands.arguments import spec_of_arguments
from mawl.plan.output import plan_toml
from mawl.plan.run_plan import plan_of
from mawl.plan.workload import load_workload
from mawl.records.spec.run_spec import RunSpec
from tests.fakes.command_line import call, parsed
from tests.records.spec.test_record import EVERYTHING


def taken(*words: str) -> RunSpec:
    """What ``mawl run`` makes of a command line."""
    return spec_of_arguments(parsed("run", *words))


@pytest.fixture
def plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    spec = msgspec.structs.replace(EVERYTHING, workload="nano", scale=None)
    (tmp_path / "plan.toml").write_text(plan_toml(plan_of(spec), spec))
    return tmp_path / "plan.toml"


def test_a_plan_asks_what_its_run_was_asked(plan: Path) -> None:
    found = taken(str(plan))
    here = plan.parent
    wanted = msgspec.structs.replace(
        EVERYTHING,
        workload=str(plan),
        data=(str(here / "d1"), str(here / "d2")),
        work=(str(here / "w"),),
        util=(str(here / "u"),),
        probe=str(here / "p.json"),
        reference=str(here / "own.toml"),
    )
    # Where results go is of each run; seed, saving and options of the programs the plan holds itself.
    own = ("runs", "output", "html", "scale", "seed", "saving", "options")
    kept = {field: getattr(RunSpec(), field) for field in own}
    assert found == msgspec.structs.replace(wanted, **kept)
    assert (plan_of(found).seed, plan_of(found).saving) == (EVERYTHING.seed, EVERYTHING.saving)


def test_settings_count_only_for_what_no_plan_holds(plan: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (plan.parent / "bare.toml").write_text(plan_toml(plan_of(RunSpec(workload="nano")), RunSpec()))
    monkeypatch.setenv("MAWL_CORES", "1")
    monkeypatch.setenv("MAWL_RUNS", "elsewhere")
    found = taken("bare.toml")
    assert (found.cores, found.runs) == (None, "elsewhere")
    assert taken("bare.toml", "--cores", "2").cores == "2"
    assert taken("nano").cores == "1"


@pytest.mark.parametrize(
    ("line", "kind", "sentence"),
    [
        ("cach = 'none'", InvalidFileError, "plan.toml: key run.cach: unknown, expected one of data, work"),
        (
            "cache = 'hot'",
            InvalidFileError,
            "plan.toml: key run.cache: expected one of cold, none, warm, found 'hot'",
        ),
        ("memory_limit = 'much'", InvalidFileError, "plan.toml: run: key memory_limit: expected a size"),
        ("drop_caches = true", UsageError, "--drop-caches goes with --cache cold"),
    ],
)
def test_what_is_wrong_there_is_refused_with_its_key(
    line: str, kind: type[UsageError], sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    jobs = '[[sessions]]\nname = "a"\nstages = [["segmentation"]]\n'
    (tmp_path / "plan.toml").write_text(f'name = "one"\n[run]\n{line}\n{jobs}')
    with pytest.raises(kind) as error:
        taken("plan.toml")
    assert sentence in str(error.value)


def test_plan_writes_what_it_was_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["plan", "nano", "--cache", "none", "--work", "fast", "--output", "made.toml"]
    assert call(*words) == 0
    spec, _ = load_workload("made.toml")
    assert spec.run is not None
    found = taken("made.toml")
    assert (found.cache, found.work, found.output) == ("none", (str(tmp_path / "fast"),), None)
