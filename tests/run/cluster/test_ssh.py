"""Hosts, their names, and the command line for the other side."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from mawl.base.errors import UnsuitableMachineError, UsageError
from mawl.run.cluster.dask_run import address_towards, node_names, ssh_command, worker_command
from tests import needs

SHELLS = [shell for shell in ("sh", "bash", "zsh", "tcsh", "fish") if shutil.which(shell)]


def test_a_node_is_called_like_its_host() -> None:
    assert node_names(["me@alpha", "beta"]) == {"alpha": "me@alpha", "beta": "beta"}


@pytest.mark.parametrize(
    ("hosts", "sentence"),
    [(["a", "me@a"], "names a twice"), (["-oProxyCommand=x"], "is no host"), (["me@"], "is no host")],
)
def test_hosts_that_are_none_are_refused(hosts: list[str], sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        node_names(hosts)


def test_what_a_user_named_reaches_the_remote_shell_as_one_word() -> None:
    command = worker_command(
        "a b", "tcp://10.0.0.1:1", "/opt/my python", {"distributed.worker.x-y": "1s"}, []
    )
    assert shlex.split(command)[:3] == ["exec", "sh", "-c"]
    first, _, rest = shlex.split(command)[3].partition("; ")
    words = shlex.split(rest)
    assert first == "set -- $SSH_CONNECTION" and words[:2] == ["exec", "env"]
    assert "DASK_DISTRIBUTED__WORKER__X_Y=1s" in words and "/opt/my python" in words and "a b" in words
    assert words[words.index("--dashboard-address") + 1].startswith("127.0.0.1:")
    assert rest.endswith('--host "$3"')


@pytest.mark.parametrize("shell", SHELLS)
def test_whatever_the_shell_there_the_worker_gets_the_address_that_ssh_came_in_by(
    shell: str, tmp_path: Path
) -> None:
    python = tmp_path / "a 'b' $c"
    python.write_text('#!/bin/sh\nfor word; do echo "$word"; done\n')
    python.chmod(0o755)
    command = worker_command("alpha", "tcp://10.0.0.1:1", str(python), {}, [])
    environment = {**os.environ, "SSH_CONNECTION": "10.0.0.1 4000 10.0.0.11 22"}
    done = subprocess.run([shell, "-c", command], env=environment, capture_output=True, text=True)
    assert done.stdout.splitlines()[-2:] == ["--host", "10.0.0.11"], done.stderr


@needs.marks(needs.program("ssh"))
def test_the_address_on_the_way_to_this_machine_is_its_loopback(tmp_path: Path) -> None:
    config = tmp_path / "config"
    config.write_text("Host alpha\n  HostName 127.0.0.1\n")
    assert address_towards("me@127.0.0.1", str(config)) == "127.0.0.1"
    assert address_towards("alpha", str(config)) == "127.0.0.1"
    with pytest.raises(UnsuitableMachineError, match=r"ssh does not say how it reaches alpha .*No such file"):
        address_towards("alpha", str(tmp_path / "none"))


@needs.marks(needs.program("ssh"))
def test_the_time_to_connect_is_the_configurations_where_it_names_one(tmp_path: Path) -> None:
    config = tmp_path / "config"
    config.write_text("Host patient\n  ConnectTimeout 50\n")
    start = [str(shutil.which("ssh")), "-F", str(config), "-o", "BatchMode=yes"]
    assert ssh_command("me@patient", str(config)) == [*start, "--", "me@patient"]
    assert ssh_command("alpha", str(config)) == [*start, "-o", "ConnectTimeout=30", "--", "alpha"]
