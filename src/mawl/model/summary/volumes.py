"""Volumes of the roles."""

from __future__ import annotations

from typing import Annotated

import msgspec

from mawl.definitions.figure import Number, count, share, size, words
from mawl.definitions.metric import CACHE, FACTS, VOLUME_PAGE, VOLUME_SPACE
from mawl.model.run import CacheFacts, VolumeFacts
from mawl.spec.program_options import Role

SPREAD = "docs/design/volumes.md, Spread"


class VolumeFigures(VolumeFacts, frozen=True, kw_only=True):
    """A volume: what holds it, and how the jobs used it."""

    number: Annotated[int, count("Its number on its node, as in jobs and samples, from 1.", VOLUME_PAGE)]
    read_bytes: Annotated[
        Number | None, size("Bytes that calls of the jobs that count read there.", VOLUME_PAGE)
    ]
    written_bytes: Annotated[Number | None, size("Bytes that they wrote there.", VOLUME_PAGE)]
    device_read_bytes: Annotated[
        Number | None,
        size(
            "Bytes read at its devices, for all programs, where no other volume is on one of them.",
            VOLUME_PAGE,
            kind="float",
        ),
    ]
    device_written_bytes: Annotated[
        Number | None,
        size(
            "Bytes written at its devices, for all programs, where no other volume is on one of them.",
            VOLUME_PAGE,
            kind="float",
        ),
    ]
    peak_used_bytes: Annotated[
        Number | None, size("The most that files of the run's jobs took there at one look.", VOLUME_SPACE)
    ]
    share_ratio: Annotated[
        Number | None, share("Its bytes, both ways, over those of its role's volumes.", VOLUME_PAGE)
    ]


class CachedInputs(CacheFacts, frozen=True, kw_only=True):
    """The input tables in the page cache when the run began."""

    resident_ratio: Annotated[
        Number | None, share("Share of them that was.", CACHE, absent="there were no inputs")
    ]


class RoleVolumes(msgspec.Struct, kw_only=True):
    """How the volumes of a role were used."""

    volumes: Annotated[int, count("Volumes of {role}, of all nodes.", FACTS)]
    spread_ratio: Annotated[
        Number | None,
        share(
            "Largest less smallest of the bytes, both ways, of the volumes of {role}, over their mean.",
            SPREAD,
        ),
    ]
    peak_used_bytes: Annotated[
        int | None, size("The most space that {role} took at one look: {what}.", VOLUME_SPACE)
    ]


class Roles(msgspec.Struct, kw_only=True):
    """How the volumes of each role were used."""

    data: Annotated[RoleVolumes, words(role="data", what="its working set, input tables included")]
    work: Annotated[RoleVolumes, words(role="work", what="its working set")]
    util: Annotated[RoleVolumes, words(role="util", what="its working set")]

    def of(self, role: Role) -> RoleVolumes:
        """Those of one role."""
        found: RoleVolumes = getattr(self, role)
        return found
