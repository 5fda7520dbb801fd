"""Processes of this machine as /proc names them: whole command lines, which `ps` cuts at COLUMNS."""

from __future__ import annotations

import os
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
    return [line for line in command_lines() if f"mawl.run.cluster agent {node} " in f"{line} "]


def ssh_here(directory: Path, script: str = 'exec sh -c "$last"') -> dict[str, str]:
    """A shell script in place of ssh, whose configuration says nothing of any host; the environment for it.

    The last of its arguments is the command for the host.
    """
    (directory / "bin").mkdir()
    ssh = directory / "bin" / "ssh"
    silent = 'for word; do [ "$word" = -G ] && exit 0; done\nfor last; do :; done\n'
    ssh.write_text(f"#!/bin/sh\n{silent}{script}\n")
    ssh.chmod(0o755)
    return {"PATH": f"{directory / 'bin'}:{os.environ['PATH']}"}
