"""fio's JSON output (``--output-format=json`` or ``json+``): text to records, of fio 2.x and 3.x.

fio 3 writes nanoseconds (``clat_ns``) and bytes (``io_bytes``, ``bw_bytes``); fio 2 microseconds (``clat``)
and KiB (``io_bytes``, ``bw``).  Messages before, between and after documents are passed over; several
documents (``--status-interval``, or files put together) are all read, and one that is cut short is refused.
Source of names and units: fio's HOWTO, "Interpreting the output", and its stat.c.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from mawl.base.errors import InvalidFileError
from mawl.base.foreign import BeyondBoundError, check_json
from mawl.records.model.probe import Content, Direction, Pattern, ProbeFigures, ProbeTest

KIB = 1024
DEFAULT_REQUEST_BYTES = 4096
DEFAULT_READ_PERCENT = 50.0
LARGEST_OPTION = 1e6
"""Of jobs, of their depth and of percentages; what is above it is no option of a test that was run."""
ALL_CLIENTS = "All clients"
SYNCHRONOUS = ("psync", "sync", "vsync", "pvsync", "pvsync2", "mmap")
"""Engines that keep one request under way, whatever ``iodepth`` says; psync is the default on Linux."""

_START = re.compile(r'^[^{}"\n]{0,99}(?=\{\s{0,99}"fio version")', re.MULTILINE)
"""What may stand before a document on its line, as the ``>`` of a shell or ``fio: ...``."""
_NO_GROUP_RATIO = 1.5
"""Summed run time over run time below which an entry is of one process or thread."""
_ROUNDING_RATIO = 1.05
"""By how much the summed run time may exceed that of ``numjobs`` before it is of more of them."""
_NAN = re.compile(r"(:\s*)-?(?:nan|inf)\b", re.IGNORECASE)
_DECODER = json.JSONDecoder(parse_constant=lambda _: None)
_SIZE = re.compile(r"\s*(\d{1,18})\s*(?:([kmgtp])(i)?b?)?\s*", re.IGNORECASE)

_PATTERNS: dict[str, tuple[Pattern, Direction]] = {
    "read": ("sequential", "read"),
    "write": ("sequential", "write"),
    "rw": ("sequential", "mixed"),
    "readwrite": ("sequential", "mixed"),
    "randread": ("random", "read"),
    "randwrite": ("random", "write"),
    "randrw": ("random", "mixed"),
}


def fio_time(seconds: float) -> str:
    """A time as an option of fio: it cuts 1.5 to 1, and takes 1500ms."""
    return f"{seconds:g}" if seconds == int(seconds) else f"{round(1000 * seconds)}ms"


class FioJob(msgspec.Struct, frozen=True, kw_only=True):
    """One entry of ``jobs``: a job, or a group of equal jobs where fio reported groups.

    ``error`` is an errno, 0 where all went well.  ``options`` are the job's own over the global ones,
    as fio wrote them.  A direction that moved nothing is None.
    """

    name: str
    group: int
    error: int
    options: dict[str, str] | None
    """None where the document has none, as of fio 2.2: pattern, request size and streams are then unknown."""
    elapsed_seconds: float | None
    """The longer of the directions' run times."""
    read: ProbeFigures | None
    write: ProbeFigures | None
    cpu_seconds: float | None
    """User and system CPU of its processes or threads; None of fio 2, which does not give their run time."""
    job_seconds: float | None
    """The run times of its processes or threads, added up; None of fio 2, which does not give them."""
    steady: bool | None
    """Whether the steady state that was asked for was reached; None where none was."""


class FioReport(msgspec.Struct, frozen=True, kw_only=True):
    """One document: ``version`` as ``fio-3.33``; ``created_at`` in seconds since the epoch, UTC."""

    version: str
    created_at: float | None
    jobs: list[FioJob]


def document_starts(text: str) -> list[int]:
    """Where the documents of a text begin: at a brace that begins its line or follows a few words on it."""
    return [match.end() for match in _START.finditer(text)]


def parse_fio(text: str) -> list[FioReport]:
    """All documents in a text, in order.

    Raises ``InvalidFileError`` (without ``where``, which the caller knows) for a text
    without a document, a document that is cut short or garbled, and one that is not fio's.
    """
    starts = document_starts(text)
    if not starts:
        raise InvalidFileError(
            "holds no fio results",
            why="it is empty" if not text.strip() else 'no line begins a document with "fio version"',
            cure="run fio with --output-format=json",
        )
    reports = []
    for index, (start, end) in enumerate(zip(starts, [*starts[1:], len(text)], strict=True)):
        try:
            document = text[start:end]
            check_json(document.encode(errors="surrogatepass"))
            plain, _ = _DECODER.raw_decode(_NAN.sub(r"\1null", document))
            reports.append(_report(plain))
        except (json.JSONDecodeError, BeyondBoundError) as error:
            raise InvalidFileError(
                f"document {index + 1} of {len(starts)} of fio's output is cut short or garbled",
                why=str(error),
                cure="run fio again, or copy its output again",
            ) from None
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise InvalidFileError(
                f"document {index + 1} of {len(starts)} is not as fio writes it",
                why=f"{type(error).__name__} {error}",
            ) from None
    return reports


