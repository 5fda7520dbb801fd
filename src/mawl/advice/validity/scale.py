"""scale: standard or larger."""

from __future__ import annotations

from mawl.advice.validity.imported import no_file_says
from mawl.analysis.view import RunView
from mawl.model.summary.judgement import Finding
from mawl.plan.scale import SCALES

NAME = "scale"


def check(reading: RunView) -> list[Finding]:
    """Below scale standard, fixed costs and smaller memory options are a part of every time."""
    scale = reading.facts.workload.scale
    if scale is not None and scale >= SCALES["standard"]:
        return []
    standard = plain(SCALES["standard"])
    what = "is not known" if scale is None else f"{plain(scale)} is below standard ({standard})"
    return [
        Finding(
            rule=NAME,
            severity="preliminary",
            sentence=f"the scale {what}",
            cure="run with --scale standard or larger",
        )
    ]


def plain(scale: float) -> str:
    """A scale in plain decimals: ``0.00005``, never ``5e-05``."""
    return f"{scale:.12f}".rstrip("0").rstrip(".")


check_import = no_file_says(NAME, "a load that mawl did not run has no scale")
