"""Work and util looked at while a run has them: at intervals, and at each job's end before its clean-up.

At each look bytes are drawn from all that lies there then.  A look weighs the bytes it found times the
seconds since the look at intervals before it, which is what of the space taken over the run, in
byte-seconds, it stands for; a job's end adds what the next look cannot find any more.  The heaviest look
gets the most draws, others in proportion, so that draws weigh about alike; how many there are follows from
bytes and time alone, never from what draws gave.  The next look waits until its volume's part of
:data:`CPU_SHARE` has made up for the last; one at a job's end comes whenever that is.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from random import Random

import msgspec

from mawl.errors import MawlError
from mawl.model.compressibility import Estimate, LeftOut, SamplingCost, Share, VolumeSaving
from mawl.model.options import Role
from mawl.probe.compressibility.bounds import interval_of_looks
from mawl.probe.compressibility.codecs import LZ4, ZSTD_1, Codec, CodecKey, load
from mawl.probe.compressibility.engine import engine_compressed
from mawl.probe.compressibility.estimate import zero_page
from mawl.probe.compressibility.population import CUT_SHORT, GONE, MOST_REMARKS, Population
from mawl.probe.compressibility.storage import (
    BTRFS_EXTENT_BYTES,
    KIB,
    SECTOR_BYTES,
    Figure,
    SavedShare,
    saved_share,
)

CPU_SHARE = 0.02
"""Of one processor, over the run so far, for looks at intervals; the volumes have equal parts of it."""
START_SECONDS = 1.0
"""CPU beyond that: the first 50 s of a run have twice the share, so that a short run knows something too."""
LEAST_PAUSE_SECONDS = 0.1
LOOK_SECONDS = 0.008
"""CPU for the draws of the heaviest look; as much as finding the files took if more."""
FIRST_DRAW_BYTES, FIRST_DRAW_SECONDS = 256 * KIB, 0.001
"""What a draw is taken to cost before there was one."""
FIRST_HEAVIEST_BYTE_SECONDS = 64.0 * 2**20
"""What the heaviest look is taken to weigh before there was a heavier one."""
PILOTS = 16
"""Places whose blocks tell how much a draw will read; none of them is a draw."""
RUN_FIGURES = (
    Figure("plain", LZ4, BTRFS_EXTENT_BYTES),
    Figure("plain", ZSTD_1, BTRFS_EXTENT_BYTES),
    Figure("plain", ZSTD_1, 1024 * KIB),
)
NO_LOOK = "nothing lay there at any look"


class _Watched(msgspec.Struct):
    """One volume: byte-seconds of each look, and what its draws gave, figures first, then the zero page."""

    role: Role
    path: Path
    confidence: float
    began: float
    looked_at: float
    """When the last look at intervals was."""
    timed_seconds: float = 0.0
    byte_seconds: float = 0.0
    most_byte_seconds: float = FIRST_HEAVIEST_BYTE_SECONDS
    engine_byte_seconds: float = 0.0
    read_bytes: int = 0
    lost_files: int = 0
    lost_bytes: int = 0
    remarks: list[str] = []
    cpu_seconds: float = 0.0
    draw_seconds: float = 0.0
    draws: int = 0
    looks: list[tuple[float, list[list[float]]]] = []


class Watch:
    """Looks at the volumes of a run from :meth:`start` to :meth:`stop`."""

    def __init__(
        self,
        places: Mapping[Role, Sequence[Path]],
        *,
        confidence: float,
        seed: int,
        without: frozenset[str] = frozenset(),
        loader: Callable[[CodecKey], Codec] = load,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        codecs = {figure: loader(figure.codec) for figure in RUN_FIGURES}
        self._reasons = {figure: codec.reason for figure, codec in codecs.items()}
        self._meters: list[tuple[int, SavedShare]] = [
            (figure.block_bytes, saved_share(figure, codec))
            for figure, codec in codecs.items()
            if codec.compressed_bytes is not None
        ]
        self._meters.append((SECTOR_BYTES, zero_page))
        self._without = without
        self._confidence = confidence
        self._random = Random(seed)
        self._clock = clock
        self._began = clock()
        self._volumes = [
            _Watched(role, path, 1.0 - (1.0 - confidence) / len(paths), self._began, self._began)
            for role, paths in places.items()
            for path in paths
        ]
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="compressibility", daemon=True)

    def start(self) -> None:
        """Begin to look."""
        self._thread.start()

    def stop(self) -> list[VolumeSaving]:
        """End, and what was seen; may be called again."""
        self._over.set()
        if self._thread.ident is not None:
            self._thread.join()
        return [self._seen(volume) for volume in self._volumes]

    def look(self) -> None:
        """Look at every volume once."""
        for volume in self._volumes:
            self._look_at_all_of(volume)

    def job_ends(self, job: str) -> None:
        """Look once more at what a job has, before its directories are removed."""
        for volume in self._volumes:
            if not self._over.is_set() and (volume.path / job).is_dir():
                self._look_at(volume, volume.path / job)

    def _run(self) -> None:
        while not self._over.wait(LEAST_PAUSE_SECONDS):
            for volume in self._volumes:
                if volume.timed_seconds <= self._allowed_seconds():
                    self._look_at_all_of(volume)

    def _look_at_all_of(self, volume: _Watched) -> None:
        before = volume.cpu_seconds
        now = self._clock()
        self._look_at(volume, volume.path)
        volume.looked_at = now
        volume.timed_seconds += volume.cpu_seconds - before

    def _look_at(self, volume: _Watched, place: Path) -> None:
        """Draw from what lies at a place."""
        with self._lock:
            seconds = self._clock() - volume.looked_at
            began = time.thread_time()
            population = Population(without=self._without)
            with contextlib.suppress(MawlError, OSError):
                population.add(place)
            found = time.thread_time()
            if population.bytes:
                weight = population.bytes * seconds
                volume.most_byte_seconds = max(volume.most_byte_seconds, weight)
                most = max(LOOK_SECONDS, found - began) / self._cost(population, volume)
                draws = max(round(most * weight / volume.most_byte_seconds), 1)
                self._draw_all(population, volume, weight, draws)
                volume.draw_seconds += time.thread_time() - found
                volume.byte_seconds += weight
                volume.engine_byte_seconds += (population.share(engine_compressed) or 0.0) * weight
            volume.cpu_seconds += time.thread_time() - began

    def _cost(self, population: Population, volume: _Watched) -> float:
        """CPU seconds that a draw is likely to take, by what its block will hold."""
        largest = max(size for size, _ in self._meters)
        places = [population.place(self._random.randrange(population.bytes)) for _ in range(PILOTS)]
        block = sum(population.block(place, largest)[1] for place in places if place) / PILOTS
        rate = (volume.draw_seconds + FIRST_DRAW_SECONDS) / (volume.read_bytes + FIRST_DRAW_BYTES)
        return max(block * rate, FIRST_DRAW_SECONDS / PILOTS)

    def _allowed_seconds(self) -> float:
        """CPU that looks at a volume, those at jobs' ends apart, may have taken by now."""
        share = CPU_SHARE * (self._clock() - self._began)
        return min(2.0 * share, START_SECONDS + share) / len(self._volumes)

    def _draw_all(self, population: Population, volume: _Watched, weight: float, draws: int) -> None:
        found = [self._draw(population, volume) for _ in range(draws)]
        values = [one for one in found if one is not None]
        volume.draws += len(values)
        if values:
            volume.looks.append((weight, values))
        left_out = population.left_out()
        volume.lost_files += left_out.lost_files
        volume.lost_bytes += left_out.lost_bytes
        # That files of a run go is nothing to remark on.
        ordinary = (GONE, CUT_SHORT, *volume.remarks)
        new = [remark for remark in left_out.remarks if not remark.endswith(ordinary)]
        volume.remarks.extend(new[: MOST_REMARKS - len(volume.remarks)])

    def _draw(self, population: Population, volume: _Watched) -> list[float] | None:
        """What every meter gives for the block around a byte drawn; None where it cannot be read any more."""
        place = population.place(self._random.randrange(population.bytes))
        largest = max(size for size, _ in self._meters)
        found = None if place is None else population.read(place, largest)
        if place is None or found is None:
            return None
        start, window = found
        volume.read_bytes += len(window)
        values = []
        for size, value in self._meters:
            offset, length = population.block(place, size)
            values.append(value(window[offset - start : offset - start + length], False))
        return values

    def _seen(self, volume: _Watched) -> VolumeSaving:
        intervals = [
            interval_of_looks(
                [(weight, [values[place] for values in draws]) for weight, draws in volume.looks],
                volume.confidence,
            )
            for place in range(len(self._meters))
        ]
        by_figure = dict(
            zip([one for one in RUN_FIGURES if self._reasons[one] is None], intervals, strict=False)
        )
        seconds = volume.looked_at - volume.began
        data_bytes = round(volume.byte_seconds / seconds) if seconds else 0
        estimates = []
        for figure in RUN_FIGURES:
            saving, half_width = by_figure.get(figure) or (None, None)
            estimates.append(
                Estimate(
                    codec=figure.codec.name,
                    level=figure.codec.level,
                    block_bytes=figure.block_bytes,
                    storage=figure.storage,
                    saving_ratio=saving,
                    half_width_ratio=half_width,
                    original_bytes=data_bytes,
                    confidence_ratio=self._confidence,
                    draws=volume.draws,
                    reason=self._reasons[figure] or (NO_LOOK if saving is None else None),
                )
            )
        zero, half_width = intervals[-1] or (None, None)
        engine = volume.engine_byte_seconds / volume.byte_seconds if volume.byte_seconds else None
        return VolumeSaving(
            name=str(volume.path.parent),
            role=volume.role,
            kind="folder",
            file_system=None,
            size_bytes=None,
            used_bytes=None,
            files=0,
            data_bytes=data_bytes,
            hole_bytes=0,
            zero_share=Share(ratio=zero, half_width_ratio=half_width),
            engine_share=Share(ratio=engine, half_width_ratio=None if engine is None else 0.0),
            estimates=estimates,
            real=None,
            real_reason="not asked while the run went on",
            left_out=LeftOut(
                lost_files=volume.lost_files, lost_bytes=volume.lost_bytes, remarks=volume.remarks
            ),
            cost=SamplingCost(
                read_bytes=volume.read_bytes,
                read_ratio=None,
                cpu_seconds=volume.cpu_seconds,
                elapsed_seconds=self._clock() - self._began,
                draws=volume.draws,
            ),
            reason=None if volume.looks else NO_LOOK,
        )
