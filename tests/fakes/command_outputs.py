"""Outputs of commands made by hand, with what they say, and outputs as a collector writes them."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, NamedTuple

FOLDER = Path(__file__).parents[1] / "importers/formats/settings"
NO_VALUE = (
    "not the same for all nodes",
    "printed with two values",
    "set only for ",
    "multipath did not check",
)
"""Truth of a figure that an output gives no one value of: how the reason begins."""

Fact = tuple[str, str, str]


class Made(NamedTuple):
    """An output; ``truth`` is family, subject and figure to value.

    A row of ``truth`` in a file has family and subject, then figures and their values by turns.
    """

    platform: str
    name: str
    command: str
    text: str
    truth: dict[Fact, Any]


def outputs() -> list[Made]:
    """All of them."""
    return [
        Made(
            path.stem,
            one["name"],
            one["command"],
            one["text"],
            {
                (family, subject, figure): value
                for family, subject, *pairs in one["truth"]
                for figure, value in zip(pairs[::2], pairs[1::2], strict=True)
            },
        )
        for path in sorted(FOLDER.glob("*.toml"))
        for one in tomllib.loads(path.read_text())["outputs"]
    ]


def collected(node: str, platform: str, command: str, text: str, status: int = 0) -> str:
    """A file as the collector of a platform writes it."""
    return f"### mawl {node} {platform}: {command}\n{text}\n### mawl exit {status}\n"
