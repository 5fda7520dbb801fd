"""Bytes, throughput and calls by role."""

from __future__ import annotations

from typing import Annotated

import msgspec

from mawl.records.definitions import (
    BYTES,
    THROUGHPUT,
    WINDOWS,
    Number,
    block,
    count,
    listing,
    rate,
    seconds,
    share,
    size,
    text,
    words,
)
from mawl.records.spec.program_options import Role

LATENCY = "docs/design/io-by-role.md, Latency and sizes"
CALLS = "docs/design/io-by-role.md, Which calls count"
SEQUENTIAL = "docs/design/io-by-role.md, Sequential"
UNCACHED = "docs/design/cache-none.md"
NO_LIBRARY = "docs/design/io-by-role.md, Where the library cannot be used"
DIRECT = "docs/design/programs.md, Direct I/O"
COVERAGE = "docs/design/io-by-role.md, What is not seen"


class Rates(msgspec.Struct, kw_only=True):
    """Throughput in each direction."""

    read_bytes_per_second: Annotated[Number | None, rate("Bytes read {when}.", WINDOWS)]
    write_bytes_per_second: Annotated[Number | None, rate("Bytes written {when}.", WINDOWS)]
    total_bytes_per_second: Annotated[Number | None, rate("Bytes read and written {when}.", WINDOWS)]


class Application(msgspec.Struct, kw_only=True):
    """What programs asked for."""

    read_bytes: Annotated[Number | None, size("Bytes that programs read, cache hits included.", BYTES)]
    written_bytes: Annotated[
        Number | None, size("Bytes that programs wrote, into the cache or further.", BYTES)
    ]
    read_ratio: Annotated[Number | None, share("Bytes read over bytes read and written.", BYTES)]
    run_mean: Annotated[
        Rates, words(source=THROUGHPUT, when="over the elapsed time (first start to last end)")
    ]
    peak: Annotated[
        Rates,
        words(
            when="per second in the highest window of at least half the length, the initial one among them"
        ),
    ]
    initial: Annotated[Rates, words(when="per second in the first window after all first-stage jobs started")]
    sustained: Annotated[Rates, words(when="per second in the median window of the active phase")]
    lowest: Annotated[
        Rates,
        words(when="per second in the lowest window of the active phase of at least half the length"),
    ]
    active_mean: Annotated[Rates, words(when="per second over the whole active phase")]
    sustained_bytes_per_second_per_core: Annotated[
        Number | None,
        rate(
            "Sustained throughput in total per core of the run's core_basis that the jobs could use.", WINDOWS
        ),
    ]
    window_seconds: Annotated[
        Number | None, seconds("Length of a window: max(5 s, 1 % of the active phase).", WINDOWS)
    ]
    windows_source: Annotated[str, text("Whose counters the figures over windows are.", WINDOWS)]


class AtDevice(msgspec.Struct, kw_only=True):
    """What the devices of the roles moved, for all programs."""

    read_bytes: Annotated[
        Number | None,
        size(
            "Bytes that the block devices of the roles read from the first start to the last end,"
            " for all programs.",
            BYTES,
        ),
    ]
    written_bytes: Annotated[
        Number | None,
        size(
            "Bytes that the block devices of the roles were given from the first start to the "
            "last end, for all programs.",
            BYTES,
        ),
    ]
    read_ratio: Annotated[Number | None, share("Bytes read over bytes read and written.", BYTES)]
    run_mean: Annotated[
        Rates, words(source=THROUGHPUT, when="over the elapsed time (first start to last end)")
    ]
    bytes_source: Annotated[str | None, text("The block devices whose counters these are.", BYTES)]
    peak: Annotated[
        Rates,
        words(
            when="per second in the highest window of at least half the length, the initial one among them"
        ),
    ]
    initial: Annotated[Rates, words(when="per second in the first window after all first-stage jobs started")]
    sustained: Annotated[Rates, words(when="per second in the median window of the active phase")]
    lowest: Annotated[
        Rates,
        words(when="per second in the lowest window of the active phase of at least half the length"),
    ]
    active_mean: Annotated[Rates, words(when="per second over the whole active phase")]
    sustained_bytes_per_second_per_core: Annotated[
        Number | None,
        rate(
            "Sustained throughput in total per core of the run's core_basis that the jobs could use.", WINDOWS
        ),
    ]
    window_seconds: Annotated[
        Number | None, seconds("Length of a window: max(5 s, 1 % of the active phase).", WINDOWS)
    ]
    windows_source: Annotated[str, text("Whose counters the figures over windows are.", WINDOWS)]