def probe_test(jobs: Sequence[FioJob]) -> ProbeTest | str:
    """One test from the entries of one job (several where fio did not report its group), or why not.

    Several entries are added up: bytes and rates are sums, the mean latency is by requests; percentiles of
    several cannot be had from theirs and are left out.
    """
    options = jobs[0].options
    if options is None:
        return f"job {jobs[0].name}: it has no options (as in fio 2.2): its pattern is not known"
    kind = options.get("rw", options.get("readwrite", "read")).split(":")[0].split(",")[0]
    if kind not in _PATTERNS:
        return f"job {jobs[0].name}: rw={kind} is no pattern that a probe has"
    pattern, direction = _PATTERNS[kind]
    request = _bytes_of(options.get("bs", options.get("blocksize", "")).split(",")[0])
    if request is None:
        return f"job {jobs[0].name}: its request size is not one number"
    share = {"read": 1.0, "write": 0.0, "mixed": _read_percent(options) / 100.0}[direction]
    spent = [job.cpu_seconds for job in jobs if job.cpu_seconds is not None]
    took = [job.elapsed_seconds for job in jobs if job.elapsed_seconds is not None]
    return ProbeTest(
        pattern=pattern,
        direction=direction,
        request_bytes=request,
        streams=_streams(options, jobs),
        direct=options.get("direct", "0") not in ("0", "", "false") or options.get("buffered") == "0",
        content=_content(options),
        read_share_ratio=share,
        elapsed_seconds=max(took, default=None),
        read=_together([job.read for job in jobs]),
        write=_together([job.write for job in jobs]),
        cpu_seconds=sum(spent) if len(spent) == len(jobs) else None,
        command=["fio", f"--name={jobs[0].name}", *(f"--{name}={value}" for name, value in options.items())],
        steady=jobs[0].steady,
        remark=next((f"fio ended with error {job.error}" for job in jobs if job.error), None),
    )


def _report(plain: Mapping[str, Any]) -> FioReport:
    shared = plain.get("global options")
    moment = plain.get("timestamp_ms")
    at = moment / 1000 if moment is not None else plain.get("timestamp")
    # A client's report has the servers' jobs under another name.
    entries = plain["jobs"] if "jobs" in plain else _clients(plain["client_stats"])
    return FioReport(
        version=str(plain["fio version"]),
        created_at=None if at is None else float(at),
        jobs=[_job(entry, shared) for entry in entries],
    )


