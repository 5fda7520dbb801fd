"""The options a run carries, under the names that SAS shops know (docs/reference/options.md)."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

Role = Literal["data", "work", "util"]
ROLES: tuple[Role, ...] = ("data", "work", "util")

StartMode = Literal["zygote", "spawn"]
OnFailure = Literal["continue", "abort"]
CacheMode = Literal["cold", "warm", "none"]
DirectMode = Literal["auto", "yes", "no"]
DIRECT_MODES: tuple[DirectMode, ...] = ("auto", "yes", "no")
VolumeOrder = Literal["rotation", "free-space"]
VOLUME_ORDERS: tuple[VolumeOrder, ...] = ("rotation", "free-space")

MIB = 2**20


class Options(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What every job of a run may use.

    ``memsize_bytes`` bounds a job's memory, ``sortsize_bytes`` the memory of a step that declares
    util bytes; both shrink with the scale (:func:`mawl.plan.scale.scaled_options`) so that such
    steps spill at every scale.  ``bufsize_bytes`` is the sequential request size, ``cpucount`` the
    threads of one job.
    """

    memsize_bytes: Annotated[int, Meta(description="memory of one job")] = 2048 * MIB
    sortsize_bytes: Annotated[int, Meta(description="memory of a step that sorts or spills")] = 256 * MIB
    bufsize_bytes: Annotated[int, Meta(description="size of one sequential request to a table")] = 256 * 1024
    cpucount: Annotated[int, Meta(description="threads of one job")] = 1
    compress: Annotated[
        bool,
        Meta(description="the table formats' own compression; refused by this version"),
    ] = False
    fullstimer: Annotated[bool, Meta(description="every step's figures in the job's SAS-style log")] = True
    direct: Annotated[
        DirectMode,
        Meta(
            description="whether random_access and the scan of wide_sort's input pass by the page cache "
            "(O_DIRECT): auto where the file system allows it, yes or the job fails, no never"
        ),
    ] = "auto"
