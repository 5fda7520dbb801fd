"""Arguments of a run on several nodes that do not go together, and what a collection refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from mawl.base.errors import UsageError
from mawl.commands.cluster_run import check_reach
from mawl.records.spec.run_spec import NodesSpec
from tests.fakes.command_line import Verbs
from tests.fakes.stored_run import facts, write_run


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--on", "a=nano"], "--on goes with --cluster or --ssh"),
        (["--node-timeout", "10"], "--node-timeout goes with --cluster or --ssh"),
        (["--cluster", "tcp://x:1", "--ssh", "a"], "--cluster and --ssh do not go together"),
        (["--cluster", "tcp://x:1", "--solo"], "--solo does not go with a run on several nodes"),
        (["--cluster", "tcp://x:1", "--ssh-config", "x"], "--ssh-config goes with --ssh"),
        (
            ["--ssh", "a", "--tls-ca", "x"],
            "--tls-ca goes with --cluster; ssh itself encrypts what --ssh sends",
        ),
        (["--ssh", "a", "--insecure"], "--insecure goes with --cluster"),
        (["--insecure"], "--insecure goes with --cluster;"),
        (["--ssh-config", "x"], "--ssh-config goes with --ssh;"),
        (["--cluster", "tcp://x:1"], "tcp://x:1: this scheduler has no encryption, so anyone who reaches it"),
        (["--cluster", "tcp://x:1", "--remote-python", "x"], "--remote-python goes with --ssh"),
        (["--cluster", "tcp://x:1", "--on", "nano"], "--on nano: expected NODE=WORKLOAD"),
        (["--cluster", "tcp://x:1", "--on", "a=nano", "--on", "a=bed"], "--on names a twice"),
        (["--cluster", "tcp://127.0.0.1:9", "--on", "a=none"], "no workload is called 'none'"),
        (["--cluster", "tcp://x:1", "--tls-ca", "ca.pem"], "TLS needs three files"),
        (["--cluster", "tcp://127.0.0.1:9", "--timeout", "-1"], "--timeout -1: expected a number of seconds"),
        (["--cluster", "tcp://127.0.0.1:9", "--node-timeout", "1"], "--node-timeout 1: expected a number"),
        (["--ssh", "a,a"], "--ssh names a twice"),
        (["--ssh", ","], "--ssh names no host"),
    ],
)
def test_what_does_not_go_together_is_refused(
    arguments: list[str],
    sentence: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    verbs: Verbs,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert sentence in verbs.err("run", "nano", *arguments, status=2)
    assert not list(tmp_path.iterdir())


BEYOND = ["tcp://x:1", "x:1", "tcp://10.0.0.1:8786", "tcp://[::2]:1", "tcp://127.0.0.1.evil.org:1"]
HERE = ["tcp://127.0.0.1:1", "127.1.2.3:1", "tcp://[::1]:1", "localhost:1"]


@pytest.mark.parametrize(
    ("address", "insecure", "said"),
    [
        *((address, False, "refused") for address in BEYOND),
        *((address, True, "anyone who reaches it can run code on all nodes") for address in BEYOND),
        *((address, False, "such as every user here, can run code on all nodes") for address in HERE),
        ("tls://x:1", False, ""),
    ],
)
def test_a_scheduler_without_encryption_is_refused_beyond_this_machine_and_else_warned_of(
    capsys: pytest.CaptureFixture[str], address: str, insecure: bool, said: str
) -> None:
    nodes = NodesSpec(cluster=address, insecure=insecure)
    if said == "refused":
        with pytest.raises(UsageError, match=r"no encryption, so anyone .*; --insecure is for a network"):
            check_reach(nodes)
    else:
        check_reach(nodes)
        warning = capsys.readouterr().err
        assert said in warning and bool(warning) is bool(said)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--from", "node2"], "--from node2: expected NODE=DIR, such as node2=copy"),
        (["--from", "=copy"], "--from =copy: expected NODE=DIR, such as node2=copy"),
        (["--from", "n=a", "--from", "n=b"], "--from names n twice"),
        (["--from", "n=a"], "the run has no node n; it has run on one machine"),
    ],
)
def test_a_collection_of_what_the_run_does_not_have_is_refused(
    arguments: list[str], sentence: str, tmp_path: Path, verbs: Verbs
) -> None:
    write_run(tmp_path / "run").finish(facts())
    assert sentence in verbs.err("collect", str(tmp_path / "run"), *arguments, status=2)
    assert verbs.out("collect", str(tmp_path / "run")) == "nothing was collected\n"
