"""A verb called in the test's own process, its errors raised."""

from __future__ import annotations

from typing import Any

from mawl.commands.verbs import build_parser


def parsed(verb: str, *words: str) -> Any:
    """The arguments of a verb as it gets them."""
    values = build_parser([verb]).parse_args([verb, *words])
    return values.called.arguments.read(values)


def call(verb: str, *words: str) -> int:
    """The verb with a command line; its exit status."""
    arguments = parsed(verb, *words)
    status: int = arguments.called.run(arguments)
    return status
