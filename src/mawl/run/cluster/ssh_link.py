"""The link from controller to agents over ssh, without a listening port on any machine.

Questions and answers go through the standard input and output of one ssh for each host, so only users who may
log in with ssh can use the link.  The system's own ``ssh`` is used, so that names, users, keys and jump hosts
are those of the user's configuration, or of a file of its kind (``-F``).  It never prompts (BatchMode).
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import re
import shlex
import shutil
import signal
import subprocess
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import msgspec

from mawl.base.errors import MawlError, UnsuitableMachineError, UsageError
from mawl.run.cluster.agent import HELLO, LENGTH_BYTES, SIGN_SECONDS, Answer, Question, framed
from mawl.run.cluster.link import Link, NoAnswerError, NodeGoneError, failed_agent

CONNECT_SECONDS = 30
"""How long ssh tries a host that does not answer, where its configuration does not say (``ConnectTimeout``);
well before the run gives its hosts up."""
START_SECONDS = 60.0
"""For the agents to begin: a Python that starts from a shared file system takes its time."""
END_SECONDS = 5.0
LAST_WORD_SECONDS = 0.5
"""How long ssh may take to exit, and its last error line to arrive, after its output has ended."""
BEAT_SECONDS = 5.0
"""Time between two signs of life to each agent."""
SILENT_SECONDS = 2.5 * SIGN_SECONDS
"""After so long without a sign of life, another ssh looks whether the host can be reached."""
LOOK_SECONDS, CONNECT_TO_LOOK_SECONDS = 4.5, 4
"""For that look, and for its connection."""
MOST_GREETING_BYTES = 64 * 2**10
"""How much a login shell may print before the agent begins."""
MOST_ANSWER_BYTES = 64 * 2**20
POLL_SECONDS = 0.1
_OTHER_HELLO = re.compile(rb"mawl agent [0-9]+\n\Z")
_MOST_COMPLAINT_BYTES = 8 * 2**10


def node_names(hosts: Sequence[str]) -> dict[str, str]:
    """Node name (the host without its user) to what ssh is given; UsageError for two of one name."""
    found: dict[str, str] = {}
    if not hosts:
        raise UsageError("--ssh names no host", cure="give hosts as ssh knows them: --ssh a,b")
    for host in hosts:
        name = host.rpartition("@")[2]
        if not name or "/" in name or host.startswith("-"):
            raise UsageError(f"--ssh: {host!r} is no host", cure="give hosts as ssh knows them: --ssh a,b")
        if name in found:
            raise UsageError(f"--ssh names {name} twice", cure="a node is a machine: name each once")
        found[name] = host
    return found


def ssh_command(host: str, config: str | None) -> list[str]:
    """The beginning of the command line that runs something on a host: what the configuration says counts.

    Options of a command line come before it, so the time to connect is given only where it does not name one.
    """
    options = ["-o", "BatchMode=yes"]
    if _ssh_settings(host, config).get("connecttimeout", "none") == "none":
        options += ["-o", f"ConnectTimeout={CONNECT_SECONDS}"]
    return [*_ssh_program(config), *options, "--", host]


def look_command(host: str, config: str | None) -> list[str]:
    """The command line that tries whether a host can be reached, over a connection of its own."""
    options = ["BatchMode=yes", f"ConnectTimeout={CONNECT_TO_LOOK_SECONDS}", "ControlPath=none"]
    return [*_ssh_program(config), *(f"-o{option}" for option in options), "--", host, "true"]


def _ssh_settings(host: str, config: str | None) -> dict[str, str]:
    """What ssh's configuration says of a host (ssh(1), -G): its keywords in small letters, and their values.

    One that nothing sets has ssh's own default, or ``none``.
    """
    asked = subprocess.run(
        [*_ssh_program(config), "-G", "--", host], stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    if asked.returncode != 0:
        raise UnsuitableMachineError(
            f"ssh does not say how it reaches {host} (exit status {asked.returncode})",
            why=_last_line(asked.stderr),
            cure="try ssh -G with that host by hand",
        )
    return dict(line.partition(" ")[::2] for line in asked.stdout.splitlines())


def _ssh_program(config: str | None) -> list[str]:
    program = shutil.which("ssh")
    if program is None:
        raise UnsuitableMachineError("ssh is not installed", cure="install an ssh client")
    return [program, *(("-F", config) if config is not None else ())]


def _last_line(text: str) -> str | None:
    lines = text.strip().splitlines()
    return lines[-1].strip().removesuffix(".") if lines else None


def agent_command(name: str, python: str) -> str:
    """The command line for the remote shell, whatever shell the user has there.

    The agent does not use the name: it is for people who look at the processes of the node.
    """
    return shlex.join(["exec", "env", python, "-P", "-m", "mawl.run.cluster", "agent", name])


class _Agent:
    """One ssh, and the agent at its other end."""

    def __init__(self, name: str, process: asyncio.subprocess.Process) -> None:
        assert process.stdin and process.stdout and process.stderr
        self.name, self.begun = name, False
        self._process = process
        self._stdin, self._stdout, self._stderr = process.stdin, process.stdout, process.stderr
        self._heard_at = time.monotonic()
        self._numbers = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._complaints = b""
        self._no_agent: str | None = None
        """Why mawl ended this ssh, if it did."""
        self._cure = "try ssh to that host by hand, and name its Python with --remote-python"
        self._complaining = asyncio.create_task(self._overhear())
        self._answering = asyncio.create_task(self._hear())

    @classmethod
    async def start(cls, name: str, command_line: Sequence[str]) -> _Agent:
        process = await asyncio.create_subprocess_exec(
            *command_line,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            limit=MOST_GREETING_BYTES,
            start_new_session=True,  # Ctrl-C is the controller's to understand
        )
        return cls(name, process)

    def send(self, content: bytes) -> None:
        """Send a message; an empty one is a sign of life."""
        with contextlib.suppress(OSError):  # the reader of its answers finds out that it has ended
            self._stdin.write(framed(content))

    async def ask(self, function: str, arguments: Sequence[Any]) -> Any:
        """The answer; ``NodeGoneError`` if the agent has ended."""
        if self._answering.done():
            raise self._gone()
        number = next(self._numbers)
        self._waiting[number] = asyncio.get_running_loop().create_future()
        try:
            self.send(msgspec.msgpack.encode(Question(number, function, list(arguments))))
            answer = await self._waiting[number]
        finally:
            del self._waiting[number]
        if answer.failure is not None:
            raise failed_agent(self.name, *answer.failure)
        return answer.value

    async def is_heard(self) -> bool:
        """Whether it gives a sign of life before it has been silent for too long."""
        before = self._heard_at
        while True:
            await asyncio.sleep(POLL_SECONDS)
            if self._heard_at > before:
                return True
            if time.monotonic() - before >= SILENT_SECONDS:
                return False

    def failure(self) -> MawlError | None:
        """Why the agent ended before it began, with ssh's last line."""
        if self.begun or not self._answering.done():
            return None
        return UnsuitableMachineError(
            f"mawl could not be started over ssh (exit status {self._process.returncode})",
            where=self.name,
            why=self._no_agent or self._last_complaint(),
            cure=self._cure,
        )

    async def close(self) -> None:
        """Close the agent's input, upon which it exits; kill ssh if it does not exit in time."""
        self._stdin.close()
        await self._end(END_SECONDS if self.begun else 0.0)
        await asyncio.wait({self._answering})
        await asyncio.wait({self._complaining}, timeout=LAST_WORD_SECONDS)
        self._complaining.cancel()
        with contextlib.suppress(OSError):  # or TimeoutError, which is one; unsent messages do not matter now
            await asyncio.wait_for(self._stdin.wait_closed(), LAST_WORD_SECONDS)

    async def _hear(self) -> None:
        """Hand out answers until the end; an answer that comes too late is dropped."""
        try:
            await self._greeted()
            while True:
                length = int.from_bytes(await self._read(LENGTH_BYTES), "big")
                if length > MOST_ANSWER_BYTES:
                    raise msgspec.MsgspecError
                if not length:
                    continue
                answer = msgspec.msgpack.decode(await self._read(length), type=Answer)
                waiting = self._waiting.get(answer.number)
                if waiting is not None and not waiting.done():
                    waiting.set_result(answer)
        except (asyncio.IncompleteReadError, OSError):
            await self._end(LAST_WORD_SECONDS)
        except asyncio.LimitOverrunError:
            self._no_agent = f"what the login shell printed is longer than {MOST_GREETING_BYTES // 2**10} KiB"
        except msgspec.MsgspecError:
            self._no_agent = "mawl ended it, because what came was no answer"
        await self._end(0.0)
        with contextlib.suppress(TimeoutError):  # unread output would keep the pipe open
            await asyncio.wait_for(self._stdout.read(), LAST_WORD_SECONDS)
        await asyncio.wait({self._complaining}, timeout=LAST_WORD_SECONDS)
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(self._gone())

    async def _greeted(self) -> None:
        """Read up to the first line of the agent, which may be the end of one of the login shell."""
        skipped = 0
        while skipped < MOST_GREETING_BYTES:
            line = await self._stdout.readuntil()
            if line.endswith(HELLO):
                self.begun, self._heard_at = True, time.monotonic()
                return
            if _OTHER_HELLO.search(line) is not None:
                self._no_agent = "another version of mawl is there"
                self._cure = "install the same there, or name the Python that has it with --remote-python"
                raise asyncio.IncompleteReadError(b"", None)
            skipped += len(line)
        raise asyncio.LimitOverrunError("", skipped)

    async def _read(self, size: int) -> bytearray:
        """So many bytes; each that comes is a sign of life."""
        content = bytearray()
        while len(content) < size:
            chunk = await self._stdout.read(size - len(content))
            if not chunk:
                raise asyncio.IncompleteReadError(bytes(content), size)
            self._heard_at = time.monotonic()
            content += chunk
        return content

    async def _overhear(self) -> None:
        while chunk := await self._stderr.read(_MOST_COMPLAINT_BYTES):
            self._complaints = (self._complaints + chunk)[-_MOST_COMPLAINT_BYTES:]

    async def _end(self, seconds: float) -> None:
        """Wait so long for ssh to end, then end it.

        Not for its pipes, as ``Process.wait`` of Python 3.11 does: a master of ControlPersist may hold them.
        """
        ends_at = time.monotonic() + seconds
        while self._process.returncode is None and time.monotonic() < ends_at:
            await asyncio.sleep(0.02)
        while self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)  # with a ProxyCommand
            await asyncio.sleep(0.02)

    def _last_complaint(self) -> str | None:
        return _last_line(self._complaints.decode(errors="replace"))

    def _gone(self) -> NodeGoneError:
        return NodeGoneError(
            f"the agent on {self.name} is gone (ssh ended with exit status {self._process.returncode})",
            why=self._no_agent or self._last_complaint(),
        )


