"""What is refused before any page is asked."""

from __future__ import annotations

from pathlib import Path

import pytest
from starlette.testclient import TestClient

from mawl.commands.server.application import create_app
from mawl.commands.server.guard import LONGEST_TARGET_BYTES, POLICY, policy_of
from tests.fakes.served_runs import Made, finished


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "PROPFIND"])
@pytest.mark.parametrize("address", ["/", "/runs/one", "/nowhere"])
def test_nothing_is_written(runs: Path, client: TestClient, method: str, address: str) -> None:
    finished(runs, "one")
    answer = client.request(method, address)
    assert answer.status_code == 405
    assert answer.headers["allow"] == "GET, HEAD"


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "127.0.0.1:6295", "localhost:1", "LOCALHOST", "[::1]:80", "10.1.2.3:6295", "my-host"],
)
def test_it_answers_to_its_own_names_and_to_addresses(runs: Path, host: str) -> None:
    app = create_app(runs, Made().renderers(), names=["My-Host"], failed=print)
    with TestClient(app, base_url="http://localhost") as visitor:
        assert visitor.get("/", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    [
        "attacker.example",
        "localhost.attacker.example",
        "127.0.0.1.example:6295",
        "",
        "a b",
        "[::1",
        "my-host",
    ],
)
def test_a_name_pointed_here_by_others_is_refused(client: TestClient, host: str) -> None:
    answer = client.get("/", headers={"host": host})
    assert answer.status_code == 400


def test_a_long_address_and_a_body_are_refused(client: TestClient) -> None:
    assert client.get("/?q=" + "a" * LONGEST_TARGET_BYTES).status_code == 414
    assert client.get("/" + "a" * LONGEST_TARGET_BYTES).status_code == 414
    assert client.request("GET", "/", content=b"x").status_code == 413
    assert client.request("GET", "/", content=iter([b"x"])).status_code == 413


def test_a_page_that_states_no_policy_may_run_nothing() -> None:
    assert policy_of("<html><title>x</title></html>") == POLICY
    late = '<title>x</title><meta http-equiv="Content-Security-Policy" content="script-src *">'
    assert policy_of(late) == POLICY
