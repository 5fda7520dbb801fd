"""``mawl simulate --published``: the JSON has the defined names, and no run goes with it."""

from __future__ import annotations

import json

from mawl.whatif.metrics import PUBLISHED_FORECAST_METRICS
from tests.cli.conftest import Command


def test_every_name_of_the_json_is_defined_and_every_definition_is_there(mawl: Command) -> None:
    done = mawl("simulate", "--published", "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    held = {f"{part}.*.{name}" for part in ("rows", "pairs", "scores") for row in told[part] for name in row}
    held |= {f"fitted.{name}" for name in told["fitted"]}
    assert held == {metric.name for metric in PUBLISHED_FORECAST_METRICS}
    assert len(told["fitted"]["values"]) <= 6


def test_a_run_or_a_change_does_not_go_with_published_systems(mawl: Command) -> None:
    for given, word in (("--nodes=2", "--nodes"), ("--set=cores=2", "--set"), ("somewhere", "RUN")):
        done = mawl("simulate", "--published", given)
        assert done.returncode == 2
        assert f"--published does not go with {word}" in done.stderr
