"""The address that the pages are served on."""

from __future__ import annotations

import errno
import ipaddress
import socket

from mawl.errors import UnsuitableMachineError, UsageError


def listening(host: str, port: int) -> socket.socket:
    """A socket that listens; port 0 takes any that is free.

    Raises :class:`~mawl.errors.UsageError` for a name that is no address of this machine, and
    :class:`~mawl.errors.UnsuitableMachineError` where the port is taken.
    """
    where = f"{host} port {port}"
    if not 0 <= port <= 65535:
        raise UsageError("is no port", where=where, cure="name one from 0 to 65535 with --port")
    try:
        family, _, _, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        return socket.create_server(address[:2], family=family, backlog=128)
    except (socket.gaierror, UnicodeError):
        raise UsageError("is no address", where=where, cure="name one of this machine with --host") from None
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            cure = "name another with --port, or --port 0 for any that is free"
            raise UnsuitableMachineError("is in use by another program", where=where, cure=cure) from None
        if error.errno == errno.EADDRNOTAVAIL:
            cure = "name an address of this machine with --host"
            raise UsageError("is no address of this machine", where=where, cure=cure) from None
        why = (error.strerror or str(error)).lower()
        raise UnsuitableMachineError("cannot be listened on", where=where, why=why) from None


def is_loopback(listener: socket.socket) -> bool:
    """Whether only this machine can reach it."""
    return ipaddress.ip_address(listener.getsockname()[0].partition("%")[0]).is_loopback


def address_of(listener: socket.socket) -> str:
    """The address to put into a browser on this machine."""
    host, port = listener.getsockname()[:2]
    if ipaddress.ip_address(host.partition("%")[0]).is_unspecified:
        host = socket.gethostname()
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/"


def names_of(host: str, listener: socket.socket) -> list[str]:
    """The names that a visitor may ask for: the one given, and the machine's own where others reach it."""
    return [host] if is_loopback(listener) else [host, socket.gethostname(), socket.getfqdn()]
