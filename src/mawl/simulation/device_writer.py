"""The kernel's writer of one device: when it sends dirty blocks, and when the device has them.

Linux has a writer for each device, which looks every ``vm.dirty_writeback_centisecs`` (fs/fs-writeback.c:
``wb_check_background_flush``, ``wb_check_old_data_flush``).  It sends all that is dirty if this is more than
the device's share of the background threshold, ``wb_over_bg_thresh`` in mm/page-writeback.c.  The share is
the device's part of what all devices wrote, where what was written a period ago counts half
(lib/flex_proportions.c; the period is ``VM_COMPLETIONS_PERIOD_LEN``, 3 s).
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field

HALVING_SECONDS = 3.0
FORGOTTEN_SECONDS = 20 * HALVING_SECONDS
"""What was written so long ago counts for nothing."""


@dataclass(kw_only=True)
class DeviceWriter:
    """One device's writer; the device takes ``rate`` bytes a second."""

    rate: float = math.inf
    dirty_bytes: float = 0.0
    look_at: float | None = None
    busy_until: float = 0.0
    _written: deque[tuple[float, float]] = field(default_factory=deque)

    def send(self, size: float, now: float) -> float:
        """Send a block to the device; when the device has it."""
        self.busy_until = max(self.busy_until, now) + size / self.rate
        self._written.append((self.busy_until, size))
        return self.busy_until

    def lately_bytes(self, now: float) -> float:
        """What the device wrote, half as much for each period that has passed since."""
        while self._written and self._written[0][0] < now - FORGOTTEN_SECONDS:
            self._written.popleft()
        return sum(size * math.exp2((at - now) / HALVING_SECONDS) for at, size in self._written if at <= now)


def share(writers: Mapping[str, DeviceWriter], kind: str, first_share: float, now: float) -> float:
    """The kind's part of what all devices wrote lately: 0 to 1; ``first_share`` if they wrote nothing."""
    lately = {name: writer.lately_bytes(now) for name, writer in writers.items()}
    if total := sum(lately.values()):
        return lately[kind] / total
    return first_share
