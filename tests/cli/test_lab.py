"""``mawl lab`` refuses what cannot be run before it builds anything."""

from __future__ import annotations

import pytest

from tests.cli.conftest import Command


@pytest.mark.parametrize(
    ("arguments", "said"), [(("--scale", "foo"), "foo"), (("--workload", "nosuch"), "nosuch")]
)
def test_a_wrong_scale_or_workload_is_refused_before_a_bed_is_built(
    mawl: Command, arguments: tuple[str, str], said: str
) -> None:
    state = mawl.directory / "state"
    done = mawl("lab", "run", "hybrid", *arguments, MAWL_LAB_STATE=str(state))
    assert done.returncode == 2
    assert said in done.stderr and done.stderr.count("\n") == 1
    assert not state.exists() and not (mawl.directory / "runs").exists()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("../../x", "a bed's name is"),
        ("", "the argument BED is empty"),
        ("trial.1", "a bed's name is"),
        ("x" * 300, "a bed's name is"),
    ],
)
def test_down_refuses_what_is_no_name_of_a_bed_and_touches_nothing(
    mawl: Command, name: str, said: str
) -> None:
    state = mawl.directory / "state"
    done = mawl("lab", "down", name, MAWL_LAB_STATE=str(state))
    assert done.returncode == 2
    assert done.stderr.startswith(f"mawl lab: {said}") and done.stderr.count("\n") == 1
    assert not state.exists()