class SshLink(Link):
    """A link to agents by the names of their nodes; what kept others from beginning is in ``failures``."""

    def __init__(
        self,
        agents: Mapping[str, _Agent],
        looks: Mapping[str, Sequence[str]],
        failures: Mapping[str, MawlError],
    ) -> None:
        """``looks`` are the command lines that try whether a host can be reached."""
        self._agents, self._looks, self._failures = agents, looks, failures

    async def ask(self, node: str, function: str, *arguments: Any, seconds: float) -> Any:
        if node in self._failures:
            raise self._failures[node]
        try:
            return await asyncio.wait_for(self._agents[node].ask(function, arguments), seconds)
        except TimeoutError:
            silent = f"{node} did not answer within {seconds:g} s: {await self._state(node)}"
            raise NoAnswerError(silent) from None

    async def _state(self, node: str) -> str:
        """Why a node does not answer: the kernel of a host whose agent is stopped still lets ssh in."""
        if await self._agents[node].is_heard():
            return "its agent is busy"
        return "its agent is stopped" if await _succeeds(self._looks[node]) else "its host cannot be reached"


async def _succeeds(command_line: Sequence[str]) -> bool:
    nothing = subprocess.DEVNULL
    try:
        process = await asyncio.create_subprocess_exec(
            *command_line, stdin=nothing, stdout=nothing, stderr=nothing, start_new_session=True
        )
        try:
            return await asyncio.wait_for(process.wait(), LOOK_SECONDS) == 0
        finally:
            if process.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)  # with a ProxyCommand
                await process.wait()
    except OSError:  # TimeoutError is one
        return False


