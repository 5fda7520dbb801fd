"""The kernel's writer of one device: when it sends dirty blocks, and when the device has them.

Linux has a writer for each device, which looks every ``vm.dirty_writeback_centisecs`` (fs/fs-writeback.c:
``wb_check_background_flush``, ``wb_check_old_data_flush``).  It sends what is dirty if this is more than the
device may have (mm/page-writeback.c: ``wb_over_bg_thresh``, ``__wb_calc_thresh``; as in Linux 6.18).
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field

HALVING_SECONDS = 3.0
"""What a device wrote so long ago counts half: ``VM_COMPLETIONS_PERIOD_LEN``; the kernel halves in steps."""

FORGOTTEN_SECONDS = 20 * HALVING_SECONDS
"""What was written so long ago counts for nothing."""

LEAST_RATIO = 1 / 8
"""A device may have this part of what may still become dirty, even if it wrote nothing."""


@dataclass(kw_only=True)
class DeviceWriter:
    """One device's writer; the device takes ``rate`` bytes a second.

    It looks next at ``look_at`` seconds (infinite: nothing is dirty).  The device writes what was sent until
    ``busy_until`` seconds.
    """

    rate: float = math.inf
    look_at: float = math.inf
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


def most_dirty_bytes(
    writers: Mapping[str, DeviceWriter], kind: str, threshold_bytes: float, dirty_bytes: float, now: float
) -> float:
    """What a device may have dirty, if all may have ``threshold_bytes`` and have ``dirty_bytes``.

    Its share of the threshold is its part of what all devices wrote lately.
    """
    lately = {name: writer.lately_bytes(now) for name, writer in writers.items()}
    total = sum(lately.values())
    share = lately[kind] / total if total else 0.0
    return max(share * threshold_bytes, LEAST_RATIO * (threshold_bytes - dirty_bytes))
