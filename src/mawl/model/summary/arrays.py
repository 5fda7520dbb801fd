"""What storage arrays did, next to what the host saw of them."""

from __future__ import annotations

from typing import Annotated

import msgspec

from mawl.definitions.figure import Number, block, count, listing, rate, seconds, share, text, words

ARRAY_PAGE = "docs/design/arrays.md, Array and host"
ASSUMED = (
    " Unless the map has other units, mawl assumes 1,024 bytes for a KB of XIV, and 1,048,576 for an MB of "
    "lssystemstats."
)
"""No source was found that says whether these units count by 1,000 or by 1,024."""


class StorageSide(msgspec.Struct, kw_only=True):
    """Throughput and latency of a role over the windows of the active phase, at one place."""

    mean_bytes_per_second: Annotated[
        Number | None,
        rate("Bytes read and written for each second {place}, mean of the windows.{unit}", ARRAY_PAGE),
    ]
    peak_bytes_per_second: Annotated[
        Number | None, rate("The same in the highest window {place}.{unit}", ARRAY_PAGE)
    ]
    peak_read_bytes_per_second: Annotated[
        Number | None, rate("Bytes read for each second {place}, in the highest window.{unit}", ARRAY_PAGE)
    ]
    peak_written_bytes_per_second: Annotated[
        Number | None, rate("Bytes written for each second {place}, in the highest window.{unit}", ARRAY_PAGE)
    ]
    mean_latency_seconds: Annotated[
        Number | None, seconds("Time of requests {place} over their number, over all windows.", ARRAY_PAGE)
    ]
    peak_latency_seconds: Annotated[
        Number | None, seconds("The same in the highest window {place}.", ARRAY_PAGE)
    ]


class ArrayRoleFigures(msgspec.Struct, kw_only=True):
    """A role at the arrays that hold it, and at the host."""

    arrays: Annotated[list[str], listing("Arrays that hold the role's volumes.", ARRAY_PAGE)]
    volumes: Annotated[int, count("Volumes of the role with statistics.", ARRAY_PAGE)]
    covered_ratio: Annotated[
        Number,
        share("Share of the active phase in windows that statistics of all volumes cover.", ARRAY_PAGE),
    ]
    array: Annotated[StorageSide, words(place="at the array", unit=ASSUMED)]
    host: Annotated[StorageSide, words(place="at the role's block devices of the host", unit="")]
    beyond_array_seconds: Annotated[
        Number | None,
        seconds(
            "Mean latency at the host less that at the array: queues of the host, adapters, fabric and "
            "multipath, which these figures do not tell apart.",
            ARRAY_PAGE,
        ),
    ]
    hit_ratio: Annotated[
        Number | None,
        share("Requests that the array's cache served: mean over time, then over volumes.", ARRAY_PAGE),
    ]
    saved_ratio: Annotated[
        Number | None,
        share("Saving by compression as the array states it: mean over time, then over volumes.", ARRAY_PAGE),
    ]


class ArrayVolumeFigures(msgspec.Struct, kw_only=True):
    """A volume at an array, whose role is known."""

    array: Annotated[str, text("The array that the volume is on.", ARRAY_PAGE)]
    volume: Annotated[str, text("Its name at the array; empty for all of an array.", ARRAY_PAGE)]
    role: Annotated[str, text("The role that the map gives it.", ARRAY_PAGE)]
    read_bytes_per_second: Annotated[
        Number | None, rate("Read at the array, mean over the active phase.", ARRAY_PAGE)
    ]
    written_bytes_per_second: Annotated[
        Number | None, rate("Written at the array, mean over the active phase.", ARRAY_PAGE)
    ]
    saved_ratio: Annotated[
        Number | None,
        share("Saving of the volume by compression as the array states it: mean over time.", ARRAY_PAGE),
    ]


class Arrays(msgspec.Struct, kw_only=True):
    """Storage arrays whose statistics joined the run."""

    by_role: Annotated[dict[str, ArrayRoleFigures], block(member="role")]
    volumes: Annotated[list[ArrayVolumeFigures], block()]
