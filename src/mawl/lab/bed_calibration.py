"""Calibrate all volumes of a bed: capped volumes four at a time, modelled disks one after another.

Each cap is a budget for its device, so measuring capped volumes together also shows that the machine
delivers their sum.  A modelled disk takes processor time, which another one would take from it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

from mawl.lab.bed import ArmSpec
from mawl.lab.build import Bed
from mawl.lab.calibration import calibrate
from mawl.lab.experiment.records import VolumeCalibration
from mawl.lab.fabric import calibrate_links

AT_ONCE = 4


def calibrate_all(
    bed: Bed, say: Callable[[str], None], arms: Sequence[ArmSpec]
) -> Iterator[VolumeCalibration]:
    """Every measurement of every volume, which are slow, and of the links of some arms.

    Raises what ``calibrate`` raises.
    """
    modelled = [name for name in bed.volumes if bed.volume(name).disk is not None]
    others = [name for name in bed.volumes if bed.volume(name).cap is not None]
    for name in modelled:
        say(f"calibrating {name}")
        yield from _calibrated(bed, name)
    for start in range(0, len(others), AT_ONCE):
        names = others[start : start + AT_ONCE]
        say(f"calibrating {', '.join(names)}")
        with ThreadPoolExecutor(max_workers=len(names)) as pool:
            for found in pool.map(lambda name: _calibrated(bed, name), names):
                yield from found
    yield from _links(bed, arms, say)


def _links(bed: Bed, arms: Sequence[ArmSpec], say: Callable[[str], None]) -> Iterator[VolumeCalibration]:
    """The links at the rate of each arm; they keep the last."""
    if bed.fabric is not None:
        for arm in arms:
            say(f"calibrating the links of {arm.name}")
            yield from calibrate_links(bed.fabric, arm.name, bed.link_rate(arm))


def _calibrated(bed: Bed, name: str) -> list[VolumeCalibration]:
    return calibrate(bed.volume(name), bed.place(name), bed.device(name), bed.mark)
