"""A directory of runs, and the pages over it in the test's own process."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from mawl.commands.server.application import create_app
from tests.fakes.served_runs import Made


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    place = tmp_path / "runs"
    place.mkdir()
    return place


@pytest.fixture
def made() -> Made:
    return Made()


@pytest.fixture
def client(runs: Path, made: Made) -> Iterator[TestClient]:
    app = create_app(runs, made.renderers(), failed=made.failures.append)
    with TestClient(app, base_url="http://127.0.0.1:6295") as visitor:
        yield visitor
    assert made.failures == []
