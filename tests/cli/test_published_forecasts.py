"""``mawl simulate --published``: no run goes with it.  Its JSON is checked in ``test_schema.py``."""

from __future__ import annotations

from tests.cli.conftest import Command


def test_a_run_or_a_change_does_not_go_with_published_systems(mawl: Command) -> None:
    for given, word in (("--nodes=2", "--nodes"), ("--set=cores=2", "--set"), ("somewhere", "RUN")):
        done = mawl("simulate", "--published", given)
        assert done.returncode == 2
        assert f"--published does not go with {word}" in done.stderr
