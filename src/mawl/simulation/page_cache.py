"""A model of the Linux page cache, after WRENCH's: which application bytes reach a device.

Do et al., "Modeling the Linux page cache for accurate simulation of data-intensive applications"
(arXiv 2101.01335): blocks of files on two lists in the order of their last use (inactive: used once;
active: used again, at most twice the inactive list), reads that miss go to the device, writes stay
until they are too many (``vm.dirty_background_ratio``) or too old (``vm.dirty_expire_centisecs``) when the
device's writer looks (``DeviceWriter``), and a file that is deleted before takes its writes with it.
docs/design/systems.md says what is left out.
"""

from __future__ import annotations

import math
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

HALVING_SECONDS = 3.0
"""What a device wrote so long ago counts half: ``VM_COMPLETIONS_PERIOD_LEN``; the kernel halves in steps."""

FORGOTTEN_SECONDS = 20 * HALVING_SECONDS
"""What was written so long ago counts for nothing."""

LEAST_RATIO = 1 / 8
"""A device may have this part of what may still become dirty, even if it wrote nothing."""


@dataclass(kw_only=True)
class DeviceWriter:
    """The kernel's writer of one device, which takes ``rate`` bytes a second.

    Linux has a writer for each device, which looks every ``vm.dirty_writeback_centisecs`` (fs/fs-writeback.c:
    ``wb_check_background_flush``, ``wb_check_old_data_flush``).  It sends what is dirty if this is more than
    the device may have (mm/page-writeback.c: ``wb_over_bg_thresh``, ``__wb_calc_thresh``; as in Linux 6.18).

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


ACTIVE_PER_INACTIVE = 2.0
"""The active list holds at most twice what the inactive one holds (WRENCH)."""

Key = tuple[str, int]
"""A block: its file and its number in it."""


@dataclass(frozen=True, kw_only=True)
class WriteBack:
    """When written blocks go to the device; the defaults are Linux's (sysctl/vm.rst).

    The threshold is ``background_ratio`` of the cache and of ``beside_bytes``, the memory beside the jobs'
    part: the kernel takes it of all memory that may be dirty, even if a control group has a part.
    A device's writer looks ``look_seconds`` after a first dirty block, and again while any block is dirty.
    It sends files whose first dirty block is ``expire_seconds`` old, and all if more is dirty than may be.
    Programs never wait here: that is simulated by the engine.  ``through``: every write goes to the device at
    once.
    """

    background_ratio: float = 0.10
    beside_bytes: float = 0.0
    expire_seconds: float = 30.0
    look_seconds: float = 5.0
    through: bool = False

    def background_bytes(self, cache_bytes: float) -> float:
        return self.background_ratio * (cache_bytes + self.beside_bytes)


@dataclass(kw_only=True)
class MovedBytes:
    """Bytes in one direction: what programs asked for, and what reached the device.

    ``direct_bytes`` are those of direct requests, which are in both.  ``first_bytes`` are first reads of a
    block, which reach the device with any memory.
    """

    application_bytes: float = 0.0
    device_bytes: float = 0.0
    direct_bytes: float = 0.0
    first_bytes: float = 0.0

    @property
    def missed_ratio(self) -> float | None:
        """Of what passed through the cache, the share that reached the device; None of nothing."""
        cached = self.application_bytes - self.direct_bytes
        return (self.device_bytes - self.direct_bytes) / cached if cached > 0.0 else None

    @property
    def first_ratio(self) -> float | None:
        """Of what passed through the cache, the share that any memory lets through; None of nothing."""
        cached = self.application_bytes - self.direct_bytes
        return self.first_bytes / cached if cached > 0.0 else None


@dataclass(frozen=True, kw_only=True)
class PushedOut:
    """Bytes that a cache gave up for want of room, and bytes read that it had held before."""

    evicted_bytes: float = 0.0
    reread_bytes: float = 0.0

    def plus(self, other: PushedOut, ratio: float = 1.0) -> PushedOut:
        return PushedOut(
            evicted_bytes=self.evicted_bytes + ratio * other.evicted_bytes,
            reread_bytes=self.reread_bytes + ratio * other.reread_bytes,
        )


@dataclass(kw_only=True)
class MovedWays:
    """Bytes of some files in both directions."""

    read: MovedBytes = field(default_factory=MovedBytes)
    written: MovedBytes = field(default_factory=MovedBytes)


@dataclass
class _Block:
    size: float
    written_at: float = 0.0
    """When the device has it, once it was sent there."""


class PageCache:
    """Blocks of files in ``capacity_bytes`` of memory; ``now`` of every call never goes back.

    ``kind_of`` names the kind of a file.  Bytes are counted by kind, and each kind has a device of its own.
    ``rates`` are the bytes a second that the device of a kind writes; without a rate writing takes no time.
    """

    def __init__(
        self,
        capacity_bytes: float,
        write_back: WriteBack | None = None,
        kind_of: Callable[[str], str] = lambda _: "",
        rates: Mapping[str, float] | None = None,
    ) -> None:
        self.write_back = write_back or WriteBack()
        self._rates = rates or {}
        self._writers: dict[str, DeviceWriter] = {}
        self._now = 0.0
        self.moved: defaultdict[str, MovedWays] = defaultdict(MovedWays)
        self.pushed_out = PushedOut()
        self._kind_of = kind_of
        self._met: set[Key] = set()
        self._inactive: OrderedDict[Key, _Block] = OrderedDict()
        self._active: OrderedDict[Key, _Block] = OrderedDict()
        self._dirty: OrderedDict[str, OrderedDict[Key, _Block]] = OrderedDict()
        self._since: dict[str, float] = {}
        self._files: dict[str, set[int]] = {}
        self._held = {id(self._inactive): 0.0, id(self._active): 0.0}
        self._dirty_bytes = 0.0
        self.resize(capacity_bytes)

    def of(self, file: str) -> MovedWays:
        return self.moved[self._kind_of(file)]

    @property
    def held_bytes(self) -> float:
        return self._held[id(self._inactive)] + self._held[id(self._active)]

    @property
    def dirty_bytes(self) -> float:
        return self._dirty_bytes

    def resize(self, capacity_bytes: float) -> None:
        self.capacity_bytes = max(capacity_bytes, 0.0)
        self._make_room(0.0)

    def read_block(self, file: str, number: int, size: float, now: float) -> None:
        self._expire(now)
        key, read = (file, number), self.of(file).read
        read.application_bytes += size
        if not self._use_again(key):
            read.device_bytes += size
            if key in self._met:
                self.pushed_out = self.pushed_out.plus(PushedOut(reread_bytes=size))
            else:
                read.first_bytes += size
            if not self._insert(key, _Block(size)):
                self.pushed_out = self.pushed_out.plus(PushedOut(evicted_bytes=size))
        self._met.add(key)

    def write_block(self, file: str, number: int, size: float, now: float) -> None:
        self._expire(now)
        key, written = (file, number), self.of(file).written
        written.application_bytes += size
        self._met.add(key)
        kept = self._use_again(key) or self._insert(key, _Block(size))
        if not kept or self.write_back.through:
            written.device_bytes += size
            return
        block = self._inactive.get(key) or self._active[key]
        blocks = self._dirty.setdefault(file, OrderedDict())
        if not blocks:
            self._since[file] = now
        writer = self._writer(file)
        if key not in blocks:
            blocks[key] = block
            self._dirty_bytes += block.size
        writer.look_at = min(writer.look_at, now + self.write_back.look_seconds)
        if self._dirty_bytes > self._background_bytes():
            self._send_all(self._kind_of(file))

    def pass_by(self, direction: MovedBytes, size: float) -> None:
        """A direct request: all of it reaches the device, and nothing is kept."""
        direction.application_bytes += size
        direction.device_bytes += size
        direction.direct_bytes += size

    def delete(self, file: str, now: float) -> float:
        """A file goes; what of it was not written never is.

        Seconds from ``now`` until the device has the blocks of the file that were sent there; below 0 if it
        has them already.
        """
        self._expire(now)
        dropped = [self._drop((file, number)) for number in self._files.pop(file, set())]
        return max((block.written_at - now for block in dropped), default=0.0)

    def delete_block(self, file: str, number: int, now: float) -> float:
        """A block goes, as one of many small files does; seconds as in ``delete``."""
        numbers = self._files.get(file, set())
        if number not in numbers:
            return 0.0
        numbers.discard(number)
        return self._drop((file, number)).written_at - now

    def _use_again(self, key: Key) -> bool:
        """Whether the block is there; if so it is now the latest used of the active list."""
        if key in self._active:
            self._active.move_to_end(key)
            return True
        if key not in self._inactive:
            return False
        self._move(key, self._inactive, self._active)
        self._balance()
        return True

    def _balance(self) -> None:
        held, other = id(self._active), id(self._inactive)
        while self._active and self._held[held] > ACTIVE_PER_INACTIVE * self._held[other]:
            self._move(next(iter(self._active)), self._active, self._inactive)

    def _move(self, key: Key, source: OrderedDict[Key, _Block], target: OrderedDict[Key, _Block]) -> None:
        block = source.pop(key)
        target[key] = block
        self._held[id(source)] -= block.size
        self._held[id(target)] += block.size

    def _insert(self, key: Key, block: _Block) -> bool:
        if block.size > self.capacity_bytes:
            return False
        self._make_room(block.size)
        self._inactive[key] = block
        self._held[id(self._inactive)] += block.size
        self._files.setdefault(key[0], set()).add(key[1])
        return True

    def _make_room(self, size: float) -> None:
        """Evict the longest unused of the inactive list; a dirty one is written first."""
        while self.held_bytes > 0 and self.held_bytes + size > self.capacity_bytes:
            if not self._inactive:
                self._move(next(iter(self._active)), self._active, self._inactive)
            key = next(iter(self._inactive))
            if key in self._dirty.get(key[0], ()):
                self._write_all()
            self._files[key[0]].discard(key[1])
            self.pushed_out = self.pushed_out.plus(PushedOut(evicted_bytes=self._drop(key).size))
            self._balance()

    def _drop(self, key: Key) -> _Block:
        self._forget(key)
        blocks = self._inactive if key in self._inactive else self._active
        block = blocks.pop(key)
        self._held[id(blocks)] -= block.size
        if not blocks:
            self._held[id(blocks)] = 0.0
        return block

    def _writer(self, file: str) -> DeviceWriter:
        kind = self._kind_of(file)
        if kind not in self._writers:
            self._writers[kind] = DeviceWriter(rate=self._rates.get(kind, math.inf))
        return self._writers[kind]

    def _background_bytes(self) -> float:
        return self.write_back.background_bytes(self.capacity_bytes)

    def _expire(self, now: float) -> None:
        while due := [(one.look_at, kind) for kind, one in self._writers.items() if one.look_at <= now]:
            self._now, kind = min(due)
            self._look(kind)
        self._now = now

    def _look(self, kind: str) -> None:
        """Send what is old; all, if more is dirty than may be.  Look again if something is left."""
        self._writers[kind].look_at = math.inf
        for file in self._dirty_files(kind):
            if self._now - self._since[file] >= self.write_back.expire_seconds:
                self._write_file(file)
        dirty, threshold = self._dirty_bytes, self._background_bytes()
        own = sum(block.size for file in self._dirty_files(kind) for block in self._dirty[file].values())
        if dirty > threshold or own > most_dirty_bytes(self._writers, kind, threshold, dirty, self._now):
            self._send_all(kind)
        elif own > 0.0:
            self._writers[kind].look_at = self._now + self.write_back.look_seconds

    def _dirty_files(self, kind: str) -> list[str]:
        return [file for file in self._dirty if self._kind_of(file) == kind]

    def _send_all(self, kind: str) -> None:
        """All dirty files of the kind: the kernel looks whether it is enough only once in 0.1 s."""
        for file in self._dirty_files(kind):
            self._write_file(file)
        self._writers[kind].look_at = math.inf

    def _write_all(self) -> None:
        for kind in self._writers:
            self._send_all(kind)

    def _write_file(self, file: str) -> None:
        for key in list(self._dirty[file]):
            self._clean(key)

    def _clean(self, key: Key) -> None:
        block = self._inactive.get(key) or self._active[key]
        block.written_at = self._writer(key[0]).send(block.size, self._now)
        self.of(key[0]).written.device_bytes += self._forget(key)

    def _forget(self, key: Key) -> float:
        blocks = self._dirty.get(key[0])
        if not blocks or key not in blocks:
            return 0.0
        block = blocks.pop(key)
        if not blocks:
            del self._dirty[key[0]], self._since[key[0]]
        self._dirty_bytes = max(self._dirty_bytes - block.size, 0.0) if self._dirty else 0.0
        return block.size


def blocks_of(size: float, block_bytes: float) -> list[float]:
    """A file's blocks: all of ``block_bytes``, the last of what is left."""
    whole = math.ceil(size / block_bytes)
    return [min(block_bytes, size - number * block_bytes) for number in range(whole)]