class Dirtied(msgspec.Struct, kw_only=True):
    """Bytes that the jobs made dirty in memory."""

    written_bytes: Annotated[
        Number | None,
        size(
            "Bytes of pages that the jobs that count made dirty in memory: charged_written_bytes "
            "less cancelled_written_bytes, not below 0.  Direct writes count, too.",
            BYTES,
        ),
    ]
    still_dirty_bytes: Annotated[
        Number | None,
        size(
            "Bytes of the run's files that were dirty or being written when the last job ended "
            "(cachestat; before Linux 6.5 what the machine held then beyond what it held at the "
            "gate).",
            BYTES,
        ),
    ]
    removed_bytes: Annotated[
        Number | None,
        size(
            "Dirty bytes that were dropped when mawl removed the jobs' files: no job's account has them.",
            BYTES,
        ),
    ]
    at_gate_bytes: Annotated[
        Number | None,
        size(
            "Dirty bytes of the whole machine when the gate opened, after the sync of the roles' "
            "file systems.",
            BYTES,
        ),
    ]
    sync_seconds: Annotated[
        Number | None,
        seconds(
            "How long syncfs on the file systems of the roles took right before the gate; of "
            "several nodes the longest.",
            BYTES,
        ),
    ]


class OwnBytes(msgspec.Struct, kw_only=True):
    """The run's part of what devices moved."""

    read_bytes: Annotated[
        Number | None,
        size("The run's part of the bytes read from devices: own_read_bytes of the jobs that count.", BYTES),
    ]
    written_bytes: Annotated[
        Number | None,
        size(
            "The run's part of the bytes written to devices: the control group's io.stat where it"
            " accounts for writeback, else the smaller of io.device.written_bytes and "
            "io.dirtied.written_bytes less what was removed or still dirty at the end.",
            BYTES,
        ),
    ]
    read_ratio: Annotated[Number | None, share("Own bytes read over own bytes read and written.", BYTES)]
    write_source: Annotated[
        str | None, text("Which of the two ways io.own.written_bytes is known by.", BYTES)
    ]


class Foreign(msgspec.Struct, kw_only=True):
    """What devices moved beyond the run's own bytes."""

    read_bytes: Annotated[
        Number | None, size("Bytes read from the devices less the own ones, not below 0.", BYTES)
    ]
    written_bytes: Annotated[
        Number | None, size("Bytes written to the devices less the own ones, not below 0.", BYTES)
    ]
    total_bytes_per_second: Annotated[
        Number | None, rate("Both over the time from the first start to the last end.", BYTES)
    ]
    ratio: Annotated[Number | None, share("Foreign bytes over all bytes that the devices moved.", BYTES)]


class Reach(msgspec.Struct, kw_only=True):
    """Own over application bytes."""

    read_ratio: Annotated[Number | None, share("Own bytes read over bytes that programs read.", BYTES)]
    write_ratio: Annotated[
        Number | None,
        share("Own bytes written (io.own.written_bytes) over bytes that programs wrote.", BYTES),
    ]


class Latency(msgspec.Struct, kw_only=True):
    """Time inside calls of one direction."""

    mean: Annotated[
        Number | None,
        seconds(
            "Mean time inside {way} calls, page-cache hits included.",
            LATENCY,
            absent="no such call",
        ),
    ]
    p50: Annotated[
        Number | None,
        seconds(
            "Median time inside {way} calls, page-cache hits included.",
            LATENCY,
            absent="no such call",
        ),
    ]
    p99: Annotated[
        Number | None,
        seconds(
            "99th percentile of the time inside {way} calls, page-cache hits included.",
            LATENCY,
            absent="no such call",
        ),
    ]
    max: Annotated[
        Number | None,
        seconds("Longest of the {way} calls, page-cache hits included.", LATENCY, absent="no such call"),
    ]
    peak: Annotated[
        Number | None,
        seconds(
            "Highest window mean of the time inside {way} calls, page-cache hits included.",
            LATENCY,
            absent="no window has such a call, or no samples cover it",
        ),
    ]


class SyncLatency(msgspec.Struct, kw_only=True):
    """Time inside syncs."""

    mean: Annotated[Number | None, seconds("Mean time inside syncs.", LATENCY, absent="no such call")]


