"""Work and util looked at while a run has them: at intervals, and at each job's end before its clean-up.

A look at intervals stands for the bytes it found times the seconds since the look at intervals before it;
one at a job's end for what the next cannot find any more.  These byte-seconds, look after look and within
one file after file, are a line that is cut into strata, with one draw from each
(``measure.compressibility.estimate``).  Small blocks are cheap and large ones dear, so each has a line
of its own.  How wide strata are follows from bytes and CPU time alone, never from what draws gave, so that
looks at intervals take no more than ``CPU_SHARE``, and draws weigh as alike as can be known beforehand.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from random import Random

import msgspec

from mawl.base.errors import MawlError
from mawl.measure.compressibility.codecs import (
    BTRFS_EXTENT_BYTES,
    KIB,
    LZ4,
    SECTOR_BYTES,
    ZSTD_1,
    Codec,
    CodecKey,
    EstimateRequest,
    SavedShare,
    engine_compressed,
    load_codec,
    saved_share,
)
from mawl.measure.compressibility.estimate import Strata, interval_of_looks, zero_page
from mawl.measure.compressibility.population import CUT_SHORT, GONE, MOST_REMARKS, Population
from mawl.records.model.compressibility import (
    UNKNOWN_SHARE,
    FilesLeftOut,
    SampledShare,
    SamplingCost,
    VolumeSaving,
    exact_share,
)
from mawl.records.spec.program_options import Role

CPU_SHARE = 0.01
"""Of one processor, over the run so far, for looks at intervals, less what other looks took; the volumes have
equal parts of it."""
START_SECONDS = 0.35
"""CPU that may be taken before ``CPU_SHARE`` has come to as much: what begins at once is seen, too."""
FINDING_PART = 0.25
"""Of a volume's part, for finding what lies there, or more while less than half of the part was taken."""
SMALL_PART, LARGE_PART = 0.6, 0.1
"""Of a volume's part, for draws while as much lies there as in the mean; the rest is for when it is more."""
LIKELY_SECONDS = 10.0
"""What is likely counts as much as that many seconds of looks."""
LEAST_FREE = 0.02
"""Of what a volume may have taken by now, for the draws of a look after all of it was taken."""
LEAST_PAUSE_SECONDS = 0.1
FIRST_DRAW_SECONDS = 0.001
"""What a draw is taken to cost before there was one."""
LARGE_BLOCK_BYTES = 256 * KIB
"""Blocks of more are drawn apart, since one of 1 MiB costs as much as eight of 128 KiB."""
RUN_FIGURES = (
    EstimateRequest("plain", LZ4, BTRFS_EXTENT_BYTES),
    EstimateRequest("plain", ZSTD_1, BTRFS_EXTENT_BYTES),
    EstimateRequest("plain", ZSTD_1, 1024 * KIB),
)
NO_LOOK = "nothing lay there at any look"
NO_DRAW = (
    "too little lay there, or too shortly, for a draw within the share of a processor that looks may take"
)


class _DrawnPieces:
    """Figures that are drawn together: their line, and what each draw gave with the width of its stratum."""

    def __init__(self, meters: list[tuple[int, SavedShare]], part: float, random: Random) -> None:
        self.meters = meters
        self.part = part
        self.strata = Strata(random)
        self.draws: list[tuple[float, list[float] | None]] = []
        self.cpu_seconds = 0.0

    @property
    def cost_seconds(self) -> float:
        """CPU that a draw is likely to take."""
        return (self.cpu_seconds + FIRST_DRAW_SECONDS) / (len(self.draws) + 1)

    @property
    def values(self) -> list[tuple[float, list[float]]]:
        whole = self.draws[: self.strata.whole]
        return [(width, values) for width, values in whole if values is not None]

    def interval(self, place: int, confidence: float) -> SampledShare:
        """Mean and half-width of one of the figures; what no whole stratum covers may be anything."""
        interval = interval_of_looks([(width, [values[place]]) for width, values in self.values], confidence)
        if interval is None:
            return UNKNOWN_SHARE
        centre, half_width = interval
        most, open_ratio = max(centre, 1.0 - centre), self.strata.open_ratio
        return SampledShare(ratio=centre, half_width_ratio=min(half_width + open_ratio * most, most))


