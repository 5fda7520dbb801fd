"""Hosts and their names, the command line for the other side, and the link to an agent there."""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest

from mawl.base.errors import InterruptedRunError, MawlError, UnsuitableMachineError, UsageError
from mawl.run.cluster import ssh_link
from mawl.run.cluster.agent import HELLO, Answer, Question, framed
from mawl.run.cluster.link import NoAnswerError, NodeGoneError
from mawl.run.cluster.ssh_link import agent_command, agents_over_ssh, look_command, node_names, ssh_command
from tests import needs
from tests.fakes.processes import agents, ssh_here
from tests.run.cluster.test_dask import mawl, newest

AGENT = f"printf '{HELLO.decode().strip()}\\n'"
"""A script that begins as an agent does."""
LOOK = '[ "$last" = true ] && exit 0\n'
"""And before it: a host that can be reached."""
SHELLS = [shell for shell in ("sh", "bash", "zsh", "tcsh", "fish") if shutil.which(shell)]


def test_a_node_is_called_like_its_host() -> None:
    assert node_names(["me@alpha", "beta"]) == {"alpha": "me@alpha", "beta": "beta"}


@pytest.mark.parametrize(
    ("hosts", "sentence"),
    [
        (["a", "me@a"], "names a twice"),
        (["-oProxyCommand=x"], "is no host"),
        (["me@"], "is no host"),
        (["ssh://a"], "is no host"),
    ],
)
def test_hosts_that_are_none_are_refused(hosts: list[str], sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        node_names(hosts)


def test_what_a_user_named_reaches_the_remote_shell_as_one_word() -> None:
    words = shlex.split(agent_command("a b", "/opt/my python"))
    assert words == ["exec", "env", "/opt/my python", "-P", "-m", "mawl.run.cluster", "agent", "a b"]


@pytest.mark.parametrize("shell", SHELLS)
def test_whatever_the_shell_there_it_starts_the_python_that_was_named(shell: str, tmp_path: Path) -> None:
    python = tmp_path / "a 'b' $c"
    python.write_text('#!/bin/sh\nfor word; do echo "$word"; done\n')
    python.chmod(0o755)
    command = agent_command("alpha", str(python))
    done = subprocess.run([shell, "-c", command], capture_output=True, text=True)
    assert done.stdout.splitlines()[-2:] == ["agent", "alpha"], done.stderr


@needs.marks(needs.program("ssh"))
def test_the_time_to_connect_is_the_configurations_where_it_names_one(tmp_path: Path) -> None:
    config = tmp_path / "config"
    config.write_text("Host patient\n  ConnectTimeout 50\n")
    start = [str(shutil.which("ssh")), "-F", str(config), "-o", "BatchMode=yes"]
    assert ssh_command("me@patient", str(config)) == [*start, "--", "me@patient"]
    assert ssh_command("alpha", str(config)) == [*start, "-o", "ConnectTimeout=30", "--", "alpha"]


def ask(function: str, *arguments: Any, seconds: float = 20.0, begin_seconds: float = 30.0) -> Any:
    """The answer of an agent at the other end of what is called ssh."""

    async def asked() -> Any:
        async with agents_over_ssh({"alpha": "alpha"}, sys.executable, None, seconds=begin_seconds) as link:
            return await link.ask("alpha", function, *arguments, seconds=seconds)

    return asyncio.run(asked())


@pytest.mark.parametrize(
    "before", ["", "echo welcome to alpha, mawl agent", "head -c 60000 /dev/zero | tr '\\0' x"]
)
def test_an_agent_answers_whatever_a_login_shell_printed_before(
    before: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", ssh_here(tmp_path, f'{before}\nexec sh -c "$last"')["PATH"])
    assert ask("clock") == pytest.approx(time.time(), abs=60.0)
    with pytest.raises(MawlError, match=r"^alpha: the agent failed: KeyError: 'none'$"):
        ask("keep", "none", [], 0, {})
    with pytest.raises(MawlError, match=r"^alpha: the agent failed: KeyError: '_read'$"):
        ask("_read", "/etc/passwd", 0)


@pytest.mark.parametrize(
    ("script", "sentence"),
    [
        (
            "echo alpha: no such host >&2; exit 255",
            r"started over ssh \(exit status 255\): alpha: no such host;",
        ),
        ("yes", r"started over ssh"),
        ("sleep 60", r"^mawl did not begin there within 1 s;"),
    ],
)
def test_what_is_no_agent_is_said(
    script: str, sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", ssh_here(tmp_path, f"exec sh -c '{script}'")["PATH"])
    monkeypatch.setattr(ssh_link, "END_SECONDS", 0.1)
    with pytest.raises(UnsuitableMachineError, match=sentence):
        ask("clock", begin_seconds=1.0 if script == "sleep 60" else 60.0)


@pytest.mark.parametrize(
    ("said", "error", "sentence"),
    [
        ("", NodeGoneError, "the agent on alpha is gone"),
        (r"\377\377\377\377 and more", NodeGoneError, "the agent on alpha is gone"),
        (r"\0\0\0\3xyz", NodeGoneError, "the agent on alpha is gone"),
        (r"\0\0\0\4\223\143\300\300", NoAnswerError, "alpha did not answer within 1 s"),
    ],
)
def test_an_agent_that_ends_or_speaks_nonsense_costs_that_node(
    said: str, error: type[MawlError], sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last answers a question that nobody asked."""
    rest = "sleep 60" if error is NoAnswerError else "exit 3"
    script = f"{LOOK}{AGENT}; head -c 4 >/dev/null; printf '{said}'; {rest}"
    monkeypatch.setenv("PATH", ssh_here(tmp_path, script)["PATH"])
    monkeypatch.setattr(ssh_link, "END_SECONDS", 0.1)
    monkeypatch.setattr(ssh_link, "SILENT_SECONDS", 0.1)
    with pytest.raises(error, match=sentence):
        ask("clock", seconds=1.0)


@pytest.mark.parametrize(
    ("look", "agent", "state"),
    [
        ("exit 255", r"while sleep 0.1; do printf '\0\0\0\0'; done", "its agent is busy"),
        ("exit 0", "sleep 60", "its agent is stopped"),
        ("exit 255", "sleep 60", "its host cannot be reached"),
        ("exec sleep 60", "sleep 60", "its host cannot be reached"),
    ],
)
def test_busy_stopped_and_unreachable_hosts_are_told_apart(
    look: str, agent: str, state: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = f'[ "$last" = true ] && {look}\n{AGENT}\n{agent}'
    monkeypatch.setenv("PATH", ssh_here(tmp_path, script)["PATH"])
    monkeypatch.setattr(ssh_link, "END_SECONDS", 0.1)
    monkeypatch.setattr(ssh_link, "SILENT_SECONDS", 60.0 if "busy" in state else 0.1)
    monkeypatch.setattr(ssh_link, "LOOK_SECONDS", 0.5 if "sleep" in look else 60.0)
    with pytest.raises(NoAnswerError, match=f"^alpha did not answer within 0.5 s: {state}$"):
        ask("clock", seconds=0.5)


@needs.marks(needs.program("ssh"))
def test_a_look_takes_a_connection_of_its_own_and_does_not_wait_long(tmp_path: Path) -> None:
    config = tmp_path / "config"
    config.write_text("Host alpha\n  ConnectTimeout 50\n  ControlPath /tmp/%C\n  User me\n")
    *start, dashes, host, command = look_command("alpha", str(config))
    assert (dashes, host, command) == ("--", "alpha", "true")
    said = subprocess.run([*start, "-G", "alpha"], capture_output=True, text=True, check=True).stdout
    assert {"user me", "connecttimeout 4", "batchmode yes"} <= set(said.splitlines())
    assert "controlpath" not in said


def test_an_agent_of_another_version_is_named_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = "echo welcome to alpha; printf 'mawl agent 1\\n'; exec sleep 60"
    monkeypatch.setenv("PATH", ssh_here(tmp_path, script)["PATH"])
    monkeypatch.setattr(ssh_link, "LAST_WORD_SECONDS", 0.1)
    with pytest.raises(UnsuitableMachineError, match="another version of mawl is there; install the same"):
        ask("clock", begin_seconds=60.0)


def test_an_agent_gives_signs_of_life_while_it_makes_an_answer(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "go")
    code = (
        "import sys; from pathlib import Path; from mawl.run.cluster import agent; "
        "agent.SIGN_SECONDS = 0.05; "
        f"agent.QUESTIONS['clock'] = lambda: Path({str(tmp_path / 'go')!r}).read_text(); "
        "agent.serve(sys.stdin.buffer, sys.stdout.buffer)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin and process.stdout and process.stdout.readline() == HELLO
        process.stdin.write(framed(msgspec.msgpack.encode(Question(1, "clock", []))))
        process.stdin.flush()
        assert process.stdout.read(8) == framed(b"") * 2
        (tmp_path / "go").write_text("now")
        while not (length := int.from_bytes(process.stdout.read(4), "big")):
            pass
        assert msgspec.msgpack.decode(process.stdout.read(length), type=Answer).value == "now"
        process.stdin.close()


@pytest.mark.parametrize("closed", ["closed", "open", "open, with a task"])
def test_an_agent_ends_when_nobody_speaks_to_it(closed: str, tmp_path: Path) -> None:
    """Its input ends, or, as behind a link that is down, nothing comes any more."""
    code = (
        "import sys; from mawl.run.cluster import agent; agent.SILENCE_SECONDS = 1; "
        f"own = agent.AgentTask('r', {str(tmp_path)!r}, 0.75); "
        f"agent._CHILDREN.update({{'r': agent.Child(own, b'', ['true'])}} if {'task' in closed} else {{}}); "
        "agent.serve(sys.stdin.buffer, sys.stdout.buffer)"
    )
    began = time.monotonic()
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as agent:
        assert agent.stdin and agent.stdout
        assert agent.stdout.readline() == HELLO
        if closed == "closed":
            agent.stdin.close()
        assert agent.wait(60) == (0 if closed == "closed" else 1)
        if "task" in closed:
            assert time.monotonic() - began >= 3, "what the task's process left can be fetched for so long"


@pytest.mark.lab
def test_hosts_over_ssh_are_nodes_and_their_agents_end_with_the_run(tmp_path: Path) -> None:
    (tmp_path / "one.toml").write_text(
        'name = "one"\n[[sessions]]\nname = "a"\nstages = [[{ command = ["true"] }]]\n'
    )
    environment = ssh_here(tmp_path, f'echo "$@" >>{tmp_path}/asked\nexec sh -c "$last"')
    done = mawl(tmp_path, "one.toml", "--ssh", "me@delta,beta", **environment)
    assert done.returncode == 0, done.stderr
    assert [one.node for one in newest(tmp_path).facts.node_runs] == ["delta", "beta"]
    # Both are called at once.
    asked = sorted((tmp_path / "asked").read_text().splitlines(), reverse=True)
    start = f"-o BatchMode=yes -o ConnectTimeout=30 -- me@delta exec env {sys.executable} "
    assert asked[0] == f"{start}-P -m mawl.run.cluster agent delta"
    assert not agents("delta")


def test_an_ssh_that_fails_is_told_with_its_last_line(tmp_path: Path) -> None:
    environment = ssh_here(tmp_path, "echo alpha: no such host >&2\nexit 255")
    done = mawl(tmp_path, "nano", "--ssh", "alpha", **environment)
    assert done.returncode == 1 and "alpha: no such host" in done.stderr and "exit status 255" in done.stderr


def test_whoever_waits_for_a_host_can_be_interrupted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def check() -> None:
        raise InterruptedRunError("SIGINT: no job was started")

    async def reach() -> None:
        async with agents_over_ssh({"alpha": "alpha"}, sys.executable, None, check):
            raise AssertionError("nobody is there")

    monkeypatch.setenv("PATH", ssh_here(tmp_path, "exec sleep 60")["PATH"])
    monkeypatch.setattr(ssh_link, "END_SECONDS", 0.1)
    with pytest.raises(InterruptedRunError):
        asyncio.run(reach())
