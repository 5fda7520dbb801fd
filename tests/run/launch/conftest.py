"""Launchers over stand-in programs."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from mawl.records.model.messages import LaunchMode
from mawl.run.launch.client import Launcher
from tests.fakes.launcher_bench import Bench

FAKES = Path(__file__).parents[2] / "fakes"


@pytest.fixture
def benches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Bench]]:
    """Makes launchers that are closed at the end of the test."""
    monkeypatch.setenv("PYTHONPATH", str(FAKES), prepend=os.pathsep)
    made: list[Launcher] = []

    def make(
        mode: LaunchMode = "zygote",
        modules: tuple[str, ...] = (),
        cgroups: Sequence[Path] = (),
        run_id: str | None = None,
    ) -> Bench:
        launcher = Launcher(
            mode,
            run_id=run_id or tmp_path.name,
            modules=modules,
            log=tmp_path / "launcher.log",
            cgroups=cgroups,
            execute="job_programs:execute",
        )
        made.append(launcher)
        return Bench(launcher, tmp_path)

    yield make
    for launcher in made:
        launcher.close()
