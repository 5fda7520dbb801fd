"""Hosts, their names, and the command line for the other side."""

from __future__ import annotations

import shlex

import pytest

from mawl.cluster.ssh import address_towards, names_of, worker_command
from mawl.errors import UsageError


def test_a_node_is_called_like_its_host() -> None:
    assert names_of(["me@alpha", "beta"]) == {"alpha": "me@alpha", "beta": "beta"}


@pytest.mark.parametrize(
    ("hosts", "sentence"),
    [(["a", "me@a"], "names a twice"), (["-oProxyCommand=x"], "is no host"), (["me@"], "is no host")],
)
def test_hosts_that_are_none_are_refused(hosts: list[str], sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        names_of(hosts)


def test_what_a_user_named_reaches_the_remote_shell_as_one_word() -> None:
    command = worker_command(
        "a b", "tcp://10.0.0.1:1", "/opt/my python", {"distributed.worker.x-y": "1s"}, []
    )
    first, _, rest = command.partition("; ")
    words = shlex.split(rest)
    assert first == "set -- $SSH_CONNECTION" and words[:2] == ["exec", "env"]
    assert "DASK_DISTRIBUTED__WORKER__X_Y=1s" in words and "/opt/my python" in words and "a b" in words
    assert rest.endswith('--host "$3"')


def test_the_address_on_the_way_to_this_machine_is_its_loopback() -> None:
    assert address_towards("me@127.0.0.1") == "127.0.0.1"
