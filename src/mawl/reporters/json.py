"""The summary as JSON: the names of docs/reference/metrics.md, keys sorted, missing figures null."""

from __future__ import annotations

from typing import Any

import msgspec


def render(summary: dict[str, Any]) -> str:
    """The summary of :func:`mawl.advice.judge.judged` as indented JSON."""
    return msgspec.json.format(msgspec.json.encode(summary, order="sorted"), indent=2).decode()
