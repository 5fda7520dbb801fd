"""The link from controller to agents, over the workers of a Dask cluster; only this module uses Dask.

Functions of the agent are called with ``Client.run`` and not as Dask tasks: a task would be
given to another worker, or started again, when its own is lost.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
import socket
import ssl
from collections.abc import AsyncIterator, Mapping
from typing import Any

import dask
from distributed import Client, Security
from distributed.comm.addressing import get_address_host_port

from mawl.base.errors import MawlError, UnsuitableMachineError, UsageError
from mawl.run.cluster import agent
from mawl.run.cluster.link import Certificates, Link, NoAnswerError, NodeGoneError, failed_agent

CONNECT_SECONDS = 8.0
PLAIN_SECONDS = 2.0
LOOK_SECONDS = 1.0
NO_SCHEDULER = "the connection to the scheduler is lost"
SILENT_SCHEDULER = f"the scheduler did not answer within {LOOK_SECONDS:g} s: it is stopped or very busy"

TUNED = {
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "5s",
    "distributed.scheduler.active-memory-manager.start": False,
    "distributed.scheduler.work-stealing": False,
    "distributed.worker.memory.monitor-interval": "5s",
    "logging.distributed": "warning",
}
"""Settings that take an idle worker from 3.0 % of a core to 0.3 % (docs/design/cluster.md, What it costs)."""

_ADDRESS = re.compile(r"(?:(?:tcp|tls)://)?(?:\[[0-9A-Fa-f:.]+\]|[^\s:/\[\]]+):[0-9]{1,5}")

LOOPBACK = "127.0.0.1:0"
"""Where the HTTP server listens that Dask starts without a dashboard, too, by default at all addresses."""

CLIENT = {"distributed.client.scheduler-info-interval": "1h", "distributed.client.heartbeat": "1m"}
"""The controller asks for what it wants to know: nothing else is fetched every 2 and 5 s."""


def _security(files: Certificates) -> Security:
    """The settings for Dask, which then refuses unencrypted peers; UsageError for a missing file."""
    for path in (files.authority, files.certificate, files.key):
        if not path.is_file():
            raise UsageError("is not a file", where=str(path), cure="name a PEM file with --tls-*")
    names = {
        f"tls_{end}_{kind}": str(file)
        for end in ("client", "scheduler", "worker")
        for kind, file in (("cert", files.certificate), ("key", files.key))
    }
    return Security(tls_ca_file=str(files.authority), require_encryption=True, **names)


class DaskLink(Link):
    """A link to workers by their names."""

    def __init__(self, client: Client, addresses: Mapping[str, str]) -> None:
        self._client = client
        self.addresses = dict(addresses)

    async def ask(self, node: str, function: str, *arguments: Any, seconds: float) -> Any:
        address = self.addresses[node]
        if self._client.status != "running":  # it tries again for a while, then it is closed for good
            raise NoAnswerError(NO_SCHEDULER)
        question = asyncio.ensure_future(
            self._client.run(getattr(agent, function), *arguments, workers=[address], on_error="return")
        )
        try:
            answers = await self._answer(question, node, seconds)
        except OSError as error:
            raise NoAnswerError(NO_SCHEDULER, why=str(error)) from None
        except asyncio.CancelledError:
            if (task := asyncio.current_task()) is not None and task.cancelling():
                raise
            raise NoAnswerError(NO_SCHEDULER) from None  # the client closed, and cancels what it was asked
        finally:
            question.cancel()
        answer = answers.get(address)
        if isinstance(answer, OSError):
            raise await self._unreachable(node, answer)
        if isinstance(answer, Exception):
            module = answer.name if isinstance(answer, ModuleNotFoundError) else None
            raise failed_agent(node, type(answer).__name__, str(answer), module)
        return answer

    async def _answer(self, question: asyncio.Future[Any], node: str, seconds: float) -> Any:
        """The answer; a worker that the scheduler does not know any more is gone at once.

        A question to a node goes through the scheduler, and either of the two may not have answered.
        """
        soon = min(LOOK_SECONDS, seconds)
        if (await asyncio.wait({question}, timeout=soon))[0]:
            return question.result()
        before = await self._heard_of(node)
        if (await asyncio.wait({question}, timeout=seconds - soon))[0]:
            return question.result()
        after = await self._heard_of(node)
        if before is None or after is None:
            raise NoAnswerError(SILENT_SCHEDULER)
        silent = f"{node} did not answer within {seconds:g} s: its worker"
        if after > before:
            raise NoAnswerError(f"{silent} is busy")
        if await _listens(self.addresses[node]):
            raise NoAnswerError(f"{silent} is stopped")
        raise NoAnswerError(f"{silent} cannot be reached")

    async def _heard_of(self, node: str) -> float | None:
        """When the scheduler last heard of a worker, by its clock; None where it does not answer."""
        try:
            known = await asyncio.wait_for(_identity(self._client), LOOK_SECONDS)
        except OSError:  # TimeoutError is one
            return None
        worker = known.get(self.addresses[node])
        if worker is None:
            raise NodeGoneError(f"the worker at {self.addresses[node]} is gone")
        return float(worker.get("last_seen", 0.0))

    async def _unreachable(self, node: str, error: OSError) -> MawlError:
        try:
            known = await asyncio.wait_for(_identity(self._client), CONNECT_SECONDS)
        except OSError:  # TimeoutError is one
            return NoAnswerError(f"{node} cannot be reached, nor the scheduler: {error}")
        if self.addresses[node] in known:
            return NoAnswerError(f"{node} cannot be reached: {error}")
        return NodeGoneError(f"the worker at {self.addresses[node]} is gone")


async def _listens(address: str) -> bool:
    """Whether somebody takes connections there: the kernel does, also for a process that is stopped."""
    host, port = get_address_host_port(address)
    try:
        _, writer = await asyncio.wait_for(asyncio.open_connection(host, port), PLAIN_SECONDS)
    except OSError:  # TimeoutError is one
        return False
    writer.close()
    return True


async def _identity(client: Client) -> dict[str, dict[str, Any]]:
    """What the scheduler knows of its workers, by their addresses."""
    scheduler: Any = client.scheduler  # an RPC object, whose methods are those of the scheduler
    workers: dict[str, dict[str, Any]] = (await scheduler.identity(n_workers=-1))["workers"]
    return workers


def _in_order(name: str) -> list[tuple[int, str]]:
    """node2 before node10."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"([0-9]+)", name)]