class RequestBytes(msgspec.Struct, kw_only=True):
    """Bytes of calls of one direction."""

    mean: Annotated[
        Number | None,
        size("Mean bytes that a {way} call moved.", LATENCY, absent="no such call", type="float"),
    ]
    p50: Annotated[
        int | None,
        size("Median of the bytes that a {way} call moved.", LATENCY, absent="no such call"),
    ]
    p99: Annotated[
        int | None,
        size("99th percentile of the bytes that a {way} call moved.", LATENCY, absent="no such call"),
    ]


class RoleFigures(msgspec.Struct, kw_only=True):
    """Calls, bytes, shares and latencies of a role."""

    reads: Annotated[int, count("Read calls.", CALLS)]
    writes: Annotated[int, count("Write calls.", CALLS)]
    syncs: Annotated[int, count("Syncs.", CALLS)]
    read_bytes: Annotated[Number | None, size("Bytes that read calls returned.", CALLS)]
    written_bytes: Annotated[Number | None, size("Bytes that write calls took.", CALLS)]
    share_ratio: Annotated[
        Number | None,
        share("Bytes read and written over those of all roles and other.", CALLS),
    ]
    sequential_ratio: Annotated[
        Number | None,
        share(
            "Bytes of requests that continue one of the last 16 streams on their file, over all bytes.",
            SEQUENTIAL,
        ),
    ]
    read_latency_seconds: Annotated[Latency, words(way="read")]
    write_latency_seconds: Annotated[Latency, words(way="write")]
    read_request_bytes: Annotated[RequestBytes, words(way="read")]
    write_request_bytes: Annotated[RequestBytes, words(way="write")]
    uncaching_seconds: Annotated[
        Number | None,
        seconds(
            "Time inside reads, writes and closes that --cache none added: writeback started and "
            "waited for, pages dropped; 0 in other runs.",
            UNCACHED,
        ),
    ]
    sync_latency_seconds: SyncLatency
    volumes: Annotated[list[str], listing("The directories of the role.", CALLS)]


class RoleDeviceBytes(msgspec.Struct, kw_only=True):
    """Bytes at the devices of one role."""

    read_bytes: Annotated[
        Number | None,
        size(
            "Bytes read at the devices of {role}.",
            NO_LIBRARY,
            absent="no sample covers the run",
        ),
    ]
    written_bytes: Annotated[
        Number | None,
        size(
            "Bytes written at the devices of {role}.",
            NO_LIBRARY,
            absent="no sample covers the run",
        ),
    ]


class DevicesByRole(msgspec.Struct, kw_only=True):
    """Bytes at the devices of each role."""

    data: Annotated[RoleDeviceBytes, words(role="data")]
    work: Annotated[RoleDeviceBytes, words(role="work")]
    util: Annotated[RoleDeviceBytes, words(role="util")]

    def of(self, role: Role) -> RoleDeviceBytes:
        found: RoleDeviceBytes = getattr(self, role)
        return found


class Direct(msgspec.Struct, kw_only=True):
    """Direct requests (O_DIRECT)."""

    read_bytes: Annotated[
        Number | None, size("Sum of direct_read_bytes over the jobs that know theirs.", DIRECT)
    ]
    written_bytes: Annotated[
        Number | None, size("Sum of direct_written_bytes over the jobs that know theirs.", DIRECT)
    ]
    programs: Annotated[list[str], listing("Programs some of whose requests were direct.", DIRECT)]


class Io(msgspec.Struct, kw_only=True):
    """Bytes of the four kinds, throughput and calls by role."""

    application: Application
    dirtied: Dirtied
    device: AtDevice
    own: OwnBytes
    foreign: Annotated[
        Foreign | None, block("What the devices of the roles moved beyond the run's own bytes.", BYTES)
    ]
    reach: Reach
    by_role: Annotated[
        dict[str, RoleFigures] | None,
        block(
            "Calls, bytes, shares and latencies of data, work, util and other.",
            CALLS,
            absent="not measured (a run of format 1.0, or none of its jobs could be counted)",
            member="role",
        ),
    ]
    devices_by_role: Annotated[
        DevicesByRole | None,
        block(
            "Bytes at the devices of each role, if each has its own devices.",
            NO_LIBRARY,
        ),
    ]
    coverage_ratio: Annotated[
        Number | None,
        share(
            "Bytes that counted calls moved, files or not, over the kernel's account of all jobs that count.",
            COVERAGE,
            absent="not measured (a run of format 1.0, or none of its jobs could be counted)",
        ),
    ]
    direct: Direct
    unseen: Annotated[
        list[str], listing("What of the jobs' I/O could not be counted, in sentences.", COVERAGE)
    ]
