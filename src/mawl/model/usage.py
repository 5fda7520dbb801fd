"""FULLSTIMER figures of a step or a job, and the sums of several.

Field by field these are the UNIX list of SAS FULLSTIMER, read from ``getrusage``/``wait4`` (times,
faults, switches, blocks) and ``/proc/PID/io`` (bytes).  ``None`` means not measured, never zero.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec


class Usage(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What one step or job used.

    ``os_memory_bytes`` is the peak resident size; ``memory_bytes`` is that less the resident size
    when the job's process was ready.  ``page_faults`` needed I/O (major), ``page_reclaims`` did
    not (minor).  Block operations are 512-byte units as the kernel counts them.
    ``application_*`` are bytes that read and write calls moved (``rchar``, ``wchar``: cache hits,
    pipes and terminals included).  ``own_read_bytes`` are those that block devices were asked for
    (``read_bytes``); ``charged_written_bytes`` are of pages that became dirty (``write_bytes``), which says
    nothing of a device, and ``cancelled_written_bytes`` those of them whose file was removed first.
    Charged less cancelled is *dirtied*.
    ``unsplit_cpu_seconds`` is user plus system CPU time where only the sum is known (SAS logs with
    STIMER, imported, and simulations of these); None everywhere else.
    """

    real_time_seconds: float | None = None
    user_cpu_seconds: float | None = None
    system_cpu_seconds: float | None = None
    memory_bytes: int | None = None
    os_memory_bytes: int | None = None
    page_faults: int | None = None
    page_reclaims: int | None = None
    page_swaps: int | None = None
    voluntary_context_switches: int | None = None
    involuntary_context_switches: int | None = None
    block_input_operations: int | None = None
    block_output_operations: int | None = None
    application_read_bytes: int | None = None
    application_written_bytes: int | None = None
    read_calls: int | None = None
    write_calls: int | None = None
    own_read_bytes: int | None = None
    charged_written_bytes: int | None = None
    cancelled_written_bytes: int | None = None
    unsplit_cpu_seconds: float | None = None

    @property
    def cpu_seconds(self) -> float | None:
        """User plus system CPU seconds, their sum where only that is known, or None."""
        if self.user_cpu_seconds is None or self.system_cpu_seconds is None:
            return self.unsplit_cpu_seconds
        return self.user_cpu_seconds + self.system_cpu_seconds

    @property
    def shared_memory_bytes(self) -> int | None:
        """What a job shares with the process that it was started from; None: not known."""
        if self.os_memory_bytes is not None and self.memory_bytes is not None:
            return self.os_memory_bytes - self.memory_bytes
        return None


FIELDS: tuple[str, ...] = Usage.__struct_fields__
PEAKS = frozenset({"memory_bytes", "os_memory_bytes"})
"""Fields of which a sum is the maximum: they are peaks of one process's memory."""


def total(usages: Iterable[Usage]) -> Usage:
    """Add usages field by field (peaks: the maximum); a field missing in all of them stays None."""
    columns: dict[str, list[float]] = {name: [] for name in FIELDS}
    for usage in usages:
        for name in FIELDS:
            value = getattr(usage, name)
            if value is not None:
                columns[name].append(value)
    return Usage(
        **{
            name: (max(values) if name in PEAKS else sum(values)) if values else None
            for name, values in columns.items()
        }  # type: ignore[arg-type]
    )


def difference(whole: Usage, *parts: Usage) -> Usage:
    """``whole`` less ``parts``, for the fields that add up; peaks stay those of ``whole``.

    Never below zero: clocks of different calls may disagree by a tick.
    """
    taken = total(parts)

    def less(name: str) -> float | None:
        value = getattr(whole, name)
        if value is None or name in PEAKS:
            return value  # type: ignore[no-any-return]
        part = getattr(taken, name)
        return value if part is None else max(value - part, type(value)(0))  # type: ignore[no-any-return]

    return Usage(**{name: less(name) for name in FIELDS})  # type: ignore[arg-type]
