"""Where the pages are served, and what is said where they cannot be."""

from __future__ import annotations

import socket

import pytest

from mawl.base.errors import UnsuitableMachineError, UsageError
from mawl.commands.server.connections import address_of, is_loopback, listening, names_of


def test_a_free_port_on_the_loopback_address() -> None:
    with listening("127.0.0.1", 0) as listener:
        port = listener.getsockname()[1]
        assert address_of(listener) == f"http://127.0.0.1:{port}/"
        assert is_loopback(listener)
        assert names_of("127.0.0.1", listener) == ["127.0.0.1"]


def test_a_port_in_use_is_one_sentence() -> None:
    with listening("127.0.0.1", 0) as listener:
        port = listener.getsockname()[1]
        with pytest.raises(UnsuitableMachineError) as told:
            listening("127.0.0.1", port)
    assert str(told.value) == (
        f"127.0.0.1 port {port}: is in use by another program; "
        "name another with --port, or --port 0 for any that is free"
    )


def test_all_addresses_answer_to_the_name_of_the_machine() -> None:
    with listening("0.0.0.0", 0) as listener:
        assert not is_loopback(listener)
        assert socket.gethostname() in names_of("0.0.0.0", listener)
        assert socket.gethostname() in address_of(listener)


@pytest.mark.parametrize(
    ("host", "port"), [("no such host", 0), ("192.0.2.1", 0), ("127.0.0.1", 70000), ("a" * 300, 0)]
)
def test_what_is_no_address_of_this_machine_is_said(host: str, port: int) -> None:
    with pytest.raises(UsageError, match=r"name (one|an address) "):
        listening(host, port)