class _VolumeWatch(msgspec.Struct):
    """One volume: what was found there, what its draws gave, and what that took."""

    role: Role
    path: Path
    confidence: float
    began: float
    looked_at: float
    """When the last look at intervals was."""
    small: _DrawnPieces
    large: _DrawnPieces
    likely_bytes: float
    looks: int = 0
    byte_seconds: float = 0.0
    engine_byte_seconds: float = 0.0
    read_bytes: int = 0
    lost_files: int = 0
    lost_bytes: int = 0
    remarks: list[str] = []
    cpu_seconds: float = 0.0
    finding_seconds: float = 0.0
    """CPU of looks at intervals without their draws."""


class Watch:
    """Looks at the volumes of a run from ``start`` to ``stop``.

    ``likely_bytes`` is what a role is likely to hold in the mean, until looks have told.
    """

    def __init__(
        self,
        places: Mapping[Role, Sequence[Path]],
        *,
        confidence: float,
        seed: int,
        likely_bytes: Mapping[Role, float] | None = None,
        without: frozenset[str] = frozenset(),
        loader: Callable[[CodecKey], Codec] = load_codec,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        codecs = {figure: loader(figure.codec) for figure in RUN_FIGURES}
        self._reasons = {figure: codec.reason for figure, codec in codecs.items()}
        there = [figure for figure, codec in codecs.items() if codec.compressed_bytes is not None]
        self._small = [figure for figure in there if figure.block_bytes <= LARGE_BLOCK_BYTES]
        self._large = [figure for figure in there if figure.block_bytes > LARGE_BLOCK_BYTES]
        small, large = (
            [(figure.block_bytes, saved_share(figure, codecs[figure])) for figure in chosen]
            for chosen in (self._small, self._large)
        )
        small.append((SECTOR_BYTES, zero_page))
        self._without = without
        self._confidence = confidence
        self._random = Random(seed)
        self._clock = clock
        self._began = clock()
        self._volumes = [
            _VolumeWatch(
                role=role,
                path=path,
                confidence=1.0 - (1.0 - confidence) / len(paths),
                began=self._began,
                looked_at=self._began,
                small=_DrawnPieces(small, SMALL_PART, self._random),
                large=_DrawnPieces(large, LARGE_PART, self._random),
                likely_bytes=(likely_bytes or {}).get(role, 0.0) / len(paths),
            )
            for role, paths in places.items()
            for path in paths
        ]
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="compressibility", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> list[VolumeSaving]:
        """End, and what was seen; may be called again."""
        self._over.set()
        if self._thread.ident is not None:
            self._thread.join()
        return [self._saving(volume) for volume in self._volumes]

    def look(self) -> None:
        for volume in self._volumes:
            self._look_at_all_of(volume)

    def job_ends(self, job: str) -> None:
        """Look once more at what a job has, before its directories are removed."""
        for volume in self._volumes:
            if not self._over.is_set() and (volume.path / job).is_dir():
                self._look_at(volume, volume.path / job)

    def _run(self) -> None:
        while not self._over.wait(LEAST_PAUSE_SECONDS):
            allowed = self._allowed_seconds()
            for volume in self._volumes:
                spare = volume.finding_seconds <= FINDING_PART * allowed or volume.cpu_seconds <= allowed / 2
                if spare and volume.cpu_seconds <= allowed:
                    self._look_at_all_of(volume)

    def _look_at_all_of(self, volume: _VolumeWatch) -> None:
        now = self._clock()
        volume.finding_seconds += self._look_at(volume, volume.path)
        volume.looked_at = now

    def _look_at(self, volume: _VolumeWatch, place: Path) -> float:
        """Draw from what lies at a place; the CPU seconds that finding it took."""
        with self._lock:
            seconds = self._clock() - volume.looked_at
            began = time.thread_time()
            population = Population(without=self._without)
            with contextlib.suppress(MawlError, OSError):
                population.add(place)
            if population.bytes:
                weight = population.bytes * seconds
                volume.looks += 1
                volume.byte_seconds += weight
                volume.engine_byte_seconds += (population.share(engine_compressed) or 0.0) * weight
            finding = time.thread_time() - began
            volume.cpu_seconds += finding
            if population.bytes:
                for drawn in (volume.small, volume.large):
                    self._draw_all(population, volume, drawn, weight)
                self._note_lost(population, volume)
            return finding

    def _allowed_seconds(self) -> float:
        """CPU that looks at a volume may have taken by now."""
        return max(CPU_SHARE * (self._clock() - self._began), START_SECONDS) / len(self._volumes)

    def _draw_all(
        self, population: Population, volume: _VolumeWatch, drawn: _DrawnPieces, weight: float
    ) -> None:
        """One draw for each stratum whose place lies in this look."""
        if not drawn.meters:
            return
        elapsed, allowed = self._clock() - self._began, self._allowed_seconds()
        parts = len(self._volumes) / drawn.part

        def width(left: float) -> float:
            """So that draws take their part in the mean, and those of this look what it may take, or one."""
            likely = volume.likely_bytes * LIKELY_SECONDS
            mean_bytes = (drawn.strata.total + likely) / (elapsed + LIKELY_SECONDS)
            free = max(allowed - volume.cpu_seconds, LEAST_FREE * allowed) * drawn.part
            even, forced = (drawn.cost_seconds * one for one in (mean_bytes * parts / CPU_SHARE, left / free))
            return max(even, min(forced, left) if volume.cpu_seconds <= allowed else forced)

        for stratum, share in drawn.strata.over(weight, width):
            began = time.thread_time()
            drawn.draws.append((stratum, self._draw(population, volume, drawn, share)))
            taken = time.thread_time() - began
            drawn.cpu_seconds += taken
            volume.cpu_seconds += taken

    def _note_lost(self, population: Population, volume: _VolumeWatch) -> None:
        left_out = population.left_out()
        volume.lost_files += left_out.lost_files
        volume.lost_bytes += left_out.lost_bytes
        # That files of a run go is nothing to remark on.
        ordinary = (GONE, CUT_SHORT, *volume.remarks)
        new = [remark for remark in left_out.remarks if not remark.endswith(ordinary)]
        volume.remarks.extend(new[: MOST_REMARKS - len(volume.remarks)])

    def _draw(
        self, population: Population, volume: _VolumeWatch, drawn: _DrawnPieces, share: float
    ) -> list[float] | None:
        """What every meter gives for the block around a byte; None where it cannot be read any more."""
        place = population.place(min(int(share * population.bytes), population.bytes - 1))
        largest = max(size for size, _ in drawn.meters)
        found = None if place is None else population.read(place, largest)
        if place is None or found is None:
            return None
        start, window = found
        volume.read_bytes += len(window)
        values = []
        for size, value in drawn.meters:
            offset, length = population.block(place, size)
            values.append(value(window[offset - start : offset - start + length], False))
        return values

    def _saving(self, volume: _VolumeWatch) -> VolumeSaving:
        by_figure = {
            figure: (drawn.interval(place, volume.confidence), len(drawn.values))
            for drawn, figures in ((volume.small, self._small), (volume.large, self._large))
            for place, figure in enumerate(figures)
        }
        seconds = volume.looked_at - volume.began
        data_bytes = round(volume.byte_seconds / seconds) if seconds else 0
        estimates = []
        for figure in RUN_FIGURES:
            share, draws = by_figure.get(figure, (UNKNOWN_SHARE, 0))
            nothing = (NO_DRAW if volume.looks else NO_LOOK) if share.ratio is None else None
            estimates.append(
                figure.result(
                    share,
                    original_bytes=data_bytes,
                    confidence=self._confidence,
                    draws=draws,
                    reason=self._reasons[figure] or nothing,
                )
            )
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
            zero_share=volume.small.interval(len(self._small), volume.confidence),
            engine_share=exact_share(engine),
            estimates=estimates,
            real=None,
            real_reason="not asked while the run went on",
            left_out=FilesLeftOut(
                lost_files=volume.lost_files, lost_bytes=volume.lost_bytes, remarks=volume.remarks
            ),
            cost=SamplingCost(
                read_bytes=volume.read_bytes,
                read_ratio=None,
                cpu_seconds=volume.cpu_seconds,
                elapsed_seconds=self._clock() - self._began,
                draws=len(volume.small.values) + len(volume.large.values),
            ),
            reason=None if volume.looks else NO_LOOK,
        )
