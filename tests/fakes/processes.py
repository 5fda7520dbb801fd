"""Processes of this machine as /proc names them: whole command lines, which `ps` cuts at COLUMNS."""

from __future__ import annotations

from pathlib import Path


def command_lines() -> list[str]:
    """Of every process that can be read, its arguments joined by spaces."""
    lines = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            lines.append(file.read_bytes().replace(b"\0", b" ").decode(errors="replace").strip())
        except OSError:
            continue  # ended meanwhile
    return lines


def agents(node: str) -> list[str]:
    """The command lines of agents that ssh started under the name of a node, and of that ssh."""
    return [line for line in command_lines() if f"mawl.run.cluster agent {node}" in line]