def _clients(entries: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The servers' jobs, without the sum that the client writes last where there are several."""
    return [entry for entry in entries if entry["jobname"] != ALL_CLIENTS or "job options" in entry]


def _job(entry: Mapping[str, Any], shared: Mapping[str, object] | None) -> FioJob:
    read, write = (_figures(entry.get(way)) for way in ("read", "write"))
    times = [
        float(entry[way]["runtime"]) / 1000
        for way, figures in (("read", read), ("write", write))
        if figures is not None
    ]
    steady = entry.get("steadystate")
    own = entry.get("job options")
    return FioJob(
        name=str(entry["jobname"]),
        group=int(entry.get("groupid", 0)),
        error=int(entry.get("error", 0)),
        options=None if own is None and shared is None else {**_options(shared), **_options(own)},
        elapsed_seconds=max(times, default=None),
        read=read,
        write=write,
        cpu_seconds=_cpu_seconds(entry),
        job_seconds=None if entry.get("job_runtime") is None else float(entry["job_runtime"]) / 1000,
        steady=bool(steady["attained"]) if steady else None,
    )


def _options(plain: Mapping[str, object] | None) -> dict[str, str]:
    return {str(name): str(value) for name, value in (plain or {}).items()}


def _cpu_seconds(entry: Mapping[str, Any]) -> float | None:
    """fio gives shares of the summed run time of the group's processes."""
    shares = [entry.get("usr_cpu"), entry.get("sys_cpu"), entry.get("job_runtime")]
    if None in shares:
        return None
    user, system, milliseconds = (float(value) for value in shares if value is not None)
    return (user + system) / 100 * milliseconds / 1000


def _figures(way: Mapping[str, Any] | None) -> ProbeFigures | None:
    if not way or not way.get("io_bytes"):
        return None
    # fio 2 counts io_bytes and bw in KiB, and has no names that say so.
    size = int(way["io_bytes"]) * (1 if "io_kbytes" in way else KIB)
    rate = float(way["bw_bytes"]) if "bw_bytes" in way else float(way["bw"]) * KIB
    requests = float(way["iops"])
    if min(size, rate, requests) < 0:
        raise ValueError("a count below zero")
    return ProbeFigures(
        bytes=size,
        bytes_per_second=rate,
        requests_per_second=requests,
        latency_seconds=_latency(way),
    )


def _latency(way: Mapping[str, Any]) -> dict[str, float]:
    """Completion latency; the total one where fio was told not to measure that."""
    for name, scale in (("clat_ns", 1e-9), ("lat_ns", 1e-9), ("clat", 1e-6), ("lat", 1e-6)):
        block = way.get(name)
        if not block or not block.get("max") or block.get("N", 1) == 0:
            continue
        found = {key: float(block[key]) * scale for key in ("mean", "min", "max") if block[key] is not None}
        for share, value in (block.get("percentile") or {}).items():
            # fio 2 fills up its list with percentile 0.
            if value is not None and 0 < float(share) <= 100:
                found[f"p{float(share):g}"] = float(value) * scale
        return found
    return {}


def _together(parts: Sequence[ProbeFigures | None]) -> ProbeFigures | None:
    known = [part for part in parts if part is not None]
    if len(known) < 2:
        return known[0] if known else None
    every = sum(part.requests_per_second for part in known)
    latencies = [part.latency_seconds for part in known]
    found: dict[str, float] = {}
    if every > 0 and all({"mean", "min", "max"} <= latency.keys() for latency in latencies):
        weighed = math.fsum(part.latency_seconds["mean"] * part.requests_per_second for part in known)
        found = {
            "mean": weighed / every,
            "min": min(latency["min"] for latency in latencies),
            "max": max(latency["max"] for latency in latencies),
        }
    return ProbeFigures(
        bytes=sum(part.bytes for part in known),
        bytes_per_second=math.fsum(part.bytes_per_second for part in known),
        requests_per_second=every,
        latency_seconds=found,
    )


def _bytes_of(text: str) -> int | None:
    """A request size; with fio's default ``kb_base`` 256k is 1024-based and 256ki is 1000-based."""
    if not text:
        return DEFAULT_REQUEST_BYTES
    match = _SIZE.fullmatch(text)
    if match is None:
        return None
    power = " kmgtp".index(match[2].lower()) if match[2] else 0
    size = int(match[1]) * int((1000 if match[3] else KIB) ** power)
    return size if 0 < size <= 2**62 else None


def _number(options: Mapping[str, str], name: str, default: float) -> float:
    try:
        number = float(options[name])
    except (KeyError, ValueError):
        return default
    return number if abs(number) <= LARGEST_OPTION else default


def _read_percent(options: Mapping[str, str]) -> float:
    percent = _number(options, "rwmixread", DEFAULT_READ_PERCENT)
    if "rwmixwrite" in options and "rwmixread" not in options:
        percent = 100.0 - _number(options, "rwmixwrite", DEFAULT_READ_PERCENT)
    return min(max(percent, 0.0), 100.0)


def _streams(options: Mapping[str, str], jobs: Sequence[FioJob]) -> int:
    """Requests that may be under way at once: processes or threads times their depth."""
    waits = options.get("ioengine", SYNCHRONOUS[0]) in SYNCHRONOUS
    depth = 1 if waits else int(_number(options, "iodepth", 1))
    wanted = max(int(_number(options, "numjobs", 1)), 1)
    running = [_running(job, wanted) for job in jobs]
    known = [count for count in running if count is not None]
    every = sum(known) if len(known) == len(jobs) else max(wanted, len(jobs))
    return every * max(depth, 1)


def _running(job: FioJob, wanted: int) -> int | None:
    """Processes or threads of one entry: one, a group of ``wanted``, or more where sections are one group.

    The summed run time over the entry's own tells which; of a group some may have ended early.
    """
    if not job.job_seconds or not job.elapsed_seconds:
        return None
    ratio = job.job_seconds / job.elapsed_seconds
    if ratio < _NO_GROUP_RATIO:
        return 1
    return wanted if ratio <= wanted * _ROUNDING_RATIO else min(round(ratio), int(LARGEST_OPTION))


def _content(options: Mapping[str, str]) -> Content:
    """Dialled where a part of a buffer was asked to be compressible."""
    plain = any(name in options for name in ("zero_buffers", "buffer_pattern"))
    return "dialled" if plain or _number(options, "buffer_compress_percentage", 0) > 0 else "incompressible"
