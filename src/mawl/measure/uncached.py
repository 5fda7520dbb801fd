"""Whether ``--cache none`` can hold: that takes the counting library and fitting file systems."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from mawl.measure.page_cache import keeps
from mawl.measure.preload.build import library
from mawl.measure.space import nearest
from mawl.spec.program_options import Role


def why_cached(roles: Mapping[Role, Iterable[Path]], environment: Mapping[str, str]) -> str | None:
    """Why files of these directories cannot be kept out of the page cache; None where they can be."""
    missing = library(environment).reason
    if missing is not None:
        return f"mawl's counting library cannot be used: {missing}"
    for role, places in roles.items():
        for place in places:
            reason = keeps(nearest(place))
            if reason is not None:
                return f"{role}: {reason}"
    return None
