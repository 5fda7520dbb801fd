"""Every dimension of a search changes what a run is given, and its run is given just that."""

from __future__ import annotations

from pathlib import Path

import pytest

from mawl.commands.arguments import spec_of_arguments
from mawl.records.spec.program_options import ROLES
from mawl.tuning.search.space import NAMES, checked_space, effect_of, setup_of, with_setup
from tests.fakes.command_line import parsed

BASELINE = (
    "mixed20",
    "--scale",
    "standard",
    "--work",
    "w1",
    "w2",
    "--util",
    "u1",
    "u2",
    "--data",
    "d1",
    "d2",
)
VALUES = {
    "memsize": "4GiB",
    "sortsize": "64KiB",
    "bufsize": "1MiB",
    "cpucount": "2",
    "sessions": "8",
    "data_volumes": "1",
    "work_volumes": "1",
    "util_volumes": "1",
    "volume_order": "free-space",
    "data": "compressed",
    "work": "w1:w2:w3",
    "util": "blocks-of-64k",
}


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("name", NAMES)
def test_a_run_of_a_dimension_is_given_its_value(name: str) -> None:
    search = parsed("tune", "search", *BASELINE, "--dimension", f"{name}={VALUES[name]}")
    baseline = spec_of_arguments(search)
    space, unchanged, directories = checked_space(search, baseline, "sustained")
    assert unchanged == {name: []}
    (point,) = space.points()
    setup = setup_of(point, {role: directories[role] for role in ROLES})
    assert effect_of(with_setup(baseline, setup)) != effect_of(baseline)
    assert with_setup(baseline, setup_of({}, {})) == baseline == spec_of_arguments(parsed("run", *BASELINE))


def test_of_values_that_are_the_same_at_the_scale_one_is_tried() -> None:
    search = parsed(
        "tune", "search", *BASELINE, "--dimension", "sortsize=1MiB..1GiB", "--dimension", "cpucount=1,2"
    )
    search.scale = "smoke"
    space, unchanged, _ = checked_space(search, spec_of_arguments(search), "response-time")
    assert space.dimensions == {"sortsize": ["1MiB", "2MiB", "4MiB", "1GiB"], "cpucount": [1, 2]}
    assert unchanged == {"sortsize": ["4MiB"], "cpucount": [1]}
