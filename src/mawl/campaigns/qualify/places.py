"""Directories of the roles: one that is named for several gets a directory for each below it."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence

from mawl.spec.program_options import Role


def own_directories(given: Mapping[Role, Sequence[str] | None]) -> dict[Role, list[str] | None]:
    """``--work /mnt/b --util /mnt/b`` as /mnt/b/mawl-work and /mnt/b/mawl-util; all else as it was given."""
    named = Counter(
        real for places in given.values() for real in {os.path.realpath(place) for place in places or ()}
    )
    return {
        role: None
        if places is None
        else [
            os.path.join(place, f"mawl-{role}") if place and named[os.path.realpath(place)] > 1 else place
            for place in places
        ]
        for role, places in given.items()
    }
