"""Network namespaces of this machine on one bridge: nodes whose links can be taken down."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence

SUBNET = "10.213.77"
NO_SPACES: str | None = (
    "lab: network namespaces need root (CAP_SYS_ADMIN)"
    if os.geteuid() != 0
    else "lab: needs ip (iproute2)"
    if shutil.which("ip") is None
    else None
)
"""Why this machine cannot have them; None where it can."""


def ip(*arguments: str, check: bool = True) -> None:
    """One command of iproute2."""
    subprocess.run(["ip", *arguments], check=check, capture_output=True)


class Spaces:
    """A namespace for each name, and the hub (``SUBNET``.1) that all are linked to."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = list(names)
        self._prefix = f"mw{os.getpid() % 100000}"
        self._hub = f"{self._prefix}hub"
        self._up()

    def address(self, name: str) -> str:
        """A node's."""
        return f"{SUBNET}.{11 + self.names.index(name)}"

    def inside(self, name: str | None = None) -> list[str]:
        """What a command line begins with that runs in a node's namespace, or in the hub."""
        return ["nsenter", f"--net=/run/netns/{self._hub if name is None else self._space(name)}"]

    def cut(self, name: str) -> None:
        """Take the node's link down."""
        ip("-n", self._hub, "link", "set", name, "down")

    def mend(self, name: str) -> None:
        """Take it up again."""
        ip("-n", self._hub, "link", "set", name, "up")

    def close(self) -> None:
        """Remove them all."""
        for name in self.names:
            ip("netns", "del", self._space(name), check=False)
        ip("netns", "del", self._hub, check=False)

    def _space(self, name: str) -> str:
        return f"{self._prefix}{name}"

    def _up(self) -> None:
        ip("netns", "add", self._hub)
        ip("-n", self._hub, "link", "set", "lo", "up")
        ip("-n", self._hub, "link", "add", "br0", "type", "bridge")
        ip("-n", self._hub, "addr", "add", f"{SUBNET}.1/24", "dev", "br0")
        ip("-n", self._hub, "link", "set", "br0", "up")
        for name in self.names:
            space = self._space(name)
            ip("netns", "add", space)
            ip("-n", space, "link", "set", "lo", "up")
            pair = ("type", "veth", "peer", "name", "eth0", "netns", space)
            ip("link", "add", name, "netns", self._hub, *pair)
            ip("-n", self._hub, "link", "set", name, "master", "br0", "up")
            ip("-n", space, "addr", "add", f"{self.address(name)}/24", "dev", "eth0")
            ip("-n", space, "link", "set", "eth0", "up")
