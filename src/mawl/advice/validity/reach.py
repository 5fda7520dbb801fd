"""reach: what programs moved reached the devices."""

from __future__ import annotations

from mawl.advice.validity.imported import no_file_says
from mawl.analysis.io import REACHES_STORAGE_RATIO, cached_directions
from mawl.analysis.view import RunView
from mawl.model.summary.judgement import Finding
from mawl.units import format_percent

NAME = "reach"


def check(reading: RunView) -> list[Finding]:
    """Below a reach of 0.8 in a direction, the page cache and not the storage gave its figures. Direct I/O
    has a reach of 1."""
    io = reading.summary.io
    directions = cached_directions(io)
    if directions:
        shares = " and ".join(
            f"{format_percent(getattr(io.reach, f'{name}_ratio'))} of the bytes {verb}"
            for name, verb in (("read", "read"), ("write", "written"))
            if name in directions
        )
        return [
            Finding(
                rule=NAME,
                severity="preliminary",
                sentence=f"only {shares} reached a device ({format_percent(REACHES_STORAGE_RATIO)} "
                "required): "
                "the page cache served the rest",
                cure="run with --cache none, a larger --scale or a lower --memory-limit",
            )
        ]
    if None in (io.reach.read_ratio, io.reach.write_ratio):
        return [
            Finding(
                rule=NAME,
                severity="preliminary",
                sentence="how much of the load reached a device is not known",
                cure="run on a kernel that accounts for I/O (CONFIG_TASK_IO_ACCOUNTING)",
            )
        ]
    return []


check_import = no_file_says(NAME, "no file says both what programs asked for and what devices moved")