@contextlib.asynccontextmanager
async def agents_over_ssh(
    hosts: Mapping[str, str],
    python: str,
    config: str | None,
    check: Callable[[], None] = lambda: None,
    seconds: float = START_SECONDS,
    pythons: Mapping[str, str] = MappingProxyType({}),
) -> AsyncIterator[SshLink]:
    """A link to an agent on each of the hosts (by node name), which end with it.

    ``pythons`` are of nodes that have another one.  ``check`` is called while they begin, and may raise.  A
    question to a node raises UnsuitableMachineError where its agent could not be started, or did not begin in
    time.
    """
    commands = {
        name: [*ssh_command(host, config), agent_command(name, pythons.get(name, python))]
        for name, host in hosts.items()
    }
    agents: dict[str, _Agent] = {}
    try:
        for name, command_line in commands.items():
            agents[name] = await _Agent.start(name, command_line)
        beating = asyncio.create_task(_beat(list(agents.values())))
        try:
            looks = {name: look_command(host, config) for name, host in hosts.items()}
            yield SshLink(agents, looks, await _failures(agents, check, seconds))
        finally:
            beating.cancel()
    finally:
        await asyncio.gather(*(agent.close() for agent in agents.values()))


async def _failures(
    agents: Mapping[str, _Agent], check: Callable[[], None], seconds: float
) -> dict[str, MawlError]:
    """Wait until each agent has begun or ended, or time is over; why some have not begun, by their nodes."""
    deadline = time.monotonic() + seconds
    while not all(agent.begun or agent.failure() for agent in agents.values()):
        check()
        if time.monotonic() > deadline:
            break
        await asyncio.sleep(0.05)
    late = UnsuitableMachineError(
        f"mawl did not begin there within {seconds:g} s", cure="try ssh to that host by hand"
    )
    return {name: agent.failure() or late for name, agent in agents.items() if not agent.begun}


async def _beat(agents: Sequence[_Agent]) -> None:
    while True:
        await asyncio.sleep(BEAT_SECONDS)
        for agent in agents:
            if agent.begun:
                agent.send(b"")
