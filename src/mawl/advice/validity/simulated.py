"""The rules as they apply to a simulated run: nobody made it, so there is one thing to say."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mawl.analysis.view import RunView
from mawl.model.summary.judgement import Finding, Unmeasured

NAME = "simulated"


def check(_: RunView) -> Sequence[Finding | Unmeasured]:
    """A forecast is an indication, however well it fits."""
    return [
        Finding(
            rule=NAME,
            severity="preliminary",
            sentence="the run was simulated, not made: its figures are a forecast",
            cure="make the run where it can be made, and hold both together (mawl simulate --against)",
        )
    ]


RULES: dict[str, Callable[[RunView], Sequence[Finding | Unmeasured]]] = {NAME: check}
"""The only rule."""
