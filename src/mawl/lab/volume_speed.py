"""How fast a volume of a bed is: a cap on its device, or a model of a disk below the queue."""

from __future__ import annotations

from typing import Literal

import msgspec

from mawl.base.units import parse_size

Size = int | str
"""Bytes, or text such as ``64MiB``, ``40MB``."""


class Cap(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A budget of the device for reads, and the same again for writes, whoever asks and whenever."""

    bytes_per_second: Size
    requests_per_second: int | None = None

    @property
    def rate(self) -> int:
        """Bytes per second of each direction."""
        return parse_size(self.bytes_per_second)


class DiskModel(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A device below the queue whose every request takes its time; one budget for reads and writes.

    ``spinning``: a request that does not go on where the last one ended first takes ``seek_seconds`` and
    half a turn; to go on is to begin within ``reach`` of that end, and while nobody asks, ``buffer`` is read
    on or taken in advance.  ``flash``: each takes ``latency_seconds``, ``channels`` of them at a time.
    """

    model: Literal["spinning", "flash"]
    bytes_per_second: Size
    seek_seconds: float = 0.0
    revolutions_per_minute: float | None = None
    latency_seconds: float = 0.0
    channels: int = 1
    reach: Size = "8MiB"
    buffer: Size = "16MiB"

    @property
    def rate(self) -> int:
        """Bytes per second of both directions together."""
        return parse_size(self.bytes_per_second)

    @property
    def buffer_bytes(self) -> int:
        """What is read on or taken in advance while nobody asks."""
        return parse_size(self.buffer)

    @property
    def reach_bytes(self) -> int:
        """How far from the end of the last request another goes on without a seek."""
        return parse_size(self.reach)

    @property
    def access_seconds(self) -> float:
        """What a request takes before its bytes pass: seek and half a turn, or the latency of flash."""
        if self.model == "flash":
            return self.latency_seconds
        turn = 60.0 / self.revolutions_per_minute if self.revolutions_per_minute else 0.0
        return self.seek_seconds + turn / 2.0

    @property
    def random_requests_per_second(self) -> float:
        """Random requests of 4 KiB that it answers when several wait."""
        if self.model == "spinning":
            return 1.0 / (self.access_seconds + 4096 / self.rate)
        by_bus = self.rate / 4096
        return min(by_bus, self.channels / self.access_seconds) if self.access_seconds else by_bus
