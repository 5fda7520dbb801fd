"""A real Prometheus scrapes ``mawl serve``, evaluates the rules and answers every query of the dashboard."""

from __future__ import annotations

import contextlib
import json
import re
import shutil
import socket
import subprocess
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import needs
from tests.cli.conftest import Command
from tests.reports.test_dashboard import DASHBOARD

pytestmark = [
    pytest.mark.lab,
    needs.marks(needs.program("prometheus")),
]

PATIENCE_SECONDS = 60
RULES = Path(__file__).resolve().parents[2] / "examples" / "grafana" / "rules.yml"
CONFIGURATION = """
global: {{scrape_interval: 1s, evaluation_interval: 1s}}
rule_files: [{rules}]
scrape_configs: [{{job_name: mawl, static_configs: [{{targets: ["{target}"]}}]}}]
"""


class PrometheusServer:
    """The HTTP interface of a Prometheus of ours."""

    def __init__(self, port: int) -> None:
        self.address = f"127.0.0.1:{port}"

    def ask(self, path: str, **parameters: str) -> Any:
        """The data of an answer; a failed one raises with Prometheus' own words."""
        url = f"http://{self.address}/api/v1/{path}?{urllib.parse.urlencode(parameters)}"
        with urllib.request.urlopen(url, timeout=10) as answer:
            told = json.load(answer)
        assert told["status"] == "success", told
        return told["data"]

    def values(self, expression: str) -> list[dict[str, Any]]:
        """The samples of an expression now."""
        found: list[dict[str, Any]] = self.ask("query", query=expression)["result"]
        return found

    def wait_for(self, expression: str) -> None:
        """Until an expression has a value."""
        ends = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < ends:
            with contextlib.suppress(OSError):
                if self.values(expression):
                    return
            time.sleep(0.2)
        pytest.fail(f"Prometheus has no value of {expression}")


@pytest.fixture
def metrics(mawl: Command, nano_run: Path) -> str:
    """What mawl exports of a run, which the server also has."""
    shutil.copytree(nano_run, mawl.directory / "runs" / "nano-1")
    done = mawl.ok("report", "nano-1", "--format", "openmetrics")
    return done.stdout


@pytest.fixture
def prometheus(mawl: Command, metrics: str) -> Iterator[PrometheusServer]:
    server = mawl.start("serve", "--port", "0")
    assert server.stdout is not None
    target = server.stdout.readline().split()[0].removeprefix("http://").rstrip("/")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        found = PrometheusServer(free.getsockname()[1])
    (mawl.directory / "prometheus.yml").write_text(CONFIGURATION.format(rules=RULES, target=target))
    store = str(mawl.directory / "store")
    words = [
        "--config.file=prometheus.yml",
        f"--web.listen-address={found.address}",
        f"--storage.tsdb.path={store}",
    ]
    with open(mawl.directory / "prometheus.log", "w") as log:
        process = subprocess.Popen(["prometheus", *words], cwd=mawl.directory, stdout=log, stderr=log)
        try:
            found.wait_for("mawl_run_info")
            yield found
        finally:
            for each in (process, server):
                each.terminate()
                each.wait(timeout=30)


def queries() -> Iterator[tuple[str, str]]:
    """Expression and legend of each query of the dashboard, for all runs."""
    for panel in json.loads(DASHBOARD.read_text())["panels"]:
        for target in panel["targets"]:
            yield target["expr"].replace("$run", ".*"), target["legendFormat"]


def test_every_query_of_the_dashboard_has_the_values_that_the_run_has(
    prometheus: PrometheusServer, metrics: str
) -> None:
    exported = set(re.findall(r"^(mawl_\w+)[ {]", metrics, re.MULTILINE))
    answered = 0
    for expression, legend in queries():
        name = re.match(r"\w+", expression)
        assert name is not None
        found = prometheus.values(expression)
        lines = [line for line in metrics.splitlines() if line.startswith(f"{name[0]}{{")]
        statistic = re.search(r'statistic="\w+"', expression)
        wanted = [line for line in lines if statistic is None or statistic[0] in line]
        assert len(found) == len(wanted), expression
        for sample in found:
            assert set(re.findall(r"{{(\w+)}}", legend)) <= set(sample["metric"]), expression
        answered += bool(found)
    assert answered > 10 and "mawl_run_info" in exported


def test_the_choice_of_runs_lists_the_run(prometheus: PrometheusServer, metrics: str) -> None:
    (run_id,) = set(re.findall(r'run_id="([^"]+)"', metrics))
    assert prometheus.ask("label/run_id/values", **{"match[]": "mawl_run_info"}) == [run_id]


def test_the_target_is_up_and_the_rules_are_evaluated(prometheus: PrometheusServer) -> None:
    (target,) = prometheus.ask("targets")["activeTargets"]
    assert (target["health"], target["lastError"]) == ("up", "")
    ends = time.monotonic() + PATIENCE_SECONDS
    while True:
        (group,) = prometheus.ask("rules")["groups"]
        if all(rule["health"] == "ok" for rule in group["rules"]) or time.monotonic() > ends:
            break
        time.sleep(0.5)
    assert {rule["health"] for rule in group["rules"]} == {"ok"}
