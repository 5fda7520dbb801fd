"""Settings that changed between the first runs of the two sides of a comparison."""

from __future__ import annotations

from mawl.figures.comparison.comparability import CitedSettings
from mawl.figures.comparison.sides import Side
from mawl.tuning.changes import changes
from mawl.tuning.inventory import recorded_settings
from mawl.tuning.profile_files import profiles
from mawl.tuning.text import cited


def settings_between(reference: Side, candidate: Side) -> CitedSettings | None:
    """What changed, with what profiles say of it.

    None where a side recorded no settings, or where the sides have no node of the same name.
    """
    read = [recorded_settings(side.runs[0].facts) for side in (reference, candidate) if side.runs]
    known = [one for one in read if one is not None]
    if len(known) < 2:
        return None
    nodes = [set(one.inventories) for one in known]
    if max(map(len, nodes)) > 1 and not nodes[0] & nodes[1]:
        return None
    return cited(changes(known[0], known[1], (reference.label, candidate.label), None, profiles()))
