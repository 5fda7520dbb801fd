"""What a bed says of its network: how many clients share which volume of a storage server."""

from __future__ import annotations

import msgspec

from mawl.units import parse_size

MOST_CLIENTS = 16
DIRECT_FILE_SYSTEM = "btrfs"
"""The one that takes direct writes of any size and place; ext4 and xfs refuse those that are not aligned."""


class FabricSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Clients in network namespaces that share one volume of a storage server over links of a rate."""

    clients: int
    volume: str
    """The volume that the server serves, on which the arms' roles lie."""
    server_memory: int | str
    """What the server may take, with what its page cache holds after all; bytes, or text such as 128MiB."""

    @property
    def memory_bytes(self) -> int:
        """Bytes of the server's memory group."""
        return parse_size(self.server_memory)

    @property
    def problem(self) -> str | None:
        """What is wrong with it beyond its schema, or None."""
        if 1 <= self.clients <= MOST_CLIENTS:
            return None
        return f"fabric: expected 1 to {MOST_CLIENTS} clients, found {self.clients}"
