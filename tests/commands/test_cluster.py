"""Arguments of a run on several nodes that do not go together, each with its sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from mawl.commands.cluster_run import warn_unencrypted
from mawl.commands.main import main
from mawl.records.spec.run_spec import NodesSpec
from mawl.run.cluster.dask_run import NodeAccess


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--on", "a=nano"], "--on goes with --cluster or --ssh"),
        (["--node-timeout", "10"], "--node-timeout goes with --cluster or --ssh"),
        (["--cluster", "tcp://x:1", "--ssh", "a"], "--cluster and --ssh do not go together"),
        (["--cluster", "tcp://x:1", "--solo"], "--solo does not go with a run on several nodes"),
        (["--cluster", "tcp://x:1", "--dry-run"], "--dry-run does not go with a run on several nodes"),
        (["--cluster", "tcp://x:1", "--ssh-config", "x"], "--ssh-config goes with --ssh"),
        (["--cluster", "tcp://x:1", "--listen", "x"], "--listen goes with --ssh"),
        (["--cluster", "tcp://x:1", "--remote-python", "x"], "--remote-python goes with --ssh"),
        (["--cluster", "tcp://x:1", "--on", "nano"], "--on nano: expected NODE=WORKLOAD"),
        (["--cluster", "tcp://x:1", "--on", "a=nano", "--on", "a=bed"], "--on names a twice"),
        (["--cluster", "tcp://x:1", "--on", "a=none"], "no workload is called 'none'"),
        (["--cluster", "tcp://x:1", "--tls-ca", "ca.pem"], "TLS needs three files"),
        (["--cluster", "tcp://127.0.0.1:9", "--timeout", "-1"], "--timeout -1: expected a number of seconds"),
        (["--cluster", "tcp://127.0.0.1:9", "--node-timeout", "1"], "--node-timeout 1: expected a number"),
        (["--ssh", "a,a", "--listen", "127.0.0.1"], "--ssh names a twice"),
        (["--ssh", ",", "--listen", "127.0.0.1"], "--ssh names no host"),
    ],
)
def test_what_does_not_go_together_is_refused(
    arguments: list[str],
    sentence: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["run", "nano", *arguments]) == 2
    assert sentence in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("address", "warned"), [("tcp://x:1", True), ("x:1", True), ("tls://x:1", False)])
def test_who_reaches_a_scheduler_without_encryption_runs_code_on_all_nodes_and_that_is_said(
    capsys: pytest.CaptureFixture[str], address: str, warned: bool
) -> None:
    nodes = NodesSpec(cluster=address)
    warn_unencrypted(nodes)
    assert NodeAccess.of(nodes).address == address
    assert ("anyone who reaches it can run code on all nodes" in capsys.readouterr().err) is warned
