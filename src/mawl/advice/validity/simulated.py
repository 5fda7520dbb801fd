"""simulated: the only rule for a simulated run, because such a run was never made."""

from __future__ import annotations

from mawl.analysis.view import RunView
from mawl.model.summary.judgement import Finding

NAME = "simulated"


def check(_: RunView) -> list[Finding]:
    """A forecast is an indication, however well it fits."""
    return [
        Finding(
            rule=NAME,
            severity="preliminary",
            sentence="the run was simulated, not made: its figures are a forecast",
            cure="make the run where it can be made, and hold both together (mawl simulate --against)",
        )
    ]