async def workers_of(client: Client) -> dict[str, str]:
    """The workers that the scheduler knows: a name that a folder may have, to the address."""
    known = await _identity(client)
    found: dict[str, str] = {}
    for address, worker in sorted(known.items(), key=lambda item: _in_order(str(item[1]["name"]))):
        name = re.sub(r"[^A-Za-z0-9_.-]+", "-", str(worker["name"])).strip("-.") or "node"
        if name in found:
            raise UsageError(
                f"two workers are called {name}",
                where=", ".join((found[name], address)),
                cure="start each with its own --name",
            )
        found[name] = address
    return found


@contextlib.asynccontextmanager
async def connected(
    address: str, certificates: Certificates | None, seconds: float = CONNECT_SECONDS
) -> AsyncIterator[Client]:
    """A client of the scheduler at an address; the sentence of an error names it."""
    if _ADDRESS.fullmatch(address) is None:
        raise UsageError(
            "is no address of a scheduler",
            where=address,
            cure="name it as tcp://HOST:PORT or tls://HOST:PORT",
        )
    security = _security(certificates) if certificates else None
    if (
        address.startswith("tls://")
        and security is None
        and dask.config.get("distributed.comm.tls.ca-file", None) is None
    ):
        raise UsageError(
            "needs certificates", where=address, cure="name them with --tls-ca, --tls-cert and --tls-key"
        )
    if security is not None and address.startswith("tcp://"):
        raise UsageError(
            "is not encrypted, and certificates were given", where=address, cure="name it as tls://HOST:PORT"
        )
    try:
        with dask.config.set(CLIENT):
            client = Client(
                address, asynchronous=True, security=security, timeout=seconds, set_as_default=False
            )
        await client
    except (OSError, TimeoutError, ValueError, ssl.SSLError) as error:
        raise UnsuitableMachineError(
            "no Dask scheduler lets us in there",
            where=address,
            why=_reason(address, error),
            cure="start one with dask scheduler, check host and port, and with TLS the certificates",
        ) from None
    # What a lost scheduler means for the run is told by the controller, in a sentence.
    asyncio.get_running_loop().set_exception_handler(lambda *_: None)
    for name in list(logging.root.manager.loggerDict):
        if name.partition(".")[0] in ("distributed", "tornado"):  # Dask gives several a level of their own
            logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        yield client
    finally:
        with contextlib.suppress(OSError, TimeoutError, asyncio.CancelledError):
            await client.close(timeout=2)


def _reason(address: str, error: BaseException) -> str:
    """What the first of the errors behind an error says, without the names of Dask's objects.

    Where Dask's own time limit ended its last attempt, or came before its first, there is no such error, and
    the address is asked anew.
    """
    while error.__cause__ is not None:
        error = error.__cause__
    none_made = str(error).startswith("Timed out trying to connect")
    if none_made or isinstance(error, asyncio.CancelledError | TimeoutError):
        try:
            socket.create_connection(get_address_host_port(address), timeout=PLAIN_SECONDS).close()
            return "something listens there, and did not answer as a scheduler in time"
        except OSError as plain:
            error = plain
    text = re.sub(r"^.*object at 0x[0-9a-f]+>: ", "", str(error).partition("\n")[0])
    return text or type(error).__name__
